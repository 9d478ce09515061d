"""The command tree: names, options and help; each command's work is a module of its own."""

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from syncd import __version__
from syncd.cli.terminal import complain
from syncd.errors import Stopped, SyncdError

EXIT_CODES = """Exit codes: 0 done, 1 failed, 2 changes pending (--exit-code), 3 drift, 4 partly done, 5 held,
6 conflict or stale plan, 7 another syncd runs, 64 usage, 65 invalid file, 69 unavailable, 75 try later,
77 not authorised, 78 configuration. Any other non-zero code is a failure too; new ones may appear."""

_plain: dict[str, Any] = {"rich_markup_mode": None, "add_completion": False, "no_args_is_help": True}
app = typer.Typer(
    help="Mirror a docs platform into Git, open change requests from commits, keep redirects as code.",
    epilog=EXIT_CODES,
    pretty_exceptions_enable=False,
    **_plain,
)
site = typer.Typer(help="Keep a site's redirects as its site file says.", **_plain)
platform = typer.Typer(help="The embedded platform: the API, offline.", **_plain)
app.add_typer(site, name="site")
app.add_typer(platform, name="platform")

ConfigOption = Annotated[Path | None, typer.Option("--config", help="Configuration file.", metavar="FILE")]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")]
ForceOption = Annotated[
    list[str] | None, typer.Option("--force", help="Approve what a guard held: SCOPE=NUMBER.", metavar="SCOPE=N")
]
TokenOption = Annotated[Path | None, typer.Option("--token-file", help="File with the token, mode 0600.")]
DataOption = Annotated[Path, typer.Option("--data", help="Where the platform keeps everything.", metavar="DIR")]
DATA = Path("syncd-platform")


def run(argv: Sequence[str]) -> int:
    """Given the words after `syncd`, carry them out and return the exit code; only here do errors become text."""
    signal.signal(signal.SIGTERM, _terminated)
    try:
        code = app(list(argv), prog_name="syncd", standalone_mode=False)
    except SyncdError as error:
        complain(error.what, error.hint, error.exit_code, as_json="--json" in argv)
        return error.exit_code
    except typer.TyperException as error:
        usage = error.exit_code == 2
        complain(error.format_message(), "syncd --help" if usage else "", 64 if usage else 1, as_json="--json" in argv)
        return 64 if usage else error.exit_code
    except (KeyboardInterrupt, typer.Abort):
        complain("interrupted; the next run takes up where this one stopped", "", 130, as_json=False)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    return code if isinstance(code, int) else 0


def _terminated(number: int, frame: object) -> None:
    raise Stopped("stopped by SIGTERM; the next run takes up where this one stopped")


def _leave(code: int) -> None:
    if code:
        raise typer.Exit(code)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"syncd {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show it.")] = False,
) -> None:
    """Options of every command."""


@app.command()
def demo(
    keep: Annotated[Path | None, typer.Option("--keep", help="Keep everything in this new directory.")] = None,
) -> None:
    """Show the whole story in under a minute: publish, clone, edit, propose, merge, redirect. Needs no account."""
    from syncd.cli.demo import run_demo

    run_demo(keep, run)


@app.command()
def clone(
    url: Annotated[str, typer.Argument(help="The platform, for example https://api.gitbook.com.")],
    targets: Annotated[list[str], typer.Argument(metavar="SPACE[=DIR]... REPO", help="Spaces, then the directory.")],
    token_file: TokenOption = None,
    insecure: Annotated[bool, typer.Option("--insecure", help="Allow plain http to another host.")] = False,
) -> None:
    """Make a Git repository, its configuration and the first mirror of one or more spaces."""
    from syncd.cli.clone import run_clone

    run_clone(url, targets, token_file, insecure=insecure)


@app.command("run")
def run_command(config: ConfigOption = None) -> None:
    """Keep all configured repositories in step, in the foreground, until SIGTERM."""
    from syncd.cli.run import run_service

    _leave(run_service(config))


@app.command()
def sync(config: ConfigOption = None, json: JsonOption = False, force: ForceOption = None) -> None:
    """Run every flow once: mirror, review, integrate, propose, redirects."""
    from syncd.cli.flows import run_flows

    _leave(run_flows("sync", config, as_json=json, force=force or []))


@app.command()
def pull(config: ConfigOption = None, json: JsonOption = False, force: ForceOption = None) -> None:
    """Bring what the platform has into Git, and into the tracked branches."""
    from syncd.cli.flows import run_flows

    _leave(run_flows("pull", config, as_json=json, force=force or []))


@app.command()
def push(
    branch: Annotated[str | None, typer.Argument(help="Branch to propose; else the one checked out.")] = None,
    subject: Annotated[str, typer.Option("--subject", help="Subject of a new change request.")] = "",
    config: ConfigOption = None,
    json: JsonOption = False,
    force: ForceOption = None,
) -> None:
    """Make the branch's change request say what the branch says."""
    from syncd.cli.flows import run_flows

    _leave(run_flows("push", config, as_json=json, force=force or [], branch=branch, subject=subject))


@app.command()
def status(config: ConfigOption = None, json: JsonOption = False) -> None:
    """Show where both sides stand, problems first; reads only what is on this machine."""
    from syncd.cli.status import show_status

    _leave(show_status(config, as_json=json))


@site.command("plan")
def site_plan(
    config: ConfigOption = None,
    json: JsonOption = False,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Return 2 when changes are pending.")] = False,
) -> None:
    """Show what would change on the site; nothing is written."""
    from syncd.cli.site import show_plan

    _leave(show_plan(config, as_json=json, exit_code=exit_code))


@site.command("apply")
def site_apply(
    config: ConfigOption = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    expect: Annotated[str, typer.Option("--expect", help="Apply only the plan with this digest.")] = "",
    json: JsonOption = False,
    force: ForceOption = None,
) -> None:
    """Carry out the plan between the site file and the site."""
    from syncd.cli.site import apply_plan

    _leave(apply_plan(config, yes=yes, expect=expect, as_json=json, force=force or []))


@platform.command("serve")
def platform_serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port; 0 picks one. The URL is the first line of stdout.")] = 8470,
    data: DataOption = DATA,
) -> None:
    """Serve the platform's API until SIGTERM; the first start writes an owner token to DIR/token."""
    from syncd.cli.platform import run_server

    run_server(host, port, data)


@platform.command("import")
def platform_import(
    directory: Annotated[Path, typer.Argument(help="A directory in Git Sync layout.")],
    data: DataOption = DATA,
    title: Annotated[str, typer.Option(help="Title of a new space.")] = "",
    space: Annotated[str, typer.Option(help="Import as a new revision of this space.")] = "",
    json: JsonOption = False,
) -> None:
    """Read a directory as a new space, or as a new revision of one; a server may run on the same data."""
    from syncd.cli.platform import import_space

    import_space(directory, data, title=title, space=space, as_json=json)


@platform.command("export")
def platform_export(
    space: Annotated[str, typer.Argument(help="The space's id.")],
    directory: Annotated[Path, typer.Argument(help="A directory that does not exist or is empty.")],
    data: DataOption = DATA,
) -> None:
    """Write a space as a directory in Git Sync layout: the inverse of import."""
    from syncd.cli.platform import export_space

    export_space(space, directory, data)
