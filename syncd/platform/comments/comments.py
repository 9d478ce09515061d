"""Comments on spaces and on change requests."""

from typing import Annotated, Any, Literal

import sqlalchemy as sa
from fastapi import Query, Response
from fastapi.responses import JSONResponse

from syncd.model.comment import ID_MAX, Comment, CommentCreate, CommentUpdate
from syncd.model.listing import Listing
from syncd.platform.comments import targets
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
from syncd.platform.schema.comments import comments
from syncd.platform.storage.times import format_time

router = create_router(tags=["comments"])

AUTHORS_MAX = 100
"""Authors by whom one request filters."""

_Id = Annotated[str, Query(min_length=1, max_length=ID_MAX)]


class CommentNew(RequestBody, CommentCreate):
    """Body of `POST …/comments`."""


class CommentChange(RequestBody, CommentUpdate):
    """Body of `PUT …/comments/{commentId}`."""


def list_comments(
    at: AtDiscussion,
    paging: Paging,
    order: Literal["asc", "desc"] = "desc",
    status: Literal["all", "open", "resolved"] = "all",
    format: Format = "markdown",
    target_page: Annotated[_Id | None, Query(alias="targetPage")] = None,
    authors: Annotated[list[_Id] | None, Query(max_length=AUTHORS_MAX)] = None,
) -> JSONResponse:
    """List the comments of a discussion by the time they were posted, newest first unless asked otherwise."""
    with at.storage.read() as connection:
        discussion = at.require_discussion(connection)
        query = sa.select(comments).where(discussion.condition)
        if status != "all":
            query = query.where(comments.c.status == status)
        if target_page is not None:
            query = query.where(comments.c.page == target_page)
        if authors:
            query = query.where(comments.c.posted_by.in_(authors))
        by = comments.c.posted_at, comments.c.id
        envelope = paging.paginate_rows(connection, query, *by, descending=order == "desc")
        showing = CommentSerializer(connection, at.request, discussion, at.caller.user_id, format)
        return answers.ok(envelope | {"items": showing.serialize_comments(envelope["items"])})


def post_comment(at: AtDiscussion, body: CommentNew, format: Format = "markdown") -> JSONResponse:
    """Add a comment to a discussion, and return it."""
    kept = prepare_body(body.body)
    with at.storage.read() as connection:
        seen = at.require_discussion(connection)
        targets.require_target(connection, at.storage.blobs, seen, body)
    with at.storage.write() as connection:
        discussion = at.require_discussion(connection)
        if discussion.revision != seen.revision:
            # The page may have been deleted in between.
            targets.require_target(connection, at.storage.blobs, discussion, body)
        id = insert_comment(at, connection, discussion, body, kept)
        return _answer_comment(at, connection, discussion, id, format)


def get_comment(at: AtDiscussion, comment_id: str, format: Format = "markdown") -> JSONResponse:
    """Return a comment."""
    with at.storage.read() as connection:
        return _answer_comment(at, connection, at.require_discussion(connection), comment_id, format)


def update_comment(at: AtDiscussion, comment_id: str, body: CommentChange, format: Format = "markdown") -> JSONResponse:
    """Change what a comment says, resolve or reopen it, and add or remove reactions; return it.

    Only its author changes the text; everybody who may comment may resolve.
    """
    with at.storage.write() as connection:
        discussion = at.require_discussion(connection)
        row = require_comment(connection, discussion, comment_id)
        now, user = format_time(at.storage.now()), at.caller.user_id
        values: dict[str, Any] = {}
        if "body" in body.model_fields_set:
            require_author(row, user)
            values |= {"body": prepare_body(body.body), "edited_at": now}
        if "resolved" in body.model_fields_set and body.resolved != (row.status == "resolved"):
            by, moment = (user, now) if body.resolved else (None, None)
            values |= {"status": "resolved" if body.resolved else "open", "resolved_by": by, "resolved_at": moment}
        if values:
            connection.execute(comments.update().where(comments.c.id == row.id).values(values))
        update_reactions(connection, ReactionTarget(row.id), body, user=user, moment=now)
        return _answer_comment(at, connection, discussion, row.id, format)


def delete_comment(at: AtDiscussion, comment_id: str) -> Response:
    """Delete a comment with its replies; one that is gone already is no error."""
    with at.storage.write() as connection:
        discussion = at.require_discussion(connection)
        here = comments.c.id == comment_id, discussion.condition
        author = connection.scalar(sa.select(comments.c.posted_by).where(*here))
        if author is not None:
            require_deleter(discussion, author, at.caller.user_id)
            connection.execute(comments.delete().where(*here))
    return answers.no_content()


def insert_comment(
    at: DiscussionRequest, connection: sa.Connection, discussion: Discussion, new: CommentCreate, kept: dict[str, Any]
) -> str:
    """Store a comment whose target was checked, and return its id; `kept` is its body as `prepare_body` returns it."""
    id = at.storage.new_id()
    request = discussion.change_request
    row = {
        "id": id,
        "space": discussion.space.id,
        "change_request": None if request is None else request.id,
        "revision": discussion.revision,
        "page": new.page,
        "node": new.node,
        "table_cell": None if new.table_cell is None else new.table_cell.wire(),
        "body": kept,
        "status": "open",
        "posted_by": at.caller.user_id,
        "posted_at": format_time(at.storage.now()),
    }
    connection.execute(comments.insert().values(row))
    return id


def require_author(row: sa.Row[Any], user: str) -> None:
    """Require that `user` wrote a comment or reply. Raises: Failure 403."""
    if row.posted_by != user:
        raise Failure(403, "Only its author may change what a comment says.")


def require_deleter(discussion: Discussion, author: str, user: str) -> None:
    """Require that `user` wrote a comment or reply, or is an administrator. Raises: Failure 403."""
    if author != user and not discussion.has_role("admin"):
        raise Failure(403, "Only its author and administrators may delete a comment.")


def _answer_comment(
    at: DiscussionRequest, connection: sa.Connection, discussion: Discussion, id: str, format: Any
) -> JSONResponse:
    row = require_comment(connection, discussion, id)
    return answers.ok(
        CommentSerializer(connection, at.request, discussion, at.caller.user_id, format).serialize_comments([row])[0]
    )


add_operations(
    router,
    {
        DiscussionOperation("listComments", "GET", "/comments", "read", Listing[Comment]): list_comments,
        DiscussionOperation("postComment", "POST", "/comments", "comment", Comment): post_comment,
        DiscussionOperation("getComment", "GET", "/comments/{comment_id}", "read", Comment): get_comment,
        DiscussionOperation("updateComment", "PUT", "/comments/{comment_id}", "comment", Comment): update_comment,
        DiscussionOperation("deleteComment", "DELETE", "/comments/{comment_id}", "comment", None): delete_comment,
    },
)
