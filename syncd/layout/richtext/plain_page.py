"""Pages that are too large to be read as nodes: one block that holds their Markdown as it is."""

from collections.abc import Sequence

from syncd.layout.richtext.nodes import Node, make_block, make_text

CHARACTERS_MAX = 1_000_000
NODES_MAX = 50_000
COLUMNS_MAX = 200
"""Of one page, and of one table in it. The parts of a page that have a sign of their own count as nodes: blocks, cells,
tags of HTML, lines of code, line ends, and what is emphasised, linked or escaped. A book of 900,000 characters has
35,000.
"""

_DATA: Node = {"syntax": "markdown", "plain": True}


class TooLarge(Exception):
    """A page has more characters or nodes than are read."""


def make_plain_page(markdown: str) -> Node:
    """Return the block that shows the Markdown of a page as it is written, in one piece."""
    return make_block("code", dict(_DATA), [make_block("code-line", {}, [make_text(markdown)])])


def read_plain_page(nodes: Sequence[Node]) -> str | None:
    """Return the Markdown that the block of a plain page holds; None when a document is no such page."""
    if len(nodes) != 1 or nodes[0].get("type") != "code" or nodes[0].get("data") != _DATA:
        return None
    try:
        found = nodes[0]["nodes"][0]["nodes"][0]["leaves"][0]["text"]
    except (KeyError, IndexError, TypeError):
        return None
    return found if isinstance(found, str) and _without_keys(nodes[0]) == make_plain_page(found) else None


def _without_keys(node: Node) -> Node:
    lines = node["nodes"]
    bare = [{name: value for name, value in line.items() if name != "key"} for line in lines]
    return {name: value for name, value in node.items() if name != "key"} | {"nodes": bare}
