"""Patches of a YAML file: the value becomes the intended one, and what people wrote stays."""

import copy
import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncd.errors import FileInvalid
from syncd.layout.site.write.emit import emit_site_file
from syncd.layout.site.write.fmt import format_site_file
from syncd.layout.site.write.migrate import migrate_site_file
from syncd.layout.site.write.patch import Patch, apply_patches
from syncd.layout.yaml.yaml import load
from tests.growing import assert_linear
from tests.layout.site.documents import KEYS, Writer, paths
from tests.layout.site.example import SITE_FILE

SEEDS = st.integers(0, 2**32)
_NOTE = re.compile(r"# note \d+")


def same(one: Any, other: Any) -> bool:
    """Equal as JSON: 1, 1.0 and true are three values."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def changed(value: Any, edit: Patch) -> Any:
    """The value after one change, worked out on values alone."""
    value = copy.deepcopy(value)
    at = value
    for step in edit.path[:-1]:
        at = at[step]
    if edit.do == "add":
        (at[edit.path[-1]] if edit.path else at).append(edit.value)
    elif edit.do == "remove":
        del at[edit.path[-1]]
    elif edit.path:
        at[edit.path[-1]] = edit.value
    return value


def any_edit(writer: Writer, value: Any) -> Patch:
    """A change that fits a value."""
    path, found = writer.random.choice(list(paths(value)))
    kind = writer.random.random()
    if isinstance(found, list) and kind < 0.5:
        return Patch("add", path, writer.value(2))
    if isinstance(found, dict) and kind < 0.5:
        return Patch("set", (*path, writer.random.choice([*KEYS, "new"])), writer.value(2))
    if not path:
        path = (next(iter(found)) if isinstance(found, dict) else 0,)
    return Patch("set", path, writer.value(2)) if kind < 0.8 else Patch("remove", path)


def claim_that_a_patch_does_what_it_says(seed: int) -> None:
    writer = Writer(seed)
    text = writer.document()
    value = load(text, at="x.yaml")
    for _ in range(3):
        edit = any_edit(writer, value)
        text, value = apply_patches(text, "x.yaml", [edit]), changed(value, edit)
        assert same(load(text, at="x.yaml"), value)
        if not value:
            return


@settings(deadline=None, max_examples=50)
@given(SEEDS)
def test_a_patched_file_has_exactly_the_intended_value(seed: int) -> None:
    claim_that_a_patch_does_what_it_says(seed)


@pytest.mark.long
def test_many_patched_files_have_exactly_the_intended_value() -> None:
    for seed in range(8_000):
        claim_that_a_patch_does_what_it_says(seed)


@settings(deadline=None, max_examples=50)
@given(SEEDS)
def test_what_is_added_leaves_every_comment_and_line_where_it_was(seed: int) -> None:
    writer = Writer(seed)
    text = writer.document()
    holders = [(path, found) for path, found in paths(load(text, at="x.yaml")) if isinstance(found, dict | list)]
    path, found = writer.random.choice(holders)
    edit = Patch("add", path, 1) if isinstance(found, list) else Patch("set", (*path, "new"), 1)
    result = apply_patches(text, "x.yaml", [edit])
    assert _NOTE.findall(result) == _NOTE.findall(text)
    before, after = (re.sub(r"[{[]\s*[}\]]", "", one) for one in (text, result))
    rest = iter(after)
    assert not found or all(sign in rest for sign in before)
    assert ("\r\n" in result) == ("\r\n" in text)


@settings(deadline=None, max_examples=50)
@given(SEEDS)
def test_formatting_keeps_the_value_and_the_comments_and_settles_at_once(seed: int) -> None:
    text = Writer(seed).document()
    result = format_site_file(text, path="x.yaml")
    assert same(load(result, at="x.yaml"), load(text, at="x.yaml"))
    assert _NOTE.findall(result) == _NOTE.findall(text)
    assert format_site_file(result, path="x.yaml") == result


@settings(deadline=None, max_examples=50)
@given(SEEDS)
def test_a_fresh_file_says_what_it_was_made_from_and_is_formatted(seed: int) -> None:
    writer = Writer(seed)
    document = {key: writer.value(1) for key in ("version", "site", "redirects", *KEYS)}
    text = emit_site_file(document)
    assert same(load(text, at="x.yaml"), document)
    assert format_site_file(text, path="x.yaml") == text


def test_a_site_file_is_changed_as_a_person_would() -> None:
    edits = [
        Patch("set", ("settings", "title"), "Lumen: all docs"),
        Patch("set", ("settings", "proxy"), None),
        Patch("add", ("redirects",), {"from": "/old", "to": {"page": "a/b", "in": "start/en"}}),
        Patch("remove", ("redirects", 0)),
        Patch("remove", ("structure", "items", 2, "variants", 2, "hidden")),
        Patch("set", ("structure", "items", 2, "was"), ["api", "dev"]),
        Patch("remove", ("absent",)),
        Patch("set", ("policy", "ignore"), ["section:start.icon"]),
    ]
    before, after = SITE_FILE.split("\n"), apply_patches(SITE_FILE, "site.yaml", edits).split("\n")
    gone = [line for line in before if line not in after]
    new = [line for line in after if line not in before]
    assert [line.strip() for line in gone] == [
        "title: Lumen Docs",
        "was: [api]                          # a former path: the id stays",
        "- { variant: v1, space: api-v1, path: v1, hidden: true }",
        "- { from: /api,                   to: { section: developers } }",
        "absent:",
        "redirects: [/beta-program]",
    ]
    assert new == [
        '  ignore: ["section:start.icon"]',
        '  title: "Lumen: all docs"',
        "  proxy: null",
        "      was: [api, dev]                          # a former path: the id stays",
        "        - { variant: v1, space: api-v1, path: v1 }",
        "  - { from: /old, to: { page: a/b, in: start/en } }",
    ]


@pytest.mark.parametrize(
    ("text", "edits", "result"),
    [
        ("", [Patch("set", ("a", "b"), 1)], "a: { b: 1 }\n"),
        ("# only this\n", [Patch("set", ("a",), [1])], "# only this\na: [1]\n"),
        ("a:\n", [Patch("add", ("a",), 1)], "a: [1]\n"),
        ("a:\n  - 1 # one\n", [Patch("remove", ("a", 0))], "a: [] # one\n"),
        ("- a: 1\n  b: 2\n", [Patch("remove", (0, "a"))], "- b: 2\n"),
        ("a: [1, 2, 3]\n", [Patch("remove", ("a", 0)), Patch("remove", ("a", 2))], "a: [2]\n"),
        ("a: 'x'   # why\n", [Patch("set", ("a",), "z")], "a: z   # why\n"),
        ('a: "x"\n', [Patch("set", ("a",), "z")], 'a: "z"\n'),
        ("a: {b: 1}\r\nc: 2", [Patch("set", ("d",), 3)], "a: {b: 1}\r\nc: 2\r\nd: 3"),
        ("a: |\n  one\n  two", [Patch("set", ("b",), 1)], 'a: "one\\ntwo"\nb: 1'),
        ("a:\n- 1\n", [Patch("add", ("a",), 2)], "a:\n- 1\n- 2\n"),
        ("a: 1\n", [Patch("set", ("a",), 1)], "a: 1\n"),
        ("a: {b: 1, c: 2} # d\n", [Patch("set", ("a",), {"b": 3, "c": 2})], "a: {b: 3, c: 2} # d\n"),
    ],
)
def test_a_patch_is_small(text: str, edits: list[Patch], result: str) -> None:
    assert apply_patches(text, "x.yaml", edits) == result


@pytest.mark.parametrize(
    "edit",
    [Patch("remove", ("b",)), Patch("set", ("a", "b"), 1), Patch("add", ("a",), 1), Patch("remove", ("c", 5))],
)
def test_what_is_not_there_is_not_changed(edit: Patch) -> None:
    with pytest.raises(FileInvalid, match="nothing that can be changed"):
        apply_patches("a: 1\nc: [1]\n", "x.yaml", [edit])


def test_many_changes_are_made_in_linear_time() -> None:
    def change(count: int) -> None:
        text = "redirects:\n" + "".join(f"  - {{ from: /a/{n}, to: {{ section: s }} }}\n" for n in range(count))
        edits = [Patch("remove", ("redirects", n)) for n in range(0, count, 2)]
        edits += [Patch("set", ("redirects", n, "to", "section"), "t") for n in range(1, count, 2)]
        edits += [Patch("add", ("redirects",), {"from": f"/b/{n}", "to": {"section": "s"}}) for n in range(count // 2)]
        found = load(apply_patches(text, "x.yaml", edits), at="x.yaml")["redirects"]
        assert [one["to"]["section"] for one in found] == ["t"] * (count // 2) + ["s"] * (count // 2)

    assert_linear(change, 124)


def test_formatting_spaces_braces_and_blank_lines_and_nothing_else() -> None:
    text = "\n\na: {b: 1,c: [ 1,2 ], }  \n\n\n# x  \nd: {from: /a,    to:  x}\ne: |\n  kept  \n\n\n\n"
    assert format_site_file(text, path="x.yaml") == (
        "a: { b: 1, c: [1, 2] }\n\n# x\nd: { from: /a,    to:  x }\ne: |\n  kept  \n\n\n\n"
    )
    assert format_site_file(SITE_FILE, path="x.yaml") == SITE_FILE


def test_the_first_form_of_the_file_becomes_the_one_of_today() -> None:
    text = "version: 1\npolicy:\n  prune: owned   # ours\nredirects: []\n"
    result, said = migrate_site_file(text, path="site.yaml")
    assert result == "version: 1\npolicy:\n  prune: { redirects: owned }   # ours\nredirects: []\n"
    assert said
    assert migrate_site_file(result, path="site.yaml") == (result, ())
