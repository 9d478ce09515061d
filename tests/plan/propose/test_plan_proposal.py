"""Operations turn any existing content into any desired one that they can express, and then nothing is left to do."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncd.layout.tree.draft import Draft
from syncd.layout.tree.paths import slugify
from syncd.layout.tree.settings import Settings, derive_page_slug
from syncd.layout.tree.summary import Entry, parse_summary
from syncd.layout.tree.summary import walk_entries as entries_of
from syncd.layout.tree.variables import parse_tags
from syncd.model.anchor import Anchor
from syncd.model.page import Page
from syncd.model.revision import Revision
from syncd.plan.propose.alignment import DesiredSide, ExistingSide
from syncd.plan.propose.proposal import ContentPlan, plan_proposal
from syncd.plan.propose.steps import ROOT, AddFile, DeleteStep, InsertStep, UpdateStep

Kind = Literal["document", "group", "link"]


@dataclass(eq=False)
class Node:
    """A page of a platform that obeys the rules of content write and nothing else."""

    id: str
    path: str
    title: str
    oid: str
    children: list["Node"] = field(default_factory=list)
    kind: Kind = "document"
    slug: str = ""

    def __post_init__(self) -> None:
        self.slug = self.slug or (
            derive_page_slug(self.path, settings=Settings()) if self.path else slugify(self.title)
        )


def walk(node: Node) -> Iterator[tuple[Node, Node]]:
    for child in node.children:
        yield child, node
        yield from walk(child)


@dataclass
class Platform:
    """Carries out steps one by one, and refuses what a server refuses."""

    root: Node

    def carry_out(self, proposal: ContentPlan) -> None:
        inserted: dict[str, Node] = {}
        for step in proposal.steps:
            nodes = {node.id: (node, parent) for node, parent in walk(self.root)}
            nodes |= {path: nodes[node.id] for path, node in inserted.items()}
            match step:
                case InsertStep():
                    parent = self.parent(step.into, nodes)
                    at = len(parent.children) if step.at is None else step.at
                    node = Node(f"new:{step.path}", step.path, step.title, step.oid, slug=step.slug)
                    parent.children.insert(at, node)
                    inserted[step.path] = node
                    self.check(parent)
                case UpdateStep():
                    self.update(step, nodes)
                case DeleteStep():
                    node, parent = nodes[step.id]
                    parent.children.remove(node)
                case AddFile():
                    raise AssertionError("no file was asked for")
        for node, _ in walk(self.root):
            node.path = proposal.placed.get(node.id, node.path)

    def update(self, step: UpdateStep, nodes: Mapping[str, tuple[Node, Node]]) -> None:
        node, parent = nodes[step.id]
        if step.into is not None or step.at is not None:
            parent.children.remove(node)
            if step.into is not None:
                parent = self.parent(step.into, nodes)
                assert parent not in [child for child, _ in walk(node)] + [node], "moved under itself"
            parent.children.insert(len(parent.children) if step.at is None else step.at, node)
        node.path, node.oid, node.title = step.path, step.oid or node.oid, step.title or node.title
        node.slug = step.slug or node.slug
        if step.into is not None or step.slug is not None:
            self.check(parent)

    def parent(self, into: str, nodes: Mapping[str, tuple[Node, Node]]) -> Node:
        parent = self.root if into == ROOT else nodes[into][0]
        assert parent.kind != "link", "a link holds no pages"
        return parent

    def check(self, parent: Node) -> None:
        slugs = [node.slug.casefold() for node in parent.children if node.kind != "link"]
        assert len(set(slugs)) == len(slugs), f"slugs collide: {slugs}"


def existing_of(root: Node) -> ExistingSide:
    def page(node: Node) -> Page:
        below = tuple(page(child) for child in node.children)
        target = {"kind": "url", "url": f"https://example.com/{node.title}"} if node.kind == "link" else None
        slug = node.slug if node.kind != "link" else None
        return Page(id=node.id, title=node.title, slug=slug, pages=below, type=node.kind, target=target)

    documents = [node for node, _ in walk(root) if node.kind == "document"]
    anchors = {n.id: Anchor(n.id, "page", n.path, n.path, f"git:{n.oid}", n.oid) for n in documents}
    return ExistingSide(Revision(id="r", pages=tuple(page(child) for child in root.children)), anchors)


def entry_of(node: Node) -> Entry:
    below = tuple(entry_of(child) for child in node.children)
    if node.kind == "link":
        return Entry("link", node.title, target=f"https://example.com/{node.title}", children=below)
    return Entry(node.kind, node.title, path=node.path or None, children=below)


def desired_of(root: Node, renames: dict[str, str] | None = None) -> DesiredSide:
    blobs = {node.path: node.oid for node, _ in walk(root) if node.path}
    return DesiredSide(draft_of(tuple(entry_of(child) for child in root.children), blobs), blobs, renames or {})


def draft_of(entries: tuple[Entry, ...], blobs: Mapping[str, str]) -> Draft:
    return Draft(entries=entries, documents=tuple(blobs), settings=Settings())


def shape(root: Node) -> list[Any]:
    return [(child.path or child.title, child.title, child.oid, shape(child)) for child in root.children]


@st.composite
def forests(draw: st.DrawFn, names: str, *, groups: str = "", folders: tuple[str, ...] = ("",)) -> Node:
    """A random tree over some of the given one-letter pages, links and groups; slugs differ among siblings."""
    root = Node(ROOT, "", "", "")
    nodes = [root]
    for name in draw(st.permutations(names + groups))[: draw(st.integers(0, len(names + groups)))]:
        if name in groups:
            node = Node(f"id-{name}", "", name, "", kind="link" if name.isdigit() else "group")
        else:
            path = f"{draw(st.sampled_from(folders))}{name}.md"
            title = draw(st.sampled_from([name, name.upper()]))
            node = Node(f"id-{name}", path, title, name + draw(st.sampled_from("01")))
        parent = draw(st.sampled_from(nodes))
        if all(child.slug != node.slug for child in parent.children):
            parent.children.insert(draw(st.integers(0, len(parent.children))), node)
            nodes += [] if node.kind == "link" else [node]
    return root


@given(forests("abcdef"), forests("abcdef"))
@settings(max_examples=25, deadline=None)
def test_a_proposal_carried_out_is_the_desired_content_and_the_next_plan_is_empty(
    existing: Node, desired: Node
) -> None:
    plan = plan_proposal(desired_of(desired), existing_of(existing))
    Platform(existing).carry_out(plan)
    assert shape(existing) == shape(desired)
    assert not plan_proposal(desired_of(desired), existing_of(existing)).steps


@given(forests("abcdef", groups="GH12"), forests("abcdef", groups="GH12"))
@settings(max_examples=25, deadline=None)
def test_what_only_a_person_can_do_stands_in_the_way_of_nothing_else(existing: Node, desired: Node) -> None:
    before = {node.path: node.id for node, _ in walk(existing)}
    for _ in range(4):  # a group that was below a page may hold it once the page has moved away
        plan = plan_proposal(desired_of(desired), existing_of(existing))
        Platform(existing).carry_out(plan)
    pages = {node.path: node for node, _ in walk(existing) if node.path}
    assert {path: (page.title, page.oid) for path, page in pages.items()} == {
        node.path: (node.title, node.oid) for node, _ in walk(desired) if node.path
    }
    assert all(page.id == before[path] for path, page in pages.items() if path in before)
    again = plan_proposal(desired_of(desired), existing_of(existing))
    assert not again.steps
    assert bool(again.report.changes) == (shape(existing) != shape(desired))


@given(forests("abcde", folders=("", "x/", "y/")), forests("abcde", folders=("", "x/", "y/")))
@settings(max_examples=25, deadline=None)
def test_pages_that_keep_their_title_and_slug_keep_their_id_in_any_folder(existing: Node, desired: Node) -> None:
    before = {(node.title, node.slug): node.id for node, _ in walk(existing)}
    plan = plan_proposal(desired_of(desired), existing_of(existing))
    Platform(existing).carry_out(plan)
    assert shape(existing) == shape(desired)
    for node, _ in walk(existing):
        assert node.id == before.get((node.title, node.slug), node.id)


@given(forests("abcde"), st.permutations("abcde"))
@settings(max_examples=25, deadline=None)
def test_files_that_change_names_with_one_another_keep_their_pages(existing: Node, names: list[str]) -> None:
    to = dict(zip("abcde", names, strict=True))
    for node, _ in walk(existing):
        node.oid, node.title = f"oid-{node.path}", node.path[0]
    before = {node.oid: node.id for node, _ in walk(existing)}
    base = existing_of(existing)
    former = {node.id: node.path for node, _ in walk(existing)}
    taken = {node.path for node, _ in walk(existing)}
    if any(f"{to[path[0]]}.md" not in taken for path in taken):
        to = {name: name for name in to}
    for node, _ in walk(existing):
        node.path = f"{to[node.path[0]]}.md"
    desired = desired_of(existing)
    for node, _ in walk(existing):
        node.path = former[node.id]
    plan = plan_proposal(desired, base)
    assert not plan.deleted
    Platform(existing).carry_out(plan)
    assert {node.oid: node.id for node, _ in walk(existing)} == before
    assert all(node.slug == node.path.removesuffix(".md") for node, _ in walk(existing))


@given(forests("abcde"))
@settings(deadline=None)
def test_a_renamed_file_keeps_its_page(existing: Node) -> None:
    before = {node.path: node.id for node, _ in walk(existing)}
    base = existing_of(existing)
    renames = {path: f"new-{path}" for path in before}
    for node, _ in walk(existing):
        node.path = renames[node.path]
    plan = plan_proposal(desired_of(existing, renames), base)
    assert all(isinstance(step, UpdateStep) for step in plan.steps)
    assert {step.id for step in plan.steps if isinstance(step, UpdateStep)} == set(before.values())


def test_a_page_without_its_file_is_deleted_and_its_children_take_its_place() -> None:
    child = Node("c", "c.md", "c", "0")
    existing = Node(ROOT, "", "", "", [Node("p", "p.md", "p", "0", [child])])
    desired = desired_of(existing)
    blobs = {path: oid for path, oid in desired.blobs.items() if path != "p.md"}
    plan = plan_proposal(replace(desired, blobs=blobs), existing_of(existing))
    assert [type(step) for step in plan.steps] == [UpdateStep, DeleteStep]


NO_RENAMES: Mapping[str, str] = {}


def plan_texts(base: str, text: str, renames: Mapping[str, str] = NO_RENAMES, **blobs: str) -> ContentPlan:
    """The plan from one table of contents to another; every page's blob is its path, or what is given by its stem."""

    def node(entry: Entry) -> Node:
        name = entry.path or f"{entry.kind}-{entry.title}"
        kind: Kind = entry.kind if entry.kind != "computed" else "link"
        return Node(name, entry.path or "", entry.title, name, [node(child) for child in entry.children], kind)

    def content(table: str) -> tuple[Entry, ...]:
        return parse_summary(f"# Table of contents\n\n{table}")

    root = Node(ROOT, "", "", "", [node(entry) for entry in content(base)])
    paths = [entry.path for entry, _ in entries_of(content(text)) if entry.path]
    oids = {path: blobs.get(path.removesuffix(".md").replace("/", "_"), path) for path in paths}
    return plan_proposal(DesiredSide(draft_of(content(text), oids), oids, renames), existing_of(root))


