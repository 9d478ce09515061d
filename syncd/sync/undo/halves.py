"""Pages that moved between two spaces: each space has its half in a change request of its own, and both are taken back.

The platform has no page in two spaces. With one half alone taken back, a page would be in both spaces, or in none.
"""

from collections.abc import Iterator, Sequence

from syncd.errors import Conflict, GuardRefused, NotFound
from syncd.plan.message import CHANGE_REQUEST
from syncd.repo.values import Commit
from syncd.sync.binding import Binding
from syncd.sync.branches import HEADS
from syncd.sync.merge.parts import find_original
from syncd.sync.review.requests import FoundRequest
from syncd.sync.state.notes import STATUS, read_notes
from syncd.sync.state.proposals import find_proposal, list_records
from syncd.sync.undo.revert import Revert, find_merge_commit, is_merge_commit, plan_revert
from syncd.sync.workspace import Workspace

COMMITS_MAX = 1000
"""Commits of main content, or of a change request, that are looked through."""

Moves = frozenset[tuple[str, str]]
"""Files that went from one space to another: the former path and the later one, from the repository's root."""


def plan_reverts(workspace: Workspace, binding: Binding, number: int, branch: str) -> list[Revert]:
    """Return how a branch takes back the merge of a change request, and with it the other halves of pages that it moved
    to or from another space; each revert is made upon the one before.

    Raises: as `plan_revert`; GuardRefused when another half is not merged; Conflict when a page was edited since.
    """
    merged = find_merge_commit(workspace, binding, number)
    moves = _list_merged_moves(workspace, binding, merged) if merged is not None else Moves()
    plans: list[Revert] = []
    for each, own in [(binding, number)] if not moves else _list_merges(workspace, binding, number, branch, moves):
        plans.append(plan_revert(workspace, each, own, branch, previous=plans[-1] if plans else None))
    kept = [path for plan in plans for path in plan.kept if any(path in move for move in moves)]
    if kept:
        raise Conflict(
            f"{', '.join(kept)} moved to another space and was edited there since; nothing was reverted",
            hint="move it back with git mv, and its entry in SUMMARY.md, commit, then syncd push",
        )
    return plans


def add_open_halves(workspace: Workspace, requests: Sequence[FoundRequest]) -> list[FoundRequest]:
    """Return change requests that are not merged, and with them those with the other halves of pages that they move to
    or from another space.

    Raises: GuardRefused when another half is merged.
    """
    found = list(requests)
    for one in requests:
        moves = _list_open_moves(workspace, one.binding, str(one.request.number))
        for other in _list_other_spaces(workspace, one.binding, moves):
            if any(each.binding == other for each in found):
                continue  # a branch has one in each space
            half = _find_open_half(workspace, other, one.branch, moves)
            if half is not None:
                found.append(half)
            elif (merged := _find_merged_half(workspace, other, moves)) is not None:
                raise _build_refusal(moves, (one.binding, one.request.number), (other, merged))
    return found


def _list_merges(
    workspace: Workspace, binding: Binding, number: int, branch: str, moves: Moves
) -> list[tuple[Binding, int]]:
    """The merge of a change request and those of the other halves of its moves, the newest first."""
    found = {(binding, number)}
    for other in _list_other_spaces(workspace, binding, moves):
        merged = _find_merged_half(workspace, other, moves)
        if merged is not None:
            found.add((other, merged))
        elif (live := _find_recorded_half(workspace, other, moves)) is not None:
            raise _build_refusal(moves, (other, live), (binding, number))
        elif left := _find_unmerged_moves(workspace, other, branch, moves):
            raise _build_unmerged_refusal(workspace, branch, left, (binding, number))
    order = {
        (each, merge): place
        for place, (each, merge, _) in enumerate(_walk_merges(workspace, {each for each, _ in found}))
    }
    return sorted(found, key=lambda merge: order.get(merge, COMMITS_MAX))


def _build_refusal(moves: Moves, live: tuple[Binding, int], merged: tuple[Binding, int]) -> GuardRefused:
    (space, number), (other, done) = live, merged
    old, new = min(moves)
    more = f" and {len(moves) - 1} more" if len(moves) > 1 else ""
    words = f"{number} --space {space.name}"
    return GuardRefused(
        f"{old} moved to {new}{more} with #{done} of {other.name}, which is merged, and #{number} of {space.name}, "
        "which Git does not have as merged; one alone is not taken back",
        hint=f"merge both, syncd pull, and undo takes back both: syncd cr merge {words}",
    )


