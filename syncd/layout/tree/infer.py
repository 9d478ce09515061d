"""A table of contents for a directory that has none: what its folders suggest."""

from collections.abc import Callable, Iterable, Iterator
from posixpath import basename, dirname, splitext

from syncd.layout.tree.paths import slugify
from syncd.layout.tree.settings import Settings
from syncd.layout.tree.summary import Entry


def infer(paths: Iterable[str], settings: Settings, title_of: Callable[[str], str | None]) -> tuple[Entry, ...]:
    """Given the Markdown files of a space and a way to a page's own title, return entries for all of them.

    Shapes: the home page first, then by path; `x/README.md`, else `x.md`, holds what is below `x/`; a folder without
    either is a group. A page without a title is named after its file.
    """
    home, pages = _places(sorted(paths), settings)
    groups = {folder for place in pages for folder in _above(place, settings.root) if folder not in pages}
    below: dict[str, list[Entry]] = {}
    for place in sorted([*pages, *groups], key=lambda place: (-place.count("/"), place)):
        children = tuple(below.pop(place, ()))
        title = title_of(pages[place]) if place in pages else None
        entry = _entry(place, pages.get(place), title, children)
        below.setdefault(dirname(place), []).append(entry)
    first = [Entry("document", title_of(path) or _words(path), path) for path in home]
    return (*first, *below.get(settings.root, ()))


def _entry(place: str, path: str | None, title: str | None, children: tuple[Entry, ...]) -> Entry:
    title = title or _words(place)
    if path is not None:
        return Entry("document", title, path, children=children)
    slug = basename(place)
    return Entry("group", title, slug=slug if slug != slugify(title) else None, children=children)


def _places(paths: list[str], settings: Settings) -> tuple[list[str], dict[str, str]]:
    """The home page, and each other page by the folder that it stands for."""
    wanted = settings.below(settings.readme)
    top = [path for path in paths if dirname(path) == settings.root and basename(path).lower() == "readme.md"]
    home = [wanted] if wanted in paths else top[:1]
    pages: dict[str, str] = {}
    for path in sorted(set(paths).difference(home), key=lambda path: (basename(path).lower() != "readme.md", path)):
        folder = dirname(path)
        is_readme = basename(path).lower() == "readme.md" and folder != settings.root
        place = folder if is_readme else splitext(path)[0]
        pages[place if place not in pages else path] = path
    return home, pages


def _above(place: str, root: str) -> Iterator[str]:
    while (place := dirname(place)) != root and place:
        yield place


def _words(path: str) -> str:
    name = splitext(basename(path))[0]
    words = " ".join(name.replace("-", " ").replace("_", " ").split())
    return words[:1].upper() + words[1:] or name
