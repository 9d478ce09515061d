"""The table of contents of a page: whole where it is short, else the branch that leads to the page."""

import json

from syncd.layout.tree.summary import Entry
from syncd.web.pages.contents import (
    SIBLINGS_MAX,
    WHOLE_MAX,
    Contents,
    ContentsEntry,
    ContentsLine,
    build_contents,
    format_contents_json,
    select_lines,
)


def build(*entries: Entry) -> Contents:
    return build_contents(entries, lambda entry: entry.target or (f"/{entry.path}" if entry.path else None))


def page(name: str, *children: Entry) -> Entry:
    return Entry("document", name.title(), name, children=children)


def count(line: ContentsLine) -> int:
    return 1 + sum(map(count, line.children))


def test_entries_keep_their_order_and_their_place() -> None:
    contents = build(page("home"), Entry("group", "Learn", children=(page("a", page("b")), page("c"))))
    assert [(entry.kind, entry.title, entry.parent) for entry in contents.entries] == [
        ("page", "Home", -1),
        ("group", "Learn", -1),
        ("page", "A", 1),
        ("page", "B", 2),
        ("page", "C", 1),
    ]
    assert [entry.title for entry in contents.find_ancestors(3)] == ["Learn", "A"]
    before, after = contents.find_neighbours(2)
    assert (before and before.title, after and after.title) == ("Home", "B")
    assert json.loads(format_contents_json(contents))[3] == ["p", "B", "/b", 2]


def test_an_entry_has_the_emoji_or_the_icon_of_its_page() -> None:
    known = ContentsEntry(0, "page", "A", "/a", icon="gear"), ContentsEntry(1, "page", "B", "/b", emoji="1f44b")
    other = ContentsEntry(2, "page", "C", "/c", icon="no such icon"), ContentsEntry(3, "page", "D", "/d", emoji="🎉")
    assert known[0].sign.startswith('<svg viewBox="0 0 512 512" class="b-icon" aria-hidden="true"><path')
    assert known[1].sign == '<span class="emoji" aria-hidden="true">👋</span>'
    assert (other[0].sign, other[1].sign) == ("", '<span class="emoji" aria-hidden="true">🎉</span>')
    rows = json.loads(format_contents_json(Contents((*known, *other), (0, 1, 2, 3))))
    assert rows[0][4][0] == "512"
    assert rows[1:] == [["p", "B", "/b", -1, "👋"], ["p", "C", "/c", -1], ["p", "D", "/d", -1, "🎉"]]


def test_an_entry_that_leads_nowhere_hands_up_what_is_below_it() -> None:
    contents = build(Entry("document", "Gone", None, children=(page("kept"),)))
    assert [(entry.title, entry.parent) for entry in contents.entries] == [("Kept", -1)]


def test_a_link_with_an_anchor_is_no_page_of_its_own() -> None:
    contents = build(
        page("a"), Entry("document", "Below", "a", anchor="x"), Entry("link", "Out", target="https://a.test")
    )
    assert [entry.kind for entry in contents.entries] == ["page", "link", "link"]
    assert contents.page_numbers == (0,)


def test_a_short_table_of_contents_is_there_as_a_whole() -> None:
    contents = build(*(page(f"p{number}", page(f"c{number}")) for number in range(WHOLE_MAX // 2)))
    assert count(select_lines(contents)) == WHOLE_MAX + 1


def test_of_a_long_one_a_page_has_its_branch() -> None:
    parts = [
        page(f"p{a}", *(page(f"p{a}-{b}", *(page(f"p{a}-{b}-{c}") for c in range(50))) for b in range(50)))
        for a in range(50)
    ]
    contents = build(*parts)
    number = contents.numbers_by_path["p40-30-20"]
    top = select_lines(contents, number)
    assert len(top.children) == SIBLINGS_MAX
    assert top.left_out == 50 - SIBLINGS_MAX
    opened = next(line for line in top.children if line.is_open)
    assert opened.entry.title == "P40"
    inner = next(line for line in opened.children if line.is_open)
    assert [line.entry.title for line in inner.children if line.is_current] == ["P40-30-20"]
    assert all(line.has_more and not line.children for line in top.children if not line.is_open)
    assert count(top) <= 3 * SIBLINGS_MAX + 1


def test_a_very_deep_one_ends_somewhere() -> None:
    entry = page("last")
    for number in range(3000):
        entry = Entry("document", f"L{number}", f"l{number}", children=(entry,))
    contents = build(entry)
    assert count(select_lines(contents, len(contents.entries) - 1)) < 100
