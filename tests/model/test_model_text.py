"""Text of others stays in its line, and an id is nothing but visible characters."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from syncd.model.space import Space
from syncd.model.text import one_line, show_hidden, show_hidden_in_json

UNSEEN = "\x00\x07\x1b\x7f\x85\x9b\u061c\u200b\u200e\u2028\u2029\u202e\u2066\ufeff\U000e0041\ud83d"
text = st.text(st.characters() | st.sampled_from(UNSEEN))


@given(text)
def test_one_line_is_one_line_of_what_can_be_seen(said: str) -> None:
    line = one_line(said)
    assert line.splitlines() in ([], [line])
    assert not set(line) & set(UNSEEN)
    assert one_line(line) == line


@given(text)
def test_what_is_shown_is_one_line_and_keeps_what_could_be_seen(said: str) -> None:
    shown = show_hidden(said)
    assert shown.splitlines() in ([], [shown])
    assert not set(shown) & set(UNSEEN)
    assert show_hidden(shown) == shown


@given(st.recursive(text | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(text, inner)))
def test_json_with_all_shown_is_the_same_value(value: object) -> None:
    document = show_hidden_in_json(json.dumps(value, ensure_ascii=False, indent=1))
    assert not set(document) & set(UNSEEN)
    assert json.loads(document) == value


@pytest.mark.parametrize("id", ["a", "-MdwVZ6HOZriajCf5nXH", "urn:x/1.0~y|z@w", "r" * 256])
def test_an_id_may_be_anything_that_is_seen(id: str) -> None:
    assert Space.model_validate({"id": id}).id == id


@pytest.mark.parametrize(
    "id", ["", " ", "a b", "a\n", "\ta", "a\u00a0b", "é", *(f"a{sign}" for sign in UNSEEN[:-1]), "r" * 257]
)
def test_an_id_is_one_visible_word(id: str) -> None:
    with pytest.raises(ValidationError, match="is no id"):
        Space.model_validate({"id": id})
