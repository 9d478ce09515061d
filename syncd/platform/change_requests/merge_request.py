"""Merging a change request into main content, and main content into a change request."""

from typing import Any

import sqlalchemy as sa
from fastapi.responses import JSONResponse

from syncd.model.change_request import MergeResult
from syncd.platform.change_requests import main_content, merge_rules
from syncd.platform.change_requests.change_requests import (
    AtChangeRequest,
    ChangeRequestScope,
    find_base_revision,
    is_outdated,
    set_revision,
    update_columns,
)
from syncd.platform.change_requests.merge import MergedTree, MergeSides, merge
from syncd.platform.http import answers
from syncd.platform.http.routing import create_router
from syncd.platform.people.auth import declare_role
from syncd.platform.revisions import revisions
from syncd.platform.revisions.outline import Draft
from syncd.platform.storage.retry import prepare_and_record
from syncd.platform.storage.storage import Storage
from syncd.platform.storage.times import format_time

router = create_router(tags=["change requests"])

_PREFIX = "/spaces/{space_id}/change-requests/{change_request_id}"

Row = sa.Row[Any]


@router.post(_PREFIX + "/merge", response_model=MergeResult, openapi_extra=declare_role("review"))
def merge_change_request(at: AtChangeRequest) -> JSONResponse:
    """Merge a change request, open or draft, into the main content.

    Shape: `result` is `conflicts` when main content had changed the same; the change request's version wins.
    """

    def prepare(connection: sa.Connection) -> tuple[Row, MergedTree]:
        row = _require_mergeable(at, connection)
        return row, _merge_trees(at.storage, connection, row)

    def record(connection: sa.Connection, prepared: tuple[Row, MergedTree]) -> JSONResponse | None:
        former, merged = prepared
        row = _require_mergeable(at, connection)
        return _record_merge(at, connection, row, merged) if _is_unchanged(row, former) else None

    return prepare_and_record(at.storage, prepare, record)


@router.post(_PREFIX + "/update", response_model=MergeResult, openapi_extra=declare_role("edit"))
def update_change_request(at: AtChangeRequest) -> JSONResponse:
    """Merge main content into a change request; where both changed the same, the change request's version wins."""

    def prepare(connection: sa.Connection) -> tuple[Row, MergedTree | None]:
        row = at.require_live(connection)
        return row, _merge_trees(at.storage, connection, row) if is_outdated(row) else None

    def record(connection: sa.Connection, prepared: tuple[Row, MergedTree | None]) -> JSONResponse | None:
        former, merged = prepared
        row = at.require_live(connection)
        if not _is_unchanged(row, former):
            return None
        if merged is None:
            return answers.ok({"revision": row.revision, "result": "update"})
        origin = revisions.RevisionOrigin(row.space, (row.revision, row.main), type="update", by=at.caller.user_id)
        revision = revisions.insert_revision(at.storage, connection, merged.draft, origin)
        set_revision(at.storage, connection, row.id, revision.id, revision_merged_ancestor=row.main)
        return answers.ok({"revision": revision.id, "result": "conflicts" if merged.conflicts else "update"})

    return prepare_and_record(at.storage, prepare, record)


def count_conflicts(at: ChangeRequestScope) -> int:
    """Return how many pages, files and texts a change request and main content changed differently.

    Raises: Failure 404 and 409 as for a merge.
    """
    with at.storage.read() as connection:
        row = at.require_live(connection)
        return len(_merge_trees(at.storage, connection, row).conflicts) if is_outdated(row) else 0


def require_merge_allowed(at: ChangeRequestScope) -> None:
    """Require that a merge would be done now. Raises: Failure 403, 404, 409 and 412 as the merge itself."""
    with at.storage.read() as connection:
        _require_mergeable(at, connection)


def _require_mergeable(at: ChangeRequestScope, connection: sa.Connection) -> Row:
    space, row = at.require_space(connection), at.require_live(connection)
    merge_rules.require_merge_rules(connection, space, row, caller=at.caller.user_id, outdated=is_outdated(row))
    return row


def _is_unchanged(row: Row, former: Row) -> bool:
    return (row.main, row.revision) == (former.main, former.revision)


def _record_merge(at: ChangeRequestScope, connection: sa.Connection, row: Row, merged: MergedTree) -> JSONResponse:
    storage, by, now = at.storage, at.caller.user_id, format_time(at.storage.now())
    origin = revisions.RevisionOrigin(row.space, (row.main, row.revision), type="merge", by=by, merged_from=row.id)
    revision = revisions.insert_revision(storage, connection, merged.draft, origin)
    main_content.set_main_content(storage, connection, revision)
    landed = {"status": "merged", "revision_merged": revision.id, "merged_by": by, "merged_at": now}
    update_columns(storage, connection, row.id, **landed)
    return answers.ok({"revision": revision.id, "result": "conflicts" if merged.conflicts else "merge"})


def _merge_trees(storage: Storage, connection: sa.Connection, row: Row) -> MergedTree:
    ids = find_base_revision(row), row.main, row.revision
    base, ours, theirs = (revisions.open_revision(connection, row.space, id) for id in ids)
    if base.root == ours.root:  # main content is as the change request took it in
        return MergedTree(Draft(theirs), ())
    return merge(MergeSides(base, ours, theirs), read=storage.blobs.get, write=storage.blobs.put)
