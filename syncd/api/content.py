"""Content of a space: its main content and its past revisions, with links, changes, templates, documents and PDFs."""

from collections.abc import Iterator
from typing import IO, Literal

from syncd.api.lists import iterate_list
from syncd.api.operation import operation
from syncd.api.transport.downloads import Downloads
from syncd.api.transport.limits import PAGE, TREE, choose_page_limit
from syncd.api.transport.transport import Transport
from syncd.model.backlink import Backlink
from syncd.model.changes import Changes
from syncd.model.document import Document
from syncd.model.file import File
from syncd.model.link import Link, LinkList, Status
from syncd.model.listing import Listing
from syncd.model.page import Page, PageTree
from syncd.model.pdf import PDFLink
from syncd.model.revision import ReusableContent, Revision
from syncd.model.template import TemplateApply

Format = Literal["document", "markdown"]

MARKDOWN = {"format": "markdown"}


class Content:
    """Operations on a space's main content. Source: API document, Space content; @gitbook/api 0.202.0."""

    def __init__(self, transport: Transport, downloads: Downloads) -> None:
        self._transport = transport
        self._downloads = downloads

    @operation("getCurrentRevision")
    def get(self, space: str, *, metadata: bool | None = None, computed: bool | None = None) -> Revision:
        """Return the current revision of a space: the page tree and files, without bodies."""
        parameters = {"metadata": metadata, "computed": computed}
        return self._transport.call("GET", ("spaces", space, "content"), Revision, params=parameters, limit=TREE)

    @operation("listPages")
    def list_pages(self, space: str, *, metadata: bool | None = None, computed: bool | None = None) -> tuple[Page, ...]:
        """Return the page tree of a space."""
        parameters = {"metadata": metadata, "computed": computed}
        return self._transport.call(
            "GET", ("spaces", space, "content", "pages"), PageTree, params=parameters, limit=TREE
        ).pages

    @operation("getPageById")
    def get_page(
        self,
        space: str,
        page: str,
        *,
        format: Format = "markdown",
        evaluated: str | None = None,
        dereferenced: str | None = None,
        metadata: bool | None = None,
        computed: bool | None = None,
    ) -> Page:
        """Return a page with its Markdown, or with its document."""
        parameters = {"format": format, "evaluated": evaluated, "dereferenced": dereferenced}
        shown = {"metadata": metadata, "computed": computed}
        path = ("spaces", space, "content", "page", page)
        return self._transport.call("GET", path, Page, params={**parameters, **shown}, limit=choose_page_limit(format))

    @operation("getPageByPath")
    def get_page_by_path(self, space: str, page_path: str, *, format: Format = "markdown") -> Page:
        """Return the page at a path (beyond the API document)."""
        path = ("spaces", space, "content", "path", page_path)
        return self._transport.call("GET", path, Page, params={"format": format}, limit=choose_page_limit(format))

    @operation("listFiles")
    def list_files(self, space: str, *, metadata: bool | None = None, computed: bool | None = None) -> Iterator[File]:
        """Return all files of a space."""
        parameters = {"metadata": metadata, "computed": computed}
        return iterate_list(self._transport, ("spaces", space, "content", "files"), Listing[File], params=parameters)

    @operation("getFileById")
    def get_file(self, space: str, file: str, *, metadata: bool | None = None, computed: bool | None = None) -> File:
        """Return a file with a fresh download address."""
        parameters = {"metadata": metadata, "computed": computed}
        return self._transport.call("GET", ("spaces", space, "content", "files", file), File, params=parameters)

    @operation("getReusableContentById")
    def get_reusable_content(self, space: str, reusable_content: str) -> ReusableContent:
        """Return a reusable content with its Markdown (beyond the API document)."""
        path = ("spaces", space, "content", "reusable-contents", reusable_content)
        return self._transport.call("GET", path, ReusableContent, params=MARKDOWN, limit=PAGE)

    @operation("listSpaceFileBacklinks")
    def list_file_backlinks(self, space: str, file: str) -> Iterator[Backlink]:
        """Return the places that refer to a file."""
        path = ("spaces", space, "content", "files", file, "backlinks")
        return iterate_list(self._transport, path, Listing[Backlink])

    @operation("listSpacePageBacklinks")
    def list_page_backlinks(self, space: str, page: str) -> Iterator[Backlink]:
        """Return the places that refer to a page (beyond the API document)."""
        path = ("spaces", space, "content", "page", page, "backlinks")
        return iterate_list(self._transport, path, Listing[Backlink])

    @operation("listSpacePageLinks")
    def list_page_links(self, space: str, page: str, *, status: Status | None = None) -> Iterator[Link]:
        """Return what a page refers to (beyond the API document)."""
        path = ("spaces", space, "content", "page", page, "links")
        return iterate_list(self._transport, path, LinkList, params={"status": status})

    @operation("listSpaceLinks")
    def list_links(self, space: str, *, status: Status | None = None) -> Iterator[Link]:
        """Return what the content of a space refers to, and from where."""
        return iterate_list(self._transport, ("spaces", space, "links"), LinkList, params={"status": status})

    @operation("applyTemplateToSpace")
    def apply_template(self, space: str, template: TemplateApply) -> None:
        """Copy a template into the main content of a space, or into a change request.

        Raises: AnswerLost when it may or may not have happened.
        """
        path = ("spaces", space, "content", "template")
        self._transport.exchange("POST", path, None, template.wire())

    @operation("getDocumentById")
    def get_document(self, space: str, document: str) -> Document:
        """Return a document (beyond the API document)."""
        return self._transport.call("GET", ("spaces", space, "documents", document), Document)

    @operation("getSpacePDF")
    def get_pdf(self, space: str, *, page: str | None = None, only: bool | None = None) -> PDFLink:
        """Return the temporary address of a space, or of a page of it, as PDF (beyond the API document)."""
        return self._transport.call("GET", ("spaces", space, "pdf"), PDFLink, params={"page": page, "only": only})

    def download(self, file: File, into: IO[bytes]) -> int:
        """Write the bytes of a file just read into an open file and return how many. Raises what `Downloads.fetch`
        does."""
        return self._downloads.fetch(file, into)


