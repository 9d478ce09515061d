"""Reading content: of a space, of a change request and of a revision, which differ only in what revision they mean."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import JSONResponse
from starlette.concurrency import run_in_threadpool

from syncd.layout.paths import collision_key
from syncd.platform import addresses, answers, change_requests, rendering, revisions
from syncd.platform.auth import Caller, Signed
from syncd.platform.downloads import Downloads, until
from syncd.platform.failures import Failure
from syncd.platform.listing import Paging
from syncd.platform.outline import Outline, Spot, is_page, open_tree, remembered
from syncd.platform.rendering import Look
from syncd.platform.spaces import require_space
from syncd.platform.storage import Storage, Stored
from syncd.platform.tree import FILES, INCLUDES, PAGES

router = APIRouter(tags=["content"])


@dataclass(frozen=True)
class View:
    """The revision that a request means, opened."""

    organization: str
    revision: revisions.Saved
    outline: Outline
    look: Look

    def spot(self, id: str, what: str, fits: Callable[[Spot], bool]) -> Spot:
        """Given an id, return where it stands. Raises: Failure 404 when nothing of that kind does."""
        spot = self.outline.spots.get(id)
        if spot is None or not fits(spot):
            raise Failure(404, f"No {what} {id} in revision {self.revision.id}.")
        return spot


async def _viewed(
    request: Request, storage: Stored, caller: Signed, metadata: bool = True, computed: bool = True
) -> View:
    organization, revision = _meant(storage, caller, request.path_params)
    outline = remembered(revision.root)
    if outline is None:
        outline = await run_in_threadpool(_opened, storage, revision.root)
    look = look_of(request, storage, organization, revision.space, metadata=metadata)
    return View(organization, revision, outline, look)


Viewed = Annotated[View, Depends(_viewed)]
"""A handler's parameter for the revision that its path means: main content, a change request's, or one by id."""


def _meant(storage: Storage, caller: Caller, path: dict[str, Any]) -> tuple[str, revisions.Saved]:
    with storage.read() as connection:
        space = require_space(connection, caller, path["space_id"])
        revision = path.get("revision_id", space.revision)
        if "change_request_id" in path:
            revision = change_requests.require(connection, space.id, path["change_request_id"]).revision
        return space.organization, revisions.get(connection, space.id, revision)


def _opened(storage: Storage, root: bytes) -> Outline:
    with storage.read() as connection:
        return open_tree(connection, root)


def look_of(request: Request, storage: Storage, organization: str, space: str, *, metadata: bool = True) -> Look:
    """Given whose content is shown, return how this request's answer shows it."""
    downloads = Downloads(addresses.origin(request), storage.secret, until(storage.now().timestamp()))
    return Look(addresses.app(request, f"/o/{organization}/s/{space}"), downloads, metadata)


def revision_shown(request: Request, storage: Stored, view: Viewed) -> Response:
    """Given a view, return the whole Revision."""
    saved = view.revision
    head: dict[str, Any] = {
        "object": "revision",
        "id": saved.id,
        "parents": saved.parents,
        "createdAt": saved.created_at,
        "type": saved.type,
        "urls": {"app": f"{view.look.app}/~/revisions/{saved.id}"},
    }
    if saved.merged_from is not None:
        with storage.read() as connection:
            row = change_requests.require(connection, saved.space, saved.merged_from)
            head["mergedFrom"] = change_requests.shown(connection, request, row)
    return _json(rendering.revision(view.outline, head, view.look))


def pages_shown(view: Viewed) -> Response:
    """Given a view, return its page tree."""
    listed = rendering.pages(view.outline, view.outline.order.get(PAGES, ()), view.look)
    return _json(b'{"pages":%b}' % listed)


def files_listed(view: Viewed, paging: Paging) -> JSONResponse:
    """Given a view, return its files."""
    envelope = paging.of(view.outline.order.get(FILES, ()), key=str)
    spots = (view.outline.spots[id] for id in envelope["items"])
    return answers.ok(envelope | {"items": [rendering.file_members(spot, view.look) for spot in spots]})


