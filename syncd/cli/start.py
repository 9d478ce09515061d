"""`syncd` without a command: how things stand here, or how to begin where nothing is set up."""

from pathlib import Path

from syncd.cli.status.command import StatusOptions, show_status
from syncd.cli.terminal.context import find_config_file
from syncd.cli.terminal.text import print_text
from syncd.errors import NotARepository
from syncd.repo.process.location import discover_repository

CLONE = "  syncd clone    make a repository from a space; it asks for what it needs"
INIT = "  syncd init     bind this repository to a space; it asks for what it needs"
DEMO = "  syncd demo     see the whole story here, without an account"
HELP = "  syncd --help   every command"


def show_start() -> int:
    """Print the status where a configuration applies, else how to begin; return the exit code.

    Raises: ConfigInvalid; NotTrusted.
    """
    try:
        file = find_config_file(None)
    except NotARepository:
        file = None
    if file is not None:
        return show_status(None, StatusOptions())
    repository = discover_repository(Path.cwd())
    if repository is None:
        print_text("\n".join(["No configuration applies here, and this is no Git repository.", DEMO, CLONE, HELP]))
    else:
        print_text("\n".join(["No configuration applies in this repository.", INIT, CLONE, DEMO, HELP]))
    return 0
