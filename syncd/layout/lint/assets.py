"""Rules about files: doubles, files that nobody needs, sizes, and names that not every computer can hold."""

import re
from collections.abc import Iterator
from urllib.parse import unquote

from syncd.errors import PathRefused
from syncd.layout.lint.finding import Finding, finding
from syncd.layout.lint.space import Item, Space
from syncd.layout.page.links import resolve
from syncd.layout.tree.draft import ASSETS
from syncd.layout.tree.paths import SEGMENT_BYTES, collision_key, is_markdown, safe_path, shown
from syncd.model.content_write import TEXT_MAX

FILE_BYTES_MAX = 1_000_000
"""Bytes of a file that the API takes. Source: content-write §1."""
PLATFORM_BYTES_MAX = 100 << 20
"""Bytes of a file that the platform takes. Source: gitsync §1.7."""
POINTER_BYTES_MAX = 1024
_POINTER = b"version https://git-lfs.github.com/spec/"
_FOLDER = re.compile("assets/")
_END = re.compile(r"""["'()<>|?#\n]|\Z""")
_COPY = re.compile(r" \(\d+\)")


def check_assets(space: Space) -> Iterator[Finding]:
    """Given a space, return what is wrong with its files and with the names of all that it publishes."""
    assets = sorted(path for path in space.draft.files if path.startswith(space.draft.settings.below(ASSETS)))
    linked = _linked(space)
    sent = sorted({*assets, *(path for path in linked if not is_markdown(path))})
    for path in sent:
        yield from _sizes(path, space.items[path])
    for path in space.draft.documents:
        yield from _page_size(path, space.items[path])
    yield from _doubles(space, assets)
    yield from _unused(space, [path for path in assets if path not in linked])
    yield from _names(space, [*sent, *space.draft.documents, *space.draft.includes])


def _linked(space: Space) -> set[str]:
    """Every file that an address in a Markdown file means, also in one that is not published."""
    found: set[str] = set()
    for path in space.markdown():
        for target in space.page(path).targets:
            there = resolve(target.text, at=path, root=space.draft.settings.below(""))
            if there is not None and there[0] in space.items:
                found.add(there[0])
    return found


def _sizes(path: str, item: Item) -> Iterator[Finding]:
    if item.size > PLATFORM_BYTES_MAX:
        yield finding("asset-huge", path, (1, 1), f"the file has {item.size >> 20} MiB")
    elif item.size > FILE_BYTES_MAX:
        yield finding("asset-large", path, (1, 1), f"the file has {item.size / 1_000_000:.1f} MB")
    elif _is_pointer(item):
        yield finding("lfs-pointer", path, (1, 1), "the file is a pointer of Git LFS")


def _page_size(path: str, item: Item) -> Iterator[Finding]:
    if item.size > TEXT_MAX and (length := len(item.read().decode(errors="replace"))) > TEXT_MAX:
        yield finding("page-long", path, (1, 1), f"the page has {length:,} characters")
    elif _is_pointer(item):
        yield finding("lfs-pointer", path, (1, 1), "the page is a pointer of Git LFS")


def _is_pointer(item: Item) -> bool:
    return item.size < POINTER_BYTES_MAX and item.read().startswith(_POINTER)


def _doubles(space: Space, assets: list[str]) -> Iterator[Finding]:
    """Files of equal content; only files of equal size are read for it."""
    sizes: dict[int, list[str]] = {}
    for path in assets:
        sizes.setdefault(space.items[path].size, []).append(path)
    first: dict[object, str] = {}
    for size, paths in sizes.items():
        if len(paths) == 1 or not size or size > PLATFORM_BYTES_MAX:
            continue
        # A number in brackets is what a copy is told apart by, so the name without one is the first.
        for path in sorted(paths, key=lambda path: (_COPY.search(path) is not None, path)):
            item = space.items[path]
            other = first.setdefault(item.digest or item.read(), path)
            if other != path:
                yield finding("asset-duplicate", path, (1, 1), f"the file is the same as {shown(other)}")


def _unused(space: Space, assets: list[str]) -> Iterator[Finding]:
    """Files that no address means and no text names; a name in a text may be an address that is not known as one."""
    wanted = {path.rsplit("/", 1)[-1]: path for path in assets}
    texts = (path for path in (*space.markdown(), space.summary) if path in space.items)
    named = {name for path in texts for name in _named(space.page(path).text)} if wanted else set()
    for name, path in wanted.items():
        if name not in named:
            yield finding("asset-unused", path, (1, 1), "no page links to this file")


def _named(text: str) -> Iterator[str]:
    """Whatever may be the name of an asset in a text: what follows the folder, up to each sign that could end it."""
    for folder in _FOLDER.finditer(text):
        rest = text[folder.end() : folder.end() + SEGMENT_BYTES]
        for end in _END.finditer(rest):
            yield rest[: end.start()]
            yield unquote(rest[: end.start()])


def _names(space: Space, paths: list[str]) -> Iterator[Finding]:
    """Names that some computers cannot hold, or hold only one of."""
    seen: dict[str, str] = {}
    for path in dict.fromkeys(paths):
        try:
            safe_path(path)
        except PathRefused as refused:
            yield finding("name-unsafe", path, (1, 1), f"the name {refused.what}")
        other = seen.setdefault(collision_key(path), path)
        if other != path:
            yield finding("name-collision", path, (1, 1), f"on many computers this is the file {shown(other)}")
