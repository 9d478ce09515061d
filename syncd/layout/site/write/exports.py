"""Redirects for elsewhere: as CSV that a site file can name, as `_redirects`, or as JSON."""

import csv
import io
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from syncd.layout.site.addresses.addresses import SiteMap
from syncd.layout.site.read.declared import Item
from syncd.layout.site.read.redirect_files import parse_destination
from syncd.model.ref import Ref
from syncd.model.text import join_lines

PERMANENT = 301


def format_destination(to: Any) -> str:
    """Given a destination as a site file has it, return it in one word, as redirect files have it; "" for `raw`."""
    match to:
        case {"section": str(key)}:
            word = f"section:{key}"
        case {"variant": str(key)}:
            word = f"variant:{key}"
        case {"page": str(path), "in": str(key)}:
            word = f"page:{path}@{key}"
        case {"url": str(url)}:
            word = url
        case _:
            return ""
    return word if parse_destination(word) == to and "\n" not in word else ""


def render_csv(entries: Iterable[Mapping[str, Any]]) -> str:
    """Given redirects as a site file has them, each with a destination that one word can spell, return them in CSV.

    Shape: there is a column of notes when one of them has a note.
    """
    rows = [(entry["from"], format_destination(entry["to"]), join_lines(entry.get("note", ""))) for entry in entries]
    width = 3 if any(note for _, _, note in rows) else 2
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows(row[:width] for row in (("source", "destination", "note"), *rows))
    return text.getvalue()


def render_redirects(site: SiteMap) -> tuple[str, tuple[str, ...]]:
    """Given a site, return its redirects as a `_redirects` file, and the sources of those that cannot be in one.

    Shape: what leads to a part of the site leads to its path there; a destination that has only ids cannot. A note is
    a comment above its redirect, which every reader of such files passes over.
    """
    lines, left = [], []
    for item in site.file.of("redirect"):
        target = find_target_address(site, item.fields.get("to"))
        if target:
            lines += [f"# {note}\n"] if (note := join_lines(item.note)) else []
            lines.append(f"{item.fields['source']} {target} {PERMANENT}\n")
        else:
            left.append(str(item.fields["source"]))
    return "".join(lines), tuple(left)


def find_target_address(site: SiteMap, to: Any) -> str:
    """Given a site and a declared destination, return where that is: an address, a path below the site, or ""."""
    spot = None
    match to:
        case {"url": str(url)} | {"raw": {"kind": "external", "url": str(url)}}:
            return url
        case {"section": str(key)}:
            spot = site.first_of(Ref.of("section", key))
        case {"variant": str(key)}:
            spot = site.first_of(Ref.of("variant", key))
        case {"page": str(path), "in": str(key)} if Ref.of("variant", key) in site.file.items:
            return quote(site.address(Ref.of("variant", key), path.strip("/")))
    return quote(site.address(spot.variant)) if spot is not None else ""


def list_redirects(items: Iterable[Item]) -> list[Mapping[str, Any]]:
    """Given redirects, return them as JSON, in the words of a site file."""
    return [
        {"from": item.fields["source"], "to": item.fields.get("to"), **({"note": item.note} if item.note else {})}
        for item in items
    ]