FLAT = "* [A](a.md)\n* [B](b.md)\n* [C](c.md)\n"


def test_a_small_page_that_is_renamed_and_rewritten_is_known_by_its_title() -> None:
    plan = plan_texts(FLAT, FLAT.replace("b.md", "bee.md"), bee="other words")
    assert plan.steps == (UpdateStep("b.md", "bee.md", oid="other words", slug="bee"),)


def test_a_page_that_gets_another_file_title_and_text_at_once_is_another_page() -> None:
    plan = plan_texts(FLAT, FLAT.replace("[B](b.md)", "[New](new.md)"))
    assert [type(step) for step in plan.steps] == [InsertStep, DeleteStep]


def test_two_files_that_change_names_need_a_slug_for_the_time_being() -> None:
    plan = plan_texts(FLAT, "* [A](b.md)\n* [B](a.md)\n* [C](c.md)\n", a="b.md", b="a.md")
    assert plan.steps == (
        UpdateStep("a.md", "b.md", slug="b-moving"),
        UpdateStep("b.md", "a.md", slug="a"),
        UpdateStep("a.md", "b.md", slug="b", later=True),
    )
    assert [change.key for change in plan.report.changes] == ["a.md", "b.md"]


def test_a_file_that_takes_the_name_of_one_that_moves_on_is_a_chain() -> None:
    plan = plan_texts("* [A](a.md)\n* [B](b.md)\n", "* [A](b.md)\n* [B](c.md)\n", b="a.md, edited", c="b.md")
    assert not plan.deleted
    assert {step.id: step.path for step in plan.steps if isinstance(step, UpdateStep)} == {
        "a.md": "b.md",
        "b.md": "c.md",
    }


