"""A revision's tree in memory: every page and file by id, with its parent and path, and a draft that can change it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import sqlalchemy as sa

from syncd.layout.evaluation import Variables
from syncd.layout.tree.paths import make_collision_key
from syncd.platform.cache import Cache
from syncd.platform.revisions import tree
from syncd.platform.revisions.tree import PAGES, ROOT, SECTIONS, Node, NodeRow

_REMEMBERED_PAGES = 300_000
_cache: Cache[bytes, "Outline"] = Cache(_REMEMBERED_PAGES, weigh=lambda outline: len(outline.entries))


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """A node and its position in a tree. Shape: `path` joins the slugs of its ancestors and its own, as in the API."""

    node: Node
    hash: bytes
    parent: str
    path: str


@dataclass(frozen=True)
class Outline:
    """One tree. Shape: `entries` is by id, parents first, in reading order; `order` has the children of each id."""

    root: bytes
    entries: Mapping[str, TreeEntry]
    order: Mapping[str, tuple[str, ...]]

    def node(self, id: str) -> Node | None:
        """Return the node with an id, or None when this tree has none."""
        entry = self.entries.get(id)
        return None if entry is None else entry.node

    @cached_property
    def computed(self) -> tuple[str, ...]:
        """Ids of the pages that others are computed from, in reading order."""
        return tuple(id for id, entry in self.entries.items() if entry.node.type == "computed")

    @cached_property
    def by_path(self) -> Mapping[str, str]:
        """Ids of pages and groups by the key of their path in the API; the first wins."""
        found: dict[str, str] = {}
        for id, entry in self.entries.items():
            if has_path(entry.node):
                found.setdefault(make_collision_key(entry.path), id)
        return found

    @cached_property
    def by_file(self) -> Mapping[str, str]:
        """Ids of whatever has a file in a repository, by the key of its path there."""
        return {
            make_collision_key(entry.node.path): id for id, entry in self.entries.items() if entry.node.path is not None
        }


class Draft:
    """A modified copy of a tree: it holds only what differs from its base, and only that is saved."""

    def __init__(self, base: Outline | None = None) -> None:
        """Start a draft of the tree `base`, or of an empty one."""
        self.base = base or _EMPTY
        self._own: dict[str, Node] = {} if base else {id: entry.node for id, entry in _EMPTY.entries.items()}
        self._order: dict[str, list[str]] = {}
        self._parent: dict[str, str] = {}
        self._removed: set[str] = set()

    def __contains__(self, id: object) -> bool:
        return id not in self._removed and (id in self._own or id in self.base.entries)

    def node(self, id: str) -> Node:
        """Return the node with an id; its `children` are those of the base, so read `Draft.children` for the draft's
        own.
        """
        return self._own.get(id) or self.base.entries[id].node

    def parent(self, id: str) -> str:
        """Return the id of the parent of an entry."""
        return self._parent.get(id) or self.base.entries[id].parent

    def children(self, id: str) -> list[str]:
        """Return the ids of an entry's children, in order."""
        order = self._order.get(id)
        return list(self.base.order.get(id, ()) if order is None else order)

    def ancestors(self, id: str) -> Iterator[str]:
        """Yield the ids of an entry's ancestors, nearest first, the root last."""
        while id != ROOT:
            id = self.parent(id)
            yield id

    def walk(self, id: str) -> Iterator[str]:
        """Yield an id and the ids of all its descendants, parents first, in reading order."""
        pending = [id]
        while pending:
            here = pending.pop()
            yield here
            pending += reversed(self.children(here))

    def path(self, id: str) -> str:
        """Return the path of a page in the API: the slugs of its ancestors and its own."""
        slugs = [self.node(id).slug, *(self.node(above).slug for above in self.ancestors(id))]
        return "/".join(slug for slug in reversed(slugs) if slug)

    def find_by_file(self, path: str) -> str | None:
        """Return the id of the entry with a file path in a repository, or None."""
        key = make_collision_key(path)
        # What the draft has touched comes first: the entry that the base has at this path may have left it.
        for id in (*self.touched_ids, self.base.by_file.get(key)):
            if id is not None and id in self and make_collision_key(self.node(id).path or "") == key:
                return id
        return None

    @property
    def touched_ids(self) -> list[str]:
        """Ids of what is new, moved or has other members than in the base, in the order in which it was touched."""
        return [id for id in {**self._own, **self._parent} if id in self]

    def insert(self, node: Node, into: str, at: int | None = None) -> None:
        """Put a new node among the children of `into`: at an index, or last."""
        self._removed.discard(node.id)
        self._own[node.id] = node
        self._parent[node.id] = into
        self._order[node.id] = []
        self._insert_child(node.id, into, at)

    def replace_node(self, node: Node) -> None:
        """Replace the node with the same id; its children stay."""
        former = self.node(node.id)
        if replace(node, children=former.children) != former:
            self._own[node.id] = node

    def move(self, id: str, into: str, at: int | None = None) -> None:
        """Move a node among the children of `into`: to an index, counted without the node itself, or last."""
        former = self.parent(id)
        self._order[former] = [child for child in self.children(former) if child != id]
        if former != into:
            self._parent[id] = into
        self._insert_child(id, into, at)

    def set_order(self, id: str, children: list[str]) -> None:
        """Set the order of an entry's children; `children` has the same ids as before."""
        if children != self.children(id):
            self._order[id] = list(children)

    def remove(self, id: str) -> None:
        """Remove an entry and its descendants."""
        self.remove_all([id])

    def remove_all(self, ids: Iterable[str]) -> None:
        """Remove entries and their descendants. Cost: linear, however many siblings are removed together."""
        outermost = list(ids)
        gone = {each for id in outermost for each in self.walk(id)}
        for former in {self.parent(id) for id in outermost} - gone:
            self._order[former] = [child for child in self.children(former) if child not in gone]
        self._removed.update(gone)
        for each in gone:
            self._own.pop(each, None)
            self._parent.pop(each, None)
            self._order.pop(each, None)

    def hash_tree(self) -> tuple[bytes, list[NodeRow]]:
        """Return the root hash of this draft, and the node rows that its base does not have."""
        changed = {id for id in (*self._own, *self._order) if id in self}
        dirty = changed | {above for id in changed for above in self.ancestors(id)}
        rows: dict[str, NodeRow] = {}
        # The deepest first, since a node's hash covers those of its children.
        for id in sorted(dirty, key=lambda id: -sum(1 for _ in self.ancestors(id))):
            children = tuple(
                rows[child].hash if child in rows else self._compute_hash(child) for child in self.children(id)
            )
            rows[id] = tree.encode_node(replace(self.node(id), children=children))
        root = rows[ROOT].hash if ROOT in rows else self.base.root
        return root, [row for id, row in rows.items() if row.hash != self._compute_hash(id)]

    def _insert_child(self, id: str, into: str, at: int | None) -> None:
        if into not in self._order:
            self._order[into] = self.children(into)
        siblings = self._order[into]
        siblings.insert(len(siblings) if at is None else at, id)

    def _compute_hash(self, id: str) -> bytes:
        entry = self.base.entries.get(id)
        return b"" if entry is None else entry.hash


