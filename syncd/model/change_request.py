"""ChangeRequest (`change-request`): a proposed change of a space's content."""

from typing import Any, Literal

from pydantic import Field

from syncd.model.base import Declared, Observed
from syncd.model.document import Document
from syncd.model.user import User

SUBJECT_MAX = 100
"""Characters of a subject (API document, Limits)."""


class ChangeRequest(Observed):
    """A change request as the platform shows it; `status` may take values that this version does not know."""

    object: str = "change-request"
    id: str
    number: int
    status: str
    subject: str = ""
    description: Document | None = None
    created_by: User | None = None
    created_at: str | None = None
    updated_at: str | None = None
    space: str | None = None
    revision: str = ""
    revision_initial: str | None = None
    revision_merged_ancestor: str | None = None
    revision_merged: str | None = None
    comments: int = 0
    outdated: bool = False
    urls: dict[str, Any] = {}

    @property
    def is_live(self) -> bool:
        """Whether content can still be proposed through it."""
        return self.status in ("draft", "open")


class ChangeRequestCreate(Declared):
    """Body of `POST /spaces/{spaceId}/change-requests`."""

    subject: str = Field(max_length=SUBJECT_MAX)


class ChangeRequestUpdate(Declared):
    """Body of `PATCH …/change-requests/{changeRequestId}`: unset is unchanged."""

    subject: str = Field(default="", max_length=SUBJECT_MAX)
    description: Document | None = None
    status: Literal["draft", "open", "archived"] = "draft"


class MergeResult(Observed):
    """Answer of merge and update: `result` is `merge`, `update` or `conflicts`."""

    revision: str
    result: str
