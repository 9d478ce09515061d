"""Organizations: the owners of spaces and sites, seen by their members only."""

from dataclasses import dataclass
from typing import Annotated, Any

import sqlalchemy as sa
from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse

from syncd.platform import addresses, answers, schema
from syncd.platform.auth import Caller, Signed
from syncd.platform.failures import Failure
from syncd.platform.listing import Paging
from syncd.platform.storage import Storage, Stored

router = APIRouter(prefix="/orgs", tags=["organizations"])

_DEFAULTS: dict[str, Any] = {
    "emailDomains": [],
    "type": "business",
    "sso": False,
    "ai": False,
    "inviteLinks": False,
    "plan": "free_2024",
    "mergeRules": {"type": "inherit"},
    "trial": {"status": "notapplicable"},
}
_EVERYBODY = ("view", "listMembers", "listTeams", "listIntegrations", "listInstallations")
_CREATORS = ("createContent", "createOpenAPISpec", "ingestConversations")
_ADMINS = ("admin", "ownTeam", "viewBilling", "installIntegration")


@router.get("")
def list_organizations_for_authenticated_user(
    request: Request, storage: Stored, caller: Signed, paging: Paging
) -> JSONResponse:
    """Given a request, return the organizations that its caller is a member of."""
    table = schema.organizations
    with storage.read() as connection:
        envelope = paging.rows(connection, _of_member(caller), table.c.created_at, table.c.id)
    return answers.ok(envelope | {"items": [_shown(request, row, caller) for row in envelope["items"]]})


@dataclass(frozen=True)
class OrganizationRequest:
    """A request about one organization: who asks, in which storage, for which organization."""

    request: Request
    storage: Storage
    caller: Caller
    organization_id: str

    def require(self, connection: sa.Connection) -> sa.Row[Any]:
        """Return the organization's row. Raises: as `require_organization`."""
        return require_organization(connection, self.caller, self.organization_id)


async def _at_organization(
    request: Request, storage: Stored, caller: Signed, organization_id: str
) -> OrganizationRequest:
    return OrganizationRequest(request, storage, caller, organization_id)


AtOrganization = Annotated[OrganizationRequest, Depends(_at_organization)]
"""A handler's parameter for an operation below `/orgs/{organizationId}`."""


@router.get("/{organization_id}")
def get_organization_by_id(at: AtOrganization) -> JSONResponse:
    """Given an id, return the Organization."""
    with at.storage.read() as connection:
        return answers.ok(_shown(at.request, at.require(connection), at.caller))


def require_organization(connection: sa.Connection, caller: Caller, organization_id: str) -> sa.Row[Any]:
    """Given an id, return the organization's row. Raises: Failure 404, also when the caller is not a member."""
    row = connection.execute(_of_member(caller).where(schema.organizations.c.id == organization_id)).one_or_none()
    if row is None:
        raise Failure(404, f"No organization {organization_id}.")
    return row


def _of_member(caller: Caller) -> sa.Select[Any]:
    mine = sa.select(schema.members.c.organization).where(schema.members.c.user == caller.user_id)
    return sa.select(schema.organizations).where(schema.organizations.c.id.in_(mine))


def _shown(request: Request, row: sa.Row[Any], caller: Caller) -> dict[str, Any]:
    return {
        "object": "organization",
        "id": row.id,
        "title": row.title,
        "createdAt": row.created_at,
        **_DEFAULTS,
        **row.details,
        "urls": {
            "location": addresses.location(request, f"/orgs/{row.id}"),
            "app": addresses.app(request, f"/o/{row.id}"),
        },
        "permissions": {
            **dict.fromkeys(_EVERYBODY, True),
            **dict.fromkeys(_CREATORS, caller.role in ("create", "admin")),
            **dict.fromkeys(_ADMINS, caller.role == "admin"),
        },
    }
