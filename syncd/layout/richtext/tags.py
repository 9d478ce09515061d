"""Tags, `{% … %}`: what of a block they say, and their spelling."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from syncd.layout.richtext.attributes import FLAG, LENGTH, SPEC, TAG_REFS, TEXT, URL, WORDS, NodeMember
from syncd.layout.richtext.nodes import Node, make_url_ref, read_url
from syncd.layout.richtext.tag_lines import NAMES, TYPES, count_tag_lines

Body = Literal["blocks", "caption", "none"]

_FLAGS = ("lineNumbers", "fullWidth", "expandable", "grouped", "openInAIProviders")
"""Attributes that are true or false in any tag."""
_ANYWHERE: Mapping[str, NodeMember] = {name: NodeMember(name, FLAG) for name in _FLAGS}


@dataclass(frozen=True)
class Tag:
    """A tag that becomes a block: `blocks` lie between it and its end; a `caption` may; `none` can.

    `values` has the attributes that are more than text, with the members that they become.
    """

    body: Body = "blocks"
    values: Mapping[str, NodeMember] = field(default_factory=dict)

    @property
    def attributes(self) -> Mapping[str, NodeMember]:
        """Its attributes that are more than text, those that any tag can have among them."""
        return {**_ANYWHERE, **self.values}


_SPEC = {"spec": NodeMember("ref", SPEC)}

TAGS: Mapping[str, Tag] = dict.fromkeys(TYPES, Tag()) | {
    "column": Tag(values={"width": NodeMember("width", LENGTH), "valign": NodeMember("verticalAlignment", TEXT)}),
    "update": Tag(values={"tags": NodeMember("tags", TAG_REFS)}),
    "embed": Tag("caption"),
    "file": Tag("caption", {"src": NodeMember("ref", URL)}),
    "content-ref": Tag("caption", {"url": NodeMember("ref", URL)}),
    "include": Tag("none"),
    "openapi": Tag("caption", {"src": NodeMember("ref", URL)}),
    "openapi-operation": Tag("caption", _SPEC),
    "openapi-schemas": Tag("caption", {**_SPEC, "schemas": NodeMember("schemas", WORDS)}),
    "openapi-webhook": Tag("caption", _SPEC),
}
"""The tags by name, with what some have more. Source: github.com/GitbookIO/public-docs."""

INTEGRATION = "integration"
RAW = "arguments"
"""The member that keeps what stands in a tag when it is no list of attributes."""

_SOURCE = re.compile(r"\{%[ \t\n]*+(@?[A-Za-z][\w/.-]*+)(?:[ \t\n]++(.*?))?[ \t\n]*\Z", re.DOTALL)
_ATTRIBUTE = re.compile(r"""[ \t\n]*+([A-Za-z_][\w:.-]*+)=(?:"([^"]*+)"|'([^']*+)')(?=[ \t\n]|\Z)""")
_QUOTED = re.compile(r'"([^"\n]*+)"')
_INTEGRATION = re.compile(r"@[A-Za-z][\w.-]*+/[\w.-]++")
_LABEL = re.compile(r"[A-Za-z_][\w:.-]*+")


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
    if name not in TAGS:
        return None
    tag, type = TAGS[name], TYPES[name]
    if name == "if":
        return type, {"expression": arguments}
    if name == "include":
        path = _QUOTED.fullmatch(arguments)
        return type, {"ref": make_url_ref(path[1])} if path else {RAW: arguments}
    given = parse_attributes(arguments)
    data = None if given is None else dict(_read_tag_members(tag, given))
    unsaid = {RAW, *_find_renamed_members(tag), *({"info"} if name == "code" else ())}
    if data is None or given is None or len(data) != len(given) or unsaid & given.keys() or RAW in data:
        return type, {RAW: arguments}
    return type, data


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
