"""Colours of a customization: read strictly, and readable whatever a team chose."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncd.model.customization import SiteCustomizationSettings
from syncd.web.pages.colours import Colour, choose_text_colour, compute_contrast, make_readable, parse_colour
from syncd.web.pages.style_sheet import render_style_sheet

HINTS = ("info", "success", "warning", "danger")
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


@given(st.lists(COLOURS, min_size=5, max_size=5), st.sampled_from(["clean", "muted", "bold", "gradient"]))
def test_text_can_be_read_on_every_background_that_a_team_chose(colours: list[Colour], theme: str) -> None:
    chosen = dict(zip(("primary", *HINTS), ({"light": str(one), "dark": str(one)} for one in colours), strict=True))
    styling = {"theme": theme, **{f"{name}Color": colour for name, colour in chosen.items()}}
    sheet = render_style_sheet(SiteCustomizationSettings.model_validate({"styling": styling}))
    for scheme in ("light dark", "dark;"):
        names = dict(re.findall(r"--([a-z-]+):(#[0-9a-f]{6});", sheet.partition(f"color-scheme:{scheme}")[2]))
        properties = {name: parse_colour(text) or Colour(0, 0, 0) for name, text in names.items()}
        for name in ("text", "muted", "link", *(f"{hint}-text" for hint in HINTS)):
            for background in ("paper", *(f"{hint}-soft" for hint in HINTS)):
                assert compute_contrast(properties[name], properties[background]) >= 4.5, (name, background)
