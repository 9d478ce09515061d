"""Import the branch that main content follows: the platform fetches it from the upstream, without a change request.

| before                                              | after                                                      |
|-----------------------------------------------------|------------------------------------------------------------|
| the branch has all of main content, nothing waits   | the operation is polled to its end                         |
| no guard against deletions speaks                   | the revision is read, and names the commit that was pushed |
| the upstream has just this commit                   | whoever wrote in between is found by its parents           |
| the space is at the revision that was merged        |                                                            |

The API has no conditional write: between the last look and the import somebody may write. What they wrote is then in
the history of revisions; the mirror keeps it, the branch takes it in, and the next import brings it back.
Source: docs/decisions/0009-import-from-git.md.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from syncd.errors import AnswerLost, Conflict, GuardRefused, NotFound, Rejected, Stopped
from syncd.fault_points import FaultPoint, reach
from syncd.layout.tree.draft import read_draft
from syncd.model.app_address import find_app_address
from syncd.model.git_sync import RUNNING, SUCCESS, GitImport, GitInfo, GitOperation
from syncd.model.space import Space
from syncd.model.text import join_lines
from syncd.plan.change import Change
from syncd.plan.guard import guard_deletions
from syncd.plan.message import REVISION, SPACE
from syncd.repo.values import Commit
from syncd.sync.binding import Binding
from syncd.sync.branches import HEADS
from syncd.sync.mirror.overwritten import list_overwritten_refs
from syncd.sync.outcome import Applied, Held, Outcome, Unchanged, Waiting
from syncd.sync.workspace import Workspace

POLL_SECONDS, POLL_SECONDS_MAX = 0.2, 5.0
PATIENCE_SECONDS = 600.0
"""How long one run waits for an operation where the platform does not say how long it may take."""
BEGINNING_SECONDS = 5.0
"""How long the platform may show no operation after it was asked to import."""
NOTE = 'main content was written without a change request (write = "git-import")'


@dataclass(frozen=True)
class _Candidate:
    """What is to be imported: the branch's commit, and the revision that it was merged with."""

    branch: str
    tip: str
    revision: str


def import_branch(
    workspace: Workspace, binding: Binding, branch: str, *, space: Space, push: Callable[[], Mapping[str, str]]
) -> Outcome:
    """Let the platform import a branch as the main content of a space.

    Shape: `push` brings the branch to the upstream, and returns the upstream's branches. Applied says plainly that main
    content was written. Raises: GuardRefused, BecameEmpty, TooMuch; FileInvalid for files that cannot be read; what the
    adapters raise.
    """
    candidate = _find_candidate(workspace, binding, branch)
    if not isinstance(candidate, _Candidate):
        return candidate
    if space.git_sync:
        raise GuardRefused(
            f"{binding.name} is kept in Git by the platform itself; two imports would fight over it",
            hint="push to the repository that the platform syncs with",
        )
    _guard_deletions(workspace, binding, candidate)
    if workspace.is_dry_run:
        return Applied((_describe(binding, candidate, "would be written"),), (NOTE,))
    upstream = workspace.upstream
    assert upstream is not None
    if push().get(branch) != candidate.tip:
        name = f"{upstream.name}/{branch}"
        return Held(f"{name} is not at the commit that would be imported", "syncd pull, then syncd push", exit_code=6)
    former = _read_info(workspace, binding).operation
    if former is not None and former.state == RUNNING:
        return Waiting(f"an {former.direction} of {binding.name} is underway")
    # The last look before the import: what is written after it is overwritten, and found afterwards.
    now = workspace.client.spaces.get(binding.space)
    if now.revision != candidate.revision:
        return Waiting(f"{binding.name} changed just now; the next run merges that first")
    request = GitImport(
        url=upstream.read_import_url(),
        ref=f"{HEADS}{branch}",
        **({"repo_project_directory": binding.directory} if binding.directory else {}),
    )
    workspace.repository.set_ref(_request_ref(binding), candidate.tip)
    reach(FaultPoint.IMPORT_COMPARED)
    refused = _request_import(workspace, binding, request)
    if refused is not None:
        workspace.repository.set_ref(_request_ref(binding), None)
        return refused
    reach(FaultPoint.IMPORT_REQUESTED)
    operation = _wait_for_end(workspace, binding, former)
    if operation is None or operation.state == RUNNING:
        return Waiting(f"the import of {branch} into {binding.name} did not end yet", "the next run looks again")
    if operation.state != SUCCESS:
        why = join_lines(operation.error or operation.state)
        return Held(f"the platform did not import {branch} into {binding.name}: {why}", _HINT, exit_code=1)
    reach(FaultPoint.IMPORT_DONE)
    result = _read_result(workspace, binding, candidate)
    workspace.repository.set_ref(_request_ref(binding), None)
    return result


