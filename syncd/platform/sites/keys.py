"""The keys of share links: secrets that stand in the addresses of a site which is open to nobody else."""

import hmac
import secrets
from typing import Annotated, Any

import sqlalchemy as sa
from fastapi import Query

from syncd.platform.http.failures import Failure
from syncd.platform.schema.publish import share_links

KEY_MAX = 128
_BYTES = 32

ShareKey = Annotated[str | None, Query(alias="shareKey", min_length=1, max_length=KEY_MAX)]
"""A handler's parameter for the key of a share link."""


def generate_share_key() -> str:
    """Return a key that nobody can guess."""
    return secrets.token_urlsafe(_BYTES)


def require_share_key(connection: sa.Connection, site: sa.Row[Any], key: str | None) -> str | None:
    """Return the caller's share key when it opens the site.

    Shape: None for a site that is not open by share links, where a key means nothing and is ignored.
    Raises: Failure 404 when no active share link of the site has this key.
    """
    if key is None or site.visibility != "share-link":
        return None
    table = share_links
    active = connection.scalars(sa.select(table.c.key).where(table.c.site == site.id, table.c.active.is_(True)))
    # Every key is compared, each in constant time: how long it takes says nothing about any of them.
    if sum([hmac.compare_digest(known.encode(), key.encode()) for known in active]) == 0:
        raise Failure(404, f"shareKey: no active share link of site {site.id} has this key")
    return key
