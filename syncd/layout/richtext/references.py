"""The content references of a document: where its nodes keep them."""

from collections.abc import Iterable, Iterator
from typing import Any

from syncd.layout.richtext.nodes import Node

_MEMBERS = ("ref", "refDark")


def find_references(nodes: Iterable[Node]) -> Iterator[Node]:
    """Given the nodes of a document, yield every content reference in them, in reading order; linear time.

    Shapes: each is the very object that a node holds, so that whoever made the document may change it in place.
    """
    pending: list[Any] = list(nodes)[::-1]
    while pending:
        node = pending.pop()
        if not isinstance(node, dict):
            continue
        data = node.get("data")
        if data and isinstance(data, dict):
            yield from (data[name] for name in _MEMBERS if isinstance(data.get(name), dict))
            if node.get("type") == "table":
                yield from _of_records(data.get("records"))
        if node.get("type") == "code":
            continue
        for name in ("nodes", "fragments"):
            held = node.get(name)
            if held and isinstance(held, list):
                pending.extend(reversed(held))


def _of_records(records: object) -> Iterator[Node]:
    """The references in the cells of a table: as values of columns of that type, alone or with what is around them."""
    if not isinstance(records, dict):
        return
    for record in records.values():
        values = record.get("values") if isinstance(record, dict) else None
        for value in values.values() if isinstance(values, dict) else ():
            for one in value if isinstance(value, list) else (value,):
                if isinstance(one, dict):
                    yield from (ref for ref in (one, one.get("ref")) if isinstance(ref, dict) and "kind" in ref)
