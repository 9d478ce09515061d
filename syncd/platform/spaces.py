"""Spaces: who may see them, what they show of themselves, and their life from creation to soft deletion."""

from datetime import timedelta
from typing import Any, Literal

import sqlalchemy as sa
from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from pydantic import Field

from syncd.layout import frontmatter
from syncd.model.space import SpaceCreate, SpaceUpdate
from syncd.platform import addresses, answers, revisions, schema
from syncd.platform.auth import ROLES, Caller, Signed
from syncd.platform.bodies import Body
from syncd.platform.content_schema import change_requests, spaces
from syncd.platform.failures import Failure
from syncd.platform.listing import Paging
from syncd.platform.organizations import require_organization
from syncd.platform.outline import Draft
from syncd.platform.storage import Storage, Stored
from syncd.platform.times import iso
from syncd.platform.tree import PAGES, Node

router = APIRouter(tags=["spaces"])

RETENTION = timedelta(days=7)
"""How long a deleted space can be restored. Source: API document, Limits."""
TITLE_MAX = 50
"""Source: not-shown.md (c) 22."""

_PERMISSIONS = {
    **dict.fromkeys(("view", "access"), "read"),
    "comment": "comment",
    "edit": "edit",
    **dict.fromkeys(("review", "merge"), "review"),
    **dict.fromkeys(("admin", "viewInviteLinks", "triggerGitSync", "installIntegration"), "admin"),
}


class SpaceNew(Body, SpaceCreate):
    """Body of `POST /orgs/{organizationId}/spaces`, with its limits."""

    title: str = Field(default="Untitled", min_length=1, max_length=TITLE_MAX)
    edit_mode: Literal["live", "locked"] = "live"


class SpaceChange(Body, SpaceUpdate):
    """Body of `PATCH /spaces/{spaceId}`, with its limits."""

    title: str = Field(default="", min_length=1, max_length=TITLE_MAX)
    edit_mode: Literal["live", "locked"] = "live"
    default_level: Literal["admin", "create", "review", "edit", "comment", "read"] = "read"
    merge_rules: dict[str, Any] = {"type": "inherit"}  # noqa: RUF012  (pydantic copies defaults)


@router.get("/orgs/{organization_id}/spaces")
def list_spaces_in_organization_by_id(
    request: Request, storage: Stored, caller: Signed, paging: Paging, organization_id: str
) -> JSONResponse:
    """Given an organization, return its spaces."""
    with storage.read() as connection:
        require_organization(connection, caller, organization_id)
        query = _visible(caller).where(spaces.c.organization == organization_id, spaces.c.deleted_at.is_(None))
        envelope = paging.rows(connection, query, spaces.c.created_at, spaces.c.id)
    return answers.ok(envelope | {"items": [shown(request, row, caller) for row in envelope["items"]]})


@router.post("/orgs/{organization_id}/spaces")
def create_space(
    request: Request, storage: Stored, caller: Signed, organization_id: str, body: SpaceNew | None = None
) -> JSONResponse:
    """Given a title and more, return the new Space; unless it is asked to be empty, it has a home page."""
    new = body or SpaceNew()
    draft = Draft()
    if not new.empty:
        text = frontmatter.set_heading("", new.title)
        fields = {"createdAt": iso(storage.now())}
        body_oid = storage.blobs.put(text.encode())
        draft.insert(Node(storage.new_id(), "document", new.title, "", fields, body_oid, "README.md"), PAGES)
    with storage.write() as connection:
        require_organization(connection, caller, organization_id)
        values = {name: getattr(new, name) for name in ("title", "emoji", "language", "edit_mode")}
        id, _ = found_space(storage, connection, draft, organization=organization_id, by=caller.user_id, **values)
        space = shown(request, require_space(connection, caller, id), caller)
    return answers.created(space, location=space["urls"]["location"])


@router.get("/spaces/{space_id}")
async def get_space_by_id(request: Request, storage: Stored, caller: Signed, space_id: str) -> JSONResponse:
    """Given an id, return the Space, also for a while after it was deleted."""
    # The one request that every poll makes: a few indexed rows, which cost less than the way to a thread and back.
    with storage.read() as connection:
        row = require_space(connection, caller, space_id, deleted_since=iso(storage.now() - RETENTION))
    return answers.ok(shown(request, row, caller))


@router.patch("/spaces/{space_id}")
def update_space_by_id(
    request: Request, storage: Stored, caller: Signed, space_id: str, body: SpaceChange
) -> JSONResponse:
    """Given new members, return the Space with them; unset is unchanged."""
    with storage.write() as connection:
        require_space(connection, caller, space_id)
        values = body.model_dump(exclude_unset=True)
        if values:
            values["updated_at"] = iso(storage.now())
            connection.execute(spaces.update().where(spaces.c.id == space_id).values(values))
        row = require_space(connection, caller, space_id)
    return answers.ok(shown(request, row, caller))


