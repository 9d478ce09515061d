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
def probe_list_pages_in_change_request(world: World) -> Ask:
    return Ask(proposed(world)[0])


@probe("listFilesInChangeRequestById")
def probe_list_files_in_change_request_by_id(world: World) -> Ask:
    return Ask(proposed(world)[0], items=3)


@probe("getFileInChangeRequestById")
def probe_get_file_in_change_request_by_id(world: World) -> Ask:
    path, revision = proposed(world)
    return Ask({**path, "fileId": logo(revision)})


@probe("listChangeRequestFileBacklinks")
def probe_list_change_request_file_backlinks(world: World) -> Ask:
    path, revision = proposed(world)

    def check(shown: Any) -> None:
        assert {item["versionContext"]["type"] for item in shown["items"]} == {"changeRequest"}

    return Ask({**path, "fileId": logo(revision)}, items=NOTES, check=check)


@probe("getPageInChangeRequestById")
def probe_get_page_in_change_request_by_id(world: World) -> Ask:
    path, revision = proposed(world)
    return Ask({**path, "pageId": page(revision, "Note 1")}, query={"format": "markdown"}, invalid_query=WRONG_READS)


@probe("getPageInChangeRequestByPath")
def probe_get_page_in_change_request_by_path(world: World) -> Ask:
    return Ask({**proposed(world)[0], "pagePath": "note-1"}, query={"format": "markdown"}, invalid_query=WRONG_READS)


@probe("getReusableContentInChangeRequestById")
def probe_get_reusable_content_in_change_request_by_id(world: World) -> Ask:
    path = imported(world)
    path["changeRequestId"] = world.change_request(path["spaceId"])["id"]
    return Ask(path)


@probe("listPageLinksInChangeRequest")
def probe_list_page_links_in_change_request(world: World) -> Ask:
    path, revision = proposed(world)

    def check(shown: Any) -> None:
        assert shown["stats"] == {"total": 4, "broken": {"total": 1, "changeRequest": 1}}

    return Ask({**path, "pageId": page(revision, "Note 2")}, items=4, check=check)


@probe("listChangeRequestPageBacklinks")
def probe_list_change_request_page_backlinks(world: World) -> Ask:
    path, revision = proposed(world)
    home = next(page["id"] for page in revision["pages"] if page["git"]["path"] == "README.md")
    return Ask({**path, "pageId": home}, items=NOTES)


@probe("listChangeRequestLinks")
def probe_list_change_request_links(world: World) -> Ask:
    return Ask(proposed(world)[0], items=LINKS, invalid_query=({"status": "fine"},))


@probe("getChangeRequestChanges")
def probe_get_change_request_changes(world: World) -> Ask:
    def check(shown: Any) -> None:
        types = [change["type"] for change in shown["changes"]]
        assert types == ["page_created"] * (NOTES + 1) + ["file_created"] * 3

    return Ask(proposed(world)[0], invalid_query=({"limit": 1001},), check=check)


@probe("getChangeRequestPDF")
def probe_get_change_request_pdf(world: World) -> Ask:
    path, revision = proposed(world)
    asked = {"page": page(revision, "Note 1"), "only": "true"}
    return Ask(path, query=asked, invalid_query=({"only": "maybe"}, {"page": ""}))
