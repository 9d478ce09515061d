"""The content references of a document: where its nodes keep them."""

import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import unquote

from syncd.layout.richtext.nodes import Node, walk_nodes

BROKEN_PATH = "/~/broken?address="
"""Behind the address of a space in the app: an address that leads to nothing, as it is written."""
_BROKEN_URL = re.compile(rf"(?:https?://[^/?#]+/app/o/[^/?#]+/s/[^/?#]+)?{re.escape(BROKEN_PATH)}(.*)")
_MEMBERS = ("ref", "refDark", "link")


def find_broken_address(url: object) -> str | None:
    """Return what a writer wrote, of an address that stands for one that leads to nothing; None for any other."""
    found = _BROKEN_URL.fullmatch(url) if isinstance(url, str) else None
    return None if found is None else unquote(found[1])


def mark_broken_references(nodes: Iterable[Node]) -> None:
    """Make those references of a document that lead to nothing of kind `nothing`, with the `address` as written.

    Shape: nodes are changed in place.
    """
    for ref in list(find_references(nodes)):
        if ref.get("kind") == "url" and (address := find_broken_address(ref.get("url"))) is not None:
            ref.clear()
            ref.update(_make_broken(address))
    for cell in find_file_cells(nodes):
        broken = map(find_broken_address, cell)
        cell[:] = [one if said is None else _make_broken(said) for one, said in zip(cell, broken, strict=True)]


def _make_broken(address: str) -> Node:
    return {"kind": "nothing", "address": address}


def find_references(nodes: Iterable[Node]) -> Iterator[Node]:
    """Yield every content reference in the nodes of a document, in reading order; linear time.

    Shape: each is the very object that a node holds, so that whoever made the document may change it in place.
    """
    for node in filter(has_data, walk_nodes(nodes)):
        yield from read_references(node)


def has_data(node: Node) -> bool:
    """Return whether a node has data, without which it has neither references nor cells."""
    data = node.get("data")
    return bool(data) and isinstance(data, dict)


def read_references(node: Node) -> Iterator[Node]:
    """Yield the content references of one node that has data, as `find_references` does."""
    data = node["data"]
    yield from (data[name] for name in _MEMBERS if isinstance(data.get(name), dict))
    for _, _, value in _walk_cells(node):
        for one in value if isinstance(value, list) else (value,):
            if isinstance(one, dict):
                # A reference alone, or with what is around it.
                yield from (ref for ref in (one, one.get("ref")) if isinstance(ref, dict) and "kind" in ref)


def find_tables(walked: Iterable[Node]) -> list[Node]:
    """Return the tables among all nodes of a document: those that hold its cells."""
    return [node for node in walked if node.get("type") == "table" and has_data(node)]


def find_cells(nodes: Iterable[Node]) -> Iterator[tuple[Node, str, Any]]:
    """Yield the cells of all tables in a document: the data of the table, a name, and the value.

    Shape: names are those of records and columns, such as "r0c1". Values are the very objects that nodes hold.
    """
    for node in filter(has_data, walk_nodes(nodes)):
        for record, column, value in _walk_cells(node):
            yield node["data"], f"{record}{column}", value


def find_file_cells(nodes: Iterable[Node]) -> Iterator[list[Any]]:
    """Yield the value of each cell of files in the tables of a document, as `find_cells` does."""
    for node in filter(has_data, walk_nodes(nodes)):
        for _, column, value in _walk_cells(node):
            definition = node["data"].get("definition")
            own = definition.get(column) if isinstance(definition, dict) else None
            if isinstance(own, dict) and own.get("type") == "files" and isinstance(value, list):
                yield value


def _walk_cells(node: Node) -> Iterator[tuple[str, str, Any]]:
    """The cells of a table: record, column and value; none of any other node."""
    records = node["data"].get("records") if node.get("type") == "table" else None
    for name, record in records.items() if isinstance(records, dict) else ():
        values = record.get("values") if isinstance(record, dict) else None
        for column, value in values.items() if isinstance(values, dict) else ():
            yield name, column, value
