"""Ten changed pages of a large space, against ten changed pages of a space that has no others.

What grows with the space is its tree: a revision names the one before it in the same answer as all of its pages, so
that nothing less says what has changed since the mirror.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from tests.benchmarks.measure import Cost, Line, both, cost_of, duel, median, over
from tests.benchmarks.stage import FEW, MIRROR, Stage, run_flows, run_syncd, syncd

ROUNDS = 5
AIM, LIMIT = 3.0, 10.0
CHANGED = 10
CPU_SECONDS = 1.0
AROUND = 3
"""Requests besides one for each changed page: the space, its content, and the space again."""


def measure(stage: Stage) -> Iterator[Line]:
    """Given a stage, measure and return the lines."""
    yield from _commands(stage)
    large, small = stage.mirror_of(stage.large), stage.mirror_of(stage.small)
    requests: list[int] = []
    few = _contestant(stage, stage.small, small, [])
    many = _contestant(stage, stage.large, large, requests)
    result = duel(few, many, rounds=ROUNDS)
    cost = median(result.ours)
    facts = f"the mirror alone, in process: {stage.pages} pages {cost}; {FEW} pages {median(result.base)}"
    yield from both("ten: mirror", result, facts, aim=AIM)
    yield Line("ten: mirror, CPU alone", cost.cpu, unit="s", aim=CPU_SECONDS)
    yield Line("ten: requests", max(requests), unit="requests", aim=CHANGED + AROUND)


def _commands(stage: Stage) -> Iterator[Line]:
    """What a person or a timer runs, `syncd sync`, over what it costs when nothing has changed.

    Two whole commands would mostly compare two start-ups, which are the same.
    """
    result = duel(_synced(stage, stage.small), _synced(stage, stage.large), rounds=ROUNDS)
    facts = f"over a sync that finds nothing: {stage.pages} pages {median(result.ours)}; {FEW} {median(result.base)}"
    yield from both("ten: syncd sync", result, facts, aim=AIM, limit=LIMIT)


def _synced(stage: Stage, space: str) -> Callable[[int], Cost]:
    clone = stage.fresh("clone")
    syncd("clone", stage.url, space, str(clone), "--token-file", str(stage.data / "token"))
    config = str(clone / ".git" / "syncd.toml")

    def contest(number: int) -> Cost:
        stage.edit(space, CHANGED, f"Round {stage.fresh('round').name}")
        changed = run_syncd("sync", "--config", config).cost
        return over(changed, run_syncd("sync", "--config", config).cost)

    return contest


def _contestant(stage: Stage, space: str, directory: Path, requests: list[int]) -> Callable[[int], Cost]:
    def contest(number: int) -> Cost:
        stage.edit(space, CHANGED, f"Round {stage.fresh('round').name}")

        def work() -> None:
            with stage.workspace(directory, space) as workspace:
                requests.append(run_flows(workspace, MIRROR))

        return cost_of(work)

    return contest
