"""Nodes: how they are made, and the keys of blocks.

Nodes are plain dicts, as on the wire: whoever reads a document meets types and members of another day, and a shape of
its own for each would be a second place that has to know them.
"""

import hashlib
import json
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any, TypeGuard

Node = dict[str, Any]

BLOCK_DEPTH_MAX = 40
"""Blocks within blocks that are told apart; what is nested deeper is read as plain paragraphs."""

_KEY_BYTES = 10
_encode = json.JSONEncoder(check_circular=False, separators=(",", ":")).encode


def make_block(
    type: str,
    data: Node | None = None,
    nodes: list[Node] | None = None,
    *,
    fragments: list[Node] | None = None,
) -> Node:
    """Return a block: void when it has no nodes, with fragments only when given."""
    made: Node = {"object": "block", "type": type, "isVoid": nodes is None, "data": {} if data is None else data}
    if nodes is not None:
        made["nodes"] = nodes
    if fragments is not None:
        made["fragments"] = fragments
    return made


def make_inline(type: str, data: Node, nodes: list[Node] | None = None, *, marks: Sequence[Node] = ()) -> Node:
    """Return an inline; `marks` are those around it, which its own leaves have too.

    The platform's inlines have no `marks`. Without them `**[a](b)**` could not be told from `[**a**](b)`, nor could an
    image in bold text; the member is left out where nothing is around.
    """
    made: Node = {"object": "inline", "type": type, "isVoid": nodes is None, "data": data}
    if nodes is not None:
        made["nodes"] = nodes
    if marks:
        made["marks"] = list(marks)
    return made


def make_leaf(text: str, marks: Sequence[Node] = ()) -> Node:
    """Return a leaf with text and its marks, outermost first."""
    return {"object": "leaf", "text": text, "marks": list(marks)}


def make_text(text: str, marks: Sequence[Node] = ()) -> Node:
    """Return a text node with one leaf."""
    return {"object": "text", "leaves": [make_leaf(text, marks)]}


def make_mark(type: str, data: Node | None = None) -> Node:
    """Return a mark of a type, with its data, if any."""
    return {"object": "mark", "type": type} | ({"data": data} if data else {})


def make_paragraph(nodes: list[Node]) -> Node:
    """Return a paragraph of inline nodes."""
    return make_block("paragraph", {}, nodes)


def make_fragment(name: str, nodes: list[Node], *, type: str | None = None) -> Node:
    """Return a fragment with a name and its blocks."""
    return {"object": "fragment", "fragment": name} | ({"type": type} if type else {}) | {"nodes": nodes}


def read_fragments(node: Node) -> dict[str, list[Node]] | None:
    """Return the nodes of a block's fragments by name; None when they are not well-formed."""
    found: dict[str, list[Node]] = {}
    pieces = node.get("fragments") or []
    if not is_nodes(pieces):
        return None
    for piece in pieces:
        if not piece.keys() <= {"object", "fragment", "type", "key", "nodes"}:
            return None
        name, nodes = piece.get("fragment"), piece.get("nodes")
        if not isinstance(name, str) or name in found or not is_nodes(nodes):
            return None
        found[name] = nodes
    return found


