"""A tree with other pages in the place of some: what is new, and all above it, has hashes of its own."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from syncd.layout.tree.paths import SLUG_CHARACTERS, make_collision_key, slugify
from syncd.platform.revisions.outline import Outline, TreeEntry
from syncd.platform.revisions.tree import ROOT, Node, encode_node


@dataclass(frozen=True, slots=True)
class NewPage:
    """A document to put into a tree, with those below it; its slug and path come from its title and place.

    Shape: `body` is the blob of its text, None where it has none.
    """

    id: str
    title: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    pages: tuple["NewPage", ...] = ()
    body: str | None = None


def replace_pages(outline: Outline, replaced: Mapping[str, Sequence[NewPage]]) -> Outline:
    """Return a tree in which other pages stand in the place of those with some ids, and of all below them.

    Shape: slugs are numbered where another page has the path; pages that were there keep theirs.
    """
    return _Replacement(outline, replaced).build()


class _Replacement:
    """One tree in the making: new nodes and the order of everything, then hashes from the leaves up."""

    def __init__(self, outline: Outline, replaced: Mapping[str, Sequence[NewPage]]) -> None:
        self._former, self._replaced = outline, replaced
        self._new: dict[str, TreeEntry] = {}
        self._order: dict[str, tuple[str, ...]] = {}
        self._taken = set(outline.by_path)
        self._numbers: dict[tuple[str, str], count[int]] = defaultdict(count)

    def build(self) -> Outline:
        """Return the tree."""
        ids = self._list_ids()
        made: dict[str, TreeEntry] = {}
        for id in reversed(ids):
            hashes = tuple(made[child].hash for child in self._order.get(id, ()))
            made[id] = self._make_entry(id, hashes)
        return Outline(made[ROOT].hash, {id: made[id] for id in ids}, self._order)

    def _list_ids(self) -> list[str]:
        """All ids of the tree, parents first, in reading order."""
        ids: list[str] = []
        pending = [ROOT]
        while pending:
            id = pending.pop()
            ids.append(id)
            if id in self._former.order:
                self._order[id] = tuple(self._list_children(id))
            pending += reversed(self._order.get(id, ()))
        return ids

    def _list_children(self, id: str) -> list[str]:
        children: list[str] = []
        for child in self._former.order[id]:
            pages = self._replaced.get(child)
            children += [child] if pages is None else self._insert(pages, id, self._former.entries[id].path)
        return children

    def _insert(self, pages: Sequence[NewPage], parent: str, above: str) -> list[str]:
        """Insert pages below a parent whose path is `above`, and return their ids."""
        for page in pages:
            slug, path = self._choose_slug(above, slugify(page.title))
            node = Node(page.id, "document", page.title, slug, page.fields, page.body)
            self._new[page.id] = TreeEntry(node, b"", parent, path)
            if page.pages:
                self._order[page.id] = tuple(self._insert(page.pages, page.id, path))
        return [page.id for page in pages]

    def _choose_slug(self, above: str, slug: str) -> tuple[str, str]:
        """A slug whose path no page has, and the path; the search goes on where that for an equal slug ended."""
        stem = slug[: SLUG_CHARACTERS - 6]
        while True:
            number = next(self._numbers[above, slug])
            name = slug if number == 0 else f"{stem}-{number}"
            path = f"{above}/{name}" if above else name
            key = make_collision_key(path)
            if key not in self._taken:
                self._taken.add(key)
                return name, path

    def _make_entry(self, id: str, hashes: tuple[bytes, ...]) -> TreeEntry:
        entry = self._new.get(id)
        if entry is None:
            entry = self._former.entries[id]
            if hashes == tuple(self._former.entries[child].hash for child in self._former.order.get(id, ())):
                return entry
        node = replace(entry.node, children=hashes)
        return replace(entry, node=node, hash=encode_node(node).hash)
