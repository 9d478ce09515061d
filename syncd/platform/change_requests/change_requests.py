"""Change requests: proposed content beside the main content, from draft to merged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import sqlalchemy as sa
from fastapi import Depends, Query, Request
from fastapi.responses import JSONResponse
from pydantic import ConfigDict, Field

from syncd.model.change_request import SUBJECT_MAX, ChangeRequest, ChangeRequestLinkWrite, ChangeRequestUpdate
from syncd.model.listing import Listing
from syncd.model.template import TemplateUse
from syncd.platform.database.tables import insert_new
from syncd.platform.http import addresses, answers, rich_text
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.failures import Failure
from syncd.platform.http.listing import Paging
from syncd.platform.http.routing import create_router
from syncd.platform.people import users
from syncd.platform.people.auth import Caller, CurrentCaller, declare_role
from syncd.platform.people.organizations import require_organization
from syncd.platform.schema.comments import comments
from syncd.platform.schema.content import change_requests, revisions, spaces
from syncd.platform.schema.people import team_members
from syncd.platform.schema.reviews import contributors, requested_reviewers
from syncd.platform.spaces import roles
from syncd.platform.spaces.granted import may_read_change_request
from syncd.platform.spaces.spaces import require_space
from syncd.platform.storage.storage import CurrentStorage, Storage
from syncd.platform.storage.times import format_time
from syncd.platform.templates.application import apply_template, prepare_template

router = create_router(tags=["change requests"])

LIVE = ("draft", "open")
"""States in which a change request can still be changed, updated and merged."""
ID_MAX = 100

_TABLE = change_requests
_ALL = sa.select(_TABLE, spaces.c.revision.label("main"), spaces.c.organization.label("organization")).join(
    spaces, spaces.c.id == _TABLE.c.space
)
_PREFIX = "/spaces/{space_id}/change-requests"
_HINTS = {
    "merged": "What is merged stays as it is; create another change request.",
    "archived": "Set its status to draft or open first.",
}

_Id = Annotated[str | None, Query(min_length=1, max_length=ID_MAX)]


class ChangeRequestChange(RequestBody, ChangeRequestUpdate):
    """Body of `PATCH …/change-requests/{changeRequestId}`."""


class ChangeRequestNew(RequestBody):
    """Body of `POST …/change-requests`; the document allows any other properties, so none is refused."""

    model_config = ConfigDict(extra="ignore")

    subject: str = Field(default="", max_length=SUBJECT_MAX)
    template: TemplateUse | None = None
    conversations_issues_cluster: Any = None

    @property
    def cluster(self) -> str | None:
        """The issues cluster that it is about; anything but an id is one of the other properties."""
        id = self.conversations_issues_cluster
        return id if isinstance(id, str) and 0 < len(id) <= ID_MAX else None


@dataclass(frozen=True)
class ChangeRequestScope:
    """A request about one change request: who asks, in which storage, for which one."""

    request: Request
    storage: Storage
    caller: Caller
    space_id: str
    change_request_id: str

    def require_space(self, connection: sa.Connection) -> sa.Row[Any]:
        """Return the space's row. Raises: as `require_space`."""
        return require_space(connection, self.caller, self.space_id)

    def require_change_request(self, connection: sa.Connection) -> sa.Row[Any]:
        """Return the change request's row; to a content token there is only what it may read.

        Raises: Failure 404; as `require_space` and `require_change_request`.
        """
        self.require_space(connection)
        row, grant = require_change_request(connection, self.space_id, self.change_request_id), self.caller.grant
        if grant is not None and not may_read_change_request(connection, grant, row.space, row.id):
            raise Failure(404, f"No change request {self.change_request_id} for this content token.")
        return row

    def require_live(self, connection: sa.Connection) -> sa.Row[Any]:
        """Return the row of a change request that can still change. Raises: as `require_live_change_request`."""
        self.require_space(connection)
        return require_live_change_request(connection, self.space_id, self.change_request_id)


