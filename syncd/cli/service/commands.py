"""The commands that speak to the running service."""

from pathlib import Path
from typing import Annotated

import typer

from syncd.cli.terminal.options import GROUP_SETTINGS, ConfigOption, JsonOption, exit_with

control = typer.Typer(**GROUP_SETTINGS)
service = typer.Typer(help="Install the service under systemd.", **GROUP_SETTINGS)

UserOption = Annotated[bool, typer.Option("--user", help="A service of your own, without root.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Also files that it did not write, or that were changed.")]
RootOption = Annotated[
    Path, typer.Option("--root", metavar="DIR", help="Below this directory, such as an image; run nothing.")
]

RepositoryArgument = Annotated[
    str, typer.Argument(metavar="REPOSITORY", help="Its name in the log, or its directory; else all of the service.")
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


@service.command("install")
def service_install(
    user: UserOption = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what it would write and run.")] = False,
    force: ForceOption = False,
    no_start: Annotated[bool, typer.Option("--no-start", help="Write the files only.")] = False,
    root: RootOption = Path("/"),
) -> None:
    """Write the unit, the user and the directories, and start it.

    A file that it did not write is never overwritten without --force.
    """
    from syncd.cli.service.install import InstallOptions, install_service

    exit_with(install_service(InstallOptions(user, dry_run, force, not no_start, root)))


@service.command("uninstall")
def service_uninstall(
    user: UserOption = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what it would remove and run.")] = False,
    force: ForceOption = False,
    root: RootOption = Path("/"),
) -> None:
    """Stop the service and remove the files that were installed.

    Repositories, configuration and records stay.
    """
    from syncd.cli.service.install import InstallOptions, uninstall_service

    exit_with(uninstall_service(InstallOptions(user, dry_run, force, root=root)))
