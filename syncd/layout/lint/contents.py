"""Rules about the table of contents: what it lists without a file, twice, or not at all."""

from collections.abc import Iterator
from posixpath import dirname

from syncd.layout.lint.finding import Finding, make_finding
from syncd.layout.lint.space import Space, is_non_page
from syncd.layout.lint.suggestions import NearMisses, format_space_renaming, format_suggestion
from syncd.layout.tree.paths import make_collision_key
from syncd.layout.tree.summary import Entry, walk_entries
from syncd.model.text import quote_name


def check_contents(space: Space) -> Iterator[Finding]:
    """Yield the findings about entries without a file, repeated entries, and files that are not listed."""
    if not space.has_summary:
        if space.summary not in space.unreadable and space.listed_paths:
            message = f"there is no {space.draft.settings.summary}; the tree follows the folders"
            yield make_finding("summary-absent", space.summary, (1, 1), message)
        return
    for part in space.draft.skipped:
        if part.path == space.summary:
            yield make_finding("summary-outside", part.path, (part.line, part.column), part.reason)
    yield from _check_entries(space)
    yield from _check_unlisted(space)


def _check_entries(space: Space) -> Iterator[Finding]:
    near = NearMisses(space.files)
    seen: dict[str, Entry] = {}
    for entry, _ in walk_entries(space.draft.entries):
        if entry.path is None:
            continue
        place = (entry.line, _find_column(space, entry))
        if entry.path not in space.files:
            yield _report_missing_file(space, entry.path, place, near)
        elif entry.anchor is not None:
            continue
        elif entry.path in seen:
            message = f"{quote_name(entry.path)} is listed in line {seen[entry.path].line} already"
            yield make_finding("summary-twice", space.summary, place, message)
        seen.setdefault(entry.path, entry)


def _report_missing_file(space: Space, path: str, place: tuple[int, int], near: NearMisses) -> Finding:
    other = space.spellings.get(make_collision_key(path))
    if other is not None:
        message = f"{quote_name(path)} is spelled otherwise than the file {quote_name(other)}"
        return make_finding(
            "link-case", space.summary, place, message, format_space_renaming(other) or f"write {other}"
        )
    return make_finding(
        "summary-missing",
        space.summary,
        place,
        f"there is no file {quote_name(path)}",
        format_suggestion(near.find(path)),
    )


def _find_column(space: Space, entry: Entry) -> int:
    """Return the column of the address of an entry."""
    page = space.read_page(space.summary)
    start = page.find_line_start(entry.line)
    found = page.text.find("](", start)
    return found - start + 3 if found >= 0 and page.locate(found)[0] == entry.line else 1


def _check_unlisted(space: Space) -> Iterator[Finding]:
    """Yield unlisted files: each one beside pages, but only the folder for files in a folder without any page."""
    page_folders = {""}
    for path in space.listed_paths:
        folder = dirname(path)
        while folder not in page_folders:
            page_folders.add(folder)
            folder = dirname(folder)
    paths_by_folder: dict[str, list[str]] = {}
    for path in space.draft.unlisted:
        if path in space.listed_paths or is_non_page(path, space.draft.settings):
            continue
        unlisted_folder = _find_unlisted_folder(path, page_folders)
        if unlisted_folder is None:
            yield make_finding("page-unlisted", path, (1, 1), f"{space.summary} does not list this file")
        else:
            paths_by_folder.setdefault(unlisted_folder, []).append(path)
    for folder, paths in paths_by_folder.items():
        message = f"{space.summary} lists none of the {len(paths)} Markdown files in {quote_name(folder + '/')}"
        yield make_finding("page-unlisted", paths[0], (1, 1), message)


def _find_unlisted_folder(path: str, page_folders: set[str]) -> str | None:
    """Return the topmost folder above a file in which nothing is listed; None when its own folder holds a page."""
    folder = dirname(path)
    top: str | None = None
    while folder not in page_folders:
        top, folder = folder, dirname(folder)
    return top