@router.delete("/spaces/{space_id}")
def delete_space_by_id(storage: Stored, caller: Signed, space_id: str) -> Response:
    """Given an id, put the space away for seven days; those put away longer ago are removed for good."""
    now = storage.now()
    mine = spaces.c.organization.in_(_organizations(caller))
    with storage.write() as connection:
        live = spaces.update().where(spaces.c.id == space_id, mine, spaces.c.deleted_at.is_(None))
        connection.execute(live.values(deleted_at=iso(now)))
        connection.execute(spaces.delete().where(spaces.c.deleted_at < iso(now - RETENTION)))
    return answers.nothing()


@router.post("/spaces/{space_id}/restore")
def restore_space(request: Request, storage: Stored, caller: Signed, space_id: str) -> JSONResponse:
    """Given a space that was deleted in the last seven days, return it, active again."""
    with storage.write() as connection:
        require_space(connection, caller, space_id, deleted_since=iso(storage.now() - RETENTION))
        connection.execute(spaces.update().where(spaces.c.id == space_id).values(deleted_at=None))
        row = require_space(connection, caller, space_id)
    return answers.ok(shown(request, row, caller))


def found_space(
    storage: Storage, connection: sa.Connection, draft: Draft, *, organization: str, by: str | None, **values: Any
) -> tuple[str, revisions.Saved]:
    """Given the first content of a space and its members, return the new space's id and its first revision."""
    id, now = storage.new_id(), iso(storage.now())
    moments = {"created_at": now, "updated_at": now}
    connection.execute(spaces.insert().values(id=id, organization=organization, revision="", **moments, **values))
    saved = revisions.save(storage, connection, draft, revisions.Origin(id, (), by=by))
    connection.execute(spaces.update().where(spaces.c.id == id).values(revision=saved.id))
    return id, saved


def require_space(
    connection: sa.Connection, caller: Caller, space_id: str, *, deleted_since: str | None = None
) -> sa.Row[Any]:
    """Given an id, return the space's row with the counts of its change requests.

    Shapes: a deleted space counts only when it was deleted after `deleted_since`. Raises: Failure 404, also when the
    caller is no member of its organization.
    """
    row = connection.execute(_visible(caller).where(spaces.c.id == space_id)).one_or_none()
    if row is None or (row.deleted_at is not None and (deleted_since is None or row.deleted_at < deleted_since)):
        raise Failure(404, f"No space {space_id}.")
    return row


def shown(request: Request, row: sa.Row[Any], caller: Caller) -> dict[str, Any]:
    """Given a space's row from `require_space`, return the Space as the API shows it to a caller."""
    optional = {"emoji": row.emoji, "language": row.language, "parent": row.parent, "deletedAt": row.deleted_at}
    return {
        "object": "space",
        "id": row.id,
        "title": row.title,
        "visibility": row.visibility,
        "createdAt": row.created_at,
        "updatedAt": row.updated_at,
        "editMode": row.edit_mode,
        "mergeRules": row.merge_rules,
        "organization": row.organization,
        "revision": row.revision,
        "defaultLevel": row.default_level,
        "comments": 0,
        "changeRequests": row.requests,
        "changeRequestsOpen": row.requests_open,
        "changeRequestsDraft": row.requests_draft,
        **{name: value for name, value in optional.items() if value is not None},
        "urls": {
            "location": addresses.location(request, f"/spaces/{row.id}"),
            "app": addresses.app(request, f"/o/{row.organization}/s/{row.id}"),
        },
        "permissions": {name: ROLES.index(caller.role) >= ROLES.index(role) for name, role in _PERMISSIONS.items()},
    }


def space_shown(connection: sa.Connection, request: Request, caller: Caller, space_id: str) -> dict[str, Any]:
    """Given an id, return the Space as the API shows it. Raises: Failure 404."""
    return shown(request, require_space(connection, caller, space_id), caller)


def _visible(caller: Caller) -> sa.Select[Any]:
    table = change_requests
    every = sa.select(sa.func.count()).select_from(table).where(table.c.space == spaces.c.id).correlate(spaces)
    counts = (
        every.scalar_subquery().label("requests"),
        every.where(table.c.status == "open").scalar_subquery().label("requests_open"),
        every.where(table.c.status == "draft").scalar_subquery().label("requests_draft"),
    )
    return sa.select(spaces, *counts).where(spaces.c.organization.in_(_organizations(caller)))


def _organizations(caller: Caller) -> sa.Select[Any]:
    return sa.select(schema.members.c.organization).where(schema.members.c.user == caller.user_id)
