"""The commands that look at an installation and change nothing."""

from pathlib import Path
from typing import Annotated

import typer

from syncd.cli.terminal.options import GROUP_SETTINGS, ConfigOption, JsonOption, exit_with

diagnosis = typer.Typer(**GROUP_SETTINGS)


@diagnosis.command()
def doctor(
    config: ConfigOption = None,
    bundle: Annotated[
        Path | None, typer.Option("--bundle", metavar="FILE", help="Write it to a new file, for a bug report.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Look at all that syncd stands on, and say what mends it.

    Git, the configuration, the token, the platform, each space and repository, the disk, the service. It changes
    nothing.
    """
    from syncd.cli.doctor.command import run_doctor

    exit_with(run_doctor(config, bundle, as_json=json))


@diagnosis.command()
def upgrade(
    check: Annotated[bool, typer.Option("--check", help="Look, and change nothing.")] = False,
    data: Annotated[
        Path | None, typer.Option("--data", metavar="DIR", help="Also the embedded platform in this directory.")
    ] = None,
    root: Annotated[
        Path, typer.Option("--root", metavar="DIR", help="Files of services below this directory, such as an image.")
    ] = Path("/"),
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Say what this version of syncd would change here.

    State databases, older forms in the configuration, units, tables of a platform. It asks nobody, and changes nothing.
    """
    from syncd.cli.doctor.upgrade import UpgradeOptions, check_upgrade

    if not check:
        raise typer.BadParameter("syncd does not install itself: install the new version, then syncd upgrade --check")
    exit_with(check_upgrade(UpgradeOptions(config, data, root, json)))
