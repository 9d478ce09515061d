"""What changed between two revisions: pages, files, reusable contents, variables and tags."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Query, Request
from fastapi.responses import JSONResponse

from syncd.layout.page.tag_forms import list_page_tags, list_space_tags
from syncd.model.changes import Changes
from syncd.platform.change_requests import change_requests
from syncd.platform.content.content import read_merged_change_request
from syncd.platform.content.view import CurrentView, declare_path_parameters
from syncd.platform.http import answers
from syncd.platform.http.listing import LIMIT_MAX
from syncd.platform.http.routing import create_router
from syncd.platform.people.auth import declare_role
from syncd.platform.revisions import rendering
from syncd.platform.revisions.metadata import KEYS
from syncd.platform.revisions.outline import Draft, Outline, TreeEntry, has_path, is_page
from syncd.platform.revisions.rendering import RenderContext
from syncd.platform.revisions.tree import FILES, INCLUDES, ROOT

router = create_router(tags=["changes"])

LIMIT_DEFAULT = 10
"""Source: `getChangeRequestChanges`, @gitbook/api 0.202.0."""

Limit = Annotated[int, Query(ge=0, le=LIMIT_MAX)]

_OF_REVISION = "/spaces/{space_id}/revisions/{revision_id}/changes"
_OF_REQUEST = "/spaces/{space_id}/change-requests/{change_request_id}/changes"
_READ = declare_role("read", extension=True, visitors=True)
_EDITED: Mapping[str, tuple[str, ...]] = {
    "document": (*KEYS, "emoji", "cover", "layout", "variables", "tags", "metaLinks"),
    "group": (*KEYS, "emoji"),
    "link": (*KEYS, "emoji", "target"),
}
"""Members of a page whose edits are told, by its type; title, slug and document are told beside them."""
_FILE = ("size", "contentType", "dimensions")


@router.get(
    _OF_REVISION,
    response_model=Changes,
    openapi_extra=_READ | declare_path_parameters(_OF_REVISION),
)
def get_revision_changes(request: Request, view: CurrentView, limit: Limit = LIMIT_DEFAULT) -> JSONResponse:
    """Return what a revision changed, compared to its first parent; the first revision of a space added all that it
    has. What was there before is told only to who may read that, too: not to a content token of main content.
    """
    saved, grant = view.revision, view.caller.grant
    before = view.open_revision(saved.parents[0]) if saved.parents else Draft().base
    is_public = grant is not None and not (grant.change_request or grant.is_draft)
    sides = _RevisionPair(before, view.outline, view.context, includes_before=not is_public)
    merged = {}
    if saved.merged_from is not None and grant is None:
        merged = {"mergedFrom": read_merged_change_request(request, view)}
    return answers.ok(merged | _build_answer(sides, limit))


@router.get(
    _OF_REQUEST,
    response_model=Changes,
    openapi_extra=_READ | declare_path_parameters(_OF_REQUEST),
)
def get_change_request_changes(view: CurrentView, limit: Limit = LIMIT_DEFAULT) -> JSONResponse:
    """Return what a change request changes, compared to the main content that it last took in."""
    with view.storage.read() as connection:
        row = change_requests.require_change_request(connection, view.revision.space, view.change_request or "")
        base = change_requests.find_base_revision(row)
    return answers.ok(_build_answer(_RevisionPair(view.open_revision(base), view.outline, view.context), limit))


@dataclass(frozen=True)
class _RevisionPair:
    """Two revisions; `includes_before` says whether the answer may show what was there before."""

    before: Outline
    after: Outline
    context: RenderContext
    includes_before: bool = True

    def list_changed(self, fits: Callable[[TreeEntry], bool]) -> Iterator[tuple[TreeEntry | None, TreeEntry | None]]:
        """Yield what differs: what is there now in its order, then what is gone."""
        for id, entry in self.after.entries.items():
            former = self.before.entries.get(id)
            if fits(entry) and (former is None or former.hash != entry.hash or former.parent != entry.parent):
                yield former, entry
        for id, entry in self.before.entries.items():
            if fits(entry) and id not in self.after.entries:
                yield entry, None


def _build_answer(sides: _RevisionPair, limit: int) -> dict[str, Any]:
    if sides.before.root == sides.after.root:
        return {"changes": [], "more": 0}
    each = [
        *_list_page_changes(sides),
        *_list_file_changes(sides),
        *_list_reusable_changes(sides),
        *_list_shared_changes(sides),
    ]
    if not sides.includes_before:
        each = [_drop_before(change) for change in each if not change["type"].endswith("_deleted")]
    return {"changes": each[:limit], "more": max(0, len(each) - limit)}


def _drop_before(change: dict[str, Any]) -> dict[str, Any]:
    """The change without what was there before it."""

    def keep_latter(values: Mapping[str, Any]) -> dict[str, Any]:
        return {side: value for side, value in values.items() if side != "before"}

    kept = dict(change)
    for member in ("attributes", "variables"):
        if member in kept:
            kept[member] = {name: keep_latter(values) for name, values in kept[member].items() if "after" in values}
    if "parent" in kept:
        kept["parent"] = keep_latter(kept["parent"])
    return kept


def _list_page_changes(sides: _RevisionPair) -> Iterator[dict[str, Any]]:
    for before, after in sides.list_changed(lambda entry: is_page(entry.node)):
        if after is None or before is None:
            entry = after or before
            assert entry
            yield {"type": "page_created" if before is None else "page_deleted", "page": _serialize_page(entry)}
            continue
        if before.parent != after.parent:
            parents = (("before", sides.before, before), ("after", sides.after, after))
            named = {
                side: _serialize_page(tree.entries[entry.parent])
                for side, tree, entry in parents
                if is_page(tree.entries[entry.parent].node)
            }
            yield {"type": "page_moved", "page": _serialize_page(after), "parent": named}
        attributes = _compare_entries(before, after, _read_page_values)
        if attributes:
            yield {"type": "page_edited", "page": _serialize_page(after), "attributes": attributes}


def _serialize_page(entry: TreeEntry) -> dict[str, Any]:
    node = entry.node
    path = {"path": entry.path} if has_path(node) else {}
    return {"id": node.id, "type": node.type, "title": node.title, **path}


def _read_page_values(entry: TreeEntry) -> dict[str, Any]:
    node = entry.node
    kept = {name: node.fields[name] for name in _EDITED.get(node.type, ()) if name in node.fields}
    if "tags" in kept:
        kept["tags"] = list_page_tags(kept["tags"])
    slug = {"slug": node.slug} if has_path(node) else {}
    body = {"document": node.body} if node.body is not None else {}
    return {"title": node.title, **slug, **body, **kept}


def _list_file_changes(sides: _RevisionPair) -> Iterator[dict[str, Any]]:
    def values(entry: TreeEntry) -> dict[str, Any]:
        kept = {name: entry.node.fields[name] for name in _FILE if name in entry.node.fields}
        return {"name": entry.node.title, "downloadURL": _serialize_file(entry, sides.context)["downloadURL"], **kept}

    for before, after in sides.list_changed(lambda entry: entry.parent == FILES):
        yield from _list_member_changes(
            "file", before, after, values, lambda entry: _serialize_file(entry, sides.context)
        )


def _serialize_file(entry: TreeEntry, context: RenderContext) -> dict[str, Any]:
    shown = rendering.build_file_members(entry, context)
    return {name: shown[name] for name in ("id", "name", "contentType", "downloadURL")}


def _list_reusable_changes(sides: _RevisionPair) -> Iterator[dict[str, Any]]:
    def values(entry: TreeEntry) -> dict[str, Any]:
        return {"title": entry.node.title, **({"document": entry.node.body} if entry.node.body else {})}

    for before, after in sides.list_changed(lambda entry: entry.parent == INCLUDES):
        yield from _list_member_changes(
            "reusableContent", before, after, values, lambda entry: {"id": entry.node.id, **values(entry)}
        )


_TYPES = {"file": "file", "reusableContent": "reusable_content"}


def _list_member_changes(
    member: str,
    before: TreeEntry | None,
    after: TreeEntry | None,
    values: Callable[[TreeEntry], dict[str, Any]],
    shown: Callable[[TreeEntry], dict[str, Any]],
) -> Iterator[dict[str, Any]]:
    type = _TYPES[member]
    if before is None or after is None:
        entry = after or before
        assert entry
        yield {"type": f"{type}_created" if before is None else f"{type}_deleted", member: shown(entry)}
        return
    attributes = _compare_entries(before, after, values)
    if attributes:
        yield {"type": f"{type}_edited", member: shown(after), "attributes": attributes}


def _list_shared_changes(sides: _RevisionPair) -> Iterator[dict[str, Any]]:
    before, after = (tree.entries[ROOT].node.fields for tree in (sides.before, sides.after))
    variables = _compare_values(before.get("variables", {}), after.get("variables", {}))
    if variables:
        yield {"type": "variables_edited", "variables": variables}
    yield from _list_tag_changes(
        *({tag["slug"]: tag["label"] for tag in list_space_tags(fields.get("tags", ()))} for fields in (before, after))
    )


def _list_tag_changes(former: Mapping[str, str], labels: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """What became of the tags, by the label of each slug: of an edited one, nothing else is told."""
    for slug in {**labels, **former}:
        tag = {"slug": slug, "label": labels[slug] if slug in labels else former[slug]}
        if slug not in former or slug not in labels:
            yield {"type": "tag_created" if slug not in former else "tag_deleted", "tag": tag}
        elif former[slug] != labels[slug]:
            attributes = {"label": {"before": former[slug], "after": labels[slug]}}
            yield {"type": "tag_edited", "tag": tag, "attributes": attributes}


def _compare_entries(
    before: TreeEntry, after: TreeEntry, values: Callable[[TreeEntry], dict[str, Any]]
) -> dict[str, Any]:
    return _compare_values(values(before), values(after))


def _compare_values(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: {side: held[name] for side, held in (("before", before), ("after", after)) if name in held}
        for name in {**after, **before}
        if name not in before or name not in after or before[name] != after[name]
    }
