"""Do an import or an export, in the background: one at a time, within bounds; a failure is written down, never raised.

Credentials are only in the memory of the process that took the request. An operation that needs some, and whose process
is gone, ends as a failure that says so.
"""

import logging
import threading
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import timedelta
from time import monotonic
from typing import Any

import sqlalchemy as sa

from syncd.errors import SyncdError
from syncd.layout.tree.draft import read_draft
from syncd.layout.tree.files import render_files
from syncd.layout.tree.placement import assign_paths
from syncd.model.git_sync import EXPORT, RUNNING, TIMEOUT, GitExport, GitImport, GitTransfer
from syncd.model.revision import Revision
from syncd.net.failures import NetworkError
from syncd.platform.change_requests import main_content
from syncd.platform.http.downloads import DownloadSigner
from syncd.platform.revisions import git_commits, rendering, revisions
from syncd.platform.revisions.git_commits import CommitRecord
from syncd.platform.revisions.rendering import RenderContext
from syncd.platform.schema.content import spaces
from syncd.platform.services.directory.read import StoredFiles, store_files
from syncd.platform.services.git import operations
from syncd.platform.services.git.endpoints import Credentials, open_endpoint
from syncd.platform.services.search.index import enqueue_indexing
from syncd.platform.settings import GitBounds, GitCheckout
from syncd.platform.storage.jobs import JobContext, JobHandler
from syncd.platform.storage.storage import Storage

FILES_MAX, FILE_BYTES_MAX, BYTES_MAX = 20_000, 25_000_000, 500_000_000
"""Of one commit: its files, the largest of them, and all of them; what is fetched may take as many bytes."""
FIND_S = 20.0
"""Seconds for which an operation waits for the process that has its credentials."""
_AGAIN = timedelta(seconds=0.2)
_REMEMBERED = 1_000
"""Operations whose credentials are in memory at most."""

_log = logging.getLogger(__name__)
_busy = threading.Lock()
_credentials: dict[str, Credentials] = {}


@dataclass(frozen=True)
class _Transfer:
    """One operation that is being done."""

    context: JobContext
    id: str
    space: str
    by: str
    body: GitTransfer
    deadline: float

    @property
    def storage(self) -> Storage:
        return self.context.storage

    @property
    def directory(self) -> str:
        return (self.body.repo_project_directory or "").strip("/")

    def open(self) -> AbstractContextManager[GitCheckout]:
        """Fetch the commit that is to be imported, or to be followed by an export."""
        host = self.context.settings.git_host
        assert host is not None
        credentials = _credentials.get(self.id) or Credentials()
        private = self.context.settings.private_addresses
        endpoint = open_endpoint(self.body.url, self.body.ref, credentials, private=private)
        return host.open(endpoint, GitBounds(self.deadline, BYTES_MAX))


def keep_credentials(id: str, credentials: Credentials) -> None:
    """Keep in memory what an operation needs to be let in."""
    while len(_credentials) >= _REMEMBERED:
        _credentials.pop(next(iter(_credentials)), None)
    _credentials[id] = credentials


def run_transfer(context: JobContext, payload: Mapping[str, Any]) -> timedelta | None:
    """Do an import or export; return how long to wait while others of the same space, or of this process, are done."""
    id, storage = payload["operation"], context.storage
    with storage.read() as connection:
        row = operations.find_operation(connection, id)
        if row is None or row.state != RUNNING:
            return None
        if operations.has_earlier(connection, storage, row) and not operations.is_overdue(storage, row):
            return _AGAIN
    passed = (storage.now() - operations.parse_start(row)).total_seconds()
    if payload["needs_credentials"] and _credentials.get(id) is None and passed < FIND_S:
        return _AGAIN
    # One at a time, so that other jobs always have a thread.
    if not _busy.acquire(blocking=False):
        return _AGAIN
    try:
        error, state = _run_transfer(context, payload, row, left=operations.TIMEOUT_S - passed)
    finally:
        _busy.release()
    with storage.write() as connection:
        operations.finish_operation(connection, storage, id, error, state=state)
    _credentials.pop(id, None)
    return None


def _run_transfer(context: JobContext, payload: Mapping[str, Any], row: sa.Row[Any], *, left: float) -> tuple[str, str]:
    """The error that an operation ended with, "" without one, and its state where that says more."""
    if left <= 0:
        return "It took too long.", TIMEOUT
    if payload["needs_credentials"] and _credentials.get(row.id) is None:
        return "The platform was started again meanwhile, and it keeps no credentials. Ask again.", ""
    if context.settings.git_host is None:
        return "This platform opens no Git repositories.", ""
    shape: type[GitTransfer] = GitExport if row.direction == EXPORT else GitImport
    body = shape.model_validate(payload["body"])
    transfer = _Transfer(context, row.id, row.space, payload["by"], body, monotonic() + left)
    try:
        if isinstance(transfer.body, GitExport):
            _export_space(transfer, transfer.body)
        else:
            _import_commit(transfer, row)
    except TimeoutError:
        return "It took too long.", TIMEOUT
    except (SyncdError, NetworkError, ValueError) as failure:
        return str(failure), ""
    except Exception:  # noqa: BLE001  (whoever asked polls for an end, which must come)
        _log.exception("git %s of space %s failed", row.direction, row.space)
        return "The platform failed; its log says why.", ""
    return "", ""


