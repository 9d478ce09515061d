"""Take a push back that is not merged: archive its change request and, where asked for, reset the branch."""

from collections.abc import Sequence
from dataclasses import dataclass

from syncd.errors import GuardRefused, HistoryCut
from syncd.model.change_request import ChangeRequest
from syncd.model.wording import format_first
from syncd.repo.values import Commit
from syncd.sync.branches import HEADS
from syncd.sync.merge.summaries import read_summary
from syncd.sync.review.decide import record_decision, set_request_status
from syncd.sync.review.requests import FoundRequest
from syncd.sync.state.proposals import list_records
from syncd.sync.state.request_commits import find_content
from syncd.sync.state.resend import has_new_work
from syncd.sync.workspace import Workspace

COMMITS_MAX = 1000
"""The most commits that are counted."""


@dataclass(frozen=True)
class Withdrawal:
    """The change requests of one branch that are taken back, and the commits that are left on the branch.

    Shape: `tip` and `base` are the branch's commit and where it left main content; "" where there is no such branch.
    """

    branch: str
    requests: tuple[FoundRequest, ...]
    tip: str = ""
    base: str = ""
    commits: tuple[Commit, ...] = ()


def plan_withdrawal(workspace: Workspace, requests: Sequence[FoundRequest], *, reset: bool) -> Withdrawal:
    """Return how change requests of one branch that are not merged are taken back.

    Raises: GuardRefused when `reset` would drop more than what they hold.
    """
    repository, branch = workspace.repository, requests[0].branch
    tip, main = repository.resolve(f"{HEADS}{branch}") if branch else None, repository.resolve(workspace.main)
    try:
        base = repository.find_merge_base(main, tip) if tip is not None and main is not None else None
    except HistoryCut:
        base = None
    if tip is None or base is None:
        if reset:
            raise GuardRefused(
                f"#{requests[0].request.number} comes from no branch that is here, so there is nothing to reset"
            )
        return Withdrawal(branch, tuple(requests))
    commits = tuple(repository.list_commits(base, tip, limit=COMMITS_MAX))
    if reset and commits:  # else it is done already
        _require_nothing_else(workspace, requests, base, tip)
    return Withdrawal(branch, tuple(requests), tip, base, commits)


def name_requests(requests: Sequence[FoundRequest]) -> str:
    """Return the numbers of change requests for a message; of several, each with its space, which counts its own."""
    if len(requests) == 1:
        return f"#{requests[0].request.number}"
    return ", ".join(f"#{found.request.number} of {found.binding.name}" for found in requests)


def withdraw(workspace: Workspace, withdrawal: Withdrawal, *, reset: bool) -> list[ChangeRequest]:
    """Reset a branch where asked for, archive its change requests as planned, and return these.

    Shape: what is done already is passed over, so that a second run finishes what was cut off. The commits stay what
    the refs of the change requests name. Raises: WorkTreeInTheWay, OperationInProgress, RefMoved.
    """
    # First, since an edit in the way refuses it; and a change request that is still open is found by the next `undo`.
    if reset and withdrawal.commits:
        workspace.repository.follow(withdrawal.branch, old=withdrawal.tip, new=withdrawal.base)
    done: list[ChangeRequest] = []
    for found in withdrawal.requests:
        now = found.request if found.request.status == "archived" else set_request_status(workspace, found, "archived")
        record_decision(workspace, found, now)
        done.append(now)
    return done


def _require_nothing_else(workspace: Workspace, requests: Sequence[FoundRequest], base: str, tip: str) -> None:
    """Raises: GuardRefused when the branch's commits hold what these change requests do not."""
    repository, branch = workspace.repository, requests[0].branch
    bindings = [found.binding for found in requests]
    others = [
        path
        for change in repository.compare_trees(base, tip, renames=True)
        for path in (change.path, change.old_path or change.path)
        if not any(binding.holds(path) for binding in bindings)
    ]
    numbers = name_requests(requests)
    by_hand = f"git reset or git rebase takes commits back one by one; they are listed by git log {base[:10]}..{branch}"
    if others:
        shown = format_first(others, 5)
        raise GuardRefused(
            f"{branch} has changes outside of {numbers}, and a reset would drop them: {shown}", hint=by_hand
        )
    sent = [
        item.commit
        for found in requests
        for item in list_records(workspace, found.binding)
        if item.number == str(found.request.number)
    ]
    new = [commit for commit in sent if has_new_work(repository, commit, base, tip)] if sent else [tip]
    if new:
        raise GuardRefused(
            f"{branch} has commits that were never sent to {numbers}, and a reset would drop them", hint=by_hand
        )
    unsent = [path for found in requests for path in _list_not_held(workspace, found, base, tip)]
    if unsent:
        shown = format_first(unsent, 5)
        raise GuardRefused(
            f"{branch} has what {numbers} does not hold, and a reset would drop it: {shown}", hint=by_hand
        )


def _list_not_held(workspace: Workspace, found: FoundRequest, base: str, tip: str) -> list[str]:
    """The files of a space that a branch has changed and that its change request does not hold: no pages, too large, or
    left out of what was sent."""
    repository, binding = workspace.repository, found.binding
    here = repository.resolve(workspace.change_ref(binding, found.request.number))
    seen = workspace.store.read_last_seen(binding.space, found.request.id)
    if here is None or seen is None:
        return []  # what was never sent is told by its commits
    content, held = find_content(repository, here), {binding.path(one.path) for one in seen.anchors.values()}
    table = read_summary(repository, binding, tip)
    held |= {table.path} if table is not None else set()
    return [
        change.path
        for change in repository.compare_trees(base, tip)
        if binding.holds(change.path) and change.after is not None
        if change.path not in held or repository.lookup(content, change.path) == repository.lookup(base, change.path)
    ]
