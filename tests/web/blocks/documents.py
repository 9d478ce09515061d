"""Documents for tests of blocks, and their HTML."""

from typing import Any

from syncd.layout.richtext.reading import to_document
from syncd.model.document import Document
from syncd.web.blocks import BlockContext, RenderedDocument, render_document

Node = dict[str, Any]


def leaf(text: str, *marks: Node) -> Node:
    """A text node with one leaf."""
    return {"object": "text", "leaves": [{"object": "leaf", "text": text, "marks": list(marks)}]}


def block(kind: str, data: Node | None = None, *nodes: Node, **members: Any) -> Node:
    """A block of a type with data and nodes."""
    return {"object": "block", "type": kind, "isVoid": not nodes, "data": data or {}, "nodes": list(nodes)} | members


def inline(kind: str, data: Node | None = None, *nodes: Node, **members: Any) -> Node:
    """An inline of a type with data and nodes."""
    return {"object": "inline", "type": kind, "isVoid": not nodes, "data": data or {}, "nodes": list(nodes)} | members


def paragraph(*nodes: Node | str) -> Node:
    """A paragraph of inline nodes or words."""
    return block("paragraph", {}, *(leaf(node) if isinstance(node, str) else node for node in nodes))


def url(address: str) -> Node:
    """A reference to an address."""
    return {"kind": "url", "url": address}


def render(*nodes: Node, context: BlockContext | None = None) -> RenderedDocument:
    """Render blocks that nobody validated, as hostile as they are."""
    return render_document(Document.model_construct(nodes=nodes), context or BlockContext())


def render_markdown(text: str, context: BlockContext | None = None) -> str:
    """Render Markdown to HTML."""
    return str(render_document(to_document(text), context or BlockContext()).html)
