"""The order of a site's parts: something is moved among its siblings, those that stand in the same place."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from fastapi.responses import JSONResponse

from syncd.model.site import MovedItem, StructurePlace, StructureSort
from syncd.platform.http import answers
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.failures import Failure
from syncd.platform.http.routing import create_router
from syncd.platform.people.auth import declare_role
from syncd.platform.schema import site_tables
from syncd.platform.sites.parts import Structure
from syncd.platform.sites.structure import (
    EXTENSION_DEPENDENCIES,
    AtSite,
    SiteView,
)

router = create_router(prefix="/orgs/{organization_id}/sites/{site_id}/structure", tags=["site-structure"])


class StructureOrder(RequestBody, StructureSort):
    """Body of `PATCH …/structure/sort`."""


@router.patch(
    "/sort",
    response_model=MovedItem,
    openapi_extra=declare_role("create", extension=True),
    dependencies=EXTENSION_DEPENDENCIES,
)
def sort_site_structure(at: AtSite, order: StructureOrder) -> JSONResponse:
    """Move a section, group or site-space between two siblings, and return it. Source: @gitbook/api 0.202.0.

    Raises: Failure 404 when the site has no such item.
    """
    with at.storage.write() as connection:
        view = at.open_view(connection)
        row = find_row(view.structure, order.item)
        if row is None:
            raise Failure(404, f"No {order.item.type} {order.item.id} in site {at.site_id}.")
        move_row(view, row, before=order.position.before, after=order.position.after)
        moved = at.open_view(connection)
        return answers.ok(moved.serialize_item(_find_again(moved.structure, row)))


def find_row(structure: Structure, place: StructurePlace) -> sa.Row[Any] | None:
    """Return the row of the item that a caller names, or None."""
    kinds = {
        "site-space": structure.find_site_space,
        "site-section": structure.find_section,
        "site-section-group": structure.find_group,
    }
    return kinds[place.type](place.id)


def move_row(view: SiteView, row: sa.Row[Any], *, before: StructurePlace | None, after: StructurePlace | None) -> None:
    """Move a part of a site between the siblings that are named, or to the end when none is.

    Raises: Failure 400 for a place that is no sibling, the part itself, or two with something else between them.
    """
    beside = list_siblings(view.structure, row)
    others = [sibling for sibling in beside if sibling.id != row.id]
    places = set()
    for name, place, step in (("before", before, 0), ("after", after, 1)):
        if place is not None:
            sibling = find_row(view.structure, place)
            if sibling is None or sibling not in others:
                raise Failure(400, f"position.{name}: {place.type} {place.id} does not stand beside {row.id}")
            places.add(others.index(sibling) + step)
    if len(places) > 1:
        raise Failure(400, "position: nothing can stand before the one and after the other")
    others.insert(places.pop() if places else len(others), row)
    update_positions(view, others)


def list_siblings(structure: Structure, row: sa.Row[Any]) -> Sequence[sa.Row[Any]]:
    """Return what has the same parent as a part of a site, itself included, in order."""
    if structure.find_site_space(row.id) is not None:
        return structure.list_variants(row.section)
    return structure.list_children(structure.find_parent(row))


def update_positions(view: SiteView, rows: Sequence[sa.Row[Any]]) -> None:
    """Update the positions of all siblings, given in their new order."""
    changed: dict[sa.Table, list[dict[str, Any]]] = defaultdict(list)
    for position, row in enumerate(rows):
        if row.position != position:
            changed[_find_table(view.structure, row)].append({"key": row.id, "place": position})
    for table, places in changed.items():
        update = table.update().where(table.c.id == sa.bindparam("key")).values(position=sa.bindparam("place"))
        view.connection.execute(update, places)


def _find_table(structure: Structure, row: sa.Row[Any]) -> sa.Table:
    if structure.find_site_space(row.id) is not None:
        return site_tables.site_spaces
    return site_tables.section_groups if structure.find_group(row.id) is not None else site_tables.sections


def _find_again(structure: Structure, row: sa.Row[Any]) -> sa.Row[Any]:
    found = structure.find_site_space(row.id) or structure.find_section(row.id) or structure.find_group(row.id)
    assert found is not None
    return found
