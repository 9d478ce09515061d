"""`syncd site build`: names, options and help."""

from pathlib import Path
from typing import Annotated

import typer

from syncd.cli.terminal.options import JsonOption, StrictOption, exit_with


def site_build(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Where the site is written.")],
    source: Annotated[
        Path | None, typer.Option("--from", metavar="PATH", help="The repository or directory; else the current one.")
    ] = None,
    ref: Annotated[
        str, typer.Option("--ref", metavar="REF", help="A branch, tag or commit, such as platform/main.")
    ] = "",
    base_url: Annotated[
        str, typer.Option("--base-url", metavar="URL", help="The address of the site, for sitemap and canonical links.")
    ] = "",
    no_index: Annotated[bool, typer.Option("--no-index", help="Ask search engines to stay away.")] = False,
    public: Annotated[
        bool, typer.Option("--public", help="Build a site for visitors who sign in, or have a link, for everybody.")
    ] = False,
    atomic: Annotated[
        bool, typer.Option("--atomic", help="Make DIR a link to the newest build, exchanged at once.")
    ] = False,
    jobs: Annotated[
        int, typer.Option("--jobs", metavar="N", min=0, max=64, help="Processes that render; 0 is one for each core.")
    ] = 0,
    strict: StrictOption = False,
    json: JsonOption = False,
) -> None:
    """Build a static site from Git alone, for any file server.

    Only what differs from the last build is written. It needs neither platform nor token.
    """
    from syncd.cli.publish.build import BuildCommandOptions, run_build

    options = BuildCommandOptions(
        directory, source or Path.cwd(), ref, base_url, not no_index, public, atomic, jobs, strict, json
    )
    exit_with(run_build(options))
