"""Comments on spaces and on change requests."""

from typing import Annotated, Any, Literal

import sqlalchemy as sa
from fastapi import Query, Response
from fastapi.responses import JSONResponse

from syncd.model.comment import ID_MAX, Comment, CommentCreate, CommentUpdate
from syncd.model.listing import Listing
from syncd.platform.comments import targets
from syncd.platform.comments.places import AtPlace, Operation, Place, PlaceRequest, add_both, require_comment
from syncd.platform.comments.reactions import Target, react
from syncd.platform.comments.showing import Format, Showing, body_kept
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
    at: AtPlace,
    paging: Paging,
    order: Literal["asc", "desc"] = "desc",
    status: Literal["all", "open", "resolved"] = "all",
    format: Format = "markdown",
    target_page: Annotated[_Id | None, Query(alias="targetPage")] = None,
    authors: Annotated[list[_Id] | None, Query(max_length=AUTHORS_MAX)] = None,
) -> JSONResponse:
    """Given a place, return its comments by when they were posted, the newest first unless asked otherwise."""
    with at.storage.read() as connection:
        place = at.require(connection)
        query = sa.select(comments).where(place.mine)
        if status != "all":
            query = query.where(comments.c.status == status)
        if target_page is not None:
            query = query.where(comments.c.page == target_page)
        if authors:
            query = query.where(comments.c.posted_by.in_(authors))
        by = comments.c.posted_at, comments.c.id
        envelope = paging.rows(connection, query, *by, descending=order == "desc")
        showing = Showing(connection, at.request, place, at.caller.user_id, format)
        return answers.ok(envelope | {"items": showing.comments(envelope["items"])})


def post_comment(at: AtPlace, body: CommentNew, format: Format = "markdown") -> JSONResponse:
    """Given a body and what it is about, return the new Comment."""
    kept = body_kept(body.body)
    with at.storage.read() as connection:
        seen = at.require(connection)
        targets.check(connection, at.storage.blobs, seen, body)
    with at.storage.write() as connection:
        place = at.require(connection)
        if place.revision != seen.revision:
            # The page may have been deleted in between.
            targets.check(connection, at.storage.blobs, place, body)
        id = add(at, connection, place, body, kept)
        return _answer(at, connection, place, id, format)


def get_comment(at: AtPlace, comment_id: str, format: Format = "markdown") -> JSONResponse:
    """Given an id, return the Comment."""
    with at.storage.read() as connection:
        return _answer(at, connection, at.require(connection), comment_id, format)


def update_comment(at: AtPlace, comment_id: str, body: CommentChange, format: Format = "markdown") -> JSONResponse:
    """Given new members, return the Comment with them; unset is unchanged. Whoever may comment may resolve."""
    with at.storage.write() as connection:
        place = at.require(connection)
        row = require_comment(connection, place, comment_id)
        now, user = format_time(at.storage.now()), at.caller.user_id
        values: dict[str, Any] = {}
        if "body" in body.model_fields_set:
            require_author(row, user)
            values |= {"body": body_kept(body.body), "edited_at": now}
        if "resolved" in body.model_fields_set and body.resolved != (row.status == "resolved"):
            by, moment = (user, now) if body.resolved else (None, None)
            values |= {"status": "resolved" if body.resolved else "open", "resolved_by": by, "resolved_at": moment}
        if values:
            connection.execute(comments.update().where(comments.c.id == row.id).values(values))
        react(connection, Target(row.id), body, user=user, moment=now)
        return _answer(at, connection, place, row.id, format)


def delete_comment(at: AtPlace, comment_id: str) -> Response:
    """Given an id, delete the comment with its replies, also when it is not there."""
    with at.storage.write() as connection:
        place = at.require(connection)
        here = comments.c.id == comment_id, place.mine
        author = connection.scalar(sa.select(comments.c.posted_by).where(*here))
        if author is not None:
            require_deleter(place, author, at.caller.user_id)
            connection.execute(comments.delete().where(*here))
    return answers.no_content()


def add(at: PlaceRequest, connection: sa.Connection, place: Place, new: CommentCreate, kept: dict[str, Any]) -> str:
    """Given a comment whose target was checked, and its body as it is kept, add it and return its id."""
    id = at.storage.new_id()
    request = place.change_request
    row = {
        "id": id,
        "space": place.space.id,
        "change_request": None if request is None else request.id,
        "revision": place.revision,
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
    """Given a comment's or reply's row, let its author go on. Raises: Failure 403 for everybody else."""
    if row.posted_by != user:
        raise Failure(403, "Only its author may change what a comment says.")


def require_deleter(place: Place, author: str, user: str) -> None:
    """Given who wrote a comment or reply, let that person and administrators go on. Raises: Failure 403."""
    if author != user and not place.may("admin"):
        raise Failure(403, "Only its author and administrators may delete a comment.")


def _answer(at: PlaceRequest, connection: sa.Connection, place: Place, id: str, format: Any) -> JSONResponse:
    row = require_comment(connection, place, id)
    return answers.ok(Showing(connection, at.request, place, at.caller.user_id, format).comments([row])[0])


add_both(
    router,
    {
        Operation("listComments", "GET", "/comments", "read", Listing[Comment]): list_comments,
        Operation("postComment", "POST", "/comments", "comment", Comment): post_comment,
        Operation("getComment", "GET", "/comments/{comment_id}", "read", Comment): get_comment,
        Operation("updateComment", "PUT", "/comments/{comment_id}", "comment", Comment): update_comment,
        Operation("deleteComment", "DELETE", "/comments/{comment_id}", "comment", None): delete_comment,
    },
)
