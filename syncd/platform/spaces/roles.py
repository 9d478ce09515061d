"""Roles in spaces and collections: the only module that decides them, as SQL expressions within a query.

An administrator of the organization may do everything. For all others the nearest place that says something decides:
the space, then the collection that holds it, and so on; at last the person's role in the organization. At each place a
person's own permission goes before those of the person's teams, and these before the level for everybody. The level
for everybody is a role, `inherit`, which leaves it to the place above, or null, which is no access; it does not apply
to guests, who get in by a permission of their own or of a team only.
Source: the vendor's manual, "Permissions and inheritance"; the API document shows only the members' names.
"""

from typing import Any

import sqlalchemy as sa

from syncd.platform.people.auth import ROLES
from syncd.platform.schema.accounts import members
from syncd.platform.schema.collections import collections
from syncd.platform.schema.content import spaces
from syncd.platform.schema.people import permissions, team_members

CALLER = sa.bindparam("caller", type_=sa.String)
"""The person's id: a parameter of every query that has something from here in it."""


def _write_literal(value: str) -> sa.ColumnElement[str]:
    # Written into the statement: it is the same for every request, and the planner sees it.
    return sa.literal_column(f"'{value}'", sa.String)


_NO_ACCESS = _write_literal("")
"""No access, among roles: a null would mean that nothing is said and that the place above decides."""


def _build_role(table: Any, above: sa.ColumnElement[str], member: Any) -> sa.ColumnElement[str]:
    """Return the caller's role in a space or collection as SQL: administrators', else direct, else the team's, else
    default.

    Shape: `above` is the role in the parent, for a default of `inherit`; `member` is the caller's membership.
    """
    given = permissions.alias()
    here = sa.select(given.c.role).where(given.c.content == table.c.id)
    own = here.where(given.c.kind == _write_literal("user"), given.c.subject == CALLER)
    teams = sa.select(team_members.c.team).where(team_members.c.user == CALLER)
    as_team = here.where(given.c.kind == _write_literal("team"), given.c.subject.in_(teams))
    strongest = sa.case(*((given.c.role == _write_literal(role), number) for number, role in _STRONGEST)).asc()
    everybody = sa.case(
        (table.c.default_level == _write_literal("inherit"), above),
        (member.c.role.is_(None), _NO_ACCESS),
        else_=sa.func.coalesce(table.c.default_level, _NO_ACCESS),
    )
    said = sa.func.coalesce(
        own.correlate(table).scalar_subquery(),
        as_team.order_by(strongest).limit(_ONE).correlate(table).scalar_subquery(),
        everybody,
    )
    return sa.case((member.c.role == _ADMIN, _ADMIN), else_=said)


def _build_collection_roles() -> sa.CTE:
    """Return the caller's role in every collection of the caller's organizations, from the top down."""

    def select_roles(table: Any, above: Any) -> sa.Select[Any]:
        mine = members.alias()
        joined = sa.and_(mine.c.organization == table.c.organization, mine.c.user == CALLER)
        role = _build_role(table, _build_member_role(mine) if above is None else above.c.role, mine)
        return sa.select(table.c.id, role.label("role")).join(mine, joined)

    top = select_roles(collections, None).where(collections.c.parent.is_(None))
    found = top.cte("collection_levels", recursive=True)
    below = collections.alias()
    return found.union_all(select_roles(below, found).join(found, found.c.id == below.c.parent))


def _build_member_role(member: Any) -> sa.ColumnElement[str]:
    return sa.func.coalesce(member.c.role, _NO_ACCESS)


_ADMIN = _write_literal(ROLES[-1])
_ONE = sa.literal_column("1", sa.Integer)
_STRONGEST = tuple((sa.literal_column(str(number), sa.Integer), role) for number, role in enumerate(reversed(ROLES)))
_COLLECTIONS = _build_collection_roles()
_MEMBER = members.alias("member")


def _build_space_role() -> sa.ColumnElement[str]:
    collection_role = sa.select(_COLLECTIONS.c.role).where(_COLLECTIONS.c.id == spaces.c.parent)
    # Only a space in a collection asks for the collections, so that most polls never do.
    above = sa.case(
        (spaces.c.parent.is_(None), _build_member_role(_MEMBER)),
        else_=collection_role.correlate(spaces).scalar_subquery(),
    )
    return _build_role(spaces, above, _MEMBER)


def _build_collection_role() -> sa.ColumnElement[str]:
    here = sa.select(_COLLECTIONS.c.role).where(_COLLECTIONS.c.id == collections.c.id)
    return sa.case((_MEMBER.c.role == _ADMIN, _ADMIN), else_=here.correlate(collections).scalar_subquery())


_SPACE, _COLLECTION = _build_space_role(), _build_collection_role()

SPACE_LEVEL = sa.func.nullif(_SPACE, _NO_ACCESS).label("level")
"""The column `level`: the caller's role in the space at hand, null for none; in queries of `select_spaces`."""
COLLECTION_LEVEL = sa.func.nullif(_COLLECTION, _NO_ACCESS).label("level")
"""The same of collections, in queries of `select_collections`."""
SPACE_READABLE = _SPACE != _NO_ACCESS
COLLECTION_READABLE = _COLLECTION != _NO_ACCESS
"""Whether the caller may read what is at hand, for lists."""


def select_spaces(*columns: Any) -> sa.Select[Any]:
    """Return a query of columns, and of the caller's role as `level`, over the spaces of the caller's organizations."""
    return sa.select(*columns, SPACE_LEVEL).join_from(spaces, _MEMBER, _match_membership(spaces))


def select_collections(*columns: Any) -> sa.Select[Any]:
    """Return a query of columns, and of the caller's role as `level`, over the collections of the caller's
    organizations.
    """
    return sa.select(*columns, COLLECTION_LEVEL).join_from(collections, _MEMBER, _match_membership(collections))


def _match_membership(table: sa.Table) -> sa.ColumnElement[bool]:
    return sa.and_(_MEMBER.c.organization == table.c.organization, _MEMBER.c.user == CALLER)
