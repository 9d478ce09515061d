"""The commands people type. Everything heavy is imported by the command that needs it."""

import sys


def main() -> None:
    """Run the command line and leave with its exit code."""
    from syncd.cli.app import run

    sys.exit(run(sys.argv[1:]))