def finish_import(workspace: Workspace, binding: Binding) -> Outcome:
    """Wait for the end of an import that an earlier run asked for and did not live to see, so that it is mirrored now.

    Shape: nothing is asked of the platform unless such a run was. Raises: Stopped, and what the adapters raise.
    """
    if workspace.repository.resolve(_request_ref(binding)) is None:
        return Unchanged()
    operation = _wait_for_end(workspace, binding, None)
    if operation is not None and operation.state == RUNNING:
        return Waiting(f"an {operation.direction} of {binding.name} is underway")
    workspace.repository.set_ref(_request_ref(binding), None)
    return Unchanged()


def _request_ref(binding: Binding) -> str:
    """The ref of the commit that the platform was asked to import, from before it is asked until its end was seen."""
    return f"refs/syncd/importing/{binding.name}"


_HINT = "check import_url and import_token_file of [repository.upstream], then syncd push"


def _find_candidate(workspace: Workspace, binding: Binding, branch: str) -> _Candidate | Outcome:
    repository = workspace.repository
    tip, main = repository.resolve(f"{HEADS}{branch}"), repository.resolve(workspace.main)
    if tip is None or main is None:
        return Unchanged()
    last = repository.find_commit(workspace.main, SPACE, binding.space)
    waiting = list_overwritten_refs(workspace, binding)
    if last is None or (not waiting and workspace.has_same_content(binding, tip, main)):
        return Unchanged()
    if not _has_taken_in(workspace, binding, last, tip):
        if repository.is_ancestor(tip, last.oid):
            return Unchanged()
        why = f"{workspace.remote}/main has content of {binding.name} that {branch} lacks, or is in conflict with it"
        return Held(f"{why}; nothing was imported", "syncd pull, and settle conflicts", exit_code=Conflict.exit_code)
    missing = [ref for ref, oid in waiting.items() if not repository.is_ancestor(oid, tip)]
    if missing:
        names = ", ".join(ref.removeprefix("refs/remotes/") for ref in missing)
        why = f"{branch} lacks {names}, which an import overwrote"
        return Held(why, "syncd pull, and settle conflicts", exit_code=Conflict.exit_code)
    if workspace.has_same_content(binding, tip, main):
        return Unchanged()
    return _Candidate(branch, tip, last.trailers.get(REVISION, [""])[0])


def _has_taken_in(workspace: Workspace, binding: Binding, last: Commit, tip: str) -> bool:
    """Whether a branch has main content as the mirror has it: its commit, or the one that was imported as just that."""
    repository = workspace.repository
    return any(
        repository.is_ancestor(commit, tip) and workspace.has_same_content(binding, commit, last.oid)
        for commit in (last.oid, *last.parents[1:])
    )


