"""The structure of a site from the platform's own `docs.yaml`, in the words of a site file."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from syncd.errors import FileInvalid
from syncd.layout.site.read.declared import Place
from syncd.layout.site.read.shape import KEY_PATTERN
from syncd.layout.tree.paths import fold_to_ascii
from syncd.layout.yaml.nodes import Node, Tree

_KEY = re.compile(KEY_PATTERN)
_TAKEN = {
    "section-group": ("title", "icon"),
    "section": ("title", "path", "icon", "description", "condition", "default"),
    "space": ("path", "condition", "hidden", "default"),
}
_STRUCTURAL = frozenset({"type", "key", "children", "content"})
_FLAGS = frozenset({"default", "hidden"})
_WORDS = {"section-group": "group", "section": "section", "space": "variant"}
_WHY = {
    "draft": "drafts cannot be declared",
    "title": "titles of variants cannot be set through the API",
    "localizedTitle": "titles in other languages cannot be set through the API",
    "localizedDescription": "descriptions in other languages cannot be set through the API",
}


class StructureImport:
    """Reads one file; `remarks` grows with what is not taken."""

    def __init__(self, tree: Tree, path: str, spaces: Mapping[str, str]) -> None:
        self.tree, self.path, self.spaces = tree, path, spaces
        self.remarks: list[tuple[Place, str]] = []
        self.aliases: dict[str, str] = {}
        self.keys: set[str] = set()
        self.again: dict[str, int] = {}

    def read_document(self) -> dict[str, Any]:
        """Return the parts of a site file's document.

        Raises: FileInvalid when the file has no site.
        """
        root = self.tree.root
        site = root.value.get("site") if root is not None and isinstance(root.value, dict) else None
        if site is None or not isinstance(site.value, dict):
            raise FileInvalid("declares no site", path=self.path)
        document: dict[str, Any] = {}
        items = list(self.read_children(site.value.get("structure")))
        title = site.value.get("title")
        if self.aliases:
            document["spaces"] = self.aliases
        if title is not None and isinstance(title.value, str):
            document["settings"] = {"title": title.value}
        if "structure" in site.value:
            document["structure"] = {"items": items}
        return document

    def read_children(self, node: Node | None) -> Iterator[dict[str, Any]]:
        """Yield each of a list of groups, sections and spaces as a site file has it."""
        for child in node.value if node is not None and isinstance(node.value, list) else ():
            members = child.value if isinstance(child.value, dict) else {}
            kind = str(members["type"].value) if "type" in members else ""
            if kind in _WORDS:
                yield self.read_item(child, members, kind)
            else:
                is_link = kind == "external-link"
                why = "a link elsewhere is no part of the API" if is_link else "this is of no known type"
                self.add_remark(child, why)

    def read_item(self, node: Node, members: Mapping[str, Node], kind: str) -> dict[str, Any]:
        """Return a group, section or space as a site file has it, and remark what cannot be imported."""
        key = self.choose_key(node, members, kind)
        found: dict[str, Any] = {_WORDS[kind]: key}
        if kind == "space":
            found["space"] = self.choose_alias(node, members, key)
        for name in _TAKEN[kind]:
            value = members[name].value if name in members else None
            if isinstance(value, bool) == (name in _FLAGS) and isinstance(value, str | int | float):
                found |= {name: value if name in _FLAGS else str(value)} if value is not False else {}
            elif value is not None:
                self.add_remark(members[name], f"{name} is not {'true or false' if name in _FLAGS else 'text'}")
        for name, member in members.items():
            if name not in _STRUCTURAL and name not in _TAKEN[kind] and member.value not in (None, False):
                self.add_remark(member, f"{name}: {_WHY.get(name, 'has no counterpart in the API')}")
        if kind != "space":
            below = list(self.read_children(members.get("children")))
            found["items" if kind == "section-group" else "variants"] = below
        return found

    def choose_key(self, node: Node, members: Mapping[str, Node], kind: str) -> str:
        """Return a key for an item, from its own key or title, that nothing else here has."""
        given = str(members["key"].value) if "key" in members else ""
        title = str(members["title"].value) if "title" in members else ""
        wanted = given if _KEY.fullmatch(given) else fold_to_ascii(given or title)[:60].strip("-") or _WORDS[kind]
        key = wanted
        while key in self.keys:
            self.again[wanted] = self.again.get(wanted, 1) + 1
            key = f"{wanted[:54]}-{self.again[wanted]}"
        if given and key != given:
            self.add_remark(node, f"key {given} is called {key} here")
        self.keys.add(key)
        return key

    def choose_alias(self, node: Node, members: Mapping[str, Node], key: str) -> str:
        """Return the alias of a space, and remark a space whose id is not known."""
        content = members.get("content")
        inner = content.value.get("directory") if content is not None and isinstance(content.value, dict) else None
        directory = inner.value if inner is not None and isinstance(inner.value, str) else ""
        names = (key, directory, directory.removeprefix("./").strip("/"))
        if space := next((self.spaces[name] for name in names if name in self.spaces), ""):
            self.aliases[key] = space
        else:
            where = f" of {directory}" if directory else ""
            self.add_remark(node, f"the space{where} is not known: write its id under spaces, as {key}")
        return key

    def add_remark(self, node: Node, what: str) -> None:
        """Note what cannot be imported and why, with its place."""
        place = Place(self.path, *self.tree.locate(node.key.start if node.key else node.start))
        self.remarks.append((place, what))
