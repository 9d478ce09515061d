"""File: an image or attachment of a revision."""

from pydantic import Field

from syncd.model.base import Observed, ObservedId


class GitBlob(Observed):
    """The Git blob that holds a page, file or reusable content, and its path below the space's root."""

    oid: str
    path: str


class Dimensions(Observed):
    """Size of an image in pixels."""

    width: float
    height: float


class File(Observed):
    """An uploaded file; `download_url` is volatile and must be used at once. Units: `size` in bytes."""

    id: ObservedId
    name: str
    content_type: str | None = None
    download_url: str | None = Field(default=None, alias="downloadURL")
    size: int | None = None
    dimensions: Dimensions | None = None
    git: GitBlob | None = None
