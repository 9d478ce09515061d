"""`syncd config …`: names, options and help."""

from typing import Annotated

import typer

from syncd.cli.terminal.options import GROUP_SETTINGS, ConfigOption, JsonOption, exit_with

configuration = typer.Typer(help="Check the configuration, and show what counts.", **GROUP_SETTINGS)


@configuration.command("check")
def config_check(config: ConfigOption = None, json: JsonOption = False) -> None:
    """Find all mistakes in the configuration at once.

    Also in the files and variables that it depends on. It is offline, and changes nothing.
    """
    from syncd.cli.configuration.check import run_config_check

    exit_with(run_config_check(config, as_json=json))


@configuration.command("show")
def config_show(
    config: ConfigOption = None,
    origin: Annotated[bool, typer.Option("--origin", help="Say where each value comes from.")] = False,
    json: JsonOption = False,
) -> None:
    """Show every value of the configuration that counts here.

    Defaults, too; never a secret.
    """
    from syncd.cli.configuration.show import show_config

    show_config(config, with_origin=origin, as_json=json)
