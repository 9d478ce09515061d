"""A revision as JSON bytes; parts that did not change since they were last rendered come from a cache."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from syncd.layout.page.frontmatter import fill_layout
from syncd.layout.page.tag_forms import list_page_tags, list_space_tags
from syncd.platform.cache import Cache
from syncd.platform.http.downloads import DownloadSigner
from syncd.platform.revisions.outline import Outline, TreeEntry, has_path
from syncd.platform.revisions.tree import FILES, INCLUDES, PAGES, ROOT

_REMEMBERED_BYTES = 96 * 1024 * 1024
_cache: Cache[tuple[Any, ...], bytes] = Cache(_REMEMBERED_BYTES, weigh=len)

_encode = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode

_KINDS = {"document": "sheet", "group": "group", "link": "link"}
"""A page's `kind`, an earlier name of its `type` that clients still read. Source: @gitbook/api 0.146.0."""


@dataclass(frozen=True, slots=True)
class RenderContext:
    """What the JSON of content depends on beside it: `app` is the space's address in the app, `metadata` Git's ids."""

    app: str
    downloads: DownloadSigner
    metadata: bool = True


def render_page(outline: Outline, id: str, context: RenderContext, **more: Any) -> bytes:
    """Return a page as JSON, with its subpages; `more` adds members."""
    entry = outline.entries[id]
    below = outline.order.get(id, ())
    return _append_member(
        {**build_page_members(entry, context), **more}, b'"pages":' + render_pages(outline, below, context)
    )


def render_page_once(entry: TreeEntry, context: RenderContext, kind: str, made: Callable[[], bytes]) -> bytes:
    """Return the JSON of a page from the cache, or what `made` returns; `kind` tells several answers about a page
    apart.
    """
    key = (entry.hash, entry.path, context.app, context.metadata, kind)
    known = _cache.get(key)
    return known if known is not None else _cache.put(key, made())


def render_pages(outline: Outline, ids: Iterable[str], context: RenderContext) -> bytes:
    """Return the JSON array of pages, each with its subpages."""
    return b"[" + b",".join(_render_cached_page(outline, id, context) for id in ids) + b"]"


def render_files(outline: Outline, context: RenderContext) -> bytes:
    """Return the JSON array of the files of a tree, with download addresses that work for a limited time."""
    # The addresses expire, so that the time until which they work, which `downloads` has, is part of the key.
    key = (outline.entries[FILES].hash, context.downloads, context.metadata)
    known = _cache.get(key)
    if known is None:
        shown = (encode_json(build_file_members(outline.entries[id], context)) for id in outline.order.get(FILES, ()))
        known = _cache.put(key, b"[" + b",".join(shown) + b"]")
    return known


def render_revision(outline: Outline, head: Mapping[str, Any], context: RenderContext) -> bytes:
    """Return a revision as JSON: its own members `head`, its reusable contents, pages and files."""
    entries = outline.entries
    includes = [build_reusable_members(entries[id], context) for id in outline.order.get(INCLUDES, ())]
    own = {**head, "reusableContents": includes, **_read_shared_values(outline)}
    listed = render_pages(outline, outline.order.get(PAGES, ()), context), render_files(outline, context)
    return _append_member(own, b'"pages":%b,"files":%b' % listed)


def build_page_members(entry: TreeEntry, context: RenderContext) -> dict[str, Any]:
    """Return the members of a page in the API, without its subpages."""
    node = entry.node
    members = {"id": node.id, "title": node.title, "type": node.type, **node.fields}
    if node.type in _KINDS:
        members["kind"] = _KINDS[node.type]
    if node.type == "document":
        # A database may have tags in the form of Git, which former versions kept.
        tags = list_page_tags(node.fields.get("tags", ()))
        members |= {"layout": fill_layout(node.fields.get("layout", {})), "tags": tags}
    if has_path(node):
        members |= {"slug": node.slug, "path": entry.path}
    members["urls"] = {"app": f"{context.app}/{entry.path}" if entry.path else context.app}
    if node.body is not None:
        members["documentId"] = node.body
    return members | _build_git_members(entry, context)


def build_file_members(entry: TreeEntry, context: RenderContext) -> dict[str, Any]:
    """Return the members of a file in the API."""
    node = entry.node
    assert node.body
    address = context.downloads.sign_url(node.body, name=node.title, content_type=str(node.fields["contentType"]))
    return {
        "id": node.id,
        "name": node.title,
        **node.fields,
        "downloadURL": address,
        **_build_git_members(entry, context),
    }


def build_reusable_members(entry: TreeEntry, context: RenderContext) -> dict[str, Any]:
    """Return the members of a reusable content in the API."""
    return {"id": entry.node.id, "title": entry.node.title, **_build_git_members(entry, context)}


def encode_json(value: Any) -> bytes:
    """Return a JSON value as compact UTF-8."""
    return _encode(value).encode()


def _render_cached_page(outline: Outline, id: str, context: RenderContext) -> bytes:
    entry = outline.entries[id]
    # The path depends on what is above; all else that is shown is covered by the hash.
    key = (entry.hash, entry.path, context.app, context.metadata)
    known = _cache.get(key)
    return known if known is not None else _cache.put(key, render_page(outline, id, context))


def _append_member(members: Mapping[str, Any], last: bytes) -> bytes:
    return b"%b,%b}" % (encode_json(members)[:-1], last)


def _build_git_members(entry: TreeEntry, context: RenderContext) -> dict[str, Any]:
    if not context.metadata or entry.node.path is None or entry.node.body is None:
        return {}
    return {"git": {"oid": entry.node.body, "path": entry.node.path}}


def _read_shared_values(outline: Outline) -> dict[str, Any]:
    fields = outline.entries[ROOT].node.fields
    return {"variables": fields.get("variables", {}), "tags": list_space_tags(fields.get("tags", ()))}
