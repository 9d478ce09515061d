"""Documents by their id: the text of a page or reusable content as rich text, whichever revision it is of."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Literal

import sqlalchemy as sa
from fastapi import Depends, Request, Response

from syncd.model.document import Document
from syncd.platform.content.page_documents import open_page_documents
from syncd.platform.content.view import ComputedView, CurrentView, RevisionView, declare_path_parameters
from syncd.platform.http.failures import Failure
from syncd.platform.http.routing import create_router
from syncd.platform.http.scheduler import RequestScheduler
from syncd.platform.people.auth import declare_role
from syncd.platform.revisions.outline import Outline, TreeEntry, open_outline
from syncd.platform.revisions.page_text import Dereferenced, Evaluated
from syncd.platform.revisions.rendering import encode_json
from syncd.platform.revisions.tree import INCLUDES
from syncd.platform.schema.content import revisions
from syncd.platform.spaces.granted import list_granted_revisions
from syncd.platform.specs.computed_documents import compute_page_document, is_computed_document

router = create_router(tags=["content"])

_PATH = "/spaces/{space_id}/documents/{document_id}"
_OF_PAGE = "/spaces/{space_id}/revisions/{revision_id}/page/{page_id}/document"
_OF_REUSABLE = "/spaces/{space_id}/revisions/{revision_id}/reusable-contents/{reusable_content_id}/document"
_READ = declare_role("read", extension=True, visitors=True)

REVISIONS_MAX = 50
"""The newest revisions of a space, those of change requests included, whose documents are found beside main content."""


@dataclass(frozen=True)
class TextParameters:
    """What a read of the text of a page or reusable content may ask for."""

    evaluated: Evaluated = "false"
    dereferenced: Dereferenced = "false"


CurrentParameters = Annotated[TextParameters, Depends()]


async def accept_schema(schema: Literal["current", "next"] = "current") -> None:
    """Accept the version of the schema that a reader asks for, a dependency of routes: both name the same documents.

    Source: `documentSchema`, @gitbook/api 0.202.0; releases of its renderer ask for `next`.
    """


AnySchema = Depends(accept_schema)


@router.get(
    _PATH, response_model=Document, openapi_extra=_READ | declare_path_parameters(_PATH), dependencies=[AnySchema]
)
async def get_document_by_id(request: Request, view: CurrentView, document_id: str) -> Response:
    """Return a document of a space by its `documentId`, resolved in the newest revision that has it.

    The id of a body gives no right to read it: only what one of the space's own revisions has is shown, and to a
    content token what it reads of them.
    """
    scheduler: RequestScheduler = request.app.state.scheduler
    # What it refers to may be in other spaces, which not everybody may read, and which change.
    version = view.storage.version()
    key = ("document", view.revision.space, document_id, view.context, view.caller.user_id, version)
    render = partial(_render_document, view, document_id)
    body = await scheduler.share_result(key, lambda: scheduler.compute(request, render), remember=version is not None)
    return Response(body, media_type="application/json")


@router.get(_OF_PAGE, response_model=Document, openapi_extra=_READ | declare_path_parameters(_OF_PAGE))
async def get_page_document_in_revision_by_id(
    request: Request, view: ComputedView, page_id: str, parameters: CurrentParameters
) -> Response:
    """Return the document of a page of a revision.

    Source: `getPageDocumentInRevisionById`, @gitbook/api 0.146.0.
    """
    return await _answer_text(request, view, view.require_page(page_id), parameters)


@router.get(_OF_REUSABLE, response_model=Document, openapi_extra=_READ | declare_path_parameters(_OF_REUSABLE))
async def get_reusable_content_document_in_revision_by_id(
    request: Request, view: CurrentView, reusable_content_id: str, parameters: CurrentParameters
) -> Response:
    """Return the document of a reusable content of a revision.

    Source: `getReusableContentDocumentInRevisionById`, @gitbook/api 0.146.0.
    """
    entry = view.require_entry(reusable_content_id, "reusable content", lambda one: one.parent == INCLUDES)
    return await _answer_text(request, view, entry, parameters)


async def _answer_text(request: Request, view: RevisionView, entry: TreeEntry, parameters: TextParameters) -> Response:
    is_computed = is_computed_document(entry)
    if entry.node.body is None and not is_computed:
        raise Failure(404, f"{entry.node.id} has no document in revision {view.revision.id}.")
    scheduler: RequestScheduler = request.app.state.scheduler
    version = view.storage.version()
    key = ("text", view.outline.root, entry.node.id, view.context, view.caller.user_id, version, parameters)

    def render() -> bytes:
        if is_computed:
            return encode_json(compute_page_document(view.storage, view.caller, view.organization, entry))
        return encode_json(open_page_documents(view).render(entry, parameters.evaluated, parameters.dereferenced))

    body = await scheduler.share_result(key, lambda: scheduler.compute(request, render), remember=version is not None)
    return Response(body, media_type="application/json")


def _render_document(view: RevisionView, document_id: str) -> bytes:
    for outline in _list_outlines(view):
        if (entry := find_text(outline, document_id)) is not None:
            return encode_json(open_page_documents(replace(view, outline=outline)).render(entry))
    raise Failure(404, f"No document {document_id} in space {view.revision.space}.")


def _list_outlines(view: RevisionView) -> Iterator[Outline]:
    """Main content, then the newest revisions, or those of a content token, until what is sought is found."""
    yield view.outline
    space, grant = view.revision.space, view.caller.grant
    newest = sa.select(revisions.c.id, revisions.c.root).where(revisions.c.space == space)
    newest = newest.order_by(revisions.c.seq.desc()).limit(REVISIONS_MAX)
    if grant is not None:
        with view.storage.read() as connection:
            if grant.is_draft:
                others = list(connection.scalars(newest))
            else:
                others = sorted(list_granted_revisions(connection, grant, space, view.revision.id))
        for id in others:
            if id != view.revision.id:
                yield view.open_revision(id)
        return
    with view.storage.read() as connection:
        for row in connection.execute(newest).all():
            yield open_outline(connection, row.root)


def find_text(outline: Outline, document_id: str) -> TreeEntry | None:
    """Return the page or reusable content of a tree whose text is a document; None without one."""
    texts = (entry for entry in outline.entries.values() if entry.node.type in ("document", "reusable-content"))
    return next((entry for entry in texts if entry.node.body == document_id), None)