def is_nodes(value: object) -> TypeGuard[list[Node]]:
    """Return whether a value is a list of objects."""
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def count_common_prefix(one: Sequence[object], other: Sequence[object]) -> int:
    """Return how many items two sequences share from the start."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (left, right) in enumerate(pairs) if left != right), min(len(one), len(other)))


def make_url_ref(address: str) -> Node:
    """Return the content reference to an address.

    Every address stays as written, relative ones too: this room has no page tree. Who has one may resolve it.
    """
    return {"kind": "url", "url": address}


def read_url(ref: object) -> str | None:
    """Return the address of a content reference; None when it is more, or other, than one."""
    if isinstance(ref, dict) and ref.keys() == {"kind", "url"} and ref["kind"] == "url" and isinstance(ref["url"], str):
        return ref["url"]
    return None


def collect_text(node: object, *, separator: str = "") -> str:
    """Return the text of all leaves of a node, or of a list of nodes, fragments included, at any depth.

    Shape: `separator` comes before each block. Members with another shape than they should have are passed over.
    """
    pieces: list[str] = []
    pending: list[object] = [node]
    while pending:
        here = pending.pop()
        if isinstance(here, list | tuple):
            pending.extend(reversed(here))
        elif isinstance(here, dict):
            if isinstance(here.get("text"), str) and here.get("object", "leaf") == "leaf":
                pieces.append(here["text"])
            if here.get("object") == "block":
                pieces.append(separator)
            pending.extend(here[name] for name in ("fragments", "nodes", "leaves") if name in here)
    return "".join(pieces)


def walk_nodes(nodes: Iterable[Node]) -> Iterator[Node]:
    """Yield all nodes of a document but lines of code, each before what it holds, in reading order; linear time.

    Shape: what a node holds is looked up once that one was handled. Members with another shape are passed over.
    """
    pending: list[Any] = list(nodes)[::-1]
    while pending:
        node = pending.pop()
        if not isinstance(node, dict):
            continue
        yield node
        if node.get("type") == "code":
            continue
        for name in ("nodes", "fragments"):
            held = node.get(name)
            if held and isinstance(held, list):
                pending.extend(reversed(held))


def is_empty(node: Node) -> bool:
    """Return whether a block is a paragraph without text."""
    nodes = node.get("nodes") or ()
    return (
        node.get("type") == "paragraph" and all(one.get("object") == "text" for one in nodes) and not collect_text(node)
    )


def add_keys(nodes: list[Node], kept: Container[int] = ()) -> list[Node]:
    """Add to each block of a document a `key`, derived from its content and occurrence, and return the blocks.

    Shape: equal blocks are told apart by a number behind the key, in order; so a block keeps its key when anything
    but its equal is put before it. Lines of code have none: there are too many, and nobody refers to one. Nodes in
    `kept` (by `id`) are left exactly as they are.
    """
    keys = _KeyMaker(kept)
    for node in nodes:
        keys.add_key(node)
    return nodes


class _KeyMaker:
    def __init__(self, kept: Container[int]) -> None:
        self.kept, self.seen = kept, dict[bytes, int]()

    def add_key(self, node: Node) -> bytes:
        """Key this block and all below it; its digest. The recursion is as deep as blocks are nested."""
        if id(node) in self.kept:
            return _hash_parts([_encode(node).encode()])
        held = list(_find_child_blocks(node))
        own = [node["type"], node["data"], None if held else node.get("nodes")]
        found = _hash_parts([_encode(own).encode(), *(self.add_key(child) for child in held)])
        count = self.seen[found] = self.seen.get(found, 0) + 1
        node["key"] = found.hex() if count == 1 else f"{found.hex()}-{count}"
        return found


def _find_child_blocks(node: Node) -> Iterator[Node]:
    """The blocks that a block holds, in its fragments and as its nodes."""
    for piece in node.get("fragments", ()):
        yield from piece["nodes"]
    nodes = node.get("nodes")
    if nodes and nodes[0]["object"] == "block" and node["type"] != "code":
        yield from nodes


def _hash_parts(parts: list[bytes]) -> bytes:
    return hashlib.blake2b(b"\0".join(parts), digest_size=_KEY_BYTES).digest()


def prefix_keys(nodes: list[Node], prefix: str) -> None:
    """Let the keys of nodes, and of all in them, begin with a prefix, so that they differ from all others."""
    pending = list(nodes)
    while pending:
        node = pending.pop()
        if "key" in node:
            node["key"] = f"{prefix}{node['key']}"
        for name in ("nodes", "fragments"):
            if isinstance(children := node.get(name), list):
                pending.extend(child for child in children if isinstance(child, dict))
