"""Where a page of another space of the repository is on the platform, for hints about links that lead to its file."""

from collections.abc import Iterable
from contextlib import suppress
from posixpath import join, normpath

from syncd.errors import FileInvalid
from syncd.layout.tree.paths import is_markdown
from syncd.layout.tree.placement import APP
from syncd.layout.tree.settings import SETTINGS_PATH, Settings, read_settings
from syncd.sync.publish.source import SpaceFiles


def find_page_address(spaces: Iterable[SpaceFiles], space: SpaceFiles, path: str) -> str:
    """Return the address of the page at a path from the directory of a space, in which it is not; "" for none.

    Shape: `spaces` are those of the configuration, each with its id. Source: syncd/manual/reference/checks.md.
    """
    place = normpath(join(space.directory, path))
    for other in spaces:
        inner = place.removeprefix(f"{other.directory}/")
        is_there = inner != place and inner in other.items and is_markdown(inner)
        if other.id and other.top == space.top and is_there:
            return f"{APP}{other.id}/{_build_page_path(other, inner)}".rstrip("/")
    return ""


def _build_page_path(space: SpaceFiles, file: str) -> str:
    """The path of a page on the platform, as far as its file says it."""
    settings = Settings()
    with suppress(KeyError, FileInvalid, UnicodeDecodeError):
        settings = read_settings(space.items[SETTINGS_PATH].read().decode())
    if file == settings.add_root(settings.readme):
        return ""
    return file.removeprefix(settings.add_root("")).removesuffix(".md").removesuffix("/README")
