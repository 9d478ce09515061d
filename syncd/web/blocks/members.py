"""Members of nodes: what a document says, whatever it should have said; nothing here trusts a shape."""

from typing import Any

from syncd.layout.richtext.nodes import collect_text

Node = dict[str, Any]


def read_data(node: object) -> Node:
    """Return the data of a node; nothing when it has none."""
    data = node.get("data") if isinstance(node, dict) else None
    return data if isinstance(data, dict) else {}


def read_nodes(node: object, name: str = "nodes") -> list[Node]:
    """Return the objects in a member of a node; what is no object is left out."""
    held = node.get(name) if isinstance(node, dict) else None
    return [one for one in held if isinstance(one, dict)] if isinstance(held, list | tuple) else []


def read_fragment(node: Node, name: str) -> list[Node] | None:
    """Return the blocks of a fragment of a node; None when it has no fragment of that name."""
    found = (one for one in read_nodes(node, "fragments") if one.get("fragment") == name)
    fragment = next(found, None)
    return None if fragment is None else read_nodes(fragment)


def read_text(data: Node, name: str) -> str:
    """Return a member that is text, without white space around it; "" for anything else."""
    value = data.get(name)
    return value.strip() if isinstance(value, str) else ""


def read_choice(data: Node, name: str, *known: str) -> str:
    """Return a member that is one of some words; the first of them for anything else."""
    value = data.get(name)
    return value if isinstance(value, str) and value in known else known[0]


def read_number(data: Node, name: str) -> float | None:
    """Return a member that is a finite number; None for anything else."""
    value = data.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if abs(value) < 1e15 else None


def read_ref(data: Node, name: str = "ref") -> Node | None:
    """Return a content reference in the data of a node; None when there is none."""
    ref = data.get(name)
    return ref if isinstance(ref, dict) and isinstance(ref.get("kind"), str) else None


def read_kind(node: Node) -> str:
    """Return the type of a block or inline; "" when it has none."""
    kind = node.get("type")
    return kind if isinstance(kind, str) else ""


def collect_words(node: object) -> str:
    """Return the text of all leaves of a node in reading order, a space between blocks; as deep as it may be."""
    return collect_text(node, separator=" ").strip()
