"""What was done last from this repository and can be undone: a push, a merge, or a plan that was applied to a site."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from syncd.errors import NotFound
from syncd.model.moment import parse_moment
from syncd.plan.message import CHANGE_REQUEST
from syncd.repo.values import Commit
from syncd.store.status import Backup
from syncd.sync.binding import Binding
from syncd.sync.branches import HEADS
from syncd.sync.review.requests import FoundRequest
from syncd.sync.state.proposals import find_proposal
from syncd.sync.undo.revert import find_revert, is_merge_commit
from syncd.sync.workspace import Workspace

COMMITS_MAX = 200
"""Commits of main content that are searched for a merge of ours."""
_UNKNOWN = datetime.fromtimestamp(0, UTC)
"""When something was done whose time nobody wrote down: before all else."""


@dataclass(frozen=True)
class Undoable:
    """One action that can be undone, and when it was done (aware): exactly one of the members is there.

    Shape: `requests` are live ones of one branch; `merge` is a space and the number of a change request.
    """

    at: datetime
    requests: tuple[FoundRequest, ...] = ()
    merge: tuple[Binding, int] | None = None
    backup: Backup | None = None


def find_latest(workspace: Workspace, branch: str, *, with_site: bool) -> Undoable | None:
    """Return what was done last on the branch of the work tree; None when nothing is known that can be undone."""
    found = [*_find_push(workspace, branch), *_find_merge(workspace, branch)]
    found += _find_plan(workspace) if with_site else ()
    return max(found, key=lambda each: each.at, default=None)


def _find_push(workspace: Workspace, branch: str) -> Iterator[Undoable]:
    requests: list[FoundRequest] = []
    for binding in workspace.bindings:
        try:
            proposal = find_proposal(workspace, binding, branch)
        except NotFound:
            continue
        if proposal is not None and proposal.change_request.is_live:
            requests.append(FoundRequest(binding, proposal.change_request, branch))
    if requests:
        texts = (found.request.updated_at or found.request.created_at or "" for found in requests)
        yield Undoable(max(parse_moment(text) or _UNKNOWN for text in texts), requests=tuple(requests))


def _find_merge(workspace: Workspace, branch: str) -> Iterator[Undoable]:
    """The newest merge of what was proposed here: its commit has the proposed one as its second parent."""
    repository = workspace.repository
    main, tip = repository.resolve(workspace.main), repository.resolve(f"{HEADS}{branch}")
    if main is None or tip is None:
        return
    for commit in repository.list_commits(None, main, limit=COMMITS_MAX):
        numbers = [int(each) for each in commit.trailers.get(CHANGE_REQUEST, []) if each.isdecimal()]
        binding = _find_binding(workspace, commit)
        if binding is None or len(commit.parents) < 2 or not numbers:
            continue
        if repository.is_ancestor(commit.oid, tip) and not find_revert(workspace, commit, tip):
            yield Undoable(commit.author.when, merge=(binding, numbers[0]))
            return


def _find_plan(workspace: Workspace) -> Iterator[Undoable]:
    for backup in workspace.store.backups.list_backups()[:1]:
        yield Undoable(parse_moment(backup.at) or _UNKNOWN, backup=backup)


def _find_binding(workspace: Workspace, commit: Commit) -> Binding | None:
    return next((binding for binding in workspace.bindings if is_merge_commit(commit, binding)), None)
