"""The words of nodes, as a PDF has them."""

from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from typing import Any

from syncd.web.pages.wording import find_text_direction
from syncd.web.rendering import Html

_LINES = frozenset({"address", "article", "blockquote", "br", "dd", "div", "dt", "figure", "h1", "h2", "h3", "h4"})
_LINES |= frozenset({"h5", "h6", "hr", "li", "ol", "p", "pre", "section", "summary", "table", "tr", "ul"})
"""Elements that begin a line."""
_UNSEEN = frozenset({"script", "style", "template", "title"})


class _HtmlWords(HTMLParser):
    """Collects what a reader sees of HTML."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._unseen += tag in _UNSEEN
        if tag in _LINES:
            self.found.append("\n")
        elif tag in ("td", "th"):
            self.found.append("  ")
        elif tag == "img":
            self.found.append(dict(attrs).get("alt") or "")

    def handle_endtag(self, tag: str) -> None:
        self._unseen = max(0, self._unseen - (tag in _UNSEEN))
        if tag in _LINES:
            self.found.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self.found.append(" ".join(data.split("\n")))


def list_html_lines(html: str) -> list[str]:
    """Return the lines that a reader sees of a writer's HTML; cells of a table stand beside each other."""
    parser = _HtmlWords()
    parser.feed(html)
    parser.close()
    return [line.strip() for line in "".join(parser.found).split("\n") if line.strip()]


def is_right_to_left(text: str) -> bool:
    """Return whether a text begins at the right."""
    return find_text_direction("", Html.escape(text)) == "rtl"


def find_caption(node: Mapping[str, Any]) -> list[Any]:
    """Return the nodes of a block's caption."""
    return [piece.get("nodes") for piece in node.get("fragments") or () if piece.get("fragment") == "caption"]


def find_label(data: Mapping[str, Any]) -> str:
    """Return what a void inline shows: the words of a mention or button, a formula, an icon's or emoji's name."""
    found = (data.get(name) for name in ("text", "label", "formula", "expression", "code", "icon"))
    return next((value for value in found if isinstance(value, str)), "")


def find_source(type: str, data: Mapping[str, Any]) -> Any:
    """Return how a block is written that only others draw; None for any other block."""
    return {"integration": (data.get("props") or {}).get("content"), "tag": data.get("source")}.get(type)


def join_text(node: Any) -> str:
    """Return the text of every leaf at any depth as one."""
    return "".join(list_texts(node))


def list_texts(value: Any) -> Iterator[str]:
    """Yield the text of every leaf at any depth."""
    for node in list_nodes(value):
        if isinstance(node.get("text"), str) and node.get("object") == "leaf":
            yield node["text"]


def list_nodes(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield nodes, and the nodes in them at any depth, in reading order."""
    pending = [value]
    while pending:
        here = pending.pop()
        if isinstance(here, list):
            pending += reversed(here)
        elif isinstance(here, Mapping):
            yield here
            pending += [here[name] for name in ("fragments", "nodes", "leaves") if name in here][::-1]
