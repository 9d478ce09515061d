"""The commands people type. Everything heavy is imported by the command that needs it."""

import os
import sys


def main() -> None:
    """Run the command line and leave with its exit code."""
    # Looking for plugins, which could be anybody's, takes longer than reading the configuration.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from syncd.cli.app import run

    sys.exit(run(sys.argv[1:]))