async def _read_scope(
    request: Request, storage: CurrentStorage, caller: CurrentCaller, space_id: str, change_request_id: str
) -> ChangeRequestScope:
    return ChangeRequestScope(request, storage, caller, space_id, change_request_id)


AtChangeRequest = Annotated[ChangeRequestScope, Depends(_read_scope)]
"""A handler's parameter for an operation on one change request."""


def _build_query(
    status: Literal["draft", "open", "archived", "merged"] = "open",
    creator: _Id = None,
    contributor: _Id = None,
    reviewer: Annotated[_Id, Query(alias="requestedReviewer")] = None,
    cluster: Annotated[_Id, Query(alias="conversationsIssuesCluster")] = None,
) -> sa.Select[Any]:
    query = _ALL.where(_TABLE.c.status == status)
    if creator is not None:
        query = query.where(_TABLE.c.created_by == creator)
    if contributor is not None:
        table = contributors
        wrote = sa.select(table.c.user).where(table.c.change_request == _TABLE.c.id, table.c.user == contributor)
        query = query.where(wrote.exists())
    if reviewer is not None:
        asked = sa.select(requested_reviewers.c.reviewer).where(requested_reviewers.c.change_request == _TABLE.c.id)
        query = query.where(asked.where(match_requested_reviewer(reviewer)).exists())
    return query if cluster is None else query.where(_TABLE.c.conversations_issues_cluster == cluster)


FilteredQuery = Annotated[sa.Select[Any], Depends(_build_query)]


@router.get(_PREFIX, response_model=Listing[ChangeRequest], openapi_extra=declare_role("read"))
def list_change_requests_for_space(
    request: Request,
    storage: CurrentStorage,
    caller: CurrentCaller,
    paging: Paging,
    query: FilteredQuery,
    space_id: str,
) -> JSONResponse:
    """List the change requests of a space with a status, `open` unless another is asked for."""
    with storage.read() as connection:
        require_space(connection, caller, space_id)
        envelope = paging.paginate_rows(connection, query.where(_TABLE.c.space == space_id), _TABLE.c.number)
        return answers.ok(envelope | {"items": _serialize_all(connection, request, envelope["items"])})


@router.get(
    "/orgs/{organization_id}/change-requests", response_model=Listing[ChangeRequest], openapi_extra=declare_role("read")
)
def list_change_requests_for_organization(
    request: Request,
    storage: CurrentStorage,
    caller: CurrentCaller,
    paging: Paging,
    query: FilteredQuery,
    organization_id: str,
) -> JSONResponse:
    """List the change requests with a status in the spaces of an organization that the caller may read."""
    with storage.read() as connection:
        require_organization(connection, caller, organization_id)
        here = spaces.c.organization == organization_id, spaces.c.deleted_at.is_(None)
        readable = roles.select_spaces(spaces.c.id).where(*here, roles.SPACE_READABLE).subquery()
        mine = query.where(_TABLE.c.space.in_(sa.select(readable.c.id))).params(caller=caller.user_id)
        envelope = paging.paginate_rows(connection, mine, _TABLE.c.created_at, _TABLE.c.id)
        return answers.ok(envelope | {"items": _serialize_all(connection, request, envelope["items"])})