def _guard_deletions(workspace: Workspace, binding: Binding, candidate: _Candidate) -> None:
    """Refuse a branch that lost too many pages; its files are read, so that a mistake in them is told here."""
    main = workspace.repository.resolve(workspace.main)
    assert main is not None
    existing, desired = _list_pages(workspace, binding, main), _list_pages(workspace, binding, candidate.tip)
    changes = workspace.repository.list_changes(main, candidate.tip, binding.directory, renames=True)
    renamed = {change.old_path for change in changes if change.status == "R"}
    deleted = sorted(existing - desired - renamed)
    scope = f"propose.{binding.name}"
    guard_deletions(scope, deleted, len(existing), remain=len(desired), force=workspace.force)


def _list_pages(workspace: Workspace, binding: Binding, commit: str) -> set[str]:
    listed = workspace.repository.list_files(commit, binding.directory)
    blobs = {path: blob.oid for path, blob in listed.items() if blob.mode.startswith("100")}
    read = workspace.repository.read
    return set(read_draft(blobs, lambda path: read(blobs[path]), links=False, at=binding.directory).documents)


def _request_import(workspace: Workspace, binding: Binding, request: GitImport) -> Held | None:
    """Ask for the import; an answer that was lost is no matter, since its operation tells what became of it."""
    try:
        workspace.client.spaces.import_git(binding.space, request)
    except AnswerLost:
        return None
    except (NotFound, Rejected) as refusal:
        why = f"{binding.name} was not imported: {refusal.what}"
        return Held(why, 'does this platform import from Git? Else set write = "auto"', refusal.exit_code)
    return None


def _read_info(workspace: Workspace, binding: Binding) -> GitInfo:
    try:
        return workspace.client.spaces.get_git_info(binding.space)
    except NotFound:
        return GitInfo()


def _wait_for_end(workspace: Workspace, binding: Binding, former: GitOperation | None) -> GitOperation | None:
    """Return the operation that followed the former one when it has ended, or as it is when there is no more time."""
    pause, until = POLL_SECONDS, time.monotonic() + PATIENCE_SECONDS
    begins_until = time.monotonic() + BEGINNING_SECONDS
    while True:
        info = _read_info(workspace, binding)
        found = info.operation if info.operation and _is_later(info.operation, former) else None
        is_absent = former is None and info.operation is None and time.monotonic() > begins_until
        if (found is not None and found.state != RUNNING) or is_absent or time.monotonic() > until:
            return found
        if info.operation_timeout:
            until = min(until, time.monotonic() + info.operation_timeout / 1000 + PATIENCE_SECONDS / 10)
        if workspace.is_cancelled():
            raise Stopped("stopped while the platform imported", hint="the next run looks what became of it")
        time.sleep(pause)
        pause = min(pause * 1.5, POLL_SECONDS_MAX)


def _is_later(operation: GitOperation, former: GitOperation | None) -> bool:
    return former is None or (operation.started_at, operation.ended_at) != (former.started_at, former.ended_at)


def _read_result(workspace: Workspace, binding: Binding, candidate: _Candidate) -> Outcome:
    """Read what main content is now, and say what was written, and over what."""
    revision = workspace.client.content.get(binding.space)
    notes = [NOTE]
    if revision.id == candidate.revision:
        return Applied((), (f"{binding.name} has the content of {candidate.branch} already",))
    if revision.git is None or revision.git.oid != candidate.tip:
        notes.append(f"the platform's newest revision does not name {candidate.tip[:10]}; the next run compares both")
    elif revision.parents[:1] not in ((), (candidate.revision,)):
        notes.append(f"somebody wrote revision {revision.parents[0]} meanwhile; it is merged, and imported again")
    where = find_app_address(revision.urls)
    return Applied((_describe(binding, candidate, "written", revision.id, where),), tuple(notes))


def _describe(binding: Binding, candidate: _Candidate, verb: str, after: str = "", where: str = "") -> Change:
    message = f"{verb} from {candidate.branch} at {candidate.tip[:10]}, without a change request"
    return Change(
        "update", "main content", binding.name, message, before=candidate.revision, after=after or None, where=where
    )
