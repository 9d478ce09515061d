"""The nodes of a revision: an immutable Merkle tree like Git's, so that revisions share all that did not change.

A node's hash covers its own members and its children's hashes. The root holds three sections (pages, files, reusable
contents) and the variables and tags of the revision; two revisions with one root hash have the same content.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import sqlalchemy as sa

from syncd.platform.cache import Cache
from syncd.platform.database.tables import insert_new
from syncd.platform.schema.content import nodes

HASH_BYTES = 20
ROOT, PAGES, FILES, INCLUDES = "/", "/pages", "/files", "/includes"
"""Ids of the root and its sections; no id of a page or file has a slash."""
SECTIONS = (PAGES, FILES, INCLUDES)
REDIRECTS = "redirects"
"""The member of the root that has the ids of pages by the keys of paths that once led there."""
TEXTS = ("document", "reusable-content")
"""Types of the nodes that have a text."""

_REMEMBERED = 200_000
_ASKED_AT_ONCE = 5_000
"""Hashes in one query; SQLite binds at most 32,766 values, PostgreSQL 65,535."""

_cache: Cache[bytes, "Node"] = Cache(_REMEMBERED)


@dataclass(frozen=True, slots=True)
class Node:
    """A page, file, reusable content, section or root.

    Shape: `fields` holds further members under their API names; `body` is the blob of a page's text or of a file;
    `path` is where the body lies in a repository; `children` are hashes, in order.
    """

    id: str
    type: str
    title: str = ""
    slug: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)
    body: str | None = None
    path: str | None = None
    children: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeRow:
    """A node as the database stores it."""

    hash: bytes
    own: bytes
    children: bytes


def encode_node(node: Node) -> NodeRow:
    """Return the row of a node; equal nodes have equal hashes."""
    # Members have no order, but what is in them does: variables stay in the order in which a writer put them.
    fields = {name: node.fields[name] for name in sorted(node.fields)}
    members = [node.id, node.type, node.title, node.slug, fields, node.body, node.path]
    own = json.dumps(members, ensure_ascii=False, separators=(",", ":")).encode()
    children = b"".join(node.children)
    # The length keeps one node's members from being read as another's members and children.
    return NodeRow(blake2b(b"%d:%b%b" % (len(own), own, children), digest_size=HASH_BYTES).digest(), own, children)


def decode_node(row: NodeRow) -> Node:
    """Return the node in a row."""
    children = tuple(row.children[at : at + HASH_BYTES] for at in range(0, len(row.children), HASH_BYTES))
    id, type, title, slug, fields, body, path = json.loads(row.own)
    return Node(id, type, title, slug, fields, body, path, children)


def load_nodes(connection: sa.Connection, root: bytes) -> dict[bytes, Node]:
    """Return all nodes of a tree by their hashes, with one query for each level; cached nodes need none."""
    found: dict[bytes, Node] = {}
    level = [root]
    while level:
        here = _load_level(connection, level)
        found.update(here)
        level = [child for node in here.values() for child in node.children if child not in found]
    return found


def insert_nodes(connection: sa.Connection, rows: Iterable[NodeRow]) -> None:
    """Insert the node rows that are not stored yet."""
    insert_new(connection, nodes, [{"hash": row.hash, "own": row.own, "children": row.children} for row in rows])


def _load_level(connection: sa.Connection, hashes: list[bytes]) -> dict[bytes, Node]:
    found = {wanted: node for wanted in hashes if (node := _cache.get(wanted)) is not None}
    missing = [wanted for wanted in hashes if wanted not in found]
    for start in range(0, len(missing), _ASKED_AT_ONCE):
        query = sa.select(nodes).where(nodes.c.hash.in_(missing[start : start + _ASKED_AT_ONCE]))
        for row in connection.execute(query):
            found[row.hash] = _cache.put(row.hash, decode_node(NodeRow(row.hash, row.own, row.children)))
    return found
