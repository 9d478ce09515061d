"""Long text on a terminal: through the pager that a person has chosen, as git does it."""

import os
import shlex
import subprocess
import sys

from syncd.cli.terminal.text import find_width, print_text, wrap_line

PAGER = "less"
_OPTIONS = {"LESS": "FRX", "LV": "-c"}
"""What git sets where the person has not: end at once where all fits, show colours, leave the text on the screen."""


def page_text(text: str) -> None:
    """Print lines of text through `$PAGER` where stdout is a terminal; elsewhere, and without a pager, as they are."""
    pager = os.environ.get("PAGER", PAGER)
    width = find_width(sys.stdout)
    if width is None or os.environ.get("TERM") == "dumb" or pager.strip() in ("", "cat"):
        print_text(text)
        return
    lines = [part for line in text.split("\n") for part in wrap_line(line, width)]
    environ = {**_OPTIONS, **os.environ}
    sys.stdout.flush()
    try:
        subprocess.run(shlex.split(pager), input="\n".join(lines) + "\n", text=True, env=environ, check=False)
    except (OSError, ValueError):  # there is no such program, and the text is what counts
        print_text(text)
