"""Resolution of addresses in texts of one revision, and the content references that stand for them in documents."""

import re
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from syncd.layout.markdown.addresses import resolve_address
from syncd.layout.richtext.references import BROKEN_PATH, find_broken_address
from syncd.layout.tree.paths import make_collision_key
from syncd.layout.tree.placement import APP
from syncd.layout.tree.preserve import BROKEN
from syncd.platform.revisions.outline import Outline, TreeEntry
from syncd.platform.revisions.tree import FILES, INCLUDES

ContentRef = dict[str, Any]

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_BY_ID = re.compile(
    r"/(?:broken/)?(?:spaces/(?P<space>[\w-]+)/)?(?P<kind>pages|files|includes)/(?P<id>[\w-]+)(?:#(?P<anchor>.+))?"
)


@dataclass(frozen=True, slots=True)
class Reference:
    """What a place refers to. Shape: `id` is that of a page, file or reusable content of the revision, None for all
    else; `address` is as written; `anchor` is without its `#`; `found` is False when the target does not exist."""

    kind: str
    address: str
    id: str | None = None
    anchor: str | None = None
    found: bool = True
    relation: str = "reference"


@dataclass(frozen=True)
class TargetResolver:
    """Resolves addresses in one revision; each costs a few look-ups in its outline."""

    outline: Outline
    _by_path: dict[str, str | None] = field(default_factory=dict)

    def resolve(self, address: str, entry: TreeEntry) -> Reference:
        """Return what an address in the text of a page or reusable content refers to."""
        if address.startswith("#"):
            return Reference("anchor", address, entry.node.id, address[1:])
        target = resolve_address(address, at=entry.node.path or "")
        if target is None:
            # A path from the root of nowhere, or out of the space; everything else that is absolute is a URL.
            return Reference("url", address, found=is_absolute(address))
        id = self.find(target[0])
        if id is None:
            return Reference("url", address, found=False)
        anchor = target[1].partition("#")[2] or None
        here = self.outline.entries[id]
        if here.parent == INCLUDES:
            return Reference("reusable-content", address, id, relation="dependsOn")
        if here.parent == FILES:
            return Reference("file", address, id)
        return Reference("anchor" if anchor else "page", address, id, anchor)

    def find(self, path: str) -> str | None:
        """Return the id of what is at a path, with or without the ending `.md`, or of the README of a folder; None
        without one.
        """
        if path not in self._by_path:
            by_file = self.outline.by_file
            stem = path.rstrip("/")
            readme = f"{stem}/README.md" if stem else "README.md"
            tried = (by_file.get(make_collision_key(name)) for name in (path, f"{stem}.md", readme))
            self._by_path[path] = next((id for id in tried if id is not None), None)
        return self._by_path[path]

    def build_content_ref(self, address: str, entry: TreeEntry, *, app: str) -> ContentRef:
        """Return the content reference of an address; `app` is the address of the space in the app.

        Shape: a reference of kind `url` has an absolute address. An address that leads nowhere is one below `app` that
        keeps what is written; `/broken/pages/<id>` names a page by its id.
        """
        found = self.resolve(address, entry)
        if found.id is not None:
            return self._build_reference(found.kind, found.id, found.anchor)
        if found.found:
            return {"kind": "url", "url": f"https:{address}" if address.startswith("//") else address}
        if by_id := _BY_ID.fullmatch(address):
            return _refer_to_missing(by_id)
        return {"kind": "url", "url": f"{app}{BROKEN_PATH}{quote(address, safe='')}"}

    def normalise_address(self, address: str, entry: TreeEntry) -> str | None:
        """Return one spelling for all the addresses that lead to the same target; None where no text can name it."""
        return build_address(self.build_content_ref(address, entry, app=""), self.outline.entries)

    def _build_reference(self, kind: str, id: str, anchor: str | None) -> ContentRef:
        if kind == "file":
            return {"kind": "file", "file": id}
        if kind == "reusable-content":
            return {"kind": "reusable-content", "reusableContent": id}
        if not anchor:
            return {"kind": "page", "page": id}
        # An anchor within what a page includes is one of whatever page that is.
        page = {} if self.outline.entries[id].parent == INCLUDES else {"page": id}
        return {"kind": "anchor", "anchor": anchor} | page


def _refer_to_missing(by_id: re.Match[str]) -> ContentRef:
    """The reference to something that is not there, which is named by its id."""
    space = {"space": by_id["space"]} if by_id["space"] else {}
    if by_id["kind"] == "files":
        return {"kind": "file", "file": by_id["id"]} | space
    if by_id["kind"] == "includes":
        return {"kind": "reusable-content", "reusableContent": by_id["id"]} | space
    if by_id["anchor"]:
        return {"kind": "anchor", "anchor": by_id["anchor"], "page": by_id["id"]} | space
    return {"kind": "page", "page": by_id["id"]} | space


def find_target_id(ref: Mapping[str, Any]) -> str | None:
    """Return the id of the page, file or reusable content of this space that a content reference names, or None."""
    id = ref.get("page") or ref.get("file") or ref.get("reusableContent")
    return str(id) if id and "space" not in ref else None


def build_label(ref: Mapping[str, Any], path: str | None) -> str | None:
    """Return the words that stand for a content reference in a table; `path` is that of its target.

    None for anything but a page, an anchor or a file of the space. The page of a folder has the name of the folder.
    """
    if "space" in ref or ref.get("kind") not in ("page", "anchor", "file"):
        return None
    if ref["kind"] == "anchor":
        return f"#{ref.get('anchor')}"
    return (path.removesuffix("/README.md").rpartition("/")[2] or None) if path else None


def build_address(ref: Mapping[str, Any], known: Container[str] = ()) -> str | None:
    """Return the address that stands in a text for a content reference of a document.

    Shape: what is in the space is named by its id (`/pages/<id>`, `/files/<id>`, `/includes/<id>`), which becomes a
    relative path when the page is written. An id that is not in `known` gets an address that keeps it as a broken link.
    None for a reference that no address can stand for, such as one to a user.
    """
    match dict(ref):
        case {"kind": "url", "url": str(url), **more} if not more:
            lost = find_broken_address(url)
            return url if lost is None else lost
        case {"kind": "space", "space": str(space), **more} if not more:
            return f"{APP}{space}"
        case {"kind": "page", "page": str(page), **more} if more.keys() <= {"space"}:
            return f"{APP}{more['space']}/{page}" if more else _build_id_address("pages", page, known)
        case {"kind": "anchor", "anchor": str(anchor), **more} if more.keys() <= {"page", "space"}:
            if "space" in more:
                return f"{APP}{more['space']}/{more.get('page', '')}#{anchor}"
            return f"{_build_id_address('pages', more['page'], known) if more else ''}#{anchor}"
        case {"kind": "file", "file": str(file), **more} if not more:
            return _build_id_address("files", file, known)
        case {"kind": "reusable-content", "reusableContent": str(content), **more} if not more:
            return _build_id_address("includes", content, known)
    return None


def _build_id_address(kind: str, id: str, known: Container[str]) -> str:
    return f"/{kind}/{id}" if id in known else f"{BROKEN}{kind}/{id}"


def is_absolute(address: str) -> bool:
    """Return whether an address that is no path of the space has a host or scheme of its own."""
    return address.startswith("//") or _SCHEME.match(address) is not None
