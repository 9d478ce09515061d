"""The lock file: the same text for the same lock, one thing a line, and no guess about a damaged one."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncd.errors import LockUnusable
from syncd.model.redirect import SOURCE_MAX, make_source_key
from syncd.model.ref import Ref
from syncd.plan.site.live_state import LockEntry, SiteLock
from syncd.plan.site.lockfile.lockfile import parse_lock, render_lock

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
PRINTABLE = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S")), min_size=1, max_size=8)
ENTRIES = st.builds(
    LockEntry, PRINTABLE, st.sampled_from(("created", "adopted")), st.dictionaries(PRINTABLE, VALUES, max_size=3)
)
REFS = st.builds(lambda kind, key: f"{kind}:{key}", st.sampled_from(("section", "redirect", "override")), PRINTABLE)


@given(st.builds(SiteLock, PRINTABLE, st.just("3f0c"), st.integers(0, 99), st.dictionaries(REFS, ENTRIES, max_size=4)))
@settings(deadline=None, max_examples=50)
def test_a_lock_is_read_as_it_was_written_one_thing_a_line(lock: SiteLock) -> None:
    text = render_lock(lock)
    assert parse_lock(text, at="site.lock.json") == lock
    assert render_lock(parse_lock(text, at="site.lock.json")) == text
    assert text.count("\n") == 1 + len(lock.items)


def test_a_lock_can_have_the_key_of_every_source() -> None:
    key = make_source_key("/" + "%CE%90" * ((SOURCE_MAX - 1) // 6))
    lock = SiteLock("site_1", items={Ref(f"redirect:{key}"): LockEntry("rd_1", "created")})
    assert len(key) > 2 * SOURCE_MAX
    assert parse_lock(render_lock(lock), at="site.lock.json") == lock


def test_a_lock_looks_like_this() -> None:
    entry = LockEntry("sitesc_sb", "adopted", {"title": "Entwickler · Ü", "path": "developers"})
    other = LockEntry("rd_91", "created", {"source": "/api"})
    assert render_lock(
        SiteLock("site_kvXZm", "3f0c", 42, {Ref("section:developers"): entry, Ref("redirect:/api"): other})
    ) == (
        '{"version": 1, "site": "site_kvXZm", "lineage": "3f0c", "serial": 42, "items": {\n'
        '  "redirect:/api": {"id":"rd_91","by":"created","applied":{"source":"/api"}},\n'
        '  "section:developers": {"id":"sitesc_sb","by":"adopted",'
        '"applied":{"path":"developers","title":"Entwickler · Ü"}}}}\n'
    )


GOOD = {"version": 1, "site": "s", "lineage": "", "serial": 1, "items": {}}


def deep(levels: int) -> str:
    return (
        json.dumps(GOOD)[:-2]
        + '"section:a": {"id": "x", "by": "created", "applied": '
        + '{"a":' * levels
        + "1"
        + "}" * (levels + 3)
    )


DAMAGED = [
    ("", "1:1: is not JSON"),
    ("[]", "the file is not an object"),
    ('{"version": 1,\n"site": }', "2:9: is not JSON"),
    ('{"version": 1}\n<<<<<<< HEAD\n', "2:1: has the marks of a merge"),
    (json.dumps(GOOD | {"version": 2}), "has version 2"),
    (json.dumps(GOOD | {"version": True}), "has no version 1"),
    (json.dumps(GOOD | {"site": "a\x1b[2J"}), "site is not a short text"),
    (json.dumps(GOOD | {"serial": -1}), "serial"),
    (json.dumps(GOOD | {"serial": 10**30}), "serial"),
    ('{"version": 1, "site": "s", "serial": NaN}', "NaN"),
    (json.dumps(GOOD | {"lineage": "../x"}), "lineage"),
    (json.dumps(GOOD | {"items": []}), "items is not an object"),
    (json.dumps(GOOD | {"items": {"thing:a": {}}}), "is not the name of an item"),
    (json.dumps(GOOD | {"items": {"section:a": {"id": "x", "by": "me"}}}), "by is neither"),
    (json.dumps(GOOD | {"items": {"section:a": {"id": 7, "by": "created"}}}), "id is not a short text"),
    (json.dumps(GOOD)[:-1] + ', "site": "s"}', "'site' is there twice"),
    ('{"items": ' + "[" * 200_000, "nests too deep"),
    (deep(40), "nests too deep"),
]


@pytest.mark.parametrize(("text", "says"), DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_lock_is_refused_and_said_where(text: str, says: str) -> None:
    with pytest.raises(LockUnusable, match=r"^docs/site\.lock\.json:\d+:\d+: ") as caught:
        parse_lock(text, at="docs/site.lock.json")
    assert says in str(caught.value)
    assert caught.value.exit_code == 78
    assert caught.value.hint
