"""`syncd cr …`: names, options and help."""

from typing import Annotated

import typer

from syncd.cli.terminal.options import GROUP_SETTINGS, ConfigOption, JsonOption, exit_with


def _complete_number(incomplete: str) -> list[str]:
    from syncd.cli.change_requests.find import complete_number

    return complete_number(incomplete)


RequestArgument = Annotated[
    str,
    typer.Argument(metavar="N", help="Its number, or its address in the browser.", autocompletion=_complete_number),
]
SpaceOption = Annotated[
    str, typer.Option("--space", metavar="SPACE", help="Name, id or address of one of the bound spaces.")
]

cr = typer.Typer(help="List, read and decide the change requests of the bound spaces.", **GROUP_SETTINGS)


@cr.command("list")
def cr_list(
    status: Annotated[
        list[str] | None, typer.Option("--status", metavar="S", help="open, draft, merged or archived.")
    ] = None,
    with_all: Annotated[bool, typer.Option("--all", help="Merged and archived ones, too.")] = False,
    space: SpaceOption = "",
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """List the live change requests, the newest first.

    Those of the bound spaces, with status, author, reviews, and the branch of those that come from this repository.
    """
    from syncd.cli.change_requests.command import choose_statuses, show_requests

    exit_with(show_requests(config, choose_statuses(status or (), with_all=with_all), space, as_json=json))


@cr.command("show")
def cr_show(
    number: RequestArgument, space: SpaceOption = "", config: ConfigOption = None, json: JsonOption = False
) -> None:
    """Show a change request, what is in its way first.

    Its description, its changed pages with their files, reviews, conflicts and address.
    """
    from syncd.cli.change_requests.command import show_request
    from syncd.cli.change_requests.find import parse_request_name

    show_request(config, parse_request_name(number, space), as_json=json)


@cr.command("open")
def cr_open(
    number: RequestArgument,
    only_print: Annotated[bool, typer.Option("--print", help="Print the address, and open nothing.")] = False,
    space: SpaceOption = "",
    config: ConfigOption = None,
) -> None:
    """Print the address of a change request, and open it in the browser."""
    from syncd.cli.change_requests.command import open_in_browser
    from syncd.cli.change_requests.find import parse_request_name

    open_in_browser(config, parse_request_name(number, space), only_print=only_print)


@cr.command("merge")
def cr_merge(
    number: RequestArgument,
    update: Annotated[bool, typer.Option("--update", help="Bring main content into an outdated one first.")] = False,
    space: SpaceOption = "",
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Merge a change request on the platform.

    Not when it is outdated, in conflict or a draft, or when a merge rule forbids it.
    """
    from syncd.cli.change_requests.command import merge
    from syncd.cli.change_requests.find import parse_request_name

    merge(config, parse_request_name(number, space), update=update, as_json=json)


@cr.command("close")
def cr_close(
    number: RequestArgument, space: SpaceOption = "", config: ConfigOption = None, json: JsonOption = False
) -> None:
    """Archive a change request; its content stays on the platform."""
    from syncd.cli.change_requests.command import close
    from syncd.cli.change_requests.find import parse_request_name

    close(config, parse_request_name(number, space), as_json=json)


@cr.command("reopen")
def cr_reopen(
    number: RequestArgument, space: SpaceOption = "", config: ConfigOption = None, json: JsonOption = False
) -> None:
    """Open a change request that is archived, or a draft."""
    from syncd.cli.change_requests.command import reopen
    from syncd.cli.change_requests.find import parse_request_name

    reopen(config, parse_request_name(number, space), as_json=json)
