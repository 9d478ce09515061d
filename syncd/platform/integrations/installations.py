"""Installations: an integration in an organization, once in each, with what it is configured to do there."""

from typing import Annotated, Any

import sqlalchemy as sa
from fastapi import Query, Request, Response
from fastapi.responses import JSONResponse

from syncd.model.installation import Installation, InstallationCreate, InstallationUpdate
from syncd.model.listing import Listing
from syncd.platform.http import addresses, answers
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.failures import Failure
from syncd.platform.http.listing import Paging
from syncd.platform.http.routing import create_router
from syncd.platform.integrations.access import AtIntegration, find_integration
from syncd.platform.integrations.configuration import complete_configuration, compute_status, replace_external_ids
from syncd.platform.integrations.events import EventTarget, hide_secret, insert_event
from syncd.platform.people.auth import declare_role
from syncd.platform.people.organizations import AtOrganization, require_organization
from syncd.platform.schema.content import spaces
from syncd.platform.schema.integrations import external_ids, installations, placements
from syncd.platform.storage.storage import Storage
from syncd.platform.storage.times import format_time

router = create_router(tags=["integrations"])

_TABLE = installations
_PREFIX = "/integrations/{integration_name}/installations"
_ONE = _PREFIX + "/{installation_id}"

_LIVING = sa.select(sa.func.count()).select_from(spaces).where(spaces.c.deleted_at.is_(None)).correlate(_TABLE)
_EVERYWHERE = _LIVING.where(spaces.c.organization == _TABLE.c.organization)
_CHOSEN = _LIVING.where(
    spaces.c.id.in_(sa.select(placements.c.space).where(placements.c.installation == _TABLE.c.id).correlate(_TABLE))
)
_COUNTED = sa.select(
    _TABLE,
    sa.case((_TABLE.c.space_selection == "all", _EVERYWHERE.scalar_subquery()), else_=_CHOSEN.scalar_subquery()).label(
        "spaces"
    ),
)

ExternalId = Annotated[str | None, Query(alias="externalId", max_length=255)]
"""A handler's parameter for the filter of that name."""


class InstallationNew(RequestBody, InstallationCreate):
    """Body of `POST …/installations`."""


class InstallationChange(RequestBody, InstallationUpdate):
    """Body of `PATCH …/installations/{installationId}`."""


@router.get(_PREFIX, response_model=Listing[Installation], openapi_extra=declare_role("admin"))
def list_integration_installations(at: AtIntegration, paging: Paging, external_id: ExternalId = None) -> JSONResponse:
    """List the installations of an integration in all organizations, oldest first, for its owners."""
    query = _COUNTED.where(_TABLE.c.integration == at.name)
    if external_id is not None:
        found = sa.select(external_ids.c.of).where(external_ids.c.value == external_id)
        query = query.where(_TABLE.c.id.in_(found))
    with at.storage.read() as connection:
        at.require_owned(connection)
        envelope = paging.paginate_rows(connection, query, _TABLE.c.created_at, _TABLE.c.id)
    return answers.ok(envelope | {"items": [_serialize_installation(at.request, row) for row in envelope["items"]]})


@router.post(_PREFIX, response_model=Installation, status_code=201, openapi_extra=declare_role("admin"))
def install_integration(at: AtIntegration, body: InstallationNew) -> JSONResponse:
    """Install an integration in an organization, at first in none of its spaces and sites.

    It is pending while its configuration lacks something that the integration requires.
    Raises: Failure 404 for an unknown organization, 403 for a private integration of another one, 409 when it is
    installed there already.
    """
    id, now = at.storage.new_id(), format_time(at.storage.now())
    with at.storage.write() as connection:
        integration = at.require_visible(connection)
        organization = require_organization(connection, at.caller, body.organization).id
        if integration.visibility == "private" and integration.owner != organization:
            raise Failure(403, f"Integration {at.name} is private to the organization that owns it.")
        there = sa.select(_TABLE.c.id).where(_TABLE.c.integration == at.name, _TABLE.c.organization == organization)
        if former := connection.scalar(there):
            raise Failure(409, f"Integration {at.name} is installed there as {former}. Change that installation.")
        configuration, complete = complete_configuration(integration.details, "account", {})
        row = {"id": id, "integration": at.name, "organization": organization, "external_ids": []}
        row |= {
            "status": compute_status(former="active", requested=None, complete=complete),
            "configuration": configuration,
        }
        # The least that it can be given: the document shows `all` as a value, not as the default.
        row |= {"space_selection": "selected", "site_selection": "selected", "created_at": now, "updated_at": now}
        connection.execute(_TABLE.insert().values(row))
        _record_setup(at.storage, connection, id, {"status": row["status"]})
        shown = _read_installation(at.request, connection, id)
    return answers.created_resource(shown, location=shown["urls"]["location"])


