"""Text of others stays in its line, and an id is nothing but visible characters."""

import json
import re
import unicodedata
from ast import literal_eval

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from syncd.model.space import Space
from syncd.model.text import (
    CONTROLS,
    DIRECTION_MARKS,
    HALVES,
    HIDDEN,
    LINE_SEPARATORS,
    SPELLING,
    TAGS,
    TURNING,
    ZERO_WIDTH,
    clean_title,
    has_half_character,
    join_lines,
    mask_unprintable,
    quote_name,
    replace_half_characters,
    show_hidden,
    show_hidden_in_json,
    show_unprintable,
)

CLASSES = (CONTROLS, LINE_SEPARATORS, TURNING, ZERO_WIDTH, TAGS, DIRECTION_MARKS, SPELLING, HALVES)
UNSEEN = (
    "\x00\x07\x1b\x7f\x85\x9b\u00ad\u061c\u180e\u200b\u200d\u200e\u2028\u2029\u202e\u2066\u206a\ufeff\U000e0041\ud83d"
)
text = st.text(st.characters() | st.sampled_from(UNSEEN))


@given(text)
def test_one_line_is_one_line_of_what_can_be_seen(said: str) -> None:
    line = join_lines(said)
    assert line.splitlines() in ([], [line])
    assert not set(line) & set(UNSEEN)
    assert join_lines(line) == line


@given(text)
def test_what_is_shown_is_one_line_and_keeps_what_could_be_seen(said: str) -> None:
    shown = show_hidden(said)
    assert shown.splitlines() in ([], [shown])
    assert not set(shown) & set(UNSEEN)
    assert show_hidden(shown) == shown


@given(text)
def test_a_quoted_name_is_printable_and_says_exactly_which_it_is(name: str) -> None:
    quoted = quote_name(name)
    assert quoted.isprintable()
    assert unicodedata.is_normalized("NFC", quoted)
    assert literal_eval(quoted) == (name if len(name) <= 80 else f"{name[:79]}…")


def test_a_quoted_name_keeps_its_script_but_where_it_only_looks_like_another() -> None:
    assert quote_name("ガイド/はじめに.md") == "'ガイド/はじめに.md'"
    assert quote_name("caf\u00e9.md") == "'café.md'"
    assert quote_name("cafe\u0301.md") == r"'cafe\u0301.md'"


@given(st.recursive(text | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(text, inner)))
def test_json_with_all_shown_is_the_same_value(value: object) -> None:
    document = show_hidden_in_json(json.dumps(value, ensure_ascii=False, indent=1))
    assert not set(document) & set(UNSEEN)
    assert json.loads(document) == value


def test_whatever_is_hidden_is_in_one_class_and_is_not_printable() -> None:
    every = "".join(map(chr, range(0x110000)))

    def signs(characters: str) -> set[str]:
        return set(re.findall(f"[{characters}]", every))

    each = [signs(one) for one in CLASSES]
    assert sum(map(len, each)) == len(signs(HIDDEN)) == len(set().union(*each))
    assert not any(sign.isprintable() for sign in signs(HIDDEN))


@given(text)
def test_all_but_what_is_printed_is_spelled_or_masked_and_the_rest_stays(said: str) -> None:
    assert show_unprintable(said).isprintable()
    masked = mask_unprintable(said, "?")
    assert all(new in (old, "?") for new, old in zip(masked, said, strict=True))
    assert masked.isprintable()


def test_a_title_keeps_what_languages_need_and_loses_what_ends_its_line() -> None:
    assert clean_title(" a\r\n\x1bb\u2028c\u0085 ") == "a b c"
    needed = "می\u200cخواهم 👩\u200d💻 \u200f\u00ad\u202e"
    assert clean_title(needed) == needed


@given(st.text(st.characters() | st.sampled_from("\ud800\udfff")))
def test_half_characters_are_found_and_replaced(said: str) -> None:
    whole = replace_half_characters(said)
    assert not has_half_character(whole)
    assert has_half_character(said) == (whole != said)
    assert len(whole.encode().decode()) == len(said)


@pytest.mark.parametrize("id", ["a", "-MdwVZ6HOZriajCf5nXH", "urn:x/1.0~y|z@w", "r" * 256])
def test_an_id_may_be_anything_that_is_seen(id: str) -> None:
    assert Space.model_validate({"id": id}).id == id


@pytest.mark.parametrize(
    "id", ["", " ", "a b", "a\n", "\ta", "a\u00a0b", "é", *(f"a{sign}" for sign in UNSEEN[:-1]), "r" * 257]
)
def test_an_id_is_one_visible_word(id: str) -> None:
    with pytest.raises(ValidationError, match="is no id"):
        Space.model_validate({"id": id})
