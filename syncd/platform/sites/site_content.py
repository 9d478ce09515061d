"""What sites need to know about content: the linked Spaces, and the paths of pages; the only link to those modules."""

from typing import Any

import sqlalchemy as sa
from fastapi import Request

from syncd.layout.tree.paths import make_collision_key
from syncd.platform.http.failures import Failure
from syncd.platform.people.auth import Caller
from syncd.platform.revisions import revisions
from syncd.platform.revisions.outline import Outline, is_page
from syncd.platform.schema import content, site_tables
from syncd.platform.spaces import spaces


def require_space_title(connection: sa.Connection, caller: Caller, organization_id: str, space_id: str) -> str:
    """Return the title of a space that a site is to show.

    Raises: Failure 404 when the organization has no such space; 403 when the caller's role in the space is weaker than
    the operation needs on the site: who publishes content must have a say in it.
    """
    row = spaces.require_space(connection, caller, space_id)
    if row.organization != organization_id:
        raise Failure(404, f"No space {space_id} in organization {organization_id}.")
    return str(row.title)


def read_linked_spaces(
    connection: sa.Connection, request: Request, caller: Caller, site_id: str
) -> dict[str, dict[str, Any]]:
    """Return the spaces of a site that the caller may read by id, deleted ones included: site-spaces of those
    remain.
    """
    linked = sa.select(site_tables.site_spaces.c.space).where(site_tables.site_spaces.c.site == site_id)
    return spaces.read_spaces(connection, request, caller, content.spaces.c.id.in_(linked))


def find_page_path(connection: sa.Connection, space_id: str, page_id: str) -> str | None:
    """Return the path of a page in a space's main content, or None when it has no address there.

    A link page has none: it leads elsewhere itself.
    """
    outline = _open_main_content(connection, space_id)
    entry = outline.entries.get(page_id) if outline else None
    if entry is None or not is_page(entry.node) or entry.node.type == "link":
        return None
    return entry.path


def find_page_at(connection: sa.Connection, space_id: str, path: str) -> str | None:
    """Return the id of the page at a path of a space's main content, or None when there is none."""
    outline = _open_main_content(connection, space_id)
    page_id = outline.by_path.get(make_collision_key(path.strip("/"))) if outline else None
    return page_id if page_id is not None and find_page_path(connection, space_id, page_id) is not None else None


def _open_main_content(connection: sa.Connection, space_id: str) -> Outline | None:
    table = content.spaces
    main = sa.select(table.c.revision).where(table.c.id == space_id, table.c.deleted_at.is_(None))
    revision = connection.scalar(main)
    return revisions.open_revision(connection, space_id, revision) if revision else None
