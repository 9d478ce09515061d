"""Hunks of a text in conflict: nothing is lost between parts and text, and what looks like a marker is none."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncd.plan.merge.hunks import (
    Hunk,
    Labels,
    TextPiece,
    cut_title,
    drop_title,
    find_lines,
    has_markers,
    join_hunks,
    list_hunks,
    measure_markers,
    number_hunks,
    put_title_first,
    replace_hunks,
    split_hunks,
)
from syncd.plan.merge.pages import SIDES, Side

LABELS = Labels("main", "platform/main")
MARKERS = [LABELS.begin, LABELS.base, LABELS.middle, LABELS.end]
LONGER = replace(LABELS, size=8)
"""For texts that have lines of their own that are no markers."""
LINES = st.lists(st.sampled_from([b"one", b"two", b"", b"<<<<<<< HEAD", *MARKERS]), max_size=6).map(
    lambda lines: b"".join(line + b"\n" for line in lines)
)
HUNKS = st.builds(Hunk, st.just(1), st.none() | LINES, LINES, LINES)


def whole(parts: list[bytes | Hunk], side: Side) -> bytes:
    return b"".join(part if isinstance(part, bytes) else part.at(side) for part in parts)


@given(st.lists(st.tuples(LINES, HUNKS), min_size=1, max_size=4), LINES)
def test_parts_are_the_text_again(pairs: list[tuple[bytes, Hunk]], rest: bytes) -> None:
    parts = [part for plain, hunk in pairs for part in (plain, hunk)] + [rest]
    text = join_hunks(parts, LONGER)
    found = split_hunks(text, LONGER, {side: whole(parts, side) for side in SIDES})
    assert join_hunks(found, LONGER) == text
    assert [(each.base, each.ours, each.theirs) for each in list_hunks(found)] == [
        (hunk.base, hunk.ours, hunk.theirs) for _, hunk in pairs
    ]
    assert has_markers(found, LONGER)
    for side in SIDES:
        assert not has_markers(replace_hunks(found, {hunk.number: hunk.at(side) for hunk in list_hunks(found)}), LONGER)


@given(LINES, HUNKS)
def test_a_marker_that_was_overlooked_is_found(plain: bytes, hunk: Hunk) -> None:
    lines = join_hunks([plain, hunk], LONGER).splitlines(keepends=True)
    for sign in (LONGER.begin, LONGER.base, LONGER.end):
        left = [line for line in lines if line.strip() not in {LONGER.begin, LONGER.base, LONGER.end} - {sign}]
        is_left = sign != LONGER.base or hunk.base is not None
        assert has_markers([b"".join(left)], LONGER) == is_left


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("size", [7, 8, 12])
def test_the_length_of_markers_is_that_of_the_longest(end: bytes, size: int) -> None:
    labels = Labels(size=size)
    text = join_hunks([b"one" + end, Hunk(1, None, b"mine" + end, b"theirs" + end), b"two"], labels)
    assert measure_markers(text) == size
    assert measure_markers(b"<<<<<<< ours" + end + text) == size
    assert measure_markers(b"<" * 20 + end + b"no marker") == 7


def test_a_last_line_without_end_gets_none() -> None:
    text = join_hunks([b"one\n", Hunk(1, b"two\n", b"mine\n", b"theirs\n")], LABELS)
    parts = split_hunks(text, LABELS, {"ours": b"one\nmine", "theirs": b"one\ntheirs\n"})
    (hunk,) = list_hunks(parts)
    assert join_hunks(replace_hunks(parts, {1: hunk.ours}), LABELS) == b"one\nmine"
    assert join_hunks(replace_hunks(parts, {1: hunk.theirs}), LABELS) == b"one\ntheirs\n"


@pytest.mark.parametrize("base", ["Base", ""])
def test_a_title_in_conflict_is_the_first_hunk(base: str) -> None:
    pieces: tuple[TextPiece, ...] = (b"one\n", Hunk(1, b"two\n", b"mine\n", b"theirs\n"), b"")
    titled = put_title_first(pieces, (base, "Ours", "Theirs"))
    text = join_hunks(titled, LABELS)
    assert split_hunks(text, LABELS, {"ours": b"", "theirs": b""})[1] == titled[0]
    title, lines = list_hunks(titled)
    assert (title.number, title.base, lines.number) == (1, b"title: Base\n" if base else None, 2)
    assert join_hunks(drop_title(titled), LABELS) == join_hunks(pieces, LABELS)
    settled = join_hunks(replace_hunks(titled, {1: title.theirs, 2: lines.ours}), LABELS)
    assert cut_title(settled) == ("Theirs", b"one\nmine\n")
    for text in (b"one\n", b"title: Ours\ntitle: Theirs\n\none\n", b""):
        assert cut_title(text) == ("", text)


def test_markers_that_are_not_complete_are_text() -> None:
    for text in (b"<<<<<<< main\nours\n=======\n", b"<<<<<<< main\nours\n>>>>>>> platform/main\n"):
        assert split_hunks(text, LABELS, {"ours": text, "theirs": text}) == (text,)


def test_numbers_stay_when_hunks_before_them_are_settled_or_changed() -> None:
    hunks = [Hunk(number, b"b\n", b"o%d\n" % number, b"t\n") for number in (1, 2, 3)]
    changed = Hunk(1, b"b\n", b"another\n", b"t\n")
    left = number_hunks([b"one\n", changed, b"two\n", hunks[2], b""], hunks)
    assert [hunk.number for hunk in list_hunks(left)] == [0, 3]


def test_lines_are_found_where_a_side_has_them() -> None:
    parts = (
        b"same\ntheirs alone\n",
        Hunk(1, b"", b"x\n", b"y\ny\n"),
        b"same\n",
        Hunk(2, b"b\n", b"", b"z\n"),
        b"end\n",
    )
    assert find_lines(parts, "ours", b"same\nx\nsame\nend\n") == {1: (1, 2), 2: (3, 3)}
    assert find_lines(parts, "theirs", b"same\ntheirs alone\ny\ny\nsame\nz\nend\n") == {1: (2, 4), 2: (5, 6)}
