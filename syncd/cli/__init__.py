"""The commands people type. Everything heavy is imported by the command that needs it."""

import gc
import io
import os
import sys

COLLECT_AT = 200_000
"""Objects made between two searches for garbage: loading a command makes up to 180,000, and all of them stay."""


def main() -> None:
    """Run the command line and leave with its exit code."""
    gc.set_threshold(COLLECT_AT)
    _open_closed_streams()
    # Looking for plugins, which could be anybody's, takes longer than reading the configuration.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # A page's name may hold letters that the encoding of the locale lacks: they are spelled out, as on stderr.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    from syncd.cli.app import run

    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except OSError:
        # Whoever read, `head` for instance, has enough, or a disk is full, as was said; Python would complain when it
        # flushes once more at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = code or 141
    # Python would search all that is loaded once more while it ends.
    gc.freeze()
    sys.exit(code)


def _open_closed_streams() -> None:
    """Open the null device where whoever started the program closed a standard stream, which Python has as None then.

    Else the next file that is opened would have its number, and what a library prints would go there.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))
