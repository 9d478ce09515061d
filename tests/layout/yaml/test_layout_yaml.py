"""Strict YAML: values come back as they went in, and nothing hostile gets far."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncd.errors import FileInvalid
from syncd.layout.yaml.yaml import dump, dump_line, load, load_located
from tests.growing import assert_linear

TEXT = st.text(alphabet=st.characters(codec="utf-8"), max_size=120)
AWKWARD = st.sampled_from(
    ["no", "1.0", "012", "~", "", " x", "x ", "a: b", "a #b", "-", "- a", "2024-01-01", "x\n\ny\n", "'", "<<"]
)
SCALAR = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**17), 10**17),
    st.floats(allow_nan=False, allow_infinity=False),
    TEXT,
    AWKWARD,
)
WORDS = st.lists(st.text(alphabet="abc é", min_size=1, max_size=30), min_size=10, max_size=30).map(" ".join)


def _nested(depth: int) -> st.SearchStrategy[Any]:
    return st.recursive(
        st.one_of(SCALAR, WORDS),
        lambda inner: st.one_of(
            st.lists(inner, max_size=4), st.dictionaries(st.one_of(TEXT, AWKWARD), inner, max_size=4)
        ),
        max_leaves=depth,
    )


@settings(deadline=None, max_examples=100)
@given(_nested(12))
def test_what_is_dumped_is_loaded_again(value: Any) -> None:
    text = dump(value)
    assert load(text, at="x.yaml") == value
    assert text.endswith("\n")
    assert "\r" not in text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("yes", "yes"),
        ("012", "012"),
        ("12:30:45", "12:30:45"),
        ("2024-01-01", "2024-01-01"),
        ("2.0", 2.0),
        ("1.10", "1.10"),
        ("1e3", "1e3"),
        ("0x1f", "0x1f"),
        (".inf", ".inf"),
        ("500", 500),
        ("-3", -3),
        ("9" * 40, "9" * 40),
        ("true", True),
        ("'true'", "true"),
        ("~", None),
        ("", None),
        ("# only a comment", None),
        ("one\u2028two\x85three\u2029four\ufefffive", "one\u2028two\x85three\u2029four\ufefffive"),
        ("one\u2028two \ufdd0", "one\u2028two \ufdd0"),
        ("\ufeffone", "one"),
        ("06:00 UTC", "06:00 UTC"),
        ("https://youtube.com/@evolvepay", "https://youtube.com/@evolvepay"),
    ],
)
def test_plain_scalars_mean_what_a_writer_means(text: str, value: Any) -> None:
    loaded = load(text, at="x.yaml")
    assert loaded == value
    assert type(loaded) is type(value)


def test_numbers_keep_their_spelling() -> None:
    text = "a: 2.0\nb: 500\nc: -0.5\nd: 0\n"
    assert dump(load(text, at="x.yaml")) == text


def test_dump_writes_as_the_platform_exports() -> None:
    value = {
        "node_pkg": "@evolve/node",
        "site": "https://youtube.com/@evolvepay",
        "time": "06:00 UTC",
        "answer": "no",
        "empty": "",
        "quote": "it's",
        "colon": "a: b",
        "description": "Payments, identity, and platform infrastructure — built for businesses that scale.",
        "lines": "one\ntwo\n",
        "layout": {"cover": {"visible": True}},
        "tags": [{"tag": "payments", "label": "Payments"}, "plain", []],
        "none": {},
    }
    assert dump(value) == (
        "node_pkg: '@evolve/node'\n"
        "site: https://youtube.com/@evolvepay\n"
        "time: 06:00 UTC\n"
        "answer: 'no'\n"
        "empty: ''\n"
        "quote: it's\n"
        "colon: 'a: b'\n"
        "description: >-\n"
        "  Payments, identity, and platform infrastructure — built for businesses that\n"
        "  scale.\n"
        "lines: |\n"
        "  one\n"
        "  two\n"
        "layout:\n"
        "  cover:\n"
        "    visible: true\n"
        "tags:\n"
        "  - tag: payments\n"
        "    label: Payments\n"
        "  - plain\n"
        "  - []\n"
        "none: {}\n"
    )


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("a: 1\nb: *x\n", 2, 4),
        ("a: &x 1\n", 1, 4),
        ("a: !!python/object:x y\n", 1, 4),
        ("a: 1\nb:\n  <<: {c: 1}\n", 3, 3),
        ("a: 1\nb: 2\na: 3\n", 3, 1),
        ("a: 'x\n", 1, 4),
        ("a: b: c\n", 1, 5),
        ("? [a]\n: b\n", 1, 3),
        ("--- a\n--- b\n", 2, 1),
        ("%YAML 1.1\n---\na\n", 2, 1),
        ("\ta: 1\n", 1, 1),
        ('a: "\\ud800"\n', 1, 4),
        ("a: [\n", 2, 1),
        ("a: 1\nb: \x01\n", 2, 4),
        ("\ufeffa: 1\nb: *x\n", 2, 4),
        ("a: x\u2028y\nb: *x\n", 2, 4),
    ],
)
def test_what_is_refused_is_refused_where_it_stands(text: str, line: int, column: int) -> None:
    with pytest.raises(FileInvalid) as refusal:
        load(text, at="docs/x.yaml")
    assert (refusal.value.path, refusal.value.line, refusal.value.column) == ("docs/x.yaml", line, column)


@pytest.mark.parametrize("text", ['a: "\\U7fffffff"', "a: \x01", "\ud800"], ids=ascii)
def test_characters_that_yaml_does_not_allow_are_refused(text: str) -> None:
    with pytest.raises(FileInvalid):
        load(text, at="x.yaml")


BOMBS: dict[str, tuple[str, Callable[[int], str], str]] = {
    "merge keys": ("a0: &a0 {x: 1}\n", lambda n: f"a{n + 1}: &a{n + 1} {{<<: [*a{n}, *a{n}]}}\n", ""),
    "aliases": ("a: &a [x, x]\n", lambda n: f"b{n}: &b{n} [*a, *a]\n", ""),
    "brackets": ("", lambda _: "[", ""),
    "braces": ("", lambda _: "{a: ", ""),
    "dashes": ("", lambda _: "- ", ""),
    "size": ("", lambda _: "a: 1\n", ""),
    "tags": ("", lambda _: "!", ""),
    "key marks": ("", lambda _: "? ", ""),
    "anchors": ("", lambda _: "&a ", ""),
    "one anchor": ("&", lambda _: "a", ""),
    "a key": ("", lambda _: "a", ": 1"),
    "open keys": ("{", lambda _: '"a" ', ""),
    "keys of lists": ("[", lambda _: "? ", ""),
    "quotes": ("'", lambda _: "\n", ""),
    "one key": ("{", lambda _: "a: 1, ", "}"),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_bombs_are_refused_at_once(bomb: str) -> None:
    before, unit, after = BOMBS[bomb]

    def read(size: int) -> None:
        text = before + "".join(map(unit, range(size // len(unit(0))))) + after
        with pytest.raises(FileInvalid):
            load(text, at="x.yaml")

    assert_linear(read, 125_000)


@settings(deadline=None, max_examples=100)
@given(st.one_of(st.text(max_size=80), st.text(alphabet="{}[]:-?,&*!|>'\"%@`#~ \n\tab<\\x0", max_size=60)))
def test_any_text_is_loaded_or_refused(text: str) -> None:
    with suppress(FileInvalid):
        value = load(text, at="x.yaml")
        assert load(dump(value), at="x.yaml") == value


def test_every_part_is_located() -> None:
    located = load_located("a: 1\nredirects:\n  - source: /x\n    to: {page: y}\n", at="x.yaml", line=11)
    assert located.value == {"a": 1, "redirects": [{"source": "/x", "to": {"page": "y"}}]}
    assert dict(located.positions) == {
        (): (11, 1),
        ("a",): (11, 1),
        ("redirects",): (12, 1),
        ("redirects", 0): (13, 5),
        ("redirects", 0, "source"): (13, 5),
        ("redirects", 0, "to"): (14, 5),
        ("redirects", 0, "to", "page"): (14, 10),
    }


def test_what_turns_the_direction_of_a_line_is_written_as_an_escape() -> None:
    assert dump_line({"title": "a\u202eb\u2066"}) == '{ title: "a\\u202Eb\\u2066" }'
    assert load(dump_line({"title": "a\u202eb\u2066"}), at="f") == {"title": "a\u202eb\u2066"}
