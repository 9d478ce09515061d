"""Reading content: of a space, of a change request and of a revision, which differ only in what revision they mean."""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Literal

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import QueryParams

from syncd.layout.tree.paths import make_collision_key
from syncd.model.file import File
from syncd.model.listing import Listing
from syncd.model.page import Page, PageMetaLinks, PageTree
from syncd.model.revision import ReusableContent, Revision
from syncd.platform.change_requests import change_requests
from syncd.platform.content.page_documents import find_claims, open_page_documents
from syncd.platform.content.view import (
    ComputedView,
    CurrentView,
    RevisionView,
    declare_path_parameters,
    open_view,
)
from syncd.platform.content.visible_text import select_visible_page
from syncd.platform.http import answers
from syncd.platform.http.failures import Failure
from syncd.platform.http.listing import Paging
from syncd.platform.http.routing import create_router, describe_parameter
from syncd.platform.http.scheduler import LARGE_BYTES, RequestScheduler
from syncd.platform.people.auth import declare_role
from syncd.platform.revisions import git_commits, rendering
from syncd.platform.revisions.outline import TreeEntry
from syncd.platform.revisions.page_text import Dereferenced, Evaluated, PageTexts, Refs
from syncd.platform.revisions.tree import FILES, INCLUDES, PAGES, REDIRECTS, ROOT
from syncd.platform.spaces.publishing_sites import find_published_urls
from syncd.platform.specs.computed_documents import compute_page_document, is_computed_document

router = create_router(tags=["content"])

Format = Literal["document", "markdown"]
"""Without one, a page is shown without its text. Source: @gitbook/api 0.146.0."""
_FIRST_PAGE = ("readme", "readme.md")
"""What names the first page of a space where it has no path, so that an address can be made of its name."""


def answer_revision(request: Request, view: ComputedView) -> Response:
    """Answer with a whole revision."""
    return _answer_json(rendering.render_revision(view.outline, build_revision_head(request, view), view.context))


def build_revision_head(request: Request, view: RevisionView) -> dict[str, Any]:
    """Return the members of a revision that do not depend on its content."""
    saved = view.revision
    head: dict[str, Any] = {
        "object": "revision",
        "id": saved.id,
        "parents": saved.parents,
        "createdAt": saved.created_at,
        "type": saved.type,
        "urls": {"app": f"{view.context.app}/~/revisions/{saved.id}"},
    }
    with view.storage.read() as connection:
        commit = git_commits.find_commit(connection, saved.id) if view.context.metadata else None
        if commit is not None:
            head["git"] = git_commits.serialize_commit(commit)
        if view.change_request is None:
            head["urls"] |= find_published_urls(connection, request, view.caller.grant, saved.space, saved.id)
    if saved.merged_from is not None and view.caller.grant is None:
        head["mergedFrom"] = read_merged_change_request(request, view)
    return head


def read_merged_change_request(request: Request, view: RevisionView) -> dict[str, Any]:
    """Return the change request whose merge made a revision."""
    with view.storage.read() as connection:
        row = change_requests.require_change_request(connection, view.revision.space, view.revision.merged_from or "")
        return change_requests.serialize_change_request(connection, request, row)


def answer_pages(view: ComputedView) -> Response:
    """Answer with the page tree of a revision."""
    listed = rendering.render_pages(view.outline, view.outline.order.get(PAGES, ()), view.context)
    return _answer_json(b'{"pages":%b}' % listed)


def answer_files(view: CurrentView, paging: Paging) -> JSONResponse:
    """Answer with a list of the files of a revision."""
    envelope = paging.paginate(view.outline.order.get(FILES, ()), key=str)
    entries = (view.outline.entries[id] for id in envelope["items"])
    return answers.ok(envelope | {"items": [rendering.build_file_members(entry, view.context) for entry in entries]})


async def answer_file(view: CurrentView, file_id: str) -> JSONResponse:
    """Answer with a file of a revision."""
    return answers.ok(
        rendering.build_file_members(
            view.require_entry(file_id, "file", lambda entry: entry.parent == FILES), view.context
        )
    )


class PageParameters(BaseModel):
    """What a read of a page may ask for."""

    model_config = ConfigDict(frozen=True)

    format: Format | None = None
    evaluated: Evaluated = "false"
    dereferenced: Dereferenced = "false"
    refs: Refs = Field(default="relative", alias="format.markdown.refs")
    metadata: bool = True
    computed: bool = True


