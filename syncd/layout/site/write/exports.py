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
    """Return a destination of a site file in one word, as redirect files have it; "" for one that only `raw` can
    say.
    """
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
    """Return redirects in CSV; the destination of each must be one that a word can spell.

    Shape: there is a column of notes when one of them has a note.
    """
    rows = [(entry["from"], format_destination(entry["to"]), join_lines(entry.get("note", ""))) for entry in entries]
    width = 3 if any(note for _, _, note in rows) else 2
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows(row[:width] for row in (("source", "destination", "note"), *rows))
    return text.getvalue()


def render_redirects(site: SiteMap) -> tuple[str, tuple[str, ...]]:
    """Return the redirects of a site in the format of Netlify's redirect file, and the sources of those that cannot be
    in one.

    Shape: a destination on the site becomes its path there; one that has only ids cannot. A note is a comment above its
    redirect, which every reader of such files passes over.
    """
    rules, left = [], []
    for item in site.file.of("redirect"):
        source = str(item.fields["source"])
        if target := find_target_address(site, item.fields.get("to")):
            rules.append((source, target, item.note))
        else:
            left.append(source)
    return render_redirects_file(rules), tuple(left)


def render_redirects_file(rules: Iterable[tuple[str, str, str]]) -> str:
    """Return the redirect file that Netlify, Cloudflare Pages and GitLab Pages read.

    Shape: each rule is a source, its target and a note, "" for none; source and target have no blank. A "#" would begin
    a comment where it follows a blank, and stands inside of words here.
    """
    lines = []
    for source, target, note in rules:
        lines += [f"# {joined}\n"] if (joined := join_lines(note).strip()) else []
        lines.append(f"{source} {target} {PERMANENT}\n")
    return "".join(lines)


def find_target_address(site: SiteMap, to: Any) -> str:
    """Return where a declared destination leads: an address, a path below the site, or ""."""
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
    """Return redirects as JSON with the keys of a site file."""
    return [
        {"from": item.fields["source"], "to": item.fields.get("to"), **({"note": item.note} if item.note else {})}
        for item in items
    ]
