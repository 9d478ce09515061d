"""`redirects export`: all redirects of a site file as CSV, `_redirects` or JSON, on standard output."""

import sys
from pathlib import Path

import typer

from syncd.cli.sites.offline import place_of
from syncd.cli.sites.sitemap import on_disk
from syncd.cli.terminal.output import emit
from syncd.cli.terminal.text import paint, safe
from syncd.layout.site.write.exports import csv_text, listed, redirects_text, spelled

FORMATS = ("csv", "_redirects", "json")
_SHOWN = 5


def run_export(config_file: Path | None, file: Path | None, style: str) -> int:
    """Print the redirects; those that the format cannot hold are named on standard error, and the exit code is 4."""
    if style not in FORMATS:
        raise typer.BadParameter(f"--format {style}: there are {', '.join(FORMATS)}")
    site = on_disk(place_of(config_file, file))
    items = site.file.of("redirect")
    left: tuple[str, ...] = ()
    if style == "json":
        emit({"redirects": listed(items)})
    elif style == "csv":
        entries = listed(items)
        sys.stdout.write(csv_text([one for one in entries if spelled(one["to"])]))
        left = tuple(str(one["from"]) for one in entries if not spelled(one["to"]))
    else:
        text, left = redirects_text(site)
        sys.stdout.write(text)
    if not left:
        return 0
    some = ", ".join(left[:_SHOWN]) + (f" and {len(left) - _SHOWN} more" if len(left) > _SHOWN else "")
    print(f"{paint('note:', 33, sys.stderr)} left out, as they have ids only: {safe(some)}", file=sys.stderr)
    return 4
