"""The collection, or the organization itself, in which spaces and collections stand, and who may put them there."""

from typing import Any

import sqlalchemy as sa

from syncd.platform.http.failures import Failure
from syncd.platform.people.auth import Caller, is_role_at_least
from syncd.platform.schema import accounts
from syncd.platform.schema.collections import collections
from syncd.platform.spaces import roles
from syncd.platform.spaces.order_keys import Container

DEPTH_MAX = 10
"""Collections within one another; the document names no limit."""

_ONE = roles.select_collections(collections).where(collections.c.id == sa.bindparam("collection"))


def find_collection(connection: sa.Connection, caller: Caller, collection_id: str) -> sa.Row[Any] | None:
    """Return a collection's row with the caller's role there as `level`; None when the caller cannot see it."""
    return connection.execute(_ONE, {"collection": collection_id, "caller": caller.user_id}).one_or_none()


def require_collection(
    connection: sa.Connection, caller: Caller, collection_id: str, *, needed: str | None = None
) -> sa.Row[Any]:
    """Return a collection's row with the caller's role there as `level`.

    Shape: `needed` is a role that is required in place of the one that the operation declares. Raises: Failure 404,
    also when the caller is no member of the organization; 403 when the caller's role is too weak.
    """
    row = find_collection(connection, caller, collection_id)
    if row is None:
        raise Failure(404, f"No collection {collection_id}.")
    caller.require_role(row.level, needed)
    return row


def require_container(connection: sa.Connection, caller: Caller, container: Container) -> None:
    """Require the caller to be allowed to create something in a container.

    Raises: Failure 404 when the organization has no such collection, 403 when the caller may not create there.
    """
    if container.parent is None:
        caller.require_role(caller.find_role(container.organization), "create")
        return
    found = find_collection(connection, caller, container.parent)
    if found is None or found.organization != container.organization:
        raise Failure(404, f"No collection {container.parent} in organization {container.organization}.")
    caller.require_role(found.level, "create")


def require_target_organization(connection: sa.Connection, caller: Caller, organization_id: str) -> None:
    """Require the caller to be allowed to create content in the organization to which something is transferred.

    Raises: Failure 404 when the caller is no member, and 412 when the caller's role there is too weak.
    """
    table = accounts.members
    mine = sa.select(table.c.role).where(table.c.organization == organization_id, table.c.user == caller.user_id)
    member = connection.execute(mine).one_or_none()
    if member is None:
        raise Failure(404, f"No organization {organization_id}.")
    if not is_role_at_least(member.role, "create"):
        raise Failure(412, f"Your role in organization {organization_id} must be create or stronger.")


def find_ancestors(connection: sa.Connection, collection_id: str | None) -> list[str]:
    """Return the id of a collection and of those that hold it, nearest first."""
    found: list[str] = []
    while collection_id is not None and len(found) <= DEPTH_MAX:
        found.append(collection_id)
        table = collections
        collection_id = connection.scalar(sa.select(table.c.parent).where(table.c.id == collection_id))
    return found


def select_subtree_ids(collection_id: str) -> sa.Select[tuple[str]]:
    """Return a query of the ids of a collection and of all collections in it, at any depth."""
    top = sa.select(collections.c.id).where(collections.c.id == collection_id)
    found = top.cte("within", recursive=True)
    below = collections.alias()
    found = found.union_all(sa.select(below.c.id).join(found, found.c.id == below.c.parent))
    return sa.select(found.c.id)


def measure_depth(connection: sa.Connection, collection_id: str) -> int:
    """Return how many levels of collections a collection has, itself counted."""
    top = sa.select(collections.c.id, sa.literal_column("1", sa.Integer).label("depth")).where(
        collections.c.id == collection_id
    )
    found = top.cte("depths", recursive=True)
    below = collections.alias()
    deeper = sa.select(below.c.id, found.c.depth + sa.literal_column("1", sa.Integer))
    found = found.union_all(deeper.join(found, found.c.id == below.c.parent))
    return connection.scalar(sa.select(sa.func.max(found.c.depth))) or 0
