"""Spaces: who may see them, what they show of themselves, and their life from creation to their end."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from fastapi import Request, Response
from fastapi.responses import JSONResponse

from syncd.layout.page import frontmatter
from syncd.model.listing import Listing
from syncd.model.space import TITLE_MAX, Space, SpaceCreate, SpaceTitle, SpaceUpdate
from syncd.platform.cache import Cache
from syncd.platform.http import addresses, answers
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.failures import Failure
from syncd.platform.http.listing import Paging
from syncd.platform.http.routing import create_router, describe_parameter
from syncd.platform.people.auth import Caller, CurrentCaller, authenticate_caller, declare_role, is_role_at_least
from syncd.platform.people.organizations import require_member, require_organization
from syncd.platform.revisions import revisions
from syncd.platform.revisions.outline import Draft
from syncd.platform.revisions.tree import PAGES, Node
from syncd.platform.schema.comments import comments
from syncd.platform.schema.content import change_requests, spaces
from syncd.platform.schema.people import permissions
from syncd.platform.spaces import order_keys, parents, roles
from syncd.platform.spaces.granted import match_granted_spaces
from syncd.platform.spaces.order_keys import Container
from syncd.platform.spaces.publishing_sites import (
    build_published_urls,
    build_site_columns,
    name_site,
)
from syncd.platform.storage import jobs
from syncd.platform.storage.jobs import JobContext, JobHandler
from syncd.platform.storage.storage import CurrentStorage, Storage
from syncd.platform.storage.times import format_time

router = create_router(tags=["spaces"])

RETENTION = timedelta(days=7)
"""How long a deleted space can be restored. Source: API document, Limits."""
PURGE = "spaces.purge"
"""The kind of job that removes a deleted space for good."""

SpaceAnswers = Cache[tuple[int | None, str, str, str], bytes]
"""Answers to `GET /spaces/{spaceId}` by the version of the database, the caller, the space and the server's address."""

_SHARE_KEY_MAX = 256
_READ_SPACE = {
    "parameters": [
        describe_parameter("space_id"),
        {"name": "shareKey", "in": "query", "schema": {"type": "string", "maxLength": _SHARE_KEY_MAX}},
    ]
}
_PERMISSIONS = {
    **dict.fromkeys(("view", "access"), "read"),
    "comment": "comment",
    "edit": "edit",
    **dict.fromkeys(("review", "merge"), "review"),
    **dict.fromkeys(("admin", "viewInviteLinks", "triggerGitSync", "installIntegration"), "admin"),
}


class SpaceNew(RequestBody, SpaceCreate):
    """Body of `POST /orgs/{organizationId}/spaces`."""

    title: SpaceTitle = "Untitled"


class SpaceChange(RequestBody, SpaceUpdate):
    """Body of `PATCH /spaces/{spaceId}`."""


def _build_count_columns() -> tuple[sa.ColumnElement[Any], ...]:
    table = change_requests
    every = sa.select(sa.func.count()).select_from(table).where(table.c.space == spaces.c.id).correlate(spaces)
    open_comments = (comments.c.space == spaces.c.id, comments.c.change_request.is_(None), comments.c.status == "open")
    return (
        every.scalar_subquery().label("requests"),
        every.where(table.c.status == "open").scalar_subquery().label("requests_open"),
        every.where(table.c.status == "draft").scalar_subquery().label("requests_draft"),
        sa.select(sa.func.count()).where(*open_comments).correlate(spaces).scalar_subquery().label("comments_open"),
    )


# Made once: to make a statement costs more than to carry it out.
_VISIBLE = roles.select_spaces(spaces, *_build_count_columns(), *build_site_columns())
_ONE = _VISIBLE.where(spaces.c.id == sa.bindparam("space"))
_UNTOLD = [sa.literal(0).label(column.name) for column in _build_count_columns()]
_GRANTED = sa.select(spaces, *_UNTOLD, *build_site_columns(is_granted=True), sa.literal("read").label("level"))
"""The same for a content token, which is told nothing of what is being written."""


@router.get(
    "/orgs/{organization_id}/spaces", response_model=Listing[Space], openapi_extra=declare_role("read", extension=True)
)
def list_spaces_in_organization_by_id(
    request: Request, storage: CurrentStorage, caller: CurrentCaller, paging: Paging, organization_id: str
) -> JSONResponse:
    """List the spaces of an organization that the caller may read."""
    query = select_readable_spaces(caller, spaces.c.organization == organization_id)
    with storage.read() as connection:
        require_organization(connection, caller, organization_id)
        envelope = paging.paginate_rows(connection, query, spaces.c.created_at, spaces.c.id)
    return answers.ok(envelope | {"items": [serialize_space(request, row, caller) for row in envelope["items"]]})


