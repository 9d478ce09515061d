"""SAML providers: the services with which the members of an organization sign in, as far as the API knows of it."""

from typing import Any

import sqlalchemy as sa
from fastapi import Response
from fastapi.responses import JSONResponse

from syncd.model.listing import Listing
from syncd.model.saml import SAMLProvider, SAMLProviderCreate, SAMLProviderUpdate, SSOLogins
from syncd.platform.http import addresses, answers
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.failures import Failure
from syncd.platform.http.listing import Paging
from syncd.platform.http.routing import create_router
from syncd.platform.people import teams
from syncd.platform.people.auth import declare_role
from syncd.platform.people.certificates import read_certificate
from syncd.platform.people.organizations import AtOrganization, OrganizationRequest, read_setting, require_member
from syncd.platform.people.saml_providers import find_active_providers, match_active_providers
from syncd.platform.schema.people import saml_providers
from syncd.platform.storage.times import format_time

router = create_router(prefix="/orgs/{organization_id}", tags=["sso"])

_TABLE = saml_providers
_COLUMNS = ("label", "entity_id", "sso_url", "default_role", "default_team")


class SAMLProviderNew(RequestBody, SAMLProviderCreate):
    """Body of `POST …/saml`."""


class SAMLProviderChange(RequestBody, SAMLProviderUpdate):
    """Body of `PATCH …/saml/{samlProviderId}`."""


@router.get(
    "/saml",
    operation_id="listSAMLProvidersInOrganizationById",
    response_model=Listing[SAMLProvider],
    openapi_extra=declare_role("admin"),
)
def list_saml_providers(at: AtOrganization, paging: Paging) -> JSONResponse:
    """List the SAML providers of an organization."""
    query = sa.select(_TABLE).where(_TABLE.c.organization == at.organization_id)
    with at.storage.read() as connection:
        at.require_organization(connection)
        envelope = paging.paginate_rows(connection, query, _TABLE.c.created_at, _TABLE.c.id)
        items = [_serialize_provider(connection, at, row) for row in envelope["items"]]
    return answers.ok(envelope | {"items": items})


@router.post(
    "/saml",
    operation_id="createOrganizationSAMLProvider",
    status_code=201,
    response_model=SAMLProvider,
    openapi_extra=declare_role("admin"),
)
def create_saml_provider(at: AtOrganization, body: SAMLProviderNew) -> JSONResponse:
    """Create a SAML provider, which is pending until it is complete, and return it."""
    id, now = at.storage.new_id(), format_time(at.storage.now())
    values = _build_values(at, body)
    with at.storage.write() as connection:
        at.require_organization(connection)
        _check_team(connection, at, values)
        connection.execute(_TABLE.insert().values(id=id, organization=at.organization_id, created_at=now, **values))
        new_provider = _read_provider(connection, at, id)
    return answers.created_resource(new_provider, location=new_provider["urls"]["location"])


@router.get(
    "/saml/{saml_provider_id}",
    operation_id="getOrganizationSAMLProviderById",
    response_model=SAMLProvider,
    openapi_extra=declare_role("admin"),
)
def get_saml_provider(at: AtOrganization, saml_provider_id: str) -> JSONResponse:
    """Return a SAML provider."""
    with at.storage.read() as connection:
        at.require_organization(connection)
        return answers.ok(_read_provider(connection, at, saml_provider_id))


@router.patch(
    "/saml/{saml_provider_id}",
    operation_id="updateOrganizationSAMLProvider",
    response_model=SAMLProvider,
    openapi_extra=declare_role("admin"),
)
def update_saml_provider(at: AtOrganization, saml_provider_id: str, body: SAMLProviderChange) -> JSONResponse:
    """Change the members of a SAML provider that the body sets, and return it."""
    values = _build_values(at, body)
    with at.storage.write() as connection:
        at.require_organization(connection)
        _require_provider(connection, at, saml_provider_id)
        _check_team(connection, at, values)
        if values:
            connection.execute(_TABLE.update().where(_TABLE.c.id == saml_provider_id).values(values))
        return answers.ok(_read_provider(connection, at, saml_provider_id))


