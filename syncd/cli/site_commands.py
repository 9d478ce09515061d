"""`syncd site …`: names, options and help."""

from typing import Annotated

import typer

from syncd.cli.options import PLAIN, ConfigOption, ForceOption, JsonOption, leave

site = typer.Typer(help="Keep a site's redirects as its site file says.", **PLAIN)


@site.command("plan")
def site_plan(
    config: ConfigOption = None,
    json: JsonOption = False,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Return 2 when changes are pending.")] = False,
) -> None:
    """Show what would change on the site; nothing is written."""
    from syncd.cli.site import show_plan

    leave(show_plan(config, as_json=json, exit_code=exit_code))


@site.command("apply")
def site_apply(
    config: ConfigOption = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    expect: Annotated[
        str, typer.Option("--expect", metavar="DIGEST", help="Apply only the plan with this digest.")
    ] = "",
    json: JsonOption = False,
    force: ForceOption = None,
) -> None:
    """Carry out the plan between the site file and the site."""
    from syncd.cli.site import apply_plan

    leave(apply_plan(config, yes=yes, expect=expect, as_json=json, force=force or []))
