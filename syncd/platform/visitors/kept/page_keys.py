"""The keys of rendered pages: all that a page of a site depends on, as a hash.

A page shows its own text in a frame of titles and addresses of the other pages. So its key has the text of the page
itself, and of all others only what the frame and links show of them: after a change of one text, all others are still
found. Whatever else a page may read is in the key too; what reads another space of the site has those spaces whole.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files
from importlib.resources.abc import Traversable

import sqlalchemy as sa

from syncd.platform.cache import Cache
from syncd.platform.revisions.outline import Outline, TreeEntry, is_page
from syncd.platform.visitors.visits import SiteVisit

_OWN_FIELDS = ("updatedAt",)
"""Members of a page that nothing but the page itself shows."""
_RENDERER = ("web", "layout", "model", "platform/visitors", "platform/revisions")
_LIBRARIES = ("jinja2", "markdown-it-py", "pygments", "latex2mathml", "nh3", "emoji")
_REMEMBERED_SHAPES = 1_000
_shapes: Cache[bytes, str] = Cache(_REMEMBERED_SHAPES)


@dataclass(frozen=True)
class PageKeys:
    """The keys of the pages of a site-space for the visitors of one class."""

    visit: SiteVisit
    site_space: sa.Row[object]
    outline: Outline

    def compute_keys(self, entry: TreeEntry) -> tuple[bytes, bytes]:
        """Return the key of a page that reads its own space alone, and the key of one that reads others of the site."""
        own = f"{self._frame} {entry.node.id} {entry.node.body} {_collect_own(entry)}".encode()
        return sha256(own).digest(), sha256(own + self._spaces).digest()

    @property
    def are_cheap(self) -> bool:
        """Whether the keys take no look at the whole tree, which may have very many pages."""
        return _shapes.get(self.outline.root) is not None

    @cached_property
    def _frame(self) -> str:
        shape = _hash_shape(self.outline)
        parts = (hash_renderer(), self.visit.site.appearance, self.visit.visitor_class, self.site_space.id, shape)
        return "\0".join(parts)

    @cached_property
    def _spaces(self) -> bytes:
        return b"\0" + b"".join(space.root for _, space in sorted(self.visit.site.spaces.items()))


@cache
def hash_renderer() -> str:
    """Return a hash of the code, templates and icons that make pages, and of the versions of the libraries they use."""
    found = sha256(" ".join(version(name) for name in _LIBRARIES).encode())
    for package in _RENDERER:
        for name, source in _list_sources(files("syncd").joinpath(package), package):
            found.update(f"{name} ".encode() + sha256(source).digest())
    return found.hexdigest()


def _list_sources(folder: Traversable, above: str) -> Iterator[tuple[str, bytes]]:
    for one in sorted(folder.iterdir(), key=lambda one: one.name):
        if one.is_dir():
            yield from _list_sources(one, f"{above}/{one.name}")
        elif one.name.endswith((".py", ".html", ".tsv")):
            yield f"{above}/{one.name}", one.read_bytes()


def _hash_shape(outline: Outline) -> str:
    """What of a tree pages other than a page's own show, or read."""
    known = _shapes.get(outline.root)
    return known or _shapes.put(outline.root, _compute_shape(outline))


def _compute_shape(outline: Outline) -> str:
    found = sha256()
    for id, entry in outline.entries.items():
        node = entry.node
        fields = {name: value for name, value in node.fields.items() if name not in _OWN_FIELDS}
        read = None if is_page(node) else node.body
        shown = (id, entry.parent, node.type, node.title, node.slug, node.path, fields, read)
        found.update(repr(shown).encode(errors="surrogatepass"))
    return found.hexdigest()


def _collect_own(entry: TreeEntry) -> str:
    return repr([entry.node.fields.get(name) for name in _OWN_FIELDS])
