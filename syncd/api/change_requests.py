"""Change requests: proposed changes of a space's content, and their content."""

from collections.abc import Iterator

from syncd.api.lists import iterate_list
from syncd.api.operation import operation
from syncd.api.transport.transport import Transport
from syncd.errors import PlatformError, Rejected
from syncd.model.change_request import ChangeRequest, ChangeRequestCreate, ChangeRequestUpdate, MergeResult
from syncd.model.content_write import ContentWrite, ContentWritten
from syncd.model.listing import Listing

NO_ROUTE = (404, 405, 501)
"""Statuses with which servers answer for a route that they do not have."""


class ChangeRequests:
    """Operations on change requests; `change_request` is an id or a number within the space.

    Source: API document, Change requests and Change request content; @gitbook/api 0.202.0.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.writes = True
        """Whether content can be written, as far as the caller knows; once False, `write_content` asks no more."""

    @operation("listChangeRequestsForSpace")
    def list(
        self,
        space: str,
        status: str | None = "open",
        *,
        creator: str | None = None,
        contributor: str | None = None,
        requested_reviewer: str | None = None,
        conversations_issues_cluster: str | None = None,
    ) -> Iterator[ChangeRequest]:
        """Return the change requests of a space with a status; None leaves the choice to the platform.

        Shape: `creator`, `contributor` and `requested_reviewer` are ids of users.
        """
        people = {"creator": creator, "contributor": contributor, "requestedReviewer": requested_reviewer}
        params = {"status": status, **people, "conversationsIssuesCluster": conversations_issues_cluster}
        return iterate_list(
            self._transport, ("spaces", space, "change-requests"), Listing[ChangeRequest], params=params
        )

    @operation("listChangeRequestsForOrganization")
    def list_in_organization(
        self,
        organization: str,
        status: str | None = "open",
        *,
        creator: str | None = None,
        contributor: str | None = None,
        requested_reviewer: str | None = None,
        conversations_issues_cluster: str | None = None,
    ) -> Iterator[ChangeRequest]:
        """Return the change requests of an organization's spaces; filters as for `list`."""
        people = {"creator": creator, "contributor": contributor, "requestedReviewer": requested_reviewer}
        params = {"status": status, **people, "conversationsIssuesCluster": conversations_issues_cluster}
        path = ("orgs", organization, "change-requests")
        return iterate_list(self._transport, path, Listing[ChangeRequest], params=params)

    @operation("getChangeRequestById")
    def get(self, space: str, change_request: str) -> ChangeRequest:
        """Return a change request."""
        return self._transport.call("GET", _path(space, change_request), ChangeRequest)

    @operation("createChangeRequest")
    def create(self, space: str, change_request: ChangeRequestCreate) -> ChangeRequest:
        """Create a change request, and return it.

        Raises: AnswerLost when it may or may not have been created.
        """
        path = ("spaces", space, "change-requests")
        return self._transport.call("POST", path, ChangeRequest, body=change_request.wire())

    @operation("updateChangeRequestById")
    def update(self, space: str, change_request: str, changes: ChangeRequestUpdate) -> ChangeRequest:
        """Change a change request, and return it."""
        return self._transport.call("PATCH", _path(space, change_request), ChangeRequest, body=changes.wire())

    @operation("mergeChangeRequest")
    def merge(self, space: str, change_request: str) -> MergeResult:
        """Merge a change request into main content; `conflicts` in the result means merged all the same."""
        return self._transport.call("POST", _path(space, change_request, "merge"), MergeResult)

    @operation("updateChangeRequest")
    def refresh(self, space: str, change_request: str) -> MergeResult:
        """Pull main content into a change request (`POST …/update`)."""
        return self._transport.call("POST", _path(space, change_request, "update"), MergeResult)

    @operation("updateChangeRequestContent")
    def write_content(self, space: str, change_request: str, write: ContentWrite) -> ContentWritten:
        """Apply up to 50 operations to a change request as one revision, all or none.

        Raises: Rejected with status 404 when the change request exists but the platform cannot write content;
        NotFound when there is no such change request; AnswerLost when it may or may not have happened.
        """
        if not self.writes:
            raise Rejected("this platform cannot write a change request's content", status=404)
        path = _path(space, change_request, "content")
        try:
            return self._transport.call("POST", path, ContentWritten, params={"compat": "false"}, body=write.wire())
        except PlatformError as error:
            if error.status not in NO_ROUTE:
                raise
            refused = error
        self.get(space, change_request)
        raise Rejected(
            f"{refused.what}; this platform cannot write a change request's content",
            status=404,
            hint="The change request can still carry the proposal in its description and comments.",
        ) from refused


def _path(space: str, change_request: str, *below: str) -> tuple[str, ...]:
    return ("spaces", space, "change-requests", change_request, *below)
