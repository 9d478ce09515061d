"""`syncd platform …`: names, options and help."""

import os
from pathlib import Path
from typing import Annotated

import typer

from syncd.cli.terminal.options import (
    DEFAULT_DATA,
    GROUP_SETTINGS,
    DatabaseOption,
    DataOption,
    EndpointOption,
    FilesOption,
    JsonOption,
    exit_with,
)

platform = typer.Typer(help="Serve a platform of your own: the whole API, offline.", **GROUP_SETTINGS)
token = typer.Typer(help="Say who may come in.", **GROUP_SETTINGS)
platform.add_typer(token, name="token")


@platform.command("serve")
def platform_serve(
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="PORT", min=0, max=65535, help="Port; 0 picks a free one.")] = 8470,
    public_url: Annotated[
        str, typer.Option("--public-url", metavar="URL", help="Where clients reach it, behind a proxy or by a name.")
    ] = "",
    data: DataOption = DEFAULT_DATA,
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
    allow_origin: Annotated[
        list[str] | None,
        typer.Option("--allow-origin", metavar="ORIGIN", help="Let scripts of web pages there call it; * is any."),
    ] = None,
) -> None:
    """Serve the platform's API until SIGTERM.

    The first line of stdout is its URL; the first start writes the owner's token to DIR/token. The keys of the services
    that answer and translate come from the variables SYNCD_ASK_KEY and SYNCD_TRANSLATE_KEY.
    """
    from syncd.cli.platform.command import PlatformOptions, ServiceOptions, run_server

    services = ServiceOptions(ask_url, ask_model, translate_url, translate_model)
    settings = services.build_settings(
        os.environ,
        requests_per_minute=requests_per_minute,
        private_addresses=allow_private_addresses,
        public_url=public_url,
        origins=allow_origin or (),
    )
    run_server(PlatformOptions(data, database, files, endpoint), settings, host=host, port=port)


@platform.command("import")
def platform_import(
    directory: Annotated[Path, typer.Argument(metavar="DIRECTORY", help="A directory in Git Sync layout.")],
    data: DataOption = DEFAULT_DATA,
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
    from syncd.cli.platform.command import PlatformOptions, import_space

    import_space(directory, PlatformOptions(data, database, files, endpoint), title=title, space=space, as_json=json)


@platform.command("export")
def platform_export(
    space: Annotated[str, typer.Argument(metavar="SPACE", help="The space's id.")],
    directory: Annotated[
        Path, typer.Argument(metavar="DIRECTORY", help="A directory that does not exist or is empty.")
    ],
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = "",
    files: FilesOption = "",
    endpoint: EndpointOption = "",
) -> None:
    """Write a space as a directory: the inverse of import."""
    from syncd.cli.platform.command import PlatformOptions, export_space

    export_space(space, directory, PlatformOptions(data, database, files, endpoint))


@platform.command("backup")
def platform_backup(
    directory: Annotated[
        Path, typer.Argument(metavar="DIRECTORY", help="A new directory, or one with an earlier backup.")
    ],
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = "",
    files: FilesOption = "",
    json: JsonOption = False,
) -> None:
    """Copy the database, blobs, token and secret, while servers run.

    With PostgreSQL the tables are left out; copy them first, with pg_dump.
    """
    from syncd.cli.platform.backup import print_backup
    from syncd.cli.platform.command import PlatformOptions

    exit_with(print_backup(PlatformOptions(data, database, files), directory, as_json=json))


@platform.command("login")
def platform_login(
    user: Annotated[
        str, typer.Option("--user", metavar="EMAIL|ID", help="Whom the link signs in, else the owner.")
    ] = "",
    url: Annotated[
        str, typer.Option("--url", metavar="URL", help="Where the browser reaches the platform, if not where it began.")
    ] = "",
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = "",
    json: JsonOption = False,
) -> None:
    """Print a link that signs a person in to the platform's pages.

    It works once, within ten minutes.
    """
    from syncd.cli.platform.command import PlatformOptions
    from syncd.cli.platform.sign_in import print_link

    print_link(PlatformOptions(data, database), user=user, url=url, as_json=json)


@platform.command("logout")
def platform_logout(
    user: Annotated[str, typer.Option("--user", metavar="EMAIL|ID", help="Whose sessions end, else the owner's.")] = "",
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = "",
) -> None:
    """End a person's sessions in browsers.

    Links that were not used end, too.
    """
    from syncd.cli.platform.command import PlatformOptions
    from syncd.cli.platform.sign_in import end_person_sessions

    end_person_sessions(PlatformOptions(data, database), user=user)


@token.command("create")
def token_create(
    user: Annotated[
        str,
        typer.Option("--user", metavar="EMAIL|ID", help="For whom, else the owner; a new e-mail makes a new member."),
    ] = "",
    label: Annotated[str, typer.Option("--label", metavar="TEXT", help="What it is for.")] = "",
    role: Annotated[str, typer.Option("--role", metavar="ROLE", help="Role of a new member, else read.")] = "",
    organization: Annotated[
        str, typer.Option("--organization", metavar="ORG", help="Where a new member belongs, else the first.")
    ] = "",
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = "",
    json: JsonOption = False,
) -> None:
    """Make a token for the owner or another person."""
    from syncd.cli.platform.command import PlatformOptions, create_token

    create_token(
        PlatformOptions(data, database), user=user, role=role, organization=organization, label=label, as_json=json
    )


@token.command("list")
def token_list(data: DataOption = DEFAULT_DATA, database: DatabaseOption = "", json: JsonOption = False) -> None:
    """List the tokens: id, day, person, label."""
    from syncd.cli.platform.command import PlatformOptions, list_tokens

    list_tokens(PlatformOptions(data, database), as_json=json)


@token.command("revoke")
def token_revoke(
    name: Annotated[str, typer.Argument(metavar="LABEL|ID", help="The label, or the beginning of the id.")],
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = "",
) -> None:
    """End a token."""
    from syncd.cli.platform.command import PlatformOptions, revoke_token

    revoke_token(PlatformOptions(data, database), name)
