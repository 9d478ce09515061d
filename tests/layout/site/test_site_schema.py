"""The JSON Schema of the site file agrees with the reader, and with the manual."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from syncd.cli.reference.schema import print_schema
from syncd.layout.site.read import shape
from syncd.layout.site.read.file import read_site_file
from syncd.layout.site.write.emit import MODELINE
from syncd.layout.site.write.schema import build_redirect_schema, build_site_schema
from syncd.layout.yaml.yaml import load
from tests.layout.site.example import OTHERS, PATH, SITE_FILE

ROOT = Path(__file__).parents[3]
MANUAL = ROOT / "syncd" / "manual" / "reference" / "site-file.md"
SCHEMA = Draft7Validator(build_site_schema())
HEAD = "version: 1\nsite: { org: o, id: s }\n"


def test_the_schema_is_json_schema_and_every_part_of_it_is_there() -> None:
    for schema in (build_site_schema(), build_redirect_schema()):
        Draft7Validator.check_schema(schema)
        names = {name.removeprefix("#/definitions/") for name in re.findall(r'"(#/[^"]+)"', json.dumps(schema))}
        assert names <= schema["definitions"].keys()


def test_the_whole_format_is_valid() -> None:
    assert not list(SCHEMA.iter_errors(load(SITE_FILE, at=PATH)))
    assert read_site_file(SITE_FILE, path=PATH, others=OTHERS)[1] == ()


GOOD = (
    "policy: { on_drift: { redirects: accept }, limits: { visitors: { max_update_pct: 5 } }, allow_empty: true }",
    "policy: { require_bridge: true, allow_unshown_types: false, ignore: [section:a.icon] }",
    "settings: { proxy: null, basename: a, visibility: unlisted }",
    "visitors: { claims: { a: { type: boolean }, b: null } }",
    "structure: { order: unmanaged, items: [{ group: g, items: [{ section: a, condition: null, was: b }] }] }",
    "structure: { items: [{ variant: v, space: s, hidden: true, id: x, protect: true }] }",
    "redirects: [{ from: /a, to: { raw: { kind: site-section } } }, { from: [/b], to: { page: x, in: a/b }, was: /c }]",
    "redirect_files: [a.csv]\nabsent: { redirects: [/a] }",
    "customization: { site: { title: null, header: { links: [{ title: A, to: null, links: [] }] } } }",
    "customization: { site: { styling: { font: Inter, tint: { color: { light: '#fff000', dark: '#000000' } } } } }",
    "customization: { overrides: { v: reset, w: { header: { linkColor: { light: '#ffffff', dark: '#000000' } } } } }",
)
BAD = (
    "titel: x",
    "settings: { title: 2024 }",
    "settings: { adaptive_content: 'yes' }",
    "settings: { title: null }",
    "settings: { visibility: everyone }",
    "settings: { hostname: a.b }",
    "policy: { prune: owned }",
    "policy: { prune: { pages: never } }",
    "policy: { limits: { redirects: { max_delete: ten } } }",
    "spaces: { a: 12 }",
    "spaces: { a: '' }",
    "structure: { items: [{ section: a, title: 1 }] }",
    "structure: { items: [{ section: a, titel: x }] }",
    "structure: { items: [{ variant: v }] }",
    "structure: { items: [{ variant: v, space: s, title: T }] }",
    "structure: { items: [{ section: a, group: b }] }",
    "structure: { items: [{ group: g, items: [{ variant: v, space: s }] }] }",
    "structure: { order: asc }",
    "redirects: { a: b }",
    "redirects: [{ to: { section: a } }]",
    "redirects: [{ from: 1, to: { section: a } }]",
    "redirects: [{ from: /a, to: { sectoin: a } }]",
    "redirects: [{ from: /a, to: { section: a }, status: 301 }]",
    "redirect_files: a.csv",
    "absent: { sections: [a] }",
    "customization: { site: [] }",
    "customization: { overrides: { v: all } }",
    "visitors: { claims: { a: boolean } }",
    "visitors: { claim: {} }",
)


@pytest.mark.parametrize("text", GOOD)
def test_what_the_reader_takes_the_schema_takes(text: str) -> None:
    assert read_site_file(HEAD + text, path="site.yaml", others={"a.csv": ""})[1] == ()
    assert not [error.message for error in SCHEMA.iter_errors(load(HEAD + text, at="site.yaml"))]


@pytest.mark.parametrize("text", BAD)
def test_what_the_reader_refuses_the_schema_refuses(text: str) -> None:
    assert read_site_file(HEAD + text, path="site.yaml", others={})[1]
    assert list(SCHEMA.iter_errors(load(HEAD + text, at="site.yaml")))


@pytest.mark.parametrize("text", ["version: 2\nsite: { org: o, id: s }", "site: { org: o, id: s }", "version: 1"])
def test_the_head_is_needed(text: str) -> None:
    assert list(SCHEMA.iter_errors(load(text, at="site.yaml")))


def described(schema: Any, path: str = "") -> list[str]:
    """The keys of a schema that have no description."""
    if not isinstance(schema, dict):
        return []
    found = []
    for name, member in schema.get("properties", {}).items():
        found += [] if "description" in member else [f"{path}.{name}"]
        found += described(member, f"{path}.{name}")
    return found


def test_editors_have_something_to_say_about_every_key() -> None:
    schema = build_site_schema()
    ours = ["section", "group", "variant", "redirect", "link"]
    assert described(schema) == []
    assert [name for one in ours for name in described(schema["definitions"][one], one)] == []


@pytest.mark.parametrize(
    "table",
    [
        "TOP",
        "SITE",
        "POLICY",
        "LIMIT",
        "SETTINGS",
        "VISITORS",
        "STRUCTURE",
        "SECTION",
        "GROUP",
        "VARIANT",
        "REDIRECT",
        "TO",
    ],
)
def test_every_key_is_in_the_manual(table: str) -> None:
    text = MANUAL.read_text(encoding="utf-8")
    missing = [key for key in getattr(shape, table) if not re.search(rf"`[^`\n]*\b{key}\b[^`\n]*`", text)]
    assert missing == []


def test_the_schema_is_printed_for_editors(capsys: pytest.CaptureFixture[str]) -> None:
    print_schema("site")
    assert json.loads(capsys.readouterr().out) == build_site_schema()
    assert "site-v1.json" in MODELINE
