"""ChangeRequest (`change-request`): a proposed change of a space's content."""

from typing import Any, Literal

from pydantic import Field

from syncd.model.app_address import find_app_address
from syncd.model.base import Declared, Nullable, Observed, ObservedId
from syncd.model.document import Document
from syncd.model.template import TemplateUse
from syncd.model.user import User

SUBJECT_MAX = 100
"""Characters of a subject (API document, Limits)."""
LINKS_MAX = 10
LINK_TITLE_MAX = 128
"""Links to what a change request is about, and characters of the title of one. Source: @gitbook/api 0.202.0."""
LINK_URL_MAX = 2048


class ChangeRequestLink(Observed):
    """A link to what a change request is about; `ref` has the `url`."""

    id: ObservedId | None = None
    ref: dict[str, Any] = {}
    title: str | None = None


class ChangeRequest(Observed):
    """A change request as the platform shows it; `status` may take values that this version does not know."""

    object: str = "change-request"
    id: ObservedId
    number: int
    status: str
    subject: str = ""
    description: Document | None = None
    created_by: User | None = None
    created_at: str | None = None
    updated_at: str | None = None
    space: ObservedId | None = None
    revision: ObservedId = ""
    revision_initial: ObservedId | None = None
    revision_merged_ancestor: ObservedId | None = None
    revision_merged: ObservedId | None = None
    merged_by: User | None = None
    merged_at: str | None = None
    comments: int = 0
    outdated: bool = False
    conversations_issues_cluster: str | None = None
    links: tuple[ChangeRequestLink, ...] | None = None
    urls: dict[str, Any] = {}

    @property
    def is_live(self) -> bool:
        """Whether content can still be proposed through it."""
        return self.status in ("draft", "open")

    @property
    def address(self) -> str:
        """Where people read it, when the platform names an address of the web; else ""."""
        return find_app_address(self.urls)


class ChangeRequestCreate(Declared):
    """Body of `POST /spaces/{spaceId}/change-requests`."""

    subject: str = Field(max_length=SUBJECT_MAX)
    template: TemplateUse | None = None


class UrlRef(Declared):
    """A reference to an address of the web."""

    kind: Literal["url"]
    url: str = Field(min_length=1, max_length=LINK_URL_MAX, pattern=r"^https?://[^\s\x00-\x1f]+$")


class ChangeRequestLinkWrite(Declared):
    """A link to keep, with its `id`, or to add."""

    id: str | None = Field(default=None, min_length=1, max_length=100)
    ref: UrlRef
    title: str | None = Field(default=None, max_length=LINK_TITLE_MAX)


class ChangeRequestUpdate(Declared):
    """Body of `PATCH …/change-requests/{changeRequestId}`: unset is unchanged, a description of null is removed."""

    subject: str = Field(default="", max_length=SUBJECT_MAX)
    description: Nullable[Document] = None
    status: Literal["draft", "open", "archived"] = "draft"
    links: tuple[ChangeRequestLinkWrite, ...] = Field(default=(), max_length=LINKS_MAX)


class MergeResult(Observed):
    """Answer of merge and update: `result` is `merge`, `update` or `conflicts`."""

    revision: ObservedId
    result: str
