"""Addresses that lead into other spaces of this platform, as content references, for those who may read them there."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import unquote

from syncd.layout.tree.paths import make_collision_key
from syncd.layout.tree.placement import APP
from syncd.platform.revisions.outline import Outline, is_page
from syncd.platform.revisions.targets import ContentRef

SPACES_MAX = 20
"""Other spaces that are opened for one document; addresses in further ones stay addresses."""


@dataclass
class OtherSpaces:
    """Resolves addresses that lead into other spaces of this platform.

    Shape: `app` is the address of the current space in the app; `open_space` returns the main content of a space, or
    None when the space does not exist or the caller may not read it. The result depends on the caller and on the
    current content of the other spaces, so it must never be cached for another caller.
    """

    app: str
    open_space: Callable[[str], Outline | None]
    _opened: dict[str, Outline | None] = field(default_factory=dict)

    def find_content_ref(self, url: str) -> ContentRef | None:
        """Return the reference to what an absolute address leads to in a space; None when it leads nowhere.

        Shape: behind the space's id stands a page's path or id; a reference within the same space names no space.
        """
        found = self._address.fullmatch(url)
        outline = self._open_outline(found["space"]) if found else None
        if found is None or outline is None:
            return None
        own = found["space"] == self.app.rpartition("/")[2]
        space = {} if own else {"space": found["space"]}
        path, anchor = unquote(found["path"] or "").strip("/"), found["anchor"]
        if not path and not anchor:
            return {"kind": "space", "space": found["space"]}
        entry = outline.entries.get(path)
        page = path if entry is not None and is_page(entry.node) else outline.by_path.get(make_collision_key(path))
        if page is None:
            return None
        return ({"kind": "anchor", "anchor": anchor} if anchor else {"kind": "page"}) | {"page": page} | space

    @cached_property
    def _address(self) -> re.Pattern[str]:
        here = re.escape(self.app.split("/app/o/")[0]) + "/app/o/[^/?#]+/s/"
        return re.compile(rf"(?:{re.escape(APP)}|{here})(?P<space>[\w-]+)(?P<path>/[^?#]*)?(?:#(?P<anchor>.+)?)?")

    def _open_outline(self, space: str) -> Outline | None:
        if space not in self._opened and len(self._opened) < SPACES_MAX:
            self._opened[space] = self.open_space(space)
        return self._opened.get(space)
