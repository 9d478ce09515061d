"""`syncd auth …`: names, options and help."""

from typing import Annotated

import typer

from syncd.cli.terminal.options import GROUP_SETTINGS, ConfigOption, JsonOption, exit_with

auth = typer.Typer(help="Save a token for a platform, show whose it is, delete it.", **GROUP_SETTINGS)

UrlArgument = Annotated[str, typer.Argument(metavar="URL", help="The platform; left out, the one that is configured.")]


@auth.command("login", context_settings={"allow_extra_args": True})
def auth_login(
    context: typer.Context,
    url: UrlArgument = "",
    with_token: Annotated[bool, typer.Option("--with-token", help="Read the token from stdin.")] = False,
    storage: Annotated[
        str, typer.Option("--storage", metavar="WHERE", help="keyring or file; else the keyring where there is one.")
    ] = "",
    insecure: Annotated[bool, typer.Option("--insecure", help="Allow plain http to another host.")] = False,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Check a token with the platform, and save it.

    It asks for the token on a terminal, without showing it. A token is never an argument.
    """
    from syncd.cli.auth.login import LoginOptions, run_login

    run_login(LoginOptions(url, context.args, with_token, storage, insecure, config), as_json=json)


@auth.command("status")
def auth_status(url: UrlArgument = "", config: ConfigOption = None, json: JsonOption = False) -> None:
    """Show who you are on each platform, and where the token is.

    It asks the platforms, and shows no token.
    """
    from syncd.cli.auth.status import show_auth_status

    exit_with(show_auth_status(url, config, as_json=json))


@auth.command("logout")
def auth_logout(url: UrlArgument = "", config: ConfigOption = None, json: JsonOption = False) -> None:
    """Delete the saved token of a platform from this machine.

    On the platform it stays valid until it is revoked there.
    """
    from syncd.cli.auth.login import run_logout

    run_logout(url, config, as_json=json)
