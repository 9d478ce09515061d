"""Let links lead to the same pages when these get another path: a text names a page's path, people mean the page."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from urllib.parse import unquote

from syncd.layout.page.links import build_target_filter, find_page_name, follow_moves
from syncd.platform.revisions.outline import Draft, Outline
from syncd.platform.revisions.tree import INCLUDES, PAGES, TEXTS

Addresses = Mapping[str, tuple[str, ...]]
_SUFFIX = re.compile("[?#]")
_FOLDERS = ("", ".", "..", "README")
"""What addresses end with that may lead to the page of any folder."""


def find_moves(before: Outline, draft: Draft, ids: Iterable[str]) -> dict[str, str]:
    """Return the path in a draft of each of some files that lies elsewhere than in an outline, by its path there."""
    found = {}
    for id in ids:
        entry = before.entries.get(id)
        if entry is not None and entry.node.path and id in draft:
            path = draft.node(id).path
            if path and path != entry.node.path:
                found[entry.node.path] = path
    return found


def list_texts(draft: Draft) -> Iterator[str]:
    """Yield the ids of the pages and reusable contents of a draft that have a text."""
    for section in (PAGES, INCLUDES):
        for id in draft.walk(section):
            node = draft.node(id)
            if node.type in TEXTS and node.body and node.path:
                yield id


def choose_texts(
    draft: Draft, moves: Mapping[str, str], ids: Sequence[str], find_addresses: Callable[[Iterable[str]], Addresses]
) -> list[str]:
    """Return those of some texts that may have a link to a page that moved, or lie elsewhere themselves.

    Shape: `moves` are as in `follow_moved_pages`; `find_addresses` returns the addresses in texts by their blob ids.
    """
    names, moved = {find_page_name(path) for path in moves}, set(moves.values())
    bodies = {id: draft.node(id).body or "" for id in ids}
    addresses = find_addresses(bodies.values())

    def may_lead_to_one(address: str) -> bool:
        return (name := find_page_name(unquote(_SUFFIX.split(address, maxsplit=1)[0]))) in names or name in _FOLDERS

    return [
        id for id, body in bodies.items() if draft.node(id).path in moved or any(map(may_lead_to_one, addresses[body]))
    ]


def follow_moved_pages(
    draft: Draft, before: Outline, moves: Mapping[str, str], ids: Iterable[str], *, read: Callable[[str], bytes]
) -> Iterator[tuple[str, bytes]]:
    """Yield each of some texts whose links have to be written anew, with its id.

    Shape: the texts have links as of the outline `before`; `moves` are the paths of the draft by those in that outline.
    Cost: each text is read; links are looked for where a text may lead to a page that moved, or moved itself.
    """
    if not moves:
        return
    may_lead_to_one = build_target_filter(moves)
    for id in ids:
        node, entry = draft.node(id), before.entries.get(id)
        assert node.body
        assert node.path
        former = entry.node.path if entry is not None and entry.node.path else node.path
        body = read(node.body)
        if former == node.path and not may_lead_to_one(body):
            continue
        text = follow_moves(body.decode(), moves, at=former, to=node.path).encode()
        if text != body:
            yield id, text
