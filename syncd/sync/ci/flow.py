"""Propose one commit from a place without memory: a fresh clone, which may be cut off, and a store that is empty."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace

from syncd.errors import MergeConflict
from syncd.model.change_request import ChangeRequest
from syncd.plan.propose.description import read_proposed_commit
from syncd.repo.repository import Repository
from syncd.sync.binding import Binding
from syncd.sync.ci.base import CiResult, Job
from syncd.sync.ci.known_requests import KnownRequests, archive_doubles, find_known_requests
from syncd.sync.ci.stage import prepare_stage
from syncd.sync.outcome import Applied, Unchanged
from syncd.sync.run.cycle import run_cycle
from syncd.sync.run.values import Result, RunOptions
from syncd.sync.state.proposals import list_records
from syncd.sync.state.unsent import find_unsent
from syncd.sync.workspace import Workspace

TRIES = 3
"""Times that a run starts over because another job opened the branch's change request, or wrote to it, meanwhile."""


def run_ci(fresh: Callable[[], AbstractContextManager[Workspace]], job: Job) -> CiResult:
    """Propose a commit of a clone; `fresh` makes workspaces without refs that borrow the clone's objects.

    Shape: what the branch grew from is found first, so that what others did since is kept. Safe to repeat: the same
    commit again writes nothing, and a job that runs beside another leaves one change request.
    Raises: what the adapters raise; GuardRefused when nothing tells what the branch grew from.
    """
    for _ in range(TRIES):
        with fresh() as workspace:
            known = {binding: _find_known(workspace, binding, job) for binding in workspace.bindings}
            done = _propose(workspace, job, known)
            opened = [binding for binding in known if _is_opened(done, binding, job)]
            failed = [binding for binding in known if _has_failed(done, binding, job)]
            latest = {binding: _find_known(workspace, binding, job) for binding in (*opened, *failed)}
            lost = [binding for binding in opened if _is_second(workspace, binding, latest[binding])]
            for binding in lost:
                own_number = _find_own_number(workspace, binding)
                own = [one for one in latest[binding].doubles if one.number == own_number]
                archive_doubles(workspace, binding, own)
            overtaken = [binding for binding in failed if _is_other(known[binding].live, latest[binding].live)]
        if not lost and not overtaken:
            break
    live = {binding: one.live for binding, one in latest.items() if one.live is not None}
    return replace(done, requests={**done.requests, **live})


def _find_known(workspace: Workspace, binding: Binding, job: Job) -> KnownRequests:
    return find_known_requests(workspace, binding, job.branch, job.commit)


def _propose(workspace: Workspace, job: Job, known: Mapping[Binding, KnownRequests]) -> CiResult:
    """One run of the flows upon what was found out before."""
    notes: list[str] = []
    results: list[Result] = []
    wanted: list[Binding] = []
    for binding, found in known.items():
        if found.doubles and not workspace.is_dry_run:
            archive_doubles(workspace, binding, found.doubles)
        notes += found.format_others(job.branch)
        if why := _explain_nothing(workspace, job, found):
            notes.append(why)
            results.append(Result("propose", f"{binding.name}/{job.branch}", Unchanged()))
        else:
            wanted.append(binding)
    requests = {binding: found.live for binding, found in known.items() if found.live is not None}
    if not wanted:
        return CiResult(tuple(results), requests, tuple(notes))
    stage = prepare_stage(replace(workspace, bindings=tuple(wanted)), job, known)
    options = RunOptions(branches=(job.branch,), integrate=False, subject=job.subject)
    results += run_cycle(stage.workspace, options)
    notes += stage.notes
    if stage.is_cut and any(result.outcome.exit_code == MergeConflict.exit_code for result in results):
        notes.append(f"the clone lacks commits that {job.branch} proposed before; fetch the whole history, where")
        notes[-1] += " a page may no longer be in conflict (fetch-depth: 0 on GitHub, GIT_DEPTH: 0 on GitLab)"
    unlisted, missing = _list_no_pages(stage.workspace, job)
    return CiResult(tuple(results), requests, tuple(notes), unlisted, missing)


