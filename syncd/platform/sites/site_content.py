"""What sites need to know about content: the linked Spaces, and the paths of pages; the only link to those modules."""

from typing import Any

import sqlalchemy as sa
from fastapi import Request

from syncd.layout.tree.paths import make_collision_key
from syncd.platform.http.failures import Failure
from syncd.platform.people.auth import Caller
from syncd.platform.revisions import revisions
from syncd.platform.revisions.outline import Outline, is_page
from syncd.platform.schema import accounts, content
from syncd.platform.spaces import spaces


def require_space_title(connection: sa.Connection, caller: Caller, organization_id: str, space_id: str) -> str:
    """Given a space that a site shall show, return the space's title.

    Raises: Failure 404 when the organization has no such space; 403 when the caller may do less on the space than the
    operation asks for on the site: who publishes content must have a say in it.
    """
    row = spaces.require_space(connection, caller, space_id)
    if row.organization != organization_id:
        raise Failure(404, f"No space {space_id} in organization {organization_id}.")
    return str(row.title)


def read_linked_spaces(
    connection: sa.Connection, request: Request, caller: Caller, site_id: str
) -> dict[str, dict[str, Any]]:
    """Given a site, return by id the Spaces that it links to and the caller may read; also deleted ones, which their
    links outlive."""
    linked = sa.select(accounts.site_spaces.c.space).where(accounts.site_spaces.c.site == site_id)
    return spaces.read_spaces(connection, request, caller, content.spaces.c.id.in_(linked))


def find_page_path(connection: sa.Connection, space_id: str, page_id: str) -> str | None:
    """Given a page's and its space's id, return the page's path in main content, or None when it has no address there.

    A link page has none: it leads elsewhere itself.
    """
    outline = _open_main_content(connection, space_id)
    entry = outline.entries.get(page_id) if outline else None
    if entry is None or not is_page(entry.node) or entry.node.type == "link":
        return None
    return entry.path


def find_page_at(connection: sa.Connection, space_id: str, path: str) -> str | None:
    """Given a space and a page's path in its main content, return the page's id, or None when none is there."""
    outline = _open_main_content(connection, space_id)
    page_id = outline.by_path.get(make_collision_key(path.strip("/"))) if outline else None
    return page_id if page_id is not None and find_page_path(connection, space_id, page_id) is not None else None


def _open_main_content(connection: sa.Connection, space_id: str) -> Outline | None:
    table = content.spaces
    main = sa.select(table.c.revision).where(table.c.id == space_id, table.c.deleted_at.is_(None))
    revision = connection.scalar(main)
    return revisions.open_revision(connection, space_id, revision) if revision else None
