"""Tags, `{% … %}`: which there are, what of a block they say, and their spelling."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from syncd.layout.richtext.nodes import Node, url_of, url_ref

Body = Literal["blocks", "caption", "none"]


@dataclass(frozen=True)
class Tag:
    """A tag that becomes a block: `blocks` lie between it and its end; a `caption` may; `none` can.

    `refs` says which attribute is the address of what the block refers to, `lists` which hold several values.
    """

    type: str
    body: Body = "blocks"
    refs: Mapping[str, str] = field(default_factory=dict)
    lists: frozenset[str] = frozenset()


TAGS: Mapping[str, Tag] = {
    "hint": Tag("hint"),
    "tabs": Tag("tabs"),
    "tab": Tag("tabs-item"),
    "stepper": Tag("stepper"),
    "step": Tag("stepper-step"),
    "columns": Tag("columns"),
    "column": Tag("column"),
    "updates": Tag("updates"),
    "update": Tag("update"),
    "prompt": Tag("prompt"),
    "if": Tag("if"),
    "code": Tag("code"),
    "embed": Tag("embed", "caption"),
    "file": Tag("file", "caption", {"src": "url"}),
    "content-ref": Tag("content-ref", "caption", {"url": "url"}),
    "include": Tag("reusable-content", "none"),
    "openapi": Tag("swagger", "caption", {"src": "url"}),
    "openapi-operation": Tag("openapi-operation", "caption", {"spec": "openapi"}),
    "openapi-schemas": Tag("openapi-schemas", "caption", {"spec": "openapi"}, frozenset({"schemas"})),
    "openapi-webhook": Tag("openapi-webhook", "caption", {"spec": "openapi"}),
}
"""Source: gitsync §1.8. Tags that are not listed survive as they are written, with all up to their end."""

NAMES: Mapping[str, str] = {tag.type: name for name, tag in TAGS.items()}
"""Tags by the type of their block."""

INTEGRATION = "integration"
RAW = "arguments"
"""The member that keeps what stands in a tag when it is no list of attributes."""

_FLAGS = frozenset({"lineNumbers", "fullWidth", "expandable", "grouped"})
_TRUTH = {"true": True, "false": False}
_SOURCE = re.compile(r"\{%[ \t\n]*+(@?[A-Za-z][\w/.-]*+)(?:[ \t\n]++(.*?))?[ \t\n]*\Z", re.DOTALL)
_ATTRIBUTE = re.compile(r"""[ \t\n]*+([A-Za-z_][\w:.-]*+)=(?:"([^"]*+)"|'([^']*+)')(?=[ \t\n]|\Z)""")
_QUOTED = re.compile(r'"([^"\n]*+)"')
_INTEGRATION = re.compile(r"@[A-Za-z][\w.-]*+/[\w.-]++")
_LABEL = re.compile(r"[A-Za-z_][\w:.-]*+")
_NAME = re.compile(r"\{%[ \t\n]*+(@?[A-Za-z][\w/.-]*+)(?=[ \t\n]|%\}|\Z)")
_NAMED_LINE = re.compile(
    r"(?:[ \t>]|[*+-][ \t]|[0-9]{1,9}[.)][ \t]|\[[ xX]\][ \t])*+"
    r"(?P<tag>\{%[ \t]*+(?P<name>@?[A-Za-z][\w/.-]*+)(?=[ \t]|%\}|\Z))"
)
_QUOTE = re.compile("[\"']")

LINES_MAX = 1000
"""Lines that one tag may span; the bound keeps a tag that nothing closes from being searched for to the end."""


def is_known(name: str) -> bool:
    """Given the name of a tag, return whether it, or what it ends, becomes a block of its own."""
    return name in TAGS or name.startswith("@") or (name.startswith("end") and name[3:] in TAGS)


