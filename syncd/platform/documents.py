"""Documents by their id: the text of a page or reusable content as rich text, whichever revision it is of."""

import sqlalchemy as sa
from fastapi.responses import JSONResponse

from syncd.layout.frontmatter import split
from syncd.layout.richtext import to_document
from syncd.model.document import Document
from syncd.platform import answers
from syncd.platform.auth import needs
from syncd.platform.content_schema import revisions
from syncd.platform.failures import Failure
from syncd.platform.outline import Outline, open_tree
from syncd.platform.routing import room
from syncd.platform.viewing import View, Viewed, described

router = room(tags=["content"])

_PATH = "/spaces/{space_id}/documents/{document_id}"

REVISIONS_MAX = 50
"""The newest revisions of a space, those of change requests included, whose documents are found beside main content."""


@router.get(_PATH, response_model=Document, openapi_extra=needs("read", extension=True) | described(_PATH))
def get_document_by_id(view: Viewed, document_id: str) -> JSONResponse:
    """Given a `documentId` of the space, return the Document. An id says nothing about who may read: only what one of
    the space's own revisions has is shown."""
    if not _has(view.outline, document_id) and not _is_of_late(view, document_id):
        raise Failure(404, f"No document {document_id} in space {view.revision.space}.")
    text = view.storage.blobs.get(document_id).decode()
    return answers.ok(to_document(split(text)[1]).wire())


def _is_of_late(view: View, document_id: str) -> bool:
    latest = sa.select(revisions.c.root).where(revisions.c.space == view.revision.space)
    with view.storage.read() as connection:
        roots = list(connection.scalars(latest.order_by(revisions.c.seq.desc()).limit(REVISIONS_MAX)))
        return any(_has(open_tree(connection, root), document_id) for root in roots)


def _has(outline: Outline, document_id: str) -> bool:
    return any(
        spot.node.body == document_id and spot.node.type in ("document", "reusable-content")
        for spot in outline.spots.values()
    )
