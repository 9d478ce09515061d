"""Customization as a site file has it: one field a leaf, laid over what the platform has, and compared with it.

Members that only make sense together are one leaf: a reference, a favicon, a font, a text in several languages.
Source: API document, SiteCustomizationSettings; syncd/manual/reference/site-file.md, "customization".
"""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

from syncd.layout.lint.finding import Finding
from syncd.layout.site.read.declared import Item, Place
from syncd.layout.site.read.members import Member, Of, Path, explain_unknown, find_member, find_problems, format_value
from syncd.layout.site.read.rules import report_finding
from syncd.model.customization_override import GROUPS

WHOLE = frozenset({"favicon", "font", "localizedTitle", "monospaceFont", "primaryLink", "to"})
"""Members whose value is one leaf although it is a mapping."""

_DEPTH_MAX = 16
_DEFAULTS: Mapping[str, Any] = {"style": "link", "format": "woff2"}
"""What a member in a list says when it is left out and the platform answers it all the same."""
_ENTRIES: Mapping[str, Mapping[str, Any]] = {
    "header.links": {"style": "link", "to": None, "links": []},
    "footer.groups": {"links": []},
}
"""Members that each entry of a list has to have when it is written."""

_LINKS = ("to", "primaryLink")
_FORMS = ({"section"}, {"variant"}, {"page", "in"}, {"url"}, {"raw"})
_FETCHED = ("light", "dark", "url")


