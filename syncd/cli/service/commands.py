"""The commands that speak to the running service."""

from typing import Annotated

import typer

from syncd.cli.terminal.options import GROUP_SETTINGS, ConfigOption, JsonOption, exit_with

control = typer.Typer(**GROUP_SETTINGS)

RepositoryArgument = Annotated[
    str, typer.Argument(metavar="[REPOSITORY]", help="Its name in the log, or its directory; else all of the service.")
]


@control.command()
def pause(
    repository: RepositoryArgument = "",
    duration: Annotated[
        str, typer.Option("--for", metavar="TIME", help="Go on by itself after 30m, 2h, 1d; else until resumed.")
    ] = "",
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Let the running service leave repositories alone.

    A run at work ends between two steps. The pause outlives a restart of the service.
    """
    from syncd.cli.service.control import ControlOptions, control_service

    exit_with(control_service("pause", ControlOptions(config, repository, duration, json)))


@control.command()
def resume(repository: RepositoryArgument = "", config: ConfigOption = None, json: JsonOption = False) -> None:
    """End a pause, and run at once."""
    from syncd.cli.service.control import ControlOptions, control_service

    exit_with(control_service("resume", ControlOptions(config, repository, as_json=json)))


@control.command()
def reload(config: ConfigOption = None, json: JsonOption = False) -> None:
    """Let the running service read its configuration again.

    Where that has a mistake, the mistake is printed and the former configuration stays.
    """
    from syncd.cli.service.control import ControlOptions, control_service

    exit_with(control_service("reload", ControlOptions(config, as_json=json)))


@control.command()
def stop(config: ConfigOption = None, json: JsonOption = False) -> None:
    """Stop the running service.

    Its runs end between two steps; the command waits for that.
    """
    from syncd.cli.service.control import ControlOptions, control_service

    exit_with(control_service("stop", ControlOptions(config, as_json=json)))
