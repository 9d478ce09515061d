"""Comments on spaces and on change requests, their replies and reactions."""

from collections.abc import Iterator, Sequence
from typing import Literal

from syncd.api.lists import iterate_list
from syncd.api.operation import operation
from syncd.api.transport.transport import Transport
from syncd.model.comment import (
    Comment,
    CommentCreate,
    CommentReply,
    CommentReplyCreate,
    CommentReplyUpdate,
    CommentUpdate,
)
from syncd.model.listing import Listing
from syncd.model.member import Member

Format = Literal["markdown", "document"]
Order = Literal["asc", "desc"]
Status = Literal["all", "open", "resolved"]


class SpaceComments:
    """Operations on the comments of a space. Source: API document, Comments on spaces."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @operation("listCommentsInSpace")
    def list(
        self,
        space: str,
        *,
        order: Order | None = None,
        status: Status | None = None,
        target_page: str | None = None,
        authors: Sequence[str] = (),
        format: Format = "markdown",
    ) -> Iterator[Comment]:
        """Return the comments of a space, the newest first unless asked otherwise."""
        params = {"order": order, "status": status, "targetPage": target_page, "authors": authors, "format": format}
        return iterate_list(self._transport, _space(space), Listing[Comment], params=params)

    @operation("postCommentInSpace")
    def post(self, space: str, comment: CommentCreate) -> Comment:
        """Create a comment, and return it.

        Raises: AnswerLost when it may or may not have been posted.
        """
        return self._transport.call("POST", _space(space), Comment, body=comment.wire())

    @operation("getCommentInSpace")
    def get(self, space: str, comment: str, *, format: Format = "markdown") -> Comment:
        """Return a comment."""
        return self._transport.call("GET", _space(space, comment), Comment, params={"format": format})

    @operation("updateCommentInSpace")
    def update(self, space: str, comment: str, changes: CommentUpdate) -> Comment:
        """Change a comment, and return it."""
        return self._transport.call("PUT", _space(space, comment), Comment, body=changes.wire())

    @operation("deleteCommentInSpace")
    def delete(self, space: str, comment: str) -> None:
        """Delete a comment with its replies; success too when it did not exist."""
        self._transport.delete(_space(space, comment))

    @operation("listCommentRepliesInSpace")
    def list_replies(self, space: str, comment: str, *, format: Format = "markdown") -> Iterator[CommentReply]:
        """Return the replies of a comment, oldest first."""
        path = _space(space, comment, "replies")
        return iterate_list(self._transport, path, Listing[CommentReply], params={"format": format})

    @operation("postCommentReplyInSpace")
    def post_reply(self, space: str, comment: str, reply: CommentReplyCreate) -> CommentReply:
        """Create a reply, and return it.

        Raises: AnswerLost when it may or may not have been posted.
        """
        path = _space(space, comment, "replies")
        return self._transport.call("POST", path, CommentReply, body=reply.wire())

    @operation("getCommentReplyInSpace")
    def get_reply(self, space: str, comment: str, reply: str, *, format: Format = "markdown") -> CommentReply:
        """Return a reply."""
        path = _space(space, comment, "replies", reply)
        return self._transport.call("GET", path, CommentReply, params={"format": format})

    @operation("updateCommentReplyInSpace")
    def update_reply(self, space: str, comment: str, reply: str, changes: CommentReplyUpdate) -> CommentReply:
        """Change a reply, and return it."""
        path = _space(space, comment, "replies", reply)
        return self._transport.call("PUT", path, CommentReply, body=changes.wire())

    @operation("deleteCommentReplyInSpace")
    def delete_reply(self, space: str, comment: str, reply: str) -> None:
        """Delete a reply; success too when it did not exist."""
        self._transport.delete(_space(space, comment, "replies", reply))

    @operation("listCommentersInSpace")
    def list_commenters(self, space: str) -> Iterator[Member]:
        """Return the members who commented or replied in a space."""
        return iterate_list(self._transport, ("spaces", space, "commenters"), Listing[Member])


class ChangeRequestComments:
    """Operations on the comments of a change request, which is an id or a number within the space.

    Source: API document, Comments on change requests.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @operation("listCommentsInChangeRequest")
    def list(
        self,
        space: str,
        change_request: str,
        *,
        order: Order | None = None,
        status: Status | None = None,
        target_page: str | None = None,
        authors: Sequence[str] = (),
        format: Format = "markdown",
    ) -> Iterator[Comment]:
        """Return the comments of a change request, the newest first unless asked otherwise."""
        params = {"order": order, "status": status, "targetPage": target_page, "authors": authors, "format": format}
        return iterate_list(self._transport, _request(space, change_request), Listing[Comment], params=params)

    @operation("postCommentInChangeRequest")
    def post(self, space: str, change_request: str, comment: CommentCreate) -> Comment:
        """Create a comment, and return it.

        Raises: AnswerLost when it may or may not have been posted.
        """
        return self._transport.call("POST", _request(space, change_request), Comment, body=comment.wire())

    @operation("getCommentInChangeRequest")
    def get(self, space: str, change_request: str, comment: str, *, format: Format = "markdown") -> Comment:
        """Return a comment."""
        path = _request(space, change_request, comment)
        return self._transport.call("GET", path, Comment, params={"format": format})

    @operation("updateCommentInChangeRequest")
    def update(self, space: str, change_request: str, comment: str, changes: CommentUpdate) -> Comment:
        """Change a comment, and return it."""
        path = _request(space, change_request, comment)
        return self._transport.call("PUT", path, Comment, body=changes.wire())

    @operation("deleteCommentInChangeRequest")
    def delete(self, space: str, change_request: str, comment: str) -> None:
        """Delete a comment with its replies; success too when it did not exist."""
        self._transport.delete(_request(space, change_request, comment))

    @operation("listCommentRepliesInChangeRequest")
    def list_replies(
        self, space: str, change_request: str, comment: str, *, format: Format = "markdown"
    ) -> Iterator[CommentReply]:
        """Return the replies of a comment, oldest first."""
        path = _request(space, change_request, comment, "replies")
        return iterate_list(self._transport, path, Listing[CommentReply], params={"format": format})

    @operation("postCommentReplyInChangeRequest")
    def post_reply(
        self, space: str, change_request: str, comment: str, reply: CommentReplyCreate, *, format: Format = "markdown"
    ) -> CommentReply:
        """Create a reply, and return it.

        Raises: AnswerLost when it may or may not have been posted.
        """
        path = _request(space, change_request, comment, "replies")
        return self._transport.call("POST", path, CommentReply, params={"format": format}, body=reply.wire())

    @operation("getCommentReplyInChangeRequest")
    def get_reply(
        self, space: str, change_request: str, comment: str, reply: str, *, format: Format = "markdown"
    ) -> CommentReply:
        """Return a reply."""
        path = _request(space, change_request, comment, "replies", reply)
        return self._transport.call("GET", path, CommentReply, params={"format": format})

    @operation("updateCommentReplyInChangeRequest")
    def update_reply(
        self, space: str, change_request: str, comment: str, reply: str, changes: CommentReplyUpdate
    ) -> CommentReply:
        """Change a reply, and return it."""
        path = _request(space, change_request, comment, "replies", reply)
        return self._transport.call("PUT", path, CommentReply, body=changes.wire())

    @operation("deleteCommentReplyInChangeRequest")
    def delete_reply(self, space: str, change_request: str, comment: str, reply: str) -> None:
        """Delete a reply; success too when it did not exist."""
        self._transport.delete(_request(space, change_request, comment, "replies", reply))

    @operation("listCommentersInChangeRequest")
    def list_commenters(self, space: str, change_request: str) -> Iterator[Member]:
        """Return the members who commented or replied in a change request."""
        path = ("spaces", space, "change-requests", change_request, "commenters")
        return iterate_list(self._transport, path, Listing[Member])


def _space(space: str, *below: str) -> tuple[str, ...]:
    return ("spaces", space, "comments", *below)


def _request(space: str, change_request: str, *below: str) -> tuple[str, ...]:
    return ("spaces", space, "change-requests", change_request, "comments", *below)
