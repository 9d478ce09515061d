"""The anchors of a page: the ids that its headings, tabs, expandable parts, operations and own HTML have for readers.

Who renders a page gives out ids by this, and who checks links knows by this which ids it will have.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from html import unescape
from typing import Any

from syncd.layout.page.footnotes import ANNOTATION, REFERENCE, is_code_leaf, make_footnote_ids, take_footnotes
from syncd.layout.page.specifications import (
    DESCRIPTION_MAX,
    find_operation,
    find_webhook,
    name_operation,
    read_words,
)
from syncd.layout.richtext.anchors import make_anchor
from syncd.layout.richtext.nodes import Node, collect_text

SHOWN_ELEMENTS = frozenset(
    {
        *("a", "abbr", "b", "bdi", "bdo", "blockquote", "br", "caption", "center", "cite", "code", "col", "colgroup"),
        *("dd", "del", "details", "dfn", "div", "dl", "dt", "em", "figcaption", "figure", "h1", "h2", "h3", "h4"),
        *("h5", "h6", "hr", "i", "img", "ins", "kbd", "li", "mark", "ol", "p", "picture", "pre", "q", "rp", "rt"),
        *("ruby", "s", "samp", "section", "small", "span", "strike", "strong", "sub", "summary", "sup", "table"),
        *("tbody", "td", "tfoot", "th", "thead", "time", "tr", "tt", "u", "ul", "var", "wbr"),
    }
)
"""Elements of a writer's HTML that a page shows; of all others only the words stay."""
INCLUDES_DEPTH_MAX = 8
"""Reusable contents within each other."""
INCLUDES_MAX = 100
"""Reusable contents that one page takes in, those within others counted."""

_HEADINGS = frozenset({"heading-1", "heading-2", "heading-3"})
_REUSABLE = "reusable-content"
_WEBHOOK = "openapi-webhook"
_OPERATIONS = frozenset({"swagger", "openapi", "openapi-operation", _WEBHOOK})
_WITHOUT = frozenset({"code", "definition", "content-ref", "button", "mention", "expression"})
"""What has no anchors, whatever it holds: readers see its words alone."""
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_TAG = re.compile(r"<([A-Za-z][A-Za-z0-9-]*+)(\s(?:[^<>\"']|\"[^\"]*+\"|'[^']*+')*+)>")
_NAMING = re.compile(r"""\s(id|name)\s*=\s*(?:"([^"]*+)"|'([^']*+)'|([^\s"'=<>`]++))""", re.IGNORECASE)
_LENGTH_MAX = 200


class PageAnchors:
    """The ids that a page has given out, each once; all begin with a prefix."""

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix
        self.used: set[str] = set()
        self._counts: dict[str, int] = {}

    def allocate(self, wanted: str) -> str:
        """Return an id that nothing else of the page has: the wanted one, or that with a number.

        None begins with an underline: those are the page's own.
        """
        wanted = self.prefix + (wanted.lstrip("_") or "section")
        found, count = wanted, self._counts.get(wanted, 0)
        while found in self.used:
            count += 1
            found = f"{wanted}-{count}"
        self._counts[wanted] = count
        self.used.add(found)
        return found


def find_anchor_sources(nodes: Sequence[Node]) -> Iterator[str | Node]:
    """Yield what gives a file its anchors: each id that is wanted, and each block whose file decides, which is
    reusable content or an operation.
    """
    text, words = take_footnotes(nodes)
    notes = _Footnotes(words)
    yield from _walk(text, notes)
    yield from notes.walk()
    for label in words:
        if label not in notes.numbered:
            yield notes.number(label)
            yield from notes.walk()


class _Footnotes:
    """The footnotes of a file, numbered as the text speaks of them."""

    def __init__(self, words: Mapping[str, list[Node]]) -> None:
        self.words = words
        self.numbered: set[str] = set()
        self._pending: list[str] = []

    def number(self, label: str) -> str:
        """Return the id that a footnote wants, which has the next number."""
        self.numbered.add(label)
        self._pending.append(label)
        return make_footnote_ids(label)[0]

    def walk(self) -> Iterator[str | Node]:
        """Yield the sources of the footnotes that have a number; one may speak of others."""
        for label in self._pending:
            yield from _walk(self.words[label], self)
        self._pending.clear()


def _walk(nodes: object, notes: _Footnotes) -> Iterator[str | Node]:
    """The sources of the anchors of blocks or of a line."""
    pending: list[object] = [nodes]
    while pending:
        here = pending.pop()
        if isinstance(here, str):
            yield here
        elif isinstance(here, list | tuple):
            pending += (one for one in reversed(here) if isinstance(one, dict))
        elif isinstance(here, dict):
            kind = here.get("type")
            if is_reusable(here) or is_operation(here):
                yield here
            elif kind == "html":
                yield from _find_html_ids(_read_text(here, "html"))
            elif "leaves" in here:
                yield from _find_references(here["leaves"], notes)
            elif kind not in _WITHOUT:
                pending += reversed(_list_parts(here))


