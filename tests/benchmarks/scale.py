"""Many spaces in ten repositories: the first mirror, killed and taken up again, and the cycle that finds nothing new.

`--pages` is the number of all pages, a tenth of them in one space; 100,000 is what syncd is made for.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from syncd.sync.run.values import RunOptions
from tests.benchmarks.measure import Line, cpu_seconds, memory_mb
from tests.benchmarks.platform import fill, index, serving
from tests.benchmarks.stage import MIRROR, Stage, run_flows, workspace_on

SPACES, REPOSITORIES = 100, 10
REQUESTS_LIMIT, CPU_AIM = 1.0, 0.2
PEAK_LIMIT_MB, IDLE_LIMIT_MB = 256.0, 150.0
REFETCHED_LIMIT = 0.01
BATCH = 170
"""Bodies that a kill may cost besides: one batch, and what was under way."""


@dataclass(frozen=True)
class Task:
    """What one process does: it mirrors repositories, each with its spaces, one after another."""

    url: str
    token: str
    repositories: list[tuple[str, list[str]]]
    whole: bool = False


@dataclass(frozen=True)
class Done:
    """What it took. Units: seconds of CPU time with Git's, MB of memory at most and at the end."""

    requests: int
    wall: float
    cpu: float
    peak: float
    rss: float


def measure(stage: Stage) -> Iterator[Line]:
    """Given a stage, measure and return the lines."""
    data = stage.fresh("scale")
    fill(data, stage.fresh("pages"), spaces=SPACES, pages=stage.pages)
    index(data)
    with serving(data, stage) as loaded:
        pages = sum(map(len, loaded.pages.values()))
        spaces = list(loaded.pages)
        shares = [spaces[at::REPOSITORIES] for at in range(REPOSITORIES)]
        repositories = [(str(stage.repository()), share) for share in shares]
        task = Task(loaded.url, loaded.token, repositories)
        yield from _first(task, pages)
        yield from _again(Task(task.url, task.token, repositories, whole=True))
        yield _killed(Task(task.url, task.token, [(str(stage.repository()), shares[0])]), loaded.pages)


def _first(task: Task, pages: int) -> Iterator[Line]:
    done = _finished(_started(task))
    facts = f"{pages} pages, {SPACES} spaces, {REPOSITORIES} repositories: {done.wall:.0f} s wall {done.cpu:.0f} s CPU"
    yield Line("scale: first mirror", pages / done.wall, "pages/s", facts=f"{facts}; {done.requests} requests")
    yield Line("scale: first mirror RSS", done.peak, "MB", limit=PEAK_LIMIT_MB)


def _again(task: Task) -> Iterator[Line]:
    """A cycle of every flow, when nothing has changed."""
    for path, _ in task.repositories:
        subprocess.run(["git", "-C", path, "update-ref", "refs/heads/main", "refs/remotes/platform/main"], check=True)
    _finished(_started(task))
    done = _finished(_started(task))
    facts = f"{done.requests} requests in all, {done.wall:.2f} s wall"
    yield Line("scale: no change", done.requests / SPACES, "a space", limit=REQUESTS_LIMIT, facts=facts)
    yield Line("scale: no change CPU", done.cpu / REPOSITORIES, "s", aim=CPU_AIM, facts="a repository of ten spaces")
    yield Line("scale: idle RSS", done.rss, "MB", limit=IDLE_LIMIT_MB, facts=f"at most {done.peak:.0f} MB in a cycle")


def _killed(task: Task, pages: dict[str, list[str]]) -> Line:
    """The share of what was fetched before a kill that is fetched again after it."""
    total = sum(len(pages[space]) for space in task.repositories[0][1])
    process = _started(task)
    assert process.stdout is not None
    fetched = 0
    for line in process.stdout:
        fetched = int(line)
        if fetched >= total // 2:
            break
    process.kill()
    process.communicate()
    resumed = _finished(_started(task)).requests - 3 * len(task.repositories[0][1])
    again = max(0, fetched + resumed - total)
    limit = REFETCHED_LIMIT + BATCH / fetched
    facts = f"{again} of {fetched} that were fetched when it was killed"
    return Line("scale: fetched again", again / fetched, "of them", aim=REFETCHED_LIMIT, limit=limit, facts=facts)


def _started(task: Task) -> "subprocess.Popen[str]":
    words = [sys.executable, "-m", "tests.benchmarks.scale", json.dumps(asdict(task))]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


def _finished(process: "subprocess.Popen[str]") -> Done:
    output, _ = process.communicate()
    if process.returncode:
        raise RuntimeError("the run failed")
    return Done(**json.loads(output.splitlines()[-1]))


def main() -> None:
    """Do what the argument says; print how many requests were sent, again and again, and at last what it took."""
    given = json.loads(sys.argv[1])
    task, start, sent = Task(**given), time.monotonic(), 0
    before = cpu_seconds()
    for path, spaces in task.repositories:
        sent += _mirrored(task, Path(path), spaces)
    cpu = cpu_seconds() - before
    done = Done(sent, time.monotonic() - start, cpu, memory_mb("VmHWM"), memory_mb("VmRSS"))
    print(json.dumps(asdict(done)), flush=True)


def _mirrored(task: Task, path: Path, spaces: Sequence[str]) -> int:
    so_far = 0

    def tell(label: str, done: int, total: int) -> None:
        nonlocal so_far
        so_far += 1
        if so_far % 25 == 0:
            print(so_far, flush=True)

    with workspace_on(task.url, task.token, path, spaces, progress=tell) as workspace:
        return run_flows(workspace, RunOptions() if task.whole else MIRROR)


if __name__ == "__main__":
    main()