@router.post(
    "/orgs/{organization_id}/spaces",
    response_model=Space,
    status_code=201,
    openapi_extra=declare_role("create", extension=True),
)
def create_space(
    request: Request, storage: CurrentStorage, caller: CurrentCaller, organization_id: str, body: SpaceNew | None = None
) -> JSONResponse:
    """Create a space and return it; it has a home page, unless it is asked to be empty."""
    new = body or SpaceNew()
    draft = Draft()
    if not new.empty:
        text = frontmatter.set_heading("", new.title)
        fields = {"createdAt": format_time(storage.now())}
        body_oid = storage.blobs.put(text.encode())
        draft.insert(Node(storage.new_id(), "document", new.title, "", fields, body_oid, "README.md"), PAGES)
    with storage.write() as connection:
        require_member(connection, caller, organization_id)
        parents.require_container(connection, caller, Container(organization_id, new.parent))
        values = {name: getattr(new, name) for name in ("title", "emoji", "parent", "language")}
        values["edit_mode"] = new.edit_mode or "live"
        id, _ = insert_space(storage, connection, draft, organization=organization_id, by=caller.user_id, **values)
        space = serialize_space(request, find_space(connection, caller, id), caller)
    return answers.created_resource(space, location=space["urls"]["location"])


@router.get("/spaces/{space_id}", response_model=Space, openapi_extra=declare_role("read", visitors=True) | _READ_SPACE)
async def get_space_by_id(request: Request) -> Response:
    """Return a space, also for some days after it was deleted; a `shareKey` opens nothing for a token.

    Raises: Failure 400 for a key that is too long, and as `require_space`.
    """
    # Parameters that FastAPI would resolve take longer than the answer.
    if request.scope["query_string"] and len(request.query_params.get("shareKey", "")) > _SHARE_KEY_MAX:
        raise Failure(400, f"shareKey: must have at most {_SHARE_KEY_MAX} characters")
    storage: Storage = request.app.state.storage
    caller, space_id = await authenticate_caller(request), request.path_params["space_id"]

    def read() -> sa.Row[Any]:
        with storage.read() as connection:
            return require_space(connection, caller, space_id, deleted_since=format_time(storage.now() - RETENTION))

    # The one request that every poll makes: its answer is remembered until the database changes.
    remembered: SpaceAnswers = request.app.state.space_answers
    key = (version := storage.version(), caller.user_id, space_id, addresses.find_origin(request))
    body = remembered.get(key)
    if body is None:
        row = await storage.run_read(read)
        body = bytes(answers.ok(serialize_space(request, row, caller)).body)
        if version is not None and row.deleted_at is None:
            remembered.put(key, body)
    return Response(body, media_type="application/json")


@router.patch("/spaces/{space_id}", response_model=Space, openapi_extra=declare_role("admin"))
def update_space_by_id(
    request: Request, storage: CurrentStorage, caller: CurrentCaller, space_id: str, body: SpaceChange
) -> JSONResponse:
    """Change the members of a space that the body sets. Raises: Failure 400 when both an emoji and an icon are set."""
    values = {name: getattr(body, name) for name in body.model_fields_set}
    if values.get("emoji") and values.get("icon"):
        raise Failure(400, "icon: a space has an emoji or an icon, not both")
    if "merge_rules" in values:
        values["merge_rules"] = body.merge_rules.wire()
    for chosen, other in (("emoji", "icon"), ("icon", "emoji")):
        if values.get(chosen):
            values[other] = None
    with storage.write() as connection:
        require_space(connection, caller, space_id)
        if values:
            values["updated_at"] = format_time(storage.now())
            connection.execute(spaces.update().where(spaces.c.id == space_id).values(values))
        row = find_space(connection, caller, space_id)
    return answers.ok(serialize_space(request, row, caller))


@router.delete("/spaces/{space_id}", status_code=204, openapi_extra=declare_role("admin"))
def delete_space_by_id(storage: CurrentStorage, caller: CurrentCaller, space_id: str) -> Response:
    """Delete a space: for seven days it can be restored, then it is removed for good."""
    with storage.write() as connection:
        row = _find_space_row(connection, caller, space_id)
        if row is None:
            return answers.no_content()
        caller.require_role(row.level)
        if row.deleted_at is None:
            now = storage.now()
            connection.execute(spaces.update().where(spaces.c.id == space_id).values(deleted_at=format_time(now)))
            jobs.enqueue_job(connection, storage, PURGE, {"space": space_id}, due=now + RETENTION, key=space_id)
    return answers.no_content()


