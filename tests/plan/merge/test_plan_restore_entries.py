"""A table of contents in which pages that are left out stand as another table has them."""

from syncd.layout.tree.summary import Entry, walk_entries
from syncd.plan.merge.restore_entries import restore_entries


def test_pages_are_calmed_to_what_another_table_says_of_them() -> None:
    below = Entry("document", "Below", "below.md")
    entries = (Entry("document", "New", "b.md", children=(below,)), Entry("document", "Added", "c.md"))
    former = {"a.md": Entry("document", "Old", "a.md")}
    calm = restore_entries(entries, [("a.md", "b.md"), ("c.md",)], former)
    assert [(entry.path, entry.title) for entry, _ in walk_entries(calm)] == [("a.md", "Old"), ("below.md", "Below")]
    titled = restore_entries(entries, [("a.md", "b.md"), ("c.md",)], former, titles_only=True)
    assert next((entry.path, entry.title) for entry, _ in walk_entries(titled)) == ("b.md", "Old")
    assert len(titled) == 2


def test_pages_that_share_paths_are_told_by_their_titles() -> None:
    former = {"p3.md": Entry("document", "P3", "p3.md"), "p4.md": Entry("document", "P4", "p4.md")}
    entries = (Entry("document", "P4", "p3.md"), Entry("document", "P3", "p4-1.md"), Entry("document", "New", "p4.md"))
    calm = restore_entries(entries, [("p3.md", "p4-1.md"), ("p4.md", "p3.md")], former)
    assert [(entry.title, entry.path) for entry, _ in walk_entries(calm)] == [("P4", "p4.md"), ("P3", "p3.md")]
