"""Documents of plain text, for tests of what a document is for."""

from typing import Any

from syncd.model.document import Document


def make_document(text: str) -> Document:
    """Return a document with one paragraph for each blank-line-separated block of a plain text."""
    blocks = [block.strip() for block in text.split("\n\n") if block.strip()]
    return Document(object="document", data={}, nodes=tuple(_make_paragraph(block) for block in blocks))


def _make_paragraph(text: str) -> dict[str, Any]:
    leaf = {"object": "leaf", "text": text, "marks": []}
    words = {"object": "text", "leaves": [leaf]}
    return {"object": "block", "type": "paragraph", "isVoid": False, "data": {}, "nodes": [words]}
