"""Options that several commands share, and how every group of commands is made."""

from pathlib import Path
from typing import Annotated, Any

import typer

GROUP_SETTINGS: dict[str, Any] = {"rich_markup_mode": None, "add_completion": False, "no_args_is_help": True}
"""Arguments of every typer group: plain help, and help when no command is given."""

ConfigOption = Annotated[Path | None, typer.Option("--config", help="Configuration file.", metavar="FILE")]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")]
ForceOption = Annotated[
    list[str] | None, typer.Option("--force", help="Approve what a guard held: SCOPE=NUMBER.", metavar="SCOPE=N")
]
TokenOption = Annotated[
    Path | None, typer.Option("--token-file", help="File with the token, mode 0600.", metavar="FILE")
]
FormatOption = Annotated[str, typer.Option("--format", metavar="FORMAT", help="text, json, github, gitlab or sarif.")]
StrictOption = Annotated[bool, typer.Option("--strict", help="Warnings fail, too.")]
DataOption = Annotated[Path, typer.Option("--data", help="Directory of the platform.", metavar="DIR")]
DatabaseOption = Annotated[
    str,
    typer.Option(
        "--database", envvar="SYNCD_PLATFORM_DATABASE", help="PostgreSQL instead of SQLite in DIR.", metavar="URL"
    ),
]
FilesOption = Annotated[
    str,
    typer.Option(
        "--files",
        envvar="SYNCD_PLATFORM_FILES",
        help="s3://BUCKET/PREFIX, or a directory, for files.",
        metavar="URL",
    ),
]
EndpointOption = Annotated[
    str,
    typer.Option(
        "--s3-endpoint", envvar="SYNCD_PLATFORM_S3_ENDPOINT", help="S3 service other than AWS.", metavar="URL"
    ),
]
DEFAULT_DATA = Path("syncd-platform")


def exit_with(code: int) -> None:
    """End the command with an exit code other than 0; return on 0."""
    if code:
        raise typer.Exit(code)