def _find_references(leaves: object, notes: _Footnotes) -> Iterator[str]:
    """The ids of the footnotes of which a text speaks, and of the places where it does."""
    for leaf in leaves if notes.words and isinstance(leaves, list | tuple) else ():
        text = leaf.get("text") if isinstance(leaf, dict) else None
        if not isinstance(text, str) or "[^" not in text or is_code_leaf(leaf):
            continue
        for label in REFERENCE.findall(text):
            if label in notes.words:
                if label not in notes.numbered:
                    yield notes.number(label)
                yield make_footnote_ids(label)[1]


def _list_parts(node: Node) -> list[object]:
    """What of a block has anchors, in order, its own among them."""
    kind, nodes, fragments = node.get("type"), node.get("nodes"), node.get("fragments")
    if kind == "annotation":
        return [nodes, *make_footnote_ids(ANNOTATION), fragments]
    if kind in _HEADINGS:
        return [nodes, find_heading_anchor(node)]
    if kind == "tabs" and isinstance(nodes, list | tuple):
        tabs = enumerate((one for one in nodes if isinstance(one, dict)), 1)
        return [part for number, tab in tabs for part in (make_tab_anchor(_read_text(tab, "title"), number), tab)]
    if kind == "expandable":
        held = [one for one in fragments or () if isinstance(one, dict)] if isinstance(fragments, list | tuple) else []
        title: object = next((one.get("nodes") for one in held if one.get("fragment") == "expandable-title"), [])
        return [make_anchor(_join_words(title)), fragments, nodes]
    if kind == "table":
        return [_list_shown_cells(node, fragments)]
    return [fragments, nodes]


def _list_shown_cells(node: Node, fragments: object) -> list[Node]:
    """The fragments of a table but those of columns that are hidden."""
    data = node.get("data")
    view, definition, records = (_read_object(data, name) for name in ("view", "definition", "records"))
    columns = view.get("columns")
    hidden = definition.keys() - columns if isinstance(columns, list) else set()
    rows = [_read_object(record, "values") for record in records.values()]
    names = hidden | {str(row[name]) for row in rows for name in hidden & row.keys()}
    held = fragments if isinstance(fragments, list | tuple) else ()
    return [one for one in held if isinstance(one, dict) and one.get("fragment") not in names]


def _read_object(value: object, name: str) -> Node:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def find_heading_anchor(node: Node) -> str:
    """Return the anchor that a heading wants: the id that it has, else one made of its words."""
    given = _read_text(node, "id") or _read_text(node, "id", "meta")
    return given if is_html_id(given) and " " not in given else make_anchor(_join_words(node))


def make_tab_anchor(title: str, number: int) -> str:
    """Return the anchor that a tab wants, by its title and by how many tabs are before it; the first has number 1."""
    return make_anchor(title or f"tab-{number}")


def is_html_id(value: str) -> bool:
    """Return whether a page takes an id that a writer gave."""
    return 0 < len(value) <= _LENGTH_MAX and value.isprintable()


def is_reusable(node: Node) -> bool:
    """Return whether a block stands for reusable content."""
    return node.get("type") == _REUSABLE


def is_operation(node: Node) -> bool:
    """Return whether a block shows an operation of a specification."""
    return node.get("type") in _OPERATIONS


def find_operation_anchor(node: Node, specification: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the anchor that the block of an operation wants, and its description, which has more; None where the
    specification has no such operation.
    """
    path, method = _read_text(node, "path"), _read_text(node, "method")
    if node.get("type") == _WEBHOOK:
        path = read_webhook_name(node)
        method, operation, _ = find_webhook(specification, path, method)
    else:
        operation = find_operation(specification, path, method)[0]
    if not operation:
        return None
    return make_anchor(name_operation(operation, method, path)), read_words(operation, "description")[:DESCRIPTION_MAX]


def read_webhook_name(node: Node) -> str:
    """Return the name of the webhook that a block shows."""
    return next(filter(None, (_read_text(node, name) for name in ("name", "webhook", "path"))), "")


def _find_html_ids(html: str) -> Iterator[str]:
    """The ids in a writer's HTML that the page has."""
    for tag in _TAG.finditer(_COMMENT.sub("", html)):
        name = tag[1].lower()
        if name not in SHOWN_ELEMENTS:
            continue
        for found in _NAMING.finditer(tag[2]):
            value = unescape(found[2] or found[3] or found[4])
            if is_html_id(value) and (name == "a" or found[1].lower() == "id"):
                yield value


def _read_text(node: Node, name: str, members: str = "data") -> str:
    data = node.get(members)
    value = data.get(name) if isinstance(data, dict) else None
    return value.strip() if isinstance(value, str) else ""


def _join_words(nodes: object) -> str:
    return collect_text(nodes, separator=" ")
