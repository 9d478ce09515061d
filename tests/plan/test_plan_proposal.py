"""Operations turn any existing content into any desired one that they can express, and then nothing is left to do."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from syncd.layout.draft import Draft, page_slug
from syncd.layout.settings import Settings
from syncd.layout.summary import Entry
from syncd.model.anchor import Anchor
from syncd.model.page import Page
from syncd.model.revision import Revision
from syncd.plan.proposal import (
    ROOT,
    AddFile,
    DeleteStep,
    Desired,
    Existing,
    InsertStep,
    Proposal,
    UpdateStep,
    plan_proposal,
)


@dataclass(eq=False)
class Node:
    """A page of a platform that obeys the rules of content write and nothing else."""

    id: str
    path: str
    title: str
    oid: str
    children: list["Node"] = field(default_factory=list)


def walk(node: Node) -> Iterator[tuple[Node, Node]]:
    for child in node.children:
        yield child, node
        yield from walk(child)


def carry_out(root: Node, proposal: Proposal) -> None:
    for step in proposal.steps:
        nodes = {node.id: (node, parent) for node, parent in walk(root)}
        by_path = {node.path: node for node, _ in walk(root)}
        match step:
            case InsertStep():
                parent = (
                    root if step.into == ROOT else nodes[step.into][0] if step.into in nodes else by_path[step.into]
                )
                at = len(parent.children) if step.at is None else step.at
                parent.children.insert(at, Node(f"new:{step.path}", step.path, step.title, step.oid))
            case UpdateStep():
                node, parent = nodes[step.id]
                if step.into is not None or step.at is not None:
                    parent.children.remove(node)
                    if step.into is not None:
                        parent = (
                            root
                            if step.into == ROOT
                            else nodes[step.into][0]
                            if step.into in nodes
                            else by_path[step.into]
                        )
                        assert parent not in [child for child, _ in walk(node)] + [node], "moved under itself"
                    parent.children.insert(len(parent.children) if step.at is None else step.at, node)
                node.path, node.oid, node.title = step.path, step.oid or node.oid, step.title or node.title
            case DeleteStep():
                node, parent = nodes[step.id]
                parent.children.remove(node)
            case AddFile():
                raise AssertionError("no file was asked for")


def existing_of(root: Node) -> Existing:
    def page(node: Node) -> Page:
        slug = page_slug(node.path, settings=Settings())
        return Page(id=node.id, title=node.title, slug=slug, pages=tuple(page(child) for child in node.children))

    anchors = {n.id: Anchor(n.id, "page", n.path, n.path, f"git:{n.oid}", n.oid) for n, _ in walk(root)}
    return Existing(Revision(id="r", pages=tuple(page(child) for child in root.children)), anchors)


def entry_of(node: Node) -> Entry:
    return Entry("document", node.title, path=node.path, children=tuple(entry_of(child) for child in node.children))


def desired_of(root: Node, renames: dict[str, str]) -> Desired:
    blobs = {node.path: node.oid for node, _ in walk(root)}
    empty: dict[str, Any] = {"files": (), "includes": (), "variables": {}, "tags": (), "unlisted": (), "missing": ()}
    entries = tuple(entry_of(child) for child in root.children)
    draft = Draft(entries=entries, documents=tuple(blobs), settings=Settings(), inferred=False, **empty)
    return Desired(draft, blobs, renames)


def shape(root: Node) -> list[Any]:
    return [(child.path, child.title, child.oid, shape(child)) for child in root.children]


@st.composite
def forests(draw: st.DrawFn, names: str) -> Node:
    """A random tree over some of the given one-letter pages."""
    root = Node(ROOT, "", "", "")
    nodes = [root]
    for name in draw(st.permutations(names))[: draw(st.integers(0, len(names)))]:
        node = Node(
            f"id-{name}", f"{name}.md", draw(st.sampled_from([name, name.upper()])), draw(st.sampled_from("01"))
        )
        parent = draw(st.sampled_from(nodes))
        parent.children.insert(draw(st.integers(0, len(parent.children))), node)
        nodes.append(node)
    return root


@given(forests("abcdef"), forests("abcdef"))
@settings(max_examples=300, deadline=None)
def test_a_proposal_carried_out_is_the_desired_content_and_the_next_plan_is_empty(
    existing: Node, desired: Node
) -> None:
    plan = plan_proposal(desired_of(desired, {}), existing_of(existing))
    carry_out(existing, plan)
    assert shape(existing) == shape(desired)
    assert not plan_proposal(desired_of(desired, {}), existing_of(existing)).steps


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
    desired = desired_of(existing, {})
    blobs = {path: oid for path, oid in desired.blobs.items() if path != "p.md"}
    plan = plan_proposal(replace(desired, blobs=blobs), existing_of(existing))
    assert [type(step) for step in plan.steps] == [UpdateStep, DeleteStep]


def test_what_no_operation_can_do_is_reported_and_never_dropped() -> None:
    existing = existing_of(Node(ROOT, "", "", "", [Node("a", "a.md", "a", "0")]))
    page = Entry("document", "b", path="b.md")
    group = Entry("group", "New group", children=(page,), line=7)
    base = desired_of(Node(ROOT, "", "", "", [Node("a", "a.md", "a", "0")]), {})
    draft = replace(base.draft, entries=(*base.draft.entries, group))
    plan = plan_proposal(replace(base, draft=draft, blobs={"a.md": "0", "b.md": "1"}), existing)
    assert [step.path for step in plan.steps if isinstance(step, InsertStep)] == ["b.md"]
    (report,) = plan.plan.only("report")
    assert report.noun == "group"
    assert report.where == "SUMMARY.md:7"
