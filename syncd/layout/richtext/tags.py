"""Tags, `{% … %}`: which there are, what of a block they say, and their spelling."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from syncd.layout.richtext.attributes import FLAG, LENGTH, SPEC, TAG_REFS, TEXT, URL, WORDS, NodeMember
from syncd.layout.richtext.nodes import Node, make_url_ref, read_url

Body = Literal["blocks", "caption", "none"]

_FLAGS = ("lineNumbers", "fullWidth", "expandable", "grouped", "openInAIProviders")
"""Attributes that are true or false in any tag."""
_ANYWHERE: Mapping[str, NodeMember] = {name: NodeMember(name, FLAG) for name in _FLAGS}


@dataclass(frozen=True)
class Tag:
    """A tag that becomes a block: `blocks` lie between it and its end; a `caption` may; `none` can.

    `values` has the attributes that are more than text, with the members that they become.
    """

    type: str
    body: Body = "blocks"
    values: Mapping[str, NodeMember] = field(default_factory=dict)

    @property
    def attributes(self) -> Mapping[str, NodeMember]:
        """Its attributes that are more than text, those that any tag can have among them."""
        return {**_ANYWHERE, **self.values}


_SPEC = {"spec": NodeMember("ref", SPEC)}

TAGS: Mapping[str, Tag] = {
    "hint": Tag("hint"),
    "tabs": Tag("tabs"),
    "tab": Tag("tabs-item"),
    "stepper": Tag("stepper"),
    "step": Tag("stepper-step"),
    "columns": Tag("columns"),
    "column": Tag(
        "column", values={"width": NodeMember("width", LENGTH), "valign": NodeMember("verticalAlignment", TEXT)}
    ),
    "updates": Tag("updates"),
    "update": Tag("update", values={"tags": NodeMember("tags", TAG_REFS)}),
    "prompt": Tag("prompt"),
    "if": Tag("if"),
    "code": Tag("code"),
    "embed": Tag("embed", "caption"),
    "file": Tag("file", "caption", {"src": NodeMember("ref", URL)}),
    "content-ref": Tag("content-ref", "caption", {"url": NodeMember("ref", URL)}),
    "include": Tag("reusable-content", "none"),
    "openapi": Tag("swagger", "caption", {"src": NodeMember("ref", URL)}),
    "openapi-operation": Tag("openapi-operation", "caption", _SPEC),
    "openapi-schemas": Tag("openapi-schemas", "caption", {**_SPEC, "schemas": NodeMember("schemas", WORDS)}),
    "openapi-webhook": Tag("openapi-webhook", "caption", _SPEC),
}
"""Source: gitsync §1.8. Tags that are not listed survive as they are written, with all up to their end."""

NAMES: Mapping[str, str] = {tag.type: name for name, tag in TAGS.items()}
"""Tags by the type of their block."""

INTEGRATION = "integration"
RAW = "arguments"
"""The member that keeps what stands in a tag when it is no list of attributes."""

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
    """Return whether a tag of this name, or the tag that it ends, becomes a block of its own."""
    return name in TAGS or name.startswith("@") or (name.startswith("end") and name[3:] in TAGS)


def is_tag(source: str) -> bool:
    """Return whether text is a tag that is kept as it is written, alone or with all up to its end."""
    lines = source.split("\n")
    if not source.startswith("{%") or source != source.rstrip(" \t"):
        return False
    if count_tag_lines(lines) == len(lines):
        return is_known(parse_tag_name(source)) or find_unknown_ends(source).get(0) is None
    return (
        not is_known(parse_tag_name(source))
        and find_unknown_ends(source).get(0) == len(lines) - 1
        and count_tag_lines(lines) > 0
    )


def parse_tag_name(source: str) -> str:
    """Return the name of a tag, "" for none."""
    named = _NAME.match(source)
    return named[1] if named else ""


def count_tag_lines(lines: Iterable[str]) -> int:
    """Return how many of the lines from a tag on it covers; 0 when nothing ends it.

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


def find_unknown_ends(text: str) -> dict[int, int]:
    """Return for the line of each unknown tag of a page the line of the tag that ends it; linear time."""
    opened: dict[str, list[int]] = {}
    found: dict[int, int] = {}
    lines = text.split("\n")
    for number, line in enumerate(lines):
        named = _NAMED_LINE.match(line) if "{%" in line else None
        if named is None or not count_tag_lines(_strip_quotes(lines, number, named.start("tag"))):
            continue
        name = named["name"]
        if before := opened.get(name[3:]) if name.startswith("end") else None:
            found[before.pop()] = number
        elif not is_known(name):
            opened.setdefault(name, []).append(number)
    return found


def _strip_quotes(lines: list[str], number: int, start: int) -> Iterator[str]:
    """The lines from a tag on, without the signs of quotes."""
    yield lines[number][start:]
    for at in range(number + 1, len(lines)):
        yield lines[at].lstrip(" \t>")


def find_body(type: str) -> Body:
    """Return what may lie in a block that is a tag, by the block's type."""
    return "none" if type == INTEGRATION else TAGS[NAMES[type]].body


def read_liquid_tag(source: str) -> tuple[str, Node] | None:
    """Return the block type and the data of a known tag; None when it has to stay as it is written."""
    found = _SOURCE.match(source.removesuffix("%}")) if "%}" not in source[:-2] else None
    if found is None:
        return None
    name, arguments = found[1], found[2] or ""
    made = _read_integration(name, arguments) if name.startswith("@") else _read_known_tag(name, arguments)
    return made if made is not None and write_liquid_tag(*made) is not None else None


