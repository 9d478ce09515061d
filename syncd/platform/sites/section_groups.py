"""Section groups: sections under one title, with groups among them."""

from typing import Any

import sqlalchemy as sa
from fastapi import Response
from fastapi.responses import JSONResponse

from syncd.model.listing import Listing
from syncd.model.site import GroupMove, SectionInGroup, SiteSectionGroup, SiteSectionGroupCreate, SiteSectionGroupUpdate
from syncd.platform.http import answers
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.failures import Failure
from syncd.platform.http.listing import Paging
from syncd.platform.http.routing import create_router
from syncd.platform.people.auth import declare_role
from syncd.platform.schema import site_tables
from syncd.platform.sites import order
from syncd.platform.sites.parts import Structure
from syncd.platform.sites.structure import (
    EXTENSION_DEPENDENCIES,
    GROUPS_DEPTH_MAX,
    AtSite,
    SiteView,
    compute_next_position,
    require_capacity,
)

router = create_router(prefix="/orgs/{organization_id}/sites/{site_id}/section-groups", tags=["site-section-groups"])


class GroupNew(RequestBody, SiteSectionGroupCreate):
    """Body of `POST …/section-groups`."""


class GroupChange(RequestBody, SiteSectionGroupUpdate):
    """Body of `PATCH …/section-groups/{siteSectionGroupId}`."""


class SectionToAdd(RequestBody, SectionInGroup):
    """Body of `POST …/section-groups/{siteSectionGroupId}/sections`."""


class GroupPosition(RequestBody, GroupMove):
    """Body of `POST …/section-groups/{siteSectionGroupId}/move`."""


@router.get("", response_model=Listing[SiteSectionGroup], openapi_extra=declare_role("read"))
def list_site_section_groups(at: AtSite, paging: Paging) -> JSONResponse:
    """List all section groups of a site in its order, nested ones too, each with what it holds."""
    with at.storage.read() as connection:
        view = at.open_view(connection)
        envelope = paging.paginate(view.structure.groups, key=view.structure.get_sort_key)
        return answers.ok(envelope | {"items": [view.serialize_group(row) for row in envelope["items"]]})


@router.post("", status_code=201, response_model=SiteSectionGroup, openapi_extra=declare_role("create"))
def add_section_group_to_site(at: AtSite, create: GroupNew) -> JSONResponse:
    """Add a section group at the end of the site or of its parent, and move the named sections into it."""
    with at.storage.write() as connection:
        view = at.open_view(connection)
        require_capacity(view.structure.groups, "section groups")
        parent = create.parent if "parent" in create.model_fields_set else None
        new_id = _insert_group(view, create, parent)
        for position, section_id in enumerate(dict.fromkeys(create.sections)):
            _require_section(view, section_id)
            _update_row(view, site_tables.sections, section_id, section_group=new_id, position=position)
        shown = _read_group(at.open_view(connection), new_id)
    return answers.created_resource(shown, location=at.build_url(f"/section-groups/{new_id}"))


@router.patch("/{site_section_group_id}", response_model=SiteSectionGroup, openapi_extra=declare_role("create"))
def update_site_section_group_by_id(at: AtSite, site_section_group_id: str, update: GroupChange) -> JSONResponse:
    """Change the members of a section group that the body sets, and return it; null removes its icon or parent."""
    with at.storage.write() as connection:
        view = at.open_view(connection)
        row = _require_group_row(view, site_section_group_id)
        values = {name: getattr(update, name) for name in update.model_fields_set & {"title", "icon"}}
        if "parent_section_group_id" in update.model_fields_set and update.parent_section_group_id != row.parent:
            parent = update.parent_section_group_id
            _require_allowed_parent(view.structure, parent, row)
            values |= {"parent": parent, "position": compute_next_position(view.structure.list_children(parent))}
        if values:
            _update_row(view, site_tables.section_groups, row.id, **values)
        return answers.ok(_read_group(at.open_view(connection), row.id))


@router.delete("/{site_section_group_id}", status_code=204, openapi_extra=declare_role("create"))
def delete_site_section_group_by_id(at: AtSite, site_section_group_id: str) -> Response:
    """Delete a section group; what it holds takes its place, so that nothing published disappears."""
    with at.storage.write() as connection:
        view = at.open_view(connection)
        row = view.structure.find_group(site_section_group_id)
        if row is not None:
            _delete_group(view, row)
    return answers.no_content()


@router.post(
    "/{site_section_group_id}/sections",
    status_code=201,
    response_model=SiteSectionGroup,
    openapi_extra=declare_role("create"),
)
def add_section_to_group(at: AtSite, site_section_group_id: str, add: SectionToAdd) -> JSONResponse:
    """Move a section to the end of a group, and return the group; a section of that group keeps its place."""
    with at.storage.write() as connection:
        view = at.open_view(connection)
        group = _require_group_row(view, site_section_group_id)
        section = _require_section(view, add.section_id)
        if section.section_group != group.id:
            place = compute_next_position(view.structure.list_children(group.id))
            _update_row(view, site_tables.sections, section.id, section_group=group.id, position=place)
        shown = _read_group(at.open_view(connection), group.id)
    return answers.created_resource(shown, location=at.build_url(f"/section-groups/{group.id}/sections/{section.id}"))


