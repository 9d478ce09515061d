"""`.gitbook.yaml`, `vars.yaml` and `tags.yaml`."""

import pytest

from syncd.errors import FileInvalid
from syncd.layout.tree.settings import Settings, read_settings
from syncd.layout.tree.variables import parse_tags, parse_variables, render_tags, render_variables


@pytest.mark.parametrize(
    "text", [None, "", "\n", "# nothing\n", "redirects:\n", "root: ./\n", "root:\nstructure:\n", "root: .\n"]
)
def test_without_settings_everything_is_as_usual(text: str | None) -> None:
    assert read_settings(text) == Settings(root="", readme="README.md", summary="SUMMARY.md", redirects={})


def test_settings_are_read() -> None:
    text = (
        "root: ./docs/\n\nstructure:\n  readme: ./intro.md\n  summary: ./product/SUMMARY.md\n\n"
        "redirects:\n  old/url: new/file.md\n  /slashed: x.md\n  404: y.md\n"
    )
    found = read_settings(text)
    assert found == Settings(
        root="docs",
        readme="intro.md",
        summary="product/SUMMARY.md",
        redirects={"old/url": "new/file.md", "slashed": "x.md", "404": "y.md"},
    )
    assert found.add_root(found.summary) == "docs/product/SUMMARY.md"
    assert Settings().add_root("x.md") == "x.md"


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("root: ../\n", 1, 1),
        ("a: 1\n", 1, 1),
        ("root: docs\nroot: x\n", 2, 1),
        ("structure:\n  readme: ../README.md\n", 2, 3),
        ("structure:\n  toc: x\n", 2, 3),
        ("structure: x\n", 1, 1),
        ("root: .git\n", 1, 1),
        ("root: docs/../../x\n", 1, 1),
        ("redirects:\n  a: 1\n", 2, 3),
        ("redirects: [a]\n", 1, 1),
        ("- root\n", 1, 1),
        ("redirects:\n a: b\n  c: d\n", 3, 4),
    ],
)
def test_what_cannot_be_used_is_an_error_where_it_stands(text: str, line: int, column: int) -> None:
    with pytest.raises(FileInvalid) as refusal:
        read_settings(text, at="docs/.gitbook.yaml")
    assert (refusal.value.path, refusal.value.line, refusal.value.column) == ("docs/.gitbook.yaml", line, column)


def test_variables_come_back_with_their_kinds() -> None:
    text = "pkg: '@evolve/node'\nfee: 2.0\nlimit: 500\nlive: true\nversion: '1.10'\nutc: 06:00 UTC\n"
    found = parse_variables(text)
    assert found == {
        "pkg": "@evolve/node",
        "fee": 2.0,
        "limit": 500,
        "live": True,
        "version": "1.10",
        "utc": "06:00 UTC",
    }
    assert render_variables(found) == text
    assert parse_variables("") == {}


def test_tags_come_back_with_all_their_members() -> None:
    text = "- tag: payments\n  label: Payments\n  icon: credit-card\n"
    text += "- tag: new\n  label: New\n  color: $primary\n  emoji: 1f680\n"
    assert render_tags(parse_tags(text)) == text
    assert parse_tags(text) == (
        {"slug": "payments", "label": "Payments", "icon": "credit-card", "color": "default"},
        {"slug": "new", "label": "New", "color": "$primary", "emoji": "1f680"},
    )
    assert parse_tags("") == ()


@pytest.mark.parametrize("text", ["- a\n", "a: [1]\n", "a:\n", "a: {b: c}\n"])
def test_variables_are_flat(text: str) -> None:
    with pytest.raises(FileInvalid):
        parse_variables(text)


@pytest.mark.parametrize("text", ["a: 1\n", "- a\n", "x\n"])
def test_tags_are_a_list_of_mappings(text: str) -> None:
    with pytest.raises(FileInvalid):
        parse_tags(text)
