"""Pages closed whose frontmatter says who may read them, and cannot be read.

A page that is written is closed so by its text. This step closes those that were stored before, in every revision: were
it main content alone, a change request of before would open them again.

Revision ID: 0009
Revises: 0008
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from graphlib import TopologicalSorter
from hashlib import blake2b
from typing import Any

import sqlalchemy as sa
from alembic import context, op

from syncd.errors import FileInvalid
from syncd.layout.page.unread_frontmatter import read_deciding
from syncd.platform.database.tables import insert_new
from syncd.platform.migrations import ReadBlob

revision = "0009"
down_revision = "0008"

_HASH_BYTES = 20
_FIELDS, _BODY = 4, 5
"""Positions of the members and the blob's id in what a node has of its own."""
_AT_ONCE = 500
"""Nodes between two queries: PostgreSQL ends a transaction that asks nothing for a minute."""
_PARALLEL = 16
"""Blobs that are read at once: in a bucket, each takes its time."""

_nodes = sa.Table(
    "content_nodes",
    sa.MetaData(),
    sa.Column("hash", sa.LargeBinary, primary_key=True),
    sa.Column("own", sa.LargeBinary),
    sa.Column("children", sa.LargeBinary),
)
_revisions = sa.table("revisions", sa.column("root", sa.LargeBinary))


def upgrade() -> None:
    """Close the pages, and have each revision name the tree that has them closed."""
    connection = op.get_bind()
    closed = _find_closed(connection, context.config.attributes["read_blob"])
    inner = _find_ancestors(connection, closed)
    renewed: dict[bytes, bytes] = {}
    # The deepest first, since a node's hash covers those of its children.
    for hash in TopologicalSorter(inner).static_order():
        renewed[hash] = _renew_node(connection, hash, renewed, is_closed=hash in closed)
    for former, root in renewed.items():
        connection.execute(sa.update(_revisions).where(_revisions.c.root == former).values(root=root))


def _find_closed(connection: sa.Connection, read: ReadBlob) -> set[bytes]:
    """The hashes of the pages that are to be closed; each text is read once."""
    found: set[bytes] = set()
    verdicts: dict[str, bool] = {}
    with ThreadPoolExecutor(_PARALLEL) as threads:
        for rows in _list_nodes(connection, sa.select(_nodes.c.hash, _nodes.c.own)):
            pages = {row.hash: own[_BODY] for row in rows if (own := json.loads(row.own))[1] == "document"}
            unknown = list({body for body in pages.values() if body} - verdicts.keys())
            verdicts.update(zip(unknown, threads.map(lambda body: _is_for_nobody(read(body)), unknown), strict=True))
            found |= {hash for hash, body in pages.items() if body and verdicts[body]}
    return found


def _is_for_nobody(text: bytes | None) -> bool:
    try:
        # What is lost or damaged is shown to nobody anyway.
        read_deciding("" if text is None else text.decode(errors="replace"), at="document")
    except FileInvalid:
        return True
    return False


def _find_ancestors(connection: sa.Connection, closed: set[bytes]) -> Mapping[bytes, set[bytes]]:
    """What is to be renewed: the closed pages and all above them, each with those of its children that are, too."""
    found: dict[bytes, set[bytes]] = {hash: set() for hash in closed}
    inner = sa.select(_nodes.c.hash, _nodes.c.children).where(_nodes.c.children != b"")
    known = -1
    while known < len(found):
        known = len(found)
        for rows in _list_nodes(connection, inner):
            for row in rows:
                if below := found.keys() & set(_split_hashes(row.children)):
                    found[row.hash] = below
    return found


def _renew_node(connection: sa.Connection, hash: bytes, renewed: Mapping[bytes, bytes], *, is_closed: bool) -> bytes:
    """Store the node that takes the place of another, and return its hash."""
    row = connection.execute(sa.select(_nodes).where(_nodes.c.hash == hash)).one()
    own = json.loads(row.own)
    if is_closed:
        fields = own[_FIELDS] | {"condition": "false"}
        own[_FIELDS] = {name: fields[name] for name in sorted(fields)}
    written = json.dumps(own, ensure_ascii=False, separators=(",", ":")).encode()
    children = b"".join(renewed.get(child, child) for child in _split_hashes(row.children))
    digest = blake2b(b"%d:%b%b" % (len(written), written, children), digest_size=_HASH_BYTES).digest()
    insert_new(connection, _nodes, [{"hash": digest, "own": written, "children": children}])
    return digest


def _split_hashes(children: bytes) -> list[bytes]:
    return [children[at : at + _HASH_BYTES] for at in range(0, len(children), _HASH_BYTES)]


def _list_nodes(connection: sa.Connection, query: sa.Select[Any]) -> Iterator[Sequence[sa.Row[Any]]]:
    """Rows in parts, so that no table has to be in memory as a whole."""
    return connection.execute(query.execution_options(yield_per=_AT_ONCE)).partitions()
