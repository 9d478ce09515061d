"""One file of YAML under inspection: values of the right type come out, every mistake is noted with its place."""

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from syncd.errors import FileInvalid
from syncd.layout.lint.finding import Finding
from syncd.layout.site.read.declared import Place
from syncd.layout.site.read.rules import report_finding
from syncd.layout.site.read.shape import SYNONYMS, UNWRITABLE, Key, Keys
from syncd.layout.yaml.compose import compose_tree
from syncd.layout.yaml.nodes import BYTES_MAX, Node, Tree
from syncd.layout.yaml.yaml import NUMBER, SWITCH
from syncd.model.text import mask_unprintable

_DATE = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9:.+Zz -]*)?")
_SWITCH, _NUMBER = (re.compile(pattern, re.IGNORECASE) for pattern in (SWITCH, NUMBER))
_MARKER = re.compile(r"^<{7} ", re.MULTILINE)
"""The first line of a conflict that a merge of Git left."""
_SHOWN = 60
_NAME_MAX = 1000
_GUESSES = 200
"""Unknown keys for which a likeness is searched; whoever has more of them has another problem."""
_LIKE = 0.6
_WRONG: Any = object()


class Reader:
    """Reads one file; `findings` has what is wrong in it. A value that is wrong is left out of what is returned."""

    def __init__(self, text: str, path: str) -> None:
        self.path, self.text = path, text
        self.findings: list[Finding] = []
        self.tree = Tree("", None)
        self.guesses = 0

    def parse_document(self, *, bytes_max: int = BYTES_MAX) -> Node | None:
        """Return the node of the document; None when there is none, or when it cannot be read."""
        try:
            self.tree = compose_tree(self.text, at=self.path, bytes_max=bytes_max, repeats=True)
        except FileInvalid as invalid:
            place = Place(self.path, invalid.line, invalid.column)
            said, hint = _SYNTAX.get(invalid.reason, (invalid.reason, ""))
            if marker := _MARKER.search(self.text):
                place = Place(self.path, self.text.count("\n", 0, marker.start()) + 1, 1)
                said, hint = "a merge was not settled here", "keep what is right and remove the markers"
            self.findings.append(report_finding("SY001", place, said, hint))
            return None
        for first, again in self.tree.repeated:
            line = self.tree.locate(first.start)[0]
            message = f'"{shorten_text(again.value)}" is set twice (first at line {line})'
            self.findings.append(report_finding("SY002", self.locate_text(again), message, "keep one of them"))
        return self.tree.root

    def locate_text(self, node: Node) -> Place:
        """Return the place of a node's text, as wide as it is on its first line."""
        line, column = self.tree.locate(node.start)
        ends = self.text.find("\n", node.start, node.end)
        end = node.end if ends < 0 else ends
        return Place(self.path, line, column, max(1, end - node.start))

    def locate_node(self, node: Node) -> Place:
        """Return the place to point at for a node: its text, or its key where the text is a block or empty."""
        if node.key is not None and (node.style == "-" or node.start == node.end):
            return self.locate_text(node.key)
        if node.style == "-":
            line, column = self.tree.locate(node.start)
            return Place(self.path, line, column)
        return self.locate_text(node)

    def locate_members(self, node: Node, prefix: str) -> dict[str, Place]:
        """Return the places of everything below a node, by names joined by dots behind a prefix.

        Names that are longer than any that has a meaning are left out, with what is below.
        """
        found: dict[str, Place] = {}
        waiting = [(prefix, node)]
        while waiting:
            name, here = waiting.pop()
            if len(name) > _NAME_MAX:
                continue
            if here is not node:
                found[name] = self.locate_node(here)
            inner = here.value
            if isinstance(inner, dict | list):
                pairs = inner.items() if isinstance(inner, dict) else enumerate(inner)
                waiting += [(f"{name}.{key}" if name else str(key), child) for key, child in pairs]
        return found

    def add_finding(self, code: str, node: Node, message: str, hint: str = "") -> None:
        """Add a finding about a node."""
        self.findings.append(report_finding(code, self.locate_node(node), message, hint))

    def read_mapping(
        self, node: Node | None, name: str, keys: Keys | None = None, *, of: str = ""
    ) -> Mapping[str, Node]:
        """Return the nodes of a mapping by key, without unknown keys, which become findings, as any other kind of node
        does.
        """
        if node is None:
            return {}
        if not isinstance(node.value, dict):
            self.report_type(node, name, "a mapping")
            return {}
        if keys is None:
            return node.value
        known = {}
        for key, child in node.value.items():
            if key in keys:
                known[key] = child
            else:
                self.report_unknown_key(child, keys, of)
        return known

    def report_unknown_key(self, node: Node, keys: Keys, of: str = "") -> None:
        """Add a finding about a key that has no meaning in its place, with the key that was probably meant."""
        assert node.key is not None
        name = str(node.key.value)
        if why := UNWRITABLE.get(of, {}).get(name):
            self.findings.append(report_finding("SY003", self.locate_text(node.key), why, "take the line out"))
            return
        self.guesses += 1
        near = _suggest_key(name, keys) if self.guesses <= _GUESSES else ""
        meant = f'; did you mean "{near}"?' if near else ""
        hint = f"known here: {', '.join(keys)}"
        self.findings.append(
            report_finding("SY003", self.locate_text(node.key), f'unknown key "{shorten_text(name)}"{meant}', hint)
        )

    def read_sequence(self, node: Node | None, name: str) -> list[Node]:
        """Return the nodes of a list; any other kind of node becomes a finding."""
        if node is None or isinstance(node.value, list):
            return [] if node is None else node.value
        self.report_type(node, name, "a list")
        return []

    def read_text(self, node: Node, name: str) -> str:
        """Return the text of a node; "" and a finding when it is something else."""
        value = self.read_value(node, name, _TEXT)
        return "" if value is _WRONG else str(value)

    def read_texts(self, node: Node | None, name: str, *, single: bool = False) -> Iterator[tuple[str, Node]]:
        """Yield each text of a list, or with `single` also a lone text, with its node."""
        if node is None:
            return
        alone = single and not isinstance(node.value, list | dict)
        for each in [node] if alone else self.read_sequence(node, name):
            value = self.read_value(each, name, _TEXT)
            if value is not _WRONG:
                yield value, each

    def read_fields(
        self, nodes: Mapping[str, Node], keys: Keys, *names: str, of: str = ""
    ) -> tuple[dict[str, Any], dict[str, Place]]:
        """Return the values of the named keys that are of the right type, and their places.

        `of` names what the keys belong to, where their names do not say by themselves what they mean.
        """
        values: dict[str, Any] = {}
        places: dict[str, Place] = {}
        for name in names:
            if (node := nodes.get(name)) is not None and (
                value := self.read_value(node, f"{of}.{name}" if of else name, keys[name])
            ) is not _WRONG:
                values[name], places[name] = value, self.locate_node(node)
        return values, places

    def read_value(self, node: Node, name: str, key: Key) -> Any:
        """Return the value of a node; `_WRONG`, and a finding, when it is not what the key has to hold."""
        value = node.value
        if value is None and key.nullable:
            return None
        if key.holds == "flag" and isinstance(value, bool):
            return value
        if key.holds == "count" and isinstance(value, int) and not isinstance(value, bool):
            return value
        if key.holds == "text" and isinstance(value, str) and not (node.style == "" and _explain_trap(value)):
            if not key.choices or value in key.choices:
                return value
            self.report_unknown_word(node, name, key)
            return _WRONG
        self.report_type(node, name, _WANTED[key.holds], nullable=key.nullable)
        return _WRONG

    def report_unknown_word(self, node: Node, name: str, key: Key) -> None:
        """Add a finding about a word that is not among those allowed, with the one that was probably meant."""
        near = get_close_matches(str(node.value)[:_SHOWN], key.choices, n=1, cutoff=_LIKE)
        meant = f'; did you mean "{near[0]}"?' if near else ""
        known = " or ".join(filter(None, [", ".join(key.choices[:-1]), key.choices[-1]]))
        self.add_finding("SY004", node, f'{name} is "{shorten_text(node.value)}"; it must be {known}{meant}')

    def report_type(self, node: Node, name: str, wanted: str, *, nullable: bool = False) -> None:
        """Add a finding about a node of the wrong type, with how to write what was probably meant."""
        value, written = node.value, self.text[node.start : node.end]
        if wanted == _WANTED["text"] and node.style == "" and value is not None and (what := _explain_trap(written)):
            quoted = '"' + written.replace("\\", "\\\\").replace('"', '\\"') + '"'
            self.add_finding("SY004", node, f"{name} {shorten_text(written)} is {what}; quote it: {quoted}")
        elif value is None:
            message = f"{name} has no value" if node.start == node.end else f"{name} cannot be {shorten_text(written)}"
            other = "" if nullable else "leave the key out to leave it alone"
            self.add_finding("SY004", node, f"{message}; it must be {wanted}", other)
        elif wanted == _WANTED["flag"] and isinstance(value, str) and _SWITCH.fullmatch(value):
            meant = "true" if value.lower() in ("y", "yes", "on") else "false"
            self.add_finding("SY004", node, f"{name} {value} is no boolean here; write {meant}")
        else:
            self.add_finding("SY004", node, f"{name} is {_find_kind(node)}; it must be {wanted}")


