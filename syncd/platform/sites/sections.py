"""Sections: the parts of a site that visitors switch between, each with one or more site-spaces."""

from typing import Any

import sqlalchemy as sa
from fastapi import Response
from fastapi.responses import JSONResponse

from syncd.model.listing import Listing
from syncd.model.site import SectionMove, SiteSection, SiteSectionCreate, SiteSectionUpdate, StructurePlace
from syncd.platform.http import answers
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.failures import Failure
from syncd.platform.http.listing import Paging
from syncd.platform.http.routing import create_router
from syncd.platform.people.auth import declare_role
from syncd.platform.schema import site_tables
from syncd.platform.sites import order, site_content, site_spaces
from syncd.platform.sites.keys import ShareKey
from syncd.platform.sites.parts import Structure
from syncd.platform.sites.section_groups import require_group
from syncd.platform.sites.structure import (
    AtSite,
    SiteView,
    compute_next_position,
    find_free_path,
    require_capacity,
)

router = create_router(prefix="/orgs/{organization_id}/sites/{site_id}/sections", tags=["site-sections"])


class SectionNew(RequestBody, SiteSectionCreate):
    """Body of `POST …/sections`."""


class SectionChange(RequestBody, SiteSectionUpdate):
    """Body of `PATCH …/sections/{siteSectionId}`."""


class SectionMoved(RequestBody, SectionMove):
    """Body of `POST …/sections/{siteSectionId}/move`."""


@router.get("", response_model=Listing[SiteSection], openapi_extra=declare_role("read"))
def list_site_sections(at: AtSite, paging: Paging, share_key: ShareKey = None) -> JSONResponse:
    """List the sections of a site in its order, with their site-spaces."""
    with at.storage.read() as connection:
        view = at.open_view(connection, share_key)
        envelope = paging.paginate(view.structure.sections, key=view.structure.get_sort_key)
        return answers.ok(envelope | {"items": [view.serialize_section(row) for row in envelope["items"]]})


@router.post("", status_code=201, response_model=SiteSection, openapi_extra=declare_role("create"))
def add_section_to_site(at: AtSite, create: SectionNew) -> JSONResponse:
    """Add a section with a space to a site; its title is the space's unless another is given."""
    with at.storage.write() as connection:
        view = at.open_view(connection)
        if view.structure.site_spaces and not view.structure.sections:
            # A site has sections or site-spaces at its root, never both, and the document does not show what becomes
            # of the latter. The cautious choice: they move together into a first, default section, so that whatever
            # was published stays published at the same address.
            _wrap_root(view)
            view = at.open_view(connection)
        group = create.site_section_group_id if "site_section_group_id" in create.model_fields_set else None
        require_group(view.structure, group)
        title = create.title or _find_title(view, create.space_id)
        new_id = _insert_section(view, title=title, icon=create.icon, group=group)
        site_spaces.insert_site_space(view, section_id=new_id, space_id=create.space_id)
        section = _read_section(at.open_view(connection), new_id)
    return answers.created_resource(section, location=at.build_url(f"/sections/{new_id}"))


@router.patch("/{site_section_id}", response_model=SiteSection, openapi_extra=declare_role("create"))
def update_site_section_by_id(at: AtSite, site_section_id: str, update: SectionChange) -> JSONResponse:
    """Change the members of a section that the body sets, and return the section."""
    table = site_tables.sections
    with at.storage.write() as connection:
        view = at.open_view(connection)
        values = _build_changes(view.structure, _require_section(view, site_section_id), update)
        if values:
            connection.execute(table.update().where(table.c.id == site_section_id).values(values))
        return answers.ok(_read_section(at.open_view(connection), site_section_id))


@router.delete("/{site_section_id}", status_code=204, openapi_extra=declare_role("create"))
def delete_site_section_by_id(at: AtSite, site_section_id: str) -> Response:
    """Delete a section with its site-spaces; the spaces themselves stay."""
    table = site_tables.sections
    with at.storage.write() as connection:
        at.require_site(connection)
        connection.execute(table.delete().where(table.c.id == site_section_id, table.c.site == at.site_id))
    return answers.no_content()


@router.post(
    "/{site_section_id}/move", deprecated=True, response_model=SiteSection, openapi_extra=declare_role("create")
)
def move_site_section(at: AtSite, site_section_id: str, move: SectionMoved | None = None) -> JSONResponse:
    """Move a section between two siblings, or to the end when none is named, and return it."""
    position = (move or SectionMoved()).position
    places = {
        name: StructurePlace(type="site-section", id=getattr(position, name).site_section)
        for name in position.model_fields_set
    }
    with at.storage.write() as connection:
        view = at.open_view(connection)
        row = _require_section(view, site_section_id)
        order.move_row(view, row, before=places.get("before"), after=places.get("after"))
        return answers.ok(_read_section(at.open_view(connection), site_section_id))


def _wrap_root(view: SiteView) -> None:
    default = view.structure.find_default_variant(None)
    assert default is not None
    new_id = _insert_section(view, title=_find_title(view, default.space), icon=None, group=None)
    site_spaces_table, sections = site_tables.site_spaces, site_tables.sections
    view.connection.execute(
        site_spaces_table.update().where(site_spaces_table.c.site == view.at.site_id).values(section=new_id)
    )
    view.connection.execute(sections.update().where(sections.c.id == new_id).values(default_site_space=default.id))


def _insert_section(view: SiteView, *, title: str, icon: str | None, group: str | None) -> str:
    require_capacity(view.structure.sections, "sections")
    new_id = view.at.storage.new_id()
    row = {
        "id": new_id,
        "site": view.at.site_id,
        "section_group": group,
        "position": compute_next_position(view.structure.list_children(group)),
        "title": title,
        "path": find_free_path(title, {beside.path for beside in view.structure.sections}),
        "icon": icon,
    }
    view.connection.execute(site_tables.sections.insert().values(row))
    return new_id


def _find_title(view: SiteView, space_id: str) -> str:
    # A space's title may be shorter than the two characters that a section's needs.
    title = site_content.require_space_title(view.connection, view.at.caller, view.at.organization_id, space_id)
    return title if len(title) > 1 else "Section"


def _build_changes(structure: Structure, row: sa.Row[Any], update: SectionChange) -> dict[str, Any]:
    values = {name: getattr(update, name) for name in update.model_fields_set - {"site_section_group_id"}}
    beside = {other.path for other in structure.sections if other.id != row.id}
    if values.get("path") in beside:
        raise Failure(409, f"path: another section of this site has {values['path']}")
    chosen = values.get("default_site_space")
    if chosen is not None and chosen not in {variant.id for variant in structure.list_variants(row.id)}:
        raise Failure(400, f"defaultSiteSpace: section {row.id} has no site-space {chosen}")
    group = update.site_section_group_id
    if "site_section_group_id" in update.model_fields_set and group != row.section_group:
        require_group(structure, group)
        values |= {"section_group": group, "position": compute_next_position(structure.list_children(group))}
    return values


def _read_section(view: SiteView, site_section_id: str) -> dict[str, Any]:
    return view.serialize_section(_require_section(view, site_section_id))


def _require_section(view: SiteView, site_section_id: str) -> sa.Row[Any]:
    row = view.structure.find_section(site_section_id)
    if row is None:
        raise Failure(404, f"No section {site_section_id} in site {view.at.site_id}.")
    return row