class Revisions:
    """Operations on revisions of a space by their id (beyond the API document: @gitbook/api 0.202.0)."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @operation("getRevisionById")
    def get(self, space: str, revision: str) -> Revision:
        """Return a revision: the page tree and files, without bodies."""
        return self._transport.call("GET", _path(space, revision), Revision, limit=TREE)

    @operation("listPagesInRevisionById")
    def list_pages(self, space: str, revision: str) -> tuple[Page, ...]:
        """Return the page tree of a revision."""
        return self._transport.call("GET", _path(space, revision, "pages"), PageTree, limit=TREE).pages

    @operation("listFilesInRevisionById")
    def list_files(self, space: str, revision: str) -> Iterator[File]:
        """Return all files of a revision."""
        return iterate_list(self._transport, _path(space, revision, "files"), Listing[File])

    @operation("getFileInRevisionById")
    def get_file(self, space: str, revision: str, file: str) -> File:
        """Return a file of a revision with a fresh download address."""
        return self._transport.call("GET", _path(space, revision, "files", file), File)

    @operation("getPageInRevisionById")
    def get_page(self, space: str, revision: str, page: str, *, format: Format = "markdown") -> Page:
        """Return a page as it was in a revision, with its text."""
        path = _path(space, revision, "page", page)
        return self._transport.call("GET", path, Page, params={"format": format}, limit=choose_page_limit(format))

    @operation("getPageInRevisionByPath")
    def get_page_by_path(self, space: str, revision: str, page_path: str, *, format: Format = "markdown") -> Page:
        """Return the page at a path as it was in a revision, with its text."""
        path = _path(space, revision, "path", page_path)
        return self._transport.call("GET", path, Page, params={"format": format}, limit=choose_page_limit(format))

    @operation("getReusableContentInRevisionById")
    def get_reusable_content(self, space: str, revision: str, reusable_content: str) -> ReusableContent:
        """Return a reusable content as it was, with its Markdown."""
        path = _path(space, revision, "reusable-contents", reusable_content)
        return self._transport.call("GET", path, ReusableContent, params=MARKDOWN, limit=PAGE)

    @operation("getRevisionChanges")
    def get_changes(self, space: str, revision: str, *, limit: int | None = None) -> Changes:
        """Return what a revision changed of its parent; `more` were cut off."""
        return self._transport.call("GET", _path(space, revision, "changes"), Changes, params={"limit": limit})


def _path(space: str, revision: str, *below: str) -> tuple[str, ...]:
    return ("spaces", space, "revisions", revision, *below)
