"""What a content token may read: the spaces that it names, while its site shows them to its visitor as it did."""

from typing import Any

import sqlalchemy as sa

from syncd.layout.evaluation import Variables
from syncd.platform.people.content_tokens import ContentGrant
from syncd.platform.schema.content import change_requests, spaces
from syncd.platform.schema.publish import share_links
from syncd.platform.schema.site_tables import sections, site_spaces, sites
from syncd.platform.spaces import roles

_SPACE = (spaces.c.organization, spaces.c.revision, spaces.c.deleted_at)
_SHOWN = site_spaces.outerjoin(sections, sections.c.id == site_spaces.c.section)


def find_granted_space(connection: sa.Connection, grant: ContentGrant, space_id: str) -> sa.Row[Any] | None:
    """Return a space's organization, revision and time of deletion, and `level` read; None when it is not granted."""
    query = sa.select(*_SPACE, sa.literal("read").label("level"))
    return connection.execute(query.where(spaces.c.id == space_id, match_granted_spaces(connection, grant))).first()


def list_granted_revisions(connection: sa.Connection, grant: ContentGrant, space_id: str, main: str) -> set[str]:
    """Return the revisions of a granted space that a content token of what is published reads.

    Shape: `main` is the one of the space's main content. That is read as it is now, and in the space that the token was
    made for what was there by then; with a change request, its content as it is now, too. What is not published is
    read while the person may for whom the token was made.
    """
    if space_id != grant.space:
        return {main}
    if not grant.reader:
        return {main, grant.revision}
    if space_id not in _list_readable(connection, grant):
        return {main}
    table = change_requests
    own = sa.select(table.c.revision).where(table.c.space == space_id, table.c.id == grant.change_request)
    return {main, grant.revision, *connection.scalars(own)}


def may_read_change_request(connection: sa.Connection, grant: ContentGrant, space_id: str, id: str) -> bool:
    """Return whether a content token reads a change request of a granted space: that it was made for, or of a draft
    any.
    """
    is_named = grant.is_draft or (space_id, id) == (grant.space, grant.change_request)
    return is_named and space_id in _list_readable(connection, grant)


def match_granted_spaces(connection: sa.Connection, grant: ContentGrant) -> sa.ColumnElement[bool]:
    """Return the condition of a query of spaces that holds for those that a content token may read."""
    shown = sa.select(site_spaces.c.space).select_from(_SHOWN).where(site_spaces.c.site == grant.site)
    shown = shown.where(*_match_fulfilled(connection, grant))
    if grant.is_draft:
        readable = spaces.c.id.in_(_list_readable(connection, grant))
        return sa.and_(readable, spaces.c.deleted_at.is_(None), spaces.c.id.in_(shown))
    site = (sites.c.id == grant.site, sites.c.published, sites.c.visibility == grant.visibility)
    shown = shown.where(sa.exists().where(*site))
    if grant.share_link:
        active = (share_links.c.id == grant.share_link, share_links.c.site == grant.site, share_links.c.active)
        shown = shown.where(sa.exists().where(*active))
    return sa.and_(spaces.c.id.in_(grant.spaces), spaces.c.deleted_at.is_(None), spaces.c.id.in_(shown))


def _match_fulfilled(connection: sa.Connection, grant: ContentGrant) -> list[sa.ColumnElement[bool]]:
    """What holds for a site-space that the visitor may see by its condition and by that of its section."""
    columns = (site_spaces.c.condition, sections.c.condition)
    visitor = Variables({}, grant.claims or {})
    matches = []
    for column in columns:
        query = sa.select(column).select_from(_SHOWN).where(site_spaces.c.site == grant.site, column.is_not(None))
        found = list(connection.scalars(query.distinct()))
        fulfilled = [condition for condition in found if visitor.evaluate_condition(condition) is True]
        matches.append(sa.or_(column.is_(None), column.in_(fulfilled)))
    return matches


def _list_readable(connection: sa.Connection, grant: ContentGrant) -> set[str]:
    """The spaces of a content token that the person may read for whom it was made."""
    query = roles.select_spaces(spaces.c.id).where(spaces.c.id.in_(grant.spaces), roles.SPACE_READABLE)
    return {row.id for row in connection.execute(query, {"caller": grant.reader})}
