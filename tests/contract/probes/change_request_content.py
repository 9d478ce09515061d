"""Content of a change request, what it changes, and its PDF."""

from typing import Any

from tests.contract.probe import Ask, probe
from tests.contract.probes._linked import NOTES, imported, logo, page, proposed
from tests.contract.probes.content import LINKS, WRONG_READS
from tests.contract.world import World


@probe("getRevisionOfChangeRequestById")
def revision(world: World) -> Ask:
    return Ask(proposed(world)[0], invalid_query=({"metadata": "maybe"},))


@probe("listPagesInChangeRequest")
def pages(world: World) -> Ask:
    return Ask(proposed(world)[0])


@probe("listFilesInChangeRequestById")
def files(world: World) -> Ask:
    return Ask(proposed(world)[0], items=3)


@probe("getFileInChangeRequestById")
def file(world: World) -> Ask:
    path, revision = proposed(world)
    return Ask({**path, "fileId": logo(revision)})


@probe("listChangeRequestFileBacklinks")
def file_backlinks(world: World) -> Ask:
    path, revision = proposed(world)

    def check(shown: Any) -> None:
        assert {item["versionContext"]["type"] for item in shown["items"]} == {"changeRequest"}

    return Ask({**path, "fileId": logo(revision)}, items=NOTES, check=check)


@probe("getPageInChangeRequestById")
def one_page(world: World) -> Ask:
    path, revision = proposed(world)
    return Ask({**path, "pageId": page(revision, "Note 1")}, query={"format": "markdown"}, invalid_query=WRONG_READS)


@probe("getPageInChangeRequestByPath")
def page_by_path(world: World) -> Ask:
    return Ask({**proposed(world)[0], "pagePath": "note-1"}, query={"format": "markdown"}, invalid_query=WRONG_READS)


@probe("getReusableContentInChangeRequestById")
def reusable(world: World) -> Ask:
    path = imported(world)
    path["changeRequestId"] = world.change_request(path["spaceId"])["id"]
    return Ask(path)


@probe("listPageLinksInChangeRequest")
def page_links(world: World) -> Ask:
    path, revision = proposed(world)

    def check(shown: Any) -> None:
        assert shown["stats"] == {"total": 4, "broken": {"total": 1, "changeRequest": 1}}

    return Ask({**path, "pageId": page(revision, "Note 2")}, items=4, check=check)


@probe("listChangeRequestPageBacklinks")
def page_backlinks(world: World) -> Ask:
    path, revision = proposed(world)
    home = next(page["id"] for page in revision["pages"] if page["git"]["path"] == "README.md")
    return Ask({**path, "pageId": home}, items=NOTES)


@probe("listChangeRequestLinks")
def links(world: World) -> Ask:
    return Ask(proposed(world)[0], items=LINKS, invalid_query=({"status": "fine"},))


@probe("getChangeRequestChanges")
def changed(world: World) -> Ask:
    def check(shown: Any) -> None:
        types = [change["type"] for change in shown["changes"]]
        assert types == ["page_created"] * (NOTES + 1) + ["file_created"] * 3

    return Ask(proposed(world)[0], invalid_query=({"limit": 1001},), check=check)


@probe("getChangeRequestPDF")
def pdf(world: World) -> Ask:
    path, revision = proposed(world)
    asked = {"page": page(revision, "Note 1"), "only": "true"}
    return Ask(path, query=asked, invalid_query=({"only": "maybe"}, {"page": ""}))
