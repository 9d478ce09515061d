"""What search needs to know of a page: its sections, each with its heading, its anchor and its words."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import unescape

from syncd.layout.richtext.nodes import Node, collect_text
from syncd.layout.richtext.reading import to_document

_TAG = re.compile(r"<!--.*?(?:-->|\Z)|<[^<>]*>", re.DOTALL)
_PARTS = ("fragments", "nodes", "leaves")
_SHOWN = ("title", "alt", "caption", "label", "text", "formula", "expression")
"""Members of data that readers see."""


@dataclass(frozen=True)
class _Heading:
    """A heading of a page: plain text, and the anchor that addresses it."""

    text: str
    anchor: str


@dataclass(frozen=True)
class Section:
    """A part of a page below one heading: `id` is its anchor, `path` the fragment `#anchor`, `lines` its words.

    Each paragraph and each cell of a table is a line of its own.

    What stands before the first heading has an empty id, title and path.
    """

    id: str
    title: str
    path: str
    lines: tuple[str, ...]

    @property
    def body(self) -> str:
        """All words, without the ends of lines."""
        return " ".join(self.lines)


def split_sections(markdown: str) -> tuple[Section, ...]:
    """Return the sections of Markdown in order: one for each heading, and one for words before the first."""
    return split_nodes(to_document(markdown).nodes)


def split_nodes(nodes: Sequence[Node]) -> tuple[Section, ...]:
    """Return the sections of a document's nodes in order, as `split_sections` does those of Markdown."""
    parts: list[tuple[_Heading | None, list[str]]] = [(None, [])]
    for heading, words in _walk_words(nodes):
        if heading is not None:
            parts.append((heading, []))
        else:
            parts[-1][1].append(words)
    lined = [(heading, tuple(line for one in words if (line := _join_words([one])))) for heading, words in parts]
    return tuple(_make_section(heading, lines) for heading, lines in lined if heading or lines)


def _make_section(heading: _Heading | None, lines: tuple[str, ...]) -> Section:
    return Section(heading.anchor, heading.text, f"#{heading.anchor}", lines) if heading else Section("", "", "", lines)


def _join_words(words: list[str]) -> str:
    return " ".join(" ".join(words).split())


def _walk_words(nodes: Sequence[Node]) -> Iterator[tuple[_Heading | None, str]]:
    """The words of a page in order, piece by piece; those of a heading with the heading."""
    pending: list[object] = [nodes]
    while pending:
        here = pending.pop()
        if isinstance(here, list | tuple):
            pending.extend(reversed(here))
        elif isinstance(here, dict):
            if here.get("object") == "leaf":
                yield None, str(here.get("text", ""))
            elif "meta" in here and str(here.get("type")).startswith("heading-"):
                yield _make_heading(here), collect_text(here)
            elif _is_line(here):
                yield None, "".join(_find_line_words(here))
            else:
                yield None, _find_picture_words(here) if here.get("type") == "image" else _find_data_words(here)
                pending.extend(here[name] for name in reversed(_PARTS) if name in here)


def _make_heading(node: Node) -> _Heading:
    return _Heading(_join_words([collect_text(node)]), node["meta"]["id"])


def _is_line(node: Node) -> bool:
    nodes = node.get("nodes")
    return isinstance(nodes, list) and bool(nodes) and nodes[0].get("object") in ("text", "inline")


def _find_line_words(node: Node) -> Iterator[str]:
    """The words of a line, joined as they are written: a mark inside a word does not part it."""
    for one in node["nodes"]:
        yield collect_text(one) or f" {_find_data_words(one)} "


def _find_picture_words(node: Node) -> str:
    """The words of a picture, unless its caption says the very same."""
    words = _find_data_words(node)
    return "" if words == _join_words([collect_text(node)]) else words


def _find_data_words(node: Node) -> str:
    data = node.get("data")
    if not isinstance(data, dict):
        return ""
    if node.get("type") == "html":
        return unescape(_TAG.sub(" ", str(data.get("html", ""))))
    if node.get("type") == "table":
        return " ".join(str(column.get("title", "")) for column in data.get("definition", {}).values())
    return " ".join(dict.fromkeys(data[name] for name in _SHOWN if isinstance(data.get(name), str)))
