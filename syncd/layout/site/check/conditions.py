"""Conditions of a site file: whether each can be read, is about claims that there are, and keeps anybody out.

Source: syncd/manual/reference/site-file.md, "visitors".
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from syncd.layout.lint.finding import Finding
from syncd.layout.site.check.condition_reach import can_pass, reads_only_unsigned
from syncd.layout.site.read.customization import find_place
from syncd.layout.site.read.declared import Item, Place, SiteFile
from syncd.layout.site.read.members import format_value
from syncd.layout.site.read.rules import report_finding
from syncd.layout.site.read.visitors import find_declared, format_claims, list_claims, suggest_claim
from syncd.model.adaptive import UNSIGNED
from syncd.model.condition import CONDITION_MAX, NoCondition, Part, split_condition
from syncd.model.ref import VISITORS

_EQUALITIES = frozenset({"==", "===", "!=", "!=="})
_KINDS = {bool: "boolean", float: "number", str: "string"}


@dataclass(frozen=True)
class Condition:
    """A declared condition: whose it is, its text, its place, and whether content stands behind it."""

    item: Item
    text: str
    place: Place
    content: bool

    def at(self, span: tuple[int, int]) -> Place:
        """Return the place of a part's span in the text, or that of the whole text where that is written with
        escapes.
        """
        quotes = (self.place.width - len(self.text)) / 2
        if quotes not in (0, 1):
            return self.place
        width = max(span[1] - span[0], 1)
        return replace(self.place, column=self.place.column + int(quotes) + span[0], width=width)


def list_conditions(file: SiteFile) -> Iterator[Condition]:
    """Yield every condition in a site file: those of sections and variants, and those of links."""
    for item in file.of("section", "variant"):
        if isinstance(text := item.fields.get("condition"), str):
            yield Condition(item, text, item.where("condition"), content=True)
    for item in file.of("customization", "override"):
        for name, value in item.fields.items():
            for path, text in _walk_conditions(value, name):
                yield Condition(item, text, find_place(item, name, path), content=False)


def _walk_conditions(value: Any, name: str | int) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if isinstance(value, str):
        if name == "condition":
            yield (), value
    elif isinstance(value, (Mapping, list, tuple)):
        for key, part in value.items() if isinstance(value, Mapping) else enumerate(value):
            yield from (((key, *path), text) for path, text in _walk_conditions(part, key))


def check_conditions(file: SiteFile, live: Mapping[str, Any] | None = None) -> Iterator[Finding]:
    """Yield the mistakes in a site file's conditions (SY201), and gates that keep nobody out (SY202).

    Shape: `live` is the platform's visitor schema, which says what claims there are when the file does not.
    """
    item = file.items.get(VISITORS)
    known = item.fields if item is not None else None if live is None else list_claims(live)
    for condition in list_conditions(file):
        if (parts := _parse_parts(condition)) is None or isinstance(parts, Finding):
            yield from (parts,) if parts else ()
            continue
        yield from _check_claims(condition, parts, known)
        if condition.content and reads_only_unsigned(parts) and not _is_kept_by_section(file, condition.item):
            message = f"an unsigned claim is the only gate on {condition.item.key}: visitors can set it in the address"
            yield report_finding(
                "SY202", condition.place, message, "ask for a signed claim as well, or publish it to everybody"
            )


def _parse_parts(condition: Condition) -> tuple[Part, ...] | Finding | None:
    """A condition's parts, or what is wrong; a section's or variant's length is judged with all other lengths."""
    if "\n" in condition.text or "\r" in condition.text:
        hint = "join its lines, or fold them with >- in place of |"
        return report_finding("SY201", condition.place, "a condition stands on one line", hint)
    if len(condition.text) > CONDITION_MAX and condition.content:
        return None
    try:
        return split_condition(condition.text)
    except NoCondition as failure:
        return report_finding("SY201", condition.at((failure.at, failure.at + 1)), str(failure))


def _is_kept_by_section(file: SiteFile, item: Item) -> bool:
    """Whether a variant's section has a condition that only a signed claim makes true."""
    section = file.items.get(item.parent) if item.kind == "variant" else None
    try:
        return section is not None and not can_pass(split_condition(section.fields.get("condition") or ""))
    except NoCondition:
        return False


def _check_claims(condition: Condition, parts: tuple[Part, ...], known: Mapping[str, Any] | None) -> Iterator[Finding]:
    for part in parts:
        if part.what == "index" and parts[part.of[0]].claim in ((), (UNSIGNED,)):
            message = "which claim this reads is only known when it is evaluated, so it cannot be checked"
            yield report_finding("SY201", condition.at(part.span), message, "name the claim", severity="warning")
        elif (
            part.claim and part.claim != (UNSIGNED,) and known is not None and find_declared(part.claim, known) is None
        ):
            spelled = condition.text[slice(*part.span)]
            near = suggest_claim(part.claim, known)
            message = f"{spelled} is not declared" + (f'; did you mean "{near}"?' if near else "")
            yield report_finding("SY201", condition.at(part.span), message, format_claims(known))
        elif part.what in _EQUALITIES and known is not None:
            yield from _check_comparison(condition, parts, part, known)


def _check_comparison(
    condition: Condition, parts: tuple[Part, ...], part: Part, known: Mapping[str, Any]
) -> Iterator[Finding]:
    """What can never be equal, because the one side is a claim of a type that the other is not."""
    sides = [parts[place] for place in part.of]
    for claim, other in (sides, sides[::-1]):
        schema = find_declared(claim.claim, known) if claim.claim else None
        kind = schema.get("type") if schema else None
        if kind not in _KINDS.values() or other.what != "value" or other.value is None:
            continue
        spelled, written = condition.text[slice(*claim.span)], condition.text[slice(*other.span)]
        if (given := _KINDS[type(other.value)]) != kind:
            message = f"{spelled} is a {kind}, but {written} is a {given}"
            hint = "compare it with true or false" if kind == "boolean" else f"compare it with a {kind}"
            yield report_finding("SY201", condition.at(other.span), message, hint)
        elif (values := (schema or {}).get("enum")) and other.value not in values:
            near = get_close_matches(str(other.value), map(str, values), n=1)
            message = f"{written} is no value of {spelled}{f'; did you mean {format_value(near[0])}?' if near else ''}"
            yield report_finding(
                "SY201", condition.at(other.span), message, f"it is one of {', '.join(map(format_value, values))}"
            )
