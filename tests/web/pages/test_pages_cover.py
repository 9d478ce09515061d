"""The cover of a page: how high, how far it is moved, in which theme, and what is no picture of this site."""

from typing import Any

import pytest

from syncd.web.blocks import Target
from syncd.web.pages.cover import PageCover, build_cover
from tests.web.pages.test_pages_shell import Reader, make_page, make_view

EVIL = '"><script>alert(1)</script>'


def resolve(reference: Any) -> Target:
    return Target(reference["url"])


def make_reference(url: str) -> dict[str, str]:
    return {"kind": "url", "url": url}


def test_a_cover_has_its_height_and_its_shift_and_fills_its_frame() -> None:
    cover = {"ref": make_reference("/a.png"), "refDark": make_reference("/b.png"), "height": 320, "yPos": -40.4}
    found = build_cover(cover, {}, resolve)
    assert found == PageCover("/a.png", "/b.png", 320, -40)
    assert (found.picture_top, found.picture_height) == (-80, 400)
    light, dark = Reader(make_page(make_view(cover=found))).find("image")
    assert (light["href"], light["class"], light["y"], light["height"]) == ("/a.png", "only-light", "-80", "400")
    assert (dark["href"], dark["class"]) == ("/b.png", "only-dark")


def test_a_cover_stands_above_all_columns_or_above_the_text() -> None:
    full, hero = (
        make_page(make_view(cover=build_cover({"ref": make_reference("/a.png")}, {"coverSize": size}, resolve)))
        for size in ("full", "hero")
    )
    assert full.index("<image") < full.index("<main") < hero.index("<image") < hero.index("<article")


@pytest.mark.parametrize("layout", [{"cover": False}, {"cover": False, "coverSize": "hero"}])
def test_a_cover_may_be_hidden(layout: dict[str, Any]) -> None:
    assert build_cover({"ref": make_reference("/a.png")}, layout, resolve) is None


@pytest.mark.parametrize(
    "address", ["", "https://elsewhere.test/a.png", "//elsewhere.test/a.png", "javascript:alert(1)"]
)
def test_a_picture_of_another_host_is_no_cover(address: str) -> None:
    assert build_cover({"ref": make_reference(address)}, {}, resolve) is None


@pytest.mark.parametrize("value", [None, True, "1", [], float("inf"), float("nan"), 10**400, -(10**9)])
def test_numbers_that_make_no_sense_are_bounded(value: Any) -> None:
    found = build_cover({"ref": make_reference("/a.png"), "height": value, "yPos": value}, {}, resolve)
    assert found is not None
    assert 10 <= found.height <= 700
    assert abs(found.shift) <= 1000


def test_an_address_stays_an_address() -> None:
    html = make_page(make_view(cover=PageCover(f"/{EVIL}")))
    assert EVIL not in html
    assert [one["href"] for one in Reader(html).find("image")] == [f"/{EVIL}"]
