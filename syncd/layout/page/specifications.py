"""OpenAPI specifications that lie in a space: read within limits, and looked into without trust."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from syncd.errors import FileInvalid
from syncd.layout.yaml import yaml

BYTES_MAX = 4 << 20
DESCRIPTION_MAX = 20_000
"""Characters of one description that a page shows."""
METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
_DEPTH_MAX = 64
_HOPS_MAX = 20
"""References that lead to references."""
_NOTHING: Mapping[str, Any] = {}


def load_specification(text: str, *, at: str) -> Mapping[str, Any]:
    """Return an OpenAPI specification, written in YAML or JSON.

    Raises: FileInvalid with line and column, also for a text that is none.
    """
    found = yaml.load(text, at=at, bytes_max=BYTES_MAX, depth_max=_DEPTH_MAX)
    if not isinstance(found, dict) or not found.keys() & {"openapi", "swagger"}:
        hint = "it begins with `openapi: 3.1.0` or `swagger: '2.0'`"
        raise FileInvalid("is no OpenAPI specification", path=at, hint=hint)
    return found


def read_part(value: object, *path: str) -> Mapping[str, Any]:
    """Return the object at a path in a value; an empty one where there is none."""
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else _NOTHING


def follow_reference(specification: Mapping[str, Any], part: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a reference within a specification leads to; the part itself when it is none, or leads out."""
    for _ in range(_HOPS_MAX):
        ref = part.get("$ref")
        if not isinstance(ref, str) or not ref.startswith("#/"):
            return part
        names = [unquote(name).replace("~1", "/").replace("~0", "~") for name in ref[2:].split("/")]
        found = read_part(specification, *names)
        if not found:
            return part
        part = found
    return _NOTHING


def find_operation(
    specification: Mapping[str, Any], path: str, method: str
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return an operation and the path that it stands at; empty ones where there is none."""
    item = follow_reference(specification, read_part(specification, "paths", path))
    if method.lower() not in METHODS:
        return _NOTHING, item
    return follow_reference(specification, read_part(item, method.lower())), item


def find_webhook(
    specification: Mapping[str, Any], name: str, method: str
) -> tuple[str, Mapping[str, Any], Mapping[str, Any]]:
    """Return the method of a webhook, the webhook and what it stands in; empty ones where there is none."""
    item = follow_reference(specification, read_part(specification, "webhooks", name))
    known = (one for one in (method.lower(), *METHODS) if one in METHODS and isinstance(item.get(one), Mapping))
    found = next(known, "")
    return found, follow_reference(specification, read_part(item, found)) if found else _NOTHING, item


def read_words(part: Mapping[str, Any], name: str) -> str:
    """Return a member that is text or a number, "" for anything else."""
    value = part.get(name)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return str(value).strip()


def name_operation(operation: Mapping[str, Any], method: str, path: str) -> str:
    """Return what readers call an operation: its summary or id, else its method and path."""
    return read_words(operation, "summary") or read_words(operation, "operationId") or f"{method.upper()} {path}"