@router.post("/spaces/{space_id}/restore", response_model=Space, openapi_extra=declare_role("admin"))
def restore_space(request: Request, storage: CurrentStorage, caller: CurrentCaller, space_id: str) -> JSONResponse:
    """Restore a space that was deleted in the last seven days, and return it."""
    with storage.write() as connection:
        require_space(connection, caller, space_id, deleted_since=format_time(storage.now() - RETENTION))
        connection.execute(spaces.update().where(spaces.c.id == space_id).values(deleted_at=None))
        row = find_space(connection, caller, space_id)
    return answers.ok(serialize_space(request, row, caller))


@router.post(
    "/spaces/{space_id}/duplicate", response_model=Space, status_code=201, openapi_extra=declare_role("create")
)
def duplicate_space(request: Request, storage: CurrentStorage, caller: CurrentCaller, space_id: str) -> JSONResponse:
    """Create a space beside another one with the same main content, and return it; its history starts there."""
    kept = ("parent", "emoji", "icon", "language", "edit_mode", "default_level", "merge_rules")
    with storage.write() as connection:
        row = require_space(connection, caller, space_id, needed="read")
        container = Container(row.organization, row.parent)
        parents.require_container(connection, caller, container)
        root = revisions.require_revision(connection, space_id, row.revision).root
        values = {name: getattr(row, name) for name in kept} | {"title": _build_copy_title(row.title)}
        id = _insert_space_row(storage, connection, container, values)
        saved = revisions.insert_revision_of_tree(
            storage, connection, root, revisions.RevisionOrigin(id, (), by=caller.user_id)
        )
        connection.execute(spaces.update().where(spaces.c.id == id).values(revision=saved.id))
        new_space = serialize_space(request, find_space(connection, caller, id), caller)
    return answers.created_resource(new_space, location=new_space["urls"]["location"])


def purge_space(context: JobContext, payload: Mapping[str, Any]) -> timedelta | None:
    """Remove a deleted space for good, unless it was restored; return how long to wait when it is too early.

    Its texts and files stay in the blobs, where other spaces may have the same.
    """
    now, id = context.storage.now(), payload["space"]
    with context.storage.write() as connection:
        deleted_at = connection.scalar(sa.select(spaces.c.deleted_at).where(spaces.c.id == id))
        if deleted_at is None:
            return None
        left = datetime.fromisoformat(deleted_at) + RETENTION - now
        if left > timedelta(0):
            return left
        connection.execute(permissions.delete().where(permissions.c.content == id))
        connection.execute(spaces.delete().where(spaces.c.id == id))
    return None


HANDLERS: Mapping[str, JobHandler] = {PURGE: purge_space}


def insert_space(
    storage: Storage, connection: sa.Connection, draft: Draft, *, organization: str, by: str | None, **values: Any
) -> tuple[str, revisions.RevisionRecord]:
    """Store a new space with its first content, and return its id and its first revision."""
    id = _insert_space_row(storage, connection, Container(organization, values.get("parent")), values)
    saved = revisions.insert_revision(storage, connection, draft, revisions.RevisionOrigin(id, (), by=by))
    connection.execute(spaces.update().where(spaces.c.id == id).values(revision=saved.id))
    return id, saved


def require_space(
    connection: sa.Connection,
    caller: Caller,
    space_id: str,
    *,
    deleted_since: str | None = None,
    needed: str | None = None,
) -> sa.Row[Any]:
    """Return a space's row with its counts and the caller's role there as `level`.

    Shape: a deleted space counts only when it was deleted after `deleted_since`; `needed` is a role that is required
    in place of the one that the operation declares. Raises: Failure 404, also when the caller is no member of the
    organization; 403 when the caller's role is too weak.
    """
    row = _find_space_row(connection, caller, space_id)
    if row is None or (row.deleted_at is not None and (deleted_since is None or row.deleted_at < deleted_since)):
        raise Failure(404, f"No space {space_id}.")
    caller.require_role(row.level, needed)
    return row