def _list_no_pages(workspace: Workspace, job: Job) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The pages of the branch that no table of contents lists, and those that one lists and that are not there."""
    repository = workspace.repository
    main = repository.resolve(workspace.main)
    found = [
        find_unsent(repository, binding, job.branch, main=main, remote=workspace.remote)
        for binding in workspace.bindings
    ]
    unlisted = tuple(path for one in found for path in one.unlisted)
    return unlisted, tuple(path for one in found for path in one.missing)


def _explain_nothing(workspace: Workspace, job: Job, found: KnownRequests) -> str:
    """Why a job proposes nothing to a space; "" where it does."""
    if found.live is not None:
        newer = _find_newer(workspace, job, found.live)
        came = f"which came after {job.commit[:10]}; nothing was sent"
        return f"#{found.live.number} holds {newer[:10]}, {came}" if newer is not None else ""
    last = found.archived[0] if found.archived else None
    if last is None or read_proposed_commit(last.description) != job.commit:
        return ""
    return f"#{last.number} was archived; push a new commit to propose {job.branch} again"


def _find_newer(workspace: Workspace, job: Job, live: ChangeRequest) -> str | None:
    """The commit of a change request that a newer job than this one has proposed.

    Shape: it was built on the job's; or the branch was rewritten, and its remote has the other one and not the job's.
    None for a branch that was taken back to the job's commit: its remote has the other one no more, and a clone that
    has it all the same, for another branch, is made by a job that runs for the first time. A job that runs again may
    find its own commit at the remote: the clone has it there for that job alone.
    """
    repository = workspace.repository
    commit = repository.find_revision(read_proposed_commit(live.description))
    if commit is None or commit == job.commit:
        return None
    is_at_remote = bool(job.newest) and repository.is_ancestor(commit, job.newest)
    if not repository.is_ancestor(job.commit, commit):
        is_newer = is_at_remote and _is_given_up(repository, job)
        return commit if is_newer or (job.is_repeated and _is_recorded_later(repository, job, commit)) else None
    return commit if is_at_remote or job.is_repeated else None


def _is_recorded_later(repository: Repository, job: Job, commit: str) -> bool:
    """Whether a commit is no older than the job's, and not the one that the branch was taken back from to this."""
    former, own = (repository.read_commit(one).recorded for one in (commit, job.commit))
    return commit != job.former and former >= own


def _is_given_up(repository: Repository, job: Job) -> bool:
    """Whether the branch was rewritten since, so that its remote has not the job's commit; one in which a CI service
    has merged the branch has all of it."""
    if repository.list_cut_parents(job.commit):
        return False
    return not (repository.is_ancestor(job.commit, job.newest) or repository.is_ancestor(job.newest, job.commit))


def _list_proposed(done: CiResult, binding: Binding, job: Job) -> list[Result]:
    key = f"{binding.name}/{job.branch}"
    return [result for result in done.results if result.flow == "propose" and result.key == key]


def _has_failed(done: CiResult, binding: Binding, job: Job) -> bool:
    """Whether the run could not propose to this space."""
    return any(result.outcome.exit_code for result in _list_proposed(done, binding, job))


def _is_other(known: ChangeRequest | None, latest: ChangeRequest | None) -> bool:
    """Whether another job opened the change request that counts, or wrote to it, after it was looked for: the run was
    not prepared for its content, and may have nothing in common with it."""
    if known is None or latest is None:
        return latest is not None
    return (known.number, known.revision) != (latest.number, latest.revision)


def _is_opened(done: CiResult, binding: Binding, job: Job) -> bool:
    """Whether the run opened a change request in this space."""
    outcomes = [result.outcome for result in _list_proposed(done, binding, job)]
    changes = [change for outcome in outcomes if isinstance(outcome, Applied) for change in outcome.changes]
    return any(change.verb == "create" and change.noun == "change request" for change in changes)


def _is_second(workspace: Workspace, binding: Binding, latest: KnownRequests) -> bool:
    """Whether another job opened a change request for the branch before this run did."""
    return latest.live is not None and latest.live.number != _find_own_number(workspace, binding)


def _find_own_number(workspace: Workspace, binding: Binding) -> int:
    """The number of the change request that this run wrote to."""
    return max((int(item.number) for item in list_records(workspace, binding) if item.number.isdecimal()), default=0)
