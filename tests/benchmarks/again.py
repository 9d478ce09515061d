"""The second run of everything: mirror, review, integrate and propose find nothing to do, on either side."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from syncd.sync.outcome import Unchanged
from syncd.sync.run.cycle import run_cycle
from syncd.sync.run.values import RunOptions
from syncd.sync.workspace import Workspace
from tests.benchmarks.bare import Bare
from tests.benchmarks.measure import Cost, Line, cost_of
from tests.benchmarks.push import WRITES, commit_edits
from tests.benchmarks.stage import Stage, git

PAGES = 200
RUNS = 3


def measure(stage: Stage) -> Iterator[Line]:
    """Given a stage, measure and return the lines."""
    space = stage.space_of(PAGES)
    path = stage.mirror_of(space)
    with Bare(stage.url, stage.token) as bare:
        ids = {page["git"]["path"]: str(page["id"]) for page in bare.documents(space)}
    branch = commit_edits(path, ids, "edits")
    writes, reads, moved, cost = 0, 0, 0, Cost(0, 0)
    for number in range(RUNS):
        before = _refs(path)
        with stage.workspace(path, space) as workspace:
            cost = cost_of(partial(_run, workspace, branch, first=not number))
            sent = workspace.client.requests_sent
        if number:
            writes += sum(sent.get(method, 0) for method in WRITES)
            reads = max(reads, sent.get("GET", 0))
            moved += before != _refs(path)
    facts = f"{reads} reads, {moved} refs moved; {PAGES} pages, 50 of them proposed: {cost}"
    yield Line("again: writes", writes + moved, unit="requests", limit=0, facts=facts)


def _run(workspace: Workspace, branch: str, *, first: bool) -> None:
    for result in run_cycle(workspace, RunOptions(branches=(branch,))):
        if result.outcome.exit_code or not (first or isinstance(result.outcome, Unchanged)):
            raise RuntimeError(f"{result.flow} {result.key}: {result.outcome}")


def _refs(path: Path) -> bytes:
    return git(path, "for-each-ref")
