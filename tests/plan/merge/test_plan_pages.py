"""What becomes of files where two sides meet: every page is decided once, no words fall away, no two share a place."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from syncd.layout.tree.paths import make_collision_key
from syncd.plan.merge.pages import (
    Decision,
    Page,
    TextSource,
    Version,
    decide_page,
    find_longer_side,
    separate_conflicts,
)
from syncd.plan.merge.pair_pages import FileChange, pair_pages, prefer_transfers
from tests.plan.merge.deeds import Deed, outcome, pairs

PATHS = [f"{folder}{name}" for folder in ("", "x/", "y/") for name in ("a.md", "A.md", "README.md", "x.md", "x")]
BASE = {path: Version(path, f"{number:040x}", "100644") for number, path in enumerate(("a.md", "x/x.md", "y/a.md"))}


@st.composite
def sides(draw: st.DrawFn) -> list[FileChange]:
    """What one side did to three files, and files that it added; no path twice."""
    changes: list[FileChange] = []
    taken: set[str] = set()
    for version in BASE.values():
        path = draw(st.sampled_from([version.path, version.path, None, *PATHS]))
        oid = draw(st.sampled_from([version.oid, "e" * 40, "f" * 40]))
        after = Version(path, oid, "100644") if path is not None and path not in taken else None
        taken |= {path} if path is not None else set()
        if after != version:
            changes.append((version, after))
    for path in draw(st.lists(st.sampled_from(PATHS), max_size=3, unique=True)):
        if path not in taken and path not in BASE:
            changes.append((None, Version(path, draw(st.sampled_from(["c" * 40, "d" * 40])), "100644")))
    return changes


@settings(deadline=None, max_examples=50)
@given(sides(), sides())
def test_no_text_falls_away_and_no_two_pages_share_a_place(ours: list[FileChange], theirs: list[FileChange]) -> None:
    free, knots = separate_conflicts(map(decide_page, pair_pages(ours, theirs)))
    decisions = [*free, *(decision for knot in knots for decision in knot)]
    new = {after.oid for _, after in (*ours, *theirs) if after is not None} - {v.oid for v in BASE.values()}
    kept = {decision.oid for decision in free}
    held = {v.oid for knot in knots for d in knot for v in (d.page.ours, d.page.theirs) if v is not None}
    merged = {v.oid for d in free if d.text is TextSource.MERGED for v in (d.page.ours, d.page.theirs) if v is not None}
    assert new <= kept | held | merged
    places = [make_collision_key(decision.path) for decision in free if decision.target is not None]
    assert len(places) == len(set(places))
    pages = [decision.page for decision in decisions]
    assert len(pages) == len(set(pages))
    assert all(decision.why for knot in knots for decision in knot)


@settings(deadline=None, max_examples=50)
@given(sides())
def test_what_only_one_side_did_is_done(changes: list[FileChange]) -> None:
    for ours, theirs in ((changes, []), ([], changes)):
        free, knots = separate_conflicts(map(decide_page, pair_pages(ours, theirs)))
        wanted = {after for _, after in changes if after is not None}
        if not knots:
            assert {d.target for d in free if d.target is not None} == wanted
        else:  # names that only some disks can tell apart are a person's to choose
            assert len({make_collision_key(after.path) for after in wanted}) < len(wanted) or any(
                make_collision_key(one.path).startswith(f"{make_collision_key(two.path)}/")
                for one in wanted
                for two in wanted
            )


REGULAR = st.builds(
    Version, st.just("a.md"), st.sampled_from(["a" * 40, "b" * 40]), st.sampled_from(["100644", "100755"])
)
LINK = st.builds(Version, st.just("a.md"), st.sampled_from(["c" * 40, "d" * 40]), st.just("120000"))


@given(REGULAR, REGULAR | LINK, REGULAR | LINK)
def test_a_mode_merges_beside_the_text_and_a_link_stays_whole(base: Version, ours: Version, theirs: Version) -> None:
    decision = decide_page(Page(base, ours, theirs))
    if decision.why:
        assert not (ours.is_regular and theirs.is_regular)
        assert ours != base != theirs
        return
    target = decision.target
    assert target is not None
    assert target.is_regular or target in (ours, theirs), "a link leads to where a side has it"
    if ours.is_regular and theirs.is_regular:
        assert target.mode == (theirs.mode if ours.mode == base.mode else ours.mode)
        if decision.text is not TextSource.MERGED:
            assert target.oid == (theirs.oid if ours.oid == base.oid else ours.oid)


@given(REGULAR, REGULAR)
def test_a_mode_alone_revives_no_page(base: Version, left: Version) -> None:
    for page in (Page(base, left, None), Page(base, None, left)):
        assert (decide_page(page).target is None) == (left.oid == base.oid)


def test_a_page_that_became_a_folder_is_the_same_page_whatever_became_of_its_text() -> None:
    old, new = Version("guide/x.md", "a" * 40, "100644"), Version("guide/x/README.md", "b" * 40, "100644")
    (page,) = pair_pages([(old, None), (None, new)], [(old, replace(old, oid="c" * 40))])
    assert (page.base, page.ours) == (old, new)


def test_a_page_that_was_moved_and_rewritten_is_told_by_its_title() -> None:
    old, new = Version("a.md", "a" * 40, "100644"), Version("b.md", "b" * 40, "100644")
    titles: tuple[dict[str, str], ...] = ({"a.md": "Install"}, {"b.md": "Install"}, {})
    assert len(pair_pages([(old, None), (None, new)], [])) == 2
    assert len(pair_pages([(old, None), (None, new)], [], titles)) == 1


def test_a_page_that_both_added_below_one_that_a_side_moved_is_one_page_where_that_side_has_it() -> None:
    def added(path: str, oid: str = "b" * 40) -> FileChange:
        return None, Version(path, oid, "100644")

    old = Version("p4.md", "a" * 40, "100644")
    moved = [(old, replace(old, path="s7/README.md"))]
    both = [*moved, added("s7/deep/n8.md")], [added("p4/deep/n8.md")]
    for ours, theirs in (both, both[::-1]):
        (page,) = (decide_page(page) for page in pair_pages(ours, theirs) if page.base is None)
        assert (page.path, page.text, page.why) == ("s7/deep/n8.md", TextSource.OURS, "")
    for other in (added("p4/deep/n8.md", "c" * 40), added("p4/deep/n9.md"), added("deep/n8.md")):
        assert len(pair_pages(both[0], [other])) == 3
    titles: tuple[dict[str, str], ...] = {}, {"s7/deep/n8.md": "New"}, {"p4/deep/n8.md": "Newer"}
    assert len(pair_pages(*both, titles)) == 3
    folder = [(old, replace(old, path="p4/README.md"))]
    assert len(pair_pages([*moved, added("s7/n8.md")], [*folder, added("p4/n8.md")])) == 2, "its first page below it"
    further = [(old, replace(old, path="s8.md"))]
    assert len(pair_pages([*moved, added("s7/n8.md")], [*further, added("p4/n8.md")])) == 3, "both moved what is above"


def test_a_move_to_another_space_counts_more_than_one_within_a_space() -> None:
    old = Version("one/a.md", "a" * 40, "100644")
    within, away = replace(old, path="one/a/README.md"), replace(old, path="two/a.md")
    for ours, theirs in ((within, away), (away, within)):
        (page,) = prefer_transfers(pair_pages([(old, ours)], [(old, theirs)]), lambda path: path[:3])
        decision = decide_page(page)
        assert decision.path == "two/a.md"
        assert decision.note == "one/a.md: moved on both sides; it is two/a.md, not one/a/README.md"
    (page,) = prefer_transfers(pair_pages([(old, within)], [(old, replace(old, oid="b" * 40))]), lambda path: path[:3])
    assert decide_page(page).path == "one/a/README.md"


def test_a_rename_outlives_a_deletion_for_all_but_pages() -> None:
    for name, stays in (("a.md", False), (".gitbook/assets/a.png", True), (".gitbook/includes/a.md", True)):
        old = Version(name, "a" * 40, "100644")
        (file,) = pair_pages([(old, replace(old, path=name.replace("a.", "b.")))], [(old, None)])
        assert (decide_page(file).target is not None) is stays, name


def test_a_new_text_with_all_lines_of_the_other_is_the_longer_one() -> None:
    assert find_longer_side(b"one\ntwo\nthree\n", b"one\nthree\n") == "ours"
    assert find_longer_side(b"one\n", b"zero\none\n") == "theirs"
    assert find_longer_side(b"one\ntwo\n", b"two\none\n") is None


def test_the_table_is_the_same_from_both_sides() -> None:
    for one, other in pairs():
        assert outcome(one, other) == outcome(other, one)
    assert not outcome(Deed.MOVED, Deed.DELETED).stays
    assert Decision(pair_pages([], [(None, BASE["a.md"])])[0]).target is None
