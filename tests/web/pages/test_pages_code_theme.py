"""The colours of code: themes by name, in both modes, with a contrast that can be read."""

import re

import pytest
from pygments.styles import STYLE_MAP

from syncd.model.customization import CodeThemes, ThemedCodeTheme
from syncd.web.pages.code_theme import render_code_themes
from syncd.web.pages.colours import Colour, compute_contrast, parse_colour


def make_themes(light: str, dark: str, openapi: str = "default-light") -> CodeThemes:
    default = ThemedCodeTheme(light=light, dark=dark)
    return CodeThemes(default=default, openapi=ThemedCodeTheme(light=openapi, dark=openapi))


def read_colour(css: str, name: str) -> Colour:
    found = parse_colour(re.search(rf"[;{{]{name}:([^;]*);", css)[1])  # type: ignore[index]
    assert found is not None
    return found


def test_a_theme_of_the_site_itself_has_no_rules() -> None:
    assert render_code_themes(None) == render_code_themes(CodeThemes()) == ""
    assert render_code_themes(make_themes("default-light", "default-dark")) == ""


def test_each_mode_has_its_theme() -> None:
    css = render_code_themes(make_themes("solarized-light", "dracula"))
    light, dark = css.splitlines()[0], css.splitlines()[-1]
    assert light.startswith(".blocks.blocks pre{background:#fdf6e3;")
    assert dark.startswith("@media screen{:root[data-theme=dark] .blocks.blocks pre{background:#282a36;")
    assert ".b-api" not in css


def test_references_may_have_a_theme_of_their_own() -> None:
    css = render_code_themes(make_themes("default-light", "default-dark", openapi="material-theme-ocean"))
    assert all(".b-api pre" in line for line in css.splitlines())


@pytest.mark.parametrize("name", sorted(STYLE_MAP))
def test_words_of_every_theme_can_be_read(name: str) -> None:
    css = render_code_themes(make_themes(name, "default-dark"))
    if name == "default":
        assert not css
        return
    paper = read_colour(css, "background")
    for word in ("color", *(f"--b-k-{kind}" for kind in ("word", "name", "text", "number", "quiet", "tag"))):
        assert compute_contrast(read_colour(css, word), paper) >= 4.5


@pytest.mark.parametrize("name", ["", "no-such-theme", "}body{display:none", "../../etc/passwd"])
def test_a_name_that_nobody_knows_changes_nothing(name: str) -> None:
    assert render_code_themes(make_themes(name, name, openapi=name)) == ""
