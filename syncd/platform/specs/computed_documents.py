"""Documents that are computed when they are read, as their reader may read what they are computed from."""

from hashlib import sha256
from typing import Any

import sqlalchemy as sa

from syncd.layout.richtext.nodes import prefix_keys
from syncd.model.computed_document import OpenAPISource
from syncd.platform.http.failures import Failure
from syncd.platform.people.auth import Caller
from syncd.platform.revisions.outline import TreeEntry
from syncd.platform.schema.specs import specs, versions
from syncd.platform.specs.descriptions import read_description
from syncd.platform.specs.documents import DocumentNode, build_spec_nodes
from syncd.platform.specs.shown import may_read_spec
from syncd.platform.storage.storage import Storage

_SEED = "computedSeed"


def is_computed_document(entry: TreeEntry) -> bool:
    """Return whether a page is one of those that stand in the place of a computed page."""
    return _SEED in entry.node.fields


def compute_page_document(storage: Storage, caller: Caller, organization: str, entry: TreeEntry) -> dict[str, Any]:
    """Return the document of a page that stands in the place of a computed page.

    Raises: Failure 404, as `read_spec_nodes`.
    """
    source = OpenAPISource.model_validate(entry.node.fields["computed"])
    with storage.read() as connection:
        nodes = read_spec_nodes(connection, storage, caller, organization, source)
    return build_computed_document(nodes, str(entry.node.fields[_SEED]))


def build_computed_document(nodes: list[DocumentNode], seed: str) -> dict[str, Any]:
    """Return the document of nodes that belong to nobody else; `seed` makes their keys its own."""
    for number, node in enumerate(nodes):
        node.setdefault("key", str(number))
    # The same source stands in several pages, and what a renderer keeps by key must not be mistaken.
    prefix_keys(nodes, f"{sha256(seed.encode(errors='replace')).hexdigest()[:12]}.")
    return {"object": "document", "data": {}, "nodes": nodes}


def read_spec_nodes(
    connection: sa.Connection, storage: Storage, caller: Caller, organization: str, source: OpenAPISource
) -> list[DocumentNode]:
    """Return the nodes of a document of a specification of an organization.

    Raises: Failure 404 when the caller may not read it, or when it has nothing of the name.
    """
    slug = source.dependencies.spec.ref.spec
    query = sa.select(specs.c.slug, specs.c.visibility, versions.c.content)
    query = query.join(versions, versions.c.id == specs.c.last_version)
    row = connection.execute(query.where(specs.c.organization == organization, specs.c.slug == slug)).one_or_none()
    if row is None or (caller.grant is not None and not may_read_spec(connection, storage, caller.grant, row)):
        raise Failure(404, f"No OpenAPI specification {slug} with a version that can be read.")
    nodes = build_spec_nodes(row.slug, read_description(storage, row.content), source.props)
    if nodes is None:
        raise Failure(404, f"Specification {slug} has nothing of this name.")
    return nodes