@router.delete(
    "/{site_section_group_id}/sections/{site_section_id}",
    status_code=204,
    openapi_extra=declare_role("create", extension=True),
    dependencies=EXTENSION_DEPENDENCIES,
)
def remove_section_from_group(at: AtSite, site_section_group_id: str, site_section_id: str) -> Response:
    """Move a section of a group to the end of the site's root. Source: @gitbook/api 0.146.0."""
    with at.storage.write() as connection:
        view = at.open_view(connection)
        group = _require_group_row(view, site_section_group_id)
        section = view.structure.find_section(site_section_id)
        if section is not None and section.section_group == group.id:
            place = compute_next_position(view.structure.list_children(None))
            _update_row(view, site_tables.sections, section.id, section_group=None, position=place)
    return answers.no_content()


@router.post(
    "/{site_section_group_id}/move",
    deprecated=True,
    response_model=SiteSectionGroup,
    openapi_extra=declare_role("create", extension=True),
    dependencies=EXTENSION_DEPENDENCIES,
)
def move_site_section_group(at: AtSite, site_section_group_id: str, move: GroupPosition | None = None) -> JSONResponse:
    """Move a section group between two siblings, and return it. Source: @gitbook/api 0.146.0."""
    with at.storage.write() as connection:
        view = at.open_view(connection)
        row = _require_group_row(view, site_section_group_id)
        position = (move or GroupPosition()).position
        order.move_row(view, row, before=position.before, after=position.after)
        return answers.ok(_read_group(at.open_view(connection), row.id))


def require_group(structure: Structure, group_id: str | None) -> None:
    """Require that the section group which a request's body names exists; None stands for the root. Raises: Failure
    404.
    """
    if group_id is not None and structure.find_group(group_id) is None:
        raise Failure(404, f"No section group {group_id} in site {structure.site.id}.")


def _insert_group(view: SiteView, create: GroupNew, parent: str | None) -> str:
    _require_allowed_parent(view.structure, parent, None)
    new_id = view.at.storage.new_id()
    row = {
        "id": new_id,
        "site": view.at.site_id,
        "parent": parent,
        "position": compute_next_position(view.structure.list_children(parent)),
        "title": create.title,
        "icon": create.icon,
    }
    view.connection.execute(site_tables.section_groups.insert().values(row))
    return new_id


def _require_allowed_parent(structure: Structure, parent: str | None, row: sa.Row[Any] | None) -> None:
    """Require that a group, None for a new one, can be moved into a parent. Raises: Failure 400 and 404."""
    require_group(structure, parent)
    above, at = 0, structure.find_group(parent)
    while at is not None:
        if row is not None and at.id == row.id:
            raise Failure(400, "parentSectionGroupId: a group cannot be within itself")
        above, at = above + 1, structure.find_group(at.parent)
    if above + (1 if row is None else _measure_depth(structure, row)) > GROUPS_DEPTH_MAX:
        raise Failure(400, f"section groups nest at most {GROUPS_DEPTH_MAX} deep")


def _measure_depth(structure: Structure, row: sa.Row[Any]) -> int:
    within = [child for child in structure.list_children(row.id) if structure.find_group(child.id) is not None]
    return 1 + max((_measure_depth(structure, child) for child in within), default=0)


def _delete_group(view: SiteView, row: sa.Row[Any]) -> None:
    structure = view.structure
    inner = structure.list_children(row.id)
    for child in inner:
        if structure.find_group(child.id) is not None:
            _update_row(view, site_tables.section_groups, child.id, parent=row.parent)
        else:
            _update_row(view, site_tables.sections, child.id, section_group=row.parent)
    view.connection.execute(site_tables.section_groups.delete().where(site_tables.section_groups.c.id == row.id))
    beside = structure.list_children(row.parent)
    at = beside.index(row)
    order.update_positions(view, [*beside[:at], *inner, *beside[at + 1 :]])


def _update_row(view: SiteView, table: sa.Table, id: str, **values: Any) -> None:
    view.connection.execute(table.update().where(table.c.id == id).values(values))


def _read_group(view: SiteView, group_id: str) -> dict[str, Any]:
    return view.serialize_group(_require_group_row(view, group_id))


def _require_group_row(view: SiteView, group_id: str) -> sa.Row[Any]:
    row = view.structure.find_group(group_id)
    if row is None:
        raise Failure(404, f"No section group {group_id} in site {view.at.site_id}.")
    return row


def _require_section(view: SiteView, section_id: str) -> sa.Row[Any]:
    row = view.structure.find_section(section_id)
    if row is None:
        raise Failure(404, f"No section {section_id} in site {view.at.site_id}.")
    return row
