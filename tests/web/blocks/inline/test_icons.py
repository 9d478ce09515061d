"""Icons: pictures of what docs name, drawn without a letter, and the file that its note names."""

from hashlib import sha256
from pathlib import Path

import pytest

import syncd
from syncd.web.blocks.inline.icons import find_icon, write_icon

STATIC = Path(syncd.__file__).parent / "web" / "static"
EVERYDAY = "rocket gear house home user users book code terminal key lock bolt bell globe cloud github bullhorn receipt"


def test_the_icons_are_the_file_that_its_note_names() -> None:
    note = (STATIC / "icons.md").read_text(encoding="utf-8")
    assert f"sha256 {sha256((STATIC / 'icons.tsv').read_bytes()).hexdigest()} " in note
    assert "CC BY 4.0" in (STATIC / "icons.LICENSE.txt").read_text(encoding="utf-8")
    assert "Font Awesome Free 6.7.2" in (STATIC / "blocks.css").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", EVERYDAY.split())
def test_an_icon_is_a_picture(name: str) -> None:
    drawn = write_icon(name)
    assert drawn.startswith("<svg ")
    assert 'aria-hidden="true"' in drawn


@pytest.mark.parametrize(
    ("name", "like"),
    [("shield-check", "shield"), ("cloud-check", "cloud"), ("hand-wave", "hand"), ("circles-overlap", "clone")],
)
def test_a_name_that_is_not_free_gets_one_that_is_like_it(name: str, like: str) -> None:
    assert find_icon(name) == find_icon(like)
    assert find_icon(like)


def test_an_unknown_icon_is_no_letter() -> None:
    assert write_icon("zzz") == ""
    said = write_icon("zzz", is_said=True)
    assert 'aria-label="zzz"' in said
    assert "Z" not in said.partition("<path")[0]


def test_what_is_no_name_is_text() -> None:
    assert write_icon("<b>", is_said=True) == "<span>&lt;b&gt;</span>"
