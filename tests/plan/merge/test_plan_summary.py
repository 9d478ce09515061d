"""Two tables of contents that grew from one become one that says what either side changed, and loses no page."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from syncd.layout.tree.summary import Entry, parse_summary, walk_entries
from syncd.plan.merge.summary import MergedSummary, merge_entries

Entries = tuple[Entry, ...]
PAGES = "abcdef"
OTHERS = (
    Entry("group", "One"),
    Entry("group", "Two", slug="second"),
    Entry("link", "Site", target="https://example.com"),
    Entry("link", "Other site", target="https://example.com/other"),
    Entry("document", "A part", path="a.md", anchor="part"),
    Entry("computed", "", computed="type: api"),
)


@dataclass(frozen=True)
class Side:
    """A table of contents, and where it has the base's files."""

    entries: Entries
    paths: Mapping[str, str] = field(default_factory=dict)

    @property
    def pages(self) -> list[str]:
        return pages(self.entries)


def pages(entries: Iterable[Entry]) -> list[str]:
    return [entry.path for entry, _ in walk_entries(entries) if entry.path is not None and entry.anchor is None]


def merged(base: Side, ours: Side, theirs: Side, *, gone: Iterable[str] = ()) -> MergedSummary:
    every = {*base.pages, *ours.pages, *theirs.pages} - {*gone}
    return merge_entries(
        base.entries,
        ours.entries,
        theirs.entries,
        ours_paths=ours.paths,
        theirs_paths=theirs.paths,
        present=every,
    )


@dataclass(eq=False)
class Bud:
    """An entry that still grows."""

    entry: Entry
    children: list["Bud"] = field(default_factory=list)

    def bloom(self) -> Entry:
        return replace(self.entry, children=tuple(child.bloom() for child in self.children))


@st.composite
def sides(draw: st.DrawFn, name: str, *, alike: bool = True) -> Side:
    """Any forest of some of the base's pages, some under another name, some retitled, new pages and other entries."""
    buds: list[Bud] = []
    paths: dict[str, str] = {}
    names = (
        {f"{page}.md" for page in PAGES} | {f"{page}-{name}.md" for page in PAGES} | {f"{page}-x.md" for page in PAGES}
    )
    for page in draw(st.lists(st.sampled_from(PAGES), unique=True)):
        path = f"{page}.md"
        if name and draw(st.booleans()):
            paths[path] = path = draw(st.sampled_from(sorted(names - {*paths.values()} - {path})))
        buds.append(Bud(Entry("document", draw(st.sampled_from([page, page.upper()])), path=path)))
    taken = {bud.entry.path for bud in buds}
    if len(taken) < len(buds):
        paths.clear()
        buds = [Bud(replace(bud.entry, path=f"{bud.entry.title.lower()}.md")) for bud in buds]
    left = sorted(paths.keys() - {*paths.values()})
    for page in draw(st.lists(st.sampled_from(["n.md", f"n-{name}.md", *left]), unique=True)):
        buds.append(Bud(Entry("document", page, path=page)))
    for other in draw(st.lists(st.sampled_from(OTHERS), max_size=4, unique=not alike)):
        moved = replace(other, path=paths.get(other.path, other.path)) if other.path is not None else other
        buds.append(Bud(moved))
    top = Bud(Entry("group", ""))
    homes = [top]
    for bud in buds:
        home = draw(st.sampled_from(homes))
        home.children.insert(draw(st.integers(0, len(home.children))), bud)
        if bud.entry.kind != "computed":
            homes.append(bud)
    return Side(top.bloom().children, paths)


ANY = settings(max_examples=50, deadline=None)


@given(sides(""), sides("t"))
@ANY
def test_what_only_one_side_changed_is_the_result(base: Side, side: Side) -> None:
    gone = {path for path in base.pages if side.paths.get(path, path) not in side.pages} - {*side.pages}
    assert merged(base, base, side, gone=gone) == MergedSummary(side.entries)
    assert merged(base, side, base, gone=gone) == MergedSummary(side.entries)


