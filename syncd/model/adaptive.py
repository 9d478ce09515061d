"""SiteAdaptiveSchema (`site-adaptive-schema`): what a site may know about its visitors, and conditions made from it."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from syncd.model.base import Declared, Observed

DRAFT = "http://json-schema.org/draft-07/schema#"
UNSIGNED = "unsigned"
"""The claim that holds those which nobody signed; the only one that needs no description."""
UNSIGNED_DESCRIPTION = "Unsigned claims of the site visitor."
"""What the product wants to read there, word for word. Source: `SiteAdaptiveJSONSchema`, @gitbook/api 0.146.0."""
CLAIMS_MAX = 200
"""Claims of one schema, objects included."""
DEPTH_MAX = 5
"""Names from the root to a claim."""
NAME_MAX = 64
DESCRIPTION_MAX = 512
ENUM_MAX = 100
VALUE_MAX = 100
"""Characters of one value of an enum; with the limits above, every condition made here fits into a condition."""

_NAME = re.compile(r'[^\s"\\\x00-\x1f\x7f-\x9f](?:[^"\\\x00-\x1f\x7f-\x9f]*[^\s"\\\x00-\x1f\x7f-\x9f])?')
_WORD = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_MEMBERS = {
    "boolean": {"type", "description"},
    "string": {"type", "description", "enum"},
    "number": {"type", "description"},
    "array": {"type", "description", "items"},
    "object": {"type", "description", "properties", "additionalProperties"},
}


class SiteAdaptiveSchema(Observed):
    """The schema of a site's visitors. Source: API document, SiteAdaptiveSchema."""

    object: Literal["site-adaptive-schema"] = "site-adaptive-schema"
    json_schema: dict[str, Any]
    updated_at: str | None = None


class SiteAdaptiveSchemaWrite(Declared):
    """Body of `PUT …/adaptive-schema`."""

    json_schema: dict[str, Any]


class TemplateCondition(Observed):
    """A condition that a site's schema suggests."""

    description: str
    condition: str


class TemplateConditions(Observed):
    """Answer of `GET …/adaptive-schema/template-conditions`."""

    items: tuple[TemplateCondition, ...]


@dataclass(frozen=True)
class Claim:
    """Something that may be known about a visitor.

    Shape: `path` is its names below `visitor.claims`; `kind` is a type of JSON Schema, `object` excepted; `of` is, for
    an array, the kind of its items; `values` are those that an enum allows.
    """

    path: tuple[str, ...]
    kind: str
    description: str
    values: tuple[str, ...] = ()
    of: str = ""


def find_claims(schema: Mapping[str, Any]) -> tuple[Claim, ...]:
    """Return the claims of a JSON Schema of visitors, in its order.

    Shape: booleans, strings (with an `enum` or without), numbers, arrays of those, and objects of any of these, each
    with a description. Raises: ValueError that names the place, for anything else. Source: @gitbook/api 0.146.0.
    """
    if schema.get("$schema", DRAFT) != DRAFT:
        raise _wrong(("$schema",), f"must be {DRAFT}")
    _only(schema, {"$schema", "type", "properties", "additionalProperties"}, ())
    found = tuple(islice(_object(schema, (), ()), CLAIMS_MAX + 1))
    if len(found) > CLAIMS_MAX:
        raise ValueError(f"jsonSchema: has more than {CLAIMS_MAX} claims")
    return tuple(claim for claim in found if claim.kind != "object")


def suggest_conditions(claims: tuple[Claim, ...]) -> tuple[TemplateCondition, ...]:
    """Return one suggested condition for each claim."""
    return tuple(_suggest_condition(claim) for claim in claims)


def _object(schema: Mapping[str, Any], at: tuple[str, ...], path: tuple[str, ...]) -> Iterator[Claim]:
    if schema.get("type") != "object":
        raise _wrong((*at, "type"), "must be object")
    if schema.get("additionalProperties") is not False:
        raise _wrong((*at, "additionalProperties"), "must be false")
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        raise _wrong((*at, "properties"), "must be an object")
    if properties and len(path) == DEPTH_MAX:
        raise _wrong(at, f"claims nest at most {DEPTH_MAX} deep")
    for name, member in properties.items():
        if len(name) > NAME_MAX or not _NAME.fullmatch(name):
            raise _wrong((*at, "properties"), f"a claim's name is 1 to {NAME_MAX} characters, none of them a quote")
        yield from _claim(member, (*at, "properties", name), (*path, name))


def _claim(schema: Any, at: tuple[str, ...], path: tuple[str, ...]) -> Iterator[Claim]:
    kind = _kind(schema, at, ("boolean", "string", "number", "array", "object"))
    description = schema.get("description", "" if path == (UNSIGNED,) else None)
    if not isinstance(description, str) or len(description) > DESCRIPTION_MAX:
        raise _wrong((*at, "description"), f"must be a text of at most {DESCRIPTION_MAX} characters")
    if kind == "object":
        yield Claim(path, kind, description)
        yield from _object(schema, at, path)
    elif kind == "array":
        items = schema.get("items")
        of = _kind(items, (*at, "items"), ("boolean", "string", "number"))
        yield Claim(path, kind, description, _values(items, (*at, "items")), of)
    else:
        yield Claim(path, kind, description, _values(schema, at))


def _kind(schema: Any, at: tuple[str, ...], kinds: tuple[str, ...]) -> str:
    kind = schema.get("type") if isinstance(schema, dict) else None
    if not isinstance(kind, str) or kind not in kinds:
        raise _wrong((*at, "type"), f"must be one of {', '.join(kinds)}")
    _only(schema, _MEMBERS[kind], at)
    return kind


def _values(schema: Mapping[str, Any], at: tuple[str, ...]) -> tuple[str, ...]:
    values = schema.get("enum", ())
    if "enum" in schema and not (isinstance(values, list) and 0 < len(values) <= ENUM_MAX):
        raise _wrong((*at, "enum"), f"must be a list of 1 to {ENUM_MAX} values")
    for value in values:
        if not isinstance(value, str) or len(value) > VALUE_MAX or not value.isprintable():
            raise _wrong((*at, "enum"), f"each value is a printable text of at most {VALUE_MAX} characters")
    if len(set(values)) < len(values):
        raise _wrong((*at, "enum"), "no value comes twice")
    return tuple(values)


def _only(schema: Mapping[str, Any], members: set[str], at: tuple[str, ...]) -> None:
    if set(schema) - members:
        raise _wrong(at, f"may only have {', '.join(sorted(members))}")


def _wrong(at: tuple[str, ...], problem: str) -> ValueError:
    return ValueError(f"{'.'.join(('jsonSchema', *at))}: {problem}")


def _suggest_condition(claim: Claim) -> TemplateCondition:
    label, value = ".".join(claim.path), claim.values[0] if claim.values else ""
    read = "visitor.claims" + "".join(
        f".{name}" if _WORD.fullmatch(name) else f"[{_text(name)}]" for name in claim.path
    )
    match claim.kind:
        case "boolean":
            said, condition = f"{label} is true", f"{read} === true"
        case "string" if value:
            said, condition = f"{label} is {value}", f"{read} === {_text(value)}"
        case "array" if value:
            said, condition = f"{label} has {value}", f"{read}.includes({_text(value)})"
        case "array":
            said, condition = f"{label} has an entry", f"{read}.length > 0"
        case "number":
            said, condition = f"{label} is more than 0", f"{read} > 0"
        case _:
            said, condition = f"{label} is known", f"{read} !== undefined"
    return TemplateCondition(description=f"Visitors of whom {said}", condition=condition)


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)
