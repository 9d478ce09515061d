"""What a command costs before it does anything, against Python that does nothing."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator

from tests.benchmarks.measure import Cost, Line, both, cost_of, duel, median
from tests.benchmarks.stage import Stage, run_syncd, syncd

ROUNDS = 11
HELP_AIM, HELP_LIMIT, STATUS_AIM = 7.0, 10.0, 15.0
NOTHING_ROUNDS, NOTHING_CPU_AIM = 5, 0.6


def measure(stage: Stage) -> Iterator[Line]:
    """Given a stage, measure and return the lines."""
    clone = stage.fresh("clone")
    syncd("clone", stage.url, stage.small, str(clone), "--token-file", str(stage.data / "token"))
    for name, words, aim, limit in (
        ("help", ["--help"], HELP_AIM, HELP_LIMIT),
        ("status", ["status", "--config", str(clone / ".git" / "syncd.toml")], STATUS_AIM, None),
    ):
        result = duel(_start("-c", "pass"), _start("-m", "syncd", *words), rounds=ROUNDS)
        facts = f"syncd {' '.join(words[:1])} {median(result.ours)}; python -c pass {median(result.base)}"
        yield from both(f"startup {name}", result, facts, aim=aim, limit=limit)
    nothing = [run_syncd("sync", "--config", str(clone / ".git" / "syncd.toml")) for _ in range(NOTHING_ROUNDS)]
    cost = median([ran.cost for ran in nothing])
    yield Line("sync that finds nothing", cost.cpu, unit="s CPU", aim=NOTHING_CPU_AIM, facts=str(cost))
    shutil.rmtree(clone)


def _start(*words: str) -> Callable[[int], Cost]:
    def contest(number: int) -> Cost:
        return cost_of(lambda: subprocess.run([sys.executable, *words], stdout=subprocess.DEVNULL, check=True))

    return contest
