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
platform = typer.Typer(help="Serve a platform of your own: the whole API, offline.", **_plain)
app.add_typer(site, name="site")
token = typer.Typer(help="Say who may come in.", **_plain)
app.add_typer(platform, name="platform")
platform.add_typer(token, name="token")

ConfigOption = Annotated[Path | None, typer.Option("--config", help="Configuration file.", metavar="FILE")]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")]
ForceOption = Annotated[
    list[str] | None, typer.Option("--force", help="Approve what a guard held: SCOPE=NUMBER.", metavar="SCOPE=N")
]
TokenOption = Annotated[
    Path | None, typer.Option("--token-file", help="File with the token, mode 0600.", metavar="FILE")
]
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

    _leave(run_service(config))


@app.command()
def sync(config: ConfigOption = None, json: JsonOption = False, force: ForceOption = None) -> None:
    """Run every flow once.

    Mirror, review, integrate, propose, redirects.
    """
    from syncd.cli.flows import run_flows

    _leave(run_flows("sync", config, as_json=json, force=force or []))


@app.command()
def pull(config: ConfigOption = None, json: JsonOption = False, force: ForceOption = None) -> None:
    """Bring what the platform has to Git and to the tracked branches."""
    from syncd.cli.flows import run_flows

    _leave(run_flows("pull", config, as_json=json, force=force or []))


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

    _leave(run_flows("push", config, as_json=json, force=force or [], branch=branch, subject=subject))


@app.command()
def status(config: ConfigOption = None, json: JsonOption = False) -> None:
    """Show where both sides stand, problems first.

    It reads only what is on this machine.
    """
    from syncd.cli.status import show_status

    _leave(show_status(config, as_json=json))


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
    expect: Annotated[
        str, typer.Option("--expect", metavar="DIGEST", help="Apply only the plan with this digest.")
    ] = "",
    json: JsonOption = False,
    force: ForceOption = None,
) -> None:
    """Carry out the plan between the site file and the site."""
    from syncd.cli.site import apply_plan

    _leave(apply_plan(config, yes=yes, expect=expect, as_json=json, force=force or []))


@platform.command("serve")
def platform_serve(
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="PORT", help="Port; 0 picks a free one.")] = 8470,
    data: DataOption = DATA,
    database: DatabaseOption = "",
    files: FilesOption = "",
    endpoint: EndpointOption = "",
    requests_per_minute: Annotated[
        int | None,
        typer.Option("--requests-per-minute", min=1, metavar="N", help="Refuse what a token asks beyond this."),
    ] = None,
    ask_url: Annotated[
        str, typer.Option("--ask-url", metavar="URL", help="Endpoint of chat completions, for Ask.")
    ] = "",
    ask_model: Annotated[str, typer.Option("--ask-model", metavar="NAME", help="Model that it shall use.")] = "",
    translate_url: Annotated[
        str, typer.Option("--translate-url", metavar="URL", help="Service that translates; see the manual.")
    ] = "",
    translate_model: Annotated[
        str, typer.Option("--translate-model", metavar="NAME", help="Model that it shall use.")
    ] = "",
    allow_private_addresses: Annotated[
        bool, typer.Option("--allow-private-addresses", help="Let the platform call hosts of your own network.")
    ] = False,
) -> None:
    """Serve the platform's API until SIGTERM.

    The first line of stdout is its URL; the first start writes the owner's token to DIR/token. The keys of the services
    that answer and translate come from the variables SYNCD_ASK_KEY and SYNCD_TRANSLATE_KEY.
    """
    from syncd.cli.platform import Kept, Services, run_server

    services = Services(ask_url, ask_model, translate_url, translate_model)
    settings = services.settings(
        os.environ, requests_per_minute=requests_per_minute, private_addresses=allow_private_addresses
    )
    run_server(Kept(data, database, files, endpoint), settings, host=host, port=port)


@platform.command("import")
def platform_import(
    directory: Annotated[Path, typer.Argument(help="A directory in Git Sync layout.")],
    data: DataOption = DATA,
    title: Annotated[str, typer.Option(metavar="TITLE", help="Title of a new space.")] = "",
    space: Annotated[str, typer.Option(metavar="SPACE", help="Import as a new revision of this space.")] = "",
    database: DatabaseOption = "",
    files: FilesOption = "",
    endpoint: EndpointOption = "",
    json: JsonOption = False,
) -> None:
    """Read a directory as a space, or as a revision of one.

    A server may run on the same data meanwhile.
    """
    from syncd.cli.platform import Kept, import_space

    import_space(directory, Kept(data, database, files, endpoint), title=title, space=space, as_json=json)


@platform.command("export")
def platform_export(
    space: Annotated[str, typer.Argument(help="The space's id.")],
    directory: Annotated[Path, typer.Argument(help="A directory that does not exist or is empty.")],
    data: DataOption = DATA,
    database: DatabaseOption = "",
    files: FilesOption = "",
    endpoint: EndpointOption = "",
) -> None:
    """Write a space as a directory: the inverse of import."""
    from syncd.cli.platform import Kept, export_space

    export_space(space, directory, Kept(data, database, files, endpoint))


@token.command("create")
def token_create(
    user: Annotated[
        str,
        typer.Option("--user", metavar="EMAIL|ID", help="For whom, else the owner; a new e-mail makes a new member."),
    ] = "",
    label: Annotated[str, typer.Option("--label", metavar="TEXT", help="What it is for.")] = "",
    role: Annotated[str, typer.Option("--role", metavar="ROLE", help="Role of a new member, else read.")] = "",
    organization: Annotated[
        str, typer.Option("--organization", metavar="ID", help="Where a new member belongs, else the first.")
    ] = "",
    data: DataOption = DATA,
    database: DatabaseOption = "",
    json: JsonOption = False,
) -> None:
    """Make a token for the owner or another person."""
    from syncd.cli.platform import Kept, create_token

    create_token(Kept(data, database), user=user, role=role, organization=organization, label=label, as_json=json)


@token.command("list")
def token_list(data: DataOption = DATA, database: DatabaseOption = "", json: JsonOption = False) -> None:
    """List the tokens: id, day, person, label."""
    from syncd.cli.platform import Kept, list_tokens

    list_tokens(Kept(data, database), as_json=json)


@token.command("revoke")
def token_revoke(
    name: Annotated[str, typer.Argument(metavar="LABEL|ID", help="The label, or the beginning of the id.")],
    data: DataOption = DATA,
    database: DatabaseOption = "",
) -> None:
    """End a token."""
    from syncd.cli.platform import Kept, revoke_token

    revoke_token(Kept(data, database), name)
