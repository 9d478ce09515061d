"""Change requests: proposed content beside the main content, from draft to merged."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

import sqlalchemy as sa
from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import JSONResponse
from pydantic import ConfigDict, Field

from syncd.model.change_request import SUBJECT_MAX, ChangeRequestUpdate
from syncd.platform import addresses, answers, revisions, users
from syncd.platform.auth import Signed
from syncd.platform.bodies import Body
from syncd.platform.content_schema import change_requests, spaces
from syncd.platform.failures import Failure
from syncd.platform.listing import Paging
from syncd.platform.merge import Merged, Sides, merge
from syncd.platform.organizations import require_organization
from syncd.platform.outline import Draft
from syncd.platform.spaces import require_space
from syncd.platform.storage import Storage, Stored
from syncd.platform.times import iso

router = APIRouter(tags=["change requests"])

LIVE = ("draft", "open")
"""States in which a change request can still be changed, updated and merged."""

_TABLE = change_requests
_ALL = sa.select(_TABLE, spaces.c.revision.label("main"), spaces.c.organization.label("organization")).join(
    spaces, spaces.c.id == _TABLE.c.space
)
# As text that sorts like the number.
_NUMBER = sa.func.printf("%010d", _TABLE.c.number, type_=sa.String)
_PREFIX = "/spaces/{space_id}/change-requests"


class ChangeRequestChange(Body, ChangeRequestUpdate):
    """Body of `PATCH …/change-requests/{changeRequestId}`."""


class ChangeRequestNew(Body):
    """Body of `POST …/change-requests`; the document allows any other properties."""

    model_config = ConfigDict(extra="ignore")

    subject: str = Field(default="", max_length=SUBJECT_MAX)
    template: dict[str, Any] | None = None


def _filtered(
    status: Literal["draft", "open", "archived", "merged"] = "open",
    creator: str | None = None,
    contributor: str | None = None,
    reviewer: Annotated[str | None, Query(alias="requestedReviewer")] = None,
    cluster: Annotated[str | None, Query(alias="conversationsIssuesCluster")] = None,
) -> sa.Select[Any]:
    query = _ALL.where(_TABLE.c.status == status)
    if creator is not None:
        query = query.where(_TABLE.c.created_by == creator)
    if contributor is not None:
        query = query.where(_TABLE.c.created_by == contributor)
    # Nobody can be asked for a review here, and no conversation leads to a change request.
    return query.where(sa.false()) if reviewer is not None or cluster is not None else query


Filtered = Annotated[sa.Select[Any], Depends(_filtered)]


@router.get(_PREFIX)
def list_change_requests_for_space(
    request: Request, storage: Stored, caller: Signed, paging: Paging, query: Filtered, space_id: str
) -> JSONResponse:
    """Given a space, return its change requests with a status, `open` unless another is asked for."""
    with storage.read() as connection:
        require_space(connection, caller, space_id)
        return _listed(connection, request, paging, query.where(_TABLE.c.space == space_id), _NUMBER)


@router.get("/orgs/{organization_id}/change-requests")
def list_change_requests_for_organization(
    request: Request, storage: Stored, caller: Signed, paging: Paging, query: Filtered, organization_id: str
) -> JSONResponse:
    """Given an organization, return the change requests of its spaces with a status."""
    with storage.read() as connection:
        require_organization(connection, caller, organization_id)
        mine = query.where(spaces.c.organization == organization_id, spaces.c.deleted_at.is_(None))
        return _listed(connection, request, paging, mine, _TABLE.c.created_at, _TABLE.c.id)


@router.post(_PREFIX)
def create_change_request(
    request: Request, storage: Stored, caller: Signed, space_id: str, body: ChangeRequestNew | None = None
) -> JSONResponse:
    """Given a subject, return the new ChangeRequest: a draft that starts from the main content."""
    new = body or ChangeRequestNew()
    if new.template is not None:
        raise Failure(404, "There are no templates on this platform.")
    with storage.write() as connection:
        space = require_space(connection, caller, space_id)
        id, now = storage.new_id(), iso(storage.now())
        connection.execute(spaces.update().where(spaces.c.id == space_id).values(last_number=space.last_number + 1))
        connection.execute(
            _TABLE.insert().values(
                id=id,
                space=space_id,
                number=space.last_number + 1,
                status="draft",
                subject=new.subject,
                created_by=caller.user_id,
                created_at=now,
                updated_at=now,
                revision=space.revision,
                revision_initial=space.revision,
            )
        )
        made = _reread(connection, request, id)
    return answers.created(made, location=made["urls"]["location"])


@router.get(_PREFIX + "/{change_request_id}")
def get_change_request_by_id(
    request: Request, storage: Stored, caller: Signed, space_id: str, change_request_id: str
) -> JSONResponse:
    """Given an id or number, return the ChangeRequest."""
    with storage.read() as connection:
        require_space(connection, caller, space_id)
        return answers.ok(shown(connection, request, require(connection, space_id, change_request_id)))


@router.patch(_PREFIX + "/{change_request_id}")
def update_change_request_by_id(
    request: Request,
    storage: Stored,
    caller: Signed,
    space_id: str,
    change_request_id: str,
    body: ChangeRequestChange,
) -> JSONResponse:
    """Given new members, return the ChangeRequest with them; unset is unchanged. What is merged keeps its status."""
    with storage.write() as connection:
        require_space(connection, caller, space_id)
        row = require(connection, space_id, change_request_id)
        values = {name: value for name, value in body.wire().items() if value is not None or name == "description"}
        if row.status == "merged" and "status" in values:
            raise Failure(409, f"Change request {row.number} is merged; its status cannot change.")
        if values:
            _set(storage, connection, row.id, **values)
        return answers.ok(_reread(connection, request, row.id))


@router.post(_PREFIX + "/{change_request_id}/merge")
def merge_change_request(storage: Stored, caller: Signed, space_id: str, change_request_id: str) -> JSONResponse:
    """Given a change request, make its content the main content.

    Shapes: `result` is `conflicts` when main content had changed the same; the request's version is then what stays.
    """
    with storage.write() as connection:
        require_space(connection, caller, space_id)
        row = require_live(connection, space_id, change_request_id)
        merged = _merged(storage, connection, row)
        origin = revisions.Origin(
            space_id, (row.main, row.revision), type="merge", by=caller.user_id, merged_from=row.id
        )
        revision = revisions.save(storage, connection, merged.draft, origin)
        now = iso(storage.now())
        moved = spaces.update().where(spaces.c.id == space_id)
        connection.execute(moved.values(revision=revision.id, updated_at=now))
        _set(
            storage,
            connection,
            row.id,
            status="merged",
            revision_merged=revision.id,
            merged_by=caller.user_id,
            merged_at=now,
        )
    return answers.ok({"revision": revision.id, "result": "conflicts" if merged.conflicts else "merge"})


@router.post(_PREFIX + "/{change_request_id}/update")
def update_change_request(storage: Stored, caller: Signed, space_id: str, change_request_id: str) -> JSONResponse:
    """Given a change request, pull main content into it; where both changed the same, the request's version stays."""
    with storage.write() as connection:
        require_space(connection, caller, space_id)
        row = require_live(connection, space_id, change_request_id)
        if not is_outdated(row):
            return answers.ok({"revision": row.revision, "result": "update"})
        merged = _merged(storage, connection, row)
        origin = revisions.Origin(space_id, (row.revision, row.main), type="update", by=caller.user_id)
        revision = revisions.save(storage, connection, merged.draft, origin)
        _set(storage, connection, row.id, revision=revision.id, revision_merged_ancestor=row.main)
    return answers.ok({"revision": revision.id, "result": "conflicts" if merged.conflicts else "update"})


