"""The service with ten repositories when nothing changes: CPU with Git's, and memory, at the default interval."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.measure import Line
from tests.benchmarks.stage import Stage, syncd

REPOSITORIES = 10
INTERVAL_S = 60
"""The default of `interval`."""
SETTLES_S, WATCHED_S = 1.5 * INTERVAL_S, 3 * INTERVAL_S
"""Every repository has had its first run, and a second one; then whole intervals are watched."""
CORE_AIM, MEMORY_AIM = 0.3, 85
_ENDS_SECONDS = 60
_TICKS = os.sysconf("SC_CLK_TCK")


def measure(stage: Stage) -> Iterator[Line]:
    """Given a stage, measure and return the lines."""
    config = _configure(stage)
    with subprocess.Popen(
        [sys.executable, "-m", "syncd", "run", "--config", str(config)], stderr=subprocess.DEVNULL
    ) as process:
        try:
            time.sleep(SETTLES_S)
            before, start = _read_cpu_seconds(process.pid), time.monotonic()
            time.sleep(WATCHED_S)
            if process.poll() is not None:
                raise RuntimeError(f"the service ended with {process.returncode}")
            spent, wall = _read_cpu_seconds(process.pid) - before, time.monotonic() - start
            memory = _read_memory_mb(process.pid)
        finally:
            process.terminate()
            process.wait(_ENDS_SECONDS)
    facts = f"{REPOSITORIES} repositories, {spent:.2f} s of CPU in {wall:.0f} s, Git's included"
    yield Line("service idle", spent / wall * 100, "% of core", aim=CORE_AIM, facts=facts)
    yield Line("service idle memory", memory, "MB", aim=MEMORY_AIM)


def _configure(stage: Stage) -> Path:
    """Clone the small space so many times, and write one configuration for all the clones."""
    token = str(stage.data / "token")
    lines = [f'[platform]\nurl = "{stage.url}"\ntoken_file = "{token}"\n']
    for number in range(REPOSITORIES):
        path = stage.fresh("clone")
        syncd("clone", stage.url, stage.small, str(path), "--token-file", token)
        space = f'[[repository.space]]\nid = "{stage.small}"\nname = "docs"\n'
        lines.append(f'[[repository]]\npath = "{path}"\ninstance = "{number:06x}"\n\n{space}')
    config = stage.fresh("service") / "syncd.toml"
    config.parent.mkdir()
    config.write_text("\n".join(lines), encoding="utf-8")
    return config


def _read_cpu_seconds(pid: int) -> float:
    """CPU time of a process and of its ended children."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / _TICKS


def _read_memory_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    fields = dict(line.split(":", 1) for line in status.splitlines())
    return int(fields["VmRSS"].removesuffix("kB")) * 1024 / 1e6