def find_space(connection: sa.Connection, caller: Caller, space_id: str) -> sa.Row[Any]:
    """Return the row of a space that exists, as `require_space` does, whatever the caller may do with it."""
    row = _find_space_row(connection, caller, space_id)
    assert row is not None
    return row


def select_readable_spaces(caller: Caller, *which: sa.ColumnElement[bool]) -> sa.Select[Any]:
    """Return a query of the rows of the spaces that match, are not deleted, and that the caller may read."""
    return _VISIBLE.where(*which, spaces.c.deleted_at.is_(None), roles.SPACE_READABLE).params(caller=caller.user_id)


def serialize_space(request: Request, row: sa.Row[Any], caller: Caller) -> dict[str, Any]:
    """Return a space as the API shows it to the caller, from its row of `require_space`."""
    optional = {"language": row.language, "parent": row.parent, "deletedAt": row.deleted_at}
    visibility = _find_visibility(row)
    if visibility == "visitor-auth":
        # The backend that a platform without integrations of its own has: the site's owner signs the tokens.
        optional["visitorAuth"] = {"backend": "custom"}
    return {
        "object": "space",
        "id": row.id,
        "title": row.title,
        # Clients of the public product expect the member also where there is none.
        "emoji": row.emoji or "",
        "visibility": visibility,
        "createdAt": row.created_at,
        "updatedAt": row.updated_at,
        "editMode": row.edit_mode,
        "mergeRules": row.merge_rules,
        "organization": row.organization,
        "revision": row.revision,
        "defaultLevel": row.default_level,
        "comments": row.comments_open,
        "changeRequests": row.requests,
        "changeRequestsOpen": row.requests_open,
        "changeRequestsDraft": row.requests_draft,
        **{name: value for name, value in optional.items() if value is not None},
        "urls": _build_urls(request, row),
        "permissions": {name: is_role_at_least(row.level, needed) for name, needed in _PERMISSIONS.items()},
    }


def read_space(connection: sa.Connection, request: Request, caller: Caller, space_id: str) -> dict[str, Any]:
    """Return a space as the API shows it. Raises: Failure 404, as `require_space`."""
    return serialize_space(request, require_space(connection, caller, space_id), caller)


def read_spaces(
    connection: sa.Connection, request: Request, caller: Caller, which: sa.ColumnElement[bool]
) -> dict[str, dict[str, Any]]:
    """Return the matching spaces that the caller may read as the API shows them, by id, deleted ones included."""
    if caller.grant is not None:
        granted = match_granted_spaces(connection, caller.grant)
        query = _GRANTED.where(which, granted).params(name_site(caller.grant))
    else:
        query = _VISIBLE.where(which, roles.SPACE_READABLE).params(caller=caller.user_id)
    return {row.id: serialize_space(request, row, caller) for row in connection.execute(query)}


def _find_space_row(connection: sa.Connection, caller: Caller, space_id: str) -> sa.Row[Any] | None:
    if caller.grant is not None:
        granted = match_granted_spaces(connection, caller.grant)
        query = _GRANTED.where(spaces.c.id == space_id, granted)
        return connection.execute(query, name_site(caller.grant)).first()
    return connection.execute(_ONE, {"space": space_id, "caller": caller.user_id}).one_or_none()


def _insert_space_row(
    storage: Storage, connection: sa.Connection, container: Container, values: Mapping[str, Any]
) -> str:
    id, now = storage.new_id(), storage.now()
    moments = {"created_at": format_time(now), "updated_at": format_time(now)}
    row = {**values, **moments, "position": order_keys.compute_last_key(connection, container, now), "revision": ""}
    connection.execute(spaces.insert().values(id=id, organization=container.organization, **row))
    return id


def _build_copy_title(title: str) -> str:
    ending = " (copy)"
    return f"{title[: TITLE_MAX - len(ending)].rstrip()}{ending}"


def _find_visibility(row: sa.Row[Any]) -> str:
    # A space is as visible as the site that publishes it; one that nobody publishes, as what holds it says.
    if row.site_visibility is not None:
        return str(row.site_visibility)
    return "in-collection" if row.parent is not None and row.default_level == "inherit" else str(row.visibility)


def _build_urls(request: Request, row: sa.Row[Any]) -> dict[str, str]:
    urls = {
        "location": addresses.build_api_url(request, f"/spaces/{row.id}"),
        "app": addresses.build_app_url(request, f"/o/{row.organization}/s/{row.id}"),
    }
    if row.icon is not None:
        urls["icon"] = row.icon
    return urls | build_published_urls(request, row)
