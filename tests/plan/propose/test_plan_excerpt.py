"""An excerpt of two tables of contents is small, and a plan from it is that of the whole tables, or none."""

from collections.abc import Sequence

import pytest

from syncd.layout.tree.settings import Settings
from syncd.layout.tree.summary import Entry, parse_summary
from syncd.model.anchor import Anchor
from syncd.plan.propose.excerpt import abridge_tables, plan_excerpt
from syncd.plan.propose.steps import InsertStep, UpdateStep


def build_table(*parts: str) -> str:
    return "# Table of contents\n\n" + "".join(parts)


def build_part(name: str, *pages: str) -> str:
    below = "".join(f"  * [{page}]({name}/{page}.md)\n" for page in pages)
    return f"* [{name}]({name}/README.md)\n{below}"


def test_what_is_alike_lacks_what_is_below_it() -> None:
    same = (build_part("a", "one", "two"), build_part("b", "three"))
    end = build_part("d", "five")
    before = build_table(*same, build_part("c", "four"), end)
    after = build_table(*same, build_part("c", "four", "new"), end)
    short = ("* [a](a/README.md)\n", "* [b](b/README.md)\n")
    found = abridge_tables(before, after)
    assert found[0] == build_table(*short, build_part("c", "four"), "* [d](d/README.md)\n")
    assert found[1] == build_table(*short, build_part("c", "four", "new"), "* [d](d/README.md)\n")


@pytest.mark.parametrize(
    "line",
    [" * [x](x.md)\n", "* [again](a/one.md)\n", "\t* [x](x.md)\n", "- [x](x.md)\n", "text\n", "* [x](x.md)"],
    ids=["one-space", "twice", "tab", "dash", "text", "no-line-end"],
)
def test_an_unusual_table_stays_as_it_is(line: str) -> None:
    """Where two spaces do not tell what is below what, or an entry only leads to a page, nothing may be left out."""
    before = build_table(build_part("a", "one", "two"), build_part("b", "three"), line)
    after = before.replace("three", "four")
    assert abridge_tables(before, after) == (before, after)


def plan(before: Sequence[Entry], after: Sequence[Entry], blobs: dict[str, str | None], *known: str) -> object:
    anchors = {path: Anchor(path, "page", path, path, "git:0", "0") for path in known}
    renames = {path: new for path, oid in blobs.items() if oid is None for new in blobs if blobs[new] == "0"}
    done = plan_excerpt((before, after), anchors, blobs, Settings(), renames=renames, read=lambda path: b"")
    return done.steps if done is not None else None


def test_pages_are_inserted_renamed_and_edited() -> None:
    before = parse_summary(build_table(build_part("a", "one", "two"), build_part("b")))
    after = parse_summary(build_table(build_part("a", "one", "new", "2"), build_part("b")).replace("[2]", "[two]"))
    known = ("a/README.md", "a/one.md", "a/two.md", "b/README.md", "b/far.md")
    blobs = {"a/new.md": "1", "a/two.md": None, "a/2.md": "0", "b/far.md": "2"}
    assert plan(before, after, blobs, *known) == (
        InsertStep("a/new.md", "1", "new", "new", "a/README.md", 1),
        UpdateStep("a/two.md", "a/2.md", slug="2"),
        UpdateStep("b/far.md", "b/far.md", oid="2"),
    )


@pytest.mark.parametrize(
    ("parts", "blobs"),
    [
        ((build_part("new"), build_part("a", "one"), build_part("b")), {"new/README.md": "1"}),
        ((build_part("a", "one"), build_part("b", "new")), {"b/new.md": "1"}),
        ((build_part("a"), build_part("b")), {"a/one.md": None}),
        ((build_part("b"), build_part("a", "one")), {"a/one.md": "1"}),
        ((build_part("a", "one", "gone"), build_part("b")), {"a/one.md": "1"}),
        ((build_part("a", "one"), build_part("b")), {"unlisted.md": "1"}),
        ((build_part("a", "one"), "* a group\n", build_part("b")), {"a/one.md": "1"}),
        ((build_part("a", "one/README"), build_part("b")), {"a/one.md": None, "a/one/README.md": "1"}),
        ((build_part("a", "one", "new"), "* [b](b/README.md)\n* [again](a/one.md)\n"), {"a/new.md": "1"}),
        (("* [a](a/README.md)\n  * [one](one.md)\n", build_part("b")), {"a/one.md": None, "one.md": "0"}),
    ],
    ids=["first", "first-child", "deleted", "moved", "missing", "unlisted", "group", "folder", "twice", "other-folder"],
)
def test_there_is_no_plan_of_what_an_excerpt_cannot_tell(parts: tuple[str, ...], blobs: dict[str, str | None]) -> None:
    before = parse_summary(build_table(build_part("a", "one"), build_part("b")))
    after = parse_summary(build_table(*parts))
    assert plan(before, after, blobs, "a/README.md", "a/one.md", "b/README.md") is None


def test_a_deep_table_takes_no_recursion() -> None:
    depth = 3_000
    lines = "".join(f"{'  ' * level}* [{level}](p{level}.md)\n" for level in range(depth))
    before = parse_summary(build_table(lines))
    after = parse_summary(build_table(lines, "* [new](new.md)\n"))
    steps = plan(before, after, {"new.md": "1"}, *(f"p{level}.md" for level in range(depth)))
    assert steps == (InsertStep("new.md", "1", "new", "new", "", None),)
