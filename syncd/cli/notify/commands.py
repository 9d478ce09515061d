"""The commands about notifications."""

from typing import Annotated

import typer

from syncd.cli.fleet.commands import FleetDatabaseOption
from syncd.cli.terminal.options import GROUP_SETTINGS, ConfigOption, JsonOption, exit_with

notify = typer.Typer(help="Try the receivers of notifications.", **GROUP_SETTINGS)


@notify.callback()
def notify_group() -> None:
    """Try the receivers of notifications."""


@notify.command("test")
def notify_test(
    target: Annotated[
        str, typer.Argument(metavar="TARGET", help="Its name in the configuration, or desktop; else all of them.")
    ] = "",
    config: ConfigOption = None,
    database: FleetDatabaseOption = "",
    json: JsonOption = False,
) -> None:
    """Send each receiver a test notification.

    It is sent by this command, not by the service, with the same addresses and secrets.
    """
    from syncd.cli.notify.trial import try_targets

    exit_with(try_targets(config, database, target, as_json=json))
