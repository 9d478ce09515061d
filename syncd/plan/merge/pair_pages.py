"""Find which changed files of two sides are one file, under every name that a side gives it.

Source: docs/decisions/0002-one-recorded-base.md.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from posixpath import dirname, splitext

from syncd.layout.tree.paths import is_markdown
from syncd.plan.merge.pages import SIDES, Page, Side, Version, other_side

FileChange = tuple[Version | None, Version | None]
"""One file of a side: as the base has it, and as the side has it."""


def pair_pages(
    ours: Iterable[FileChange],
    theirs: Iterable[FileChange],
    titles: Sequence[Mapping[str, str]] = ({}, {}, {}),
    *,
    is_one_text: Callable[[Version, Version], bool] = lambda one, other: one.oid == other.oid,
) -> list[Page]:
    """Return every page that a side changed since the base, with its versions.

    Shape: `titles` are those of base, ours and theirs by path. Where git detects no rename, a deleted and an added file
    are one page when they alone have the same title. `is_one_text` says of two new files whether one has all that the
    other says.
    """
    former = titles[0]
    one, other = (
        _index_by_page(
            _pair_renamed(_pair_renamed(changes, strip_page_suffix, strip_page_suffix), former.get, names.get)
        )
        for changes, names in zip((ours, theirs), titles[1:], strict=True)
    )
    found = []
    for key in dict.fromkeys((*one, *other)):
        base = (one.get(key) or other[key])[0]
        found.append(Page(base, one.get(key, (None, base))[1], other.get(key, (None, base))[1]))
    return _join_added_below_moved(_join_moved_copies(found), titles, is_one_text)


def prefer_transfers(pages: Iterable[Page], find_space: Callable[[str], str | None]) -> Iterator[Page]:
    """Yield the pages, with theirs as the mover of each that it moved to another space, and ours within its own: only
    the table of contents of the other space lists the page once both are merged."""
    for page in pages:
        base, ours, theirs = page.base, page.ours, page.theirs
        if base is None or ours is None or theirs is None or base.path in (ours.path, theirs.path):
            yield page
        elif find_space(base.path) == find_space(ours.path) != find_space(theirs.path):
            yield replace(page, mover="theirs")
        else:
            yield page


def may_be_one_page(ours: Sequence[FileChange], theirs: Sequence[FileChange]) -> bool:
    """Return whether two changed files may be one page: a side deleted one and added one, or each side added one."""
    (deleted, added), (other_deleted, other_added) = (
        (any(new is None for _, new in changes), any(old is None for old, _ in changes)) for changes in (ours, theirs)
    )
    return (deleted and added) or (other_deleted and other_added) or (added and other_added)


def strip_page_suffix(path: str) -> str:
    """Return what the paths `x.md` and `x/README.md` have in common; "" for what is no page."""
    if not is_markdown(path):
        return ""
    found, _ = splitext(path)
    return dirname(path) if found.rpartition("/")[2].lower() == "readme" else found


def _join_moved_copies(pages: Sequence[Page]) -> list[Page]:
    """The pages; where one side moved a page and the other added a copy of it at the same path, both have moved it."""
    added = {page.path: page for page in pages if page.base is None and (page.ours is None or page.theirs is None)}
    twins: dict[Page, Page] = {}
    for page in pages:
        base, ours, theirs = page.base, page.ours, page.theirs
        moved = theirs if ours == base else ours if theirs == base else None
        twin = added.get(moved.path) if moved is not None and base is not None else None
        if moved is None or base is None or twin is None:
            continue
        copy = twin.ours or twin.theirs
        if copy is not None and (twin.ours is None) == (moved is ours) and copy.oid in (base.oid, moved.oid):
            twins[page] = Page(base, moved, copy) if moved is ours else Page(base, copy, moved)
    taken = {page.path for page in twins.values()}
    return [twins.get(page, page) for page in pages if page.base is not None or page.path not in taken]


def _join_added_below_moved(
    pages: Sequence[Page], titles: Sequence[Mapping[str, str]], is_one_text: Callable[[Version, Version], bool]
) -> list[Page]:
    """The pages; where one side moved a page and each side added a page below it, with one path from there, one text
    and one title, both have added the same page."""
    added = {side: {page.path: page for page in pages if _is_added_by(page, side)} for side in SIDES}
    if not all(added.values()):
        return list(pages)
    joined: dict[Page, Page] = {}
    for mover in SIDES:
        folders = _list_moved_folders(pages, mover)
        for path, page in added[other_side(mover)].items():
            twin = added[mover].get(_move_with_folder(path, folders))
            if twin is None or twin in joined or page in joined:
                continue
            both = Page(None, page.ours or twin.ours, page.theirs or twin.theirs, mover)
            if _is_same_page(both, titles, is_one_text):
                joined |= {page: both, twin: both}
    return list(dict.fromkeys(joined.get(page, page) for page in pages))


def _is_same_page(
    page: Page, titles: Sequence[Mapping[str, str]], is_one_text: Callable[[Version, Version], bool]
) -> bool:
    """Whether what both sides added has one title, or none, in both tables of contents, and one text."""
    ours, theirs = page.ours, page.theirs
    assert ours is not None
    assert theirs is not None
    return titles[1].get(ours.path) == titles[2].get(theirs.path) and is_one_text(ours, theirs)


def _is_added_by(page: Page, side: Side) -> bool:
    """Whether one side alone added a page."""
    return page.base is None and page.at(other_side(side)) is None and is_markdown(page.path)


def _list_moved_folders(pages: Iterable[Page], mover: Side) -> dict[str, str]:
    """The new folder for the pages below each page that one side alone moved, by the former one."""
    found: dict[str, str] = {}
    for page in pages:
        moved, other = page.at(mover), page.at(other_side(mover))
        if page.base is None or moved is None:
            continue
        former, later = strip_page_suffix(page.base.path), strip_page_suffix(moved.path)
        # The first page below one gives that a folder of its own, which moves no page.
        is_left = other is None or strip_page_suffix(other.path) == former
        if former and later and former != later and is_left:
            found[former] = later
    return found


def _move_with_folder(path: str, folders: Mapping[str, str]) -> str:
    """Where a file lies once the nearest of the moved folders above it has moved; "" when none is above it."""
    above = dirname(path)
    while above and above not in folders:
        above = dirname(above)
    return f"{folders[above]}{path.removeprefix(above)}" if above else ""


def _index_by_page(changes: Iterable[FileChange]) -> dict[tuple[bool, str], FileChange]:
    """Changes by the page's path in the base, or, for a new page, by its own path."""
    found: dict[tuple[bool, str], FileChange] = {}
    for before, after in changes:
        version = before or after
        assert version is not None
        found[before is None, version.path] = (before, after)
    return found


_Name = Callable[[str], str | None]


def _pair_renamed(changes: Iterable[FileChange], gone_name: _Name, come_name: _Name) -> list[FileChange]:
    """The changes, with a deleted and an added file as one page when they alone have the same name."""
    listed = list(changes)
    gone = _find_unique((gone_name(old.path), (old, new)) for old, new in listed if old is not None and new is None)
    come = _find_unique((come_name(new.path), (old, new)) for old, new in listed if old is None and new is not None)
    pairs = [(gone[name], come[name]) for name in gone if name in come]
    taken = {change for pair in pairs for change in pair}
    return [change for change in listed if change not in taken] + [(old[0], new[1]) for old, new in pairs]


def _find_unique(named: Iterable[tuple[str | None, FileChange]]) -> dict[str, FileChange]:
    """The changes whose name no other has; "" is none."""
    found: dict[str, list[FileChange]] = {}
    for name, change in named:
        if name:
            found.setdefault(name, []).append(change)
    return {name: changes[0] for name, changes in found.items() if len(changes) == 1}
