"""The command tree: names, options and help; each command's work is a module of its own."""

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from syncd import __version__
from syncd.cli.options import PLAIN, ConfigOption, ForceOption, JsonOption, TokenOption, leave
from syncd.cli.platform_commands import platform
from syncd.cli.site_commands import site
from syncd.cli.terminal import complain
from syncd.errors import Stopped, SyncdError

EXIT_CODES = """Exit codes: 0 done, 1 failed, 2 changes pending (--exit-code), 3 drift, 4 partly done, 5 held,
6 conflict or stale plan, 7 another syncd runs, 64 usage, 65 invalid file, 69 unavailable, 75 try later,
77 not authorised, 78 configuration. Any other non-zero code is a failure too; new ones may appear."""

app = typer.Typer(
    help="Mirror a docs platform into Git, open change requests from commits, keep redirects as code.",
    epilog=EXIT_CODES,
    pretty_exceptions_enable=False,
    **PLAIN,
)
app.add_typer(site, name="site")
app.add_typer(platform, name="platform")


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
    keep: Annotated[
        Path | None, typer.Option("--keep", metavar="DIR", help="Keep everything in this new directory.")
    ] = None,
) -> None:
    """Show the whole story in under a minute.

    It publishes, clones, edits, proposes, merges and redirects, and needs no account.
    """
    from syncd.cli.demo import run_demo

    run_demo(keep, run)


@app.command()
def clone(
    url: Annotated[str, typer.Argument(help="The platform, for example https://api.gitbook.com.")],
    targets: Annotated[list[str], typer.Argument(metavar="SPACE[=DIR]... REPO", help="Spaces, then the directory.")],
    token_file: TokenOption = None,
    insecure: Annotated[bool, typer.Option("--insecure", help="Allow plain http to another host.")] = False,
) -> None:
    """Make a Git repository that mirrors one or more spaces.

    It writes the configuration too.
    """
    from syncd.cli.clone import run_clone

    run_clone(url, targets, token_file, insecure=insecure)


@app.command("run")
def run_command(config: ConfigOption = None) -> None:
    """Keep all repositories in step until SIGTERM, in the foreground."""
    from syncd.cli.run import run_service

    leave(run_service(config))


@app.command()
def sync(config: ConfigOption = None, json: JsonOption = False, force: ForceOption = None) -> None:
    """Run every flow once.

    Mirror, review, integrate, propose, redirects.
    """
    from syncd.cli.flows import run_flows

    leave(run_flows("sync", config, as_json=json, force=force or []))


@app.command()
def pull(config: ConfigOption = None, json: JsonOption = False, force: ForceOption = None) -> None:
    """Bring what the platform has to Git and to the tracked branches."""
    from syncd.cli.flows import run_flows

    leave(run_flows("pull", config, as_json=json, force=force or []))


@app.command()
def push(
    branch: Annotated[str | None, typer.Argument(help="Branch to propose; else the one checked out.")] = None,
    subject: Annotated[str, typer.Option("--subject", metavar="TEXT", help="Subject of a new change request.")] = "",
    config: ConfigOption = None,
    json: JsonOption = False,
    force: ForceOption = None,
) -> None:
    """Make the branch's change request say what the branch says."""
    from syncd.cli.flows import run_flows

    leave(run_flows("push", config, as_json=json, force=force or [], branch=branch, subject=subject))


@app.command()
def status(config: ConfigOption = None, json: JsonOption = False) -> None:
    """Show where both sides stand, problems first.

    It reads only what is on this machine.
    """
    from syncd.cli.status import show_status

    leave(show_status(config, as_json=json))


@app.command("api")
def api_command(
    method: Annotated[str, typer.Argument(help="GET, POST, PUT, PATCH or DELETE.")],
    path: Annotated[str, typer.Argument(help="Path of the operation, for example /orgs.")],
    field: Annotated[
        list[str] | None,
        typer.Option(
            "--field", "-F", metavar="K=V", help="A member; true, null and numbers are typed, @FILE is its text."
        ),
    ] = None,
    raw_field: Annotated[
        list[str] | None, typer.Option("--raw-field", "-f", metavar="K=V", help="A member that is always text.")
    ] = None,
    input: Annotated[str, typer.Option("--input", metavar="FILE", help="JSON body; - reads stdin.")] = "",
    paginate: Annotated[bool, typer.Option("--paginate", help="Read every page of a list.")] = False,
    jq: Annotated[str, typer.Option("--jq", metavar="EXPR", help="Print what this jq program selects.")] = "",
    config: ConfigOption = None,
    url: Annotated[str, typer.Option("--url", metavar="URL", help="A platform other than the configured one.")] = "",
    token_file: TokenOption = None,
) -> None:
    """Call any operation of the API.

    Fields are query parameters of a GET, and members of the body otherwise.
    """
    from syncd.cli.api import Call, run_api

    call = Call(method, path, field or (), raw_field or (), input, paginate, jq)
    run_api(call, config, url, token_file)
