"""`syncd redirects …`: names, options and help."""

from pathlib import Path
from typing import Annotated

import typer

from syncd.cli.terminal.options import GROUP_SETTINGS, ConfigOption, JsonOption, exit_with

redirects = typer.Typer(help="Edit, test and replay the redirects of a site file.", **GROUP_SETTINGS)

FileOption = Annotated[
    Path | None, typer.Option("--file", metavar="FILE", help="The site file; else the configured one, or site.yaml.")
]
AtOption = Annotated[
    list[str] | None,
    typer.Option("--at", metavar="ADDRESS", help="An address of the site, to follow redirects through it."),
]


@redirects.command("add")
def redirects_add(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="The old path, such as /old/page.")],
    destination: Annotated[
        str,
        typer.Argument(metavar="DEST", help="section:KEY, variant:KEY, page:PATH@KEY, https://… or a path."),
    ],
    note: Annotated[str, typer.Option("--note", metavar="TEXT", help="Words for people.")] = "",
    file: FileOption = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Add a redirect to the site file.

    Comments and everything else in it stay as they are.
    """
    from syncd.cli.redirects.edit import add_redirect

    exit_with(add_redirect(config, file, (source, destination), note, as_json=json))


@redirects.command("rm")
def redirects_rm(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="The old path.")],
    file: FileOption = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Take a redirect out of the file that has it.

    That is the site file, or a redirect file that it names.
    """
    from syncd.cli.redirects.edit import remove_redirect

    exit_with(remove_redirect(config, file, source, as_json=json))


@redirects.command("test")
def redirects_test(
    urls: Annotated[list[str], typer.Argument(metavar="URL", help="Paths or addresses.")],
    online: Annotated[bool, typer.Option("--online", help="Ask the platform, too.")] = False,
    at: AtOption = None,
    file: FileOption = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Say hop by hop what becomes of an address.

    The exit code is 1 when nothing matches, or when it never ends.
    """
    from syncd.cli.redirects.test import RedirectTestOptions, run_test

    exit_with(run_test(RedirectTestOptions(urls, config, file, at or (), online), as_json=json))


@redirects.command("simulate")
def redirects_simulate(
    before: Annotated[str, typer.Option("--before", metavar="REF", help="The commit to compare with.")],
    urls: Annotated[
        str, typer.Option("--urls", metavar="FILE", help="Addresses, one a line, or a sitemap; - reads stdin.")
    ] = "",
    everything: Annotated[bool, typer.Option("--all", help="List every address, also those that are well.")] = False,
    at: AtOption = None,
    file: FileOption = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Replay old addresses through the site then and now.

    As it was at a commit, and as it is on disk. The exit code is 3 when an address gets lost, lands elsewhere or runs
    in circles now.
    """
    from syncd.cli.redirects.replay import SimulateOptions, run_simulate

    exit_with(run_simulate(SimulateOptions(before, urls, config, file, at or (), everything), as_json=json))


@redirects.command("export")
def redirects_export(
    format: Annotated[str, typer.Option("--format", metavar="FORMAT", help="csv, _redirects or json.")] = "csv",
    file: FileOption = None,
    config: ConfigOption = None,
) -> None:
    """Print all redirects as one file.

    Those of the site file, and of the redirect files that it names.
    """
    from syncd.cli.redirects.export import run_export

    exit_with(run_export(config, file, format))


def site_explain(
    url: Annotated[str, typer.Argument(metavar="PATH", help="A path below the site, or an address.")],
    at: AtOption = None,
    file: FileOption = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Say why a page, a redirect or nothing is at an address.

    It names the lines of the site file and of SUMMARY.md that decide it, and asks nobody. The exit code is 1 when
    nothing is there, or when redirects never end.
    """
    from syncd.cli.redirects.explain import ExplainOptions, run_explain

    exit_with(run_explain(ExplainOptions(url, config, file, at or (), json)))
