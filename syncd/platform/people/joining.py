"""Joining an organization by the domain of a verified e-mail address, and which organizations can be joined so."""

import re
from typing import Annotated, Any

import sqlalchemy as sa
from fastapi import Path, Request, Response
from fastapi.responses import JSONResponse

from syncd.model.listing import Listing
from syncd.model.member import JoinableOrganization
from syncd.model.subdomain import Subdomain
from syncd.platform.database.tables import insert_new
from syncd.platform.http import addresses, answers
from syncd.platform.http.failures import Failure
from syncd.platform.http.listing import Paging
from syncd.platform.http.routing import create_router
from syncd.platform.people.auth import Caller, CurrentCaller, declare_role
from syncd.platform.people.organizations import AtOrganization, read_setting
from syncd.platform.schema import accounts
from syncd.platform.schema.people import email_domains
from syncd.platform.storage.storage import CurrentStorage, Storage
from syncd.platform.storage.times import format_time

router = create_router(tags=["members"])

_DOMAIN = re.compile(r"[a-z0-9.-]{1,253}")


@router.post("/orgs/{organization_id}/join", status_code=204, openapi_extra=declare_role("read"))
def join_organization(at: AtOrganization) -> Response:
    """Make the caller a member of an organization that welcomes the domain of the caller's verified e-mail address.

    Shape: the role is the organization's default role; a member keeps the present role.
    Raises: Failure 400 when the caller has no verified address, 404 when the organization does not welcome its domain.
    """
    with at.storage.write() as connection:
        if at.organization_id in at.caller.roles:
            return answers.no_content()
        domain = _require_verified_domain(connection, at.caller)
        row = find_organization(connection, at.organization_id)
        if row is None or not _has_email_domain(connection, at.organization_id, domain):
            raise Failure(404, f"No organization {at.organization_id} that people with your e-mail address may join.")
        require_no_sso(row)
        insert_member(at.storage, connection, at.organization_id, at.caller.user_id, read_setting(row, "defaultRole"))
    at.forget_callers()
    return answers.no_content()


@router.get(
    "/email-domains/{email_domain}/orgs",
    response_model=Listing[JoinableOrganization],
    openapi_extra=declare_role("read", extension=True),
)
def list_organizations_by_email_domain(
    request: Request,
    storage: CurrentStorage,
    caller: CurrentCaller,
    paging: Paging,
    email_domain: Annotated[str, Path(max_length=253)],
) -> JSONResponse:
    """List the organizations that welcome the domain of the caller's verified e-mail address.

    Raises: Failure 400 when the caller has no verified address, 403 for another domain than the caller's.
    """
    table = accounts.organizations
    welcoming = sa.select(email_domains.c.organization).where(email_domains.c.domain == email_domain.lower())
    with storage.read() as connection:
        if _require_verified_domain(connection, caller) != email_domain.lower():
            raise Failure(403, "This is not the domain of your verified e-mail address.")
        query = sa.select(table.c.id, table.c.title).where(table.c.id.in_(welcoming))
        envelope = paging.paginate_rows(connection, query, table.c.created_at, table.c.id)
    items = [
        {"id": row.id, "title": row.title, "urls": {"location": addresses.build_api_url(request, f"/orgs/{row.id}")}}
        for row in envelope["items"]
    ]
    return answers.ok(envelope | {"items": items})


@router.get("/subdomains/{subdomain}", response_model=Subdomain, openapi_extra=declare_role("read", extension=True))
def get_subdomain(storage: CurrentStorage, caller: CurrentCaller, subdomain: str) -> JSONResponse:
    """Return what a subdomain leads to: an organization of the caller's. Raises: Failure 404."""
    table = accounts.organizations
    with storage.read() as connection:
        owner = connection.scalar(sa.select(table.c.id).where(table.c.hostname == subdomain.lower()))
    if owner is None or owner not in caller.roles:
        raise Failure(404, f"No subdomain {subdomain}.")
    caller.require_role_in(owner)
    target = {"type": "organization", "organization": owner}
    return answers.ok({"object": "subdomain", "subdomain": subdomain.lower(), "target": target, "isActive": True})


def find_organization(connection: sa.Connection, organization_id: str) -> sa.Row[Any] | None:
    """Return an organization's row, without any check of the caller, or None."""
    table = accounts.organizations
    return connection.execute(sa.select(table).where(table.c.id == organization_id)).one_or_none()


def require_no_sso(row: sa.Row[Any]) -> None:
    """Require an organization not to enforce SSO, so that people can join by e-mail or link. Raises: Failure 400."""
    if read_setting(row, "sso"):
        raise Failure(400, "The organization enforces SSO: its members join by signing in.")


def insert_member(
    storage: Storage, connection: sa.Connection, organization_id: str, user_id: str, role: str | None
) -> None:
    """Insert a member of an organization; somebody who is a member already keeps the role."""
    row = {"organization": organization_id, "user": user_id, "role": role, "joined_at": format_time(storage.now())}
    insert_new(connection, accounts.members, [row])


def _require_verified_domain(connection: sa.Connection, caller: Caller) -> str:
    table = accounts.users
    email = connection.scalar(sa.select(table.c.email).where(table.c.id == caller.user_id, table.c.email_verified))
    domain = (email or "").rpartition("@")[2].lower()
    if not _DOMAIN.fullmatch(domain):
        raise Failure(400, "You have no verified e-mail address. Ask an administrator of this platform to verify it.")
    return domain


def _has_email_domain(connection: sa.Connection, organization_id: str, domain: str) -> bool:
    table = email_domains
    query = sa.select(table.c.domain).where(table.c.organization == organization_id, table.c.domain == domain)
    return connection.scalar(query) is not None
