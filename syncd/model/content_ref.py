"""ContentRef: a reference to content (API document, Conventions 6; kinds that it leaves out: @gitbook/api 0.146.0)."""

from typing import Literal

from pydantic import Field

from syncd.model.base import Declared, Observed

Kind = Literal["file", "url", "page", "anchor", "user", "collection", "space", "reusable-content", "openapi", "tag"]

ADDRESS_MAX = 2048
"""Characters of an address that a reference of kind `url` holds."""


class ContentRef(Observed):
    """`kind` says which of the other members there is; kinds that this version does not know keep their members."""

    kind: str
    file: str | None = None
    page: str | None = None
    space: str | None = None
    spec: str | None = None
    url: str | None = None
    anchor: str | None = None
    user: str | None = None
    collection: str | None = None
    reusable_content: str | None = Field(default=None, alias="reusableContent")
    tag: str | None = None


class ContentRefWrite(Declared):
    """A reference that a caller gives; what the members of its kind lead to is checked where it is used."""

    kind: Kind
    file: str | None = Field(default=None, min_length=1, max_length=100)
    page: str | None = Field(default=None, min_length=1, max_length=100)
    space: str | None = Field(default=None, min_length=1, max_length=100)
    spec: str | None = Field(default=None, min_length=1, max_length=100)
    url: str | None = Field(default=None, min_length=1, max_length=ADDRESS_MAX)
    anchor: str | None = Field(default=None, min_length=1, max_length=256)
    user: str | None = Field(default=None, min_length=1, max_length=100)
    collection: str | None = Field(default=None, min_length=1, max_length=100)
    reusable_content: str | None = Field(default=None, min_length=1, max_length=100)
    tag: str | None = Field(default=None, min_length=1, max_length=100)