@router.post(_PREFIX, status_code=201, response_model=ChangeRequest, openapi_extra=declare_role("edit"))
def create_change_request(
    request: Request,
    storage: CurrentStorage,
    caller: CurrentCaller,
    space_id: str,
    body: ChangeRequestNew | None = None,
) -> JSONResponse:
    """Create a draft change request that starts from the main content, or from a template, and return it."""
    new = body or ChangeRequestNew()
    prepared = None if new.template is None else prepare_template(storage, caller, space_id, new.template)
    with storage.write() as connection:
        space = require_space(connection, caller, space_id)
        initial = space.revision if prepared is None else prepared.onto
        # The space counts, and not the rows, so that no number is ever given twice.
        id, now, number = storage.new_id(), format_time(storage.now()), space.last_number + 1
        connection.execute(spaces.update().where(spaces.c.id == space_id).values(last_number=number))
        row = {"id": id, "space": space_id, "number": number, "status": "draft", "subject": new.subject, "links": []}
        row |= {"created_by": caller.user_id, "created_at": now, "updated_at": now}
        row |= {"revision": initial, "revision_initial": initial, "conversations_issues_cluster": new.cluster}
        connection.execute(_TABLE.insert().values(row))
        if prepared is not None:
            saved = apply_template(storage, connection, prepared, by=caller.user_id)
            if saved.id != initial:
                set_revision(storage, connection, id, saved.id)
        new_request = _read_change_request(connection, request, id)
    return answers.created_resource(new_request, location=new_request["urls"]["location"])


@router.get(
    _PREFIX + "/{change_request_id}", response_model=ChangeRequest, openapi_extra=declare_role("read", visitors=True)
)
def get_change_request_by_id(at: AtChangeRequest) -> JSONResponse:
    """Return the change request with an id or number."""
    with at.storage.read() as connection:
        return answers.ok(serialize_change_request(connection, at.request, at.require_change_request(connection)))


@router.patch(_PREFIX + "/{change_request_id}", response_model=ChangeRequest, openapi_extra=declare_role("edit"))
def update_change_request_by_id(at: AtChangeRequest, body: ChangeRequestChange) -> JSONResponse:
    """Change the members of a change request that the body sets, and return the change request.

    The document says nothing of moves between states: draft, open and archived may follow each other, and merged is
    final.
    Raises: Failure 409 when the status of a merged one is to change.
    """
    values: dict[str, Any] = {name: getattr(body, name) for name in body.model_fields_set - {"description", "links"}}
    if "description" in body.model_fields_set:
        described = body.description
        values["description"] = None if described is None else rich_text.check_document(described, at="description")
    with at.storage.write() as connection:
        row = at.require_change_request(connection)
        if row.status == "merged" and "status" in values:
            raise Failure(409, f"Change request {row.number} is merged. {_HINTS['merged']}")
        if "links" in body.model_fields_set:
            values["links"] = _build_links(at.storage, row, body.links)
        if values:
            update_columns(at.storage, connection, row.id, **values)
        return answers.ok(_read_change_request(connection, at.request, row.id))


def require_change_request(connection: sa.Connection, space_id: str, change_request_id: str) -> sa.Row[Any]:
    """Return the row of the change request with an id, or a number within the space. Raises: Failure 404."""
    # A longer number is out of the column's range, which a database answers with an error.
    numbered = change_request_id.isascii() and change_request_id.isdigit() and len(change_request_id) < 10
    key = _TABLE.c.number == int(change_request_id) if numbered else _TABLE.c.id == change_request_id
    row = connection.execute(_ALL.where(_TABLE.c.space == space_id, key)).one_or_none()
    if row is None:
        raise Failure(404, f"No change request {change_request_id} in space {space_id}.")
    return row


def require_live_change_request(connection: sa.Connection, space_id: str, change_request_id: str) -> sa.Row[Any]:
    """Return the row of a change request that is neither merged nor archived.

    Raises: Failure 404 when there is none, and 409 when it can no longer change; the document shows no status for that.
    """
    row = require_change_request(connection, space_id, change_request_id)
    if row.status not in LIVE:
        raise Failure(409, f"Change request {row.number} is {row.status}. {_HINTS[row.status]}")
    return row


def match_requested_reviewer(user: str) -> sa.ColumnElement[bool]:
    """Return the condition that a review is requested of a person, or of a team that the person is in."""
    table = requested_reviewers
    mine = sa.select(team_members.c.team).where(team_members.c.user == user)
    return sa.or_(
        sa.and_(table.c.kind == "user", table.c.reviewer == user),
        sa.and_(table.c.kind == "team", table.c.reviewer.in_(mine)),
    )


