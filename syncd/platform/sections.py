"""Sections: the parts of a site that visitors switch between, each with one or more site-spaces."""

from typing import Any

import sqlalchemy as sa
from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse
from pydantic import Field

from syncd.model.base import Declared
from syncd.model.site import SiteSectionCreate
from syncd.platform import answers, schema, site_content, site_spaces
from syncd.platform.failures import Failure
from syncd.platform.listing import Paging
from syncd.platform.structure import AtSite, PathSegment, Structure, View, free_path, in_order, next_position

router = APIRouter(prefix="/orgs/{organization_id}/sites/{site_id}/sections", tags=["site-sections"])


class SiteSectionUpdate(Declared):
    """Body of `PATCH …/sections/{siteSectionId}`: unset is unchanged; null removes what may be absent."""

    title: str = Field(default="", min_length=2, max_length=128)
    path: PathSegment = ""
    default_site_space: str = ""
    condition: str | None = Field(default=None, max_length=1024)
    icon: str | None = Field(default=None, max_length=50)
    description: str | None = Field(default=None, max_length=256)


@router.get("")
def list_site_sections(at: AtSite, paging: Paging) -> JSONResponse:
    """Given a site, return its sections in its order, with their site-spaces."""
    with at.storage.read() as connection:
        view = at.view(connection)
        envelope = paging.of(view.structure.sections, key=in_order)
        return answers.ok(envelope | {"items": [view.section(row) for row in envelope["items"]]})


@router.post("", status_code=201)
def add_section_to_site(at: AtSite, create: SiteSectionCreate) -> JSONResponse:
    """Given a space, add a section with it; its title is the space's unless another is given."""
    with at.storage.write() as connection:
        view = at.view(connection)
        if view.structure.site_spaces and not view.structure.sections:
            # A site has sections or site-spaces at its root, never both, and the document does not show what becomes
            # of the latter. The cautious choice: they move together into a first, default section, so that whatever
            # was published stays published at the same address.
            _wrap_root(view)
            view = at.view(connection)
        made = _insert(view, title=create.title or _title_of(view, create.space_id), icon=create.icon)
        site_spaces.insert(view, section_id=made, space_id=create.space_id)
        shown = _shown(at.view(connection), made)
    return answers.created(shown, location=at.location(f"/sections/{made}"))


@router.patch("/{site_section_id}")
def update_site_section_by_id(at: AtSite, site_section_id: str, update: SiteSectionUpdate) -> JSONResponse:
    """Given what to change, return the changed SiteSection."""
    table = schema.sections
    with at.storage.write() as connection:
        view = at.view(connection)
        values = _changes(view.structure, _require(view, site_section_id), update)
        if values:
            connection.execute(table.update().where(table.c.id == site_section_id).values(values))
        return answers.ok(_shown(at.view(connection), site_section_id))


@router.delete("/{site_section_id}", status_code=204)
def delete_site_section_by_id(at: AtSite, site_section_id: str) -> Response:
    """Given an id, delete that section with its site-spaces; the spaces themselves stay."""
    table = schema.sections
    with at.storage.write() as connection:
        at.require(connection)
        connection.execute(table.delete().where(table.c.id == site_section_id, table.c.site == at.site_id))
    return answers.nothing()


def _wrap_root(view: View) -> None:
    default = view.structure.default_variant(None)
    assert default is not None
    made = _insert(view, title=_title_of(view, default.space), icon=None)
    held, sections = schema.site_spaces, schema.sections
    view.connection.execute(held.update().where(held.c.site == view.at.site_id).values(section=made))
    view.connection.execute(sections.update().where(sections.c.id == made).values(default_site_space=default.id))


def _insert(view: View, *, title: str, icon: str | None) -> str:
    made = view.at.storage.new_id()
    row = {
        "id": made,
        "site": view.at.site_id,
        "position": next_position(view.structure.sections),
        "title": title,
        "path": free_path(title, {beside.path for beside in view.structure.sections}),
        "icon": icon,
    }
    view.connection.execute(schema.sections.insert().values(row))
    return made


def _title_of(view: View, space_id: str) -> str:
    # A space's title may be shorter than the two characters that a section's needs.
    title = site_content.require_space_title(view.connection, view.at.organization_id, space_id)
    return title if len(title) > 1 else "Section"


def _changes(structure: Structure, row: sa.Row[Any], update: SiteSectionUpdate) -> dict[str, Any]:
    values = {name: getattr(update, name) for name in update.model_fields_set}
    beside = {other.path for other in structure.sections if other.id != row.id}
    if values.get("path") in beside:
        raise Failure(409, f"path: another section of this site has {values['path']}")
    chosen = values.get("default_site_space")
    if chosen is not None and chosen not in {variant.id for variant in structure.variants(row.id)}:
        raise Failure(400, f"defaultSiteSpace: section {row.id} has no site-space {chosen}")
    return values


def _shown(view: View, site_section_id: str) -> dict[str, Any]:
    return view.section(_require(view, site_section_id))


def _require(view: View, site_section_id: str) -> sa.Row[Any]:
    row = view.structure.section(site_section_id)
    if row is None:
        raise Failure(404, f"No section {site_section_id} in site {view.at.site_id}.")
    return row
