"""People on the platform, over HTTP alone: editors of main content, reviewers of change requests, and who merges."""

import base64
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from http.client import HTTPConnection
from typing import Any
from urllib.parse import unquote, urlsplit

from tests.faults.twoway.awkward import choose_slug, choose_title
from tests.faults.twoway.hosting import ACTOR
from tests.faults.twoway.links import link_sentence
from tests.faults.twoway.pages import (
    MARK,
    PICTURE,
    TITLE,
    WORD,
    Page,
    View,
    edited,
    list_arrived,
    new_text,
    picture_bytes,
    with_paragraph,
    words_shown,
)
from tests.faults.twoway.schedule import Step

Told = list[str]
"""What somebody did, as commands for a story."""


@dataclass(frozen=True)
class Request:
    """A change request. Shape: `is_ours` when syncd opened it, not an editor on the web; `owner` is the clone."""

    space: str
    id: str
    number: int
    status: str
    is_outdated: bool
    is_ours: bool
    revision: str
    owner: str = ""
    branch: str = ""


class Web:
    """The platform as people use it."""

    def __init__(self, url: str, token: str, count_writes: Callable[[], int]) -> None:
        """Sign in; `count_writes` says how often anybody has written, and what was read holds until it says another."""
        self._count_writes, self._answers, self._writes = count_writes, dict[str, Any](), -1
        self._headers = {"Authorization": f"Bearer {token}", ACTOR: "person", "Content-Type": "application/json"}
        self._http = HTTPConnection(urlsplit(url).netloc, timeout=60)
        self._bytes: dict[str, bytes] = {}
        """The bytes of files, by Git's id of them."""
        self._views: dict[tuple[str, str], View] = {}
        """What was read of each revision of a space: no revision ever changes."""
        self._texts: dict[tuple[object, ...], str] = {}
        self.told: Told = []

    def close(self) -> None:
        """Sign out."""
        self._http.close()

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request and return the answer's JSON. Raises: AssertionError when it is refused."""
        if method != "GET":
            return self._send(method, path, body)
        if (writes := self._count_writes()) != self._writes:
            self._answers, self._writes = {}, writes
        if path not in self._answers:
            self._answers[path] = self._send(method, path, None)
        return self._answers[path]

    def _send(self, method: str, path: str, body: Any) -> Any:
        sent = None if body is None else json.dumps(body).encode()
        self._http.request(method, f"/v1{path}", sent, self._headers)
        answer = self._http.getresponse()
        content = answer.read()
        if answer.status >= 400:
            raise AssertionError(f"{method} {path}: {answer.status} {content.decode(errors='replace')}")
        return json.loads(content) if content else None

    # What there is.

    def view(self, space: str, request: str = "") -> View:
        """Given a space and a change request, or "" for main content, return its pages."""
        at = f"/spaces/{space}/change-requests/{request}" if request else f"/spaces/{space}"
        revision = self.call("GET", at)["revision"]
        if (space, revision) not in self._views:
            found = self._read_view(space, request, at)
            if self.call("GET", at)["revision"] != revision:  # somebody wrote while it was read
                return found
            self._views[space, revision] = found
        return self._views[space, revision]

    def _read_view(self, space: str, request: str, at: str) -> View:
        found = {}
        tree = self.tree(space, request)
        paths = tuple((page["id"], page.get("path")) for page, _ in tree)
        for page, above in tree:
            if page["type"] == "document":
                text = self._read_text(at, page, paths)
                shown = (
                    words_shown(text, lambda name: self._read_file(at, name)) if PICTURE.search(text) else frozenset()
                )
                found[page["id"]] = Page(page["id"], page["title"], text, above, shown)
            elif page["type"] == "group" and (mark := MARK.search(page["title"])):
                found[page["id"]] = Page(page["id"], page["title"], mark[0], above)
        return found

    def _read_text(self, at: str, page: Mapping[str, Any], paths: tuple[tuple[str, str | None], ...]) -> str:
        """The text of a page: what it says depends on its document, and, by its links, on where all pages lie."""
        known = page["id"], page["documentId"], paths
        if known not in self._texts:
            text = self.call("GET", f"{at}/content/page/{page['id']}?format=markdown").get("markdown") or ""
            if PICTURE.search(text):  # the paths of files count too
                return str(text)
            self._texts[known] = text
        return self._texts[known]

    def words_in_files(self, space: str) -> set[str]:
        """Return the words in all pictures of main content, shown or not."""
        files = self.call("GET", f"/spaces/{space}/content/files?limit=1000")["items"]
        return {word for file in files for word in WORD.findall(self._download(file).decode(errors="replace"))}

    def _read_file(self, at: str, name: str) -> bytes:
        """The bytes of a file of some content, by its path below `.gitbook`."""
        for file in self.call("GET", f"{at}/content/files?limit=1000")["items"]:
            if file["git"]["path"].removeprefix(".gitbook/") == name:
                return self._download(file)
        return b""

    def _download(self, file: Mapping[str, Any]) -> bytes:
        if (oid := file["git"]["oid"]) not in self._bytes:
            found = urlsplit(file["downloadURL"])
            self._http.request("GET", f"{found.path}?{found.query}", None, self._headers)
            self._bytes[oid] = self._http.getresponse().read()
        return self._bytes[oid]

    def tree(self, space: str, request: str = "") -> list[tuple[dict[str, Any], str]]:
        """Return all pages in order, each with the id of the page above it."""
        at = f"/spaces/{space}/change-requests/{request}" if request else f"/spaces/{space}"
        return list(_walk(self.call("GET", f"{at}/content")["pages"], ""))

    def view_by_path(self, space: str) -> View:
        """Return the pages of main content by the paths of their files."""
        view = self.view(space)
        files = ((page, page["git"]["path"]) for page, _ in self.tree(space) if page["type"] == "document")
        return {path: replace(view[page["id"]], place=path) for page, path in files}

    def revision(self, space: str) -> str:
        """Return the id of main content's revision."""
        return str(self.call("GET", f"/spaces/{space}")["revision"])

    def requests(self, space: str, *statuses: str) -> list[Request]:
        """Return the change requests of a space, the live ones unless told otherwise."""
        found = []
        for status in statuses or ("draft", "open"):
            for one in self.call("GET", f"/spaces/{space}/change-requests?status={status}")["items"]:
                found.append(_request(space, one))
        return sorted(found, key=lambda one: one.number)

    def comments(self, request: Request) -> list[tuple[str, str]]:
        """Return the open comments of a change request: the page that each is on, or "", and its text."""
        at = f"/spaces/{request.space}/change-requests/{request.id}/comments?status=open&limit=1000"
        return [
            ((one["target"].get("page") or {}).get("id") or "", one["body"]["markdown"])
            for one in self.call("GET", at)["items"]
        ]

    # What people do.

    def write(self, space: str, request: str, operations: Sequence[Mapping[str, Any]]) -> None:
        """Write to a change request."""
        path = f"/spaces/{space}/change-requests/{request}/content?compat=false"
        self.call("POST", path, {"changes": list(operations)})

    def publish(self, space: str, operations: Sequence[Mapping[str, Any]]) -> None:
        """Change main content, by a change request that is merged at once."""
        made = self.call("POST", f"/spaces/{space}/change-requests", {"subject": "web"})
        self.write(space, made["id"], operations)
        self.call("POST", f"/spaces/{space}/change-requests/{made['id']}/merge")

    def draft(self, space: str, operations: Sequence[Mapping[str, Any]]) -> Request:
        """Begin a change of main content that is merged later."""
        made = self.call("POST", f"/spaces/{space}/change-requests", {"subject": "web"})
        self.write(space, made["id"], operations)
        return _request(space, made)

    def merge(self, request: Request) -> bool:
        """Merge a change request, opened if it is a draft; return whether it went without a conflict."""
        at = f"/spaces/{request.space}/change-requests/{request.id}"
        if request.status == "draft":
            self.call("PATCH", at, {"status": "open"})
        return bool(self.call("POST", f"{at}/merge")["result"] == "merge")

    def update(self, request: Request) -> bool:
        """Take main content into a change request; return whether it went without a conflict."""
        answer = self.call("POST", f"/spaces/{request.space}/change-requests/{request.id}/update")
        return bool(answer["result"] == "update")

    def archive(self, request: Request) -> None:
        """Archive a change request."""
        self.call("PATCH", f"/spaces/{request.space}/change-requests/{request.id}", {"status": "archived"})

    def view_of(self, space: str, revision: str) -> View:
        """Return the pages of an older revision of main content, which was read when it was the newest."""
        return self._views.get((space, revision), {})

    def restoring(self, space: str, now: View, then: View, revision: str) -> list[dict[str, Any]]:
        """Return the writes that make the pages of a space what they were in an older revision."""
        if not then:
            return []
        ordered = [page for page, _ in self.tree(space)]
        slugs = {page["id"]: page["slug"] for page in ordered}
        older = self.call("GET", f"/spaces/{space}/revisions/{revision}")["pages"]
        former = {page["id"]: page["slug"] for page, _ in _walk(older, "")}
        there = [id for id in then if now.get(id) != then[id] or slugs[id] != former[id]]
        gone = [page["id"] for page in ordered if page["id"] in now.keys() - then.keys()]
        # Of pages that have exchanged their slugs, none gets its own back before the other has given it up.
        taken = {slug for id, slug in slugs.items() if former.get(id) != slug}
        freed = [id for id in there if id in slugs and former[id] in taken]
        slugless = [
            {"operation": "update_page", "page": id, "slug": f"former-{number}"} for number, id in enumerate(freed)
        ]
        return slugless + [{"operation": "revert_page", "page": id, "revision": revision} for id in (*there, *gone)]

    def operations(self, step: Step, space: str, view: View, request: str = "") -> list[dict[str, Any]]:
        """Given what somebody wants to do to the pages that they see, return the writes of it; none when it cannot be.

        `told` gets what it is in the end.
        """
        ordered = list(self.tree(space, request))
        documents = [page for page, _ in ordered if page["type"] == "document"]
        leaves = [page for page in documents[1:] if not page.get("pages")]
        groups = [page for page, _ in ordered if page["type"] == "group"]
        deed = getattr(self, f"_{step.action.replace('-', '_')}", None)
        choice = documents if step.action in _OF_ANY_PAGE else leaves
        if step.action in ("asset-replace", "asset-drop"):
            choice = [page for page in documents if PICTURE.search(view[page["id"]].text)]
        choice = groups if step.action in ("retitle-group", "move-group", "ungroup") else choice
        if deed is None or not choice:
            return []
        if step.action == "contest-arrived" and (
            arrived := list_arrived([view[page["id"]].mark for page in documents])
        ):
            choice = [documents[number] for number in arrived]
        page = choice[step.n % len(choice)]
        others = {"swap": leaves, "into-group": groups}.get(step.action, documents)
        writes: list[dict[str, Any]] = deed(step, page, view, others)
        where = f"change request {request}" if request else "main content"
        self.told.append(f"{step.actor}: {step.action} {page['title']!r} ({page.get('path')}) in {where}: {writes}")
        return writes

    def _edit(self, step: Step, page: Any, view: View, pages: list[Any]) -> list[dict[str, Any]]:
        text = edited(view[page["id"]].text, step.action.removeprefix("draft-"), f"w{step.id}a", step.m)
        return [{"operation": "update_page", "page": page["id"], "document": {"markdown": text}}]

    _replace = _contest = _contest_arrived = _drop = _describe = _block = _draft_edit = _edit

    def _link(self, step: Step, page: Any, view: View, pages: list[Any]) -> list[dict[str, Any]]:
        """A sentence that leads to another page."""
        target = pages[step.m % len(pages)]
        mark = view[target["id"]].mark
        new = link_sentence(f"w{step.id}a", step.m, page["git"]["path"], mark, target["git"]["path"])
        text = with_paragraph(view[page["id"]].text, new, step.m)
        return [{"operation": "update_page", "page": page["id"], "document": {"markdown": text}}] if mark else []

    _draft_link = _link

    def _retitle(self, step: Step, page: Any, view: View, pages: list[Any]) -> list[dict[str, Any]]:
        title = choose_title(step) if step.action == "retitle-awkwardly" else f"Title t{step.id}"
        return [{"operation": "update_page", "page": page["id"], "title": title}]

    _retitle_awkwardly = _retitle

    def _new_page(self, step: Step, page: Any, view: View, pages: list[Any]) -> list[dict[str, Any]]:
        text = new_text(f"Title t{step.id}", f"m{step.id}", [f"w{step.id}a", f"w{step.id}b"])
        above = pages[step.m % len(pages)]["id"] if step.m % 3 == 0 else None
        made = {"operation": "insert_page", "slug": f"n{step.id}", "document": {"markdown": text}}
        return [made | ({"into": above} if above else {})]

    def _delete_page(self, step: Step, page: Any, view: View, pages: list[Any]) -> list[dict[str, Any]]:
        return [{"operation": "delete_page", "page": page["id"]}] if len(pages) > 2 else []

    def _slug(self, step: Step, page: Any, view: View, pages: list[Any]) -> list[dict[str, Any]]:
        slug = choose_slug(step) if step.action == "slug-awkwardly" else f"s{step.id}"
        return [{"operation": "update_page", "page": page["id"], "slug": slug}]

    _slug_awkwardly = _slug

    def _nest(self, step: Step, page: Any, view: View, pages: list[Any]) -> list[dict[str, Any]]:
        others = [one["id"] for one in pages[1:] if one["id"] != page["id"]]
        into = [None, *others][step.m % (len(others) + 1)]
        return [{"operation": "update_page", "page": page["id"], "into": into, "slug": f"s{step.id}"}]

    def _reorder(self, step: Step, page: Any, view: View, pages: list[Any]) -> list[dict[str, Any]]:
        return [{"operation": "update_page", "page": page["id"], "at": 1 + step.m % 2}]

    def _swap(self, step: Step, page: Any, view: View, pages: list[Any]) -> list[dict[str, Any]]:
        """Two pages of one parent exchange their slugs."""
        siblings = [one for one in pages if view[one["id"]].above == view[page["id"]].above and one is not page]
        if not siblings:
            return []
        other = siblings[step.m % len(siblings)]
        slugs = [(page, f"s{step.id}"), (other, page["slug"]), (page, other["slug"])]
        return [{"operation": "update_page", "page": one["id"], "slug": slug} for one, slug in slugs]

    def _retitle_group(self, step: Step, page: Any, view: View, pages: list[Any]) -> list[dict[str, Any]]:
        title = TITLE.sub(f"t{step.id}", page["title"])
        return [{"operation": "update_page", "page": page["id"], "title": title}]

    def _move_group(self, step: Step, page: Any, view: View, pages: list[Any]) -> list[dict[str, Any]]:
        return [{"operation": "update_page", "page": page["id"], "at": 1 + step.m % 3}]

    def _into_group(self, step: Step, page: Any, view: View, pages: list[Any]) -> list[dict[str, Any]]:
        into = [None, *(group["id"] for group in pages)][step.m % (len(pages) + 1)]
        return [{"operation": "update_page", "page": page["id"], "into": into, "slug": f"s{step.id}"}]

    def _ungroup(self, step: Step, page: Any, view: View, pages: list[Any]) -> list[dict[str, Any]]:
        """A group goes; its pages come to the top level."""
        inner = [one["id"] for one in page.get("pages", ())]
        moved = [{"operation": "update_page", "page": id, "into": None, "slug": f"s{step.id}-{at}"}
                 for at, id in enumerate(inner)]  # fmt: skip
        return [*moved, {"operation": "delete_page", "page": page["id"]}]

    def _asset(self, step: Step, page: Any, view: View, pages: list[Any]) -> list[dict[str, Any]]:
        file = _make_picture(f"web{step.id}.png", f"w{step.id}p")
        text = f"{view[page['id']].text}\nShown with w{step.id}a: ![picture](./picture)\n"
        update = {"operation": "update_page", "page": page["id"], "document": {"markdown": text}}
        return [{"operation": "insert_files", "files": [file]}, update]

    def _asset_replace(self, step: Step, page: Any, view: View, pages: list[Any]) -> list[dict[str, Any]]:
        """A page shows another picture of the same name: the former file stays, since nothing can delete it."""
        text = view[page["id"]].text
        name = PICTURE.findall(text)[0].rpartition("/")[2]
        file = _make_picture(unquote(name), f"w{step.id}p")
        update = {"operation": "update_page", "page": page["id"],
                  "document": {"markdown": PICTURE.sub("![picture](./picture)", text, count=1)}}  # fmt: skip
        return [{"operation": "insert_files", "files": [file]}, update]

    def _asset_drop(self, step: Step, page: Any, view: View, pages: list[Any]) -> list[dict[str, Any]]:
        """A page shows a picture no more."""
        lines = [line for line in view[page["id"]].text.splitlines(keepends=True) if not PICTURE.search(line)]
        return [{"operation": "update_page", "page": page["id"], "document": {"markdown": "".join(lines)}}]


def _make_picture(name: str, word: str) -> dict[str, Any]:
    data = base64.b64encode(picture_bytes(word)).decode()
    return {"name": name, "base64": data, "contentType": "image/png", "ref": "picture"}


_OF_ANY_PAGE = (
    "contest",
    "edit",
    "draft-edit",
    "link",
    "draft-link",
    "replace",
    "drop",
    "describe",
    "block",
    "retitle",
    "retitle-awkwardly",
)
"""What may be done to a page with others below it, too."""
_MARKER = re.compile(r" \[(\S*)#(\w+)\]$")


def _request(space: str, one: Mapping[str, Any]) -> Request:
    marker = _MARKER.search(one["subject"])
    owner = {"000002": "b", "000003": "c"}.get(marker[2] if marker else "", "a")
    values = (one["id"], one["number"], one["status"], one["outdated"], marker is not None, one["revision"], owner)
    return Request(space, *values, marker[1] if marker else "")


def _walk(pages: Sequence[dict[str, Any]], above: str) -> Iterator[tuple[dict[str, Any], str]]:
    for page in pages:
        yield page, above
        yield from _walk(page.get("pages", ()), page["id"])
