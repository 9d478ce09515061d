"""Replies to comments."""

from typing import Any

import sqlalchemy as sa
from fastapi import Response
from fastapi.responses import JSONResponse

from syncd.model.comment import CommentReply, CommentReplyCreate, CommentReplyUpdate
from syncd.model.listing import Listing
from syncd.platform.comments.comments import require_author, require_deleter
from syncd.platform.comments.discussions import (
    AtDiscussion,
    Discussion,
    DiscussionOperation,
    DiscussionRequest,
    add_operations,
    require_comment,
)
from syncd.platform.comments.reactions import ReactionTarget, update_reactions
from syncd.platform.comments.serializer import CommentSerializer, Format, prepare_body
from syncd.platform.http import answers
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.failures import Failure
from syncd.platform.http.listing import Paging
from syncd.platform.http.routing import create_router
from syncd.platform.schema.comments import replies
from syncd.platform.storage.times import format_time

router = create_router(tags=["comments"])


class ReplyNew(RequestBody, CommentReplyCreate):
    """Body of `POST …/replies`."""


class ReplyChange(RequestBody, CommentReplyUpdate):
    """Body of `PUT …/replies/{commentReplyId}`."""


def list_replies(at: AtDiscussion, paging: Paging, comment_id: str, format: Format = "markdown") -> JSONResponse:
    """List the replies to a comment, oldest first."""
    with at.storage.read() as connection:
        discussion = at.require_discussion(connection)
        comment = require_comment(connection, discussion, comment_id)
        query = sa.select(replies).where(replies.c.comment == comment.id)
        envelope = paging.paginate_rows(connection, query, replies.c.posted_at, replies.c.id)
        showing = CommentSerializer(connection, at.request, discussion, at.caller.user_id, format)
        return answers.ok(envelope | {"items": showing.serialize_replies(envelope["items"])})


def post_reply(at: AtDiscussion, comment_id: str, body: ReplyNew, format: Format = "markdown") -> JSONResponse:
    """Add a reply to a comment, and return it."""
    kept = prepare_body(body.body)
    with at.storage.write() as connection:
        discussion = at.require_discussion(connection)
        comment = require_comment(connection, discussion, comment_id)
        row = {"id": at.storage.new_id(), "comment": comment.id, "body": kept, "posted_by": at.caller.user_id}
        connection.execute(replies.insert().values(row | {"posted_at": format_time(at.storage.now())}))
        return _answer_reply(at, connection, discussion, _require_reply(connection, comment.id, row["id"]), format)


def get_reply(at: AtDiscussion, comment_id: str, comment_reply_id: str, format: Format = "markdown") -> JSONResponse:
    """Return a reply."""
    with at.storage.read() as connection:
        discussion = at.require_discussion(connection)
        row = _require_reply(connection, require_comment(connection, discussion, comment_id).id, comment_reply_id)
        return _answer_reply(at, connection, discussion, row, format)


def update_reply(
    at: AtDiscussion, comment_id: str, comment_reply_id: str, body: ReplyChange, format: Format = "markdown"
) -> JSONResponse:
    """Change what a reply says, and its reactions; return it."""
    with at.storage.write() as connection:
        discussion = at.require_discussion(connection)
        comment = require_comment(connection, discussion, comment_id)
        row = _require_reply(connection, comment.id, comment_reply_id)
        now, user = format_time(at.storage.now()), at.caller.user_id
        if "body" in body.model_fields_set:
            require_author(row, user)
            values = {"body": prepare_body(body.body), "edited_at": now}
            connection.execute(replies.update().where(replies.c.id == row.id).values(values))
        update_reactions(connection, ReactionTarget(comment.id, row.id), body, user=user, moment=now)
        return _answer_reply(at, connection, discussion, _require_reply(connection, comment.id, row.id), format)


def delete_reply(at: AtDiscussion, comment_id: str, comment_reply_id: str) -> Response:
    """Delete a reply; one that is gone already is no error."""
    with at.storage.write() as connection:
        discussion = at.require_discussion(connection)
        comment = require_comment(connection, discussion, comment_id)
        here = replies.c.id == comment_reply_id, replies.c.comment == comment.id
        author = connection.scalar(sa.select(replies.c.posted_by).where(*here))
        if author is not None:
            require_deleter(discussion, author, at.caller.user_id)
            connection.execute(replies.delete().where(*here))
    return answers.no_content()


def _require_reply(connection: sa.Connection, comment: str, id: str) -> sa.Row[Any]:
    query = sa.select(replies).where(replies.c.id == id, replies.c.comment == comment)
    row = connection.execute(query).one_or_none()
    if row is None:
        raise Failure(404, f"No reply {id} to comment {comment}.")
    return row


def _answer_reply(
    at: DiscussionRequest, connection: sa.Connection, discussion: Discussion, row: sa.Row[Any], format: Any
) -> JSONResponse:
    return answers.ok(
        CommentSerializer(connection, at.request, discussion, at.caller.user_id, format).serialize_replies([row])[0]
    )


_ALL = "/comments/{comment_id}/replies"
_ONE = f"{_ALL}/{{comment_reply_id}}"
_HERE = ("ChangeRequest",)

# The document has one half of these for spaces and the other half for change requests (@gitbook/api 0.146.0).
add_operations(
    router,
    {
        DiscussionOperation("listCommentReplies", "GET", _ALL, "read", Listing[CommentReply], ("Space",)): list_replies,
        DiscussionOperation("postCommentReply", "POST", _ALL, "comment", CommentReply): post_reply,
        DiscussionOperation("getCommentReply", "GET", _ONE, "read", CommentReply, _HERE): get_reply,
        DiscussionOperation("updateCommentReply", "PUT", _ONE, "comment", CommentReply, _HERE): update_reply,
        DiscussionOperation("deleteCommentReply", "DELETE", _ONE, "comment", None, _HERE): delete_reply,
    },
)
