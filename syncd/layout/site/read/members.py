"""Which members a customization may have, and what is wrong with a value: the model's complaints in plain sentences."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from syncd.model.base import NULLABLE
from syncd.model.customization_override import SiteSpaceCustomizationOverride
from syncd.model.customization_write import SiteCustomizationWrite

Of = Literal["customization", "override"]
Path = tuple[str | int, ...]

_MODELS: Mapping[Of, type[BaseModel]] = {
    "customization": SiteCustomizationWrite,
    "override": SiteSpaceCustomizationOverride,
}
_NOT_HERE = {("customization", "header.backgroundColor"), ("customization", "header.linkColor")}
"""What the model takes and the API document does not. Source: API document, SiteCustomizationSettings."""
_PLATFORM = "updatedAt"
_SHOWN = 40
_NAMED = """("literal["""
"""How pydantic marks the names in a union of names and a shape."""


@dataclass(frozen=True)
class Member:
    """What a leaf may hold; `below` are the names of the members that it may have."""

    adapter: TypeAdapter[Any]
    unsettable: bool
    below: tuple[str, ...]


@lru_cache(maxsize=1024)
def find_member(of: Of, name: str) -> Member | None:
    """Return what a leaf of some settings may hold, or None when there is no such leaf."""
    if (
        name == _PLATFORM
        or (of, name) in _NOT_HERE
        or any(name.startswith(f"{ours}.") for _, ours in _list_unavailable(of))
    ):
        return None
    model: type[BaseModel] | None = _MODELS[of]
    field: FieldInfo | None = None
    for part in name.split("."):
        field = None if model is None else _list_fields(model).get(part)
        if field is None:
            return None
        model = _find_model(field.annotation)
    assert field is not None
    kind: Any = Annotated[(field.annotation, name, *field.metadata)]
    unsettable = NULLABLE in field.metadata or not field.is_required()
    return Member(TypeAdapter(kind), unsettable, () if model is None else tuple(_list_fields(model)))


def is_importable(of: Of, name: str) -> bool:
    """Return whether a site file may declare a leaf of some settings."""
    return find_member(of, name) is not None


def explain_unknown(of: Of, name: str) -> tuple[str, str]:
    """Return why a leaf may not be declared, in a sentence, and a hint."""
    other: Of = "customization" if of == "override" else "override"
    if name == _PLATFORM:
        return f"{name} is set by the platform", "delete the line"
    parts = name.split(".")
    depth = next(size for size in range(1, len(parts) + 1) if find_member(of, ".".join(parts[:size])) is None)
    first = ".".join(parts[:depth])
    if find_member(other, first) is not None:
        if of == "override":
            return f'"{first}" cannot be overridden per variant', "declare it under customization.site"
        return f'"{first}" can be set for single variants only', "declare it under customization.overrides"
    siblings = _list_siblings(of, ".".join(parts[: depth - 1]))
    if not siblings:
        return f'"{".".join(parts[: depth - 1])}" has no members', ""
    near = get_close_matches(parts[depth - 1], siblings, n=1, cutoff=0.6)
    return f'unknown key "{first}"', f"did you mean {near[0]}?" if near else f"known here: {', '.join(siblings)}"


def _list_siblings(of: Of, parent: str) -> tuple[str, ...]:
    if not parent:
        return tuple(name for name in _list_fields(_MODELS[of]) if name != _PLATFORM)
    found = find_member(of, parent)
    names = () if found is None else found.below
    return tuple(name for name in names if (of, f"{parent}.{name}") not in _NOT_HERE)


def _list_unavailable(of: Of) -> Iterator[tuple[str, str]]:
    return (pair for pair in _NOT_HERE if pair[0] == of)


def find_problems(found: Member, value: Any) -> Iterator[tuple[Path, str]]:
    """Yield what is wrong with a leaf's value: where below the leaf, and a predicate for a message."""
    try:
        found.adapter.validate_python(value)
    except ValidationError as failure:
        seen: set[Path] = set()
        for error in _select_pertinent(failure.errors(include_url=False), value):
            # A list of wrong entries is also too short for pydantic: the entries say enough.
            if not any(path[: len(error["loc"])] == error["loc"] for path in seen):
                yield error["loc"], _format_problem(error)
            seen.add(error["loc"])


def _select_pertinent(errors: list[ErrorDetails], value: Any) -> Iterator[ErrorDetails]:
    """Of a font, which is a name or a mapping, the complaints that fit its shape; everything of any other value."""
    if not any(str(error["loc"][:1]).startswith(_NAMED) for error in errors):
        yield from errors
        return
    for error in errors:
        if str(error["loc"][:1]).startswith(_NAMED) != isinstance(value, Mapping):
            yield {**error, "loc": error["loc"][1:]}
            if not isinstance(value, Mapping):
                return


def _format_problem(error: ErrorDetails) -> str:
    context = error.get("ctx", {})
    match error["type"]:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            return "is an unknown key"
        case "literal_error":
            return f"is {format_value(error['input'])}; it must be {_remove_quotes(context['expected'])}"
        case "bool_type":
            return f"is {format_value(error['input'])}; it must be true or false"
        case "string_type":
            return f"is {format_value(error['input'])}; it must be a text in quotes"
        case "int_type" | "greater_than_equal" | "less_than_equal":
            return f"is {format_value(error['input'])}; it must be a whole number from 1 to 1000"
        case "string_too_short" | "too_short":
            return f"is too short; the platform needs at least {_format_amount(error, 'min_length')}"
        case "string_too_long" | "too_long":
            return f"is too long; the platform takes at most {_format_amount(error, 'max_length')}"
        case "string_pattern_mismatch":
            color = "#" in context["pattern"]
            kind = 'a color such as "#346DDB"' if color else "an https address or a path"
            return f"is {format_value(error['input'])}; it must be {kind}"
        case "tuple_type":
            return "must be a list"
        case "model_type" | "dict_type":
            return "must be a mapping"
        case "value_error":
            return f"is wrong: {context['error']}"
        case _:
            return f"is wrong: {error['msg'][:1].lower()}{error['msg'][1:]}"


def format_value(value: Any) -> str:
    """Return a value of a site file as a message may show it."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (Mapping, list, tuple)):
        return "a mapping" if isinstance(value, Mapping) else "a list"
    text = value if isinstance(value, str) else str(value)
    short = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
    return json.dumps(short, ensure_ascii=False) if isinstance(value, str) else short


def _remove_quotes(expected: str) -> str:
    return expected.replace("'", "")


def _format_amount(error: ErrorDetails, limit: str) -> str:
    number = error["ctx"][limit]
    one, many = ("character", "characters") if error["type"].startswith("string") else ("entry", "entries")
    return f"{number} {one if number == 1 else many}"


def _list_fields(model: type[BaseModel]) -> dict[str, FieldInfo]:
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _find_model(annotation: Any) -> type[BaseModel] | None:
    """The shape that a member has below it; None for a text, a list and the like."""
    if get_origin(annotation) is Annotated:
        return _find_model(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        kinds = [kind for kind in get_args(annotation) if kind is not type(None)]
        return _find_model(kinds[0]) if len(kinds) == 1 else None
    return annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None
