"""Organizations: the owners of spaces and sites, visible to their members only."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import sqlalchemy as sa
from fastapi import Depends, Request
from fastapi.responses import JSONResponse

from syncd.model.listing import Listing
from syncd.model.organization import Organization, OrganizationCreate, OrganizationUpdate
from syncd.platform.http import addresses, answers
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.failures import Failure
from syncd.platform.http.listing import Paging
from syncd.platform.http.routing import create_router
from syncd.platform.people.auth import Caller, CurrentCaller, declare_role, is_role_at_least
from syncd.platform.people.saml_providers import find_active_providers
from syncd.platform.schema import accounts, site_tables
from syncd.platform.schema.people import email_domains
from syncd.platform.storage.storage import CurrentStorage, Storage
from syncd.platform.storage.times import format_time

router = create_router(prefix="/orgs", tags=["organizations"])

_DEFAULTS: dict[str, Any] = {
    "type": "business",
    "defaultRole": "read",
    "sso": False,
    "ai": False,
    "inviteLinks": False,
    "plan": "free_2024",
    "mergeRules": {"type": "inherit"},
    "trial": {"status": "notapplicable", "count": 0},
}
_NO_PRICE = {"monthly": 0, "yearly": 0}
_FREE_BILLING = {
    "interval": "monthly",
    "endDate": "9999-12-31T23:59:59.999Z",
    "hasPaymentFailed": False,
    "canCheckout": False,
    "isScheduledToCancel": False,
    "pricing": {
        "members": {"plus_2024": _NO_PRICE, "pro_2024": _NO_PRICE},
        "sites": {"premium": _NO_PRICE, "ultimate": _NO_PRICE},
    },
    "usageAddons": {},
    "canChangeInterval": False,
    "canUseSAML": True,
    "creditsBundle": None,
    "aiCreditAlertThreshold": None,
}
"""The billing of a platform that costs nothing."""
_MEMBERS_ONLY = ("defaultRole", "sso", "ai")
_EVERYBODY = ("view", "access", "listMembers", "listTeams", "listIntegrations", "listInstallations")
_CREATORS = ("createContent", "createOpenAPISpec", "ingestConversations")
_ADMINS = ("admin", "ownTeam", "viewBilling", "installIntegration")

_TABLE = accounts.organizations
_MINE = sa.select(_TABLE, accounts.members.c.role).join(
    accounts.members,
    sa.and_(accounts.members.c.organization == _TABLE.c.id, accounts.members.c.user == sa.bindparam("caller")),
)
_ONE = _MINE.where(_TABLE.c.id == sa.bindparam("organization"))
_GRANTED = sa.select(_TABLE, sa.literal("read").label("role")).where(_TABLE.c.id == sa.bindparam("organization"))
"""For a content token: what belongs to its site is read within the site's organization."""


class OrganizationNew(RequestBody, OrganizationCreate):
    """Body of `POST /orgs`."""


class OrganizationChange(RequestBody, OrganizationUpdate):
    """Body of `PATCH /orgs/{organizationId}`."""


@router.get("", response_model=Listing[Organization], openapi_extra=declare_role("read"))
def list_organizations_for_authenticated_user(
    request: Request, storage: CurrentStorage, caller: CurrentCaller, paging: Paging
) -> JSONResponse:
    """List the organizations that the caller is a member of."""
    with storage.read() as connection:
        mine = _MINE.params(caller=caller.user_id)
        envelope = paging.paginate_rows(connection, mine, _TABLE.c.created_at, _TABLE.c.id)
        domains = _find_domains(connection, [row.id for row in envelope["items"]])
    items = [_serialize_for_member(request, row, domains[row.id]) for row in envelope["items"]]
    return answers.ok(envelope | {"items": items})