# A mirror reads thousands of pages. Parsing the query themselves, instead of FastAPI, halves the cost of these two.
async def answer_page(request: Request) -> Response:
    """Answer with the page that has an id; with `format=markdown`, its text is exactly what was last written."""
    parameters = _parse_query(request.scope["query_string"])
    view = await open_view(request, metadata=parameters.metadata, computed=parameters.computed)
    entry = view.require_page(request.path_params["page_id"])
    return await _answer_page_entry(request, view, entry, parameters)


async def answer_page_at_path(request: Request) -> Response:
    """Answer with the page at a path, whose slashes may be percent-encoded.

    Shape: `readme` and `readme.md` name the page whose path is "", too, and a path that `redirects` in `.gitbook.yaml`
    names its page. Raises: Failure 404 when the revision has no page there.
    """
    parameters = _parse_query(request.scope["query_string"])
    view = await open_view(request, metadata=parameters.metadata, computed=parameters.computed)
    # The index of all paths is built at the first use.
    by_path = await run_in_threadpool(lambda: view.outline.by_path)
    key = make_collision_key(request.path_params["page_path"].strip("/"))
    former = view.outline.entries[ROOT].node.fields.get(REDIRECTS, {})
    id = by_path.get(key) or (by_path.get("") if key in _FIRST_PAGE else None) or former.get(key)
    if id not in view.outline.entries:
        raise Failure(404, f"No page at this path in revision {view.revision.id}.")
    return await _answer_page_entry(request, view, view.outline.entries[id], parameters)


@lru_cache(maxsize=64)
def _parse_query(query: bytes) -> PageParameters:
    try:
        return PageParameters.model_validate(dict(QueryParams(query)))
    except ValidationError as invalid:
        problems = [{**problem, "loc": ("query", *problem["loc"])} for problem in invalid.errors(include_url=False)]
        raise RequestValidationError(problems) from None


def answer_reusable_content(view: CurrentView, reusable_content_id: str, format: Format = "markdown") -> JSONResponse:
    """Answer with a reusable content and its text."""
    entry = view.require_entry(reusable_content_id, "reusable content", lambda entry: entry.parent == INCLUDES)
    return answers.ok(
        rendering.build_reusable_members(entry, view.context) | _render_text(view, entry, PageParameters(format=format))
    )


async def _answer_page_entry(
    request: Request, view: RevisionView, entry: TreeEntry, parameters: PageParameters
) -> Response:
    def render_page_bytes() -> bytes:
        has_text = entry.node.body is not None or is_computed_document(entry)
        more = _render_text(view, entry, parameters) if parameters.format is not None and has_text else {}
        return rendering.render_page(view.outline, entry.node.id, view.context, **more)

    scheduler: RequestScheduler = request.app.state.scheduler
    # Other formats also depend on the rest of the revision, and on download addresses, which expire.
    is_shared = view.caller.grant is None
    if (
        parameters.format == "document"
        or not is_shared
        or not parameters.evaluated == parameters.dereferenced == "false"
        or parameters.refs != "relative"
    ):
        # A reference may lead into another space, which not everybody may read, and which changes.
        reader = (view.caller.user_id, view.storage.version())
        key = ("page", view.outline.root, entry.node.id, view.context, parameters, *reader)
        return _answer_json(
            await scheduler.share_result(
                key, lambda: scheduler.compute(request, render_page_bytes), remember=reader[1] is not None
            )
        )

    def render_once() -> bytes:
        return rendering.render_page_once(entry, view.context, parameters.format or "", render_page_bytes)

    blobs = view.storage.blobs
    if parameters.format and blobs.is_local and entry.node.body and blobs.size(entry.node.body) > LARGE_BYTES:
        return _answer_json(await scheduler.compute(request, render_once))
    return _answer_json(await view.storage.run_read(render_once))


def answer_meta_links(view: ComputedView, page_id: str) -> JSONResponse:
    """Answer with where else a page is found: pages that the caller may know of, and absolute addresses."""
    links = view.require_page(page_id).node.fields.get("metaLinks", {})
    canonical, alternates = links.get("canonical"), links.get("alternates", ())
    shown = {"canonical": canonical} if _is_meta_link(view, canonical) else {}
    others = [one for one in alternates if _is_meta_link(view, one)]
    return answers.ok({**shown, **({"alternates": others} if others else {})})


