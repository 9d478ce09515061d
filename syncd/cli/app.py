"""The command tree: names, options and help; each command's work is a module of its own."""

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from typer.completion import completion_init  # type: ignore[attr-defined] # exported, but not by `__all__`

from syncd import __version__
from syncd.cli.auth.commands import auth
from syncd.cli.change_requests.commands import cr
from syncd.cli.configuration.commands import configuration
from syncd.cli.doctor.commands import diagnosis
from syncd.cli.fleet.commands import fleet
from syncd.cli.history.commands import history
from syncd.cli.notify.commands import notify
from syncd.cli.platform.commands import platform
from syncd.cli.publish.commands import site_build
from syncd.cli.redirects.commands import redirects, site_explain
from syncd.cli.reference.commands import explain_command, reference
from syncd.cli.reference.completion import COMPLETION_VARIABLE
from syncd.cli.service.commands import control, service
from syncd.cli.setup.commands import setup
from syncd.cli.sites.commands import site
from syncd.cli.sync.commands import pull, push, resolve_command, review, sync
from syncd.cli.sync.leftovers import repair_here
from syncd.cli.terminal.help import describe_mistake, find_place_of_option
from syncd.cli.terminal.options import (
    GROUP_SETTINGS,
    ConfigOption,
    FormatOption,
    JsonOption,
    StrictOption,
    TokenOption,
    exit_with,
)
from syncd.cli.terminal.text import print_error
from syncd.cli.terminal.tree import build_tree
from syncd.cli.terminal.verbosity import has_json_errors, set_json_errors, set_verbosity
from syncd.cli.web.commands import service_page
from syncd.errors import NO_SPACE, Stopped, SyncdError, make_disk_full

BROKEN_PIPE = 141  # where the reader of the output went away: 128 and the number of SIGPIPE, as shells have it
EXIT_CODES = """Exit codes: 0 done, 1 failed, 2 changes pending (--exit-code), 3 drift, 4 partly done, 5 held,
6 conflict or stale plan, 7 another syncd runs, 64 usage, 65 invalid file, 69 unavailable, 75 try later,
77 not authorised, 78 configuration. Any other non-zero code is a failure too; new ones may appear."""

app = typer.Typer(
    help="Mirror a docs platform into Git, open change requests from commits, keep redirects as code.",
    epilog=EXIT_CODES,
    pretty_exceptions_enable=False,
    invoke_without_command=True,
    **(GROUP_SETTINGS | {"no_args_is_help": False}),
)
app.add_typer(setup)
app.add_typer(reference)
app.add_typer(history)
app.add_typer(diagnosis)
app.add_typer(auth, name="auth")
app.add_typer(configuration, name="config")
app.add_typer(cr, name="cr")
app.add_typer(service_page)
app.add_typer(control)
app.add_typer(service, name="service")
app.add_typer(fleet, name="fleet")
app.add_typer(notify, name="notify")
app.add_typer(review, name="review")
site.command("build")(site_build)
site.command("explain")(site_explain)
app.add_typer(site, name="site")
app.add_typer(redirects, name="redirects")
app.add_typer(platform, name="platform")


def run(argv: Sequence[str]) -> int:
    """Run the command that `argv` (the words after `syncd`) names, and return the exit code.

    This is the only place where errors become text.
    """
    if COMPLETION_VARIABLE in os.environ:
        completion_init()  # typer learns of its shells only when it is told
    set_json_errors(is_json="--json" in argv)
    try:
        code = _run_command(argv)
    except SyncdError as error:
        print_error(error.what, error.hint, error.exit_code, as_json=has_json_errors())
        return error.exit_code
    except typer.TyperException as error:
        return _report_usage_error(error, as_json=has_json_errors())
    except (KeyboardInterrupt, typer.Abort):
        print_error("interrupted; the next run takes up where this one stopped", "", 130, as_json=False)
        return 130
    except BrokenPipeError:
        return BROKEN_PIPE
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):  # which typer makes an exit with code 1 of
            return BROKEN_PIPE
        raise
    except OSError as error:
        if error.errno not in NO_SPACE:
            raise
        full = make_disk_full(error, error.filename or "what was to be written")
        print_error(full.what, full.hint, full.exit_code, as_json=has_json_errors())
        return full.exit_code
    return code if isinstance(code, int) else 0


