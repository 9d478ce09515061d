"""`fleet init`, `add`, `remove`, `export` and `wake`: what a fleet keeps in step."""

import re
from collections.abc import Sequence
from pathlib import Path

import typer

from syncd.cli.fleet.connect import open_database
from syncd.cli.terminal.context import load_configuration
from syncd.cli.terminal.text import escape, print_text
from syncd.fleet.database import describe_database
from syncd.fleet.repositories import (
    add_repositories,
    list_repositories,
    read_repositories,
    remove_repositories,
    render_configuration,
)
from syncd.fleet.schedule import wake_repositories

_STATE_REF = re.compile(r"refs(?:/[A-Za-z0-9_](?:[.-]?[A-Za-z0-9_])*(?<!\.lock)){2,6}")


def init_fleet(url: str, state_ref: str) -> None:
    """Make the tables of a fleet; where they are, nothing changes. Raises: BadParameter, ConfigInvalid."""
    if not _STATE_REF.fullmatch(state_ref):
        raise typer.BadParameter("--state-ref: write the start of a ref's full name, such as refs/syncd/fleet")
    with open_database(url) as database:
        is_new = database.make_tables(state_ref)
        kept = database.read_settings().state_ref
        where = escape(describe_database(database.url))
    print_text(f"{where}: the fleet is made" if is_new else f"{where}: the fleet is there already")
    print_text(f"the state of a repository goes to its Git remote, as {kept}/NAME")


def add_to_fleet(url: str, config: Path | None, priority: int) -> None:
    """Add the repositories of a configuration, or change those that are there. Raises: ConfigInvalid."""
    repositories = read_repositories(load_configuration(config), priority=priority)
    with open_database(url) as database:
        database.read_settings()
        new = set(add_repositories(database, repositories))
    for one in repositories:
        print_text(f"{'added' if one.name in new else 'changed'} {one.name}")


def remove_from_fleet(url: str, names: Sequence[str]) -> None:
    """Remove repositories from the fleet; nothing at the Git remote or on the platform goes. Raises: ConfigInvalid."""
    with open_database(url) as database:
        state_ref = database.read_settings().state_ref
        remove_repositories(database, names)
    print_text(f"removed {', '.join(names)}")
    print_text(f"what syncd knows of them is at their Git remotes still, as {state_ref}/NAME")


def export_fleet(url: str, names: Sequence[str]) -> None:
    """Print a configuration with repositories of the fleet, or with all. Raises: ConfigInvalid."""
    with open_database(url) as database:
        database.read_settings()
        repositories = list_repositories(database, names or None)
    print(render_configuration(repositories), end="")


def wake_in_fleet(url: str, names: Sequence[str]) -> None:
    """Make repositories due at once. Raises: ConfigInvalid."""
    with open_database(url) as database:
        database.read_settings()
        wake_repositories(database, names)
