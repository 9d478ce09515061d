"""Links of a space or page with their status, and backlinks of pages and files; in main content and change requests."""

import json
from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from typing import Any

from fastapi.responses import JSONResponse
from pydantic import BaseModel

from syncd.model.backlink import Backlink
from syncd.model.link import LinkList, Status
from syncd.model.listing import Listing
from syncd.platform.change_requests import change_requests
from syncd.platform.content.view import RevisionView, declare_path_parameters
from syncd.platform.http import answers
from syncd.platform.http.listing import Paging
from syncd.platform.http.routing import create_router
from syncd.platform.people.auth import declare_role
from syncd.platform.revisions import revisions
from syncd.platform.revisions.targets import Reference
from syncd.platform.revisions.tree import FILES
from syncd.platform.services.links.graph import build_graph, create_resolver, group_by_target
from syncd.platform.services.links.locations import AtContent, LocationContext

router = create_router(tags=["links"])

LOCATIONS_MAX = 3_000
"""Places that all links of one answer are shown with together, beyond the first one of each."""

LinksByTarget = Mapping[Reference, tuple[str, ...]]


def answer_links(at: AtContent, paging: Paging, status: Status | None = None) -> JSONResponse:
    """List what the content of a space or change request refers to, and from where."""
    return _answer_links(at, paging, status, build_graph(at.view.storage, at.view.outline).by_target)


def answer_page_links(at: AtContent, paging: Paging, page_id: str, status: Status | None = None) -> JSONResponse:
    """List what a page refers to."""
    here = create_resolver(at.view.storage, at.view.outline).find_references(at.view.require_page(page_id))
    return _answer_links(at, paging, status, group_by_target({page_id: here}), page=page_id)


def answer_page_backlinks(at: AtContent, paging: Paging, page_id: str) -> JSONResponse:
    """List the places that refer to a page."""
    at.view.require_page(page_id)
    return _answer_backlinks(at, paging, page_id)


def answer_file_backlinks(at: AtContent, paging: Paging, file_id: str) -> JSONResponse:
    """List the places that refer to a file."""
    at.view.require_entry(file_id, "file", lambda entry: entry.parent == FILES)
    return _answer_backlinks(at, paging, file_id)


def _answer_backlinks(at: LocationContext, paging: Paging, id: str) -> JSONResponse:
    # A page that only names parts of itself is not referred to.
    places = [place for place in build_graph(at.view.storage, at.view.outline).incoming.get(id, ()) if place != id]
    envelope = paging.paginate(places, key=str)
    return answers.ok(envelope | {"items": [at.build_location(place) for place in envelope["items"]]})


def _answer_links(
    at: LocationContext, paging: Paging, status: Status | None, found: LinksByTarget, *, page: str | None = None
) -> JSONResponse:
    view = at.view
    chosen = {_compute_link_key(link): link for link in found if status in (None, _find_status(view, link))}
    envelope = paging.paginate(list(chosen), key=str)
    broken = {link for link in chosen.values() if not link.found}
    stats: dict[str, Any] = {"total": len(chosen), "broken": {"total": len(broken)}}
    if view.change_request is not None:
        stats["broken"]["changeRequest"] = len(broken.difference(_find_base_links(view, page)))
    more = 1 + LOCATIONS_MAX // max(1, len(envelope["items"]))
    items = [_serialize_link(at, chosen[key], found[chosen[key]][:more]) for key in envelope["items"]]
    return answers.ok(envelope | {"items": items, "stats": stats})


def _serialize_link(at: LocationContext, reference: Reference, places: tuple[str, ...]) -> dict[str, Any]:
    return {
        "status": _find_status(at.view, reference),
        "relation": reference.relation,
        "targetReference": at.build_target(reference),
        "locationReferences": [at.build_location(place) for place in places],
    }


def _find_status(view: RevisionView, reference: Reference) -> Status:
    if not reference.found:
        return "broken"
    return "in-app" if reference.address.startswith(f"{view.context.downloads.origin}/app/") else "ok"


def _compute_link_key(link: Reference) -> str:
    """What a link is known by on every page of a list: a short name of its target, however long that is."""
    named = json.dumps([link.kind, link.id, link.address, link.anchor, link.found, link.relation])
    return blake2b(named.encode(), digest_size=16).hexdigest()


def _find_base_links(view: RevisionView, page: str | None) -> LinksByTarget:
    """The links of the content that the change request started from, or of one page there."""
    space = view.revision.space
    with view.storage.read() as connection:
        row = change_requests.require_change_request(connection, space, view.change_request or "")
        base = revisions.open_revision(connection, space, change_requests.find_base_revision(row))
    if page is None:
        return build_graph(view.storage, base).by_target
    entry = base.entries.get(page)
    return {} if entry is None else group_by_target({page: create_resolver(view.storage, base).find_references(entry)})


Read = Callable[..., JSONResponse]
_SPACE, _REQUEST = "/spaces/{space_id}", "/spaces/{space_id}/change-requests/{change_request_id}"
_PAGE, _FILE = "/content/page/{page_id}", "/content/files/{file_id}"
_ROUTES: Mapping[str, tuple[str, Read, type[BaseModel], bool]] = {
    "list_space_links": (f"{_SPACE}/links", answer_links, LinkList, False),
    "list_space_page_links": (f"{_SPACE}{_PAGE}/links", answer_page_links, LinkList, True),
    "list_space_page_backlinks": (f"{_SPACE}{_PAGE}/backlinks", answer_page_backlinks, Listing[Backlink], True),
    "list_space_file_backlinks": (f"{_SPACE}{_FILE}/backlinks", answer_file_backlinks, Listing[Backlink], False),
    "list_change_request_links": (f"{_REQUEST}/links", answer_links, LinkList, True),
    "list_page_links_in_change_request": (f"{_REQUEST}{_PAGE}/links", answer_page_links, LinkList, False),
    "list_change_request_page_backlinks": (
        *(f"{_REQUEST}{_PAGE}/backlinks", answer_page_backlinks),
        *(Listing[Backlink], False),
    ),
    "list_change_request_file_backlinks": (
        *(f"{_REQUEST}{_FILE}/backlinks", answer_file_backlinks),
        *(Listing[Backlink], False),
    ),
}
"""By name: path, handler, shape of the answer, and whether it is beyond the API document."""


def _add_routes() -> Iterator[str]:
    for name, (path, read, shape, beyond) in _ROUTES.items():
        extra = declare_role("read", extension=beyond) | declare_path_parameters(path)
        router.add_api_route(path, read, name=name, response_model=shape, openapi_extra=extra)
        yield name


OPERATIONS = tuple(_add_routes())
"""The names of the operations in this module."""
