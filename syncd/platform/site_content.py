"""What sites need to know about content: a space as it is shown, and where a page is; the one seam to those rooms."""

from typing import Any

import sqlalchemy as sa
from fastapi import Request

from syncd.platform import content_schema, revisions, spaces
from syncd.platform.auth import Caller
from syncd.platform.failures import Failure
from syncd.platform.outline import is_page


def require_space_title(connection: sa.Connection, organization_id: str, space_id: str) -> str:
    """Given a space's id and its organization's, return the space's title. Raises: Failure 404 when it is not there."""
    table = content_schema.spaces
    mine = sa.select(table.c.title).where(table.c.organization == organization_id, table.c.deleted_at.is_(None))
    title = connection.scalar(mine.where(table.c.id == space_id))
    if title is None:
        raise Failure(404, f"No space {space_id} in organization {organization_id}.")
    return str(title)


def space_shown(connection: sa.Connection, request: Request, caller: Caller, space_id: str) -> dict[str, Any]:
    """Given a space that a site links to, return the Space; also a deleted one, which its link outlives."""
    row = spaces.require_space(connection, caller, space_id, deleted_since="")
    return spaces.shown(request, row, caller)


def page_path(connection: sa.Connection, space_id: str, page_id: str) -> str | None:
    """Given a page's and its space's id, return the page's path in main content, or None when it has no address there.

    A link page has none: it leads elsewhere itself.
    """
    table = content_schema.spaces
    main = sa.select(table.c.revision).where(table.c.id == space_id, table.c.deleted_at.is_(None))
    revision = connection.scalar(main)
    spot = revisions.outline(connection, space_id, revision).spots.get(page_id) if revision else None
    if spot is None or not is_page(spot.node) or spot.node.type == "link":
        return None
    return spot.path
