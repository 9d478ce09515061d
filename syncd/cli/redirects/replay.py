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

from syncd.cli.sites.offline import place_of
from syncd.cli.sites.sitemap import Sides, both, hosts_of
from syncd.cli.terminal.output import emit
from syncd.cli.terminal.text import paint, print_text, safe
from syncd.layout.site.addresses.follow import Fate
from syncd.layout.site.addresses.simulate import BAD, Replay, simulate
from syncd.model.wording import format_count

_COLOURS = {"ok": 32, "fixed": 32, "moved": 34, "regression": 31, "wrong-landing": 31, "new-loop": 31}
_ORDER = ("new-loop", "regression", "wrong-landing", "moved", "fixed", "ok")
_LOCATION = re.compile(r"<loc>([^<]*)</loc>")
"""An address in a sitemap."""
SHOWN = 100
"""Addresses of one verdict that are printed each; `--json` has all."""


@dataclass(frozen=True)
class Asked:
    """What is replayed: the ref to start from, a list of addresses ("" for those that the site had), and the file."""

    before: str
    urls: str = ""
    config: Path | None = None
    file: Path | None = None
    at: Sequence[str] = ()
    all: bool = False


def run_simulate(asked: Asked, *, as_json: bool) -> int:
    """Given a ref and addresses, print what each led to and leads to; return 3 when visitors of one are worse off."""
    sides = both(place_of(asked.config, asked.file), asked.before, hosts_of(asked.at))
    urls = _read(asked.urls) if asked.urls else list(sides.before.addresses())
    found = simulate(urls, sides.before, sides.after, sides.renamed)
    if as_json:
        counts = Counter(one.verdict for one in found)
        emit({"before": asked.before, "summary": dict(counts), "replays": [_document(one) for one in found]})
    else:
        print_text("\n".join([*_lines(found, everything=asked.all), _summary(found), *_unseen(sides)]))
    return 3 if any(one.bad for one in found) else 0


def _read(name: str) -> list[str]:
    """Addresses, one a line, or those of a sitemap; empty lines and lines that start with # are left out."""
    try:
        text = sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no UTF-8"
        raise typer.BadParameter(f"--urls {name} cannot be read: {why}") from None
    lines = [unescape(found) for found in _LOCATION.findall(text)] if text.lstrip()[:1] == "<" else text.splitlines()
    words = [line.strip() for line in lines]
    return [word if word.startswith("/") or "//" in word else f"/{word}" for word in words if word and word[0] != "#"]


def _lines(found: Sequence[Replay], *, everything: bool) -> list[str]:
    lines: list[str] = []
    for verdict in _ORDER:
        of = [one for one in found if one.verdict == verdict]
        shown = of if everything else of[:SHOWN] if verdict != "ok" else []
        for one in shown:
            word = paint(f"{verdict:<13}", _COLOURS[verdict], sys.stdout)
            lines.append(f"{word} {safe(one.url)}  {safe(_told(one.before))} -> {safe(_told(one.after))}")
        if len(shown) < len(of) and verdict != "ok":
            lines.append(f"{verdict:<13} and {len(of) - len(shown)} more (--all lists them)")
    return lines


def _told(fate: Fate) -> str:
    if fate.end == "page" and fate.spot is not None:
        where = f"{fate.spot.variant.key} {fate.spot.path or 'start page'}"
        return f"{where}, redirected" if fate.hops else where
    return {"nothing": "nothing", "loop": "a loop"}.get(fate.end, fate.at)


def _summary(found: Sequence[Replay]) -> str:
    counts: Counter[str] = Counter(one.verdict for one in found)
    told = ", ".join(f"{counts[verdict]} {verdict}" for verdict in _ORDER if counts[verdict]) or "none"
    bad = sum(counts[verdict] for verdict in BAD)
    end = "no visitor is worse off" if not bad else f"visitors are worse off at {bad} of them (exit 3)"
    return f"{format_count(len(found), 'address')}: {told}; {end}."


def _unseen(sides: Sides) -> list[str]:
    """Spaces of which nobody can see here which pages they have."""
    spaces = {item.fields.get("space") for side in (sides.before, sides.after) for item in side.file.of("variant")}
    unseen = spaces - (sides.before.pages.keys() & sides.after.pages.keys())
    if not unseen:
        return []
    of = f"{len(unseen)} of {format_count(len(spaces), 'space')}"
    return [f"The pages of {of} are not known here, as nothing mirrors them: every page of theirs counts as there."]


def _document(one: Replay) -> dict[str, Any]:
    def side(fate: Fate) -> dict[str, Any]:
        return {"end": fate.end, "at": fate.at, "hops": [hop.source for hop in fate.hops]}

    return {"url": one.url, "verdict": one.verdict, "before": side(one.before), "after": side(one.after)}