def shorten_text(text: Any) -> str:
    """Return something from a file in one line, no longer than people read."""
    line = mask_unprintable(" ".join(str(text).split()), "?")
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"


def is_wrong(value: Any) -> bool:
    """Return whether `Reader.read_value` refused a value."""
    return value is _WRONG


def _suggest_key(name: str, keys: Keys) -> str:
    plain = {key.replace("_", ""): key for key in keys}
    plain |= {other: key for other, key in SYNONYMS.items() if key in keys and other not in plain}
    near = get_close_matches(name[:_SHOWN].lower().replace("_", "").replace("-", ""), plain, n=1, cutoff=_LIKE)
    return plain[near[0]] if near else ""


def _explain_trap(text: str) -> str:
    """What a plain scalar is to this reader, or to older readers of YAML, when that is not text; else ""."""
    if text[:1].isalpha():
        lowered = text.lower()
        if lowered in ("true", "false"):
            return "a boolean"
        return "a boolean to other readers of YAML" if len(text) <= 3 and _SWITCH.fullmatch(text) else ""
    if not text[:1] or text[0] not in "0123456789+-.":
        return ""
    return "a date" if _DATE.fullmatch(text) else "a number" if _NUMBER.fullmatch(text) else ""


def _find_kind(node: Node) -> str:
    value = node.value
    if isinstance(value, bool):
        return f"the boolean {str(value).lower()}"
    if isinstance(value, int | float):
        return f"the number {shorten_text(value)}"
    if isinstance(value, dict | list):
        return "a mapping" if isinstance(value, dict) else "a list"
    return f'the text "{shorten_text(value)}"'


