"""Restore entries of a table of contents: give some pages the title and place that another table has."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace

from syncd.layout.tree.summary import Entry, walk_entries


def group_paths(entries: Iterable[Collection[str]]) -> dict[str, frozenset[str]]:
    """Return for each path the set of all paths of its file; files that share a path, as after a swap, are one set."""
    names: dict[str, frozenset[str]] = {}
    for paths in entries:
        joined = frozenset(paths).union(*(names[path] for path in paths if path in names))
        names |= dict.fromkeys(joined, joined)
    return names


def restore_entries(
    entries: Iterable[Entry],
    pages: Iterable[Collection[str]],
    reference: Mapping[str, Entry],
    *,
    titles_only: bool = False,
) -> tuple[Entry, ...]:
    """Return a table of contents with the entries of some pages as another table has them.

    Shape: `pages` has the paths of each such page; `reference` is the other table by path. A page that the other table
    does not list is removed, and its children move up; with `titles_only` no page is removed, and only titles are
    restored. Pages that share paths are matched by title, else by path. Works at any depth.
    """
    entries = tuple(entries)
    former = _find_counterparts(entries, pages, reference)
    done: list[list[Entry]] = [[]]
    pending: list[Entry | None] = list(reversed(entries))
    begun: list[Entry] = []
    while pending:
        entry = pending.pop()
        if entry is not None:
            begun.append(entry)
            done.append([])
            pending += [None, *reversed(entry.children)]
            continue
        entry, children = begun.pop(), tuple(done.pop())
        # A path: take that entry; None: the other table lacks the page; "": it is not one of `pages`.
        path = former.get(entry.path, "") if entry.path is not None else ""
        if path:
            entry = _restore_entry(entry, path, reference[path], titles_only=titles_only)
        done[-1] += children if path is None and not titles_only else [replace(entry, children=children)]
    return tuple(done[0])


def _find_counterparts(
    entries: Iterable[Entry], pages: Iterable[Collection[str]], reference: Mapping[str, Entry]
) -> dict[str, str | None]:
    """The path in the other table of each page to restore; None for one that it does not list."""
    names = group_paths(pages)
    listed: dict[frozenset[str], dict[str, Entry]] = {}
    for entry, _ in walk_entries(entries):
        if entry.path in names and entry.path is not None and entry.anchor is None:
            listed.setdefault(names[entry.path], {}).setdefault(entry.path, entry)
    found: dict[str, str | None] = {}
    for paths in dict.fromkeys(names.values()):
        told = {path: reference[path] for path in sorted(paths) if path in reference}
        found |= {path: path if path in told else next(iter(told), None) for path in paths}
        found |= _pair_entries(listed.get(paths, {}), told)
    return found


def _pair_entries(listed: Mapping[str, Entry], reference: Mapping[str, Entry]) -> dict[str, str | None]:
    """Match pages with those of another table, the surest matches first, none twice."""
    found: dict[str, str | None] = {}
    left = dict(reference)
    ways: tuple[Callable[[str, str], bool], ...] = (
        lambda path, other: listed[path].title == reference[other].title,
        lambda path, other: path == other,
        lambda path, other: True,
    )
    for is_it in ways:
        for path in (path for path in listed if path not in found):
            twin = next((other for other in left if is_it(path, other)), None)
            if twin is not None:
                found[path] = twin
                del left[twin]
    return {path: found.get(path) for path in listed}


def _restore_entry(entry: Entry, path: str, reference_entry: Entry, *, titles_only: bool) -> Entry:
    if entry.anchor is None:
        entry = replace(entry, title=reference_entry.title, link_title=reference_entry.link_title)
    return entry if titles_only else replace(entry, path=path)