def _build_unmerged_refusal(
    workspace: Workspace, branch: str, moves: Moves, merged: tuple[Binding, int]
) -> GuardRefused:
    (old, new), (other, done) = min(moves), merged
    tip = workspace.repository.resolve(f"{HEADS}{branch}") or ""
    commit = workspace.repository.find_last_change(tip, old, exclude=())
    return GuardRefused(
        f"{old} moved to {new} with #{done} of {other.name}, which is merged, and {branch} still moves it, though the "
        "other half was not merged; one alone is not taken back",
        hint=f"take the move back in both spaces: git revert {commit[:10]}, then syncd push",
    )


def _walk_merges(workspace: Workspace, bindings: set[Binding]) -> Iterator[tuple[Binding, int, Commit]]:
    """The merges of change requests of spaces in main content, the newest first."""
    main = workspace.repository.resolve(workspace.main)
    for commit in workspace.repository.list_commits(None, main, limit=COMMITS_MAX) if main is not None else ():
        for binding in bindings:
            numbers = [int(each) for each in commit.trailers.get(CHANGE_REQUEST, []) if each.isdecimal()]
            if numbers and is_merge_commit(commit, binding):
                yield binding, numbers[0], commit


def _find_merged_half(workspace: Workspace, binding: Binding, moves: Moves) -> int | None:
    merges = _walk_merges(workspace, {binding})
    return next((number for _, number, one in merges if moves & _list_merged_moves(workspace, binding, one)), None)


def _find_open_half(workspace: Workspace, binding: Binding, branch: str, moves: Moves) -> FoundRequest | None:
    """The change request of a branch that is live on the platform and has the other half of moves."""
    try:
        proposal = find_proposal(workspace, binding, branch)
    except NotFound:
        return None
    if proposal is None or not proposal.change_request.is_live:
        return None
    has_half = moves & _list_open_moves(workspace, binding, str(proposal.change_request.number))
    return FoundRequest(binding, proposal.change_request, branch) if has_half else None


def _find_recorded_half(workspace: Workspace, binding: Binding, moves: Moves) -> int | None:
    """The number of a change request that Git knows, which nobody has archived, with the other half of moves."""
    numbers = [record.number for record in list_records(workspace, binding) if record.number.isdecimal()]
    live = (one for one in numbers if read_notes(workspace.repository, binding, int(one)).get(STATUS) != "archived")
    return next((int(one) for one in live if moves & _list_open_moves(workspace, binding, one)), None)


def _find_unmerged_moves(workspace: Workspace, binding: Binding, branch: str, moves: Moves) -> Moves:
    """The moves of which a branch still has the half of a space that main content has not."""
    lookup, main = workspace.repository.lookup, workspace.repository.resolve(workspace.main)
    tip = workspace.repository.resolve(f"{HEADS}{branch}")
    if main is None or tip is None:
        return Moves()
    halves = ((old, new, old if binding.holds(old) else new) for old, new in moves)
    return Moves((old, new) for old, new, own in halves if (lookup(tip, own) is None) != (lookup(main, own) is None))


def _list_merged_moves(workspace: Workspace, binding: Binding, merged: Commit) -> Moves:
    return _list_moves(workspace, binding, *merged.parents[:2]) if len(merged.parents) > 1 else Moves()


def _list_open_moves(workspace: Workspace, binding: Binding, number: str) -> Moves:
    main, lane = map(workspace.repository.resolve, (workspace.main, workspace.change_ref(binding, int(number))))
    return _list_moves(workspace, binding, main, lane) if main is not None and lane is not None else Moves()


def _list_moves(workspace: Workspace, binding: Binding, main: str, lane: str) -> Moves:
    """The files that the commits of a change request moved from or to its space.

    The other half is left out of a part, and what the part stands for has both.
    """
    repository, found = workspace.repository, set[tuple[str, str]]()
    for commit in repository.list_commits(main, lane, limit=COMMITS_MAX):
        original = find_original(repository, commit)
        if not commit.parents or (original is None and len(commit.parents) > 1):
            continue  # a merge brings what others moved, too
        later = original or commit.oid
        if not repository.select_present([later]):
            continue
        for change in repository.compare_trees(commit.parents[0], later, renames=True):
            old, new = change.old_path, change.path
            if old is not None and binding.holds(old) != binding.holds(new):
                found.add((old, new))
    return frozenset(found)


def _list_other_spaces(workspace: Workspace, binding: Binding, moves: Moves) -> list[Binding]:
    others = (other for other in workspace.bindings if other != binding)
    return [other for other in others if any(other.holds(path) for move in moves for path in move)]
