"""The most memory that the first mirror of a large space takes, in a process of its own."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.measure import Line, memory_mb
from tests.benchmarks.stage import MIRROR, Stage, run_flows, workspace_on

AIM_MB = 150


def measure(stage: Stage) -> Iterator[Line]:
    """Given a stage, measure and return the lines."""
    path = stage.repository()
    task = {"url": stage.url, "token": stage.token, "space": stage.large, "directory": str(path)}
    words = [sys.executable, "-m", "tests.benchmarks.memory"]
    done = subprocess.run(words, input=json.dumps(task), stdout=subprocess.PIPE, text=True, check=True)
    peak = json.loads(done.stdout)
    yield Line("memory", peak["after"], unit="MB", aim=AIM_MB, facts=f"of these {peak['before']:.0f} MB before the run")


def main() -> None:
    """Mirror what stdin says, and print the peaks of resident memory."""
    task = json.load(sys.stdin)
    before = memory_mb("VmHWM")
    with workspace_on(task["url"], task["token"], Path(task["directory"]), [task["space"]]) as workspace:
        run_flows(workspace, MIRROR)
    print(json.dumps({"before": before, "after": memory_mb("VmHWM")}))


if __name__ == "__main__":
    main()
