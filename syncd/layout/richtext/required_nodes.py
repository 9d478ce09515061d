"""The nodes that the API requires of blocks, where a text has none: readers of a document may count on them.

A hint and an item of a list have a paragraph at least, and a prompt has one block of code. Markdown needs neither.
Source: `DocumentBlockHint`, `DocumentBlockListItem` and `DocumentBlockPrompt`, @gitbook/api 0.202.0.
"""

from collections.abc import Iterable, Iterator

from syncd.layout.richtext.expressible import read_code_text
from syncd.layout.richtext.nodes import Node, is_nodes, make_block, make_paragraph, make_text, walk_nodes
from syncd.layout.richtext.reading import to_document
from syncd.layout.richtext.writing import to_markdown
from syncd.model.document import Document

_NEVER_EMPTY = ("hint", "list-item")
_SOURCE = {"blocks": True}
"""The data of a block of code that says in Markdown which blocks a prompt holds; it is a member of syncd's own."""


def find_prompts(walked: Iterable[Node]) -> Iterator[Node]:
    """Yield the prompts whose blocks are no block of code yet, among all nodes of a document."""
    return (node for node in walked if node.get("type") == "prompt" and not _has_code(node))


def add_required_nodes(walked: Iterable[Node]) -> None:
    """Add to each block the nodes that the API requires of it; the blocks of a prompt become code.

    Shape: `walked` are all nodes of a document, parents first.
    """
    for node in walked:
        if node.get("type") in _NEVER_EMPTY and not node.get("nodes"):
            node["nodes"] = [_add_key(make_paragraph([make_text("")]), node)]
        if node.get("type") == "prompt" and not _has_code(node):
            text = to_markdown(Document(object="document", data={}, nodes=tuple(node.get("nodes") or ())))
            lines = [make_block("code-line", {}, [make_text(line)]) for line in text.removesuffix("\n").split("\n")]
            node["nodes"] = [_add_key(make_block("code", dict(_SOURCE), lines), node)]


def restore_prompts(nodes: list[Node]) -> None:
    """Give the prompts of a document the blocks again that `add_required_nodes` has made code of."""
    for node in walk_nodes(nodes):
        if node.get("type") == "prompt" and _has_code(node) and node["nodes"][0].get("data") == _SOURCE:
            text = read_code_text(node["nodes"][0] | {"data": {}})
            if text is not None:
                node["nodes"] = list(to_document(text).nodes)


def _has_code(node: Node) -> bool:
    nodes = node.get("nodes")
    return is_nodes(nodes) and [one.get("type") for one in nodes] == ["code"]


def _add_key(made: Node, parent: Node) -> Node:
    return made | ({"key": f"{parent['key']}-1"} if "key" in parent else {})
