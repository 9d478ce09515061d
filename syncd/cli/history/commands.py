"""Commands about what was done: names, options and help."""

from typing import Annotated

import typer

from syncd.cli.terminal.options import GROUP_SETTINGS, ConfigOption, JsonOption, exit_with

history = typer.Typer(**GROUP_SETTINGS)


@history.command("undo")
def undo_command(
    target: Annotated[
        str, typer.Argument(metavar="N", help="A change request, or the digest of a plan; else what was done last.")
    ] = "",
    space: Annotated[str, typer.Option("--space", metavar="SPACE", help="Name, id or address of the space.")] = "",
    branch: Annotated[str, typer.Option("--branch", metavar="B", help="Branch; else the one checked out.")] = "",
    reset: Annotated[bool, typer.Option("--reset", help="Of a push: take the branch's commits back, too.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be undone, and change nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Ask nobody.")] = False,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Take back what was done last, or a change request.

    A push that is not merged is archived; a merge is reverted by a proposal; a plan of a site is rolled back.
    """
    from syncd.cli.history.undo import UndoOptions, run_undo

    exit_with(run_undo(UndoOptions(target, space, branch, config, reset, dry_run, yes, json)))


@history.command("log")
def log_command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Only what happened to this page or file.")] = "",
    space: Annotated[str, typer.Option("--space", metavar="SPACE", help="Only this space: name, id or address.")] = "",
    change_request: Annotated[
        str, typer.Option("--change-request", metavar="N", help="Only this change request: number or address.")
    ] = "",
    count: Annotated[int, typer.Option("--max-count", "-n", metavar="N", min=1, help="At most so many.")] = 50,
    since: Annotated[str, typer.Option("--since", metavar="TIME", help="A date, or an age such as 2d.")] = "",
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Show what happened, newest first.

    Revisions, merges, proposals, plans of sites, and what waits. It reads only what is on this machine.
    """
    from syncd.cli.history.log import LogOptions, show_log

    exit_with(show_log(config, LogOptions(file, space, change_request, count, since, json)))
