"""Content of a space: its current revision, pages, files and reusable contents."""

from collections.abc import Iterator

from syncd.api.downloads import Downloads
from syncd.api.lists import iterate
from syncd.api.transport import Transport
from syncd.model.base import Observed
from syncd.model.file import File
from syncd.model.listing import Listing
from syncd.model.page import Page
from syncd.model.revision import ReusableContent, Revision

MARKDOWN = {"format": "markdown"}


class PageTree(Observed):
    """Answer of the page listing, which is not a list envelope."""

    pages: tuple[Page, ...]


class Content:
    """Operations on a space's main content. Source: API document, Space content."""

    def __init__(self, transport: Transport, downloads: Downloads) -> None:
        self._transport = transport
        self._downloads = downloads

    def get(self, space: str) -> Revision:
        """Given a space's id, return its current revision: the page tree and files, without bodies."""
        return self._transport.call("GET", ("spaces", space, "content"), Revision)

    def list_pages(self, space: str) -> tuple[Page, ...]:
        """Given a space's id, return its page tree."""
        return self._transport.call("GET", ("spaces", space, "content", "pages"), PageTree).pages

    def get_page(self, space: str, page: str) -> Page:
        """Given the ids of a space and a page, return the page with its Markdown."""
        return self._transport.call("GET", ("spaces", space, "content", "page", page), Page, params=MARKDOWN)

    def list_files(self, space: str) -> Iterator[File]:
        """Given a space's id, return all of its files."""
        return iterate(self._transport, ("spaces", space, "content", "files"), Listing[File])

    def get_file(self, space: str, file: str) -> File:
        """Given the ids of a space and a file, return the file with a fresh download address."""
        return self._transport.call("GET", ("spaces", space, "content", "files", file), File)

    def get_reusable_content(self, space: str, reusable_content: str) -> ReusableContent:
        """Given the ids of a space and a reusable content, return it with its Markdown (beyond the API document)."""
        path = ("spaces", space, "content", "reusable-contents", reusable_content)
        return self._transport.call("GET", path, ReusableContent, params=MARKDOWN)

    def download(self, file: File) -> bytes:
        """Given a file just read, return its bytes. Raises: as `Downloads.fetch`."""
        return self._downloads.fetch(file)
