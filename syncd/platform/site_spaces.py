"""Site-spaces: the links between a site and the spaces that it publishes."""

from typing import Any

import sqlalchemy as sa
from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse
from pydantic import Field

from syncd.model.base import Declared
from syncd.model.site import SiteSpaceCreate
from syncd.platform import answers, schema, site_content
from syncd.platform.failures import Failure
from syncd.platform.listing import Paging
from syncd.platform.structure import AtSite, PathSegment, Structure, View, free_path, in_order, next_position

router = APIRouter(prefix="/orgs/{organization_id}/sites/{site_id}/site-spaces", tags=["site-spaces"])


class SiteSpaceUpdate(Declared):
    """Body of `PATCH …/site-spaces/{siteSpaceId}`: unset is unchanged, a null condition is removed."""

    path: PathSegment = ""
    condition: str | None = Field(default=None, max_length=1024)
    space_id: str = ""
    hidden: bool = False


@router.get("")
def list_site_spaces(at: AtSite, paging: Paging, default: bool | None = None) -> JSONResponse:
    """Given a site, return its site-spaces in its order; `default` keeps only the default ones, or only the others."""
    with at.storage.read() as connection:
        view = at.view(connection)
        every = view.structure.site_spaces
        rows = [row for row in every if default is None or view.structure.is_default(row) is default]
        envelope = paging.of(rows, key=in_order)
        return answers.ok(envelope | {"items": [view.site_space(row) for row in envelope["items"]]})


@router.post("", status_code=201)
def add_space_to_site(at: AtSite, create: SiteSpaceCreate) -> JSONResponse:
    """Given a space, link it to a site, in the section named, else the default section, else the root."""
    with at.storage.write() as connection:
        view = at.view(connection)
        made = insert(view, section_id=_section_for(view.structure, create.section_id), space_id=create.space_id)
        shown = _shown(at.view(connection), made)
    return answers.created(shown, location=at.location(f"/site-spaces/{made}"))


@router.patch("/{site_space_id}")
def update_site_space_by_id(at: AtSite, site_space_id: str, update: SiteSpaceUpdate) -> JSONResponse:
    """Given what to change, return the changed SiteSpace."""
    table = schema.site_spaces
    with at.storage.write() as connection:
        view = at.view(connection)
        values = _changes(view, _require(view, site_space_id), update)
        if values:
            connection.execute(table.update().where(table.c.id == site_space_id).values(values))
        return answers.ok(_shown(at.view(connection), site_space_id))


@router.delete("/{site_space_id}", status_code=204)
def delete_site_space_by_id(at: AtSite, site_space_id: str) -> Response:
    """Given an id, unlink that site-space. A section that it leaves empty stays: nobody asked to delete it."""
    table = schema.site_spaces
    with at.storage.write() as connection:
        at.require(connection)
        connection.execute(table.delete().where(table.c.id == site_space_id, table.c.site == at.site_id))
    return answers.nothing()


def insert(view: View, *, section_id: str | None, space_id: str) -> str:
    """Given a place in a site, link a space there, after its neighbours, and return the site-space's id.

    Raises: Failure 404 when the site's organization has no such space.
    """
    structure = view.structure
    title = site_content.require_space_title(view.connection, view.at.organization_id, space_id)
    made = view.at.storage.new_id()
    row = {
        "id": made,
        "site": structure.site.id,
        "section": section_id,
        "space": space_id,
        "position": next_position(structure.site_spaces),
        "path": free_path(title, {beside.path for beside in structure.variants(section_id)}),
        "hidden": False,
    }
    view.connection.execute(schema.site_spaces.insert().values(row))
    return made


def _section_for(structure: Structure, section_id: str | None) -> str | None:
    if section_id is None:
        default = structure.default_section()
        return None if default is None else str(default.id)
    if structure.section(section_id) is None:
        raise Failure(404, f"No section {section_id} in site {structure.site.id}.")
    return section_id


def _changes(view: View, row: sa.Row[Any], update: SiteSpaceUpdate) -> dict[str, Any]:
    names = {"path": "path", "condition": "condition", "space_id": "space", "hidden": "hidden"}
    values = {names[name]: getattr(update, name) for name in update.model_fields_set}
    if "space" in values:
        site_content.require_space_title(view.connection, view.at.organization_id, values["space"])
    beside = {other.path for other in view.structure.variants(row.section) if other.id != row.id}
    if values.get("path") in beside:
        raise Failure(409, f"path: another site-space beside this one has {values['path']}")
    return values


def _shown(view: View, site_space_id: str) -> dict[str, Any]:
    return view.site_space(_require(view, site_space_id))


def _require(view: View, site_space_id: str) -> sa.Row[Any]:
    row = view.structure.site_space(site_space_id)
    if row is None:
        raise Failure(404, f"No site-space {site_space_id} in site {view.at.site_id}.")
    return row
