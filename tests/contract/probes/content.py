"""Main content of a space, its revisions, links, templates, documents and PDF."""

from typing import Any

from tests.contract.probe import Ask, probe
from tests.contract.probes._linked import NOTES, imported, logo, main, page
from tests.contract.world import World

WRONG_READS = ({"format": "html"}, {"evaluated": "maybe"}, {"dereferenced": "maybe"}, {"metadata": "maybe"})
LINKS = NOTES + 3
"""The home page, the file, an address outside, and for each note one that leads nowhere."""


@probe("getCurrentRevision")
def revision(world: World) -> Ask:
    path, _ = main(world)
    return Ask(path, invalid_query=({"metadata": "maybe"}, {"computed": "maybe"}))


@probe("listPages")
def pages(world: World) -> Ask:
    path, _ = main(world)
    return Ask(path, query={"metadata": "false"}, check=lambda shown: _no_git(shown["pages"]))


@probe("listFiles")
def probe_list_files(world: World) -> Ask:
    path, _ = main(world)
    return Ask(path, items=3)


@probe("getFileById")
def probe_get_file_by_id(world: World) -> Ask:
    path, revision = main(world)
    return Ask({**path, "fileId": logo(revision)})


@probe("listSpaceFileBacklinks")
def probe_list_space_file_backlinks(world: World) -> Ask:
    path, revision = main(world)
    return Ask({**path, "fileId": logo(revision)}, items=NOTES)


@probe("getPageById")
def probe_get_page_by_id(world: World) -> Ask:
    path, revision = main(world)

    def check(shown: Any) -> None:
        assert shown["markdown"].startswith("# Home")

    path["pageId"] = page(revision, "Home")
    return Ask(path, query={"format": "markdown"}, invalid_query=WRONG_READS, check=check)


@probe("getPageByPath")
def probe_get_page_by_path(world: World) -> Ask:
    path, _ = main(world)
    return Ask({**path, "pagePath": "note-1"}, query={"format": "document"}, invalid_query=WRONG_READS)


@probe("listSpacePageLinks")
def probe_list_space_page_links(world: World) -> Ask:
    path, revision = main(world)
    path["pageId"] = page(revision, "Note 0")
    return Ask(path, items=4, invalid_query=({"status": "fine"},))


@probe("listSpacePageBacklinks")
def probe_list_space_page_backlinks(world: World) -> Ask:
    path, revision = main(world)
    return Ask({**path, "pageId": page(revision, "Home")}, items=NOTES)


@probe("listSpaceLinks")
def probe_list_space_links(world: World) -> Ask:
    path, _ = main(world)

    def check(shown: Any) -> None:
        assert shown["stats"] == {"total": LINKS, "broken": {"total": NOTES}}

    return Ask(path, items=LINKS, invalid_query=({"status": "fine"},), check=check)


@probe("applyTemplateToSpace")
def probe_apply_template_to_space(world: World) -> Ask:
    path, _ = main(world)
    wrong: tuple[Any, ...] = (
        {},
        {"id": ""},
        {"id": None},
        {"id": "blank", "params": {"contentRefs": {"a": {"kind": "page"}}}},
    )
    return Ask(path, body={"id": "product-docs", "params": {"contentRefs": {}}}, status=201, invalid=wrong)


@probe("getDocumentById")
def probe_get_document_by_id(world: World) -> Ask:
    path, revision = main(world)
    return Ask({**path, "documentId": revision["pages"][0]["documentId"]})


META = """---
metaLinks:
  canonical: https://example.org/linked
  alternates:
    - README.md
    - gone.md
---

# Linked
"""


def _linked(world: World) -> tuple[dict[str, str], dict[str, Any], Any]:
    path, _ = main(world)
    world.write(path["spaceId"], [{"operation": "insert_page", "title": "Linked", "document": {"markdown": META}}])
    revision = world.made("getCurrentRevision", path)
    home = page(revision, "Home")

    def check(shown: Any) -> None:
        assert shown["canonical"] == {"kind": "url", "url": "https://example.org/linked"}
        assert shown["alternates"] == [{"kind": "page", "page": home}]

    return path | {"pageId": page(revision, "Linked")}, revision, check