def list_leaves(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the leaves of settings by names such as `styling.primaryColor.light`.

    Shape: a list is one leaf, and so are the members of `WHOLE`; a mapping without members is a leaf {}, which says
    nothing but that it is there. Names hold no dot, which the reader of a site file refuses.
    Raises: ValueError when members nest deeper than any setting does.
    """
    return dict(_walk_leaves(value, (), _DEPTH_MAX))


def _walk_leaves(value: Mapping[str, Any], path: tuple[str, ...], depth: int) -> Iterator[tuple[str, Any]]:
    if not depth:
        raise ValueError(f"settings nest at most {_DEPTH_MAX} deep")
    for name, member in value.items():
        here = (*path, name)
        if isinstance(member, Mapping) and member and name not in WHOLE:
            yield from _walk_leaves(member, here, depth - 1)
        else:
            yield ".".join(here), member


def find_leaf(settings: Mapping[str, Any], name: str) -> Any:
    """Return the value of a leaf in the settings that the platform answers; None where there is none."""
    found: Any = settings
    for member in name.split("."):
        found = found.get(member) if isinstance(found, Mapping) else None
    return found


def find_inherited(site: Mapping[str, Any], name: str) -> Any:
    """Return what a site-space without a value of its own shows for a leaf.

    A title is the exception: without one of its own, a site-space has its content's title, not its site's.
    """
    return None if name == "title" else find_leaf(site, name)


def is_agreeing(declared: Any, live: Any) -> bool:
    """Return whether a declared leaf and the one on the platform are equal in meaning.

    Inside lists and references, what the platform adds by itself counts for nothing: empty members and defaults.
    """
    if isinstance(declared, Mapping) and isinstance(live, Mapping):
        added = (name for name in live if name not in declared)
        return all(is_agreeing(member, live.get(name)) for name, member in declared.items()) and all(
            live[name] in (None, {}, [], "", _DEFAULTS.get(name)) for name in added
        )
    if isinstance(declared, (list, tuple)) and isinstance(live, (list, tuple)):
        return len(declared) == len(live) and all(map(is_agreeing, declared, live))
    if declared in (None, {}, []) and live in (None, {}, [], ()):
        return True
    return type(declared) is type(live) and bool(declared == live)


def is_in_step(name: str, declared: Any, live: Any) -> bool:
    """Return whether a declared leaf needs no request, as the platform has its value already."""
    return (declared == {} and name.split(".")[-1] not in WHOLE) or is_agreeing(declared, live)


def overlay_leaves(raw: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body of the PUT that changes leaves in a site's settings.

    What no leaf names stays as it is, known to syncd or not; None removes a member, which is how a PUT unsets it.
    """
    body: dict[str, Any] = deepcopy(dict(raw))
    for name, value in given.items():
        _put_leaf(body, name.split("."), value, name)
    return body


def build_override(effective: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body of the PATCH that changes leaves in a site-space's own settings; `effective` is what it shows
    now.

    Only declared members are in it, and None is null, which goes back to the site's value. A value that the platform
    replaces as a whole, such as an announcement or a pair of colors, is completed from what the site-space shows.
    """
    body: dict[str, Any] = {}
    for name, value in given.items():
        inner, shown = body, effective
        head, *rest = name.split(".")
        while rest and head in GROUPS:
            inner, shown = inner.setdefault(head, {}), _to_dict(shown.get(head))
            head, *rest = rest
        if rest:
            whole = inner.setdefault(head, deepcopy(_to_dict(shown.get(head))))
            _put_leaf(whole, rest, value, name)
        elif value != {} or head in WHOLE:
            inner[head] = _to_request_value(value, name)
    return body


def check_customization(item: Item) -> Iterator[Finding]:
    """Yield the declared settings of a site or of a variant that the platform would not take (SY401)."""
    if item.kind == "override" and "reset" in item.fields:
        return
    of: Of = "override" if item.kind == "override" else "customization"
    for name, value in item.fields.items():
        if (found := find_member(of, name)) is None:
            message, hint = explain_unknown(of, name)
            yield report_finding("SY401", item.where(name), message, hint)
        elif value is None:
            if not found.unsettable:
                yield _report_wrong(item, name, (), "cannot be unset", "give it a value, or leave it unmanaged")
        elif value != {} or not found.below:
            yield from _check_value(item, name, found, value)
        yield from _check_pair(item, of, name)


def _check_value(item: Item, name: str, found: Member, value: Any) -> Iterator[Finding]:
    last, sent = name.split(".")[-1], _to_request_value(value, name)
    for path, problem in (
        *_check_linked(sent, last),
        *find_problems(found, _remove_links(sent, last)),
        *_find_unsafe(sent, last),
    ):
        # What a condition says wrong is told by the rule for conditions.
        if path[-1:] != ("condition",):
            yield _report_wrong(item, name, path, problem)


def _check_pair(item: Item, of: Of, name: str) -> Iterator[Finding]:
    """A color or image for one theme needs its twin for the other."""
    parent, _, mode = name.rpartition(".")
    twin = {"light": "dark", "dark": "light"}.get(mode)
    if twin and find_member(of, f"{parent}.{twin}") and f"{parent}.{twin}" not in item.fields:
        yield report_finding(
            "SY401", item.where(name), f'"{parent}" has {mode} but not {twin}', f"declare {parent}.{twin} as well"
        )


def _report_wrong(item: Item, name: str, path: Path, problem: str, hint: str = "") -> Finding:
    spelled = name + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return report_finding("SY401", find_place(item, name, path), f'"{spelled}" {problem}', hint)


def find_place(item: Item, name: str, path: Path) -> Place:
    """Return the place of something inside a field's value, as exactly as the reader noted it."""
    for size in range(len(path), 0, -1):
        if found := item.places.get(".".join(map(str, (name, *path[:size])))):
            return found
    return item.where(name)


def find_links(item: Item) -> Iterator[tuple[Any, Place]]:
    """Yield every destination in declared settings, as the file has it, with its place."""
    for name, value in item.fields.items():
        for path, to in _find_destinations(value, name.split(".")[-1]):
            yield to, find_place(item, name, path)


def _find_destinations(value: Any, name: str) -> Iterator[tuple[Path, Any]]:
    if name in _LINKS and value is not None:
        yield (), value
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from (((key, *path), to) for path, to in _find_destinations(part, key))
    elif isinstance(value, (list, tuple)):
        for index, part in enumerate(value):
            yield from (((index, *path), to) for path, to in _find_destinations(part, ""))


def _check_linked(value: Any, name: str) -> Iterator[tuple[Path, str]]:
    for path, to in _find_destinations(value, name):
        if not isinstance(to, Mapping):
            yield path, f"is {format_value(to)}; it must be a mapping such as {{ url: https://docs.example.com }}"
        elif "kind" not in to and set(to) not in _FORMS:
            yield path, "needs exactly one of section, variant, page (with in), url and raw"


def _remove_links(value: Any, name: str) -> Any:
    """A copy in which every destination is one that the API takes, so that only the rest is judged."""
    if name in _LINKS and value is not None:
        reference = value.get("raw", value) if isinstance(value, Mapping) else None
        if isinstance(reference, Mapping) and "kind" in reference:
            return reference
        url = value.get("url") if isinstance(value, Mapping) else None
        return {"kind": "url", "url": url if isinstance(url, str) else "https://docs.example.com"}
    if isinstance(value, Mapping):
        return {key: _remove_links(part, key) for key, part in value.items()}
    return [_remove_links(part, "") for part in value] if isinstance(value, (list, tuple)) else value


def _find_unsafe(value: Any, name: str) -> Iterator[tuple[Path, str]]:
    """Addresses of images, fonts and policies that are not encrypted; links may lead wherever they like."""
    if isinstance(value, str):
        if name in _FETCHED and value.lower().startswith("http://"):
            yield (), f"is {format_value(value)}; it must be https"
    elif isinstance(value, Mapping):
        for key, part in value.items():
            if key not in _LINKS:
                yield from (((key, *path), problem) for path, problem in _find_unsafe(part, key))
    elif isinstance(value, (list, tuple)):
        for index, part in enumerate(value):
            yield from (((index, *path), problem) for path, problem in _find_unsafe(part, name))


def _put_leaf(body: dict[str, Any], path: list[str], value: Any, leaf: str) -> None:
    *parents, last = path
    for name in parents:
        if not isinstance(body.get(name), dict):
            if value is None:
                return
            body[name] = {}
        body = body[name]
    if value is None:
        body.pop(last, None)
    elif value == {} and last not in WHOLE:
        body.setdefault(last, {})
    else:
        body[last] = _to_request_value(value, leaf)


def _to_request_value(value: Any, leaf: str) -> Any:
    """A leaf's value as the API takes it: complete entries, without members that are unset."""
    if leaf in _ENTRIES and isinstance(value, (list, tuple)):
        return [{**_ENTRIES[leaf], **_remove_unset(entry)} if isinstance(entry, Mapping) else entry for entry in value]
    return None if value is None else _remove_unset(value)


def _remove_unset(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _remove_unset(member) for name, member in value.items() if member is not None}
    return [_remove_unset(entry) for entry in value] if isinstance(value, (list, tuple)) else value


def _to_dict(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}
