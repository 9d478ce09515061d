"""Record what the flows of a run came to, for `syncd status`, the service's health and its metrics."""

from collections.abc import Sequence

from syncd.layout.tree.paths import replace_undecodable
from syncd.store.status import FlowOutcome
from syncd.sync.outcome import BIND, CONFLICT, PAGE, Outcome, Unchanged, describe_outcome, find_details
from syncd.sync.run.values import Result, RunOptions, is_stopped
from syncd.sync.state.conflicts import clear_settled
from syncd.sync.workspace import Workspace


def record_results(workspace: Workspace, options: RunOptions, results: Sequence[Result], *, is_whole: bool) -> Outcome:
    """Record what flows came to; a flow that did not run, or was stopped, keeps its former record."""
    at = workspace.now().isoformat(timespec="seconds")
    ended = [result for result in results if not is_stopped([result])]
    pages = [result for result in ended if result.flow in (CONFLICT, PAGE)]
    flows = [result for result in ended if result.flow not in (CONFLICT, PAGE)]
    # The last of a key is kept: the trouble of a flow that ran twice.
    ordered = [*sorted(flows, key=lambda result: result.outcome.exit_code != 0), *pages]
    rows = [
        FlowOutcome(
            result.flow,
            replace_undecodable(result.key),
            *describe_outcome(result.outcome),
            at,
            **find_details(result.outcome),
        )
        for result in ordered
    ]
    for flow, was_asked in ((BIND, workspace.onto is None), (CONFLICT, options.integrate), (PAGE, options.propose)):
        if is_whole and was_asked and not options.is_complete:
            clear_settled(workspace, flow, but={(row.key, row.branch) for row in rows if row.flow == flow})
    workspace.store.record(rows, whole=is_whole and options.is_complete)
    return Unchanged()
