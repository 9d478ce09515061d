"""Anchors of headings, as the platform makes them."""

import re
import unicodedata
from collections.abc import Container

from syncd.layout.richtext.nodes import Node, collect_text

_FOREIGN = re.compile(r"[^a-z0-9.+_-]+")
_SPACE = re.compile(r"[\s/-]+")
_LENGTH = 100
_WITHOUT = frozenset({"paragraph", "code", "table"})


class Anchors:
    """The anchors of one page: a heading whose anchor is taken gets a number."""

    def __init__(self) -> None:
        self.used: set[str] = set()
        self.counts: dict[str, int] = {}

    def allocate(self, text: str, given: str | None = None) -> str:
        """Return the anchor of the next heading, from its text and the id that it has, if any."""
        base = given or make_anchor(text)
        anchor, count = base, self.counts.get(base, 0)
        while not given and anchor in self.used:
            count += 1
            anchor = f"{base}-{count}"
        self.counts[base] = count
        self.used.add(anchor)
        return anchor


def make_anchor(text: str) -> str:
    """Return the anchor of a heading's text: `1. Set up` becomes `id-1.-set-up`, `In / out` becomes `in-out`.

    Source: @gitbook/api 0.146.0, ids of headings; an id may not start with a digit, hence the prefix.
    """
    plain = "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))
    words = _SPACE.sub("-", plain.strip().lower().replace("&", "and"))
    found = _FOREIGN.sub("", words)[:_LENGTH].strip("-") or "section"
    return f"id-{found}" if found[0].isdigit() else found


def add_anchors(nodes: list[Node], kept: Container[int] = ()) -> list[Node]:
    """Add to each heading of a document its anchor in `meta`, except below nodes in `kept`, and return the blocks."""
    anchors = Anchors()
    pending: list[object] = [nodes]
    while pending:
        here = pending.pop()
        if isinstance(here, list):
            pending.extend(reversed(here))
        elif isinstance(here, dict) and id(here) not in kept:
            if str(here.get("type")).startswith("heading-") and "data" in here:
                given = here["data"].get("id")
                here["meta"] = {"id": anchors.allocate(collect_text(here), given if isinstance(given, str) else None)}
            elif here.get("object") in ("block", "fragment") and here.get("type") not in _WITHOUT:
                pending.extend(here[name] for name in ("nodes", "fragments") if name in here)
    return nodes
