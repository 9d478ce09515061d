"""What of a tree a visitor may know of: without the pages whose condition the visitor does not fulfil."""

import json
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Any

from syncd.layout.evaluation import Variables
from syncd.platform.cache import Cache
from syncd.platform.revisions.outline import Outline, TreeEntry, is_page

_CONDITION = "condition"
_READABLE = b"readable"
_REMEMBERED_PAGES = 100_000
_known: Cache[tuple[bytes, str], Outline] = Cache(_REMEMBERED_PAGES, weigh=lambda outline: len(outline.entries) + 1)


def select_readable(outline: Outline, claims: Mapping[str, Any]) -> Outline:
    """Return a tree without the pages, and all below them, whose condition a visitor with these claims does not fulfil.

    Shape: a page that is there says nothing of its condition; what lost something has another hash, so that nothing
    that is remembered of the whole tree is shown for it; a tree without conditions is the same one.
    """
    if not any(_CONDITION in entry.node.fields for entry in outline.entries.values()):
        return outline
    key = (outline.root, json.dumps(claims, sort_keys=True))
    return _known.get(key) or _known.put(key, _select_readable(outline, Variables({}, claims)))


def _select_readable(outline: Outline, visitor: Variables) -> Outline:
    gone: set[str] = set()
    # Parents come first, so that what is below a page that goes is found to go, too.
    for id, entry in outline.entries.items():
        if entry.parent in gone or (is_page(entry.node) and not _is_for(entry, visitor)):
            gone.add(id)
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