@router.post("", status_code=201, response_model=Organization, openapi_extra=declare_role("read", extension=True))
def create_organization(
    request: Request, storage: CurrentStorage, caller: CurrentCaller, body: OrganizationNew
) -> JSONResponse:
    """Create an organization whose administrator is the caller, and return it."""
    id, now = storage.new_id(), format_time(storage.now())
    with storage.write() as connection:
        connection.execute(_TABLE.insert().values(id=id, title=body.title, created_at=now, details={}))
        member = {"organization": id, "user": caller.user_id, "role": "admin", "joined_at": now}
        connection.execute(accounts.members.insert().values(member))
        _replace_domains(connection, id, body.email_domains)
        new_organization = read_organization(connection, request, caller, id)
    request.app.state.callers.clear()
    return answers.created_resource(new_organization, location=new_organization["urls"]["location"])


@dataclass(frozen=True)
class OrganizationRequest:
    """A request about one organization."""

    request: Request
    storage: Storage
    caller: Caller
    organization_id: str

    def require_organization(self, connection: sa.Connection) -> sa.Row[Any]:
        """Return the organization's row. Raises: as `require_organization`."""
        return require_organization(connection, self.caller, self.organization_id)

    def build_url(self, path: str = "") -> str:
        """Return the absolute address in the API of a path below the organization."""
        return addresses.build_api_url(self.request, f"/orgs/{self.organization_id}{path}")

    def forget_callers(self) -> None:
        """Empty the cache of callers, after a membership or a role has changed."""
        self.request.app.state.callers.clear()


async def _read_organization_request(
    request: Request, storage: CurrentStorage, caller: CurrentCaller, organization_id: str
) -> OrganizationRequest:
    return OrganizationRequest(request, storage, caller, organization_id)


AtOrganization = Annotated[OrganizationRequest, Depends(_read_organization_request)]
"""A handler's parameter for an operation below `/orgs/{organizationId}`."""


@router.get("/{organization_id}", response_model=Organization, openapi_extra=declare_role("read"))
def get_organization_by_id(at: AtOrganization) -> JSONResponse:
    """Return an organization."""
    with at.storage.read() as connection:
        at.require_organization(connection)
        return answers.ok(read_organization(connection, at.request, at.caller, at.organization_id))


@router.patch("/{organization_id}", response_model=Organization, openapi_extra=declare_role("admin"))
def update_organization_by_id(at: AtOrganization, body: OrganizationChange) -> JSONResponse:
    """Change the members of an organization that the body sets, and return it; null removes its content or logo."""
    with at.storage.write() as connection:
        row = at.require_organization(connection)
        _check_change(connection, at.organization_id, body, format_time(at.storage.now()))
        values: dict[str, Any] = {"details": _merge_details(row.details, body)}
        values |= {name: getattr(body, name) for name in ("title", "hostname") if name in body.model_fields_set}
        connection.execute(_TABLE.update().where(_TABLE.c.id == at.organization_id).values(values))
        if "email_domains" in body.model_fields_set:
            _replace_domains(connection, at.organization_id, body.email_domains)
        return answers.ok(read_organization(connection, at.request, at.caller, at.organization_id))


def require_member(connection: sa.Connection, caller: Caller, organization_id: str) -> sa.Row[Any]:
    """Return an organization's row with the caller's `role` in it, null for a guest.

    Shape: a content token of the organization reads in it. Raises: Failure 404 when the organization does not exist or
    the caller is not a member.
    """
    named = {"organization": organization_id, "caller": caller.user_id}
    query = _GRANTED if caller.grant is not None and caller.grant.organization == organization_id else _ONE
    row = connection.execute(query, named).one_or_none()
    if row is None:
        raise Failure(404, f"No organization {organization_id}.")
    return row


def require_organization(connection: sa.Connection, caller: Caller, organization_id: str) -> sa.Row[Any]:
    """Return an organization's row for a caller whose role is strong enough for the operation.

    Raises: Failure 404 as `require_member`, 403 when the caller's role is too weak.
    """
    row = require_member(connection, caller, organization_id)
    caller.require_role(row.role)
    return row


def read_organization(
    connection: sa.Connection, request: Request, caller: Caller, organization_id: str
) -> dict[str, Any]:
    """Read an organization of the caller's as the Organization of the API. Raises: Failure 404."""
    row = require_member(connection, caller, organization_id)
    return _serialize_for_member(request, row, _find_domains(connection, [organization_id])[organization_id])


