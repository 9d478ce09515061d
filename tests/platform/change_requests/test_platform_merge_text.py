"""Merging a text: both sides' changes are in it, and what they contradict each other on is said."""

from hypothesis import given
from hypothesis import strategies as st

from syncd.platform.change_requests.merge_text import merge_lines, merge_text

LINES = st.lists(st.sampled_from(["a", "b", "c", "", "d d", "# e"]), max_size=12)
TEXTS = LINES.map("\n".join)


@given(base=TEXTS, side=TEXTS)
def test_a_side_that_did_not_change_takes_the_other(base: str, side: str) -> None:
    assert merge_text(base, base, side).text == side
    assert merge_text(base, side, base).text == side
    assert merge_text(base, side, side).text == side
    assert not merge_text(base, side, base).has_conflict


@given(base=TEXTS, ours=TEXTS, theirs=TEXTS)
def test_without_a_conflict_no_line_that_a_side_wrote_is_lost(base: str, ours: str, theirs: str) -> None:
    merged = merge_lines(base, ours, theirs)
    if merged.has_conflict:
        return
    there = merged.text.split("\n")
    for side in (ours, theirs):
        lines = side.split("\n")
        for line in set(lines):
            if lines.count(line) > base.split("\n").count(line):
                assert line in there


@given(parts=st.lists(st.tuples(LINES, LINES), min_size=1, max_size=4), which=st.lists(st.booleans(), min_size=4))
def test_disjoint_edits_merge_without_conflict_whoever_made_them(
    parts: list[tuple[list[str], list[str]]], which: list[bool]
) -> None:
    base: list[str] = []
    ours: list[str] = []
    theirs: list[str] = []
    both: list[str] = []
    for number, ((old, new), mine) in enumerate(zip(parts, which, strict=False)):
        # Unique lines between the parts keep each edit apart from the next.
        between = [f"--- {number} ---", f"=== {number} ==="]
        base += old + between
        ours += (new if mine else old) + between
        theirs += (old if mine else new) + between
        both += new + between
    for one, other in ((ours, theirs), (theirs, ours)):
        merged = merge_text("\n".join(base), "\n".join(one), "\n".join(other))
        assert (merged.text, merged.has_conflict) == ("\n".join(both), False)


def test_frontmatter_merges_by_key_and_keeps_the_order_and_bytes_of_theirs() -> None:
    base = "---\ndescription: old\nicon: book\n---\n\n# T\n"
    ours = "---\ndescription: old\nicon: gear\n---\n\n# T\n"
    theirs = "---\nx: 'kept'  # a note\ndescription: new\nicon: book\n---\n\n# T\n\nMore.\n"
    merged = merge_text(base, ours, theirs)
    assert merged.text == "---\nx: 'kept'  # a note\ndescription: new\nicon: gear\n---\n\n# T\n\nMore.\n"
    assert not merged.has_conflict


def test_contradicting_changes_keep_theirs_and_say_so() -> None:
    merged = merge_text("one\ntwo\nthree\n", "one\nTWO\nthree\n", "one\n2\nthree\n")
    assert (merged.text, merged.has_conflict) == ("one\n2\nthree\n", True)
    merged = merge_text("---\nicon: a\n---\nx\n", "---\nicon: b\n---\nx\n", "---\nicon: c\n---\nx\n")
    assert (merged.text, merged.has_conflict) == ("---\nicon: c\n---\nx\n", True)


def test_line_ends_and_a_missing_last_newline_survive() -> None:
    assert merge_text("a\r\nb\r\nc", "A\r\nb\r\nc", "a\r\nb\r\nc\r\nd").text == "A\r\nb\r\nc\r\nd"


def test_frontmatter_that_is_no_yaml_is_merged_by_line() -> None:
    base = "---\na: [\n---\n\none\n\ntwo\n"
    merged = merge_text(base, base.replace("one", "ONE").replace("a: [", "b: ["), base.replace("two", "TWO"))
    assert (merged.text, merged.has_conflict) == ("---\nb: [\n---\n\nONE\n\nTWO\n", False)


def test_few_lines_that_stand_there_many_times_are_no_work_of_minutes() -> None:
    def lines(step: int) -> str:
        return "".join(f"{number * step % 499}\n" for number in range(250_000))

    merged = merge_text(lines(1), lines(7), lines(11))
    assert merged.has_conflict
    assert merged.text == lines(11)


def test_a_paragraph_that_both_sides_inserted_stands_once_beside_another_change() -> None:
    base = "# P\n\nOne.\n\nTwo.\n\nThree.\n"
    ours = "# P\n\nOne.\n\nTwo.\n\nNew.\n\nThree.\n"
    theirs = "# P\n\nOne.\n\nMine.\n\nTwo.\n\nNew.\n\nThree.\n"
    for merged in (merge_text(base, ours, theirs), merge_text(base, theirs, ours)):
        assert merged.text == theirs
        assert not merged.has_conflict


def test_a_paragraph_that_both_sides_removed_is_gone_beside_another_change() -> None:
    base = "# P\n\nOne.\n\nTwo.\n\nThree.\n"
    ours, theirs = "# P\n\nOne.\n\nThree.\n", "# P\n\nMine.\n\nOne.\n\nThree.\n"
    for merged in (merge_text(base, ours, theirs), merge_text(base, theirs, ours)):
        assert merged.text == theirs
        assert not merged.has_conflict


@given(st.data())
def test_what_both_sides_inserted_stands_once_whatever_they_did_elsewhere(data: st.DataObject) -> None:
    words = [f"p{number}" for number in range(data.draw(st.integers(1, 6)))]
    place = data.draw(st.integers(0, len(words)))
    sides = []
    for name in ("mine", "other"):
        side = [*words[:place], "new", *words[place:]]
        for word in [*words[: max(place - 1, 0)], *words[place + 1 :]]:  # beside it, an insertion may be a replacement
            match data.draw(st.sampled_from(["keep", "keep", "remove", "change", "insert"])):
                case "remove":
                    side.remove(word)
                case "change":
                    side[side.index(word)] = f"{word} {name}"
                case "insert":
                    side.insert(side.index(word), f"{word} {name} before")
        sides.append(side)
    base, ours, theirs = ("\n\n".join(["# P", *paragraphs, ""]) for paragraphs in (words, *sides))
    assert merge_text(base, ours, theirs).text.count("new") == 1
