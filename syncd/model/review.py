"""Reviews of a change request (beyond the API document: @gitbook/api 0.202.0): who is asked, and what reviewers say."""

from typing import Annotated, Any, Literal

from pydantic import Field

from syncd.model.base import Declared, Observed, ObservedId
from syncd.model.change_request import SUBJECT_MAX
from syncd.model.comment import Comment
from syncd.model.document import Document
from syncd.model.user import User

REVIEWERS_MAX = 50
"""People and teams that one request asks for a review."""

_Ids = Annotated[
    tuple[Annotated[str, Field(min_length=1, max_length=100)], ...], Field(default=(), max_length=REVIEWERS_MAX)
]


class RequestedReviewer(Observed):
    """A person or a team that was asked for a review. Shape: `kind` is `user` or `team`, and names the member."""

    object: str = "change-request-requested-reviewer"
    kind: str
    revision: ObservedId
    requested_by: User
    created_at: str
    user: User | None = None
    team: dict[str, Any] | None = None


class RequestedReviewers(Observed):
    """Answer of a request for reviews: those who are asked now."""

    users: tuple[RequestedReviewer, ...] | None = None
    teams: tuple[RequestedReviewer, ...] | None = None


class ReviewersRequest(Declared):
    """Body of `POST …/requested-reviewers`; subject and description become the change request's."""

    users: _Ids
    teams: _Ids
    subject: str = Field(default="", max_length=SUBJECT_MAX)
    description: Document = Document()


class Review(Observed):
    """A review, `approved` or `changes-requested`; it is `outdated` when the content has changed since."""

    object: str = "change-request-review"
    id: ObservedId
    revision: ObservedId
    reviewer: User
    requested_by: User | None = None
    status: str
    outdated: bool
    comment: Comment | None = None
    created_at: str
    updated_at: str
    urls: dict[str, Any] = {}


class ReviewCreate(Declared):
    """Body of `POST …/reviews`."""

    status: Literal["approved", "changes-requested"]
    comment: Document = Document()


class Contributor(User):
    """A person who worked on a change request. Shape: `action_type` is `edit` or `comment`."""

    action_type: str
