"""Run benchmarks: `python -m tests.benchmarks [NAME…] [--pages N] [--compare REV]`; exits 1 when a limit is broken.

Each prints a ratio against a baseline that it measured in the same run, so that it means the same on every machine.
An aim is what syncd wants to reach; a limit must hold.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from tests.benchmarks import (
    again,
    idle,
    memory,
    mirror,
    platform,
    published,
    push,
    push_one,
    scale,
    service,
    sites,
    startup,
    static_site,
    ten,
)
from tests.benchmarks.compare import compare
from tests.benchmarks.stage import Stage, leave_home

BENCHMARKS = {
    "mirror": mirror.measure,
    "ten": ten.measure,
    "idle": idle.measure,
    "service": service.measure,
    "push": push.measure,
    "push-one": push_one.measure,
    "again": again.measure,
    "startup": startup.measure,
    "memory": memory.measure,
    "scale": scale.measure,
    "platform": platform.measure,
    "published": published.measure,
    "sites": sites.measure,
    "static-site": static_site.measure,
}
PAGES = 10_000


def main() -> int:
    """Run what the command line names, or everything, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--pages", type=int, default=PAGES, help=f"pages of the large space (default {PAGES})")
    parser.add_argument("--compare", metavar="REV", help="measure that commit, too, and show both side by side")
    asked = parser.parse_args()
    names = asked.names or list(BENCHMARKS)
    if unknown := set(names) - BENCHMARKS.keys():
        parser.error(f"no benchmark is called {', '.join(sorted(unknown))}")
    broken = False
    with tempfile.TemporaryDirectory(prefix="syncd-benchmarks-") as scratch:
        root = Path(scratch)
        if asked.compare:
            for each in compare(asked.compare, [*names, "--pages", str(asked.pages)], root):
                print(each, flush=True)
            return 0
        leave_home(root)
        with Stage(root, asked.pages) as stage:
            for name in names:
                for line in BENCHMARKS[name](stage):
                    print(line, flush=True)
                    broken = broken or line.breaks
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
