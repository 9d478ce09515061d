"""Who works on a change request: asked for a review, or contributing to it (@gitbook/api 0.202.0)."""

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from fastapi import Request, Response
from fastapi.responses import JSONResponse

from syncd.model.listing import Listing
from syncd.model.review import Contributor, RequestedReviewer, RequestedReviewers, ReviewersRequest
from syncd.platform.change_requests.change_requests import AtChangeRequest, match_requested_reviewer, update_columns
from syncd.platform.database.tables import insert_new
from syncd.platform.http import answers, rich_text
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.failures import Failure
from syncd.platform.http.listing import Paging
from syncd.platform.http.routing import create_router
from syncd.platform.people import users
from syncd.platform.people.auth import declare_role
from syncd.platform.schema import accounts
from syncd.platform.schema.comments import comments
from syncd.platform.schema.people import teams
from syncd.platform.schema.reviews import contributors, requested_reviewers
from syncd.platform.storage.times import format_time

router = create_router(prefix="/spaces/{space_id}/change-requests/{change_request_id}", tags=["reviews"])


class ReviewersNew(RequestBody, ReviewersRequest):
    """Body of `POST …/requested-reviewers`."""


@router.get(
    "/requested-reviewers",
    response_model=Listing[RequestedReviewer],
    openapi_extra=declare_role("read", extension=True),
    operation_id="getRequestedReviewersByChangeRequestId",
)
def list_requested_reviewers(at: AtChangeRequest, paging: Paging) -> JSONResponse:
    """List the people and teams whose review a change request asks for, whether they gave one or not."""
    with at.storage.read() as connection:
        row = at.require_change_request(connection)
        query = sa.select(requested_reviewers).where(requested_reviewers.c.change_request == row.id)
        envelope = paging.paginate_rows(
            connection, query, requested_reviewers.c.created_at, requested_reviewers.c.reviewer
        )
        return answers.ok(envelope | {"items": _serialize_requests(connection, at.request, envelope["items"])})


@router.post(
    "/requested-reviewers",
    response_model=RequestedReviewers,
    openapi_extra=declare_role("edit", extension=True),
    operation_id="requestReviewersForChangeRequest",
)
def request_reviewers(at: AtChangeRequest, body: ReviewersNew) -> JSONResponse:
    """Ask people and teams for a review, and return the requests; one that exists already is left as it is."""
    values: dict[str, Any] = {"subject": body.subject} if "subject" in body.model_fields_set else {}
    if "description" in body.model_fields_set:
        values["description"] = rich_text.check_document(body.description, at="description")
    with at.storage.write() as connection:
        row = at.require_live(connection)
        _check_reviewers(connection, row.organization, body)
        asked = [("user", id) for id in dict.fromkeys(body.users)] + [("team", id) for id in dict.fromkeys(body.teams)]
        request = {"change_request": row.id, "revision": row.revision, "requested_by": at.caller.user_id}
        request["created_at"] = format_time(at.storage.now())
        insert_new(connection, requested_reviewers, [request | {"kind": kind, "reviewer": id} for kind, id in asked])
        update_columns(at.storage, connection, row.id, **values)
        table = requested_reviewers
        mine = sa.select(table).where(
            table.c.change_request == row.id, table.c.reviewer.in_([*body.users, *body.teams])
        )
        found = connection.execute(mine.order_by(table.c.created_at, table.c.reviewer)).all()
        return answers.ok(
            {
                f"{kind}s": _serialize_requests(connection, at.request, [each for each in found if each.kind == kind])
                for kind in ("user", "team")
                if getattr(body, f"{kind}s")
            }
        )


@router.delete(
    "/requested-reviewers/{user_id}",
    status_code=204,
    openapi_extra=declare_role("edit", extension=True),
    operation_id="removeRequestedReviewerFromChangeRequest",
)
def remove_requested_reviewer(at: AtChangeRequest, user_id: str) -> Response:
    """Withdraw the request for a review by a person or team; one that was never made is no error."""
    with at.storage.write() as connection:
        row = at.require_change_request(connection)
        table = requested_reviewers
        connection.execute(table.delete().where(table.c.change_request == row.id, table.c.reviewer == user_id))
    return answers.no_content()


@router.get(
    "/contributors",
    response_model=Listing[Contributor],
    openapi_extra=declare_role("read", extension=True),
    operation_id="getContributorsByChangeRequestId",
)
def list_contributors(at: AtChangeRequest, paging: Paging) -> JSONResponse:
    """List who contributed to a change request: an editor with the action `edit`, others who commented with
    `comment`.
    """
    with at.storage.read() as connection:
        row = at.require_change_request(connection)
        wrote = sa.select(contributors.c.user).where(contributors.c.change_request == row.id)
        spoke = sa.select(comments.c.posted_by).where(
            comments.c.change_request == row.id, comments.c.posted_by.not_in(wrote)
        )
        editing = wrote.add_columns(sa.literal("edit").label("action"))
        both = sa.union(editing, spoke.add_columns(sa.literal("comment").label("action"))).subquery()
        people = sa.select(both.c.user, both.c.action)
        envelope = paging.paginate_rows(connection, people, both.c.user)
        found = users.read_users(connection, at.request, {each.user for each in envelope["items"]})
        return answers.ok(
            envelope | {"items": [found[each.user] | {"actionType": each.action} for each in envelope["items"]]}
        )


def find_requester(connection: sa.Connection, change_request: str, user: str) -> str | None:
    """Return who asked a person, or a team of theirs, for a review of a change request, or None."""
    table = requested_reviewers
    asked = sa.select(table.c.requested_by).where(
        table.c.change_request == change_request, match_requested_reviewer(user)
    )
    return connection.scalar(asked.order_by(table.c.created_at).limit(1))


def _check_reviewers(connection: sa.Connection, organization: str, body: ReviewersNew) -> None:
    members = accounts.members
    here = sa.select(members.c.user).where(members.c.organization == organization, members.c.user.in_(body.users))
    strangers = set(body.users) - set(connection.scalars(here))
    if strangers:
        raise Failure(400, f"users: {min(strangers)} is no member of the organization")
    there = sa.select(teams.c.id).where(teams.c.organization == organization, teams.c.id.in_(body.teams))
    unknown = set(body.teams) - set(connection.scalars(there))
    if unknown:
        raise Failure(400, f"teams: {min(unknown)} is no team of the organization")


def _serialize_requests(
    connection: sa.Connection, request: Request, rows: Sequence[sa.Row[Any]]
) -> list[dict[str, Any]]:
    reviewers = {row.reviewer for row in rows}
    people = users.read_users(connection, request, reviewers | {row.requested_by for row in rows})
    known = connection.execute(sa.select(teams.c.id, teams.c.title).where(teams.c.id.in_(reviewers)))
    titles = {row.id: row.title for row in known}
    return [
        {
            "object": "change-request-requested-reviewer",
            "kind": row.kind,
            "revision": row.revision,
            "requestedBy": people[row.requested_by],
            "createdAt": row.created_at,
            row.kind: people[row.reviewer] if row.kind == "user" else _serialize_team(row.reviewer, titles),
        }
        for row in rows
    ]


def _serialize_team(id: str, titles: Mapping[str, str]) -> dict[str, Any]:
    # A team may be gone by now; that it was asked stays true.
    return {"object": "team", "id": id, "title": titles.get(id, "")}
