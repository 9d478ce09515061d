"""Find out which file of a branch is which existing page, although files were renamed, swapped or rewritten."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import NamedTuple

ROUNDS = 8
"""Rounds of matching: a matched page lets its children match by "same parent" in the next round."""


class ListedPage(NamedTuple):
    """One page as a table of contents lists it; `above` is the file of the nearest page that it hangs below, or ""."""

    path: str
    title: str
    slug: str
    above: str
    oid: str


def find_desired_paths(
    existing: Iterable[ListedPage],
    desired: Iterable[ListedPage],
    *,
    files: Mapping[str, str],
    renames: Mapping[str, str],
) -> dict[str, str]:
    """Return the desired path of each existing page, by its existing path; a page without one is deleted.

    Shape: `files` are all files of the branch by path, `renames` those that Git and the files' lines tell; pages with
    the same text at the same path on both sides may be left out. Pages are matched in this order: chains and swaps of
    files that kept their bytes, most of their lines or their titles, renames, the same path; then, for what is left on
    both sides, the same title or slug below the same page, or both anywhere, each only where no other has it. Linear.
    """
    old = {page.path: page for page in existing}
    new = {page.path: page for page in desired}
    found = dict(_find_chains(old, new, files, renames))
    taken = set(found.values())
    for former, path in sorted(renames.items()):
        is_free = path in new and path not in taken and (path not in old or path in found)
        if former in old and former not in found and former not in files and is_free:
            found[former] = path
            taken.add(path)
    for path in old.keys() & new.keys() - found.keys() - taken:
        found[path] = path
    return found | _find_alike(old, new, found)


def _find_chains(
    old: Mapping[str, ListedPage],
    new: Mapping[str, ListedPage],
    files: Mapping[str, str],
    renames: Mapping[str, str],
) -> Iterator[tuple[str, str]]:
    """Find pages that moved to a path where another existing page was.

    A chain (a to b, b to c, …) begins at a page that left its path, and a ring has no beginning. A chain that ends at
    an existing page's path counts only if every page in it kept its text; a ring if at least one did. Otherwise the
    pages were edited in place.
    """
    changed = [page for path, page in old.items() if files.get(path) != page.oid]
    arrived = [page for path, page in new.items() if path not in old or old[path].oid != page.oid]
    # A page that keeps its title at its path was not replaced by another: it was given a copy of the other's text.
    by_lines = {former: path for former, path in renames.items() if former in old and path in new}
    by_text = {
        former: path
        for former, path in (by_lines | _pair_by_key(changed, arrived, lambda page: page.oid)).items()
        if path not in old or new[path].title == old[former].title or new[path].title != old[path].title
    }
    by_title = _pair_by_key(changed, arrived, lambda page: (page.above, page.title))
    moves = {**by_title, **by_text}  # a text is surer than a title
    for start in sorted(page.path for page in changed if page.path not in files or _has_left(page, new, by_text)):
        chain = _follow(start, moves)
        is_sure = chain and (chain[-1][1] not in old or all(by_text.get(former) == path for former, path in chain))
        if is_sure and (len(chain) > 1 or start in files or chain[0][1] in old):
            yield from chain
    rest = moves.keys() & moves.values()
    for start in sorted(rest):
        chain = _follow(start, moves) if start in rest else []
        if chain and chain[-1][1] == start and any(by_text.get(former) == path for former, path in chain):
            yield from chain
        rest -= {former for former, _ in chain}


def _has_left(page: ListedPage, new: Mapping[str, ListedPage], by_text: Mapping[str, str]) -> bool:
    """Whether a page's text and title are at another path, and another title is at its own."""
    path = by_text.get(page.path)
    here = new.get(page.path)
    return path is not None and new[path].title == page.title and (here is None or here.title != page.title)


def _follow(start: str, moves: Mapping[str, str]) -> list[tuple[str, str]]:
    chain: list[tuple[str, str]] = []
    seen: set[str] = set()
    here = start
    while here in moves and here not in seen:
        seen.add(here)
        chain.append((here, moves[here]))
        here = moves[here]
    return chain


def _find_alike(
    old: Mapping[str, ListedPage], new: Mapping[str, ListedPage], found: Mapping[str, str]
) -> dict[str, str]:
    """Pairs among pages that are gone and pages that are new."""
    known = dict(found)
    taken = set(found.values())
    keys: tuple[Callable[[ListedPage], Hashable], ...] = (
        lambda page: (page.above, page.title),
        lambda page: (page.above, page.slug) if page.slug else None,
        lambda page: (page.title, page.slug) if page.slug else None,
    )
    for _ in range(ROUNDS):
        before = len(known)
        for key in keys:
            # A page below one that has no match yet gets an `above` that nothing in the branch has.
            gone = [
                page._replace(above=known.get(page.above, f"\0{page.above}") if page.above in old else page.above)
                for path, page in old.items()
                if path not in known
            ]
            fresh = [page for path, page in new.items() if path not in taken]
            pairs = _pair_by_key(gone, fresh, key) if gone and fresh else {}
            known |= pairs
            taken |= set(pairs.values())
        if len(known) == before:
            break
    return {former: path for former, path in known.items() if former not in found}


def _pair_by_key(
    left: Iterable[ListedPage], right: Iterable[ListedPage], key: Callable[[ListedPage], Hashable]
) -> dict[str, str]:
    """Paths of pages whose key no other page on their side has, where both sides have it."""
    ours, theirs = _index_unique(left, key), _index_unique(right, key)
    return {path: theirs[name] for name, path in ours.items() if name in theirs and theirs[name] != path}


def _index_unique(pages: Iterable[ListedPage], key: Callable[[ListedPage], Hashable]) -> dict[Hashable, str]:
    keyed = [(key(page), page.path) for page in pages]
    count = Counter(name for name, _ in keyed)
    return {name: path for name, path in keyed if name is not None and count[name] == 1}
