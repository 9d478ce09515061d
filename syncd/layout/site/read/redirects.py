"""Redirects in YAML: entries become items, one for each old address."""

import re
from collections.abc import Iterator
from typing import Any

from syncd.layout.site.read.declared import Item, Place
from syncd.layout.site.read.reader import Reader, is_wrong, shorten_text
from syncd.layout.site.read.shape import REDIRECT, TO
from syncd.layout.site.read.structure import read_identity
from syncd.layout.yaml.nodes import Node
from syncd.model.redirect import make_source_key

_PLAIN = frozenset({"from", "to"})
_SINGLE = ("id", "was")
_ADDRESS = re.compile(r"https?://")


def read_redirects(reader: Reader, nodes: list[Node]) -> Iterator[Item]:
    """Yield the redirects in the entries of a list; a wrong entry becomes a finding."""
    for node in nodes:
        entry = reader.read_mapping(node, "a redirect", REDIRECT, of="redirect")
        if "from" not in entry:
            if isinstance(node.value, dict):
                reader.add_finding("SY004", node, "this redirect has no from", "write from: /old/address")
            continue
        fields: dict[str, Any] = {}
        places: dict[str, Place] = {}
        if (to := entry.get("to")) is not None:
            fields["to"] = _read_destination(reader, to, places)
        noted, at_note = reader.read_fields(entry, REDIRECT, "note") if "note" in entry else ({}, {})
        places.update(at_note)
        identity = read_identity(reader, entry, REDIRECT, places) if entry.keys() - _PLAIN else {}
        given = entry["from"]
        several = isinstance(given.value, list) and len(given.value) > 1
        for name in _SINGLE if several else ():
            if name in entry:
                reader.add_finding(
                    "SY004", entry[name], f"{name} can stand only beside a single from", "split the entry"
                )
                identity.pop(name, None)
        for source, at in reader.read_texts(given, "from", single=True):
            place = reader.locate_text(at)
            values, where = {"source": source, **fields}, {"source": place, **places}
            if to is None or fields["to"] is not None:
                yield Item("redirect", make_source_key(source), values, place, where, **identity, **noted)


def _read_destination(reader: Reader, node: Node, places: dict[str, Place]) -> dict[str, Any] | None:
    """What `to` has, whatever it has: rules say whether that is one destination."""
    if isinstance(node.value, str):
        ways = "{ section: KEY }, { variant: SECTION/VARIANT }, { page: PATH, in: SECTION/VARIANT }"
        hint = f"write {{ url: {shorten_text(node.value)} }}" if _ADDRESS.match(node.value) else ""
        what = f'to is the text "{shorten_text(node.value)}"; it must be a mapping'
        reader.add_finding("SY004", node, what, hint or f"write {ways} or {{ url: https://… }}")
        return None
    members = reader.read_mapping(node, "to", TO)
    places["to"] = reader.locate_node(node)
    if not isinstance(node.value, dict) or len(members) != len(node.value):
        return None
    found: dict[str, Any] = {}
    for name, member in members.items():
        if name == "raw":
            if not isinstance(member.value, dict):
                reader.report_type(member, "raw", "a mapping")
                return None
            value = member.plain_value
        elif is_wrong(value := reader.read_value(member, name, TO[name])):
            return None
        found[name], places[f"to.{name}"] = value, reader.locate_node(member)
    return found