def test_two_pages_that_are_edited_and_change_titles_are_not_taken_for_one_another() -> None:
    plan = plan_texts(FLAT, "* [B](a.md)\n* [A](b.md)\n* [C](c.md)\n", a="one", b="two")
    assert [(step.id, step.path) for step in plan.steps if isinstance(step, UpdateStep)] == [
        ("a.md", "a.md"),
        ("b.md", "b.md"),
    ]


def test_pages_that_exchange_names_and_are_edited_are_known_where_the_lines_tell() -> None:
    moved = "* [A](b.md)\n* [B](c.md)\n* [C](a.md)\n"
    renames = {"a.md": "b.md", "b.md": "c.md", "c.md": "a.md"}
    plan = plan_texts(FLAT, moved, renames, a="C, edited", b="A, edited", c="B, edited")
    assert not plan.deleted
    updates = [step for step in plan.steps if isinstance(step, UpdateStep)]
    assert {(step.id, step.path, step.oid) for step in updates if step.oid} == {
        ("a.md", "b.md", "A, edited"),
        ("b.md", "c.md", "B, edited"),
        ("c.md", "a.md", "C, edited"),
    }
    assert not any(step.title for step in updates)


def test_a_copy_of_a_page_that_is_then_rewritten_leaves_the_page_where_it_is() -> None:
    plan = plan_texts("* [A](a.md)\n", "* [A](a.md)\n* [Copy](copy.md)\n", a="rewritten", copy="a.md")
    assert [type(step) for step in plan.steps] == [UpdateStep, InsertStep]


