"""A Git host for a machine of its own; its one argument is the directory of bare repositories."""

import signal
import sys
from pathlib import Path

from tests.serving_git import serve_git

with serve_git(Path(sys.argv[1]), port=3000):
    signal.pause()
