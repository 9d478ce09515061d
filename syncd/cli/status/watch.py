"""`status --watch`: the status again each time that something of it has changed, until Ctrl-C."""

import os
import sys
import time
from collections.abc import Callable
from typing import TypeVar

POLL_SECONDS = 2.0
"""So long may a change wait to be shown; reading the status costs a few processes of Git."""
_CLEAR = "\x1b[H\x1b[2J\x1b[3J"

Found = TypeVar("Found")


def watch_status(
    find: Callable[[], Found], show: Callable[[Found], None], *, sleep: Callable[[float], None] = time.sleep
) -> int:
    """Show a status now and after each change; return 0 at Ctrl-C.

    Shape: a terminal is cleared before each; elsewhere each is a block of its own below the one before.
    """
    is_screen = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    former: Found | None = None
    try:
        while True:
            found = find()
            if found != former:
                if is_screen:
                    sys.stdout.write(_CLEAR)
                show(found)
                sys.stdout.flush()
                former = found
            sleep(POLL_SECONDS)
    except KeyboardInterrupt:
        return 0