@probe("listSpacePageMetaLinks")
def probe_list_space_page_meta_links(world: World) -> Ask:
    path, _, check = _linked(world)
    return Ask(path, check=check)


@probe("listRevisionPageMetaLinks")
def probe_list_revision_page_meta_links(world: World) -> Ask:
    path, revision, check = _linked(world)
    return Ask(path | {"revisionId": revision["id"]}, check=check)


@probe("listChangeRequestPageMetaLinks")
def probe_list_change_request_page_meta_links(world: World) -> Ask:
    path, _, check = _linked(world)
    request = world.change_request(path["spaceId"])
    return Ask(path | {"changeRequestId": request["id"]}, check=check)


@probe("getPageDocumentInRevisionById")
def probe_get_page_document_in_revision_by_id(world: World) -> Ask:
    path, revision = _of_revision(world)
    wrong = ({"evaluated": "maybe"}, {"dereferenced": "maybe"})

    def check(answer: Any) -> None:
        assert (answer["object"], answer["nodes"][0]["type"]) == ("document", "paragraph")

    return Ask({**path, "pageId": page(revision, "Home")}, invalid_query=wrong, check=check)


@probe("getReusableContentDocumentInRevisionById")
def probe_get_reusable_content_document_in_revision_by_id(world: World) -> Ask:
    path = imported(world)
    path["revisionId"] = world.made("getCurrentRevision", path)["id"]
    return Ask(path, invalid_query=({"evaluated": "maybe"}, {"dereferenced": "maybe"}))


@probe("getSpacePDF")
def probe_get_space_pdf(world: World) -> Ask:
    path, revision = main(world)
    return Ask(path, query={"page": page(revision, "Home")}, invalid_query=({"only": "maybe"}, {"only": 1, "page": ""}))


def _of_revision(world: World) -> tuple[dict[str, str], dict[str, Any]]:
    path, revision = main(world)
    return {**path, "revisionId": revision["id"]}, revision


@probe("getRevisionById")
def probe_get_revision_by_id(world: World) -> Ask:
    path, _ = _of_revision(world)
    return Ask(path, check=lambda shown: _is_merge(shown))


@probe("listPagesInRevisionById")
def probe_list_pages_in_revision_by_id(world: World) -> Ask:
    return Ask(_of_revision(world)[0])


@probe("listFilesInRevisionById")
def probe_list_files_in_revision_by_id(world: World) -> Ask:
    return Ask(_of_revision(world)[0], items=3)


@probe("getFileInRevisionById")
def probe_get_file_in_revision_by_id(world: World) -> Ask:
    path, revision = _of_revision(world)
    return Ask({**path, "fileId": logo(revision)})


@probe("getPageInRevisionById")
def probe_get_page_in_revision_by_id(world: World) -> Ask:
    path, revision = _of_revision(world)
    return Ask({**path, "pageId": page(revision, "Home")}, invalid_query=WRONG_READS)


@probe("getPageInRevisionByPath")
def probe_get_page_in_revision_by_path(world: World) -> Ask:
    return Ask({**_of_revision(world)[0], "pagePath": "note-1"}, query={"format": "markdown"})


@probe("getReusableContentById")
def probe_get_reusable_content_by_id(world: World) -> Ask:
    return Ask(imported(world), invalid_query=({"format": "html"},))


@probe("getReusableContentInRevisionById")
def probe_get_reusable_content_in_revision_by_id(world: World) -> Ask:
    path = imported(world)
    path["revisionId"] = world.made("getCurrentRevision", path)["id"]
    return Ask(path, query={"format": "document"})


@probe("getRevisionChanges")
def probe_get_revision_changes(world: World) -> Ask:
    path, _ = _of_revision(world)

    def check(shown: Any) -> None:
        assert len(shown["changes"]) == 2
        assert shown["more"] == NOTES + 2

    return Ask(path, query={"limit": 2}, invalid_query=({"limit": 1001}, {"limit": -1}), check=check)


def _no_git(pages: list[Any]) -> None:
    assert all("git" not in page for page in pages)


def _is_merge(shown: Any) -> None:
    assert (shown["type"], shown["mergedFrom"]["object"]) == ("merge", "change-request")
