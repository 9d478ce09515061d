"""The structure in a site file: groups, sections and variants become items, with their order where it counts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from syncd.layout.site.read.declared import Item, Place
from syncd.layout.site.read.reader import Reader
from syncd.layout.site.read.shape import GROUP, SECTION, STRUCTURE, UNMANAGED, VARIANT, Keys
from syncd.layout.yaml.nodes import Node
from syncd.model.ref import ROOT, Kind, Ref

_FIELDS: Mapping[str, tuple[str, ...]] = {
    "group": ("title", "icon"),
    "section": ("title", "path", "icon", "description", "condition", "default"),
    "variant": ("space", "path", "condition", "hidden", "default"),
}
_KEYS: Mapping[str, Keys] = {"group": GROUP, "section": SECTION, "variant": VARIANT}
_WITHIN: Mapping[str, tuple[Kind, ...]] = {
    "structure": ("section", "group", "variant"),
    "group": ("section", "group"),
    "section": ("variant",),
}


@dataclass
class CollectedItems:
    """Items in the order of the file; `repeated` are those whose ref an earlier one has."""

    items: dict[Ref, Item] = field(default_factory=dict)
    repeated: list[Item] = field(default_factory=list)
    orders: dict[Ref, tuple[Ref, ...]] = field(default_factory=dict)

    def add(self, item: Item) -> bool:
        """Add an item; return whether its ref is new."""
        if item.ref in self.items:
            self.repeated.append(item)
            return False
        self.items[item.ref] = item
        return True


def read_identity(reader: Reader, nodes: Mapping[str, Node], keys: Keys, places: dict[str, Place]) -> dict[str, Any]:
    """Return what the nodes of an item say of its identity: id, former keys or paths, and protection."""
    values, found = reader.read_fields(nodes, keys, "id", "protect")
    places.update(found)
    was = reader.read_texts(nodes.get("was"), "was", single=True)
    if "was" in nodes:
        places["was"] = reader.locate_node(nodes["was"])
        values["was"] = tuple(text for text, _ in was)
    return values


class StructureReader:
    """Reads what stands below `structure:` into a collection."""

    def __init__(self, reader: Reader, spaces: Mapping[str, str], into: CollectedItems) -> None:
        self.reader, self.spaces, self.into = reader, spaces, into

    def read_structure(self, nodes: Mapping[str, Node]) -> str:
        """Read the nodes of the structure; return the id of the holding space."""
        holding, _ = self.reader.read_fields(nodes, STRUCTURE, "holding_space")
        self.read_children(nodes, "items", "structure", ROOT)
        alias = str(holding.get("holding_space", ""))
        return self.spaces.get(alias, alias)

    def read_children(self, nodes: Mapping[str, Node], list_key: str, of: str, parent: Ref) -> None:
        """Add the items of a list; its order counts unless the file says otherwise, and only where there is a list."""
        order, _ = self.reader.read_fields(nodes, STRUCTURE, "order")
        refs = tuple(self.read_list(self.reader.read_sequence(nodes.get(list_key), list_key), of, parent))
        if list_key in nodes and order.get("order") != UNMANAGED:
            self.into.orders[parent] = refs

    def read_list(self, nodes: list[Node], of: str, parent: Ref) -> Iterator[Ref]:
        """Yield the refs of the items that the entries of a list declare."""
        for node in nodes:
            if (kind := self.find_kind(node, of)) is not None and (
                ref := self.read_item(node, kind, parent)
            ) is not None:
                yield ref

    def find_kind(self, node: Node, of: str) -> Kind | None:
        """Return what an entry declares, by the key that it has; a finding when that cannot be said."""
        wanted = " or ".join(_WITHIN[of])
        if not isinstance(node.value, dict):
            self.reader.report_type(node, f"an entry of {of}", f"a mapping with {wanted}")
            return None
        found = [kind for kind in ("section", "group", "variant") if kind in node.value]
        if len(found) != 1:
            said = "has both " + " and ".join(found) if found else f"says not which {wanted} it is"
            self.reader.add_finding("SY003", node, f"this entry {said}", f"start it with one of: {wanted}")
            return None
        if found[0] not in _WITHIN[of]:
            message = f"a {found[0]} cannot stand in a {of}"
            self.reader.add_finding("SY003", node.value[found[0]], message, f"here stand: {', '.join(_WITHIN[of])}")
            return None
        return found[0]

    def read_item(self, node: Node, kind: Kind, parent: Ref) -> Ref | None:
        """Add the item that an entry of a known kind declares, and return its ref, None where it has none."""
        reader, keys = self.reader, _KEYS[kind]
        nodes = reader.read_mapping(node, f"this {kind}", keys, of=kind)
        name = reader.read_text(nodes[kind], kind)
        if not name:
            return None
        values, places = reader.read_fields(nodes, keys, *_FIELDS[kind])
        if "space" in values:
            values["space"] = self.spaces.get(values["space"], values["space"])
        elif kind == "variant" and "space" not in nodes:
            reader.add_finding("SY004", nodes[kind], f'variant "{name}" has no space', "name one that is under spaces:")
        above = parent.key
        key = f"{above}/{name}" if kind == "variant" and above else name
        identity = read_identity(reader, nodes, keys, places)
        item = Item(kind, key, values, reader.locate_node(nodes[kind]), places, parent, **identity)
        new = self.into.add(item)
        if kind != "variant" and new:
            self.read_children(nodes, "items" if kind == "group" else "variants", kind, item.ref)
        return item.ref if new else None
