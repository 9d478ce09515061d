"""Documents by their id: the text of a page or reusable content as rich text, whichever revision it is of."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import sqlalchemy as sa
from fastapi import Request, Response

from syncd.model.document import Document
from syncd.platform.content.page_documents import open_page_documents
from syncd.platform.content.view import CurrentView, RevisionView, declare_path_parameters
from syncd.platform.http.failures import Failure
from syncd.platform.http.routing import create_router
from syncd.platform.http.scheduler import RequestScheduler
from syncd.platform.people.auth import declare_role
from syncd.platform.revisions.outline import Outline, TreeEntry, open_outline
from syncd.platform.revisions.rendering import encode_json
from syncd.platform.schema.content import revisions

router = create_router(tags=["content"])

_PATH = "/spaces/{space_id}/documents/{document_id}"

REVISIONS_MAX = 50
"""The newest revisions of a space, those of change requests included, whose documents are found beside main content."""


@router.get(
    _PATH, response_model=Document, openapi_extra=declare_role("read", extension=True) | declare_path_parameters(_PATH)
)
async def get_document_by_id(request: Request, view: CurrentView, document_id: str) -> Response:
    """Return a document of a space by its `documentId`, resolved in the newest revision that has it.

    The id of a body gives no right to read it: only what one of the space's own revisions has is shown.
    """
    scheduler: RequestScheduler = request.app.state.scheduler
    # What it refers to may be in other spaces, which not everybody may read, and which change.
    version = view.storage.version()
    key = ("document", view.revision.space, document_id, view.context, view.caller.user_id, version)
    made = partial(_render_document, view, document_id)
    body = await scheduler.share_result(key, lambda: scheduler.compute(request, made), remember=version is not None)
    return Response(body, media_type="application/json")


def _render_document(view: RevisionView, document_id: str) -> bytes:
    for outline in _list_outlines(view):
        if (entry := _find_text(outline, document_id)) is not None:
            return encode_json(open_page_documents(replace(view, outline=outline)).render(entry))
    raise Failure(404, f"No document {document_id} in space {view.revision.space}.")


def _list_outlines(view: RevisionView) -> Iterator[Outline]:
    """Main content, then the newest revisions, until what is sought is found."""
    yield view.outline
    latest = sa.select(revisions.c.root).where(revisions.c.space == view.revision.space)
    with view.storage.read() as connection:
        for root in list(connection.scalars(latest.order_by(revisions.c.seq.desc()).limit(REVISIONS_MAX))):
            yield open_outline(connection, root)


def _find_text(outline: Outline, document_id: str) -> TreeEntry | None:
    texts = (entry for entry in outline.entries.values() if entry.node.type in ("document", "reusable-content"))
    return next((entry for entry in texts if entry.node.body == document_id), None)
