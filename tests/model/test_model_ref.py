"""The names of the items of a site: taken apart in one place, and the same text in every file and report."""

import copy
import json
import sqlite3
from contextlib import closing

import pytest

from syncd.model.ref import AREA, AREAS, ROOT, SITE, VISITORS, Ref


@pytest.mark.parametrize(
    ("text", "kind", "key", "area", "words"),
    [
        ("section:home", "section", "home", "structure", "section home"),
        ("variant:home/en", "variant", "home/en", "structure", "variant home/en"),
        ("redirect:/a:b", "redirect", "/a:b", "redirects", "redirect /a:b"),
        ("group:#sg_1", "group", "#sg_1", "structure", "group #sg_1"),
        ("override:home/en", "override", "home/en", "customization", "override home/en"),
        ("site:", "site", "", "settings", "site "),
    ],
)
def test_a_ref_knows_its_kind_its_key_and_its_area(text: str, kind: str, key: str, area: str, words: str) -> None:
    ref = Ref.parse(text)
    assert (ref.kind, ref.key, ref.area, ref.words) == (kind, key, area, words)
    assert Ref.of(ref.kind, ref.key) == ref
    assert ref.label == (text if key else kind)


@pytest.mark.parametrize("text", ["", "home", "section", "page:home", ":home", " section:home"])
def test_what_names_nothing_of_a_site_is_no_ref(text: str) -> None:
    with pytest.raises(ValueError, match="names no item of a site"):
        Ref.parse(text)


def test_a_ref_is_its_text_wherever_something_is_written_or_looked_up() -> None:
    ref = Ref("section:home")
    assert {"section:home": 1}[ref] == 1
    assert f"{ref} {ref!r}" == "section:home 'section:home'"
    assert json.dumps({ref: [ref]}, sort_keys=True) == '{"section:home": ["section:home"]}'
    with closing(sqlite3.connect(":memory:")) as database:
        assert database.execute("select ?, typeof(?)", (ref, ref)).fetchone() == (ref, "text")
    copied = copy.deepcopy(ref)
    assert (type(copied), copied) == (Ref, ref)


def test_every_kind_has_an_area_and_every_area_a_kind() -> None:
    assert set(AREA.values()) == set(AREAS)
    assert (SITE, VISITORS, ROOT) == ("site:", "visitors:", "")
