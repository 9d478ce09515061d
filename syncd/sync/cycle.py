"""One run of one repository: every flow in its order, each outcome recorded, and what the run came to as a whole."""

from collections.abc import Sequence

from syncd.layout.paths import in_unicode
from syncd.store.glance import Outcome as Remembered
from syncd.sync.collecting import few_collections
from syncd.sync.conflicts import settle_conflicts
from syncd.sync.flows import Flows, Result, Wish
from syncd.sync.outcome import describe
from syncd.sync.workspace import Workspace

__all__ = ["Result", "Wish", "exit_code", "run_cycle"]


def run_cycle(workspace: Workspace, wish: Wish) -> list[Result]:
    """Given a workspace and a wish, run every flow once, record each outcome, and return them in order.

    Shape: a flow that ran twice is remembered by its trouble, if any. Source: house, section 6.
    """
    with few_collections():
        results = list(Flows(workspace, wish).results())
    at = workspace.now().isoformat(timespec="seconds")
    ordered = sorted(results, key=lambda result: result.outcome.exit_code != 0)
    rows = [Remembered(result.flow, in_unicode(result.key), *describe(result.outcome), at) for result in ordered]
    if wish.integrate and not wish.whole:
        held = {result.key for result in results if result.flow == "conflict"}
        settle_conflicts(workspace, lambda path: path not in held)
    workspace.store.record(rows, whole=wish.whole)
    return results


def exit_code(results: Sequence[Result]) -> int:
    """Given results, return the exit code: 0, the one code of all failures, or 4 when some flows got through.

    Source: house, section 8.
    """
    codes = {result.outcome.exit_code for result in results} - {0}
    if not codes:
        return 0
    if all(result.flow == "conflict" for result in results if result.outcome.exit_code):
        return codes.pop()
    failed = {result.key for result in results if result.outcome.exit_code}
    spaces = {result.key for result in results if result.flow == "mirror"}
    return codes.pop() if len(codes) == 1 and (len(spaces) == 1 or spaces <= failed) else 4
