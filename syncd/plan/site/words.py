"""Names and values of a site in words that fit on a line and hold nothing that a terminal would obey."""

import json
from collections.abc import Mapping
from typing import Any

from syncd.plan.site.facts import Ref
from syncd.plan.site.steps import FieldChange, Line, plain

VALUE_MAX = 80
"""Characters of a value, beyond which its middle is left out."""
_SINGLES = {"site": "site", "visitors": "visitors", "customization": "customization", "group": "structure"}


def plain_text(text: str) -> str:
    """Given a text from anywhere, return it on one line, with what cannot be printed spelled out."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _spelled(char) for char in text)


def name_of(line: Line) -> str:
    """Given a line, return the name of what it is about: `section developers`, `redirect /api`."""
    kind, _, key = line.ref.partition(":")
    if not key:
        return _SINGLES.get(kind, kind)
    if kind == "redirect":
        source = next((field.after or field.before for field in line.fields if field.name == "source"), key)
        return f"redirect {plain_text(str(source))}"
    return f"{kind} {plain_text(key)}"


def place_of(where: str) -> str:
    """Given file:line:column, return file:line."""
    return plain_text(where.rpartition(":")[0]) if where.count(":") > 1 else plain_text(where)


def change_words(field: FieldChange) -> tuple[str, str]:
    """Given a change, return what is there and what shall be, cut where they are alike so that they still differ."""
    before, after = _value(field.before), _value(field.after)
    if max(len(before), len(after)) <= VALUE_MAX:
        return before, after
    start = 0
    if before != after:
        start = next(
            (at for at, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after))
        )
    return _cut(before, start), _cut(after, start)


def _value(value: Any) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case Ref(to=to):
            return plain_text(to.replace(":", " ", 1))
        case str():
            is_clear = value and value == value.strip() and '"' not in value
            return plain_text(value if is_clear else json.dumps(value, ensure_ascii=False))
        case {"kind": "external", "url": str(url)}:
            return plain_text(url)
        case {"kind": "site-section", "siteSectionId": to}:
            return _target("section", to)
        case {"kind": "site-space", "siteSpaceId": to}:
            return _target("variant", to)
        case {"kind": "site-page", "siteSpaceId": to, "pageId": page}:
            return f"page {plain_text(str(page))} in {_target('variant', to)}"
        case [*members] if members and all(isinstance(member, Ref) for member in members):
            return ", ".join(plain_text(member.to.partition(":")[2]) for member in members)
        case Mapping() | list() | tuple():
            return plain_text(json.dumps(plain(value), ensure_ascii=False, sort_keys=True))
    return plain_text(str(value))


def _target(kind: str, to: Any) -> str:
    return _value(to) if isinstance(to, Ref) else f"{kind} {plain_text(str(to))}"


def _cut(text: str, at: int) -> str:
    """A window of a long text around a place in it."""
    if len(text) <= VALUE_MAX:
        return text
    start = max(0, min(at - VALUE_MAX // 4, len(text) - VALUE_MAX))
    left, right = "…" if start else "", "…" if start + VALUE_MAX < len(text) else ""
    return f"{left}{text[start : start + VALUE_MAX]}{right}"


def _spelled(char: str) -> str:
    number = ord(char)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
