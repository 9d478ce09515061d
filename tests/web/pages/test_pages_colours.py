"""Colours of a customization: read strictly, and readable whatever a team chose."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncd.web.pages.colours import Colour, choose_text_colour, compute_contrast, make_readable, parse_colour

COLOURS = st.builds(Colour, *(st.integers(0, 255) for _ in range(3)))


@pytest.mark.parametrize(("text", "spelled"), [("#fff", "#ffffff"), ("#534AB7", "#534ab7"), ("#000", "#000000")])
def test_a_colour_is_read(text: str, spelled: str) -> None:
    assert str(parse_colour(text)) == spelled


@pytest.mark.parametrize("text", [None, "", "red", "#12345", "#fff;}body{color:red", "url(https://evil.test)", "#ggg"])
def test_any_other_text_is_no_colour(text: str | None) -> None:
    assert parse_colour(text) is None


def test_contrast_is_that_of_the_guidelines() -> None:
    assert compute_contrast(Colour(0, 0, 0), Colour(255, 255, 255)) == pytest.approx(21)
    assert compute_contrast(Colour(0x77, 0x77, 0x77), Colour(255, 255, 255)) == pytest.approx(4.48, abs=0.01)


@given(COLOURS, COLOURS)
def test_text_can_be_read_on_any_background(colour: Colour, background: Colour) -> None:
    assert compute_contrast(make_readable(colour, background), background) >= 4.5
    assert compute_contrast(choose_text_colour(background), background) >= 4.5