def require(connection: sa.Connection, space_id: str, change_request_id: str) -> sa.Row[Any]:
    """Given an id, or a number within the space, return the change request's row. Raises: Failure 404."""
    numbered = change_request_id.isascii() and change_request_id.isdigit() and len(change_request_id) < 10
    key = _TABLE.c.number == int(change_request_id) if numbered else _TABLE.c.id == change_request_id
    row = connection.execute(_ALL.where(_TABLE.c.space == space_id, key)).one_or_none()
    if row is None:
        raise Failure(404, f"No change request {change_request_id} in space {space_id}.")
    return row


def require_live(connection: sa.Connection, space_id: str, change_request_id: str) -> sa.Row[Any]:
    """Given an id or number, return the row of a change request that is neither merged nor archived.

    Raises: Failure 404, and 409 otherwise; the document shows no status for that.
    """
    row = require(connection, space_id, change_request_id)
    if row.status not in LIVE:
        raise Failure(409, f"Change request {row.number} is {row.status}.")
    return row


def base_of(row: sa.Row[Any]) -> str:
    """Given a change request's row, return the revision of main content that it last took in."""
    return str(row.revision_merged_ancestor or row.revision_initial)


def is_outdated(row: sa.Row[Any]) -> bool:
    """Given a change request's row, return whether main content has moved on; a merged one is as new as it can be."""
    return bool(row.status != "merged" and row.main != base_of(row))


