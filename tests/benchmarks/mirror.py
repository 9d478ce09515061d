"""The first mirror of a large space, against the same fetches by bare httpx and the same bodies by bare fast-import."""

import shutil
from collections.abc import Iterator

from tests.benchmarks.bare import Bare, best_setting
from tests.benchmarks.measure import Cost, Line, cost_of, duel, median
from tests.benchmarks.stage import MIRROR, Stage, git, run_flows, syncd

ROUNDS = 3
AIM, LIMIT = 1.3, 1.6


def measure(stage: Stage) -> Iterator[Line]:
    """Given a stage, measure and return the lines."""
    space = stage.large
    threads, probes = best_setting(stage.url, stage.token, space)
    trees: dict[str, bytes] = {}

    def ours(number: int) -> Cost:
        path = stage.repository()

        def work() -> None:
            with stage.workspace(path, space) as workspace:
                run_flows(workspace, MIRROR)

        cost = cost_of(work)
        trees["ours"] = git(path, "ls-tree", "-r", "refs/remotes/platform/main")
        shutil.rmtree(path)
        return cost

    def baseline(number: int) -> Cost:
        path = stage.repository()
        with Bare(stage.url, stage.token, threads=threads) as bare:
            cost = cost_of(lambda: bare.mirror(space, path))
        trees["bare"] = git(path, "ls-tree", "-r", "refs/heads/main")
        shutil.rmtree(path)
        return cost

    result = duel(baseline, ours, rounds=ROUNDS)
    _same_work(trees, stage.pages)
    tried = ", ".join(f"{count}: {cost.wall:.2f}" for count, cost in probes.items())
    bare = median(result.base)
    facts = f"syncd {median(result.ours)}; bare {bare} with {threads} threads"
    yield Line("mirror wall", result.wall, aim=AIM, limit=LIMIT, facts=facts)
    yield Line("mirror CPU", result.cpu, aim=AIM, limit=LIMIT, facts=f"probes of bare httpx, s by threads: {tried}")
    yield _clone(stage, bare)


def _same_work(trees: dict[str, bytes], pages: int) -> None:
    """A ratio means nothing unless both made the same files; syncd's table of contents is on top."""
    ours = {line for line in trees["ours"].splitlines() if not line.endswith(b"\tSUMMARY.md")}
    if ours != set(trees["bare"].splitlines()) or len(ours) != pages:
        raise RuntimeError(f"syncd made {len(ours)} files, and not those that the baseline made")


def _clone(stage: Stage, bare: Cost) -> Line:
    path = stage.fresh("clone")
    token = str(stage.data / "token")
    cost = cost_of(lambda: syncd("clone", stage.url, stage.large, str(path), "--token-file", token))
    shutil.rmtree(path)
    return Line("mirror: syncd clone", cost.wall / bare.wall, facts=f"whole command with its checkout: {cost}")
