"""Writing a change request's content: one request is one new revision, or none (`updateChangeRequestContent`)."""

from collections.abc import Iterable
from functools import partial
from typing import Any

import sqlalchemy as sa
from fastapi import Depends, Request
from fastapi.responses import JSONResponse

from syncd.model.content_write import ContentWritten, InsertPage, Markdown, Operation, UpdatePage
from syncd.platform.change_requests import change_requests
from syncd.platform.change_requests.change_requests import AtChangeRequest, ChangeRequestScope
from syncd.platform.change_requests.fetch import fetch_files
from syncd.platform.change_requests.operations import Changes, ContentBatch
from syncd.platform.change_requests.write import DraftTexts
from syncd.platform.content import view
from syncd.platform.http import addresses, answers
from syncd.platform.http.failures import Failure
from syncd.platform.http.routing import create_router
from syncd.platform.people.auth import declare_role
from syncd.platform.revisions import rendering, revisions
from syncd.platform.revisions.outline import Draft, Outline
from syncd.platform.settings import CurrentSettings, PlatformSettings
from syncd.platform.storage.retry import prepare_and_record
from syncd.platform.storage.storage import Storage
from syncd.platform.storage.text_addresses import find_addresses
from syncd.platform.storage.times import format_time

router = create_router(tags=["change request content"])

TEXTS_MAX = 5_000_000
"""Characters of all Markdown in one request; the API names no limit."""


async def _require_content_write(settings: CurrentSettings) -> None:
    if not settings.content_write:
        # Word for word what a platform answers that has no such route.
        raise Failure(404, "Not Found")


@router.post(
    "/spaces/{space_id}/change-requests/{change_request_id}/content",
    response_model=ContentWritten,
    openapi_extra=declare_role("edit", extension=True),
    dependencies=[Depends(_require_content_write)],
)
def update_change_request_content(
    at: AtChangeRequest, settings: CurrentSettings, body: Changes, compat: bool = True
) -> JSONResponse:
    """Apply operations in order as one new revision of a change request; when one is refused, none is applied.

    Shape: `compat=true` answers the change request; `compat=false` also what became of each page, and new files.
    """
    with at.storage.read() as connection:
        # Whoever may not write must not make the platform fetch anything either.
        at.require_live(connection)
    _check_texts(body.changes)
    fetched = fetch_files(body.changes, private=settings.private_addresses)

    def prepare(connection: sa.Connection) -> tuple[str, ContentBatch]:
        row = at.require_live(connection)
        batch = _begin_batch(at.storage, connection, row, settings)
        batch.fetched = fetched
        batch.apply(body.changes)
        return row.revision, batch

    def record(
        connection: sa.Connection, prepared: tuple[str, ContentBatch]
    ) -> tuple[ContentBatch, sa.Row[Any], dict[str, Any]] | None:
        revision, batch = prepared
        row = at.require_live(connection)
        if row.revision != revision:
            return None
        _record_batch(at, connection, row, batch)
        row = change_requests.require_change_request(connection, row.space, row.id)
        return batch, row, change_requests.serialize_change_request(connection, at.request, row)

    batch, row, shown = prepare_and_record(at.storage, prepare, record)
    return answers.ok(shown if compat else {"changeRequest": shown, **_serialize_effects(at, batch, row)})


def _check_texts(changes: Iterable[Operation]) -> None:
    """Raises: Failure 413 for more text than one request may bring: all of it is read for addresses, and kept."""
    texts = (change.document for change in changes if isinstance(change, InsertPage | UpdatePage))
    if sum(len(text.markdown) for text in texts if isinstance(text, Markdown)) > TEXTS_MAX:
        raise Failure(413, f"One request may bring at most {TEXTS_MAX} characters of Markdown. Send less at once.")


def _begin_batch(
    storage: Storage, connection: sa.Connection, row: sa.Row[Any], settings: PlatformSettings
) -> ContentBatch:
    def open_past(revision: str) -> Outline:
        return revisions.open_revision(connection, row.space, revision or change_requests.find_base_revision(row))

    draft = Draft(revisions.open_revision(connection, row.space, row.revision))
    read_addresses = partial(find_addresses, storage)
    draft_texts = DraftTexts(draft, storage.blobs, format_time(storage.now()), read_addresses, settings.rewrite)
    return ContentBatch(draft, draft_texts, storage.new_id, open_past, row.space)


def _record_batch(at: ChangeRequestScope, connection: sa.Connection, row: sa.Row[Any], batch: ContentBatch) -> None:
    """Keep what a batch made of the content; when that is what was there already, there is no new revision."""
    if batch.draft.hash_tree()[0] != batch.draft.base.root:
        origin = revisions.RevisionOrigin(row.space, (row.revision,), by=at.caller.user_id)
        saved = revisions.insert_revision(at.storage, connection, batch.draft, origin)
        change_requests.set_revision(at.storage, connection, row.id, saved.id)


def _serialize_effects(at: ChangeRequestScope, batch: ContentBatch, row: sa.Row[Any]) -> dict[str, Any]:
    context = view.build_render_context(at.request, at.storage, row.organization, row.space, at.caller)
    with at.storage.read() as connection:
        entries = revisions.open_revision(connection, row.space, row.revision).entries if batch.inserted_files else {}
    return {
        "changes": [_serialize_change(at.request, batch, row, id) for id in batch.touched],
        "insertedFiles": [rendering.build_file_members(entries[id], context) for id in batch.inserted_files],
    }


def _serialize_change(request: Request, batch: ContentBatch, row: sa.Row[Any], id: str) -> dict[str, Any]:
    what = batch.touched[id]
    if what == "deleted_page":
        return {"object": what, "page": id}
    here = f"/spaces/{row.space}/change-requests/{row.id}/content/page/{id}"
    page = {"object": "page", "id": id, "urls": {"location": addresses.build_api_url(request, here)}}
    refs = {page: ref for ref, page in batch.texts.references.pages.items()}
    return {"object": what, **({"ref": refs[id]} if id in refs else {}), "page": page}
