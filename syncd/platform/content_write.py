"""Writing a change request's content: one request is one new revision, or none (content-write §1)."""

from typing import Any

import sqlalchemy as sa
from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from syncd.platform import addresses, answers, change_requests, content, rendering, revisions
from syncd.platform.auth import Caller, Signed
from syncd.platform.operations import Batch, Changes
from syncd.platform.outline import Draft, Outline
from syncd.platform.spaces import require_space
from syncd.platform.storage import Storage, Stored
from syncd.platform.times import iso
from syncd.platform.writing import Writing

router = APIRouter(tags=["change request content"])


@router.post("/spaces/{space_id}/change-requests/{change_request_id}/content")
def update_change_request_content(
    request: Request,
    storage: Stored,
    caller: Signed,
    space_id: str,
    change_request_id: str,
    body: Changes,
    compat: bool = True,
) -> JSONResponse:
    """Given operations, apply them all in order as one revision of the change request, or refuse them all.

    Shapes: `compat=true` answers the ChangeRequest; `compat=false` also what became of each page, and new files.
    """
    with storage.write() as connection:
        require_space(connection, caller, space_id)
        row = change_requests.require_live(connection, space_id, change_request_id)
        batch = _begin(storage, connection, row)
        batch.apply(body.changes)
        written = _record(storage, connection, row, batch, caller)
        row = change_requests.require(connection, space_id, row.id)
        shown = change_requests.shown(connection, request, row)
    if compat:
        return answers.ok(shown)
    look = content.look_of(request, storage, row.organization, space_id)
    return answers.ok(
        {
            "changeRequest": shown,
            "changes": [_change(request, batch, shown, id) for id in batch.touched],
            "insertedFiles": [rendering.file_members(written.spots[id], look) for id in batch.inserted_files],
        }
    )


def _begin(storage: Storage, connection: sa.Connection, row: sa.Row[Any]) -> Batch:
    def past(revision: str) -> Outline:
        return revisions.outline(connection, row.space, revision or change_requests.base_of(row))

    draft = Draft(revisions.outline(connection, row.space, row.revision))
    writing = Writing(draft, storage.blobs, iso(storage.now()))
    return Batch(draft, writing, storage.new_id, past)


def _record(storage: Storage, connection: sa.Connection, row: sa.Row[Any], batch: Batch, caller: Caller) -> Outline:
    """Keep what a batch made of the content; when that is what was there already, there is no new revision."""
    if batch.draft.seal()[0] == batch.draft.base.root:
        return batch.draft.base
    origin = revisions.Origin(row.space, (row.revision,), by=caller.user_id)
    saved = revisions.save(storage, connection, batch.draft, origin)
    change_requests.advance(storage, connection, row.id, saved.id)
    return revisions.outline(connection, row.space, saved.id)


def _change(request: Request, batch: Batch, change_request: dict[str, Any], id: str) -> dict[str, Any]:
    what = batch.touched[id]
    if what == "deleted_page":
        return {"object": what, "page": id}
    here = f"/spaces/{change_request['space']}/change-requests/{change_request['id']}/content/page/{id}"
    page = {"object": "page", "id": id, "urls": {"location": addresses.location(request, here)}}
    refs = {page: ref for ref, page in batch.writing.references.pages.items()}
    return {"object": what, **({"ref": refs[id]} if id in refs else {}), "page": page}
