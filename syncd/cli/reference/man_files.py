"""Man pages of the files that people write, made from the same schemas that editors complete them by."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from syncd import __version__
from syncd.cli.reference.schema import build_config_schema
from syncd.layout.site.write.schema import build_redirect_schema, build_site_schema
from syncd.model.text import join_lines

_DEPTH_MAX = 12
"""Tables within tables that are followed: more than any of the files has."""
_HERE = "#/definitions/"
_TYPES = {"string": "text", "integer": "whole number", "object": "table", "array": "list", "boolean": "true or false"}
_CUSTOMIZATION = "customization"
"""Its hundreds of keys are the API's own, and `syncd schema site` has them."""


@dataclass(frozen=True)
class FilePage:
    """What a page says beside the keys: its name, what it is about in a line, where the file is, and what to read."""

    name: str
    about: str
    description: tuple[str, ...]
    see_also: tuple[str, ...]


_PAGES = (
    (
        FilePage(
            "syncd.toml",
            "the configuration of syncd",
            (
                "TOML. The first of these that is there is read: the file that --config names; that of the variable "
                "SYNCD_CONFIG; .git/syncd.toml of the repository around the current directory; syncd.toml at its top, "
                "once it is trusted; $XDG_CONFIG_HOME/syncd/config.toml or ~/.config/syncd/config.toml; "
                "/etc/syncd/config.toml.",
                "An unknown key is an error. syncd config check names each mistake with its line, and syncd example "
                "config prints a file with every key. Relative paths start at the directory of the file; in "
                ".git/syncd.toml they start at the root of the repository.",
            ),
            ("syncd-config-check(1)", "syncd-trust(1)", "syncd-example(1)"),
        ),
        build_config_schema,
    ),
    (
        FilePage(
            "syncd-site",
            "the site file of syncd, site.yaml",
            (
                "YAML. What a docs site should be: a key that is absent is left alone, null takes a value away, and "
                "[] is a list that shall be empty. site.lock.json beside it says what syncd put there.",
                "syncd site validate checks it without a platform, syncd site plan shows what would change, and "
                "syncd site import writes one from a site that exists.",
            ),
            ("syncd-site(1)", "syncd-site-plan(1)", "syncd-redirects(5)"),
        ),
        build_site_schema,
    ),
    (
        FilePage(
            "syncd-redirects",
            "a redirect file in YAML, which redirect_files of a site file names",
            ("A list of redirects. The same keys stand below redirects in the site file.",),
            ("syncd-redirects(1)", "syncd-site(5)"),
        ),
        build_redirect_schema,
    ),
)


def render_file_pages() -> Mapping[str, str]:
    """Return the text of each page by its file name, such as `syncd.toml.5`."""
    return {f"{page.name}.5": "\n".join(_render_page(page, build())) + "\n" for page, build in _PAGES}


def escape_roff(text: str) -> str:
    """Return text in which troff finds nothing to obey: no escape, no request at the start of a line."""
    escaped = join_lines(text).replace("\\", "\\e").replace("-", "\\-")
    escaped = "".join(sign if sign.isascii() else f"\\[u{ord(sign):04X}]" for sign in escaped)
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


def _render_page(page: FilePage, schema: Mapping[str, Any]) -> Iterator[str]:
    yield f'.TH {escape_roff(page.name.upper())} 5 "" "syncd {__version__}" "File formats"'
    yield from (".SH NAME", f"{escape_roff(page.name)} \\- {escape_roff(page.about)}", ".SH DESCRIPTION")
    for paragraph in page.description:
        yield from (".PP", escape_roff(paragraph))
    yield ".SH KEYS"
    for key, shape in _walk_keys(schema, schema, "", 0):
        facts = " ".join(_list_facts(shape))
        described = _end_sentence(str(shape.get("description", "")))
        yield from (".TP", f"\\fB{escape_roff(key)}\\fR", escape_roff(f"{described} {facts}".strip() or "As it says."))
    yield from (".SH SEE ALSO", ", ".join(f"\\fB{escape_roff(one[:-3])}\\fR{one[-3:]}" for one in page.see_also))


def _walk_keys(
    schema: Mapping[str, Any], shape: Mapping[str, Any], above: str, depth: int
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each key once by its path, such as `repository[].space[].id`, with its shape, references followed."""
    if depth > _DEPTH_MAX:
        return
    if "items" in shape:
        yield from _walk_keys(schema, _resolve_references(schema, shape["items"]), f"{above}[]", depth + 1)
    for choice in (*shape.get("oneOf", ()), *shape.get("anyOf", ())):
        resolved = _resolve_references(schema, choice)
        if resolved.get("type") in ("object", "array") or "properties" in resolved:
            yield from _walk_keys(schema, resolved, above, depth + 1)
    for name, raw in shape.get("properties", {}).items():
        key, inner = f"{above}.{name}".lstrip("."), _resolve_references(schema, raw)
        yield key, inner
        is_recursive = above.split(".")[-1].removesuffix("[]") == name
        if name != _CUSTOMIZATION and not is_recursive:
            yield from _walk_keys(schema, inner, key, depth + 1)


def _resolve_references(schema: Mapping[str, Any], shape: Mapping[str, Any]) -> dict[str, Any]:
    """Return a shape with what it refers to; its own members, such as a description, win."""
    resolved: dict[str, Any] = {}
    for part in (*shape.get("allOf", ()), shape):
        reference = str(part.get("$ref", ""))
        if reference.startswith(_HERE):
            resolved |= _resolve_references(schema, schema["definitions"][reference.removeprefix(_HERE)])
        resolved |= {key: value for key, value in part.items() if key not in ("$ref", "allOf")}
    return resolved


def _list_facts(shape: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a value may be: its type or its words, its bounds, and its default."""
    if "enum" in shape:
        yield "One of " + ", ".join(str(one) for one in shape["enum"]) + "."
    elif "const" in shape:
        yield f"Always {shape['const']}."
    elif isinstance(kind := shape.get("type"), str):
        yield f"{_TYPES.get(kind, kind).capitalize()}."
    if "minimum" in shape and "maximum" in shape:
        yield f"From {shape['minimum']} to {shape['maximum']}."
    if shape.get("default") not in (None, "", [], {}) and not isinstance(shape["default"], dict):
        yield f"Default: {_format_default(shape['default'])}."


def _format_default(default: Any) -> str:
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, list | tuple):
        return ", ".join(_format_default(one) for one in default)
    return f"{default:g}" if isinstance(default, float) else json.dumps(default)


def _end_sentence(text: str) -> str:
    return text if not text or text.endswith((".", "!", "?")) else f"{text}."
