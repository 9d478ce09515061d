"""Footnotes of Markdown: which blocks of a document are footnotes, and where its text speaks of them."""

import re
from collections.abc import Sequence

from syncd.layout.richtext.nodes import Node

REFERENCE = re.compile(r"\[\^([^\[\]\s^]{1,60})\]")
ANNOTATION = "annotation"
"""The label of footnotes that no Markdown has."""
_START = re.compile(r"\[\^([^\[\]\s^]{1,60})\]:[ \n]*")
_NEXT = re.compile(r"[ \n]" + _START.pattern)


def take_footnotes(nodes: Sequence[Node]) -> tuple[list[Node], dict[str, list[Node]]]:
    """Return the blocks of a file without those that are footnotes, and the words of each of these by its label."""
    rest: list[Node] = []
    found: dict[str, list[Node]] = {}
    for node in nodes:
        leaf = _find_first_leaf(node)
        start = _START.match(leaf["text"]) if leaf is not None else None
        if leaf is None or start is None or start[1] in found:
            rest.append(node)
            continue
        first, *others = _list_objects(node, "nodes")
        leaves = [leaf | {"text": leaf["text"][start.end() :]}, *_list_objects(first, "leaves")[1:]]
        _split_notes([first | {"leaves": leaves}, *others], start[1], found)
    return rest, found


def make_footnote_ids(label: str) -> tuple[str, str]:
    """Return the ids that a footnote and the place in the text that speaks of it want."""
    return f"user-content-fn-{label}", f"user-content-fnref-{label}"


def is_code_leaf(leaf: Node) -> bool:
    """Return whether the text of a leaf is code, which speaks of no footnote."""
    marks = leaf.get("marks")
    return isinstance(marks, list | tuple) and any(isinstance(one, dict) and one.get("type") == "code" for one in marks)


def _split_notes(nodes: Sequence[Node], label: str, found: dict[str, list[Node]]) -> None:
    """Add the words of a footnote, and of those that follow in lines of the same paragraph, by their labels."""
    words: list[Node] = []
    found[label] = words
    for node in nodes:
        leaves: list[Node] = []
        for leaf in _list_objects(node, "leaves"):
            text = leaf.get("text")
            if not isinstance(text, str) or leaf.get("marks"):
                leaves.append(leaf)
                continue
            done = 0
            for start in _NEXT.finditer(text):
                if start[1] in found:
                    continue
                words.append(node | {"leaves": [*leaves, leaf | {"text": text[done : start.start()]}]})
                leaves, done, words = [], start.end(), []
                found[start[1]] = words
            leaves.append(leaf | {"text": text[done:]})
        words.append(node | {"leaves": leaves} if leaves else node)


def _find_first_leaf(node: Node) -> Node | None:
    nodes = _list_objects(node, "nodes") if node.get("type") == "paragraph" else []
    leaves = _list_objects(nodes[0], "leaves") if nodes else []
    leaf = leaves[0] if leaves else None
    return leaf if leaf is not None and isinstance(leaf.get("text"), str) and not leaf.get("marks") else None


def _list_objects(node: Node, name: str) -> list[Node]:
    held = node.get(name)
    return [one for one in held if isinstance(one, dict)] if isinstance(held, list | tuple) else []
