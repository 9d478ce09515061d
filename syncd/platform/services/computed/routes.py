"""Computed documents over HTTP: a document from a specification or a translation, as its reader may read both."""

from typing import Any

import sqlalchemy as sa
from fastapi import Request
from fastapi.responses import JSONResponse

from syncd.model.computed_document import ComputedDocumentRequest, OpenAPISource, TranslatedSource
from syncd.model.document import Document
from syncd.platform.content.documents import AnySchema, find_text
from syncd.platform.content.page_documents import PageDocuments
from syncd.platform.content.view import build_render_context, find_main_content
from syncd.platform.http import answers
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.failures import Failure
from syncd.platform.http.routing import create_router
from syncd.platform.people.auth import Caller, CurrentCaller, declare_role
from syncd.platform.revisions.outline import Outline
from syncd.platform.schema.translations import translations
from syncd.platform.spaces.spaces import require_space
from syncd.platform.specs.computed_documents import build_computed_document, read_spec_nodes
from syncd.platform.specs.documents import DocumentNode
from syncd.platform.storage.storage import CurrentStorage, Storage

router = create_router(tags=["content"])


class SourceBody(RequestBody, ComputedDocumentRequest):
    """Body of `POST …/content/computed/document`."""


@router.post(
    "/spaces/{space_id}/content/computed/document",
    response_model=Document,
    openapi_extra=declare_role("read", extension=True, visitors=True),
    dependencies=[AnySchema],
)
def get_computed_document(
    request: Request, storage: CurrentStorage, caller: CurrentCaller, space_id: str, body: SourceBody
) -> JSONResponse:
    """Return a document that is computed from a specification of the space's organization, or by a translation.

    Raises: Failure 404 when what it is computed from is not there for the caller.
    Source: `getComputedDocument`, @gitbook/api 0.202.0.
    """
    with storage.read() as connection:
        space = require_space(connection, caller, space_id)
        if isinstance(body.source, OpenAPISource):
            nodes = read_spec_nodes(connection, storage, caller, space.organization, body.source)
        else:
            nodes = _translate(request, connection, storage, caller, space.organization, body.source)
    return answers.ok(build_computed_document(nodes, body.seed))


def _translate(
    request: Request,
    connection: sa.Connection,
    storage: Storage,
    caller: Caller,
    organization: str,
    source: TranslatedSource,
) -> list[DocumentNode]:
    """The document that stands where the named one does, in the space that holds the translation."""
    wanted, of = source.dependencies.translation.ref.translation, source.props
    mine = translations.c.id == wanted, translations.c.organization == organization
    row = connection.execute(sa.select(translations).where(*mine, translations.c.source == of.space)).one_or_none()
    original = None if row is None else find_main_content(storage, caller, of.space)
    named = None if original is None else find_text(original, of.document)
    result = None if row is None or named is None else find_main_content(storage, caller, row.result)
    entry = None if result is None or named is None else result.entries.get(named.node.id)
    if row is None or result is None or entry is None or entry.node.body is None:
        raise Failure(404, "There is no translation of this document.")
    context = build_render_context(request, storage, organization, row.result, caller)
    claims = None if caller.grant is None else caller.grant.claims or {}

    def open_space(space: str) -> Outline | None:
        return find_main_content(storage, caller, space)

    found: dict[str, Any] = PageDocuments(result, context, storage.blobs.get, open_space, claims).render(entry)
    return list(found["nodes"])
