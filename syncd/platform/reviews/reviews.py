"""Reviews of change requests (beyond the API document: @gitbook/api 0.202.0)."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import sqlalchemy as sa
from fastapi import Query, Request
from fastapi.responses import JSONResponse

from syncd.model.comment import CommentBodyWrite, CommentCreate
from syncd.model.listing import Listing
from syncd.model.review import Review, ReviewCreate
from syncd.platform.change_requests.change_requests import AtChangeRequest, ChangeRequestScope
from syncd.platform.comments.comments import insert_comment
from syncd.platform.comments.discussions import Discussion, DiscussionRequest
from syncd.platform.comments.serializer import CommentSerializer, Format
from syncd.platform.http import addresses, answers, rich_text
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.failures import Failure
from syncd.platform.http.listing import Paging
from syncd.platform.http.routing import create_router
from syncd.platform.people import users
from syncd.platform.people.auth import declare_role, is_role_at_least
from syncd.platform.reviews.reviewers import find_requester
from syncd.platform.schema.comments import comments
from syncd.platform.schema.reviews import reviews
from syncd.platform.storage.times import format_time

router = create_router(prefix="/spaces/{space_id}/change-requests/{change_request_id}", tags=["reviews"])


class ReviewNew(RequestBody, ReviewCreate):
    """Body of `POST …/reviews`."""


@router.get(
    "/reviews",
    response_model=Listing[Review],
    openapi_extra=declare_role("read", extension=True),
    operation_id="getReviewsByChangeRequestId",
)
def list_reviews(
    at: AtChangeRequest,
    paging: Paging,
    format: Format = "markdown",
    outdated: Annotated[bool | None, Query()] = None,
) -> JSONResponse:
    """List the reviews of a change request, oldest first; `outdated` selects those of earlier content, or of the
    present.
    """
    with at.storage.read() as connection:
        row = at.require_change_request(connection)
        query = sa.select(reviews).where(reviews.c.change_request == row.id)
        if outdated is not None:
            query = query.where((reviews.c.revision != row.revision) == outdated)
        envelope = paging.paginate_rows(connection, query, reviews.c.seq)
        return answers.ok(envelope | {"items": _serialize_reviews(at, connection, envelope["items"], format)})


@router.post(
    "/reviews",
    status_code=201,
    response_model=Review,
    openapi_extra=declare_role("comment", extension=True),
    operation_id="submitChangeRequestReview",
)
def submit_review(at: AtChangeRequest, body: ReviewNew) -> JSONResponse:
    """Store a review of a change request's content as it is now, and return it.

    Raises: Failure 403 when the caller was not asked for one and has a role below `review`.
    """
    said = None
    if "comment" in body.model_fields_set:
        said = {"document": rich_text.check_document(body.comment, at="comment")}
    with at.storage.write() as connection:
        space, row = at.require_space(connection), at.require_live(connection)
        asked = find_requester(connection, row.id, at.caller.user_id)
        if asked is None and not is_role_at_least(space.level, "review"):
            raise Failure(403, "A review is for those who are asked for one, and for the role review.")
        id = at.storage.new_id()
        comment = None if said is None else _insert_review_comment(at, connection, id, said)
        _insert_review(at, connection, row, id, status=body.status, comment=comment, requested_by=asked)
        new_review = _serialize_reviews(at, connection, [_require_review(connection, row.id, id)], "document")[0]
    return answers.created_resource(new_review, location=new_review["urls"]["location"])


@router.get("/reviews/{review_id}", response_model=Review, openapi_extra=declare_role("read", extension=True))
def get_change_request_review_by_id(at: AtChangeRequest, review_id: str, format: Format = "markdown") -> JSONResponse:
    """Return a review of a change request."""
    with at.storage.read() as connection:
        row = _require_review(connection, at.require_change_request(connection).id, review_id)
        return answers.ok(_serialize_reviews(at, connection, [row], format)[0])


def _insert_review(at: ChangeRequestScope, connection: sa.Connection, row: sa.Row[Any], id: str, **values: Any) -> None:
    last = sa.select(sa.func.coalesce(sa.func.max(reviews.c.seq), 0)).where(reviews.c.change_request == row.id)
    now = format_time(at.storage.now())
    about = {"change_request": row.id, "revision": row.revision, "reviewer": at.caller.user_id}
    moments = {"created_at": now, "updated_at": now}
    connection.execute(reviews.insert().values(id=id, seq=last.scalar_subquery() + 1, **about, **moments, **values))


def _insert_review_comment(at: ChangeRequestScope, connection: sa.Connection, review: str, said: dict[str, Any]) -> str:
    discussion = _find_discussion(at, connection)
    asked = DiscussionRequest(at.request, at.storage, at.caller, at.space_id, at.change_request_id)
    id = insert_comment(asked, connection, discussion, CommentCreate(body=CommentBodyWrite()), said)
    connection.execute(comments.update().where(comments.c.id == id).values(review=review))
    return id


def _find_discussion(at: ChangeRequestScope, connection: sa.Connection) -> Discussion:
    return DiscussionRequest(at.request, at.storage, at.caller, at.space_id, at.change_request_id).require_discussion(
        connection
    )


def _require_review(connection: sa.Connection, change_request: str, id: str) -> sa.Row[Any]:
    query = sa.select(reviews).where(reviews.c.id == id, reviews.c.change_request == change_request)
    row = connection.execute(query).one_or_none()
    if row is None:
        raise Failure(404, f"No review {id} of change request {change_request}.")
    return row


def _serialize_reviews(
    at: ChangeRequestScope, connection: sa.Connection, rows: Sequence[sa.Row[Any]], format: Any
) -> list[dict[str, Any]]:
    discussion = _find_discussion(at, connection)
    assert discussion.change_request is not None
    showing = CommentSerializer(connection, at.request, discussion, at.caller.user_id, format)
    comments_query = sa.select(comments).where(
        comments.c.id.in_([row.comment for row in rows if row.comment]), discussion.condition
    )
    named = {id for row in rows for id in (row.reviewer, row.requested_by) if id is not None}
    known = users.read_users(connection, at.request, named)
    known |= {
        comment["id"]: comment for comment in showing.serialize_comments(connection.execute(comments_query).all())
    }
    return [_serialize_review(at.request, discussion, row, known) for row in rows]


def _serialize_review(
    request: Request, discussion: Discussion, row: sa.Row[Any], known: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a review as the API shows it; `known` has by id the people and the comment that it names."""
    assert discussion.change_request is not None
    optional = {"requestedBy": known.get(row.requested_by), "comment": known.get(row.comment)}
    return {
        "object": "change-request-review",
        "id": row.id,
        "revision": row.revision,
        "reviewer": known[row.reviewer],
        "status": row.status,
        "outdated": row.revision != discussion.change_request.revision,
        "createdAt": row.created_at,
        "updatedAt": row.updated_at,
        **{name: value for name, value in optional.items() if value is not None},
        "urls": {"location": addresses.build_api_url(request, f"{discussion.path}/reviews/{row.id}")},
    }
