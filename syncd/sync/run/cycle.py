"""One run of one repository: every flow in its order, each outcome recorded, and what the run came to as a whole."""

from collections.abc import Sequence
from functools import partial

from syncd.errors import Stopped
from syncd.layout.tree.paths import replace_undecodable
from syncd.store.status import FlowOutcome as Remembered
from syncd.sync.gc_tuning import collect_seldom
from syncd.sync.outcome import CONFLICT, PAGE, Outcome, Unchanged, describe_outcome, outcome_of
from syncd.sync.run.run import Flows
from syncd.sync.run.values import RUN, Result, RunOptions, is_stopped
from syncd.sync.state.conflicts import clear_settled
from syncd.sync.workspace import Workspace


def run_cycle(workspace: Workspace, wish: RunOptions) -> list[Result]:
    """Given a workspace and a wish, run every flow once, record each outcome, and return them in order.

    Shape: a flow that ran twice is remembered by its trouble, if any. What ends the run before its time is the last
    result, of the flow `run`; the results before it are those of flows that had their turn. A run that is asked to stop
    ends with the flow that heard it. Source: house, section 6.
    """
    results: list[Result] = []

    def run() -> Outcome:
        for result in Flows(workspace, wish).results():
            results.append(result)
            if result.outcome.exit_code == Stopped.exit_code:
                break
        return Unchanged()

    with collect_seldom():
        ended = outcome_of(run)
    is_whole = not ended.exit_code and not is_stopped(results)
    remembered = outcome_of(partial(_record_results, workspace, wish, results, is_whole=is_whole))
    return results + [Result(RUN, "", wrong) for wrong in (ended, remembered) if wrong.exit_code]


def _record_results(workspace: Workspace, wish: RunOptions, results: Sequence[Result], *, is_whole: bool) -> Outcome:
    """Record what flows came to; of what a run did not get to because it ended early, the record stays as it was."""
    at = workspace.now().isoformat(timespec="seconds")
    ordered = sorted(results, key=lambda result: result.outcome.exit_code != 0)
    rows = [
        Remembered(result.flow, replace_undecodable(result.key), *describe_outcome(result.outcome), at)
        for result in ordered
    ]
    for flow, was_asked in ((CONFLICT, wish.integrate), (PAGE, wish.propose)):
        if is_whole and was_asked and not wish.is_complete:
            clear_settled(
                workspace, flow, but=[replace_undecodable(result.key) for result in results if result.flow == flow]
            )
    workspace.store.record(rows, whole=is_whole and wish.is_complete)
    return Unchanged()