def write_liquid_tag(type: str, data: Mapping[str, Any]) -> str | None:
    """Return the tag of a block type and its data; None when no tag can express them."""
    if type == INTEGRATION:
        return _write_integration(data)
    name = NAMES[type]
    if data.keys() == {RAW}:
        return (
            _format_tag(name, data[RAW]) if isinstance(data[RAW], str) and parse_attributes(data[RAW]) is None else None
        )
    if type == "if":
        return _format_tag(name, data["expression"]) if data.keys() == {"expression"} else None
    if type == "reusable-content":
        path = read_url(data.get("ref")) if data.keys() == {"ref"} else None
        return None if path is None or '"' in path or "\n" in path else _format_tag(name, f'"{path}"')
    spelled = [_write_attribute(TAGS[name], member, value) for member, value in data.items()]
    return None if None in spelled or RAW in data else _format_tag(name, " ".join(map(str, spelled)))


def parse_attributes(text: str) -> dict[str, str] | None:
    """Return the attributes behind the name of a tag in order; None when the text is something else."""
    found: dict[str, str] = {}
    at = 0
    while at < len(text):
        one = _ATTRIBUTE.match(text, at)
        if one is None or one[1] in found:
            return None
        found[one[1]] = one[2] if one[2] is not None else one[3]
        at = one.end()
    return found


def is_member_expressible(type: str, member: str, value: object) -> bool:
    """Return whether the tag of a block can express a member of its data."""
    if type in (INTEGRATION, "if", "reusable-content"):
        return member in {INTEGRATION: {"integration", "block", "props"}, "if": {"expression"}}.get(type, {"ref"})
    if member == RAW:
        return False
    spelled = _write_attribute(TAGS[NAMES[type]], member, value)
    return spelled is not None and _is_one_tag(f"{{% {NAMES[type]} {spelled} %}}")


def _read_known_tag(name: str, arguments: str) -> tuple[str, Node] | None:
    tag = TAGS.get(name)
    if tag is None:
        return None
    if name == "if":
        return tag.type, {"expression": arguments}
    if name == "include":
        path = _QUOTED.fullmatch(arguments)
        return tag.type, {"ref": make_url_ref(path[1])} if path else {RAW: arguments}
    given = parse_attributes(arguments)
    data = None if given is None else dict(_read_tag_members(tag, given))
    unsaid = {RAW, *_find_renamed_members(tag), *({"info"} if name == "code" else ())}
    if data is None or given is None or len(data) != len(given) or unsaid & given.keys() or RAW in data:
        return tag.type, {RAW: arguments}
    return tag.type, data


def _read_tag_members(tag: Tag, given: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    for name, text in given.items():
        known = tag.attributes.get(name)
        value = known.form.read(text) if known is not None else None
        yield (name, text) if known is None or value is None else (known.member, value)


def _write_attribute(tag: Tag, member: str, value: object) -> str | None:
    """The attribute that a member becomes; None when there is none that would be read as that member."""
    for name, known in tag.attributes.items():
        if known.member == member and (text := known.form.write(value)) is not None:
            return _format_attribute(name, text) if known.form.read(text) == value else None
    if not isinstance(value, str) or member in _find_renamed_members(tag):
        return None
    has_form = member in tag.attributes and tag.attributes[member].form.read(value) is not None
    return None if has_form else _format_attribute(member, value)


def _find_renamed_members(tag: Tag) -> set[str]:
    """Members that no attribute of their own name becomes."""
    return {value.member for name, value in tag.values.items() if value.member != name}


def _format_attribute(name: str, value: str) -> str | None:
    quote = "'" if '"' in value else '"'
    return f"{name}={quote}{value}{quote}" if quote not in value and _LABEL.fullmatch(name) else None


def _read_integration(name: str, arguments: str) -> tuple[str, Node] | None:
    integration, slash, part = name[1:].partition("/")
    given = parse_attributes(arguments)
    if not slash or not part or "/" in part or given is None:
        return None
    return INTEGRATION, {"integration": integration, "block": part, "props": given}


def _write_integration(data: Mapping[str, Any]) -> str | None:
    integration, part, props = (data.get(name) for name in ("integration", "block", "props"))
    if data.keys() != {"integration", "block", "props"} or not isinstance(props, dict):
        return None
    name = f"@{integration}/{part}"
    given = [_format_attribute(str(key), value) if isinstance(value, str) else None for key, value in props.items()]
    return None if None in given or not _INTEGRATION.fullmatch(name) else _format_tag(name, " ".join(map(str, given)))


def _format_tag(name: str, arguments: object) -> str | None:
    if not isinstance(arguments, str) or arguments != arguments.strip(" \t\n"):
        return None
    source = f"{{% {name} {arguments} %}}" if arguments else f"{{% {name} %}}"
    return source if _is_one_tag(source) else None


def _is_one_tag(source: str) -> bool:
    """Whether what was made of foreign text is still one tag."""
    lines = source.split("\n")
    return "%}" not in source[:-2] and count_tag_lines(lines) == len(lines)


def _open_quote(text: str, quote: str) -> str:
    """The quote that is open behind this text, given the one that is open before it."""
    for sign in _QUOTE.findall(text):
        quote = "" if sign == quote else quote or sign
    return quote