def test_a_page_that_becomes_a_folder_is_the_same_page() -> None:
    plan = plan_texts("* [A](a.md)\n", "* [A](a/README.md)\n  * [New](a/new.md)\n", a_README="a.md")
    assert plan.steps == (InsertStep("a/new.md", "a/new.md", "New", "new", "a.md", None),)
    assert plan.placed == {"a.md": "a/README.md"}


def test_a_page_may_move_below_what_was_below_it() -> None:
    existing = "* [A](a.md)\n  * [B](b.md)\n    * [C](c.md)\n"
    plan = plan_texts(existing, "* [C](c.md)\n  * [B](b.md)\n    * [A](a.md)\n")
    assert [(step.id, step.into, step.at) for step in plan.steps if isinstance(step, UpdateStep)] == [
        ("c.md", "", 0),
        ("b.md", "c.md", 0),
        ("a.md", "b.md", 0),
    ]


def test_pages_go_around_a_group_that_only_a_person_can_move() -> None:
    plan = plan_texts(
        "* [A](a.md)\n* [B](b.md)\n\n## Group\n\n* [C](c.md)\n",
        "## Group\n\n* [C](c.md)\n\n***\n\n* [A](a.md)\n* [B](b.md)\n",
    )
    assert [(step.id, step.at) for step in plan.steps if isinstance(step, UpdateStep)] == [("a.md", 2), ("b.md", 2)]
    assert not plan.report.select("report")


GROUP = "## Group\n\n* [A](a.md)\n* [B](b.md)\n"
SENTENCES = {
    "Create the group 'Group' after the page 'C'; the next push moves a page into it.": (
        FLAT,
        FLAT + "\n## Group\n\n* [D](d.md)\n",
    ),
    "Create the group 'New group' after the group 'Group'.": (GROUP, GROUP + "\n## New group\n"),
    "Rename the group 'Group' to 'Better words'.": (GROUP, GROUP.replace("Group", "Better words")),
    "Give the group 'Group' the slug 'slug' instead of 'group'.": (
        GROUP,
        GROUP.replace("Group", 'Group <a href="#slug" id="slug"></a>'),
    ),
    "Delete the group 'Group'.": (GROUP, "* [A](a.md)\n* [B](b.md)\n"),
    "Move the group 'Group' below the page 'A'.": (GROUP, "* [A](a.md)\n  * Group\n    * [B](b.md)\n"),
}


@pytest.mark.parametrize("sentence", SENTENCES)
def test_what_no_operation_can_do_is_told_in_one_sentence(sentence: str) -> None:
    plan = plan_texts(*SENTENCES[sentence])
    assert sentence in [change.message for change in plan.report.select("report")]
    assert all(change.where.startswith("SUMMARY.md") for change in plan.report.select("report"))


LINKS = "* [A](a.md)\n* [Link](https://example.com/Link)\n"
LINK_SENTENCES = {
    "Rename the link 'Link' to 'Other'.": LINKS.replace("[Link]", "[Other]"),
    "Let the link 'Link' lead to 'https://example.com/2'.": LINKS.replace("com/Link", "com/2"),
    "Move the link 'Link' below the page 'A'.": LINKS.replace("* [Link]", "  * [Link]"),
    "Delete the link 'Link'.": "* [A](a.md)\n",
    "Add the link 'See A' to 'a.md#part' after the link 'Link'.": LINKS + "* [See A](a.md#part)\n",
    "Set the link title of the page 'A' to 'Short'.": LINKS.replace("a.md", 'a.md "Short"'),
    "Move the page 'A' below the link 'Link'.": "* [Link](https://example.com/Link)\n  * [A](a.md)\n",
}


