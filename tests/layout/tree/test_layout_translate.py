"""Addresses keep leading to the same things when a page has one path in Git and another on the platform."""

from dataclasses import replace

from syncd.layout.tree.placement import Placement
from syncd.layout.tree.translate import Translation

PLACEMENT = Placement(
    pages={"p1": "maths.md", "p2": "maps.md", "p3": "README.md"},
    files={"f1": ".gitbook/assets/a b.png"},
    includes={},
    platform_paths={"p1": "go/maths.md", "p2": "go/maps.md", "p3": "README.md", "f1": ".gitbook/assets/a b.png"},
)


def arriving(text: str, id: str = "p1") -> str:
    return Translation(PLACEMENT).translate_incoming(text.encode(), id).decode()


def test_relative_addresses_follow_the_page() -> None:
    assert arriving("[m](maps.md#x)") == "[m](maps.md#x)"
    assert arriving("[home](../README.md)") == "[home](README.md)"
    assert arriving("![p](<../.gitbook/assets/a b.png>)") == "![p](<.gitbook/assets/a b.png>)"


def test_addresses_by_id_become_paths() -> None:
    assert arriving("[m](/pages/p2#x) ![p](/files/f1)") == "[m](maps.md#x) ![p](<.gitbook/assets/a b.png>)"


def test_what_is_unknown_stays_as_it_is() -> None:
    text = "[a](/pages/nobody) [b](https://example.org/maps.md) [c](elsewhere.md) `[d](maps.md)`"
    assert arriving(text) == text


def test_files_and_pages_leave_by_id() -> None:
    text, complete = Translation(PLACEMENT).translate_outgoing(
        "![p](<.gitbook/assets/a b.png>) [m](maps.md#x) [home](README.md)", "maths.md"
    )
    assert complete
    assert text == "![p](/files/f1) [m](/pages/p2#x) [home](/pages/p3)"


def test_an_address_that_an_id_would_spell_anew_stays_where_it_means_the_same() -> None:
    text, complete = Translation(PLACEMENT).translate_outgoing("[m](./maps.md) [m](maps)", "maths.md")
    assert complete
    assert text == "[m](./maps.md) [m](maps)"


def test_links_to_pages_that_move_and_from_them_leave_by_id() -> None:
    translation = Translation(PLACEMENT)
    translation.expect_moves({"p2"})
    assert translation.translate_outgoing("[m](maps.md#x)", "maths.md") == ("[m](/pages/p2#x)", True)
    assert translation.translate_outgoing("[m](maths.md)", "maps.md") == ("[m](/pages/p1)", True)


def test_reusable_contents_leave_as_the_platform_has_them() -> None:
    paths = {**PLACEMENT.platform_paths, "i1": ".gitbook/includes/note.md"}
    placement = replace(PLACEMENT, includes={"i1": ".gitbook/includes/note.md"}, platform_paths=paths)
    text = '{% include ".gitbook/includes/note.md" %}'
    translation = Translation(placement)
    sent, _ = translation.translate_outgoing(text, "maths.md")
    assert sent == '{% include "../.gitbook/includes/note.md" %}'
    assert translation.translate_incoming(sent.encode(), "p1").decode() == text
    translation.expect_moves({"p1"})
    sent, _ = translation.translate_outgoing(text, "maths.md")
    assert sent == '{% include "/includes/i1" %}'
    assert translation.translate_incoming(sent.encode(), "p1").decode() == text


def test_a_link_to_a_page_that_is_not_there_yet_is_told() -> None:
    translation = Translation(PLACEMENT)
    assert translation.translate_outgoing("[n](new.md)", "maths.md") == ("[n](new.md)", False)
    translation.add("p9", "new.md")
    assert translation.translate_outgoing("[n](new.md)", "maths.md") == ("[n](/pages/p9)", True)


def test_what_leaves_comes_back() -> None:
    text = '![p](<.gitbook/assets/a b.png>) [m](maps.md#y) [home](README.md) <img src=".gitbook/assets/a b.png">'
    translation = Translation(PLACEMENT)
    sent, _ = translation.translate_outgoing(text, "maths.md")
    assert translation.translate_incoming(sent.encode(), "p1").decode() == text