_TEXT = Key("", "text")
_WANTED = {
    "text": "text",
    "texts": "a list of texts",
    "flag": "true or false",
    "count": "a whole number",
    "mapping": "a mapping",
    "list": "a list",
}
_OPEN = "close the bracket that was opened before, or write the comma"
_SYNTAX = {
    "this quoted text is not closed": ("this quoted text is not closed", "end it with the same quote"),
    "a tab cannot indent": ("a tab cannot indent", "indent with spaces"),
    "found character that cannot start any token": (
        "no value can start with this sign",
        "quote text that starts with @, ` or %",
    ),
    "did not find expected ',' or '}'": ("a comma or } is missing before this", _OPEN),
    "did not find expected ',' or ']'": ("a comma or ] is missing before this", _OPEN),
    "did not find expected key": (
        "this is no key, and one belongs here",
        "keys and items that belong together begin in the same column",
    ),
    "block sequence entries are not allowed in this context": (
        "no list can begin here",
        "begin the list on a line of its own",
    ),
    "mapping values are not allowed in this context": (
        "this colon makes a key of what is before it, and no key can stand here",
        'check the indentation of this line and the one before, or quote text that has ": " in it',
    ),
    "uses an alias, an anchor or a tag": (
        "uses an alias, an anchor or a tag",
        "write the value out; quote text that starts with !, & or *",
    ),
    "uses a merge key": ("uses a merge key", "write the values out"),
}
"""What is said of what the YAML parser says, and what to do about it."""