@pytest.mark.parametrize("sentence", LINK_SENTENCES)
def test_what_no_operation_can_do_for_a_link_is_told_in_one_sentence(sentence: str) -> None:
    plan = plan_texts(LINKS, LINK_SENTENCES[sentence])
    assert sentence in [change.message for change in plan.report.select("report")]


TAG = {"slug": "same", "label": "Same", "color": "default"}


def test_files_variables_tags_and_reusable_contents_are_left_to_a_person() -> None:
    existing = existing_of(Node(ROOT, "", "", "", [Node("a", "a.md", "a", "0")]))
    revision = existing.revision.model_copy(
        update={"variables": {"old": "1", "same": 1}, "tags": ({"slug": "gone"}, TAG)}
    )
    anchors = dict(existing.anchors)
    anchors["f"] = Anchor("f", "file", ".gitbook/assets/f.png", "", "", "1")
    anchors["g"] = Anchor("g", "file", ".gitbook/assets/g.png", "", "", "1")
    anchors["i"] = Anchor("i", "include", ".gitbook/includes/i.md", "", "", "1")
    blobs = {"a.md": "0", ".gitbook/assets/f.png": "2", ".gitbook/assets/big.png": "3", ".gitbook/includes/new.md": "4"}
    draft = replace(
        draft_of((Entry("document", "a", path="a.md"),), {"a.md": "0"}),
        files=(".gitbook/assets/big.png", ".gitbook/assets/f.png"),
        includes=(".gitbook/includes/new.md",),
        variables={"new": "2", "same": 1},
        tags=({"slug": "new"}, *parse_tags("- tag: same\n  label: Same\n")),
    )
    plan = plan_proposal(
        DesiredSide(draft, blobs, read=lambda path: b"x" * 1_000_001 if "big" in path else b""),
        ExistingSide(revision, anchors),
    )
    assert not plan.steps
    assert [(change.noun, change.message) for change in plan.report.changes] == [
        ("file", "Upload this file: it has more than 1,000,000 bytes, which is too much for the API."),
        ("file", "Replace this file, or add it under a new name: the API cannot replace it."),
        ("file", "Delete this file, which the API cannot do."),
        ("include", "Delete the reusable content 'i'."),
        ("include", "Create the reusable content 'new' with the text of this file."),
        ("tag", "Delete the tag 'gone'."),
        ("tag", "Create the tag 'new' as this file describes it."),
        ("variable", "Set the variable 'new' to '2'."),
        ("variable", "Delete the variable 'old'."),
    ]


def test_a_title_in_frontmatter_wins_and_the_difference_is_told() -> None:
    plan = plan_texts(FLAT, FLAT.replace("[A]", "[Ah]"))
    assert plan.steps == (UpdateStep("a.md", "a.md", title="Ah", unchanged="a.md"),)
    desired = desired_of(Node(ROOT, "", "", "", [Node("a", "a.md", "Ah", "0")]))
    desired = replace(desired, read=lambda path: b"---\ntitle: Stated\n---\n\nText\n")
    plan = plan_proposal(desired, existing_of(Node(ROOT, "", "", "", [Node("a", "a.md", "Stated", "0")])))
    assert not plan.steps
    (report,) = plan.report.select("report")
    assert "'Stated'" in report.message


def test_a_slug_that_a_stopped_run_left_for_the_time_being_is_put_right() -> None:
    root = Node(ROOT, "", "", "", [Node("1", "b.md", "A", "0", slug="b-moving"), Node("2", "a.md", "B", "0")])
    assert plan_proposal(desired_of(root), existing_of(root)).steps == (UpdateStep("1", "b.md", slug="b"),)


def test_two_files_of_one_name_below_one_page_get_slugs_of_their_own() -> None:
    plan = plan_texts("* [A](a.md)\n", "* [A](a.md)\n* [B](x/same.md)\n* [C](y/same.md)\n")
    assert [step.slug for step in plan.steps if isinstance(step, InsertStep)] == ["same", "same-1"]


@pytest.mark.parametrize("count", [1_000, pytest.param(10_000, marks=pytest.mark.long)])
def test_five_moves_among_many_pages_are_five_steps(count: int) -> None:
    pages = [Node(str(n), f"p{n}.md", str(n), "0") for n in range(count)]
    existing = existing_of(Node(ROOT, "", "", "", pages))
    desired = desired_of(Node(ROOT, "", "", "", [*pages[5:], *pages[:5]]))
    assert len(plan_proposal(desired, existing).steps) == 5
