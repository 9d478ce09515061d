"""Site-spaces: the links between a site and the spaces that it publishes."""

from typing import Any

import sqlalchemy as sa
from fastapi import Response
from fastapi.responses import JSONResponse

from syncd.model.listing import Listing
from syncd.model.site import SiteSpace, SiteSpaceCreate, SiteSpaceMove, SiteSpaceUpdate, StructurePlace
from syncd.platform.http import answers
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.failures import Failure
from syncd.platform.http.listing import Paging
from syncd.platform.http.routing import create_router
from syncd.platform.people.auth import declare_role
from syncd.platform.schema import site_tables
from syncd.platform.sites import order, site_content
from syncd.platform.sites.keys import ShareKey
from syncd.platform.sites.parts import Structure
from syncd.platform.sites.structure import (
    AtSite,
    SiteView,
    compute_next_position,
    find_free_path,
    require_capacity,
)

router = create_router(prefix="/orgs/{organization_id}/sites/{site_id}/site-spaces", tags=["site-spaces"])


class SiteSpaceNew(RequestBody, SiteSpaceCreate):
    """Body of `POST …/site-spaces`."""


class SiteSpaceChange(RequestBody, SiteSpaceUpdate):
    """Body of `PATCH …/site-spaces/{siteSpaceId}`."""


class SiteSpaceMoved(RequestBody, SiteSpaceMove):
    """Body of `POST …/site-spaces/{siteSpaceId}/move`."""


@router.get("", response_model=Listing[SiteSpace], openapi_extra=declare_role("read"))
def list_site_spaces(
    at: AtSite, paging: Paging, default: bool | None = None, share_key: ShareKey = None
) -> JSONResponse:
    """List the site-spaces of a site in its order; `default` keeps only the default ones, or only the others."""
    with at.storage.read() as connection:
        view = at.open_view(connection, share_key)
        every = view.structure.site_spaces
        rows = [row for row in every if default is None or view.structure.is_default(row) is default]
        envelope = paging.paginate(rows, key=view.structure.get_sort_key)
        return answers.ok(envelope | {"items": [view.serialize_site_space(row) for row in envelope["items"]]})


@router.post("", status_code=201, response_model=SiteSpace, openapi_extra=declare_role("create"))
def add_space_to_site(at: AtSite, create: SiteSpaceNew) -> JSONResponse:
    """Add a space to a site: to the section that is named, else the default section, else the root."""
    with at.storage.write() as connection:
        view = at.open_view(connection)
        section_id = create.section_id if "section_id" in create.model_fields_set else None
        new_id = insert_site_space(
            view, section_id=_choose_section(view.structure, section_id), space_id=create.space_id
        )
        shown = _read_site_space(at.open_view(connection), new_id)
    return answers.created_resource(shown, location=at.build_url(f"/site-spaces/{new_id}"))


@router.patch("/{site_space_id}", response_model=SiteSpace, openapi_extra=declare_role("create"))
def update_site_space_by_id(at: AtSite, site_space_id: str, update: SiteSpaceChange) -> JSONResponse:
    """Change the members of a site-space that the body sets, and return it."""
    table = site_tables.site_spaces
    with at.storage.write() as connection:
        view = at.open_view(connection)
        values = _build_changes(view, require_site_space(view, site_space_id), update)
        if values:
            connection.execute(table.update().where(table.c.id == site_space_id).values(values))
        return answers.ok(_read_site_space(at.open_view(connection), site_space_id))


@router.delete("/{site_space_id}", status_code=204, openapi_extra=declare_role("create"))
def delete_site_space_by_id(at: AtSite, site_space_id: str) -> Response:
    """Remove a site-space from its site. A section that becomes empty stays: nobody asked to delete it."""
    table = site_tables.site_spaces
    with at.storage.write() as connection:
        at.require_site(connection)
        connection.execute(table.delete().where(table.c.id == site_space_id, table.c.site == at.site_id))
    return answers.no_content()


@router.post("/{site_space_id}/move", deprecated=True, response_model=SiteSpace, openapi_extra=declare_role("create"))
def move_site_space(at: AtSite, site_space_id: str, move: SiteSpaceMoved | None = None) -> JSONResponse:
    """Move a site-space between two siblings, or to the end when none is named, and return it."""
    position = (move or SiteSpaceMoved()).position
    places = {
        name: StructurePlace(type="site-space", id=getattr(position, name).site_space)
        for name in position.model_fields_set
    }
    with at.storage.write() as connection:
        view = at.open_view(connection)
        row = require_site_space(view, site_space_id)
        order.move_row(view, row, before=places.get("before"), after=places.get("after"))
        return answers.ok(_read_site_space(at.open_view(connection), site_space_id))


def insert_site_space(view: SiteView, *, section_id: str | None, space_id: str) -> str:
    """Add a space at the end of a section, or of the site's root, and return the site-space's id.

    Raises: Failure 404 when the site's organization has no such space.
    """
    structure = view.structure
    require_capacity(structure.site_spaces, "site-spaces")
    title = site_content.require_space_title(view.connection, view.at.caller, view.at.organization_id, space_id)
    new_id = view.at.storage.new_id()
    row = {
        "id": new_id,
        "site": structure.site.id,
        "section": section_id,
        "space": space_id,
        "position": compute_next_position(structure.list_variants(section_id)),
        "path": find_free_path(title, {beside.path for beside in structure.list_variants(section_id)}),
        "hidden": False,
    }
    view.connection.execute(site_tables.site_spaces.insert().values(row))
    return new_id


def _choose_section(structure: Structure, section_id: str | None) -> str | None:
    if section_id is None:
        default = structure.find_default_section()
        return None if default is None else str(default.id)
    if structure.find_section(section_id) is None:
        raise Failure(404, f"No section {section_id} in site {structure.site.id}.")
    return section_id


def _build_changes(view: SiteView, row: sa.Row[Any], update: SiteSpaceChange) -> dict[str, Any]:
    names = {"path": "path", "condition": "condition", "space_id": "space", "hidden": "hidden"}
    values = {names[name]: getattr(update, name) for name in update.model_fields_set}
    if "space" in values:
        site_content.require_space_title(view.connection, view.at.caller, view.at.organization_id, values["space"])
    beside = {other.path for other in view.structure.list_variants(row.section) if other.id != row.id}
    if values.get("path") in beside:
        raise Failure(409, f"path: another site-space beside this one has {values['path']}")
    return values


def _read_site_space(view: SiteView, site_space_id: str) -> dict[str, Any]:
    return view.serialize_site_space(require_site_space(view, site_space_id))


def require_site_space(view: SiteView, site_space_id: str) -> sa.Row[Any]:
    """Return the row of a site-space. Raises: Failure 404 when the site has none with this id."""
    row = view.structure.find_site_space(site_space_id)
    if row is None:
        raise Failure(404, f"No site-space {site_space_id} in site {view.at.site_id}.")
    return row