def shown(connection: sa.Connection, request: Request, row: sa.Row[Any]) -> dict[str, Any]:
    """Given a change request's row, return the ChangeRequest as the API shows it."""
    return _showing(connection, request)(row)


def advance(storage: Storage, connection: sa.Connection, id: str, revision: str) -> None:
    """Given a change request's id and its next revision, make that its content."""
    _set(storage, connection, id, revision=revision)


def _showing(connection: sa.Connection, request: Request) -> Callable[[sa.Row[Any]], dict[str, Any]]:
    """Return a function that shows rows, looking each person up once."""
    people: dict[str, dict[str, Any]] = {}

    def person(id: str) -> dict[str, Any]:
        if id not in people:
            people[id] = users.shown(connection, request, id)
        return people[id]

    def show(row: sa.Row[Any]) -> dict[str, Any]:
        here = f"/spaces/{row.space}/change-requests/{row.id}"
        optional = {
            "description": row.description,
            "revisionMergedAncestor": row.revision_merged_ancestor,
            "revisionMerged": row.revision_merged,
            "mergedBy": row.merged_by and person(row.merged_by),
            "mergedAt": row.merged_at,
        }
        return {
            "object": "change-request",
            "id": row.id,
            "number": row.number,
            "status": row.status,
            "subject": row.subject,
            "createdBy": person(row.created_by),
            "createdAt": row.created_at,
            "updatedAt": row.updated_at,
            "space": row.space,
            "revision": row.revision,
            "revisionInitial": row.revision_initial,
            "comments": 0,
            "outdated": is_outdated(row),
            **{name: value for name, value in optional.items() if value is not None},
            "urls": {
                "location": addresses.location(request, here),
                "app": addresses.app(request, f"/o/{row.organization}/s/{row.space}/~/changes/{row.number}"),
            },
        }

    return show


def _listed(
    connection: sa.Connection, request: Request, paging: Paging, query: sa.Select[Any], *by: sa.ColumnElement[str]
) -> JSONResponse:
    envelope = paging.rows(connection, query, *by)
    show = _showing(connection, request)
    return answers.ok(envelope | {"items": [show(row) for row in envelope["items"]]})


def _reread(connection: sa.Connection, request: Request, id: str) -> dict[str, Any]:
    return shown(connection, request, connection.execute(_ALL.where(_TABLE.c.id == id)).one())


def _set(storage: Storage, connection: sa.Connection, id: str, **values: Any) -> None:
    changed = _TABLE.update().where(_TABLE.c.id == id)
    connection.execute(changed.values(updated_at=iso(storage.now()), **values))


def _merged(storage: Storage, connection: sa.Connection, row: sa.Row[Any]) -> Merged:
    ids = base_of(row), row.main, row.revision
    base, ours, theirs = (revisions.outline(connection, row.space, id) for id in ids)
    if base.root == ours.root:
        return Merged(Draft(theirs), ())
    return merge(Sides(base, ours, theirs), read=storage.blobs.get, write=storage.blobs.put)
