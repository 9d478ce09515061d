"""Document: rich text as the platform keeps it (API document, Conventions 7)."""

from typing import Any, Literal

from syncd.model.base import Observed


class Document(Observed):
    """A tree of nodes; node types that this version does not know pass through untouched."""

    object: Literal["document"] = "document"
    data: dict[str, Any] = {}
    nodes: tuple[dict[str, Any], ...] = ()

    @classmethod
    def of_text(cls, text: str) -> "Document":
        """Given plain text, return a document with one paragraph for each blank-line-separated block."""
        blocks = [block.strip() for block in text.split("\n\n") if block.strip()]
        return cls(object="document", data={}, nodes=tuple(_paragraph(block) for block in blocks))

    def text(self) -> str:
        """Given this document, return the text of its leaves, one blank line between top-level blocks."""
        return "\n\n".join(_text(node) for node in self.nodes)


def _paragraph(text: str) -> dict[str, Any]:
    leaf = {"object": "leaf", "text": text, "marks": []}
    words = {"object": "text", "leaves": [leaf]}
    return {"object": "block", "type": "paragraph", "isVoid": False, "data": {}, "nodes": [words]}


def _text(node: dict[str, Any]) -> str:
    pieces: list[str] = []
    pending = [node]
    while pending:
        here = pending.pop()
        pieces += [str(leaf.get("text", "")) for leaf in here.get("leaves") or [] if isinstance(leaf, dict)]
        pending += [child for child in reversed(here.get("nodes") or []) if isinstance(child, dict)]
    return "".join(pieces)
