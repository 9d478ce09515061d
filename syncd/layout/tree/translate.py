"""Translate addresses inside pages between the paths in Git and the paths on the platform."""

import re
from collections.abc import Collection, Mapping
from typing import Any

from syncd.layout.markdown.addresses import make_relative, resolve_address
from syncd.layout.page.links import rewrite_addresses
from syncd.layout.tree.placement import Placement

_BY_ID = re.compile(r"/(?:files|pages|includes)/([A-Za-z0-9_-]+)(#.*)?")


class Translation:
    """Knows every page and file by id, by path in Git, and by the path that the platform uses."""

    def __init__(self, placement: Placement) -> None:
        self._platform_paths = placement.platform_paths
        self._root = placement.root
        self._includes = {id: placement.platform_paths[id] for id in placement.includes}
        self._paths = {**placement.pages, **placement.files, **placement.includes}
        self._by_path = {path: id for id, path in self._paths.items()}
        self._has_equal_paths = all(self._platform_paths[id] == path for id, path in self._paths.items())
        self._by_platform_path = (
            {} if self._has_equal_paths else {platform_path: id for id, platform_path in self._platform_paths.items()}
        )
        self._moving: Collection[str] = frozenset()

    @property
    def platform_paths(self) -> Mapping[str, str]:
        """The path of each page and file on the platform, by its id."""
        return self._platform_paths

    def expect_moves(self, ids: Collection[str]) -> None:
        """Let addresses that lead to these pages, or from them, leave by id: they get another path on the platform."""
        self._moving = frozenset(ids)

    def add(self, id: str, path: str) -> None:
        """Add a page or file that was just written."""
        self._paths[id] = path
        self._by_path[path] = id

    def find_id(self, path: str) -> str | None:
        """Return the id of what is at a path in Git, or None."""
        return self._by_path.get(path)

    def format_address(self, reference: Mapping[str, Any], id: str) -> str | None:
        """Return the address of a referenced file, page or URL as seen from the page `id` in Git; None when it leads
        nowhere."""
        target = self._paths.get(str(reference.get("file") or reference.get("page") or ""))
        if target is not None:
            return make_relative(target, at=self._paths[id])
        url = reference.get("url")
        return url if isinstance(url, str) and url else None

    def translate_incoming(self, body: bytes, id: str) -> bytes:
        """Return a page of the platform with addresses that lead to the same pages and files in Git."""
        if self._has_equal_paths and not any(place in body for place in (b"/files/", b"/pages/", b"/includes/")):
            return body
        path, platform_path = self._paths[id], self._platform_paths[id]
        try:
            text = body.decode()
        except UnicodeDecodeError:
            return body
        return rewrite_addresses(
            text, lambda address: self._translate_incoming_address(address, path, platform_path)
        ).encode()

    def translate_outgoing(self, text: str, path: str) -> tuple[str, bool]:
        """Return the page of Git at `path` with addresses that the platform resolves, and whether all could be
        translated.

        Shape: files become `/files/<id>`; pages become `/pages/<id>`, but stay relative where that means the same on
        the platform, before and after the moves that are expected, and is spelled as no platform spells it; reusable
        contents stay relative where the page stays, else become `/includes/<id>`. Lines end with LF, and the byte order
        mark is removed. Source: links in Markdown of `updateChangeRequestContent`, @gitbook/api 0.202.0.
        """
        text = normalize_line_ends(text)
        source = self._by_path.get(path, "")
        platform_path = None if source in self._moving else self._platform_paths.get(source)
        is_complete = True

        def translate(address: str) -> str | None:
            nonlocal is_complete
            found = resolve_address(address, at=path, root=self._root)
            if found is None:
                return None
            target, anchor = found
            id = self._by_path.get(target)
            if id is None and address.startswith("/"):
                return None  # of the site, not of this space
            if id is None:
                is_complete = is_complete and not target.endswith(".md")
                return None
            if not target.endswith(".md"):
                return f"/files/{id}{anchor}"
            meant = self._platform_paths.get(id), anchor
            is_same = platform_path and id not in self._moving and resolve_address(address, at=platform_path) == meant
            if id in self._includes:
                relative = make_relative(self._includes[id], at=platform_path) if platform_path else f"/includes/{id}"
                return None if is_same else relative
            # A path would lead astray where somebody moves either page at this moment. What comes back of an id is the
            # shortest path, so only another spelling has to stay.
            if is_same and address != make_relative(target, at=path) + anchor:
                return None
            return f"/pages/{id}{anchor}"

        return rewrite_addresses(text, translate), is_complete

    def _translate_incoming_address(self, address: str, path: str, platform_path: str) -> str | None:
        by_id = _BY_ID.fullmatch(address)
        if by_id is not None:
            target = self._paths.get(by_id[1])
            return make_relative(target, at=path) + (by_id[2] or "") if target is not None else None
        if self._has_equal_paths:
            return None
        found = resolve_address(address, at=platform_path)
        target = self._paths.get(self._by_platform_path.get(found[0], "")) if found is not None else None
        if found is None or target is None or resolve_address(address, at=path) == (target, found[1]):
            return None
        return make_relative(target, at=path) + found[1]


def normalize_line_ends(text: str) -> str:
    """Return a page of Git with LF line ends and without a byte order mark, as the platform is sent it."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def normalize_form(text: str) -> str:
    """Return a page of Git without what alone opens no change request: its line ends, a byte order mark, and newlines
    at its end or none there."""
    return normalize_line_ends(text).rstrip("\n")
