"""`redirects simulate`: replay old addresses through the site as it was and as it is on disk."""

import re
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

import typer

from syncd.cli.sites.offline import locate_site_file
from syncd.cli.sites.sitemap import SiteVersions, parse_hosts, read_site_versions
from syncd.cli.terminal.output import print_document
from syncd.cli.terminal.text import escape, print_text, style_text
from syncd.layout.site.addresses.follow import Fate
from syncd.layout.site.addresses.simulate import BAD, Replay, simulate_addresses
from syncd.model.wording import format_count
from syncd.sync.outcome import DRIFTED

_COLOURS = {"ok": 32, "fixed": 32, "moved": 34, "regression": 31, "wrong-landing": 31, "new-loop": 31}
_ORDER = ("new-loop", "regression", "wrong-landing", "moved", "fixed", "ok")
_LOCATION = re.compile(r"<loc>([^<]*)</loc>")
"""An address in a sitemap."""
REPLAYS_SHOWN = 100
"""Up to so many addresses of one verdict are printed one by one; `--json` has all."""


@dataclass(frozen=True)
class SimulateOptions:
    """What a person typed behind `redirects simulate`; without `urls` the addresses that the site had are replayed."""

    before: str
    urls: str = ""
    config: Path | None = None
    file: Path | None = None
    at: Sequence[str] = ()
    all: bool = False


def run_simulate(options: SimulateOptions, *, as_json: bool) -> int:
    """Print where each address led at a commit and leads now; return 3 when visitors of one are worse off."""
    versions = read_site_versions(
        locate_site_file(options.config, options.file), options.before, parse_hosts(options.at)
    )
    urls = _read_addresses(options.urls) if options.urls else list(versions.before.addresses())
    replays = simulate_addresses(urls, versions.before, versions.after, versions.renamed)
    if as_json:
        counts = Counter(one.verdict for one in replays)
        print_document(
            {"before": options.before, "summary": dict(counts), "replays": [_build_document(one) for one in replays]}
        )
    else:
        print_text(
            "\n".join(
                [
                    *_format_replays(replays, everything=options.all),
                    _format_summary(replays),
                    *_format_unknown_spaces(versions),
                ]
            )
        )
    return DRIFTED if any(one.is_worse for one in replays) else 0


def _read_addresses(name: str) -> list[str]:
    """Addresses, one a line, or those of a sitemap; empty lines and lines that start with # are left out."""
    try:
        text = sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no UTF-8"
        raise typer.BadParameter(f"--urls {name} cannot be read: {why}") from None
    is_sitemap = text.lstrip().startswith("<")
    lines = map(unescape, _LOCATION.findall(text)) if is_sitemap else text.splitlines()
    words = [line.strip() for line in lines]
    return [word if word.startswith("/") or "//" in word else f"/{word}" for word in words if word and word[0] != "#"]


def _format_replays(replays: Sequence[Replay], *, everything: bool) -> list[str]:
    lines: list[str] = []
    for verdict in _ORDER:
        matching = [one for one in replays if one.verdict == verdict]
        shown = matching if everything else matching[:REPLAYS_SHOWN] if verdict != "ok" else []
        for one in shown:
            word = style_text(f"{verdict:<13}", _COLOURS[verdict], sys.stdout)
            lines.append(
                f"{word} {escape(one.url)}  {escape(_format_fate(one.before))} -> {escape(_format_fate(one.after))}"
            )
        if len(shown) < len(matching) and verdict != "ok":
            lines.append(f"{verdict:<13} and {len(matching) - len(shown)} more (--all lists them)")
    return lines


def _format_fate(fate: Fate) -> str:
    if fate.end == "page" and fate.spot is not None:
        where = f"{fate.spot.variant.key} {fate.spot.path or 'start page'}"
        return f"{where}, redirected" if fate.hops else where
    return {"nothing": "nothing", "loop": "a loop"}.get(fate.end, fate.at)


def _format_summary(replays: Sequence[Replay]) -> str:
    counts: Counter[str] = Counter(one.verdict for one in replays)
    counted = ", ".join(f"{counts[verdict]} {verdict}" for verdict in _ORDER if counts[verdict]) or "none"
    bad = sum(counts[verdict] for verdict in BAD)
    end = "no visitor is worse off" if not bad else f"visitors are worse off at {bad} of them (exit 3)"
    return f"{format_count(len(replays), 'address')}: {counted}; {end}."


def _format_unknown_spaces(versions: SiteVersions) -> list[str]:
    """A line about the spaces whose pages are not known here."""
    spaces = {
        item.fields.get("space") for side in (versions.before, versions.after) for item in side.file.of("variant")
    }
    unknown = spaces - (versions.before.pages.keys() & versions.after.pages.keys())
    if not unknown:
        return []
    count = f"{len(unknown)} of {format_count(len(spaces), 'space')}"
    return [f"The pages of {count} are not known here, as nothing mirrors them: every page of theirs counts."]


def _build_document(one: Replay) -> dict[str, Any]:
    def side(fate: Fate) -> dict[str, Any]:
        return {"end": fate.end, "at": fate.at, "hops": [hop.source for hop in fate.hops]}

    return {"url": one.url, "verdict": one.verdict, "before": side(one.before), "after": side(one.after)}
