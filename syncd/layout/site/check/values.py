"""A rule about values: SY111, what the shapes of the API's requests refuse, the same that a request is made of."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from syncd.layout.lint.finding import Finding
from syncd.layout.site.check.structure import SHAPES
from syncd.layout.site.check.texts import list_texts
from syncd.layout.site.read.declared import Item, SiteFile
from syncd.layout.site.read.members import format_value
from syncd.layout.site.read.rules import report_finding
from syncd.model.redirect import DestinationWrite
from syncd.model.site import SiteSectionGroupUpdate, SiteSectionUpdate, SiteSpaceUpdate, SiteUpdate

_BODIES: Mapping[str, tuple[type[BaseModel], tuple[str, ...]]] = {
    "site": (SiteUpdate, ("title", "basename", "proxy")),
    "group": (SiteSectionGroupUpdate, ("title", "icon")),
    "section": (SiteSectionUpdate, ("title", "path", "icon", "description")),
    "variant": (SiteSpaceUpdate, ("path",)),
}
"""Of each kind, the request that sends its fields, and those that go into it as they are written."""
_WANTED = {
    "basename": "1 to 100 of a-z, 0-9 and -, with a letter or digit at both ends",
    "path": "letters, digits and - . _ ~, and not only one dot or two",
    "proxy": "a host and a path below it, such as example.com/docs",
}
_DESTINATION: TypeAdapter[Any] = TypeAdapter(DestinationWrite)
_KINDS = ("site-section", "site-space", "site-page", "external")


def check_values(file: SiteFile) -> Iterator[Finding]:
    """Yield the values that the platform refuses, whatever else there is on the site."""
    for item in file.items.values():
        for name, text in list_texts(item):
            if "\0" in text and name != "note":
                yield report_finding(
                    "SY111", item.where(name), f"{item.kind} {name} holds the character NUL, which is in no text"
                )
        if item.kind in _BODIES:
            yield from _check_fields(item)
        elif item.kind == "redirect":
            yield from _check_raw(item)


def _check_fields(item: Item) -> Iterator[Finding]:
    for name in _BODIES[item.kind][1]:
        value = item.fields.get(name)
        if not isinstance(value, str) or not (problem := _find_problem(item.kind, name, value)):
            continue
        bare = value.partition("://")[2].rstrip("/") if name == "proxy" else ""
        hint = f'write "{bare}"' if bare and not _find_problem(item.kind, name, bare) else ""
        wanted = _WANTED.get(name, problem)
        yield report_finding(
            "SY111", item.where(name), f"{item.kind} {name} is {format_value(value)}; it must be {wanted}", hint
        )


def _find_problem(kind: str, name: str, value: str) -> str:
    """Why a request does not take the value of a field; "" where it does, and where SY102 speaks of its length."""
    try:
        _find_adapter(kind, name).validate_python(value)
    except ValidationError as error:
        shape = SHAPES[kind][name]
        is_long_enough = (shape.least or 0) <= len(value) <= (shape.most or len(value))
        return error.errors(include_url=False)[0]["msg"] if is_long_enough else ""
    return ""


@cache
def _find_adapter(kind: str, name: str) -> TypeAdapter[Any]:
    field = _BODIES[kind][0].model_fields[name]
    of: Any = Annotated[(field.annotation, name, *field.metadata)]
    return TypeAdapter(of)


def _check_raw(item: Item) -> Iterator[Finding]:
    """A destination that is passed on as it is; of a kind that nobody knows here, the platform is the judge."""
    to = item.fields.get("to")
    raw = to.get("raw") if isinstance(to, Mapping) else None
    if not isinstance(raw, Mapping):
        return
    place = item.places.get("to.raw", item.where("to"))
    if raw.get("kind") == "path":
        message = "the platform turns the kind path into a page and never shows it again, so that no plan would settle"
        yield report_finding("SY303", place, message, "write { page: …, in: SECTION/VARIANT }")
    elif "kind" not in raw:
        yield report_finding("SY303", place, "this destination has no kind", f"such as {', '.join(_KINDS)}")
    elif raw["kind"] in _KINDS:
        try:
            _DESTINATION.validate_python(raw)
        except ValidationError as error:
            found = error.errors(include_url=False)[0]
            where = ".".join(str(part) for part in found["loc"][1:])
            said = f"{found['msg'][:1].lower()}{found['msg'][1:]}".removeprefix("value error, ")
            yield report_finding("SY303", place, f"the platform takes no such destination: {where}: {said}")
