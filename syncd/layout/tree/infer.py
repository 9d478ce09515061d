"""Infer a table of contents from folders, for a directory that has no SUMMARY.md."""

from collections.abc import Callable, Iterable, Iterator
from posixpath import basename, dirname, splitext

from syncd.layout.tree.paths import slugify
from syncd.layout.tree.settings import Settings
from syncd.layout.tree.summary import Entry


def infer_entries(paths: Iterable[str], settings: Settings, title_of: Callable[[str], str | None]) -> tuple[Entry, ...]:
    """Return entries for all Markdown files of a space; `title_of` returns a page's own title.

    Shape: the home page first, then by path; `x/README.md`, else `x.md`, holds what is below `x/`; a folder without
    either is a group. A page without a title is named after its file.
    """
    home, pages = _group_by_folder(sorted(paths), settings)
    groups = {above for folder in pages for above in _walk_parents(folder, settings.root) if above not in pages}
    below: dict[str, list[Entry]] = {}
    for folder in sorted([*pages, *groups], key=lambda folder: (-folder.count("/"), folder)):
        children = tuple(below.pop(folder, ()))
        title = title_of(pages[folder]) if folder in pages else None
        entry = _build_inferred_entry(folder, pages.get(folder), title, children)
        below.setdefault(dirname(folder), []).append(entry)
    first = [Entry("document", title_of(path) or _title_from_path(path), path) for path in home]
    return (*first, *below.get(settings.root, ()))


def _build_inferred_entry(folder: str, path: str | None, title: str | None, children: tuple[Entry, ...]) -> Entry:
    title = title or _title_from_path(folder)
    if path is not None:
        return Entry("document", title, path, children=children)
    slug = basename(folder)
    return Entry("group", title, slug=slug if slug != slugify(title) else None, children=children)


def _group_by_folder(paths: list[str], settings: Settings) -> tuple[list[str], dict[str, str]]:
    """Return the home page, and each other page by the folder that it stands for."""
    home_path = settings.add_root(settings.readme)
    top = [path for path in paths if dirname(path) == settings.root and basename(path).lower() == "readme.md"]
    home = [home_path] if home_path in paths else top[:1]
    pages: dict[str, str] = {}
    for path in sorted(set(paths).difference(home), key=lambda path: (basename(path).lower() != "readme.md", path)):
        is_readme = basename(path).lower() == "readme.md" and dirname(path) != settings.root
        folder = dirname(path) if is_readme else splitext(path)[0]
        pages[folder if folder not in pages else path] = path
    return home, pages


def _walk_parents(folder: str, root: str) -> Iterator[str]:
    while (folder := dirname(folder)) != root and folder:
        yield folder


def _title_from_path(path: str) -> str:
    name = splitext(basename(path))[0]
    words = " ".join(name.replace("-", " ").replace("_", " ").split())
    return words[:1].upper() + words[1:] or name
