"""A revision as JSON bytes: what did not change since it was last asked for is joined, not rendered again."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from syncd.platform.cache import Cache
from syncd.platform.http.downloads import DownloadSigner
from syncd.platform.revisions.outline import Outline, Spot, has_path
from syncd.platform.revisions.tree import FILES, INCLUDES, PAGES, ROOT

_REMEMBERED_BYTES = 96 * 1024 * 1024
_cache: Cache[tuple[Any, ...], bytes] = Cache(_REMEMBERED_BYTES, weigh=len)

_FLAGS = ("title", "description", "tableOfContents", "outline", "pagination", "metadata")
LAYOUT: dict[str, Any] = {"width": "default", "cover": True, "coverSize": "full", **dict.fromkeys(_FLAGS, True)}
"""The layout of a page that says nothing of it: every document tells all of its layout."""
_KINDS = {"document": "sheet", "group": "group", "link": "link"}
"""A page's `kind`, an earlier name of its `type` that clients still read. Source: not-shown.md (c) 7, (d)."""


@dataclass(frozen=True, slots=True)
class Look:
    """How one answer shows content: `app` is where the space is worked on, `metadata` whether Git's ids are told."""

    app: str
    downloads: DownloadSigner
    metadata: bool = True


def page(outline: Outline, id: str, look: Look, **more: Any) -> bytes:
    """Given a page's id, return the Page with its subpages; `more` holds further members."""
    spot = outline.spots[id]
    below = outline.order.get(id, ())
    return _closed({**page_members(spot, look), **more}, b'"pages":' + pages(outline, below, look))


def remembered_page(spot: Spot, look: Look, kind: str, made: Callable[[], bytes]) -> bytes:
    """Given where a page stands and how to make its answer, return that, made once for each kind of answer."""
    key = (spot.hash, spot.path, look.app, look.metadata, kind)
    known = _cache.get(key)
    return known if known is not None else _cache.put(key, made())


def pages(outline: Outline, ids: Iterable[str], look: Look) -> bytes:
    """Given pages' ids, return the array of them, each with its subpages."""
    return b"[" + b",".join(_page(outline, id, look) for id in ids) + b"]"


def files(outline: Outline, look: Look) -> bytes:
    """Given a tree, return the array of its files, with addresses that can be downloaded from for a while."""
    key = (outline.spots[FILES].hash, look.downloads, look.metadata)
    known = _cache.get(key)
    if known is None:
        shown = (dumps(file_members(outline.spots[id], look)) for id in outline.order.get(FILES, ()))
        known = _cache.put(key, b"[" + b",".join(shown) + b"]")
    return known


def revision(outline: Outline, head: Mapping[str, Any], look: Look) -> bytes:
    """Given a revision's own members, return the Revision."""
    spots = outline.spots
    includes = [reusable_members(spots[id], look) for id in outline.order.get(INCLUDES, ())]
    own = {**head, "reusableContents": includes, **_shared_values(outline)}
    listed = pages(outline, outline.order.get(PAGES, ()), look), files(outline, look)
    return _closed(own, b'"pages":%b,"files":%b' % listed)


def page_members(spot: Spot, look: Look) -> dict[str, Any]:
    """Given where a page stands, return its members in the API, without its subpages."""
    node = spot.node
    members = {"id": node.id, "title": node.title, "type": node.type, **node.fields}
    if node.type in _KINDS:
        members["kind"] = _KINDS[node.type]
    if node.type == "document":
        members["layout"] = LAYOUT | node.fields.get("layout", {})
    if has_path(node):
        members |= {"slug": node.slug, "path": spot.path}
    members["urls"] = {"app": f"{look.app}/{spot.path}" if spot.path else look.app}
    if node.body is not None:
        members["documentId"] = node.body
    return members | _git(spot, look)


def file_members(spot: Spot, look: Look) -> dict[str, Any]:
    """Given where a file stands, return the File."""
    node = spot.node
    assert node.body
    address = look.downloads.address(node.body, name=node.title, content_type=str(node.fields["contentType"]))
    return {"id": node.id, "name": node.title, **node.fields, "downloadURL": address, **_git(spot, look)}


def reusable_members(spot: Spot, look: Look) -> dict[str, Any]:
    """Given where a reusable content stands, return its members in the API."""
    return {"id": spot.node.id, "title": spot.node.title, **_git(spot, look)}


def dumps(value: Any) -> bytes:
    """Given a JSON value, return it as compact UTF-8."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _page(outline: Outline, id: str, look: Look) -> bytes:
    spot = outline.spots[id]
    # The path depends on what is above; all else that is shown is covered by the hash.
    key = (spot.hash, spot.path, look.app, look.metadata)
    known = _cache.get(key)
    return known if known is not None else _cache.put(key, page(outline, id, look))


def _closed(members: Mapping[str, Any], last: bytes) -> bytes:
    return b"%b,%b}" % (dumps(members)[:-1], last)


def _git(spot: Spot, look: Look) -> dict[str, Any]:
    if not look.metadata or spot.node.path is None or spot.node.body is None:
        return {}
    return {"git": {"oid": spot.node.body, "path": spot.node.path}}


def _shared_values(outline: Outline) -> dict[str, Any]:
    fields = outline.spots[ROOT].node.fields
    return {"variables": fields.get("variables", {}), "tags": fields.get("tags", [])}
