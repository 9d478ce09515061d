"""The site that publishes a space, and the address at which its visitors read it."""

from typing import Any

import sqlalchemy as sa
from fastapi import Request

from syncd.platform.http import addresses
from syncd.platform.people.content_tokens import ContentGrant
from syncd.platform.schema.content import spaces
from syncd.platform.schema.publish import share_links
from syncd.platform.schema.site_tables import site_spaces, sites


def build_site_columns(*, is_granted: bool = False) -> tuple[sa.ColumnElement[Any], ...]:
    """Return the columns of a query of spaces that say where a site publishes each; of several, the first one.

    Shape: with `is_granted` the site is that of a content token, which the parameters of `name_site` name.
    """
    published = sa.join(site_spaces, sites, sites.c.id == site_spaces.c.site)
    query = sa.select(sites.c.id).select_from(published).where(site_spaces.c.space == spaces.c.id, sites.c.published)
    query = query.order_by(sites.c.created_at, sites.c.id).limit(1).correlate(spaces)
    key: sa.ColumnElement[Any] = sa.null()
    if is_granted:
        query = query.where(sites.c.id == sa.bindparam("granted_site"))
        link = (share_links.c.id == sa.bindparam("granted_link"), share_links.c.active)
        key = sa.select(share_links.c.key).where(*link).scalar_subquery()
    return (
        query.with_only_columns(sites.c.basename).scalar_subquery().label("site_basename"),
        query.with_only_columns(sites.c.visibility).scalar_subquery().label("site_visibility"),
        key.label("site_key"),
    )


def name_site(grant: ContentGrant) -> dict[str, str]:
    """Return the parameters of a query that name the site of a content token."""
    return {"granted_site": grant.site, "granted_link": grant.share_link}


_MAIN = (spaces.c.id == sa.bindparam("space"), spaces.c.revision == sa.bindparam("revision"))
# Made once: to make a statement costs more than to carry it out.
_PUBLISHED = sa.select(*build_site_columns()).where(*_MAIN)
_GRANTED = sa.select(*build_site_columns(is_granted=True)).where(*_MAIN)


def find_published_urls(
    connection: sa.Connection, request: Request, grant: ContentGrant | None, space_id: str, revision: str
) -> dict[str, str]:
    """Return where visitors read a revision of a space that is its main content.

    Shape: `published`, and `public` where everybody may read it; {} when nobody can.
    """
    named = {"space": space_id, "revision": revision}
    if grant is None:
        row = connection.execute(_PUBLISHED, named).one_or_none()
    else:
        row = connection.execute(_GRANTED, named | name_site(grant)).one_or_none()
    return {} if row is None else build_published_urls(request, row)


def build_published_urls(request: Request, row: sa.Row[Any]) -> dict[str, str]:
    """Return the same from a row with the columns of `build_site_columns`."""
    if row.site_basename is None:
        return {}
    published = addresses.build_published_url(request, "/".join(filter(None, (row.site_basename, row.site_key))))
    return {"published": published} | ({"public": published} if row.site_visibility == "public" else {})
