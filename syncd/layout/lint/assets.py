"""Rules about files: duplicates, unused files, sizes, and names that not every computer can hold."""

import re
from collections.abc import Iterator
from urllib.parse import unquote

from syncd.errors import PathRefused
from syncd.layout.lint.finding import Finding, make_finding
from syncd.layout.lint.space import Space, SpaceFile
from syncd.layout.markdown.addresses import resolve_address
from syncd.layout.tree.paths import ASSETS, SEGMENT_BYTES, check_safe_path, is_markdown, make_collision_key
from syncd.model.content_write import TEXT_MAX
from syncd.model.text import quote_name

FILE_BYTES_MAX = 1_000_000
"""Bytes of a file that the API takes. Source: `updateChangeRequestContent`, @gitbook/api 0.202.0."""
PLATFORM_BYTES_MAX = 100 << 20
"""Bytes of a file that the platform takes. Source: github.com/GitbookIO/public-docs."""
POINTER_BYTES_MAX = 1024
_POINTER = b"version https://git-lfs.github.com/spec/"
_FOLDER = re.compile("assets/")
_END = re.compile(r"""["'()<>|?#\n]|\Z""")
_COPY = re.compile(r" \(\d+\)")


def check_assets(space: Space) -> Iterator[Finding]:
    """Yield the findings about a space's files and the names of all that it publishes."""
    assets = sorted(path for path in space.draft.files if path.startswith(space.draft.settings.add_root(ASSETS)))
    linked = _find_linked_files(space)
    sent = sorted({*assets, *(path for path in linked if not is_markdown(path))})
    for path in sent:
        yield from _check_size(path, space.files[path])
    for path in space.draft.documents:
        yield from _check_page_size(path, space.files[path])
    yield from _check_duplicates(space, assets)
    yield from _check_unused(space, [path for path in assets if path not in linked])
    yield from _check_names([*sent, *space.draft.documents, *space.draft.includes])


def _find_linked_files(space: Space) -> set[str]:
    """Return every file that an address in a Markdown file leads to, also from one that is not published."""
    found: set[str] = set()
    for path in space.list_markdown_paths():
        for target in space.read_page(path).targets:
            resolved = resolve_address(target.text, at=path, root=space.draft.settings.add_root(""))
            if resolved is not None and resolved[0] in space.files:
                found.add(resolved[0])
    return found


def _check_size(path: str, item: SpaceFile) -> Iterator[Finding]:
    if item.size > PLATFORM_BYTES_MAX:
        yield make_finding("asset-huge", path, (1, 1), f"the file has {item.size >> 20} MiB")
    elif item.size > FILE_BYTES_MAX:
        yield make_finding("asset-large", path, (1, 1), f"the file has {item.size / 1_000_000:.1f} MB")
    elif _is_pointer(item):
        yield make_finding("lfs-pointer", path, (1, 1), "the file is a pointer of Git LFS")


def _check_page_size(path: str, item: SpaceFile) -> Iterator[Finding]:
    if item.size > TEXT_MAX and (length := len(item.read().decode(errors="replace"))) > TEXT_MAX:
        yield make_finding("page-long", path, (1, 1), f"the page has {length:,} characters")
    elif _is_pointer(item):
        yield make_finding("lfs-pointer", path, (1, 1), "the page is a pointer of Git LFS")


def _is_pointer(item: SpaceFile) -> bool:
    return item.size < POINTER_BYTES_MAX and item.read().startswith(_POINTER)


def _check_duplicates(space: Space, assets: list[str]) -> Iterator[Finding]:
    """Yield files of equal content; only files of equal size are read."""
    sizes: dict[int, list[str]] = {}
    for path in assets:
        sizes.setdefault(space.files[path].size, []).append(path)
    first: dict[object, str] = {}
    for size, paths in sizes.items():
        if len(paths) == 1 or not size or size > PLATFORM_BYTES_MAX:
            continue
        # A number in brackets is what a copy is told apart by, so the name without one is the first.
        for path in sorted(paths, key=lambda path: (_COPY.search(path) is not None, path)):
            item = space.files[path]
            other = first.setdefault(item.digest or item.read(), path)
            if other != path:
                yield make_finding("asset-duplicate", path, (1, 1), f"the file is the same as {quote_name(other)}")


def _check_unused(space: Space, assets: list[str]) -> Iterator[Finding]:
    """Yield files that no address leads to and no text names; a name in a text may be an address that is not
    recognised."""
    wanted = {path.rsplit("/", 1)[-1]: path for path in assets}
    texts = (path for path in (*space.list_markdown_paths(), space.summary) if path in space.files)
    named = {name for path in texts for name in _find_asset_names(space.read_page(path).text)} if wanted else set()
    for name, path in wanted.items():
        if name not in named:
            yield make_finding("asset-unused", path, (1, 1), "no page links to this file")


def _find_asset_names(text: str) -> Iterator[str]:
    """Yield whatever may be the name of an asset in a text: what follows the folder, up to each sign that could end
    it."""
    for folder in _FOLDER.finditer(text):
        rest = text[folder.end() : folder.end() + SEGMENT_BYTES]
        for end in _END.finditer(rest):
            yield rest[: end.start()]
            yield unquote(rest[: end.start()])


def _check_names(paths: list[str]) -> Iterator[Finding]:
    """Yield names that some computers cannot hold, or hold only one of."""
    seen: dict[str, str] = {}
    for path in dict.fromkeys(paths):
        try:
            check_safe_path(path)
        except PathRefused as refused:
            yield make_finding("name-unsafe", path, (1, 1), f"the name {refused.what}")
        other = seen.setdefault(make_collision_key(path), path)
        if other != path:
            yield make_finding(
                "name-collision", path, (1, 1), f"on many computers this is the file {quote_name(other)}"
            )
