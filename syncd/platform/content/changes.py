"""What changed between two revisions: pages, files, reusable contents, variables and tags (content-write §2)."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Query, Request
from fastapi.responses import JSONResponse

from syncd.model.changes import Changes
from syncd.platform.change_requests import change_requests
from syncd.platform.content.content import merged_from
from syncd.platform.content.view import View, Viewed, described
from syncd.platform.http import answers
from syncd.platform.http.listing import LIMIT_MAX
from syncd.platform.http.routing import create_router
from syncd.platform.people.auth import declare_role
from syncd.platform.revisions import rendering, revisions
from syncd.platform.revisions.outline import Draft, Outline, Spot, has_path, is_page
from syncd.platform.revisions.rendering import Look
from syncd.platform.revisions.tree import FILES, INCLUDES, ROOT

router = create_router(tags=["changes"])

LIMIT_DEFAULT = 10
"""Source: content-write §2."""

Limit = Annotated[int, Query(ge=0, le=LIMIT_MAX)]

_OF_REVISION = "/spaces/{space_id}/revisions/{revision_id}/changes"
_OF_REQUEST = "/spaces/{space_id}/change-requests/{change_request_id}/changes"
_EDITED: Mapping[str, tuple[str, ...]] = {
    "document": ("description", "emoji", "cover", "layout", "variables"),
    "group": ("emoji",),
    "link": ("emoji", "target"),
}
"""Members of a page whose edits are told, by its type; title, slug and document are told beside them."""
_FILE = ("size", "contentType", "dimensions")


@router.get(
    _OF_REVISION, response_model=Changes, openapi_extra=declare_role("read", extension=True) | described(_OF_REVISION)
)
def get_revision_changes(request: Request, view: Viewed, limit: Limit = LIMIT_DEFAULT) -> JSONResponse:
    """Given a revision, return what it changed of its first parent; the first revision made all that it has."""
    saved = view.revision
    before = _opened(view, saved.parents[0]) if saved.parents else Draft().base
    merged = {} if saved.merged_from is None else {"mergedFrom": merged_from(request, view)}
    return answers.ok(merged | _answer(_Sides(before, view.outline, view.look), limit))


@router.get(
    _OF_REQUEST, response_model=Changes, openapi_extra=declare_role("read", extension=True) | described(_OF_REQUEST)
)
def get_change_request_changes(view: Viewed, limit: Limit = LIMIT_DEFAULT) -> JSONResponse:
    """Given a change request, return what it changes of the main content that it last took in."""
    with view.storage.read() as connection:
        row = change_requests.require(connection, view.revision.space, view.change_request or "")
        base = change_requests.base_of(row)
    return answers.ok(_answer(_Sides(_opened(view, base), view.outline, view.look), limit))


def _opened(view: View, revision: str) -> Outline:
    with view.storage.read() as connection:
        return revisions.outline(connection, view.revision.space, revision)


@dataclass(frozen=True)
class _Sides:
    before: Outline
    after: Outline
    look: Look

    def changed(self, fits: Callable[[Spot], bool]) -> Iterator[tuple[Spot | None, Spot | None]]:
        """Yield what differs: what is there now in its order, then what is gone."""
        for id, spot in self.after.spots.items():
            former = self.before.spots.get(id)
            if fits(spot) and (former is None or former.hash != spot.hash or former.parent != spot.parent):
                yield former, spot
        for id, spot in self.before.spots.items():
            if fits(spot) and id not in self.after.spots:
                yield spot, None


def _answer(sides: _Sides, limit: int) -> dict[str, Any]:
    if sides.before.root == sides.after.root:
        return {"changes": [], "more": 0}
    each = [*_pages(sides), *_files(sides), *_reusable(sides), *_shared(sides)]
    return {"changes": each[:limit], "more": max(0, len(each) - limit)}


def _pages(sides: _Sides) -> Iterator[dict[str, Any]]:
    for before, after in sides.changed(lambda spot: is_page(spot.node)):
        if after is None or before is None:
            spot = after or before
            assert spot
            yield {"type": "page_created" if before is None else "page_deleted", "page": _page(spot)}
            continue
        if before.parent != after.parent:
            parents = (("before", sides.before, before), ("after", sides.after, after))
            named = {
                side: _page(tree.spots[spot.parent]) for side, tree, spot in parents if is_page(_above(tree, spot))
            }
            yield {"type": "page_moved", "page": _page(after), "parent": named}
        attributes = _attributes(before, after, _page_values)
        if attributes:
            yield {"type": "page_edited", "page": _page(after), "attributes": attributes}


def _above(tree: Outline, spot: Spot) -> Any:
    return tree.spots[spot.parent].node


def _page(spot: Spot) -> dict[str, Any]:
    node = spot.node
    path = {"path": spot.path} if has_path(node) else {}
    return {"id": node.id, "type": node.type, "title": node.title, **path}


def _page_values(spot: Spot) -> dict[str, Any]:
    node = spot.node
    kept = {name: node.fields[name] for name in _EDITED.get(node.type, ()) if name in node.fields}
    slug = {"slug": node.slug} if has_path(node) else {}
    body = {"document": node.body} if node.body is not None else {}
    return {"title": node.title, **slug, **body, **kept}


def _files(sides: _Sides) -> Iterator[dict[str, Any]]:
    def values(spot: Spot) -> dict[str, Any]:
        kept = {name: spot.node.fields[name] for name in _FILE if name in spot.node.fields}
        return {"name": spot.node.title, "downloadURL": _file(spot, sides.look)["downloadURL"], **kept}

    for before, after in sides.changed(lambda spot: spot.parent == FILES):
        yield from _kept("file", before, after, values, lambda spot: _file(spot, sides.look))


def _file(spot: Spot, look: Look) -> dict[str, Any]:
    shown = rendering.file_members(spot, look)
    return {name: shown[name] for name in ("id", "name", "contentType", "downloadURL")}


def _reusable(sides: _Sides) -> Iterator[dict[str, Any]]:
    def values(spot: Spot) -> dict[str, Any]:
        return {"title": spot.node.title, **({"document": spot.node.body} if spot.node.body else {})}

    for before, after in sides.changed(lambda spot: spot.parent == INCLUDES):
        yield from _kept("reusableContent", before, after, values, lambda spot: {"id": spot.node.id, **values(spot)})


_TYPES = {"file": "file", "reusableContent": "reusable_content"}


def _kept(
    member: str,
    before: Spot | None,
    after: Spot | None,
    values: Callable[[Spot], dict[str, Any]],
    shown: Callable[[Spot], dict[str, Any]],
) -> Iterator[dict[str, Any]]:
    type = _TYPES[member]
    if before is None or after is None:
        spot = after or before
        assert spot
        yield {"type": f"{type}_created" if before is None else f"{type}_deleted", member: shown(spot)}
        return
    attributes = _attributes(before, after, values)
    if attributes:
        yield {"type": f"{type}_edited", member: shown(after), "attributes": attributes}


def _shared(sides: _Sides) -> Iterator[dict[str, Any]]:
    before, after = (tree.spots[ROOT].node.fields for tree in (sides.before, sides.after))
    variables = _differing(before.get("variables", {}), after.get("variables", {}))
    if variables:
        yield {"type": "variables_edited", "variables": variables}
    former, tags = ({tag.get("slug", ""): tag for tag in fields.get("tags", ())} for fields in (before, after))
    for slug in {**tags, **former}:
        if former.get(slug) == tags.get(slug):
            continue
        type = "tag_created" if slug not in former else "tag_edited" if slug in tags else "tag_deleted"
        tag = tags.get(slug) or former[slug]
        yield {"type": type, "tag": {"slug": slug, "label": str(tag.get("label", slug))}}


def _attributes(before: Spot, after: Spot, values: Callable[[Spot], dict[str, Any]]) -> dict[str, Any]:
    return _differing(values(before), values(after))


def _differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: {side: held[name] for side, held in (("before", before), ("after", after)) if name in held}
        for name in {**after, **before}
        if name not in before or name not in after or before[name] != after[name]
    }
