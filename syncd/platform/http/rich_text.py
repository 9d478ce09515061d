"""Rich text that callers send: its size is checked before anything traverses it; it is stored as it was sent."""

from typing import Any

from syncd.model.document import Document
from syncd.platform.http.failures import Failure

EMPTY: dict[str, Any] = {"object": "document", "data": {}, "nodes": []}
"""The document of a member that clients expect although nobody wrote one."""
DEPTH_MAX = 100
VALUES_MAX = 50_000
CHARACTERS_MAX = 500_000
"""Levels, values and characters of one document; the API document names no limit, and every reader needs one."""


def check_document(document: Document, *, at: str) -> dict[str, Any]:
    """Return a document as JSON; `at` is the member that holds it. Raises: Failure 400 when it is too large."""
    if "object" not in document.model_fields_set:
        raise Failure(400, f"{at}.object: Field required")
    values = characters = 0
    level: list[Any] = [document.nodes, document.data, document.model_extra]
    for _ in range(DEPTH_MAX):
        values += len(level)
        characters += sum(len(value) for value in level if isinstance(value, str))
        if values > VALUES_MAX or characters > CHARACTERS_MAX:
            raise Failure(400, f"{at}: more than {VALUES_MAX} values or {CHARACTERS_MAX} characters")
        level = [inner for value in level for inner in _list_children(value)]
        if not level:
            return document.wire()
    raise Failure(400, f"{at}: nested deeper than {DEPTH_MAX}")


def _list_children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*value, *value.values()]
    return list(value) if isinstance(value, list | tuple) else []