def _run_command(argv: Sequence[str]) -> object:
    """Run a command, which SIGTERM stops by an exception; while its end is told, nothing would catch that."""
    former = signal.getsignal(signal.SIGTERM) or signal.SIG_DFL
    signal.signal(signal.SIGTERM, _raise_stopped)
    try:
        code = build_tree(app)(list(argv), prog_name="syncd", standalone_mode=False)
        sys.stdout.flush()
        return code
    finally:
        signal.signal(signal.SIGTERM, former)


def _report_usage_error(error: typer.TyperException, *, as_json: bool) -> int:
    """Print what is wrong with a command line, or the help when no command was given; return the exit code."""
    ctx, usage = getattr(error, "ctx", None), error.exit_code == 2
    message = error.format_message()
    if ctx is not None and message == ctx.get_help() and not as_json:
        print(message, file=sys.stderr)
        return 64
    if isinstance(error, typer.BadParameter):
        message = describe_mistake(error) or message
    command = ctx.command_path if ctx is not None else "syncd"
    code, hint = 64 if usage else error.exit_code, find_place_of_option(error) or f"{command} --help"
    print_error(message.removeprefix("Invalid value: "), hint if usage else "", code, as_json=as_json)
    return code


def _raise_stopped(number: int, frame: object) -> None:
    raise Stopped("stopped by SIGTERM; the next run takes up where this one stopped")


def _print_version(is_requested: bool) -> None:
    if is_requested:
        print(f"syncd {__version__}")
        raise typer.Exit


def _change_directory(directories: list[Path] | None) -> None:
    """Go to each directory in turn, as `git -C` does. Raises: BadParameter when one cannot be entered."""
    for directory in directories or ():
        try:
            os.chdir(directory)
        except OSError as error:
            raise typer.BadParameter(f"{directory} cannot be entered: {error.strerror}") from error


@app.callback()
def root(
    context: typer.Context,
    directory: Annotated[
        list[Path] | None,
        typer.Option("-C", metavar="DIR", callback=_change_directory, is_eager=True, help="Run as if started in DIR."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print what is wrong, and no progress.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="List all changes; say what a run cost.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show it.")
    ] = False,
) -> None:
    """Options of every command, and what is done without one."""
    if quiet and verbose:
        raise typer.BadParameter("--quiet and --verbose exclude each other")
    set_verbosity("quiet" if quiet else "verbose" if verbose else "normal")
    repair_here()
    if context.invoked_subcommand is None:
        from syncd.cli.start import show_start

        exit_with(show_start())


@app.command()
def demo(
    keep: Annotated[
        Path | None, typer.Option("--keep", metavar="DIR", help="Keep everything in this new directory.")
    ] = None,
    should_open: Annotated[
        bool, typer.Option("--open", help="Open the published page in a browser, and wait for Enter.")
    ] = False,
) -> None:
    """Show the whole story in under a minute.

    It publishes, clones, edits, proposes, merges and redirects, and needs no account.
    """
    from syncd.cli.demo import run_demo

    run_demo(keep, run, should_open=should_open)


@app.command("trust")
def trust_command(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="A syncd.toml or its repository; else the one here.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Ask nobody.")] = False,
    list_all: Annotated[bool, typer.Option("--list", help="Show what is trusted.")] = False,
    revoke: Annotated[bool, typer.Option("--revoke", help="Trust the file no more.")] = False,
    json: JsonOption = False,
) -> None:
    """Let a repository's configuration count as yours.

    It shows what the file decides, asks, and records just this content.
    """
    from syncd.cli import trust

    if list_all + revoke + yes > 1:
        raise typer.BadParameter("--list, --revoke and --yes exclude each other")
    options = trust.TrustOptions(file, yes, json)
    if list_all:
        trust.list_trusted(as_json=json)
    elif revoke:
        trust.revoke(options)
    else:
        trust.run_trust(options)


