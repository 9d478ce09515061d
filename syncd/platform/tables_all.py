"""The complete table catalogue: importing it imports every schema module; one line for each."""

from syncd.platform.database.tables import metadata
from syncd.platform.schema import (
    accounts,
    collections,
    comments,
    content,
    conversations,
    integrations,
    jobs,
    links,
    people,
    publish,
    reviews,
    search,
    site_tables,
    specs,
    translations,
)

__all__ = [
    "accounts",
    "collections",
    "comments",
    "content",
    "conversations",
    "integrations",
    "jobs",
    "links",
    "metadata",
    "people",
    "publish",
    "reviews",
    "search",
    "site_tables",
    "specs",
    "translations",
]
