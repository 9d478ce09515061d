"""What of a tree a visitor may know of: no page whose condition the visitor does not fulfil, and none of its files."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Any

from syncd.layout.evaluation import Variables
from syncd.platform.cache import Cache
from syncd.platform.revisions.outline import Outline, TreeEntry, is_page
from syncd.platform.revisions.readable_files import VisitorTexts

_CONDITION = "condition"
_READABLE = b"readable"
_REMEMBERED_PAGES = 100_000
_known: Cache[tuple[bytes, str], Outline] = Cache(_REMEMBERED_PAGES, weigh=lambda outline: len(outline.entries) + 1)


def find_readable(outline: Outline, claims: Mapping[str, Any]) -> Outline | None:
    """Return what `select_readable` returned for a visitor with these claims, None when nobody asked for it yet."""
    return _known.get(_build_key(outline, claims))


def select_readable(outline: Outline, claims: Mapping[str, Any], read: Callable[[str], bytes]) -> Outline:
    """Return a tree without the pages, and all below them, whose condition a visitor with these claims does not fulfil,
    and without the files and reusable contents that stand only on those, or in parts of a text that are for others.

    Shape: `read` returns a blob by its id. A page that is there says nothing of its condition; what lost something has
    another hash, so that nothing that is remembered of the whole tree is shown for it; a tree without conditions is the
    same one.
    """
    key = _build_key(outline, claims)
    known = _known.get(key)
    if known is not None:
        return known
    gone = _find_closed_pages(outline, Variables({}, claims))
    gone |= VisitorTexts(outline, claims, read).find_closed_files(gone)
    has_conditions = any(_CONDITION in entry.node.fields for entry in outline.entries.values())
    return _known.put(key, _remove_entries(outline, gone) if gone or has_conditions else outline)


def _build_key(outline: Outline, claims: Mapping[str, Any]) -> tuple[bytes, str]:
    return outline.root, json.dumps(claims, sort_keys=True)


def _find_closed_pages(outline: Outline, visitor: Variables) -> set[str]:
    gone: set[str] = set()
    # Parents come first, so that what is below a page that goes is found to go, too.
    for id, entry in outline.entries.items():
        if entry.parent in gone or (is_page(entry.node) and not _is_for(entry, visitor)):
            gone.add(id)
    return gone


def _remove_entries(outline: Outline, gone: set[str]) -> Outline:
    kept: dict[str, TreeEntry] = {}
    order = {id: tuple(child for child in below if child not in gone) for id, below in outline.order.items()}
    for id in reversed(list(outline.entries)):
        if id in gone:
            continue
        entry = outline.entries[id]
        below = outline.order.get(id, ())
        hashes = [kept[child].hash for child in order.get(id, ())]
        is_same = hashes == [outline.entries[child].hash for child in below]
        fields = {name: value for name, value in entry.node.fields.items() if name != _CONDITION}
        if not is_same or fields != entry.node.fields:
            node = replace(entry.node, fields=fields)
            entry = replace(entry, node=node, hash=sha256(_READABLE + entry.hash + b"".join(hashes)).digest())
        kept[id] = entry
    entries = {id: kept[id] for id in outline.entries if id in kept}
    root = next(iter(entries.values())).hash
    return Outline(root, entries, {id: below for id, below in order.items() if id in kept})


def _is_for(entry: TreeEntry, visitor: Variables) -> bool:
    condition = entry.node.fields.get(_CONDITION)
    return condition is None or visitor.evaluate_condition(condition) is True
