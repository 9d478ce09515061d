"""The complete table catalogue: importing it imports every schema module; one line for each."""

from syncd.platform import (
    collections_schema,
    content_schema,
    jobs_schema,
    reviews_schema,
    schema,
)
from syncd.platform.comments import schema as comments_schema
from syncd.platform.conversations import schema as conversations_schema
from syncd.platform.integrations import schema as integrations_schema
from syncd.platform.links import schema as links_schema
from syncd.platform.people import schema as people_schema
from syncd.platform.publishing import schema as publishing_schema
from syncd.platform.search import schema as search_schema
from syncd.platform.specs import schema as specs_schema
from syncd.platform.tables import metadata
from syncd.platform.translations import schema as translations_schema

__all__ = [
    "collections_schema",
    "comments_schema",
    "content_schema",
    "conversations_schema",
    "integrations_schema",
    "jobs_schema",
    "links_schema",
    "metadata",
    "people_schema",
    "publishing_schema",
    "reviews_schema",
    "schema",
    "search_schema",
    "specs_schema",
    "translations_schema",
]