@router.get(_ONE, response_model=Installation, openapi_extra=declare_role("admin", extension=True))
def get_integration_installation_by_id(at: AtIntegration, installation_id: str) -> JSONResponse:
    """Return an installation."""
    with at.storage.read() as connection:
        return answers.ok(
            _read_installation(at.request, connection, at.require_installation(connection, installation_id).id)
        )


@router.patch(_ONE, response_model=Installation, openapi_extra=declare_role("admin", extension=True))
def update_integration_installation(at: AtIntegration, installation_id: str, body: InstallationChange) -> JSONResponse:
    """Change the members of an installation that the body sets, and return it.

    It becomes active once its configuration is complete.
    """
    sent = body.model_fields_set
    with at.storage.write() as connection:
        row = at.require_installation(connection, installation_id)
        values: dict[str, Any] = {
            name: getattr(body, name) for name in ("space_selection", "site_selection") if name in sent
        }
        if any(getattr(row, name) != value for name, value in values.items()):
            at.require_installer(row)
        wanted = body.configuration if "configuration" in sent else row.configuration
        # What was sound under an earlier version of the integration is looked at again only when it is sent again.
        if "configuration" in sent or row.status == "pending":
            values["configuration"], complete = complete_configuration(row.details, "account", wanted)
        else:
            complete = True
        values["status"] = compute_status(
            former=row.status, requested=body.status if "status" in sent else None, complete=complete
        )
        if "external_ids" in sent:
            values["external_ids"] = replace_external_ids(connection, body.external_ids, installation=row.id)
        connection.execute(
            _TABLE.update().where(_TABLE.c.id == row.id).values(updated_at=format_time(at.storage.now()), **values)
        )
        if (values["status"], values.get("configuration", row.configuration)) != (row.status, row.configuration):
            previous = {"status": row.status, "configuration": hide_secret(row.configuration)}
            _record_setup(at.storage, connection, row.id, {"status": values["status"], "previous": previous})
        return answers.ok(_read_installation(at.request, connection, row.id))


@router.delete(_ONE, status_code=204, openapi_extra=declare_role("admin", extension=True))
def uninstall_integration(at: AtIntegration, installation_id: str) -> Response:
    """Remove an installation, also from all spaces and sites. Raises: Failure 404 when there is no such integration."""
    with at.storage.write() as connection:
        if find_integration(connection, at.name) is None:
            raise Failure(404, f"No integration {at.name}.")
        row = at.find_installation(connection, installation_id)
        if row is not None:
            target = EventTarget(at.name, row.id, row.configuration)
            previous = {"status": row.status, "configuration": hide_secret(row.configuration)}
            insert_event(connection, at.storage, target, "installation_deleted", {"previous": previous})
            connection.execute(_TABLE.delete().where(_TABLE.c.id == row.id))
    return answers.no_content()


@router.get(
    "/orgs/{organization_id}/installations",
    response_model=Listing[Installation],
    openapi_extra=declare_role("admin", extension=True),
)
def list_organization_installations(at: AtOrganization, paging: Paging) -> JSONResponse:
    """List what is installed in an organization, oldest first."""
    query = _COUNTED.where(_TABLE.c.organization == at.organization_id)
    with at.storage.read() as connection:
        at.require_organization(connection)
        envelope = paging.paginate_rows(connection, query, _TABLE.c.created_at, _TABLE.c.id)
    return answers.ok(envelope | {"items": [_serialize_installation(at.request, row) for row in envelope["items"]]})


def _record_setup(storage: Storage, connection: sa.Connection, id: str, members: dict[str, Any]) -> None:
    row = connection.execute(sa.select(_TABLE).where(_TABLE.c.id == id)).one()
    target = EventTarget(row.integration, row.id, row.configuration)
    insert_event(connection, storage, target, "installation_setup", members)


def _read_installation(request: Request, connection: sa.Connection, id: str) -> dict[str, Any]:
    return _serialize_installation(request, connection.execute(_COUNTED.where(_TABLE.c.id == id)).one())


def _serialize_installation(request: Request, row: sa.Row[Any]) -> dict[str, Any]:
    return {
        "id": row.id,
        "status": row.status,
        "space_selection": row.space_selection,
        "site_selection": row.site_selection,
        "spaces": row.spaces,
        "configuration": row.configuration,
        "createdAt": row.created_at,
        "updatedAt": row.updated_at,
        "urls": {
            "location": addresses.build_api_url(request, f"/integrations/{row.integration}/installations/{row.id}"),
            "app": addresses.build_app_url(request, f"/o/{row.organization}/integrations/{row.integration}"),
            **addresses.build_endpoint_urls(request, row.integration, row.id),
        },
        "externalIds": row.external_ids,
        "target": {"organization": row.organization},
    }
