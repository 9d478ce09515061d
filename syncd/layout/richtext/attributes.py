"""Attributes of tags: which member of a node each becomes, and how its value is written."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from syncd.layout.richtext.html.elements import Attributes
from syncd.layout.richtext.nodes import Node, make_url_ref, read_url

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,17})?")
_INTEGER_MAX = 1e15
"""Below it, every whole number is exact in JSON."""


@dataclass(frozen=True)
class ValueFormat:
    """A kind of value: `read` returns None for text that is not one, `write` for a value that has no text."""

    read: Callable[[str], Any]
    write: Callable[[object], str | None]


@dataclass(frozen=True)
class NodeMember:
    """The member of a node that an attribute becomes, and the format of its value."""

    member: str
    form: ValueFormat


def read_members(attributes: Attributes, known: Mapping[str, NodeMember]) -> Node | None:
    """Return the members of a node that attributes become; None when one of them becomes none."""
    members: Node = {}
    for name, text in attributes.items():
        value = known.get(name)
        if value is None or (text is None) is not (value.form is BARE):
            return None
        member = True if text is None else value.form.read(text)
        if member is None:
            return None
        members[value.member] = member
    return members


def write_members(members: Node, known: Mapping[str, NodeMember]) -> dict[str, str | None] | None:
    """Return the attributes that become the members of a node; None when a member has none."""
    names = {value.member: name for name, value in known.items()}
    attributes: dict[str, str | None] = {}
    for member, value in members.items():
        name = names.get(member)
        text = known[name].form.write(value) if name is not None else None
        if name is None or text is None:
            return None
        attributes[name] = None if known[name].form is BARE else text
    return attributes


def make_choice(*texts: str) -> ValueFormat:
    """Return the format of a value that is one of these texts."""
    known = frozenset(texts)
    return ValueFormat(
        lambda text: text if text in known else None,
        lambda value: value if isinstance(value, str) and value in known else None,
    )


def read_number(text: str) -> float | None:
    """Return the number that a text is; None when it is none, or would be written differently."""
    if not _NUMBER.fullmatch(text):
        return None
    number = float(text) if "." in text else int(text)
    return number if write_number(number) == text else None


def write_number(value: object) -> str | None:
    """Return a number as text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return None
    return str(int(value)) if abs(value) < _INTEGER_MAX and value == int(value) else repr(value)


def _read_length(text: str) -> Any:
    number = read_number(text.removesuffix("%"))
    return {"unit": "%", "value": number} if number is not None and text.endswith("%") else number


def _write_length(value: object) -> str | None:
    if isinstance(value, dict) and value.keys() == {"unit", "value"} and value["unit"] == "%":
        number = write_number(value["value"])
        return None if number is None else f"{number}%"
    return write_number(value)


def _read_size(text: str) -> Any:
    length = _read_length(text)
    return text if length is None else length


def _write_size(value: object) -> str | None:
    if isinstance(value, str):
        return value if _read_length(value) is None else None
    return _write_length(value)


def _write_words(value: object) -> str | None:
    if not isinstance(value, list) or not value:
        return None
    if not all(isinstance(word, str) and "," not in word for word in value):
        return None
    return ",".join(value)


def _write_tags(value: object) -> str | None:
    if not isinstance(value, list):
        return None
    are_tags = all(isinstance(ref, dict) and ref.keys() == {"kind", "tag"} and ref["kind"] == "tag" for ref in value)
    return _write_words([ref["tag"] for ref in value]) if are_tags else None


def _write_spec(value: object) -> str | None:
    if not isinstance(value, dict) or value.keys() != {"kind", "spec"} or value["kind"] != "openapi":
        return None
    return value["spec"] if isinstance(value["spec"], str) else None


TEXT = ValueFormat(str, lambda value: value if isinstance(value, str) else None)
BARE = ValueFormat(lambda text: None, lambda value: "" if value is True else None)
"""An attribute without a value, which is there or not: true."""
FLAG = ValueFormat(
    {"true": True, "false": False}.get, lambda value: str(value).lower() if isinstance(value, bool) else None
)
NUMBER = ValueFormat(read_number, write_number)
LENGTH = ValueFormat(_read_length, _write_length)
SIZE = ValueFormat(_read_size, _write_size)
"""A length, or any other text."""
WORDS = ValueFormat(lambda text: text.split(","), _write_words)
URL = ValueFormat(make_url_ref, read_url)
TAG_REFS = ValueFormat(lambda text: [{"kind": "tag", "tag": tag} for tag in text.split(",")], _write_tags)
SPEC = ValueFormat(lambda text: {"kind": "openapi", "spec": text}, _write_spec)