def _is_meta_link(view: RevisionView, ref: Any) -> bool:
    match ref:
        case {"kind": "url", "url": str(url)}:
            return url.startswith(("https://", "http://"))
        case {"kind": "page", "space": str(space)} if space != view.revision.space:
            return view.caller.grant is None or space in view.caller.grant.spaces
        case {"kind": "page", "page": str(page)}:
            return page in view.outline.entries
    return False


def _render_text(view: RevisionView, entry: TreeEntry, parameters: PageParameters) -> dict[str, Any]:
    if is_computed_document(entry):
        # There is no text of it, only the blocks that show a specification.
        if parameters.format == "markdown":
            return {}
        return {"document": compute_page_document(view.storage, view.caller, view.organization, entry)}
    if parameters.format == "document":
        return {"document": open_page_documents(view).render(entry, parameters.evaluated, parameters.dereferenced)}
    claims = find_claims(view)

    def select_visible(text: str, entry: TreeEntry) -> str:
        return select_visible_page(text, view.outline, entry, claims or {})

    select = None if claims is None else select_visible
    words = PageTexts(view.outline, view.context, view.storage.blobs.get, select)
    return {"markdown": words.render(entry, parameters.evaluated, parameters.dereferenced, parameters.refs)}


def _answer_json(body: bytes) -> Response:
    return Response(body, media_type="application/json")


_READS: dict[str, tuple[Callable[..., Any], type[BaseModel]]] = {
    "": (answer_revision, Revision),
    "/pages": (answer_pages, PageTree),
    "/files": (answer_files, Listing[File]),
    "/files/{file_id}": (answer_file, File),
    "/page/{page_id}": (answer_page, Page),
    "/path/{page_path:path}": (answer_page_at_path, Page),
    "/reusable-contents/{reusable_content_id}": (answer_reusable_content, ReusableContent),
    "/page/{page_id}/meta-links": (answer_meta_links, PageMetaLinks),
}
_EXTENSIONS = ("/path/{page_path:path}", "/reusable-contents/{reusable_content_id}", "/page/{page_id}/meta-links")
# Names of operations: @gitbook/api 0.202.0; in the order of `_READS`.
_NAMES = {
    "/spaces/{space_id}/content": (
        *("get_current_revision", "list_pages", "list_files", "get_file_by_id"),
        *("get_page_by_id", "get_page_by_path", "get_reusable_content_by_id"),
        "list_space_page_meta_links",
    ),
    "/spaces/{space_id}/change-requests/{change_request_id}/content": (
        *("get_revision_of_change_request_by_id", "list_pages_in_change_request", "list_files_in_change_request_by_id"),
        *("get_file_in_change_request_by_id", "get_page_in_change_request_by_id"),
        *("get_page_in_change_request_by_path", "get_reusable_content_in_change_request_by_id"),
        "list_change_request_page_meta_links",
    ),
    "/spaces/{space_id}/revisions/{revision_id}": (
        *("get_revision_by_id", "list_pages_in_revision_by_id", "list_files_in_revision_by_id"),
        *("get_file_in_revision_by_id", "get_page_in_revision_by_id"),
        *("get_page_in_revision_by_path", "get_reusable_content_in_revision_by_id"),
        "list_revision_page_meta_links",
    ),
}


def _add_routes() -> Iterator[str]:
    for prefix, names in _NAMES.items():
        for (path, (read, shape)), name in zip(_READS.items(), names, strict=True):
            extra = declare_role("read", extension=path in _EXTENSIONS or "revision_id" in prefix, visitors=True)
            extra |= declare_path_parameters(prefix + path)
            if read in (answer_page, answer_page_at_path):
                extra["parameters"] += _describe_parameters(path)
            router.add_api_route(prefix + path, read, name=name, response_model=shape, openapi_extra=extra)
            yield name


def _describe_parameters(path: str) -> list[dict[str, Any]]:
    """The parameters of a route that reads all of them itself."""
    own = describe_parameter(path.rpartition("{")[2].removesuffix("}").partition(":")[0])
    members = PageParameters.model_json_schema()["properties"]
    return [own, *({"name": name, "in": "query", "schema": schema} for name, schema in members.items())]


OPERATIONS = tuple(_add_routes())
"""The names of the operations in this module."""
