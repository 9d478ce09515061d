"""Reviews of change requests: who is asked, what reviewers say, and who contributed."""

from collections.abc import Iterator
from typing import Literal

from syncd.api.lists import iterate_list
from syncd.api.operation import operation
from syncd.api.transport.transport import Transport
from syncd.model.listing import Listing
from syncd.model.review import (
    Contributor,
    RequestedReviewer,
    RequestedReviewers,
    Review,
    ReviewCreate,
    ReviewersRequest,
)

Format = Literal["markdown", "document"]


class Reviews:
    """Operations on the reviews of a change request, which is an id or a number within the space.

    Source: @gitbook/api 0.202.0.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @operation("getReviewsByChangeRequestId")
    def list(
        self, space: str, change_request: str, *, outdated: bool | None = None, format: Format = "markdown"
    ) -> Iterator[Review]:
        """Return the reviews of a change request; `outdated` asks for those of former or of present content."""
        path = _path(space, change_request, "reviews")
        return iterate_list(self._transport, path, Listing[Review], params={"outdated": outdated, "format": format})

    @operation("getChangeRequestReviewById")
    def get(self, space: str, change_request: str, review: str, *, format: Format = "markdown") -> Review:
        """Return a review of a change request."""
        path = _path(space, change_request, "reviews", review)
        return self._transport.call("GET", path, Review, params={"format": format})

    @operation("submitChangeRequestReview")
    def create(self, space: str, change_request: str, review: ReviewCreate) -> Review:
        """Create a review, and return it.

        Raises: AnswerLost when it may or may not have been submitted.
        """
        path = _path(space, change_request, "reviews")
        return self._transport.call("POST", path, Review, body=review.wire())

    @operation("getRequestedReviewersByChangeRequestId")
    def list_requested(self, space: str, change_request: str) -> Iterator[RequestedReviewer]:
        """Return whom a change request asks for a review."""
        path = _path(space, change_request, "requested-reviewers")
        return iterate_list(self._transport, path, Listing[RequestedReviewer])

    @operation("requestReviewersForChangeRequest")
    def request(self, space: str, change_request: str, reviewers: ReviewersRequest) -> RequestedReviewers:
        """Ask people or teams for a review of a change request, and return the requests."""
        path = _path(space, change_request, "requested-reviewers")
        return self._transport.call("POST", path, RequestedReviewers, body=reviewers.wire())

    @operation("removeRequestedReviewerFromChangeRequest")
    def remove_requested(self, space: str, change_request: str, user: str) -> None:
        """Withdraw the request for a person's or team's review; success too when there was none."""
        self._transport.delete(_path(space, change_request, "requested-reviewers", user))

    @operation("getContributorsByChangeRequestId")
    def list_contributors(self, space: str, change_request: str) -> Iterator[Contributor]:
        """Return who wrote in a change request or commented on it."""
        return iterate_list(self._transport, _path(space, change_request, "contributors"), Listing[Contributor])


def _path(space: str, change_request: str, *below: str) -> tuple[str, ...]:
    return ("spaces", space, "change-requests", change_request, *below)
