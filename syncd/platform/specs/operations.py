"""What an OpenAPI description has: operations and webhooks that it does not hide, with their tags, and schemas."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

METHODS = ("get", "post", "put", "delete", "patch", "options", "head", "trace")
HOOK = "hook"
UNTAGGED = "default"
"""The tag of what has none."""

_HIDING = ("x-internal", "x-gitbook-ignore")
_NAME_MAX = 2048
"""Characters of a tag or path that a computed document names. Source: `computed_document.py`."""


@dataclass(frozen=True, slots=True)
class SpecOperation:
    """An operation by its path, or a webhook by its name. Shape: `members` is what the description says of it."""

    name: str
    method: str
    tags: tuple[str, ...]
    members: Mapping[str, Any]
    is_hook: bool = False


@dataclass(frozen=True)
class SpecContent:
    """A description with what many of its pages are made from, found once."""

    description: Mapping[str, Any]

    @cached_property
    def tags(self) -> Mapping[str, Mapping[str, Any]]:
        """What is said of each tag."""
        return list_tags(self.description)

    @cached_property
    def by_tag(self) -> Mapping[str, Sequence[SpecOperation]]:
        """The operations and webhooks of each tag."""
        found: dict[str, list[SpecOperation]] = {}
        for operation in list_operations(self.description):
            for tag in operation.tags:
                found.setdefault(tag, []).append(operation)
        return found

    @cached_property
    def summaries(self) -> Mapping[tuple[str, str], str]:
        """The summaries of operations by path and method, and of webhooks by name and method, where they have one."""
        listed = ((one, one.members.get("summary")) for one in list_operations(self.description))
        return {(one.name, one.method): " ".join(text.split()) for one, text in listed if isinstance(text, str)}


def list_operations(description: Mapping[str, Any]) -> Iterator[SpecOperation]:
    """Yield what can be called, then the webhooks, in the description's order; of a webhook, its first method."""
    for path, item in read_mapping(description.get("paths")).items():
        for method in METHODS:
            operation = read_mapping(item).get(method)
            if isinstance(operation, dict) and not is_hidden(operation):
                yield SpecOperation(str(path), method, _read_tags(operation), operation)
    for name, item in read_mapping(description.get("webhooks")).items():
        hook = read_mapping(item)
        method = find_hook_method(hook)
        operation = read_mapping(hook.get(method))
        if method and not is_hidden(operation):
            yield SpecOperation(str(name), method, _read_tags(operation), operation, is_hook=True)


def list_tags(description: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """Return what a description says of its tags, by their names and in its order; of two with one name, the first."""
    tags = description.get("tags")
    found: dict[str, Mapping[str, Any]] = {}
    for tag in map(read_mapping, tags) if isinstance(tags, list) else ():
        if is_name(name := tag.get("name")):
            found.setdefault(str(name), tag)
    return found


def list_schemas(description: Mapping[str, Any]) -> list[str]:
    """Return the names of the schemas of a description."""
    return [str(name) for name in read_mapping(read_mapping(description.get("components")).get("schemas"))]


def find_hook_method(hook: Mapping[str, Any]) -> str:
    """Return the first method of a webhook, "" when it has none."""
    return next((method for method in METHODS if method in hook), "")


def is_hidden(members: Mapping[str, Any]) -> bool:
    """Return whether an operation or tag is not for readers.

    Source: "Extensions reference" of GitBook's documentation.
    """
    return any(members.get(name) is True for name in _HIDING)


def is_name(value: object) -> bool:
    """Return whether a computed document can be named by a value of a description."""
    return isinstance(value, str) and 0 < len(value) <= _NAME_MAX


def read_mapping(value: object) -> Mapping[str, Any]:
    """Return a value of a description when it has members, else none."""
    return value if isinstance(value, dict) else {}


def _read_tags(operation: Mapping[str, Any]) -> tuple[str, ...]:
    tags = operation.get("tags")
    named = dict.fromkeys(tag for tag in tags if is_name(tag)) if isinstance(tags, list) else {}
    return tuple(named) or (UNTAGGED,)
