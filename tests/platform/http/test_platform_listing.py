"""Pages of a list: no item twice, none lost, whatever is inserted or deleted between two pages."""

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncd.platform.http.failures import Failure
from syncd.platform.http.listing import LIMIT_DEFAULT, LIMIT_MAX, PAGE_BYTES, paginate
from tests.contract.world import World

_KEYS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
_EDITS = st.lists(st.tuples(st.booleans(), _KEYS), max_size=6)


@settings(deadline=None, max_examples=100)
@given(
    start=st.sets(_KEYS, max_size=30), edits=st.lists(_EDITS, max_size=40), limit=st.integers(1, 7), down=st.booleans()
)
def test_items_that_were_always_there_appear_once_and_in_order(
    start: set[str], edits: list[list[tuple[bool, str]]], limit: int, down: bool
) -> None:
    present, always, seen, page = set(start), set(start), [], None
    pending = iter(edits)
    while True:
        envelope = paginate(sorted(present), page=page, limit=limit, key=str, descending=down)
        assert envelope["count"] == len(present)
        assert len(envelope["items"]) <= limit
        seen += envelope["items"]
        if "next" not in envelope:
            break
        page = envelope["next"]["page"]
        for inserts, key in next(pending, []):
            if inserts:
                present.add(key)
            else:
                present.discard(key)
                always.discard(key)

    assert seen == sorted(set(seen), reverse=down), "each once, in order"
    assert always <= set(seen), "none lost"


@pytest.mark.parametrize("limit", [-1, LIMIT_MAX + 1])
def test_a_limit_outside_the_documented_range_is_refused(limit: int) -> None:
    with pytest.raises(Failure) as refused:
        paginate([], page=None, limit=limit, key=str)
    assert refused.value.status == 400


@settings(deadline=None, max_examples=100)
@given(page=st.text(max_size=12))
def test_a_cursor_that_nobody_handed_out_is_refused_or_harmless(page: str) -> None:
    with contextlib.suppress(Failure):
        envelope = paginate(["a", "b"], page=page, limit=None, key=str)
        assert set(envelope["items"]) <= {"a", "b"}


@pytest.mark.parametrize("page", ["", "!", "YQ==", "Y Q", "_w", "\u00e9"])
def test_a_broken_cursor_is_refused(page: str) -> None:
    with pytest.raises(Failure) as refused:
        paginate(["a"], page=page, limit=None, key=str)
    assert refused.value.status == 400


def test_the_last_page_has_no_next_and_a_page_of_size_zero_neither() -> None:
    assert paginate(["a", "b"], page=None, limit=2, key=str) == {"items": ["a", "b"], "count": 2}
    assert paginate(["a", "b"], page=None, limit=0, key=str) == {"items": [], "count": 2}


def test_the_default_page_is_of_the_default_size() -> None:
    envelope = paginate([f"{number:05}" for number in range(500)], page=None, limit=None, key=str)
    assert len(envelope["items"]) == LIMIT_DEFAULT


def test_a_page_of_a_list_holds_no_more_than_a_megabyte(world: World) -> None:
    space = world.space()["id"]
    path = {"spaceId": space}
    for number in range(5):
        leaf = {"object": "text", "leaves": [{"object": "leaf", "text": str(number) * 450_000, "marks": []}]}
        block = {"object": "block", "type": "paragraph", "data": {}, "nodes": [leaf]}
        document = {"object": "document", "data": {}, "nodes": [block]}
        world.made("postCommentInSpace", path, body={"body": {"document": document}})
    sizes, query = [], {"limit": 1000, "order": "asc"}
    while True:
        shown = world.made("listCommentsInSpace", path, query=query)
        assert shown["count"] == 5
        sizes.append(len(shown["items"]))
        if "next" not in shown:
            break
        query |= shown["next"]
    assert sizes == [2, 2, 1]


def test_one_item_is_shown_however_large_it_is() -> None:
    sizes = {"a": 3 * PAGE_BYTES, "b": 1, "c": PAGE_BYTES}
    page, shown = None, []
    while True:
        part = paginate(
            list(sizes), page=page, limit=None, key=str, measure=lambda items: [sizes[item] for item in items]
        )
        shown.append(part["items"])
        if "next" not in part:
            break
        page = part["next"]["page"]
    assert shown == [["a"], ["b"], ["c"]]
