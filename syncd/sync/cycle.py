"""One run of one repository: every flow in its order, each with its own outcome, so that none stops another."""

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from syncd.errors import NotFound, Rejected, Unauthorized
from syncd.model.space import Space
from syncd.store.store import Outcome as Remembered
from syncd.sync.integrate import integrate
from syncd.sync.mirror import mirror
from syncd.sync.outcome import Applied, Held, Outcome, Unchanged, Waiting, outcome_of
from syncd.sync.proposals import Proposal, own_proposals
from syncd.sync.propose import propose
from syncd.sync.review import review
from syncd.sync.site import apply_site, plan_site
from syncd.sync.workspace import Binding, Workspace

OBJECTS_BETWEEN_COLLECTIONS = 200_000
"""About what a revision of ten thousand pages allocates."""
SHARED_LISTING_FROM = 3
"""Spaces of one organization from which one listing costs less than a request each."""


@dataclass(frozen=True)
class Wish:
    """Which flows a run is asked for."""

    branches: tuple[str, ...] = ("main",)
    integrate: bool = True
    propose: bool = True
    site: str = ""
    subject: str = ""


@dataclass(frozen=True)
class Result:
    """What one flow came to; `key` is the space, branch or site that it was about."""

    flow: str
    key: str
    outcome: Outcome


def run_cycle(workspace: Workspace, wish: Wish) -> list[Result]:
    """Given a workspace and a wish, run every flow once, record each outcome, and return them in order.

    Source: house, section 6.
    """
    with _few_collections():
        results = list(_flows(workspace, wish))
    at = workspace.now().isoformat(timespec="seconds")
    workspace.store.record(Remembered(result.flow, result.key, *describe(result.outcome), at) for result in results)
    return results


@contextmanager
def _few_collections() -> Iterator[None]:
    """Look for garbage cycles less often: page trees are large and hold none, and looking took a third of a run."""
    usual = gc.get_threshold()
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def exit_code(results: Sequence[Result]) -> int:
    """Given results, return the exit code: 0, the one code of all failures, or 4 when some flows got through.

    Source: house, section 8.
    """
    codes = {result.outcome.exit_code for result in results} - {0}
    if not codes:
        return 0
    failed = {result.key for result in results if result.outcome.exit_code}
    spaces = {result.key for result in results if result.flow == "mirror"}
    return codes.pop() if len(codes) == 1 and (len(spaces) == 1 or spaces <= failed) else 4


def describe(outcome: Outcome) -> tuple[str, str]:
    """Given an outcome, return its state in one word and what a person should know of it."""
    match outcome:
        case Unchanged():
            return "unchanged", ""
        case Applied():
            return "applied", f"{len(outcome.changes)} changes"
        case Waiting():
            return "waiting", outcome.why
        case Held():
            return "held", f"{outcome.why} ({outcome.hint})" if outcome.hint else outcome.why


def _flows(workspace: Workspace, wish: Wish) -> Iterator[Result]:
    spaces = _spaces(workspace)
    proposals: dict[Binding, list[Proposal]] = {}
    for binding in workspace.bindings:
        yield Result("mirror", binding.name, outcome_of(_mirror(workspace, binding, spaces, proposals)))
        for index, proposal in enumerate(proposals.get(binding, [])):
            yield Result("review", binding.name, outcome_of(_review(workspace, binding, proposals, index, proposal)))
    if wish.integrate:
        for branch in wish.branches:
            yield Result("integrate", branch, outcome_of(_integrate(workspace, branch, proposals)))
    if wish.propose:
        for branch in wish.branches:
            for binding, own in proposals.items():
                run = _propose(workspace, binding, branch, spaces[binding.space], own, wish.subject)
                yield Result("propose", f"{binding.name}/{branch}", outcome_of(run))
    if wish.site:
        yield Result("site", wish.site, outcome_of(lambda: _site(workspace, wish)))


def _mirror(
    workspace: Workspace, binding: Binding, spaces: dict[str, Space], proposals: dict[Binding, list[Proposal]]
) -> Callable[[], Outcome]:
    def run() -> Outcome:
        if binding.space not in spaces:
            spaces[binding.space] = workspace.client.spaces.get(binding.space)
        own = own_proposals(workspace, binding)
        outcome = mirror(workspace, binding, space=spaces[binding.space], proposals=own)
        proposals[binding] = [proposal for proposal in own if proposal.change_request.status != "merged"]
        return outcome

    return run


def _review(
    workspace: Workspace,
    binding: Binding,
    proposals: dict[Binding, list[Proposal]],
    index: int,
    proposal: Proposal,
) -> Callable[[], Outcome]:
    def run() -> Outcome:
        proposals[binding][index], outcome = review(workspace, binding, proposal)
        return outcome

    return run


def _integrate(workspace: Workspace, branch: str, proposals: dict[Binding, list[Proposal]]) -> Callable[[], Outcome]:
    def run() -> Outcome:
        refs: list[str] = []  # an updated change request holds main content already, so it goes first
        for binding, own in proposals.items():
            refs += [
                workspace.changes(binding, proposal.change_request.number)
                for proposal in own
                if proposal.branch == branch and proposal.change_request.is_live
            ]
        outcomes = [integrate(workspace, branch, ref) for ref in (*refs, workspace.main)]
        changes = tuple(change for outcome in outcomes if isinstance(outcome, Applied) for change in outcome.changes)
        return Applied(changes) if changes else Unchanged()

    return run


def _propose(
    workspace: Workspace, binding: Binding, branch: str, space: Space, own: list[Proposal], subject: str
) -> Callable[[], Outcome]:
    return lambda: propose(workspace, binding, branch, space=space, proposals=own, subject=subject)


def _site(workspace: Workspace, wish: Wish) -> Outcome:
    return apply_site(workspace, plan_site(workspace, wish.branches[0], wish.site))


def _spaces(workspace: Workspace) -> dict[str, Space]:
    """Read many spaces in one listing where the platform allows it; what it does not show is read one by one."""
    bindings = workspace.bindings
    if len(bindings) < SHARED_LISTING_FROM:
        return {}
    wanted = {binding.space for binding in bindings}
    try:
        first = workspace.client.spaces.get(bindings[0].space)
        listed = workspace.client.spaces.list(first.organization) if first.organization else ()
        return {first.id: first} | {space.id: space for space in listed if space.id in wanted}
    except (NotFound, Rejected, Unauthorized):
        return {}
