"""Many new branches at once: a pattern that matches more than it was meant to opens no crowd of change requests."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from syncd.model.space import Space
from syncd.plan.guard import FREE_OPENINGS, guard_openings
from syncd.sync.branches import Branch
from syncd.sync.outcome import Applied, Outcome, Unchanged, outcome_of
from syncd.sync.propose.flow import propose
from syncd.sync.state.proposals import Proposal
from syncd.sync.workspace import Binding, Workspace


def find_new_branches(
    workspace: Workspace, binding: Binding, branches: Sequence[Branch], space: Space, proposals: Sequence[Proposal]
) -> list[str]:
    """Given tracked branches and a space with its proposals, return those that would be proposed for the first time.

    Shape: names of branches that only a pattern matches; none while there are so few that no guard asks.
    """
    known = {proposal.branch for proposal in proposals}
    new = [branch for branch in branches if not branch.is_named and branch.name not in known]
    if len(new) <= FREE_OPENINGS:
        return []
    ahead = (branch.name for branch in new if _has_changes(workspace, binding, branch))
    return [name for name in ahead if _would_open(workspace, binding, name, space)]


def guard_new_branches(workspace: Workspace, binding: Binding, names: Sequence[str]) -> Outcome:
    """Given the newcomers of a space, return when a run may propose them all; nothing is done. Raises: TooMuch."""
    guard_openings(f"open.{binding.name}", names, force=workspace.force)
    return Unchanged()


def _has_changes(workspace: Workspace, binding: Binding, branch: Branch) -> bool:
    """Whether a branch changed anything of a space since it left main content; that costs far less than a rehearsal."""
    repository = workspace.repository
    tip, main = repository.resolve(branch.ref), repository.resolve(workspace.main)
    if tip is None or main is None:
        return False
    base = repository.merge_base(main, tip)
    return base is None or not workspace.has_same_content(binding, base, tip)


def _would_open(workspace: Workspace, binding: Binding, branch: str, space: Space) -> bool:
    rehearsing = replace(workspace, is_dry_run=True)
    outcome = outcome_of(partial(propose, rehearsing, binding, branch, space=space, proposals=[], asked=False))
    return isinstance(outcome, Applied) and any(change.verb != "report" for change in outcome.changes)