def serialize_organization_preview(request: Request, row: sa.Row[Any], role: str | None) -> dict[str, Any]:
    """Return an organization's row as an Organization with public members only.

    Shape: members for insiders are left out, or have their default value.
    """
    known = {name: value for name, value in _DEFAULTS.items() if name not in _MEMBERS_ONLY}
    return _serialize_organization(request, row, role, {"emailDomains": [], **known})


def read_setting(row: sa.Row[Any], name: str) -> Any:
    """Return the value of an optional member of an organization by its API name, or its default."""
    return row.details.get(name, _DEFAULTS.get(name))


def _check_change(connection: sa.Connection, organization_id: str, body: OrganizationChange, now: str) -> None:
    taken = sa.select(_TABLE.c.id).where(_TABLE.c.hostname == body.hostname, _TABLE.c.id != organization_id)
    if "hostname" in body.model_fields_set and connection.scalar(taken) is not None:
        raise Failure(409, f"hostname: {body.hostname} is another organization's")
    if body.default_content is not None:
        sites = site_tables.sites
        mine = (sites.c.id == body.default_content.site, sites.c.organization == organization_id)
        if connection.scalar(sa.select(sites.c.id).where(*mine)) is None:
            raise Failure(400, f"defaultContent.site: no site {body.default_content.site} in this organization")
    if body.sso and not find_active_providers(connection, organization_id, now):
        # Without one, nobody could sign in any more.
        raise Failure(400, "sso: needs an active SAML provider first: with ssoURL, entityID and certificate")


def _merge_details(former: Mapping[str, Any], body: OrganizationChange) -> dict[str, Any]:
    sent = {name: value for name, value in body.wire().items() if name not in ("title", "hostname", "emailDomains")}
    # A null role is a guest's and is kept; the others are taken away by null.
    removed = {name for name, value in sent.items() if value is None and name != "defaultRole"}
    return {name: value for name, value in {**former, **sent}.items() if name not in removed}


def _replace_domains(connection: sa.Connection, organization_id: str, domains: Iterable[str]) -> None:
    connection.execute(email_domains.delete().where(email_domains.c.organization == organization_id))
    rows = [{"organization": organization_id, "domain": domain} for domain in dict.fromkeys(domains)]
    if rows:
        connection.execute(email_domains.insert(), rows)


def _find_domains(connection: sa.Connection, organization_ids: list[str]) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    query = sa.select(email_domains).where(email_domains.c.organization.in_(organization_ids))
    for row in connection.execute(query.order_by(email_domains.c.domain)):
        found[row.organization].append(row.domain)
    return found


def _serialize_for_member(request: Request, row: sa.Row[Any], domains: list[str]) -> dict[str, Any]:
    details = {"emailDomains": domains, **_DEFAULTS, **row.details}
    billed = {"billing": _FREE_BILLING} if is_role_at_least(row.role, "admin") else {}
    return _serialize_organization(request, row, row.role, details | billed)


def _serialize_organization(
    request: Request, row: sa.Row[Any], role: str | None, details: Mapping[str, Any]
) -> dict[str, Any]:
    urls = {
        "location": addresses.build_api_url(request, f"/orgs/{row.id}"),
        "app": addresses.build_app_url(request, f"/o/{row.id}"),
        **({"logo": details["logo"]} if "logo" in details else {}),
    }
    return {
        "object": "organization",
        "id": row.id,
        "title": row.title,
        "createdAt": row.created_at,
        **({} if row.hostname is None else {"hostname": row.hostname}),
        **{name: value for name, value in details.items() if name != "logo"},
        "urls": urls,
        "permissions": {
            **dict.fromkeys(_EVERYBODY, is_role_at_least(role, "read")),
            **dict.fromkeys(_CREATORS, is_role_at_least(role, "create")),
            **dict.fromkeys(_ADMINS, is_role_at_least(role, "admin")),
        },
    }