def _import_commit(transfer: _Transfer, row: sa.Row[Any]) -> None:
    storage = transfer.storage
    if not transfer.body.force:
        with storage.read() as connection:
            later = operations.find_later_event(connection, row)
        if later is not None:
            raise ValueError(
                f"A later import, of {later}, is done already. Send force to import this one all the same."
            )
    with transfer.open() as checkout:
        if checkout.commit is None:
            raise ValueError(f"The repository has no {transfer.body.ref}.")
        sizes = checkout.list_files(transfer.directory)
        _check_sizes(sizes)
        if transfer.directory and not sizes:
            raise ValueError(f"The commit has no directory {transfer.directory}.")
        content = store_files(storage, sizes, lambda path: checkout.read_file(transfer.directory, path))
        commit = CommitRecord(
            checkout.commit, checkout.message, False, transfer.body.ref, _build_commit_url(transfer, checkout.commit)
        )
    _save_content(transfer, content, commit)


def _save_content(transfer: _Transfer, content: StoredFiles, commit: CommitRecord) -> None:
    """Make a revision of what a commit has, upon main content as it is by now; the same content makes none."""
    storage, body = transfer.storage, transfer.body
    with storage.write() as connection:
        # Whoever waited so long that the request counts as timed out does not change the space behind their back.
        row = operations.find_operation(connection, transfer.id)
        if row is None or row.state != RUNNING or operations.is_overdue(storage, row):
            raise TimeoutError
        main = connection.scalar(
            sa.select(spaces.c.revision).where(spaces.c.id == transfer.space, spaces.c.deleted_at.is_(None))
        )
        if main is None:
            raise ValueError("The space was deleted.")
        known = revisions.require_revision(connection, transfer.space, main)
        draft, _ = content.build_draft(storage, revisions.open_revision(connection, transfer.space, main))
        if draft.hash_tree()[0] == known.root and not body.standalone:
            _join_commit(connection, main, commit)
        else:
            origin = revisions.RevisionOrigin(transfer.space, (main,), by=transfer.by)
            saved = revisions.insert_revision(storage, connection, draft, origin)
            git_commits.record_commit(connection, saved.id, commit)
            if not body.standalone:
                main_content.set_main_content(storage, connection, saved)
                enqueue_indexing(connection, storage, transfer.space)
        operations.finish_operation(connection, storage, transfer.id)


def _export_space(transfer: _Transfer, body: GitExport) -> None:
    storage = transfer.storage
    with storage.read() as connection:
        main = connection.scalar(
            sa.select(spaces.c.revision).where(spaces.c.id == transfer.space, spaces.c.deleted_at.is_(None))
        )
        if main is None:
            raise ValueError("The space was deleted.")
        outline = revisions.open_revision(connection, transfer.space, main)
    # Addresses play no part in files.
    shown = rendering.render_revision(outline, {"id": main}, RenderContext("", DownloadSigner("", b"", 0)))
    revision = Revision.model_validate_json(shown)
    with transfer.open() as checkout:
        sizes = checkout.list_files(transfer.directory) if checkout.commit is not None else {}
        _check_sizes(sizes)
        there = read_draft(sizes, lambda path: checkout.read_file(transfer.directory, path))
        placement = assign_paths(revision, settings=there.settings)
        bodies = render_files(revision, lambda id: storage.blobs.get(outline.entries[id].node.body or ""), placement)
        # What the space never had stays in the repository: only what an import would read goes when the space lost it.
        read = (*there.documents, *there.files, *there.includes)
        changes: dict[str, bytes | None] = dict.fromkeys(read) | dict(bodies)
        oid = checkout.push_changes(transfer.directory, changes, body.commit_message)
        is_new = oid != checkout.commit
    if body.standalone:
        return
    message = body.commit_message if is_new else checkout.message
    commit = CommitRecord(oid, message, is_new, body.ref, _build_commit_url(transfer, oid))
    with storage.write() as connection:
        _join_commit(connection, main, commit)
        operations.finish_operation(connection, storage, transfer.id)


def _join_commit(connection: sa.Connection, revision: str, commit: CommitRecord) -> None:
    """Note the commit of a revision; what an export wrote stays its own, also when it comes back."""
    known = git_commits.find_commit(connection, revision)
    if known is None or known.oid != commit.oid:
        git_commits.record_commit(connection, revision, commit)


def _check_sizes(sizes: Mapping[str, int]) -> None:
    if len(sizes) > FILES_MAX:
        raise ValueError(f"The commit has more than {FILES_MAX:,} files.")
    if any(size > FILE_BYTES_MAX for size in sizes.values()):
        raise ValueError(f"The commit has a file of more than {FILE_BYTES_MAX:,} bytes.")
    if sum(sizes.values()) > BYTES_MAX:
        raise ValueError(f"The files of the commit have more than {BYTES_MAX:,} bytes.")


def _build_commit_url(transfer: _Transfer, oid: str) -> str | None:
    base = transfer.body.repo_commit_url
    return f"{base.rstrip('/')}/{oid}" if base else None


HANDLERS: Mapping[str, JobHandler] = {operations.TRANSFER: run_transfer}
