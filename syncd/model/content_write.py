"""Operations that write a change request's content (beyond the document: content-write §1)."""

from typing import Annotated, Any, Literal

from pydantic import Field

from syncd.model.base import Declared, Observed
from syncd.model.file import File

OPERATIONS_MAX = 50
"""Operations in one request."""
FILES_MAX = 20
"""Files in one `insert_files` operation."""
FILE_BYTES_MAX = 1_000_000
"""Bytes of one file once decoded; base64 of more is refused."""


class Markdown(Declared):
    """A page body as Markdown, frontmatter included."""

    markdown: str


class _Operation(Declared):
    """`operation` tells the platform which one it is, so it is always sent."""

    def model_post_init(self, context: Any) -> None:
        self.__pydantic_fields_set__.add("operation")


class PageMetadata(_Operation):
    """What both page operations may set; frontmatter of the document wins over these."""

    title: str | None = Field(default=None, min_length=1)
    slug: str | None = Field(default=None, max_length=100)
    emoji: str | None = Field(default=None, max_length=50)
    icon: str | None = Field(default=None, max_length=50)
    description: str | None = None
    hidden: bool | None = None
    no_index: bool | None = None
    no_robots_index: bool | None = None
    condition: str | None = None


class InsertPage(PageMetadata):
    """Insert a document page; `into` omitted is the root, `at` omitted appends."""

    operation: Literal["insert_page"] = "insert_page"
    document: Markdown
    into: str = ""
    at: int | None = Field(default=None, ge=0)
    ref: str | None = None


class UpdatePage(PageMetadata):
    """Edit, rename, re-slug or move a page; `into: null` is the root, omitted keeps the parent."""

    operation: Literal["update_page"] = "update_page"
    page: str
    document: Markdown | None = None
    into: str | None = None
    at: int | None = Field(default=None, ge=0)


class DeletePage(_Operation):
    """Delete a page and its subpages."""

    operation: Literal["delete_page"] = "delete_page"
    page: str


class NewFile(Declared):
    """One file to upload as base64."""

    name: str = Field(min_length=1, max_length=256)
    base64: str
    content_type: str
    ref: str | None = None


class InsertFiles(_Operation):
    """Upload 1 to 20 files."""

    operation: Literal["insert_files"] = "insert_files"
    files: tuple[NewFile, ...] = Field(min_length=1, max_length=FILES_MAX)


Operation = Annotated[InsertPage | UpdatePage | DeletePage | InsertFiles, Field(discriminator="operation")]


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