async def file_shown(view: Viewed, file_id: str) -> JSONResponse:
    """Given a file's id, return the File."""
    return answers.ok(rendering.file_members(view.spot(file_id, "file", lambda spot: spot.parent == FILES), view.look))


async def page_shown(
    storage: Stored,
    view: Viewed,
    page_id: str,
    format: Literal["document", "markdown"] | None = None,
    evaluated: Literal["true", "false", "deterministic-only"] = "false",
    dereferenced: Literal["true", "false", "reusable-contents"] = "false",
) -> Response:
    """Given a page's id, return the Page; with `format=markdown`, its text is exactly what was last written.

    Expressions and includes stay as they are written, whatever is asked: this platform does not evaluate content.
    """
    return _page(storage, view, view.spot(page_id, "page", lambda spot: is_page(spot.node)), format)


async def page_at_path(
    storage: Stored,
    view: Viewed,
    page_path: str,
    format: Literal["document", "markdown"] | None = None,
    evaluated: Literal["true", "false", "deterministic-only"] = "false",
    dereferenced: Literal["true", "false", "reusable-contents"] = "false",
) -> Response:
    """Given a page's path, its slashes as they are or encoded, return the Page."""
    id = view.outline.by_path.get(collision_key(page_path.strip("/")))
    if id is None:
        raise Failure(404, f"No page at this path in revision {view.revision.id}.")
    return _page(storage, view, view.outline.spots[id], format)


async def reusable_content_shown(storage: Stored, view: Viewed, reusable_content_id: str) -> JSONResponse:
    """Given its id, return the reusable content with its text."""
    spot = view.spot(reusable_content_id, "reusable content", lambda spot: spot.parent == INCLUDES)
    text = storage.blobs.get(spot.node.body or "").decode()
    return answers.ok(rendering.reusable_members(spot, view.look) | {"markdown": text})


def _page(storage: Storage, view: View, spot: Spot, format: str | None) -> Response:
    more = {}
    if format == "markdown" and spot.node.body is not None:
        more["markdown"] = storage.blobs.get(spot.node.body).decode()
    return _json(rendering.page(view.outline, spot.node.id, view.look, **more))


def _json(body: bytes) -> Response:
    return Response(body, media_type="application/json")


_READS: dict[str, Callable[..., Any]] = {
    "": revision_shown,
    "/pages": pages_shown,
    "/files": files_listed,
    "/files/{file_id}": file_shown,
    "/page/{page_id}": page_shown,
    "/path/{page_path:path}": page_at_path,
    "/reusable-contents/{reusable_content_id}": reusable_content_shown,
}
# Names of operations: content-write §3 and not-shown.md (a); in the order of `_READS`.
_NAMES = {
    "/spaces/{space_id}/content": (
        *("get_current_revision", "list_pages", "list_files", "get_file_by_id"),
        *("get_page_by_id", "get_page_by_path", "get_reusable_content_by_id"),
    ),
    "/spaces/{space_id}/change-requests/{change_request_id}/content": (
        *("get_revision_of_change_request_by_id", "list_pages_in_change_request", "list_files_in_change_request_by_id"),
        *("get_file_in_change_request_by_id", "get_page_in_change_request_by_id"),
        *("get_page_in_change_request_by_path", "get_reusable_content_in_change_request_by_id"),
    ),
    "/spaces/{space_id}/revisions/{revision_id}": (
        *("get_revision_by_id", "list_pages_in_revision_by_id", "list_files_in_revision_by_id"),
        *("get_file_in_revision_by_id", "get_page_in_revision_by_id"),
        *("get_page_in_revision_by_path", "get_reusable_content_in_revision_by_id"),
    ),
}
for _prefix, _names in _NAMES.items():
    for (_path, _read), _name in zip(_READS.items(), _names, strict=True):
        router.add_api_route(_prefix + _path, _read, name=_name)
