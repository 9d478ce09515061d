"""Content of a change request: the reads that main content has too, what it changes, and its PDF."""

from collections.abc import Iterator

from syncd.api.content import MARKDOWN, Format
from syncd.api.lists import iterate_list
from syncd.api.operation import operation
from syncd.api.transport.limits import PAGE, TREE, choose_page_limit
from syncd.api.transport.transport import Transport
from syncd.model.backlink import Backlink
from syncd.model.changes import Changes
from syncd.model.file import File
from syncd.model.link import Link, LinkList, Status
from syncd.model.listing import Listing
from syncd.model.page import Page, PageTree
from syncd.model.pdf import PDFLink
from syncd.model.revision import ReusableContent, Revision


class ChangeRequestContent:
    """Reads of a change request's content; `change_request` is an id or a number within the space.

    Source: API document, Change request content; @gitbook/api 0.202.0.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @operation("getRevisionOfChangeRequestById")
    def get(self, space: str, change_request: str, *, metadata: bool | None = None) -> Revision:
        """Return the revision of a change request: the page tree and files, without bodies."""
        path = _path(space, change_request, "content")
        return self._transport.call("GET", path, Revision, params={"metadata": metadata}, limit=TREE)

    @operation("listPagesInChangeRequest")
    def list_pages(self, space: str, change_request: str, *, metadata: bool | None = None) -> tuple[Page, ...]:
        """Return the page tree of a change request."""
        path = _path(space, change_request, "content", "pages")
        return self._transport.call("GET", path, PageTree, params={"metadata": metadata}, limit=TREE).pages

    @operation("getPageInChangeRequestById")
    def get_page(
        self,
        space: str,
        change_request: str,
        page: str,
        *,
        format: Format = "markdown",
        evaluated: str | None = None,
        dereferenced: str | None = None,
    ) -> Page:
        """Return a page of a change request with its Markdown, or with its document."""
        path = _path(space, change_request, "content", "page", page)
        asked = {"format": format, "evaluated": evaluated, "dereferenced": dereferenced}
        return self._transport.call("GET", path, Page, params=asked)

    @operation("getPageInChangeRequestByPath")
    def get_page_by_path(self, space: str, change_request: str, page_path: str, *, format: Format = "markdown") -> Page:
        """Return the page at a path in a change request (beyond the API document)."""
        path = _path(space, change_request, "content", "path", page_path)
        return self._transport.call("GET", path, Page, params={"format": format}, limit=choose_page_limit(format))

    @operation("listFilesInChangeRequestById")
    def list_files(self, space: str, change_request: str, *, metadata: bool | None = None) -> Iterator[File]:
        """Return all files of a change request."""
        path = _path(space, change_request, "content", "files")
        return iterate_list(self._transport, path, Listing[File], params={"metadata": metadata})

    @operation("getFileInChangeRequestById")
    def get_file(self, space: str, change_request: str, file: str) -> File:
        """Return a file of a change request with a fresh download address."""
        return self._transport.call("GET", _path(space, change_request, "content", "files", file), File)

    @operation("getReusableContentInChangeRequestById")
    def get_reusable_content(self, space: str, change_request: str, reusable_content: str) -> ReusableContent:
        """Return a reusable content of a change request with its Markdown (beyond the API document)."""
        path = _path(space, change_request, "content", "reusable-contents", reusable_content)
        return self._transport.call("GET", path, ReusableContent, params=MARKDOWN, limit=PAGE)

    @operation("listChangeRequestFileBacklinks")
    def list_file_backlinks(self, space: str, change_request: str, file: str) -> Iterator[Backlink]:
        """Return the places in a change request that refer to a file."""
        path = _path(space, change_request, "content", "files", file, "backlinks")
        return iterate_list(self._transport, path, Listing[Backlink])

    @operation("listPageLinksInChangeRequest")
    def list_page_links(
        self, space: str, change_request: str, page: str, *, status: Status | None = None
    ) -> Iterator[Link]:
        """Return what a page of a change request refers to."""
        path = _path(space, change_request, "content", "page", page, "links")
        return iterate_list(self._transport, path, LinkList, params={"status": status})

    @operation("listChangeRequestPageBacklinks")
    def list_page_backlinks(self, space: str, change_request: str, page: str) -> Iterator[Backlink]:
        """Return the places in a change request that refer to a page."""
        path = _path(space, change_request, "content", "page", page, "backlinks")
        return iterate_list(self._transport, path, Listing[Backlink])

    @operation("listChangeRequestLinks")
    def list_links(self, space: str, change_request: str, *, status: Status | None = None) -> Iterator[Link]:
        """Return what the content of a change request refers to (beyond the API document)."""
        return iterate_list(self._transport, _path(space, change_request, "links"), LinkList, params={"status": status})

    @operation("getChangeRequestChanges")
    def get_changes(self, space: str, change_request: str, *, limit: int | None = None) -> Changes:
        """Return what a change request changes of main content; `more` were cut off (beyond the document)."""
        return self._transport.call("GET", _path(space, change_request, "changes"), Changes, params={"limit": limit})

    @operation("getChangeRequestPDF")
    def get_pdf(self, space: str, change_request: str, *, page: str | None = None, only: bool | None = None) -> PDFLink:
        """Return the temporary address of a change request, or of a page of it, as PDF."""
        path = _path(space, change_request, "pdf")
        return self._transport.call("GET", path, PDFLink, params={"page": page, "only": only})


def _path(space: str, change_request: str, *below: str) -> tuple[str, ...]:
    return ("spaces", space, "change-requests", change_request, *below)
