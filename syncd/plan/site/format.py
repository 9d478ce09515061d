"""Names and values of a site in words that fit on a line and hold nothing that a terminal would obey."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from syncd.model.ref import Ref
from syncd.model.text import show_unprintable
from syncd.plan.site.live_state import IdOf
from syncd.plan.site.steps import FieldChange, Line, to_json

VALUE_MAX = 80
"""Characters of a value, beyond which its middle is left out."""
_TITLE_MAX = 30
_DEEP = 12
_SINGLES = {"site": "site", "visitors": "visitors", "customization": "customization", "group": "structure"}


def shorten(text: str) -> str:
    """Return a text on one line that is not longer than a value may be."""
    return _cut_around(show_unprintable(text), 0)


def format_name(line: Line) -> str:
    """Return the name of what a line is about: `section developers`, `redirect /api`."""
    if line.ref.kind == "redirect":
        key = line.ref.key
        source = next((field.after or field.before for field in line.fields if field.name == "source"), key)
        return f"redirect {show_unprintable(str(source))}"
    return format_ref(line.ref)


def format_ref(ref: Ref) -> str:
    """Return a ref as people say it: `section developers`, `site`."""
    kind, key = ref.kind, ref.key
    return f"{kind} {show_unprintable(key)}" if key else _SINGLES.get(kind, kind)


def quote_ref(ref: Ref) -> str:
    """Return a ref with its key in quotes: `section "developers"`."""
    return f'{ref.kind} "{ref.key}"'


def format_place(where: str) -> str:
    """Return file:line of a place file:line:column."""
    return show_unprintable(where.rpartition(":")[0]) if where.count(":") > 1 else show_unprintable(where)


def split_change(field: FieldChange) -> list[FieldChange]:
    """Return the changes inside of one, each by its path: of a long menu, the one link that differs."""
    if field.name == "destination" or field.before is None or field.after is None:
        return [field]
    inside = _find_differences(field.name, field.before, field.after)
    return [replace(field, name=path, before=before, after=after) for path, before, after in inside] or [field]


def format_change(field: FieldChange) -> tuple[str, str]:
    """Return the value before and after a change, both cut where they are alike so that they still differ."""
    before, after = _format_value(field.before), _format_value(field.after)
    if max(len(before), len(after)) <= VALUE_MAX:
        return before, after
    start = 0
    if before != after:
        start = next(
            (at for at, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after))
        )
    return _cut_around(before, start), _cut_around(after, start)


def _find_differences(path: str, before: Any, after: Any, deep: int = 0) -> Iterator[tuple[str, Any, Any]]:
    """Where two values differ; what is empty counts as what is not there."""
    if deep < _DEEP and isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in dict.fromkeys((*after, *before)):
            yield from _find_differences(f"{path}.{key}", before.get(key), after.get(key), deep + 1)
    elif deep < _DEEP and isinstance(before, list | tuple) and isinstance(after, list | tuple):
        yield from _compare_lists(path, list(before), list(after), deep)
    elif before != after and not (_is_empty(before) and _is_empty(after)):
        yield path, before, after


def _compare_lists(path: str, before: list[Any], after: list[Any], deep: int) -> Iterator[tuple[str, Any, Any]]:
    """Where two lists differ, between what they begin and end with alike."""
    short = min(len(before), len(after))
    start = next((at for at in range(short) if before[at] != after[at]), short)
    end = next((at for at in range(short - start) if before[-1 - at] != after[-1 - at]), short - start)
    for at in range(start, max(len(before), len(after)) - end):
        old = before[at] if at < len(before) - end else None
        new = after[at] if at < len(after) - end else None
        name = next((str(one["title"]) for one in (new, old) if isinstance(one, Mapping) and one.get("title")), "")
        yield from _find_differences(f"{path}[{name[:_TITLE_MAX] or at + 1}]", old, new, deep + 1)


def _is_empty(value: Any) -> bool:
    return value is None or value in ("", {}, [], ())


def _format_value(value: Any) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case IdOf(ref=to):
            return show_unprintable(to.words)
        case str():
            if not value or value != value.strip() or ('"' in value and "'" in value):
                return show_unprintable(json.dumps(value, ensure_ascii=False))
            return show_unprintable(f"'{value}'" if '"' in value else value)
        case {"kind": "external", "url": str(url)}:
            return show_unprintable(url)
        case {"kind": "site-section", "siteSectionId": to}:
            return _format_target("section", to)
        case {"kind": "site-space", "siteSpaceId": to}:
            return _format_target("variant", to)
        case {"kind": "site-page", "siteSpaceId": to, "pageId": page}:
            return f"page {show_unprintable(str(page))} in {_format_target('variant', to)}"
        case [*members] if members and all(isinstance(member, IdOf) for member in members):
            return ", ".join(show_unprintable(member.ref.key) for member in members)
        case Mapping() | list() | tuple():
            return show_unprintable(json.dumps(to_json(value), ensure_ascii=False, sort_keys=True))
    return show_unprintable(str(value))


def _format_target(kind: str, to: Any) -> str:
    return _format_value(to) if isinstance(to, IdOf) else f"{kind} {show_unprintable(str(to))}"


def _cut_around(text: str, at: int) -> str:
    """A window of a long text around a place in it."""
    if len(text) <= VALUE_MAX:
        return text
    start = max(0, min(at - VALUE_MAX // 4, len(text) - VALUE_MAX))
    left, right = "…" if start else "", "…" if start + VALUE_MAX < len(text) else ""
    return f"{left}{text[start : start + VALUE_MAX]}{right}"