@given(sides(""), sides("t"))
@ANY
def test_what_both_sides_changed_alike_is_the_result(base: Side, side: Side) -> None:
    assert merged(base, side, side) == MergedSummary(side.entries)


def finals(base: Side, ours: Side, theirs: Side) -> dict[tuple[str, str], str]:
    """Final path of each page that a side lists, by the path that the base knows it under."""
    found: dict[tuple[str, str], str] = {}
    for side in (ours, theirs):
        former = {path: first for first, path in side.paths.items()}
        for path in side.pages:
            if path not in former and path in side.paths:
                found["new", path] = path
                continue
            first = former.get(path, path)
            own = ours.paths.get(first, first)
            found["base", first] = own if own != first else theirs.paths.get(first, first)
    return found


@given(sides("", alike=False), sides("o", alike=False), sides("t", alike=False))
@ANY
def test_no_page_is_lost_or_stands_twice_and_a_second_merge_changes_nothing(
    base: Side, ours: Side, theirs: Side
) -> None:
    last, mirror = finals(base, ours, theirs), finals(base, theirs, ours)
    assume(len({*last.values()}) == len(last) and len({*mirror.values()}) == len(mirror))
    want = {*last.values()}
    result = merge_entries(
        base.entries,
        ours.entries,
        theirs.entries,
        ours_paths=ours.paths,
        theirs_paths=theirs.paths,
        present=want,
    )
    found = pages(result.entries)
    assert sorted(found) == sorted(want)
    again = merge_entries(
        base.entries,
        result.entries,
        theirs.entries,
        ours_paths={first: path for (kind, first), path in last.items() if kind == "base"},
        theirs_paths=theirs.paths,
        present=want,
    )
    assert again.entries == result.entries
    mirrored = merge_entries(
        base.entries,
        theirs.entries,
        ours.entries,
        ours_paths=theirs.paths,
        theirs_paths=ours.paths,
        present={*mirror.values()},
    )
    assert sorted(pages(mirrored.entries)) == sorted(mirror.values())


def table(text: str) -> Entries:
    return parse_summary("# Table of contents\n\n" + text)


def outcome(
    base: str, ours: str, theirs: str, *, gone: Iterable[str] = (), renamed: Mapping[str, str] = {}
) -> MergedSummary:
    return merged(Side(table(base)), Side(table(ours), renamed), Side(table(theirs)), gone=gone)


FLAT = "* [A](a.md)\n* [B](b.md)\n* [C](c.md)\n* [D](d.md)\n"


def test_each_side_keeps_the_move_rename_and_title_that_only_it_made() -> None:
    ours = "* [B](b.md)\n  * [A](first.md)\n* [C](c.md)\n* [D](d.md)\n"
    theirs = "* [A](a.md)\n* [B](b.md)\n* [D](d.md)\n* [Sea](c.md)\n* [New](new.md)\n"
    result = outcome(FLAT, ours, theirs, renamed={"a.md": "first.md"})
    assert result == MergedSummary(
        table("* [B](b.md)\n  * [A](first.md)\n* [D](d.md)\n* [Sea](c.md)\n* [New](new.md)\n")
    )


def test_where_both_moved_another_page_in_one_list_both_moves_stand() -> None:
    ours, theirs = (
        "* [D](d.md)\n* [A](a.md)\n* [B](b.md)\n* [C](c.md)\n",
        "* [B](b.md)\n* [C](c.md)\n* [A](a.md)\n* [D](d.md)\n",
    )
    result = outcome(FLAT, ours, theirs)
    assert pages(result.entries) == ["d.md", "b.md", "c.md", "a.md"]
    assert result.notes == ()


def test_a_title_that_both_sides_changed_stays_ours_without_a_note() -> None:
    result = outcome("* [A](a.md)\n", "* [Ours](a.md)\n", "* [Theirs](a.md)\n")
    assert result == MergedSummary(table("* [Ours](a.md)\n"))


