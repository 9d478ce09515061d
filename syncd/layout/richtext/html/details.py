"""Blocks that can be opened: the HTML in which their title stands, and whether they are open from the start."""

import re

from syncd.layout.richtext.html.elements import read_elements
from syncd.layout.richtext.html.lines import read_html_line, write_html_line
from syncd.layout.richtext.nodes import Node

CLOSE = "</details>"

_DETAILS = re.compile(r"<details( open)?>\s*(?:<summary>([^\n]*)</summary>)?\s*")
_SUMMARY = re.compile(r"<summary>([^\n]*)</summary>\s*")


def read_details(html: str, behind: str | None) -> tuple[bool, list[Node], bool] | None:
    """Return whether the details that an HTML block opens are open from the start, and their title.

    Shape: the third tells whether the title stands in the second block; None when no details begin here.
    """
    found = _DETAILS.fullmatch(html)
    if found is None:
        return None
    second = _SUMMARY.fullmatch(behind) if found[2] is None and behind is not None else None
    title = found[2] if found[2] is not None else second[1] if second else None
    nodes = read_title(title) if title is not None else None
    return None if nodes is None else (found[1] is not None, nodes, second is not None)


def read_title(html: str) -> list[Node] | None:
    """Return the nodes of a title's HTML; None when they would not be written as HTML that reads the same."""
    content = read_elements(html)
    nodes = read_html_line(content) if content is not None else None
    return nodes if nodes is not None and write_title(nodes) is not None else None


def write_title(nodes: object) -> str | None:
    """Return the nodes of a title as HTML on one line; None when it would not read the same."""
    html = write_html_line(nodes)
    content = read_elements(html) if html is not None and "\n" not in html else None
    return html if content is not None and read_html_line(content) == nodes else None
