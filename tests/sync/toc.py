"""Edits of a table of contents, as a writer makes them."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from syncd.layout.tree.summary import Entry, walk_entries


def without(entries: Sequence[Entry], gone: Entry) -> tuple[Entry, ...]:
    """Given entries, return them without the one of a file."""
    return tuple(replace(entry, children=without(entry.children, gone)) for entry in entries if entry.path != gone.path)


def replaced(entries: Sequence[Entry], old: Entry, new: Entry) -> tuple[Entry, ...]:
    """Given entries, return them with another in the place of one of them."""
    return tuple(
        new if entry.path == old.path else replace(entry, children=replaced(entry.children, old, new))
        for entry in entries
    )


def under(entries: Sequence[Entry], above: Entry | None, new: Entry, chance: Random) -> tuple[Entry, ...]:
    """Given entries, return them with a new one below one of them, or somewhere at the top but not first."""
    if above is None:
        place = chance.randint(1, len(entries))
        return (*entries[:place], new, *entries[place:])
    return tuple(
        replace(entry, children=(*entry.children, new))
        if entry.path == above.path
        else replace(
            entry, children=under(entry.children, above, new, chance) if _holds(entry, above) else entry.children
        )
        for entry in entries
    )


def _holds(entry: Entry, inner: Entry) -> bool:
    return any(child.path == inner.path for child, _ in walk_entries(entry.children))
