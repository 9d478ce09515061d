"""A platform that is as large as legal requests make it, and the dearest legal request of each operation, by measuring.

Operations that are not named in `dearest` are as cheap as their probe, whatever is sent.
"""

import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from syncd.model.content_write import OPERATIONS_MAX, TEXT_MAX
from syncd.platform.services.directory.read import import_directory
from tests.contract.probe import Ask
from tests.contract.world import World

PAGES = 10_000
SPACES = 40
PEOPLE = 100
REMARKS = 8

Requests = dict[str, Callable[[], Ask]]
"""By operation, its dearest request; made anew each time, as many ask for what was not there before."""


def texts() -> dict[str, str]:
    """Pages of the greatest legal length, each dear to something else."""
    sentence = "The harbour of [the old town](page-7.md) has *many* boats, `ropes` and sails. "
    shapes = {
        "list": "- a\n",
        "columns": "| a ",
        "links": "[a](page-1.md) ",
        "emphasis": "*a **b** ",
        "brackets": "[![<",
        "conditions": "{% if a %}\nb\n{% endif %}\n",
        "expressions": '<code class="expression">1 + 2</code> ',
        "hints": '{% hint style="info" %}\n',
        "tags": "<b><i>a",
        "quotes": "> > > > a\n",
        "prose": sentence,
        "headings": "# a b c\n\n",
        "lines": "a\n",
        "entities": "&amp;&lt;",
        "words": "",
        "code": "`a ``b ",
        "cards": '<table data-view="cards"><thead><tr><th></th></tr></thead><tr><td>a</td></tr></table>\n\n',
    }
    shapes["words"] = "".join(f"w{number} " for number in range(TEXT_MAX // 8))
    return {
        name: f"# {name}\n\n" + (shape * (TEXT_MAX // len(shape)))[: TEXT_MAX - 100] + "\n"
        for name, shape in shapes.items()
    }


def document(values: int, characters: int) -> dict[str, Any]:
    """A document with so many blocks, and so many characters in all."""
    text = "a" * (characters // values)
    leaf = {"object": "text", "leaves": [{"object": "leaf", "text": text, "marks": []}]}
    block = {"object": "block", "type": "paragraph", "data": {}, "nodes": [leaf]}
    return {"object": "document", "data": {}, "nodes": [block] * values}


def _write_pages(directory: Path) -> None:
    sentence = "Boats of page {number} lie in the harbour beside [the next one](page-{other}.md), and w{number} more. "
    directory.mkdir(parents=True)
    for number in range(PAGES):
        text = sentence.format(number=number, other=number % (PAGES // 2) + 1) * 4
        place = (
            directory / f"page-{number}.md" if number % 2 else directory / f"group-{number % 100}" / f"page-{number}.md"
        )
        place.parent.mkdir(exist_ok=True)
        place.write_text(f"# Page {number}\n\n{text}\n\n## Part {number}\n\n{text}\n")
    for number in range(500):
        include = directory / ".gitbook" / "includes" / f"note-{number}.md"
        include.parent.mkdir(parents=True, exist_ok=True)
        include.write_text(f"[Home](../../page-{number}.md) is here. " * 12)
    every = "".join(f'{{% include ".gitbook/includes/note-{number}.md" %}}\n\n' for number in range(500))
    (directory / "includes.md").write_text(f"# includes\n\n{every}")
    for name, text in texts().items():
        (directory / f"{name}.md").write_text(text)


class Large:
    """The large platform: ids of what stands in it."""

    def __init__(self, world: World, directory: Path) -> None:
        """Given a new world and a directory that is not there, fill the world."""
        self.world = world
        _write_pages(directory / "docs")
        self.space = import_directory(world.storage, directory / "docs", organization=world.organization).space
        self.at = {"spaceId": self.space}
        shown = world.made("listPages", self.at)["pages"]
        self.pages = {page["path"]: page["id"] for page in shown if page["type"] == "document"}
        self._fill_people()
        self._fill_changes()
        self._fill_remarks()
        self._fill_sites()
        self._fill_rest()

    def page(self, name: str) -> str:
        """Given the name of a page, return its id."""
        return str(self.pages[name])

    def _fill_people(self) -> None:
        world = self.world
        self.people = [world.person("comment") for _ in range(PEOPLE)]
        users = [user for user, _ in self.people]
        for number in range(10):
            world.made("createOrganizationTeam", body={"title": f"Team {number}", "members": users})
        self.team = world.made("listTeamsInOrganizationById")["items"][0]["id"]

    def _fill_changes(self) -> None:
        """Change requests that change much, and main content that has moved on."""
        world, at = self.world, self.at
        flat = [id for path, id in self.pages.items() if path.startswith("page-")]
        self.victims = deque(flat[1_000:])
        theirs = [{"operation": "delete_page", "page": id} for id in self._take(1_000)]
        self.request = self._request(theirs + self._clash("b"))
        ours = [{"operation": "delete_page", "page": id} for id in self._take(500)]
        moved = [{"operation": "update_page", "page": id, "into": flat[0]} for id in self._take(500)]
        self._merge(self._request(ours + moved + self._clash("c")))
        for number in range(50):
            world.made("createChangeRequest", at, body={"subject": f"Change {number}"})

    def _take(self, count: int) -> list[str]:
        """Pages that nothing has been done to yet."""
        return [self.victims.popleft() for _ in range(count)]

    def _clash(self, letter: str) -> list[dict[str, Any]]:
        lines = [f"{number % 20_000} {letter if number % 3 == 0 else 'a'}" for number in range(100_000)]
        text = "# lines\n\n" + "\n".join(lines)
        return [{"operation": "update_page", "page": self.page("lines"), "document": {"markdown": text[:TEXT_MAX]}}]

    def _request(self, changes: list[dict[str, Any]]) -> dict[str, str]:
        path = self.at | {
            "changeRequestId": self.world.made("createChangeRequest", self.at, body={"subject": "A"})["id"]
        }
        for at in range(0, len(changes), OPERATIONS_MAX):
            self.world.made("updateChangeRequestContent", path, body={"changes": changes[at : at + OPERATIONS_MAX]})
        return path

    def _merge(self, path: Mapping[str, str]) -> None:
        self.world.made("mergeChangeRequest", path)

    def _fill_remarks(self) -> None:
        world, page = self.world, self.page("prose")
        said = {"body": {"document": document(1_500, 300_000)}, "page": page}
        short = {"body": {"markdown": "*Hm.* " * 8_000}, "page": page}
        self.remarks: dict[str, dict[str, str]] = {}
        for kind, path in (("Space", self.at), ("ChangeRequest", self.request)):
            for number in range(REMARKS):
                made = world.made(f"postCommentIn{kind}", path, body=said if number % 2 else short)
            self.remarks[kind] = {**path, "commentId": made["id"]}
            for number in range(REMARKS):
                body = {"body": said["body"] if number % 2 else short["body"]}
                reply = world.made(f"postCommentReplyIn{kind}", self.remarks[kind], body=body)
            self.remarks[kind]["commentReplyId"] = reply["id"]
            for number in range(REMARKS):
                world.made(f"postCommentIn{kind}", path, body={"body": {"markdown": "x"}}, by=self.people[number][1])

    def _fill_sites(self) -> None:
        world = self.world
        self.spaces = [world.space(f"Space {number}", changes=())["id"] for number in range(SPACES)]
        self.site = {"siteId": world.site(self.space, title="Large")["id"]}
        self.sections = [
            world.made("addSectionToSite", self.site, body={"spaceId": space})["id"] for space in self.spaces
        ]
        self.group = world.made("addSectionGroupToSite", self.site, body={"title": "Group"})["id"]
        self.variants = [row["id"] for row in self._all("listSiteSpaces", self.site)]
        to = {"kind": "site-space", "siteSpaceId": self.variants[0]}
        for at in range(5):
            items = [{"source": f"/old/{at}/{number}/" + "x" * 490, "destination": to} for number in range(500)]
            world.made("bulkUpsertSiteRedirects", self.site, body={"redirects": items})
        properties = {
            f"claim{number}": {
                "type": "string",
                "description": "x",
                "enum": [f"{'v' * 90}{each}" for each in range(100)],
            }
            for number in range(199)
        }
        self.schema = {"type": "object", "properties": properties, "additionalProperties": False}
        world.made("updateSiteAdaptiveSchema", self.site, body={"jsonSchema": self.schema})
        world.made("publishSite", self.site)

    def _all(self, operation: str, path: Mapping[str, str]) -> Iterator[dict[str, Any]]:
        query: dict[str, Any] = {"limit": 1000}
        while True:
            answer = self.world.made(operation, path, query=query)
            yield from answer["items"]
            if "next" not in answer:
                return
            query = query | answer["next"]

    def _fill_rest(self) -> None:
        world = self.world
        self.said = 0
        for _ in range(2):
            world.made("ingestConversation", body=self.conversation())
        self.description = json.dumps(
            {
                "openapi": "3.1.0",
                "info": {"title": "Boats", "version": "1"},
                "paths": {
                    f"/boats/{number}": {"get": {"responses": {"200": {"description": "x"}}}}
                    for number in range(20_000)
                },
            }
        )
        world.made("createOpenAPISpec", body={"slug": "boats", "source": {"text": self.description}})
        instructions = document(1_500, 300_000)
        body = {"source": {"space": self.space, "language": "en"}, "language": "fr", "instructions": instructions}
        self.translation = {"translationId": world.made("createTranslation", body=body)["id"]}
        world.made("updateOrganizationAgentInstructions", body={"instructions": instructions})
        for number in range(SPACES):
            world.made("createCollection", body={"title": f"C {number}"})
        for number in range(SPACES):
            world.made("createSite", body={"title": f"Site {number}"})

    def conversation(self) -> list[dict[str, Any]]:
        """Conversations that nobody sent before."""
        parts = [{"type": "message", "role": "user", "body": "How do I sail? " * 3_300}] * 10
        self.said += 20
        return [{"id": f"c{self.said - number}", "parts": parts} for number in range(20)]

    def dearest(self) -> Requests:
        """Return the dearest request of each operation that can be dear."""
        return {**self._reads(), **self._writes(), **self._small_writes()}

    def _reads(self) -> Requests:
        at, request, site = self.at, self.request, self.site
        all, in_full = {"limit": 1000}, {"evaluated": "true", "dereferenced": "true"}
        whole: dict[str, tuple[Mapping[str, str], Mapping[str, Any]]] = {
            **{name: (at, {}) for name in ("getCurrentRevision", "listPages", "listSpaceLinks")},
            **{name: (request, {}) for name in ("getRevisionOfChangeRequestById", "listPagesInChangeRequest")},
            **{name: (request, {}) for name in ("getChangeRequestById", "getChangeRequestPDF")},
            "getPageById": (at | {"pageId": self.page("includes")}, {"format": "document", **in_full}),
            "getPageById/list": (at | {"pageId": self.page("list")}, {"format": "markdown", **in_full}),
            "getPageById/hints": (at | {"pageId": self.page("hints")}, {"format": "document"}),
            "getPageInChangeRequestById": (request | {"pageId": self.page("columns")}, {"format": "document"}),
            "listPageLinksInChangeRequest": (request | {"pageId": self.page("links")}, all),
            "listChangeRequestPageBacklinks": (request | {"pageId": self.page("page-1")}, all),
            "getSiteStructure": (site, {}),
            "listCommentsInSpace": (at, all | {"format": "document"}),
            "getCommentInSpace": (self.remarks["Space"], {"format": "document"}),
            "listCommentsInChangeRequest": (request, all | {"format": "document"}),
            "getCommentInChangeRequest": (self.remarks["ChangeRequest"], {"format": "document"}),
            "listCommentRepliesInChangeRequest": (self.remarks["ChangeRequest"], all),
            "getCommentReplyInSpace": (self.remarks["Space"], {"format": "document"}),
            "listCommentersInSpace": (at, all),
            "searchSpaceContent": (at, all | {"query": "boats harbour w"}),
            "searchOrganizationContent": ({}, all | {"query": "boats harbour w"}),
            "getSiteRedirectBySource": (site, {"source": "/page-4001"}),
            "getTranslation": (self.translation, {}),
            "getOpenAPISpecBySlug": ({"specSlug": "boats"}, {}),
            "getConversationById": ({"conversationId": "c1"}, {}),
            "getTeamInOrganizationById": ({"teamId": self.team}, {}),
        }
        lists: dict[str, Mapping[str, str]] = {
            **dict.fromkeys(("listFiles", "listChangeRequestsForSpace"), at),
            **dict.fromkeys(("listFilesInChangeRequestById",), request),
            **dict.fromkeys(("listSiteSections", "listSiteSectionGroups", "listSiteSpaces", "listSiteRedirects"), site),
            **{
                name: {}
                for name in (
                    *("listSites", "listCollectionsInOrganizationById", "listTranslations", "listOpenAPISpecs"),
                    *("listChangeRequestsForOrganization", "listConversations", "listConversationsIssues"),
                    *("listConversationsIssuesClusters", "listTeamsInOrganizationById", "listIntegrations"),
                    *("listOrganizationsForAuthenticatedUser", "listSpacesInOrganizationById"),
                )
            },
            "listSiteAdaptiveTemplateConditions": site,
        }
        bare = ("getSiteAdaptiveSchema", "getSiteCustomizationById", "getPublishedContentSite", "getSiteById")
        asks = {name: Ask(dict(path), query=dict(query)) for name, (path, query) in whole.items()}
        asks |= {name: Ask(dict(path), query=all) for name, path in lists.items()}
        asks |= {name: Ask(site) for name in bare}
        asks |= {"getOrganizationAgentInstructions": Ask(), "getSpaceById": Ask(at)}
        return {name: _again(ask) for name, ask in asks.items()}

    def _writes(self) -> Requests:
        world, at, site = self.world, self.at, self.site
        numbers = iter(range(1_000_000))
        text = iter(texts().values())
        files = [{"name": f"f{n}.bin", "base64": "A" * 1_333_332, "contentType": "image/png"} for n in range(20)]
        said = {"body": {"document": document(1_500, 300_000)}}

        def merge() -> Ask:
            changes = [{"operation": "delete_page", "page": id} for id in self._take(50)]
            return Ask(self._request(changes + self._clash("d")))

        def content() -> Ask:
            page = {
                "operation": "update_page",
                "page": self.page("tags"),
                "document": {"document": document(1_500, 300_000)},
            }
            return Ask(self.request, body={"changes": [page] * 4})

        def text_content() -> Ask:
            new = next(text, "x" * TEXT_MAX)
            changes = [
                {"operation": "update_page", "page": id, "document": {"markdown": new}}
                for id in list(self.pages.values())[:5]
            ]
            return Ask(self.request, body={"changes": changes})

        def file_content() -> Ask:
            return Ask(self.request, body={"changes": [{"operation": "insert_files", "files": files}] * 2})

        def sections() -> Ask:
            return Ask(site, body={"spaceId": world.space(f"New {next(numbers)}", changes=())["id"]})

        return {
            "mergeChangeRequest": merge,
            "updateChangeRequest": lambda: Ask(self.request),
            "updateChangeRequestContent": content,
            "updateChangeRequestContent/texts": text_content,
            "updateChangeRequestContent/files": file_content,
            "duplicateSpace": lambda: Ask(at),
            "createChangeRequest": lambda: Ask(at, body={"subject": "x", "template": {"id": self.space}}),
            "applyTemplateToSpace": lambda: Ask({"spaceId": self.spaces[0]}, body={"id": self.space}),
            "createSpace": lambda: Ask(body={"title": "x", "template": {"id": self.space}}),
            "runTranslation": lambda: Ask(self.translation),
            "ingestConversation": lambda: Ask(body=self.conversation()),
            "createOpenAPISpec": lambda: Ask(body={"slug": f"s{next(numbers)}", "source": {"text": self.description}}),
            "createOrUpdateOpenAPISpecBySlug": lambda: Ask({"specSlug": "boats"}, body={"source": {"text": _yaml()}}),
            "addSectionToSite": sections,
            "moveSiteSection": lambda: Ask(
                site | {"siteSectionId": self.sections[-1]},
                body={"position": {"before": {"type": "site-section", "siteSection": self.sections[0]}}},
            ),
            "publishIntegration": lambda: Ask({"integrationName": f"dear-{next(numbers)}"}, body=self._manifest()),
            "updateSiteAdaptiveSchema": lambda: Ask(site, body={"jsonSchema": self.schema}),
            "streamAskInSite": lambda: Ask(site, body={"question": "boats harbour w1 w2 w3 w4 " * 18}),
            "postCommentInSpace": lambda: Ask(at, body=said),
            "postCommentInChangeRequest": lambda: Ask(self.request, body=said),
            "deleteSpaceById": lambda: Ask({"spaceId": world.made("duplicateSpace", at)["id"]}),
        }

    def _small_writes(self) -> Requests:
        said = {"body": {"document": document(1_500, 300_000)}}
        instructions = {"instructions": document(1_500, 300_000)}
        users = [user for user, _ in self.people]
        return {
            "updateOrganizationAgentInstructions": lambda: Ask(body=instructions),
            "updateTranslation": lambda: Ask(self.translation, body=instructions),
            "updateCommentInSpace": lambda: Ask(self.remarks["Space"], body=said),
            "updateCommentReplyInSpace": lambda: Ask(self.remarks["Space"], body=said),
            "updateCommentInChangeRequest": lambda: Ask(self.remarks["ChangeRequest"], body=said),
            "postCommentReplyInSpace": lambda: Ask(self.remarks["Space"], body=said),
            "postCommentReplyInChangeRequest": lambda: Ask(self.remarks["ChangeRequest"], body=said),
            "updateChangeRequestById": lambda: Ask(self.request, body={"description": document(1_500, 300_000)}),
            "createOrganizationTeam": lambda: Ask(body={"title": "New", "members": users}),
        }

    def _manifest(self) -> dict[str, Any]:
        return {
            "title": "Dear",
            "description": "Dear",
            "organization": self.world.organization,
            "scopes": ["space:content:read"],
            "script": "a" * (8 * 1024 * 1024),
        }


def _again(ask: Ask) -> Callable[[], Ask]:
    return lambda: ask


def _yaml() -> str:
    paths = "".join(
        f"  /b/{number}: {{get: {{responses: {{'200': {{description: x}}}}}}}}\n" for number in range(33_000)
    )
    return f"openapi: 3.1.0\ninfo: {{title: Boats, version: '1'}}\npaths:\n{paths}"[: 2 * 1024 * 1024 - 100].rpartition(
        "\n"
    )[0]