def test_two_moves_that_would_make_a_ring_leave_ours() -> None:
    ours = "* [B](b.md)\n  * [A](a.md)\n* [C](c.md)\n* [D](d.md)\n"
    theirs = "* [A](a.md)\n  * [B](b.md)\n* [C](c.md)\n* [D](d.md)\n"
    result = outcome(FLAT, ours, theirs)
    assert result.entries == table(ours)
    (note,) = result.notes
    assert note.startswith("b.md:")


def test_what_hangs_below_a_deleted_page_moves_up_to_its_place() -> None:
    ours = "* [B](b.md)\n* [C](c.md)\n* [D](d.md)\n"
    theirs = "* [A](a.md)\n  * [New](new.md)\n  * [D](d.md)\n* [B](b.md)\n* [C](c.md)\n"
    result = outcome(FLAT, ours, theirs, gone=["a.md"])
    assert result == MergedSummary(table("* [New](new.md)\n* [D](d.md)\n* [B](b.md)\n* [C](c.md)\n"))


def test_a_page_that_one_side_deleted_and_the_other_edited_returns_to_its_place() -> None:
    result = outcome(FLAT, "* [A](a.md)\n* [C](c.md)\n* [D](d.md)\n", FLAT)
    assert result == MergedSummary(table(FLAT))


def test_a_deleted_group_returns_only_for_what_the_other_side_put_into_it() -> None:
    base = "* [A](a.md)\n\n## Group\n\n* [B](b.md)\n"
    ours = "* [A](a.md)\n* [B](b.md)\n"
    assert outcome(base, ours, base) == MergedSummary(table(ours))
    grown = "* [A](a.md)\n\n## Group\n\n* [B](b.md)\n* [New](new.md)\n"
    assert outcome(base, ours, grown) == MergedSummary(
        table("* [A](a.md)\n\n## Group\n\n* [New](new.md)\n\n***\n\n* [B](b.md)\n")
    )


def test_a_retitled_group_is_known_by_its_pages() -> None:
    base = "* [A](a.md)\n\n## Group\n\n* [B](b.md)\n* [C](c.md)\n"
    ours = base.replace("Group", "Reference")
    theirs = "* [A](a.md)\n\n## Group\n\n* [C](c.md)\n* [New](new.md)\n* [B](b.md)\n"
    assert outcome(base, ours, theirs) == MergedSummary(table(theirs.replace("Group", "Reference")))


@pytest.mark.parametrize("left", ["## Group\n\n", "## Group\n\n* [New](new.md)\n\n"])
def test_a_group_that_both_sides_retitled_is_one_beside_a_new_one_of_the_former_title(left: str) -> None:
    base = "* [A](a.md)\n\n## Group\n\n* [B](b.md)\n* [C](c.md)\n"
    here = base.replace("Group", "Reference")
    there = here.replace("## Reference", f"{left}## Reference")
    assert outcome(base, here, there) == MergedSummary(table(there))
    assert outcome(base, there, here) == MergedSummary(table(there))


def test_a_link_that_comes_before_its_page_does_not_become_the_page() -> None:
    base = "* [A](a.md)\n* [See A](a.md)\n* [B](b.md)\n"
    theirs = "* [See A](a.md#)\n* [B](b.md)\n* [A](a.md)\n"
    assert outcome(base, base.replace("[B]", "[Bee]"), theirs).entries == table(theirs.replace("[B]", "[Bee]"))
    result = outcome(base, base, "* [B](b.md)\n  * [A](a.md)\n* [See A](a.md)\n")
    assert pages(result.entries).count("a.md") == 2


@pytest.mark.parametrize("count", [1_500, pytest.param(10_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("deep", [False, True])
def test_many_entries_merge_at_any_depth(deep: bool, count: int) -> None:
    def side(numbers: Iterable[int]) -> Entries:
        entries: Entries = ()
        for number in numbers:
            entry = Entry("document", str(number), path=f"{number}.md")
            entries = (replace(entry, children=entries),) if deep else (entry, *entries)
        return entries

    result = merged(Side(side(range(count))), Side(side(range(count))), Side(side(range(count - 1, -1, -1))))
    assert len(pages(result.entries)) == count
