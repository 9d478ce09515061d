"""Invitations: links with which whoever has one becomes a member, and people named by their e-mail addresses.

A link's id is its secret. It is shown to administrators only, and it ends when it is deleted or when the organization
turns invite links off.
"""

import hmac
from typing import Any

import sqlalchemy as sa
from fastapi import Response
from fastapi.responses import JSONResponse

from syncd.model.listing import Listing
from syncd.model.member import InviteCreate, Invited, LinkInvite, LinkInviteCreate, LinkInviteUpdate
from syncd.platform.http import addresses, answers
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.failures import Failure
from syncd.platform.http.listing import Paging
from syncd.platform.http.routing import create_router
from syncd.platform.people import joining, users
from syncd.platform.people.auth import declare_role
from syncd.platform.people.organizations import AtOrganization, OrganizationRequest, read_setting
from syncd.platform.schema.people import link_invites
from syncd.platform.storage.times import format_time

router = create_router(prefix="/orgs/{organization_id}", tags=["members"])

_TABLE = link_invites


class LinkInviteNew(RequestBody, LinkInviteCreate):
    """Body of `POST …/link-invites`."""


class LinkInviteChange(RequestBody, LinkInviteUpdate):
    """Body of `PATCH …/link-invites/{inviteId}`."""


class InviteNew(RequestBody, InviteCreate):
    """Body of `POST …/invites`."""


@router.get("/link-invites", response_model=Listing[LinkInvite], openapi_extra=declare_role("admin", extension=True))
def list_organization_invite_links(at: AtOrganization, paging: Paging) -> JSONResponse:
    """List the invite links of an organization."""
    query = sa.select(_TABLE).where(_TABLE.c.organization == at.organization_id)
    with at.storage.read() as connection:
        at.require_organization(connection)
        envelope = paging.paginate_rows(connection, query, _TABLE.c.created_at, _TABLE.c.id)
    return answers.ok(envelope | {"items": [_serialize_invite(at, row) for row in envelope["items"]]})


@router.post(
    "/link-invites", status_code=201, response_model=LinkInvite, openapi_extra=declare_role("admin", extension=True)
)
def create_organization_invite_link(at: AtOrganization, body: LinkInviteNew) -> JSONResponse:
    """Create an invite link that gives a role, and return it. Raises: Failure 409 when the organization allows no
    links.
    """
    id, now = at.storage.new_id(), format_time(at.storage.now())
    with at.storage.write() as connection:
        row = at.require_organization(connection)
        if not read_setting(row, "inviteLinks"):
            raise Failure(409, "Invite links are turned off: the organization's `inviteLinks` is false.")
        values = {"id": id, "organization": at.organization_id, "role": body.role, "created_at": now}
        connection.execute(_TABLE.insert().values(values))
        new_link = _serialize_invite(at, _require_invite(connection, at, id))
    return answers.created_resource(new_link, location=new_link["urls"]["location"])


@router.get("/link-invites/{invite_id}", response_model=LinkInvite, openapi_extra=declare_role("admin", extension=True))
def get_organization_invite_link(at: AtOrganization, invite_id: str) -> JSONResponse:
    """Return an invite link."""
    with at.storage.read() as connection:
        at.require_organization(connection)
        return answers.ok(_serialize_invite(at, _require_invite(connection, at, invite_id)))


@router.patch(
    "/link-invites/{invite_id}", response_model=LinkInvite, openapi_extra=declare_role("admin", extension=True)
)
def update_organization_invite_link(at: AtOrganization, invite_id: str, body: LinkInviteChange) -> JSONResponse:
    """Change the role that an invite link gives, and return the link."""
    with at.storage.write() as connection:
        at.require_organization(connection)
        _require_invite(connection, at, invite_id)
        connection.execute(_TABLE.update().where(_TABLE.c.id == invite_id).values(role=body.role))
        return answers.ok(_serialize_invite(at, _require_invite(connection, at, invite_id)))


@router.delete("/link-invites/{invite_id}", status_code=204, openapi_extra=declare_role("admin"))
def delete_organization_invite_by_id(at: AtOrganization, invite_id: str) -> Response:
    """Delete an invite link, so that nobody can join with it any more."""
    with at.storage.write() as connection:
        at.require_organization(connection)
        mine = (_TABLE.c.id == invite_id, _TABLE.c.organization == at.organization_id)
        connection.execute(_TABLE.delete().where(*mine))
    return answers.no_content()


@router.post("/invites", response_model=Invited, openapi_extra=declare_role("admin", extension=True))
def invite_users_to_organization(at: AtOrganization, body: InviteNew) -> JSONResponse:
    """Make the owners of e-mail addresses members with a role, and return the ids of these users.

    No e-mail is sent, and a new user gets no token: an administrator of the machine makes one. Members keep their role.
    """
    with at.storage.write() as connection:
        at.require_organization(connection)
        emails = dict.fromkeys(email.lower() for email in body.emails)
        ids = [users.find_or_create_user(at.storage, connection, email) for email in emails]
        for id in ids:
            joining.insert_member(at.storage, connection, at.organization_id, id, body.role)
    at.forget_callers()
    return answers.ok({"users": ids, "invited": len(ids)})


@router.post("/invites/{invite_id}", status_code=204, openapi_extra=declare_role("read", extension=True))
def join_organization_with_invite(at: AtOrganization, invite_id: str) -> Response:
    """Make the caller a member by an invite link; a member keeps the present role.

    Raises: Failure 404 when the link or the organization does not exist, or links are turned off.
    """
    with at.storage.write() as connection:
        row = _find_invite(connection, at, invite_id)
        organization = joining.find_organization(connection, at.organization_id)
        # One answer for all reasons: whoever guesses ids must not learn which organizations and links exist.
        if row is None or organization is None or not read_setting(organization, "inviteLinks"):
            raise Failure(404, "This invitation does not exist, or no longer.")
        joining.require_no_sso(organization)
        joining.insert_member(at.storage, connection, at.organization_id, at.caller.user_id, row.role)
    at.forget_callers()
    return answers.no_content()


def _find_invite(connection: sa.Connection, at: OrganizationRequest, invite_id: str) -> sa.Row[Any] | None:
    query = sa.select(_TABLE).where(_TABLE.c.id == invite_id, _TABLE.c.organization == at.organization_id)
    row = connection.execute(query).one_or_none()
    # The index compares byte by byte; this comparison takes the same time for every wrong id.
    if row is None or not hmac.compare_digest(row.id.encode(), invite_id.encode()):
        return None
    return row


def _require_invite(connection: sa.Connection, at: OrganizationRequest, invite_id: str) -> sa.Row[Any]:
    row = _find_invite(connection, at, invite_id)
    if row is None:
        raise Failure(404, f"No such invite link in organization {at.organization_id}.")
    return row


def _serialize_invite(at: OrganizationRequest, row: sa.Row[Any]) -> dict[str, Any]:
    return {
        "object": "invite",
        "id": row.id,
        "role": row.role,
        "redundant": False,
        "createdAt": row.created_at,
        "urls": {
            "location": at.build_url(f"/link-invites/{row.id}"),
            "app": addresses.build_app_url(at.request, f"/o/{at.organization_id}/invite/{row.id}"),
        },
    }
