"""Schemas as lists of members: names, types, rules and words, as deep as a reader follows."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from syncd.layout.page.specifications import read_part, read_words
from syncd.web.blocks.openapi.specification import (
    Part,
    Specification,
    find_schema_name,
    read_parts,
)

DEPTH_MAX = 6
MEMBERS_MAX = 400
"""Members of all schemas of one block; what is beyond is not unfolded."""
VALUES_MAX = 1000
"""Values in all examples of one block that are made from types."""
MERGES_MAX = 5000
"""Schemas of one block that are looked at, those that are parts of others among them."""
_EXAMPLE_MAX = 8000
_RULES = {
    "minimum": "≥ {}",
    "maximum": "≤ {}",
    "exclusiveMinimum": "> {}",
    "exclusiveMaximum": "< {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "multipleOf": "a multiple of {}",
    "pattern": "matches {}",
}
_CHOICES = ("oneOf", "anyOf")


@dataclass(frozen=True)
class SchemaMember:
    """A member of a schema, or a choice in it; `flags` are words such as "required", `members` what it holds."""

    name: str
    kind: str
    description: str = ""
    flags: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    members: tuple["SchemaMember", ...] = ()


@dataclass
class SchemaReader:
    """Reads the schemas of one block; all together have a bounded number of members."""

    specification: Specification
    left: int = MEMBERS_MAX
    _values_left: int = VALUES_MAX
    _merges_left: int = MERGES_MAX
    _trail: list[str] = field(default_factory=list)

    def read_member(self, name: str, part: Part, flags: tuple[str, ...] = ()) -> SchemaMember:
        """Return a schema as a member with a name, with what it holds; one that holds itself is not unfolded again."""
        schema, label = self._merge(part), find_schema_name(part)
        self.left -= 1
        is_open = self.left > 0 and len(self._trail) < DEPTH_MAX and (not label or label not in self._trail)
        self._trail.append(label)
        members = tuple(self._list_members(schema)) if is_open else ()
        self._trail.pop()
        return SchemaMember(
            name,
            self.describe_type(part),
            read_words(part, "description") or read_words(schema, "description"),
            (*flags, *_list_flags(schema)),
            tuple(_list_rules(schema, self._merge(read_part(schema, "items")))),
            members,
        )

    def describe_type(self, part: Part, depth: int = 0) -> str:
        """Return the type of a schema in words, such as `array of Pet` or `string (date-time)`."""
        if name := find_schema_name(part):
            return name[:100]
        schema = self._merge(part)
        kind = schema.get("type")
        types = [str(one) for one in kind[:8]] if isinstance(kind, list) else [kind] if isinstance(kind, str) else []
        if "array" in types or "items" in schema:
            inner = self.describe_type(read_part(schema, "items"), depth + 1) if depth < DEPTH_MAX else "…"
            return f"array of {inner}" if inner else "array"
        for sign in _CHOICES:
            if (options := read_parts(schema.get(sign))) and depth < 2:
                return " | ".join(dict.fromkeys(self.describe_type(one, depth + 1) or "any" for one in options[:8]))
        shown = " | ".join(types) or ("object" if "properties" in schema else "enum" if "enum" in schema else "")
        shape = read_words(schema, "format")
        return f"{shown} ({shape})" if shape and shown else shown or shape

    def make_example(self, part: Part, depth: int = 0, trail: tuple[str, ...] = ()) -> Any:
        """Return a value that a schema describes: its example, or one that is made of its types."""
        self._values_left -= 1
        name, schema = find_schema_name(part), self._merge(part)
        for member in ("example", "default", "const"):
            if member in schema:
                return schema[member]
        for member in ("examples", "enum"):
            if isinstance(given := schema.get(member), list) and given:
                return given[0]
        if depth >= DEPTH_MAX or self._values_left < 0 or (name and name in trail):
            return None
        around = (*trail, name)
        if choices := next((found for sign in _CHOICES if (found := read_parts(schema.get(sign)))), []):
            return self.make_example(choices[0], depth + 1, around)
        if isinstance(schema.get("items"), Mapping):
            item = self.make_example(read_part(schema, "items"), depth + 1, around)
            return [] if item is None else [item]
        if properties := read_part(schema, "properties"):
            known = [(str(key), one) for key, one in list(properties.items())[:50] if isinstance(one, Mapping)]
            return {key: self.make_example(one, depth + 1, around) for key, one in known}
        kind = schema.get("type")
        return _SAMPLES.get(str(kind[0] if isinstance(kind, list) and kind else kind), {})

    def _merge(self, part: Part, depth: int = 0) -> Part:
        """What a reference leads to, with the members of all schemas that it has to fit."""
        schema = self.specification.follow(part)
        self._merges_left -= 1
        if "allOf" not in schema or depth >= DEPTH_MAX or self._merges_left < 0:
            return schema
        merged: dict[str, Any] = dict(schema)
        for one in read_parts(schema.get("allOf"))[:20]:
            inner = self._merge(one, depth + 1)
            properties = {**read_part(merged, "properties"), **read_part(inner, "properties")}
            required = [*_list_names(merged), *_list_names(inner)]
            merged = {**inner, **merged} | ({"properties": properties} if properties else {})
            merged |= {"required": required} if required else {}
        return merged

    def _list_members(self, schema: Part) -> Iterator[SchemaMember]:
        required = set(_list_names(schema))
        for name, one in read_part(schema, "properties").items():
            if self.left <= 0:
                return
            if isinstance(one, Mapping):
                yield self.read_member(str(name), one, ("required",) if name in required else ())
        for sign in _CHOICES:
            for number, one in enumerate(read_parts(schema.get(sign))[:20], 1):
                yield self.read_member(find_schema_name(one) or read_words(one, "title") or f"option {number}", one)
        if isinstance(extra := schema.get("additionalProperties"), Mapping) and extra:
            yield self.read_member("[any other name]", extra)
        if isinstance(items := schema.get("items"), Mapping):
            inner = self._merge(items)
            if read_part(inner, "properties") or any(sign in inner for sign in _CHOICES):
                yield from self.read_member("[items]", items).members


_SAMPLES: dict[str, Any] = {"string": "text", "integer": 0, "number": 0, "boolean": True, "array": [], "null": None}


def format_example(value: Any) -> str:
    """Return a value as JSON with a bounded length; text as it is."""
    try:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2, default=str)
    except (ValueError, RecursionError):  # nested without end
        return "…"
    return text if len(text) <= _EXAMPLE_MAX else f"{text[:_EXAMPLE_MAX]}…"


def _list_names(schema: Part) -> list[str]:
    given = schema.get("required")
    return [name for name in given if isinstance(name, str)] if isinstance(given, list) else []


def _list_flags(schema: Part) -> Iterator[str]:
    for member, word in (("nullable", "nullable"), ("readOnly", "read-only"), ("writeOnly", "write-only")):
        if schema.get(member) is True:
            yield word
    if schema.get("deprecated") is True:
        yield "deprecated"


def _list_rules(schema: Part, items: Part) -> Iterator[str]:
    for member, words in _RULES.items():
        if (said := read_words(schema, member)) != "":
            yield words.format(said[:200])
    if isinstance(options := schema.get("enum"), list) and options:
        yield "one of " + ", ".join(format_example(one)[:100] for one in options[:50])
    if isinstance(options := items.get("enum"), list) and options:
        yield "each one of " + ", ".join(format_example(one)[:100] for one in options[:50])
    if "default" in schema:
        yield f"default {format_example(schema['default'])[:200]}"
