"""What a content token may read: the spaces that it names, while its site publishes them as it did."""

from typing import Any

import sqlalchemy as sa

from syncd.platform.people.content_tokens import ContentGrant
from syncd.platform.schema.content import change_requests, spaces
from syncd.platform.schema.publish import share_links
from syncd.platform.schema.site_tables import site_spaces, sites

_SPACE = (spaces.c.organization, spaces.c.revision, spaces.c.deleted_at)


def find_granted_space(connection: sa.Connection, grant: ContentGrant, space_id: str) -> sa.Row[Any] | None:
    """Return a space's organization, revision and time of deletion, and `level` read; None when it is not granted."""
    query = sa.select(*_SPACE, sa.literal("read").label("level"))
    return connection.execute(query.where(spaces.c.id == space_id, match_granted_spaces(grant))).one_or_none()


def list_granted_revisions(connection: sa.Connection, grant: ContentGrant, space_id: str, main: str) -> set[str]:
    """Return the revisions of a granted space that a content token reads; `main` is the one of its main content.

    Shape: main content as it is published now, and in the space that the token was made for what was there by then;
    with a change request, its content as it is now, too.
    """
    if space_id != grant.space:
        return {main}
    table = change_requests
    own = sa.select(table.c.revision).where(table.c.space == space_id, table.c.id == grant.change_request)
    return {main, grant.revision, *connection.scalars(own)}


def match_granted_spaces(grant: ContentGrant) -> sa.ColumnElement[bool]:
    """Return the condition of a query of spaces that holds for those that a content token may read."""
    open_sites = sa.select(site_spaces.c.space).join(sites, sites.c.id == site_spaces.c.site)
    open_sites = open_sites.where(sites.c.id == grant.site, sites.c.published, sites.c.visibility == grant.visibility)
    if grant.share_link:
        active = (share_links.c.id == grant.share_link, share_links.c.site == grant.site, share_links.c.active)
        open_sites = open_sites.where(sa.exists().where(*active))
    return sa.and_(spaces.c.id.in_(grant.spaces), spaces.c.deleted_at.is_(None), spaces.c.id.in_(open_sites))
