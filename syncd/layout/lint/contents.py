"""Rules about the table of contents: what it lists without a file, twice, or not at all."""

from collections.abc import Iterator
from posixpath import dirname

from syncd.layout.lint.finding import Finding, finding
from syncd.layout.lint.near import Near, meant
from syncd.layout.lint.space import Space, is_no_page
from syncd.layout.tree.paths import collision_key, shown
from syncd.layout.tree.summary import Entry, walk


def check_contents(space: Space) -> Iterator[Finding]:
    """Given a space, return what its table of contents says of files that are not there, and what it leaves out."""
    if not space.decided:
        if space.summary not in space.broken and space.listed:
            message = f"there is no {space.draft.settings.summary}; the tree follows the folders"
            yield finding("summary-absent", space.summary, (1, 1), message)
        return
    for part in space.draft.skipped:
        if part.path == space.summary:
            yield finding("summary-outside", part.path, (part.line, part.column), part.why)
    yield from _listed(space)
    yield from _unlisted(space)


def _listed(space: Space) -> Iterator[Finding]:
    near = Near(space.items)
    seen: dict[str, Entry] = {}
    for entry, _ in walk(space.draft.entries):
        if entry.path is None or entry.anchor is not None:
            continue
        place = (entry.line, _column(space, entry))
        if entry.path not in space.items:
            yield _absent(space, entry.path, place, near)
        elif entry.path in seen:
            message = f"{shown(entry.path)} is listed in line {seen[entry.path].line} already"
            yield finding("summary-twice", space.summary, place, message)
        seen.setdefault(entry.path, entry)


def _absent(space: Space, path: str, place: tuple[int, int], near: Near) -> Finding:
    other = space.spellings.get(collision_key(path))
    if other is not None:
        message = f"{shown(path)} is spelled otherwise than the file {shown(other)}"
        return finding("link-case", space.summary, place, message, f"the file is {other}")
    return finding("summary-missing", space.summary, place, f"there is no file {shown(path)}", meant(near.to(path)))


def _column(space: Space, entry: Entry) -> int:
    """Where the address of an entry stands in its line."""
    page = space.page(space.summary)
    start = page.offset(entry.line)
    found = page.text.find("](", start)
    return found - start + 3 if found >= 0 and page.place(found)[0] == entry.line else 1


def _unlisted(space: Space) -> Iterator[Finding]:
    """A file beside pages is named; of a folder without a page only the folder is."""
    homes = {""}
    for path in space.listed:
        folder = dirname(path)
        while folder not in homes:
            homes.add(folder)
            folder = dirname(folder)
    strangers: dict[str, list[str]] = {}
    for path in space.draft.unlisted:
        if path in space.listed or is_no_page(path, space.draft.settings):
            continue
        stranger = _stranger(path, homes)
        if stranger is None:
            yield finding("page-unlisted", path, (1, 1), f"{space.summary} does not list this file")
        else:
            strangers.setdefault(stranger, []).append(path)
    for stranger, paths in strangers.items():
        message = f"{space.summary} lists none of the {len(paths)} Markdown files in {shown(stranger + '/')}"
        yield finding("page-unlisted", paths[0], (1, 1), message)


def _stranger(path: str, homes: set[str]) -> str | None:
    """The topmost folder above a file in which nothing is listed; None when its own folder holds a page."""
    folder = dirname(path)
    top: str | None = None
    while folder not in homes:
        top, folder = folder, dirname(folder)
    return top
