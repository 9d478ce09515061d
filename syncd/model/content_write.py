"""Operations that write a change request's content (beyond the API document: @gitbook/api 0.202.0)."""

from typing import Annotated, Any, Literal

from pydantic import Field

from syncd.model.base import Declared, Observed
from syncd.model.document import Document
from syncd.model.file import File

OPERATIONS_MAX = 50
"""Operations in one request."""
FILES_MAX = 20
"""Files in one `insert_files` operation."""
FILE_BYTES_MAX = 1_000_000
"""Bytes of one file once decoded; base64 of more is refused."""
TEXT_MAX = 1_000_000
"""Characters of a page's Markdown, as many as a file has bytes; the API names no limit."""
URL_MAX = 2048
TITLE_MAX = 1_000
DESCRIPTION_MAX = 10_000
CONDITION_MAX = 1_024
"""Characters of a page's members; the API names no limit for these."""
BLOCKS_MAX = 1000
"""Blocks that one operation reverts; the API names no limit."""


class Markdown(Declared):
    """A page body as Markdown, frontmatter included."""

    markdown: str = Field(max_length=TEXT_MAX)


class RichText(Declared):
    """A page body as a document, which holds no frontmatter."""

    document: Document


class NoText(Declared):
    """No page body: an inserted page is empty, an updated one keeps what it says."""


PageText = Markdown | RichText | NoText


class _Operation(Declared):
    """`operation` tells the platform which one it is, so it is always sent."""

    def model_post_init(self, context: Any) -> None:
        self.__pydantic_fields_set__.add("operation")


class PageMetadata(_Operation):
    """What both page operations may set; frontmatter of the document wins over these."""

    title: str | None = Field(default=None, min_length=1, max_length=TITLE_MAX)
    slug: str | None = Field(default=None, max_length=100)
    emoji: str | None = Field(default=None, max_length=50)
    icon: str | None = Field(default=None, max_length=50)
    description: str | None = Field(default=None, max_length=DESCRIPTION_MAX)
    hidden: bool | None = None
    no_index: bool | None = None
    no_robots_index: bool | None = None
    condition: str | None = Field(default=None, max_length=CONDITION_MAX)


class InsertPage(PageMetadata):
    """Insert a document page; `into` omitted is the root, `at` omitted appends."""

    operation: Literal["insert_page"] = "insert_page"
    document: PageText
    into: str = ""
    at: int | None = Field(default=None, ge=0)
    ref: str | None = None


class UpdatePage(PageMetadata):
    """Edit, rename, re-slug or move a page; `into: null` is the root, omitted keeps the parent."""

    operation: Literal["update_page"] = "update_page"
    page: str
    document: PageText | None = None
    into: str | None = None
    at: int | None = Field(default=None, ge=0)


class DeletePage(_Operation):
    """Delete a page and its subpages."""

    operation: Literal["delete_page"] = "delete_page"
    page: str


class RevertPage(_Operation):
    """Bring a page, or some blocks of it, back to what they are in a revision, by default the change request's base.

    Shape: `block` holds the keys of blocks as `format=document` answers them, of the page as it is or as it was.
    """

    operation: Literal["revert_page"] = "revert_page"
    page: str
    revision: str | None = None
    block: tuple[str, ...] | None = Field(default=None, min_length=1, max_length=BLOCKS_MAX)


class NewFile(Declared):
    """One file to upload as base64."""

    name: str = Field(min_length=1, max_length=256)
    base64: str
    content_type: str
    ref: str | None = None


class FileAtUrl(Declared):
    """One file that the platform fetches from a public address; without a type, the one that it is sent with."""

    name: str = Field(min_length=1, max_length=256)
    url: str = Field(min_length=1, max_length=URL_MAX)
    content_type: str | None = None
    ref: str | None = None


class InsertFiles(_Operation):
    """Upload 1 to 20 files."""

    operation: Literal["insert_files"] = "insert_files"
    files: tuple[NewFile | FileAtUrl, ...] = Field(min_length=1, max_length=FILES_MAX)


Operation = Annotated[InsertPage | UpdatePage | DeletePage | RevertPage | InsertFiles, Field(discriminator="operation")]


class ContentWrite(Declared):
    """Body of `POST …/change-requests/{changeRequestId}/content`: applied in order, atomically, as one revision."""

    changes: tuple[Operation, ...] = Field(min_length=1, max_length=OPERATIONS_MAX)


class WrittenChange(Observed):
    """What became of one affected page; `page` is an object, or an id for `deleted_page`."""

    object: str
    ref: str | None = None
    page: Any = None


class ContentWritten(Observed):
    """Answer of a content write with `compat=false`."""

    change_request: dict[str, Any]
    changes: tuple[WrittenChange, ...] = ()
    inserted_files: tuple[File, ...] = ()