@router.delete(
    "/saml/{saml_provider_id}",
    operation_id="deleteOrganizationSAMLProvider",
    status_code=204,
    openapi_extra=declare_role("admin"),
)
def delete_saml_provider(at: AtOrganization, saml_provider_id: str) -> Response:
    """Delete a SAML provider. Raises: Failure 409 for the last active one while SSO is enforced."""
    with at.storage.write() as connection:
        row = at.require_organization(connection)
        left = find_active_providers(connection, at.organization_id, format_time(at.storage.now()))
        if read_setting(row, "sso") and left == {saml_provider_id}:
            raise Failure(409, "Nobody could sign in any more. Turn the organization's `sso` off first.")
        mine = (_TABLE.c.id == saml_provider_id, _TABLE.c.organization == at.organization_id)
        connection.execute(_TABLE.delete().where(*mine))
    return answers.no_content()


@router.get(
    "/sso",
    operation_id="listSSOProviderLoginsInOrganization",
    response_model=SSOLogins,
    openapi_extra=declare_role("read"),
)
def list_sso_logins(at: AtOrganization) -> JSONResponse:
    """List the ways to sign in to an organization: its active SAML providers, by their labels."""
    query = sa.select(_TABLE).where(
        _TABLE.c.organization == at.organization_id, match_active_providers(format_time(at.storage.now()))
    )
    with at.storage.read() as connection:
        at.require_organization(connection)
        rows = connection.execute(query.order_by(_TABLE.c.label, _TABLE.c.id)).all()
    items = [
        {"id": row.id, "label": row.label, "startURL": _build_service_urls(at, row.id)["startURL"]} for row in rows
    ]
    return answers.ok({"items": items})


def _build_values(at: OrganizationRequest, body: SAMLProviderNew | SAMLProviderChange) -> dict[str, Any]:
    values = {name: getattr(body, name) for name in _COLUMNS if name in body.model_fields_set}
    if body.certificate is not None and "certificate" in body.model_fields_set:
        certificate = read_certificate(body.certificate, at.storage.now())
        values |= {"certificate": certificate.pem, "certificate_expires_at": format_time(certificate.expires_at)}
    return values


def _check_team(connection: sa.Connection, at: OrganizationRequest, values: dict[str, Any]) -> None:
    team_id = values.get("default_team")
    if team_id is not None and not teams.has_team(connection, at.organization_id, team_id):
        raise Failure(400, f"defaultTeam: no team {team_id} in this organization")


def _require_provider(connection: sa.Connection, at: OrganizationRequest, provider_id: str) -> sa.Row[Any]:
    mine = (_TABLE.c.id == provider_id, _TABLE.c.organization == at.organization_id)
    row = connection.execute(sa.select(_TABLE).where(*mine)).one_or_none()
    if row is None:
        raise Failure(404, f"No SAML provider {provider_id} in organization {at.organization_id}.")
    return row


def _read_provider(connection: sa.Connection, at: OrganizationRequest, provider_id: str) -> dict[str, Any]:
    return _serialize_provider(connection, at, _require_provider(connection, at, provider_id))


def _serialize_provider(connection: sa.Connection, at: OrganizationRequest, row: sa.Row[Any]) -> dict[str, Any]:
    now = format_time(at.storage.now())
    is_complete = row.sso_url and row.entity_id and row.certificate
    optional = {}
    if row.default_team is not None:
        role = require_member(connection, at.caller, at.organization_id).role
        optional["defaultTeam"] = teams.serialize_team(teams.require_team(connection, at, row.default_team), role)
    return {
        "object": "saml-provider",
        "id": row.id,
        "label": row.label,
        # Empty while a provider is pending for them: clients expect all three.
        "ssoURL": row.sso_url or "",
        "entityID": row.entity_id or "",
        "certificate": row.certificate or "",
        **optional,
        "defaultRole": row.default_role,
        "createdAt": row.created_at,
        "status": "active" if is_complete and row.certificate_expires_at > now else "pending",
        "service": _build_service_urls(at, row.id),
        "urls": {"location": at.build_url(f"/saml/{row.id}")},
    }


def _build_service_urls(at: OrganizationRequest, provider_id: str) -> dict[str, str]:
    here = addresses.build_app_url(at.request, f"/saml/{provider_id}")
    return {"acsURL": f"{here}/acs", "startURL": f"{here}/start", "entityID": here}