def find_base_revision(row: sa.Row[Any]) -> str:
    """Return the revision of main content that a change request last took in."""
    return str(row.revision_merged_ancestor or row.revision_initial)


def is_outdated(row: sa.Row[Any]) -> bool:
    """Return whether main content has changed since a change request took it in; a merged one is never outdated."""
    return bool(row.status != "merged" and row.main != find_base_revision(row))


def serialize_change_request(connection: sa.Connection, request: Request, row: sa.Row[Any]) -> dict[str, Any]:
    """Return a change request as the API shows it, from its row."""
    return _serialize_all(connection, request, [row])[0]


def update_columns(storage: Storage, connection: sa.Connection, id: str, **values: Any) -> None:
    """Set columns of a change request, and the time of its last change."""
    changed = _TABLE.update().where(_TABLE.c.id == id)
    connection.execute(changed.values(updated_at=format_time(storage.now()), **values))


def set_revision(storage: Storage, connection: sa.Connection, id: str, revision: str, **values: Any) -> None:
    """Make a revision the content of a change request, and its author a contributor."""
    update_columns(storage, connection, id, revision=revision, **values)
    author = connection.scalar(sa.select(revisions.c.created_by).where(revisions.c.id == revision))
    if author is not None:
        insert_new(
            connection, contributors, [{"change_request": id, "user": author, "since": format_time(storage.now())}]
        )


def _serialize_all(connection: sa.Connection, request: Request, rows: Sequence[sa.Row[Any]]) -> list[dict[str, Any]]:
    open_ones = comments.c.change_request.in_([row.id for row in rows]), comments.c.status == "open"
    count_comments = sa.select(comments.c.change_request, sa.func.count().label("number")).where(*open_ones)
    found = connection.execute(count_comments.group_by(comments.c.change_request))
    counts = {row.change_request: row.number for row in found}
    named = {id for row in rows for id in (row.created_by, row.merged_by) if id is not None}
    people = users.read_users(connection, request, named)
    return [_serialize_row(request, row, people, counts.get(row.id, 0)) for row in rows]


def _serialize_row(
    request: Request, row: sa.Row[Any], people: Mapping[str, dict[str, Any]], open_comments: int
) -> dict[str, Any]:
    optional = {
        "description": row.description,
        "revisionMergedAncestor": row.revision_merged_ancestor,
        "revisionMerged": row.revision_merged,
        "mergedBy": row.merged_by and people[row.merged_by],
        "mergedAt": row.merged_at,
        "conversationsIssuesCluster": row.conversations_issues_cluster,
        "links": row.links or None,
    }
    return {
        "object": "change-request",
        "id": row.id,
        "number": row.number,
        "status": row.status,
        "subject": row.subject,
        "createdBy": people[row.created_by],
        "createdAt": row.created_at,
        "updatedAt": row.updated_at,
        "space": row.space,
        "revision": row.revision,
        "revisionInitial": row.revision_initial,
        "comments": open_comments,
        "outdated": is_outdated(row),
        **{name: value for name, value in optional.items() if value is not None},
        "urls": {
            "location": addresses.build_api_url(request, f"/spaces/{row.space}/change-requests/{row.id}"),
            "app": addresses.build_app_url(request, f"/o/{row.organization}/s/{row.space}/~/changes/{row.number}"),
        },
    }


def _build_links(storage: Storage, row: sa.Row[Any], wanted: Sequence[ChangeRequestLinkWrite]) -> list[dict[str, Any]]:
    known = {link["id"] for link in row.links}
    for at, link in enumerate(wanted):
        if link.id is not None and link.id not in known:
            raise Failure(400, f"links.{at}.id: change request {row.number} has no such link")
    return [{"id": storage.new_id()} | link.model_dump(by_alias=True, exclude_none=True) for link in wanted]


def _read_change_request(connection: sa.Connection, request: Request, id: str) -> dict[str, Any]:
    return serialize_change_request(connection, request, connection.execute(_ALL.where(_TABLE.c.id == id)).one())
