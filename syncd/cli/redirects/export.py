"""`redirects export`: all redirects of a site file as CSV, `_redirects` or JSON, on standard output."""

import sys
from pathlib import Path

import typer

from syncd.cli.sites.offline import locate_site_file
from syncd.cli.sites.sitemap import read_site_on_disk
from syncd.cli.terminal.output import print_document
from syncd.cli.terminal.text import escape, style_text
from syncd.layout.site.write.exports import format_destination, list_redirects, render_csv, render_redirects
from syncd.model.wording import format_first
from syncd.sync.outcome import PARTLY_DONE

FORMATS = ("csv", "_redirects", "json")
_SHOWN = 5


def run_export(config_file: Path | None, file: Path | None, style: str) -> int:
    """Print the redirects; return 4 and name on stderr those that the format cannot hold.

    Raises: BadParameter for an unknown format.
    """
    if style not in FORMATS:
        raise typer.BadParameter(f"--format {style}: there are {', '.join(FORMATS)}")
    site = read_site_on_disk(locate_site_file(config_file, file))
    items = site.file.of("redirect")
    omitted: tuple[str, ...] = ()
    if style == "json":
        print_document({"redirects": list_redirects(items)})
    elif style == "csv":
        entries = list_redirects(items)
        sys.stdout.write(render_csv([one for one in entries if format_destination(one["to"])]))
        omitted = tuple(str(one["from"]) for one in entries if not format_destination(one["to"]))
    else:
        text, omitted = render_redirects(site)
        sys.stdout.write(text)
    if not omitted:
        return 0
    sources = escape(format_first(omitted, _SHOWN))
    print(f"{style_text('note:', 33, sys.stderr)} left out, as they have ids only: {sources}", file=sys.stderr)
    return PARTLY_DONE
