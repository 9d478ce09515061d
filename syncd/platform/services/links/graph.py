"""Who refers to what in one revision: addresses in texts, and references among the members of pages, resolved."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from syncd.platform.cache import Cache
from syncd.platform.http.time_limits import check_time
from syncd.platform.revisions.outline import Outline, TreeEntry
from syncd.platform.revisions.targets import Reference, TargetResolver
from syncd.platform.revisions.tree import TEXTS
from syncd.platform.storage.storage import Storage
from syncd.platform.storage.text_addresses import find_addresses

Addresses = Callable[[Iterable[str]], Mapping[str, tuple[str, ...]]]

_REMEMBERED = 1_000_000
_graphs: Cache[bytes, "LinkGraph"] = Cache(_REMEMBERED, weigh=lambda graph: graph.weight)


@dataclass(frozen=True)
class LinkGraph:
    """The references of every place in a revision, by the place's id, in reading order."""

    outgoing: Mapping[str, tuple[Reference, ...]]

    @cached_property
    def incoming(self) -> Mapping[str, tuple[str, ...]]:
        """For each page, file and reusable content that something refers to, the places that do."""
        found: dict[str, dict[str, None]] = {}
        for place, references in self.outgoing.items():
            for reference in references:
                if reference.id is not None:
                    found.setdefault(reference.id, {})[place] = None
        return {id: tuple(places) for id, places in found.items()}

    @cached_property
    def by_target(self) -> Mapping["Reference", tuple[str, ...]]:
        """Each target once, with the places that refer to it."""
        return group_by_target(self.outgoing)

    @property
    def weight(self) -> int:
        """How much memory it takes, in references."""
        return 1 + sum(len(references) for references in self.outgoing.values())


def group_by_target(outgoing: Mapping[str, Iterable[Reference]]) -> dict[Reference, tuple[str, ...]]:
    """Return the targets of references, each with the places that refer to it; `outgoing` has references by their
    place.

    Shape: a target is the reference without the address, which each page may spell in its own way.
    """
    found: dict[Reference, dict[str, None]] = {}
    same: dict[Reference, Reference] = {}
    for place, references in outgoing.items():
        for reference in references:
            target = same.get(reference)
            if target is None:
                target = replace(reference, address="") if reference.id is not None else reference
                same[reference] = target
            found.setdefault(target, {})[place] = None
    return {target: tuple(places) for target, places in found.items()}


@dataclass(frozen=True)
class LinkResolver:
    """Resolves what the places of one revision say; `addresses` returns the addresses in texts by their blob ids."""

    outline: Outline
    addresses: Addresses

    @cached_property
    def _targets(self) -> TargetResolver:
        return TargetResolver(self.outline)

    def build_graph(self) -> LinkGraph:
        """Return the references of all places."""
        entries = [entry for entry in self.outline.entries.values() if entry.node.body or entry.node.fields]
        texts = self.addresses(entry.node.body or "" for entry in entries if _is_text(entry))
        pairs = ((entry.node.id, tuple(self._list_references(entry, texts))) for entry in entries)
        return LinkGraph({id: references for id, references in pairs if references})

    def find_references(self, entry: TreeEntry) -> tuple[Reference, ...]:
        """Return the references in one page or reusable content; only its own text is read."""
        texts = self.addresses([entry.node.body] if _is_text(entry) and entry.node.body else [])
        return tuple(self._list_references(entry, texts))

    def _list_references(self, entry: TreeEntry, texts: Mapping[str, tuple[str, ...]]) -> Iterator[Reference]:
        check_time(even_written=True)
        if _is_text(entry):
            yield from (self._targets.resolve(address, entry) for address in texts[entry.node.body or ""])
        # Covers stand in the text, too; links and meta links stand among the members only.
        meta = entry.node.fields.get("metaLinks", {})
        for ref in (entry.node.fields.get("target"), meta.get("canonical"), *meta.get("alternates", ())):
            if isinstance(ref, Mapping):
                yield self._build_reference(ref)

    def _build_reference(self, ref: Mapping[str, Any]) -> Reference:
        kind = str(ref.get("kind", ""))
        if kind == "url":
            return Reference("url", str(ref.get("url", "")))
        id = str(ref.get("page") or ref.get("file") or ref.get("reusableContent") or "")
        anchor = ref.get("anchor")
        if id in self.outline.entries:
            return Reference("anchor" if anchor else kind, "", id, anchor)
        return Reference(kind, id, found=False)


def build_graph(storage: Storage, outline: Outline) -> LinkGraph:
    """Return the graph of links of a revision's tree; it is cached, since a tree never changes."""
    known = _graphs.get(outline.root)
    return known if known is not None else _graphs.put(outline.root, create_resolver(storage, outline).build_graph())


def create_resolver(storage: Storage, outline: Outline) -> LinkResolver:
    """Return a resolver of the references in a revision's tree."""
    return LinkResolver(outline, lambda bodies: find_addresses(storage, bodies))


def _is_text(entry: TreeEntry) -> bool:
    return entry.node.type in TEXTS and entry.node.body is not None
