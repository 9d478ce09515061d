"""What changed between two revisions (beyond the API document: @gitbook/api 0.202.0)."""

from typing import Any

from pydantic import Field

from syncd.model.base import Observed, ObservedId
from syncd.model.change_request import ChangeRequest


class ChangedPage(Observed):
    """A page as far as a change names it; `path` only where pages of its type have one."""

    id: ObservedId
    type: str
    title: str
    path: str | None = None


class ChangedFile(Observed):
    """A file as far as a change names it."""

    id: ObservedId
    name: str
    content_type: str
    download_url: str = Field(alias="downloadURL")


class ChangedReusableContent(Observed):
    """A reusable content as far as a change names it; `document` is the id of its text."""

    id: ObservedId
    title: str
    document: str | None = None


class ChangedTag(Observed):
    """A tag as far as a change names it."""

    slug: str
    label: str


class BeforeAfter(Observed):
    """A value before and after; a side on which there was none is absent."""

    before: Any = None
    after: Any = None


class ParentChange(Observed):
    """What a page stood below and stands below; absent where that is the root."""

    before: ChangedPage | None = None
    after: ChangedPage | None = None


class Change(Observed):
    """One change; `type` says which of the other members there are, and `attributes` holds what was edited."""

    type: str
    page: ChangedPage | None = None
    parent: ParentChange | None = None
    file: ChangedFile | None = None
    reusable_content: ChangedReusableContent | None = None
    tag: ChangedTag | None = None
    attributes: dict[str, BeforeAfter] | None = None
    variables: dict[str, BeforeAfter] | None = None


class Changes(Observed):
    """The first changes, as many as were asked for, and how many more there are.

    Shape: `merged_from` is the change request of a merge.
    """

    changes: tuple[Change, ...]
    more: int
    merged_from: ChangeRequest | None = None