def is_page(node: Node) -> bool:
    """Return whether a node is part of the page tree."""
    return node.type in ("document", "group", "link", "computed")


def read_variables(outline: Outline, entry: TreeEntry) -> Variables:
    """Return the variables that a page can read: those of its space and its own."""
    space = outline.entries[ROOT].node.fields.get("variables", {})
    return Variables({"space": space, "page": entry.node.fields.get("variables", {})})


def has_path(node: Node) -> bool:
    """Return whether a node has a slug and a path of its own; links and computed pages have none."""
    return node.type in ("document", "group")


def find_cached_outline(root: bytes) -> Outline | None:
    """Return the outline of a root hash when it is cached, without a query, else None."""
    return _cache.get(root)


def open_outline(connection: sa.Connection, root: bytes) -> Outline:
    """Return the outline of a root hash; cached, since it can never change."""
    return _cache.get(root) or _cache.put(root, build_outline(root, tree.load_nodes(connection, root)))


def build_outline(root: bytes, nodes: Mapping[bytes, Node]) -> Outline:
    """Return the outline of the tree below a root hash; `nodes` has every node of it by hash."""
    entries: dict[str, TreeEntry] = {}
    order: dict[str, tuple[str, ...]] = {}
    pending = [(root, ROOT, "")]
    while pending:
        hash, parent, above = pending.pop()
        node = nodes[hash]
        path = f"{above}/{node.slug}" if above and node.slug else above or node.slug
        entries[node.id] = TreeEntry(node, hash, parent, path)
        if node.children:
            order[node.id] = tuple(nodes[child].id for child in node.children)
            pending += [(child, node.id, path) for child in reversed(node.children)]
    return Outline(root, entries, order)


def _build_empty_outline() -> Outline:
    # Hashes that no node has, so that a draft of it saves all of it.
    entries = {ROOT: TreeEntry(Node(ROOT, "content"), b"", ROOT, "")}
    entries |= {id: TreeEntry(Node(id, "section"), b"", ROOT, "") for id in SECTIONS}
    return Outline(b"", entries, {ROOT: SECTIONS, PAGES: ()})


_EMPTY = _build_empty_outline()
