"""The content references of a document: where its nodes keep them."""

from collections.abc import Iterable, Iterator
from typing import Any

from syncd.layout.richtext.nodes import Node

_MEMBERS = ("ref", "refDark", "link")


def find_references(nodes: Iterable[Node]) -> Iterator[Node]:
    """Yield every content reference in the nodes of a document, in reading order; linear time.

    Shape: each is the very object that a node holds, so that whoever made the document may change it in place.
    """
    for node in _walk_nodes(nodes):
        data = node["data"]
        yield from (data[name] for name in _MEMBERS if isinstance(data.get(name), dict))
        for _, _, value in _walk_cells(node):
            for one in value if isinstance(value, list) else (value,):
                if isinstance(one, dict):
                    # A reference alone, or with what is around it.
                    yield from (ref for ref in (one, one.get("ref")) if isinstance(ref, dict) and "kind" in ref)


def find_cells(nodes: Iterable[Node]) -> Iterator[tuple[Node, str, Any]]:
    """Yield the cells of all tables in a document: the data of the table, a name, and the value.

    Shape: names are those of records and columns, such as "r0c1". Values are the very objects that nodes hold.
    """
    for node in _walk_nodes(nodes):
        for record, column, value in _walk_cells(node):
            yield node["data"], f"{record}{column}", value


def find_file_cells(nodes: Iterable[Node]) -> Iterator[list[Any]]:
    """Yield the value of each cell of files in the tables of a document, as `find_cells` does."""
    for node in _walk_nodes(nodes):
        for _, column, value in _walk_cells(node):
            definition = node["data"].get("definition")
            own = definition.get(column) if isinstance(definition, dict) else None
            if isinstance(own, dict) and own.get("type") == "files" and isinstance(value, list):
                yield value


def _walk_nodes(nodes: Iterable[Node]) -> Iterator[Node]:
    """All nodes that have data, in reading order."""
    pending: list[Any] = list(nodes)[::-1]
    while pending:
        node = pending.pop()
        if not isinstance(node, dict):
            continue
        data = node.get("data")
        if data and isinstance(data, dict):
            yield node
        if node.get("type") == "code":
            continue
        for name in ("nodes", "fragments"):
            held = node.get(name)
            if held and isinstance(held, list):
                pending.extend(reversed(held))


def _walk_cells(node: Node) -> Iterator[tuple[str, str, Any]]:
    """The cells of a table: record, column and value; none of any other node."""
    records = node["data"].get("records") if node.get("type") == "table" else None
    for name, record in records.items() if isinstance(records, dict) else ():
        values = record.get("values") if isinstance(record, dict) else None
        for column, value in values.items() if isinstance(values, dict) else ():
            yield name, column, value
