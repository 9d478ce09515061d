"""Reading content: of a space, of a change request and of a revision, which differ only in what revision they mean."""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Literal

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import QueryParams

from syncd.layout.tree.paths import collision_key
from syncd.model.file import File
from syncd.model.listing import Listing
from syncd.model.page import Page, PageTree
from syncd.model.revision import ReusableContent, Revision
from syncd.platform.change_requests import change_requests
from syncd.platform.content.page_documents import documents_of
from syncd.platform.content.view import View, Viewed, described, parameter, viewed
from syncd.platform.http import answers
from syncd.platform.http.failures import Failure
from syncd.platform.http.listing import Paging
from syncd.platform.http.routing import create_router
from syncd.platform.http.scheduler import LARGE_BYTES, RequestScheduler
from syncd.platform.people.auth import declare_role
from syncd.platform.revisions import rendering
from syncd.platform.revisions.outline import Spot
from syncd.platform.revisions.page_text import Dereferenced, Evaluated, Words
from syncd.platform.revisions.tree import FILES, INCLUDES, PAGES
from syncd.platform.spaces import spaces

router = create_router(tags=["content"])

Format = Literal["document", "markdown"]
"""Without one, a page is shown without its text. Source: not-shown.md (d)."""


def revision_shown(request: Request, view: Viewed) -> Response:
    """Given a view, return the whole Revision."""
    return _json(rendering.revision(view.outline, revision_head(request, view), view.look))


def revision_head(request: Request, view: View) -> dict[str, Any]:
    """Given a view, return the members of its Revision that do not depend on what it holds."""
    saved = view.revision
    head: dict[str, Any] = {
        "object": "revision",
        "id": saved.id,
        "parents": saved.parents,
        "createdAt": saved.created_at,
        "type": saved.type,
        "urls": {"app": f"{view.look.app}/~/revisions/{saved.id}"},
    }
    if view.change_request is None:
        with view.storage.read() as connection:
            head["urls"] |= spaces.published_urls(connection, request, saved.space, saved.id)
    if saved.merged_from is not None:
        head["mergedFrom"] = merged_from(request, view)
    return head


def merged_from(request: Request, view: View) -> dict[str, Any]:
    """Given a view of a revision that a merge made, return the change request that was merged."""
    with view.storage.read() as connection:
        row = change_requests.require(connection, view.revision.space, view.revision.merged_from or "")
        return change_requests.shown(connection, request, row)


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


class PageQuery(BaseModel):
    """What a read of a page may ask for."""

    model_config = ConfigDict(frozen=True)

    format: Format | None = None
    evaluated: Evaluated = "false"
    dereferenced: Dereferenced = "false"
    metadata: bool = True
    computed: bool = True


# A mirror reads pages by the thousand. Without parameters of their own these two cost half of what they would.
async def page_shown(request: Request) -> Response:
    """Given a page's id, return the Page; with `format=markdown`, its text is exactly what was last written."""
    asked = _asked(request.scope["query_string"])
    view = await viewed(request, metadata=asked.metadata)
    spot = view.page(request.path_params["page_id"])
    return await _page(request, view, spot, asked)


async def page_at_path(request: Request) -> Response:
    """Given a page's path, its slashes as they are or encoded, return the Page."""
    asked = _asked(request.scope["query_string"])
    view = await viewed(request, metadata=asked.metadata)
    # Made of all pages, the first time that anybody asks.
    by_path = await run_in_threadpool(lambda: view.outline.by_path)
    id = by_path.get(collision_key(request.path_params["page_path"].strip("/")))
    if id is None:
        raise Failure(404, f"No page at this path in revision {view.revision.id}.")
    return await _page(request, view, view.outline.spots[id], asked)


@lru_cache(maxsize=64)
def _asked(query: bytes) -> PageQuery:
    try:
        return PageQuery.model_validate(dict(QueryParams(query)))
    except ValidationError as invalid:
        problems = [{**problem, "loc": ("query", *problem["loc"])} for problem in invalid.errors(include_url=False)]
        raise RequestValidationError(problems) from None


def reusable_content_shown(view: Viewed, reusable_content_id: str, format: Format = "markdown") -> JSONResponse:
    """Given its id, return the reusable content with its text."""
    spot = view.spot(reusable_content_id, "reusable content", lambda spot: spot.parent == INCLUDES)
    return answers.ok(rendering.reusable_members(spot, view.look) | _text(view, spot, PageQuery(format=format)))


async def _page(request: Request, view: View, spot: Spot, asked: PageQuery) -> Response:
    def made() -> bytes:
        more = _text(view, spot, asked) if asked.format is not None and spot.node.body is not None else {}
        return rendering.page(view.outline, spot.node.id, view.look, **more)

    work: RequestScheduler = request.app.state.work
    # What a text looks like beyond itself depends on the rest of its revision, and on addresses that expire.
    if asked.format == "document" or not asked.evaluated == asked.dereferenced == "false":
        # A reference may lead into another space, which not everybody may read, and which changes.
        reader = (view.caller.user_id, view.storage.version())
        key = ("page", view.outline.root, spot.node.id, view.look, asked, *reader)
        return _json(await work.share(key, lambda: work.compute(request, made), remember=reader[1] is not None))

    def remembered() -> bytes:
        return rendering.remembered_page(spot, view.look, asked.format or "", made)

    blobs = view.storage.blobs
    if asked.format and blobs.near and spot.node.body and blobs.size(spot.node.body) > LARGE_BYTES:
        return _json(await work.compute(request, remembered))
    return _json(await view.storage.glance(remembered))


def _text(view: View, spot: Spot, asked: PageQuery) -> dict[str, Any]:
    if asked.format == "document":
        return {"document": documents_of(view).render(spot, asked.evaluated, asked.dereferenced)}
    words = Words(view.outline, view.look, view.storage.blobs.get)
    return {"markdown": words.render(spot, asked.evaluated, asked.dereferenced)}


def _json(body: bytes) -> Response:
    return Response(body, media_type="application/json")


_READS: dict[str, tuple[Callable[..., Any], type[BaseModel]]] = {
    "": (revision_shown, Revision),
    "/pages": (pages_shown, PageTree),
    "/files": (files_listed, Listing[File]),
    "/files/{file_id}": (file_shown, File),
    "/page/{page_id}": (page_shown, Page),
    "/path/{page_path:path}": (page_at_path, Page),
    "/reusable-contents/{reusable_content_id}": (reusable_content_shown, ReusableContent),
}
_BEYOND = ("/path/{page_path:path}", "/reusable-contents/{reusable_content_id}")
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


def _add_routes() -> Iterator[str]:
    for prefix, names in _NAMES.items():
        for (path, (read, shape)), name in zip(_READS.items(), names, strict=True):
            extra = declare_role("read", extension=path in _BEYOND or "revision_id" in prefix)
            extra |= described(prefix + path)
            if read in (page_shown, page_at_path):
                extra["parameters"] += _described(path)
            router.add_api_route(prefix + path, read, name=name, response_model=shape, openapi_extra=extra)
            yield name


def _described(path: str) -> list[dict[str, Any]]:
    """The parameters of a route that reads all of them itself."""
    own = parameter(path.rpartition("{")[2].removesuffix("}").partition(":")[0])
    members = PageQuery.model_json_schema()["properties"]
    return [own, *({"name": name, "in": "query", "schema": schema} for name, schema in members.items())]


OPERATIONS = tuple(_add_routes())
"""The names of the operations in this room."""
