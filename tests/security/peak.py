"""Run syncd as people do, and write down the most memory that it took: `python -m tests.security.peak FILE WORDS…`."""

import sys
from pathlib import Path

from syncd.cli import app
from tests.benchmarks.measure import memory_mb

if __name__ == "__main__":
    code = app.run(sys.argv[2:])
    Path(sys.argv[1]).write_text(f"{memory_mb('VmHWM')}\n")
    sys.exit(code)