def is_tag(source: str) -> bool:
    """Given text, return whether it stands as a tag that is kept as it is written, alone or with all up to its end."""
    lines = source.split("\n")
    if not source.startswith("{%") or source != source.rstrip(" \t"):
        return False
    if span(lines) == len(lines):
        return is_known(name_of(source)) or ends(source).get(0) is None
    return not is_known(name_of(source)) and ends(source).get(0) == len(lines) - 1 and span(lines) > 0


def name_of(source: str) -> str:
    """Given the source of a tag, return its name, "" for none."""
    named = _NAME.match(source)
    return named[1] if named else ""


def span(lines: Iterable[str]) -> int:
    """Given the lines from a tag on, return how many of them it covers; 0 when nothing ends it.

    A blank line may only lie in quotes; a line that starts another tag never does.
    """
    quote = ""
    for number, line in enumerate(lines):
        text = line.strip(" \t")
        if number == LINES_MAX or (number and text.startswith("{%")) or (not text and not quote):
            return 0
        quote = _open_quote(text, quote)
        if text.endswith("%}") and (not number or not quote):
            return number + 1
        if "%}" in text:
            return 0
    return 0


def ends(text: str) -> dict[int, int]:
    """Given a page, return for the line of each unknown tag the line of the tag that ends it; linear time."""
    opened: dict[str, list[int]] = {}
    found: dict[int, int] = {}
    lines = text.split("\n")
    for number, line in enumerate(lines):
        named = _NAMED_LINE.match(line) if "{%" in line else None
        if named is None or not span(_unquoted(lines, number, named.start("tag"))):
            continue
        name = named["name"]
        if before := opened.get(name[3:]) if name.startswith("end") else None:
            found[before.pop()] = number
        elif not is_known(name):
            opened.setdefault(name, []).append(number)
    return found


def _unquoted(lines: list[str], number: int, start: int) -> Iterator[str]:
    """The lines from a tag on, without the signs of quotes."""
    yield lines[number][start:]
    for at in range(number + 1, len(lines)):
        yield lines[at].lstrip(" \t>")


def body(type: str) -> Body:
    """Given the type of a block that is a tag, return what may lie in it."""
    return "none" if type == INTEGRATION else TAGS[NAMES[type]].body


def read_tag(source: str) -> tuple[str, Node] | None:
    """Given the source of a known tag, return the type of its block and its data; None when it has to stay as it is."""
    found = _SOURCE.match(source.removesuffix("%}")) if "%}" not in source[:-2] else None
    if found is None:
        return None
    name, arguments = found[1], found[2] or ""
    made = _integration(name, arguments) if name.startswith("@") else _read(name, arguments)
    return made if made is not None and write_tag(*made) is not None else None


def write_tag(type: str, data: Mapping[str, Any]) -> str | None:
    """Given the type of a block and its data, return its tag; None when no tag says that."""
    if type == INTEGRATION:
        return _write_integration(data)
    name = NAMES[type]
    if data.keys() == {RAW}:
        return _tag(name, data[RAW]) if isinstance(data[RAW], str) and attributes(data[RAW]) is None else None
    if type == "if":
        return _tag(name, data["expression"]) if data.keys() == {"expression"} else None
    if type == "reusable-content":
        path = url_of(data.get("ref")) if data.keys() == {"ref"} else None
        return None if path is None or '"' in path or "\n" in path else _tag(name, f'"{path}"')
    spelled = [_attribute(TAGS[name], member, value) for member, value in data.items()]
    return None if None in spelled or RAW in data else _tag(name, " ".join(map(str, spelled)))


def attributes(text: str) -> dict[str, str] | None:
    """Given what stands behind the name of a tag, return its attributes in order; None when it is something else."""
    found: dict[str, str] = {}
    at = 0
    while at < len(text):
        one = _ATTRIBUTE.match(text, at)
        if one is None or one[1] in found:
            return None
        found[one[1]] = one[2] if one[2] is not None else one[3]
        at = one.end()
    return found


