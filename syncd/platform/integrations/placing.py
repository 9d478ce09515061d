"""Installations in single spaces and sites: which of them an integration reaches, and how it is configured there.

An installation that selects all spaces (or sites) of its organization is in each of them; one that selects some is
where it was put. What is configured for one place is kept for it either way.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from fastapi import Response
from fastapi.responses import JSONResponse

from syncd.model.installation import (
    PlacementUpdate,
    SiteInstallation,
    SiteInstallationCreate,
    SpaceInstallation,
    SpaceInstallationCreate,
)
from syncd.model.listing import Listing
from syncd.platform.http import addresses, answers
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.failures import Failure
from syncd.platform.http.listing import Paging
from syncd.platform.http.routing import create_router
from syncd.platform.integrations.access import AtIntegration, IntegrationRequest
from syncd.platform.integrations.configuration import complete_configuration, compute_status, replace_external_ids
from syncd.platform.integrations.events import EventTarget, hide_secret, insert_event
from syncd.platform.integrations.installations import ExternalId
from syncd.platform.people.auth import declare_role
from syncd.platform.schema.content import spaces
from syncd.platform.schema.integrations import external_ids, installations, placements
from syncd.platform.schema.site_tables import sites
from syncd.platform.spaces.spaces import select_readable_spaces, serialize_space

router = create_router(prefix="/integrations/{integration_name}", tags=["integrations"])

_ONE = "/installations/{installation_id}"


@dataclass(frozen=True)
class PlacementKind:
    """Where an installation can be put: the table of such places, and what says which of them it reaches."""

    name: str
    table: sa.Table
    column: sa.ColumnElement[str]
    selection: sa.ColumnElement[str]

    def select_placements(self) -> sa.Select[Any]:
        """Return the query for every place that some installation reaches, with both."""
        own = sa.and_(placements.c.installation == installations.c.id, self.column == self.table.c.id)
        living = (self.table.c.deleted_at.is_(None),) if "deleted_at" in self.table.c else ()
        return (
            sa.select(
                installations.c.id,
                installations.c.integration,
                installations.c.configuration.label("above"),
                installations.c.status.label("status_above"),
                self.table.c.id.label("place"),
                placements.c.id.label("placement"),
                placements.c.status,
                placements.c.configuration,
                placements.c.external_ids,
            )
            .join(self.table, self.table.c.organization == installations.c.organization)
            .outerjoin(placements, own)
            .where(sa.or_(placements.c.id.is_not(None), self.selection == "all"), *living)
        )


SPACE = PlacementKind("space", spaces, placements.c.space, installations.c.space_selection)
SITE = PlacementKind("site", sites, placements.c.site, installations.c.site_selection)


class SpaceInstallationNew(RequestBody, SpaceInstallationCreate):
    """Body of `POST …/installations/{installationId}/spaces`."""


class SiteInstallationNew(RequestBody, SiteInstallationCreate):
    """Body of `POST …/installations/{installationId}/sites`."""


class PlacementChange(RequestBody, PlacementUpdate):
    """Body of `PATCH …/spaces/{spaceId}` and `…/sites/{siteId}`."""


@router.get("/spaces", response_model=Listing[SpaceInstallation], openapi_extra=declare_role("admin"))
def list_integration_space_installations(
    at: AtIntegration, paging: Paging, external_id: ExternalId = None, extended: bool = False
) -> JSONResponse:
    """List every space in which an integration is installed, in all organizations, for its owners.

    Shape: `extended` shows each space in place of its id, where the caller may see it.
    """
    with at.storage.read() as connection:
        at.require_owned(connection)
        envelope = _page_placements(connection, paging, SPACE, at.name, external_id=external_id)
        items = [_serialize_placement(at, SPACE, row) for row in envelope["items"]]
        if extended:
            there = select_readable_spaces(at.caller, spaces.c.id.in_({item["space"] for item in items}))
            whole = {row.id: serialize_space(at.request, row, at.caller) for row in connection.execute(there)}
            items = [item | {"space": whole.get(item["space"], item["space"])} for item in items]
    return answers.ok(envelope | {"items": items})


@router.get("/sites", response_model=Listing[SiteInstallation], openapi_extra=declare_role("admin", extension=True))
def list_integration_site_installations(
    at: AtIntegration, paging: Paging, external_id: ExternalId = None
) -> JSONResponse:
    """List every site in which an integration is installed, in all organizations, for its owners."""
    with at.storage.read() as connection:
        at.require_owned(connection)
        envelope = _page_placements(connection, paging, SITE, at.name, external_id=external_id)
    return answers.ok(envelope | {"items": [_serialize_placement(at, SITE, row) for row in envelope["items"]]})


@router.get(
    f"{_ONE}/spaces", response_model=Listing[SpaceInstallation], openapi_extra=declare_role("admin", extension=True)
)
def list_integration_installation_spaces(at: AtIntegration, paging: Paging, installation_id: str) -> JSONResponse:
    """List the spaces of an installation."""
    return _list_placements(at, paging, SPACE, installation_id)


@router.post(
    f"{_ONE}/spaces",
    response_model=SpaceInstallation,
    status_code=201,
    openapi_extra=declare_role("admin", extension=True),
)
def install_integration_on_space(at: AtIntegration, installation_id: str, body: SpaceInstallationNew) -> JSONResponse:
    """Add a space of the organization to an installation."""
    return _create_placement(at, SPACE, installation_id, body.space, body)


@router.get(
    f"{_ONE}/spaces/{{space_id}}", response_model=SpaceInstallation, openapi_extra=declare_role("admin", extension=True)
)
def get_integration_space_installation(at: AtIntegration, installation_id: str, space_id: str) -> JSONResponse:
    """Return the status and configuration of an installation in a space."""
    return _read_placement(at, SPACE, installation_id, space_id)


@router.patch(
    f"{_ONE}/spaces/{{space_id}}", response_model=SpaceInstallation, openapi_extra=declare_role("admin", extension=True)
)
def update_integration_space_installation(
    at: AtIntegration, installation_id: str, space_id: str, body: PlacementChange
) -> JSONResponse:
    """Change the status or configuration of an installation in a space, and return both."""
    return _update_placement(at, SPACE, installation_id, space_id, body)


@router.delete(f"{_ONE}/spaces/{{space_id}}", status_code=204, openapi_extra=declare_role("admin", extension=True))
def uninstall_integration_from_space(at: AtIntegration, installation_id: str, space_id: str) -> Response:
    """Remove a space from an installation; one that selects all spaces keeps it."""
    return _delete_placement(at, SPACE, installation_id, space_id)


@router.get(
    f"{_ONE}/sites", response_model=Listing[SiteInstallation], openapi_extra=declare_role("admin", extension=True)
)
def list_integration_installation_sites(at: AtIntegration, paging: Paging, installation_id: str) -> JSONResponse:
    """List the sites of an installation."""
    return _list_placements(at, paging, SITE, installation_id)


@router.post(
    f"{_ONE}/sites",
    response_model=SiteInstallation,
    status_code=201,
    openapi_extra=declare_role("admin", extension=True),
)
def install_integration_on_site(at: AtIntegration, installation_id: str, body: SiteInstallationNew) -> JSONResponse:
    """Add a site of the organization to an installation."""
    return _create_placement(at, SITE, installation_id, body.site_id, body)


@router.get(
    f"{_ONE}/sites/{{site_id}}", response_model=SiteInstallation, openapi_extra=declare_role("admin", extension=True)
)
def get_integration_site_installation(at: AtIntegration, installation_id: str, site_id: str) -> JSONResponse:
    """Return the status and configuration of an installation in a site."""
    return _read_placement(at, SITE, installation_id, site_id)


@router.patch(
    f"{_ONE}/sites/{{site_id}}", response_model=SiteInstallation, openapi_extra=declare_role("admin", extension=True)
)
def update_integration_site_installation(
    at: AtIntegration, installation_id: str, site_id: str, body: PlacementChange
) -> JSONResponse:
    """Change the status or configuration of an installation in a site, and return both."""
    return _update_placement(at, SITE, installation_id, site_id, body)


@router.delete(f"{_ONE}/sites/{{site_id}}", status_code=204, openapi_extra=declare_role("admin", extension=True))
def uninstall_integration_from_site(at: AtIntegration, installation_id: str, site_id: str) -> Response:
    """Remove a site from an installation; one that selects all sites keeps it."""
    return _delete_placement(at, SITE, installation_id, site_id)


def _list_placements(at: IntegrationRequest, paging: Paging, kind: PlacementKind, installation_id: str) -> JSONResponse:
    with at.storage.read() as connection:
        at.require_installation(connection, installation_id)
        envelope = _page_placements(connection, paging, kind, at.name, installation=installation_id)
    return answers.ok(envelope | {"items": [_serialize_placement(at, kind, row) for row in envelope["items"]]})


def _create_placement(
    at: IntegrationRequest,
    kind: PlacementKind,
    installation_id: str,
    place: str,
    body: SpaceInstallationNew | SiteInstallationNew,
) -> JSONResponse:
    with at.storage.write() as connection:
        installation = at.require_installation(connection, installation_id)
        _require_target(connection, kind, installation, place)
        former = _find_placement(connection, kind, installation_id, place)
        if former is None:
            at.require_installer(installation)
        elif former.placement is not None:
            raise Failure(409, f"Installation {installation_id} is in {kind.name} {place} already.")
        _save_placement(at, connection, kind, installation, place, former=None, body=body)
        shown = _serialize_placement(at, kind, _require_placement(connection, kind, installation_id, place))
    return answers.created_resource(shown, location=shown["urls"]["location"])


def _read_placement(at: IntegrationRequest, kind: PlacementKind, installation_id: str, place: str) -> JSONResponse:
    with at.storage.read() as connection:
        at.require_installation(connection, installation_id)
        return answers.ok(_serialize_placement(at, kind, _require_placement(connection, kind, installation_id, place)))


def _update_placement(
    at: IntegrationRequest, kind: PlacementKind, installation_id: str, place: str, body: PlacementChange
) -> JSONResponse:
    with at.storage.write() as connection:
        installation = at.require_installation(connection, installation_id)
        former = _require_placement(connection, kind, installation_id, place)
        _save_placement(at, connection, kind, installation, place, former=former, body=body)
        return answers.ok(_serialize_placement(at, kind, _require_placement(connection, kind, installation_id, place)))


def _delete_placement(at: IntegrationRequest, kind: PlacementKind, installation_id: str, place: str) -> Response:
    with at.storage.write() as connection:
        at.require_installation(connection, installation_id)
        row = _find_placement(connection, kind, installation_id, place)
        if row is not None and row.placement is not None:
            connection.execute(placements.delete().where(placements.c.id == row.placement))
            previous = {"status": row.status, "configuration": hide_secret(row.configuration)}
            _record_change(at, connection, kind, row, "deleted", {"previous": previous})
    return answers.no_content()


def _save_placement(
    at: IntegrationRequest,
    connection: sa.Connection,
    kind: PlacementKind,
    installation: sa.Row[Any],
    place: str,
    *,
    former: sa.Row[Any] | None,
    body: SpaceInstallationNew | SiteInstallationNew | PlacementChange,
) -> None:
    """Keep what a body says of a place, and announce it when it changed."""
    known = former is not None and former.placement is not None
    id = former.placement if former is not None and known else at.storage.new_id()
    was = {"status": former.status, "configuration": former.configuration} if former is not None and known else {}
    wanted = body.configuration if "configuration" in body.model_fields_set else was.get("configuration", {})
    configuration, complete = complete_configuration(
        installation.details, kind.name, wanted, above=installation.configuration
    )
    status = compute_status(former="active", requested=None, complete=complete)
    values: dict[str, Any] = {"status": status, "configuration": configuration}
    if known:
        connection.execute(placements.update().where(placements.c.id == id).values(values))
    else:
        row = {"id": id, "installation": installation.id, kind.name: place, "external_ids": [], **values}
        connection.execute(placements.insert().values(row))
    if "external_ids" in body.model_fields_set:
        ids = replace_external_ids(connection, body.external_ids, installation=installation.id, placement=id)
        connection.execute(placements.update().where(placements.c.id == id).values(external_ids=ids))
    if values != was:
        now = _require_placement(connection, kind, installation.id, place)
        previous = {"previous": {**was, "configuration": hide_secret(was["configuration"])}} if was else {}
        _record_change(at, connection, kind, now, "setup", {"status": status, **previous})


def _record_change(
    at: IntegrationRequest,
    connection: sa.Connection,
    kind: PlacementKind,
    row: sa.Row[Any],
    what: str,
    members: Mapping[str, Any],
) -> None:
    target = EventTarget(at.name, row.id, {**row.above, **(row.configuration or {})})
    place = {f"{kind.name}Id": row.place}
    insert_event(connection, at.storage, target, f"{kind.name}_installation_{what}", {**place, **members})


def _page_placements(
    connection: sa.Connection,
    paging: Paging,
    kind: PlacementKind,
    integration: str,
    *,
    installation: str | None = None,
    external_id: str | None = None,
) -> dict[str, Any]:
    query = kind.select_placements().where(installations.c.integration == integration)
    if installation is not None:
        query = query.where(installations.c.id == installation)
    if external_id is not None:
        found = sa.select(external_ids.c.of).where(external_ids.c.value == external_id)
        query = query.where(placements.c.id.in_(found))
    return paging.paginate_rows(connection, query, installations.c.id, kind.table.c.id)


def _find_placement(
    connection: sa.Connection, kind: PlacementKind, installation: str, place: str
) -> sa.Row[Any] | None:
    query = kind.select_placements().where(installations.c.id == installation, kind.table.c.id == place)
    return connection.execute(query).one_or_none()


def _require_placement(connection: sa.Connection, kind: PlacementKind, installation: str, place: str) -> sa.Row[Any]:
    row = _find_placement(connection, kind, installation, place)
    if row is None:
        raise Failure(404, f"Installation {installation} is not in {kind.name} {place}.")
    return row


def _require_target(connection: sa.Connection, kind: PlacementKind, installation: sa.Row[Any], place: str) -> None:
    table = kind.table
    living = (table.c.deleted_at.is_(None),) if "deleted_at" in table.c else ()
    here = sa.select(table.c.id).where(table.c.id == place, table.c.organization == installation.organization, *living)
    if connection.scalar(here) is None:
        raise Failure(404, f"No {kind.name} {place} in the organization of installation {installation.id}.")


def _serialize_placement(at: IntegrationRequest, kind: PlacementKind, row: sa.Row[Any]) -> dict[str, Any]:
    return {
        "integration": row.integration,
        "installation": row.id,
        "status": row.status or row.status_above,
        "configuration": row.configuration or {},
        "externalIds": row.external_ids or [],
        "urls": {
            "location": at.build_url(f"/installations/{row.id}/{kind.name}s/{row.place}"),
            **addresses.build_endpoint_urls(at.request, row.integration, row.id, f"{kind.name}s/{row.place}"),
        },
        kind.name: row.place,
    }