app.command()(sync)
app.command()(pull)
app.command()(push)
app.command("resolve")(resolve_command)


@app.command()
def status(
    files: Annotated[list[str] | None, typer.Argument(metavar="FILE", help="Pages or assets; else the whole.")] = None,
    config: ConfigOption = None,
    json: JsonOption = False,
    porcelain: Annotated[
        str | None, typer.Option("--porcelain", metavar="v1", help="Lines for scripts, in this format.")
    ] = None,
    nul: Annotated[bool, typer.Option("-z", help="With --porcelain: records end with NUL.")] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Show it again when it changes, until Ctrl-C.")] = False,
) -> None:
    """Show where both sides, or files, stand, problems first.

    It reads only what is on this machine.
    """
    from syncd.cli.status.command import parse_options, show_status

    options = parse_options(files or (), porcelain, json=json, is_nul=nul, should_watch=watch)
    exit_with(show_status(config, options))


@app.command()
def preview(
    path: Annotated[Path | None, typer.Argument(metavar="REPO|DIR", help="What to show; else what is here.")] = None,
    port: Annotated[int, typer.Option("--port", metavar="N", min=0, max=65535, help="Port; else any free one.")] = 0,
    change_request: Annotated[
        str, typer.Option("--change-request", metavar="N", help="Show a change request, as Git has it.")
    ] = "",
    branch: Annotated[str, typer.Option("--branch", metavar="B", help="Show the tip of a branch.")] = "",
    should_open: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    json: JsonOption = False,
) -> None:
    """Show the docs in a browser while you write them.

    It shows them as readers will see them, with what is not committed yet, on this machine, and needs neither platform
    nor token.
    """
    from syncd.cli.preview.command import PreviewOptions, run_preview

    options = PreviewOptions(path or Path.cwd(), port, change_request, branch, should_open, json)
    exit_with(run_preview(options))


@app.command()
def check(
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="PATHS", help="Directories or files; else every space.")
    ] = None,
    config: ConfigOption = None,
    format: FormatOption = "text",
    select: Annotated[list[str] | None, typer.Option("--select", metavar="CODE", help="Only these findings.")] = None,
    ignore: Annotated[
        list[str] | None, typer.Option("--ignore", metavar="CODE", help="All but these findings.")
    ] = None,
    strict: StrictOption = False,
    staged: Annotated[bool, typer.Option("--staged", help="Check what is staged for a commit.")] = False,
    commit: Annotated[str, typer.Option("--commit", metavar="REF", help="Check what a commit holds.")] = "",
    explain: Annotated[
        str, typer.Option("--explain", metavar="CODE", help="Say what a code means, or all of them, and stop.")
    ] = "",
) -> None:
    """Find mistakes in the docs, offline.

    Links that lead nowhere, pages that nothing lists, text that the platform would delete, and more.
    """
    if explain:
        explain_command(explain, json=format == "json")
        return
    from syncd.cli.check.command import run_check
    from syncd.cli.check.sources import CheckOptions

    options = CheckOptions(paths or (), config, staged, commit)
    exit_with(run_check(options, format, select or (), ignore or (), strict=strict))


@app.command("api")
def api_command(
    method: Annotated[str, typer.Argument(metavar="METHOD", help="GET, POST, PUT, PATCH or DELETE.")],
    path: Annotated[str, typer.Argument(metavar="PATH", help="Path of the operation, for example /orgs.")],
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
    from syncd.cli.api import ApiOptions, run_api

    options = ApiOptions(method, path, field or (), raw_field or (), input, paginate, jq)
    run_api(options, config, url, token_file)