def expressible(type: str, member: str, value: object) -> bool:
    """Given a member of a block's data, return whether its tag can say it."""
    if type in (INTEGRATION, "if", "reusable-content"):
        return member in {INTEGRATION: {"integration", "block", "props"}, "if": {"expression"}}.get(type, {"ref"})
    if member == RAW:
        return False
    spelled = _attribute(TAGS[NAMES[type]], member, value)
    return spelled is not None and _is_one(f"{{% {NAMES[type]} {spelled} %}}")


def _read(name: str, arguments: str) -> tuple[str, Node] | None:
    tag = TAGS.get(name)
    if tag is None:
        return None
    if name == "if":
        return tag.type, {"expression": arguments}
    if name == "include":
        path = _QUOTED.fullmatch(arguments)
        return tag.type, {"ref": url_ref(path[1])} if path else {RAW: arguments}
    given = attributes(arguments)
    data = None if given is None else dict(_members(tag, given))
    if data is None or given is None or len(data) != len(given) or RAW in data or (name == "code" and "info" in data):
        return tag.type, {RAW: arguments}
    return tag.type, data


def _members(tag: Tag, given: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    for name, value in given.items():
        if name in tag.refs:
            yield "ref", url_ref(value) if tag.refs[name] == "url" else {"kind": "openapi", "spec": value}
        elif name in _FLAGS and value in _TRUTH:
            yield name, _TRUTH[value]
        elif name in tag.lists:
            yield name, value.split(",")
        else:
            yield name, value


def _attribute(tag: Tag, member: str, value: object) -> str | None:
    name = member
    if isinstance(value, dict):
        kinds = {kind: name for name, kind in tag.refs.items()}
        name = kinds.get(str(value.get("kind")), "") if member == "ref" else ""
        spec = value.get("spec") if value.keys() == {"kind", "spec"} else None
        value = url_of(value) if value.get("kind") == "url" else spec
    elif isinstance(value, bool):
        value = str(value).lower() if member in _FLAGS else None
    elif isinstance(value, list) and member in tag.lists and value and all(isinstance(item, str) for item in value):
        value = None if any("," in item for item in value) else ",".join(value)
    elif member in tag.refs or member in tag.lists or (member in _FLAGS and value in ("true", "false")):
        return None
    return _spelled(name, value) if isinstance(value, str) else None


def _spelled(name: str, value: str) -> str | None:
    quote = "'" if '"' in value else '"'
    return f"{name}={quote}{value}{quote}" if quote not in value and _LABEL.fullmatch(name) else None


def _integration(name: str, arguments: str) -> tuple[str, Node] | None:
    integration, slash, part = name[1:].partition("/")
    given = attributes(arguments)
    if not slash or not part or "/" in part or given is None:
        return None
    return INTEGRATION, {"integration": integration, "block": part, "props": given}


def _write_integration(data: Mapping[str, Any]) -> str | None:
    integration, part, props = (data.get(name) for name in ("integration", "block", "props"))
    if data.keys() != {"integration", "block", "props"} or not isinstance(props, dict):
        return None
    name = f"@{integration}/{part}"
    given = [_spelled(str(key), value) if isinstance(value, str) else None for key, value in props.items()]
    return None if None in given or not _INTEGRATION.fullmatch(name) else _tag(name, " ".join(map(str, given)))


def _tag(name: str, arguments: object) -> str | None:
    if not isinstance(arguments, str) or arguments != arguments.strip(" \t\n"):
        return None
    source = f"{{% {name} {arguments} %}}" if arguments else f"{{% {name} %}}"
    return source if _is_one(source) else None


def _is_one(source: str) -> bool:
    """Whether what was made of foreign text is still one tag."""
    lines = source.split("\n")
    return "%}" not in source[:-2] and span(lines) == len(lines)


def _open_quote(text: str, quote: str) -> str:
    """The quote that is open behind this text, given the one that is open before it."""
    for sign in _QUOTE.findall(text):
        quote = "" if sign == quote else quote or sign
    return quote
