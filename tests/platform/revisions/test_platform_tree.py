"""The tree that revisions share: an edit keeps what it changes, and a draft is what was done to it."""

import random
from collections.abc import Iterator

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from syncd.platform.revisions import tree
from syncd.platform.revisions.outline import Draft, Outline, build_outline, open_outline
from syncd.platform.revisions.tree import PAGES, Node, decode_node
from syncd.platform.schema.content import nodes
from syncd.platform.storage.storage import Storage


def page(id: str, **members: object) -> Node:
    return Node(id, "document", title=id, slug=id, body="0" * 40, path=f"{id}.md", **members)  # type: ignore[arg-type]


def opened(draft: Draft) -> Outline:
    root, rows = draft.hash_tree()
    kept = {entry.hash: entry.node for entry in draft.base.entries.values()}
    return build_outline(root, kept | {row.hash: decode_node(row) for row in rows})


def shape(of: Outline | Draft, id: str = PAGES) -> list[object]:
    children = of.children(id) if isinstance(of, Draft) else of.order.get(id, ())
    return [(child, shape(of, child)) for child in children]


@pytest.fixture
def connection(storage: Storage) -> Iterator[sa.Connection]:
    with storage.write() as connection:
        yield connection


def _count(connection: sa.Connection) -> int:
    return connection.scalar(sa.select(sa.func.count()).select_from(nodes)) or 0


def _ten_thousand() -> Draft:
    draft = Draft()
    for group in range(100):
        draft.insert(Node(f"g{group}", "group", slug=f"g{group}"), PAGES)
        for number in range(100):
            draft.insert(page(f"p{group}-{number}"), f"g{group}")
    return draft


def test_one_edited_page_of_ten_thousand_stores_only_the_way_to_the_root(connection: sa.Connection) -> None:
    root, rows = _ten_thousand().hash_tree()
    tree.insert_nodes(connection, rows)
    before = _count(connection)
    draft = Draft(open_outline(connection, root))
    draft.replace_node(page("p50-50", fields={"description": "new"}))
    again, rows = draft.hash_tree()
    tree.insert_nodes(connection, rows)
    assert again != root
    assert before == 10_100 + 4
    # The page, its group, the section and the root.
    assert _count(connection) - before == 4
    loaded = build_outline(again, tree.load_nodes(connection, again))
    assert loaded.entries["p50-50"].node.fields == {"description": "new"}
    assert len(loaded.entries) == 10_104


def test_equal_trees_have_one_hash_whatever_led_to_them() -> None:
    one, other = Draft(), Draft()
    one.insert(page("a"), PAGES)
    one.insert(page("b"), PAGES)
    other.insert(page("b"), PAGES)
    other.insert(page("c"), "b")
    other.insert(page("a"), PAGES, 0)
    other.remove("c")
    assert one.hash_tree()[0] == other.hash_tree()[0]


def test_members_and_children_are_never_mistaken_for_each_other() -> None:
    nodes = [
        Node("a", "group"),
        Node("a", "group", children=(b"0" * 20,)),
        Node("a", "group", title="0" * 20),
        Node("", "agroup"),
        Node("a", "group", body=""),
    ]
    rows = [tree.encode_node(node) for node in nodes]
    assert len({row.hash for row in rows}) == len(nodes)
    assert [decode_node(row) for row in rows] == nodes


@given(seed=st.integers(0, 2**32), steps=st.integers(1, 40))
def test_a_sealed_draft_opens_as_what_was_done_to_it(seed: int, steps: int) -> None:
    chance = random.Random(seed)
    draft = Draft()
    for number in range(8):
        draft.insert(page(f"b{number}"), chance.choice([PAGES, *(f"b{n}" for n in range(number))]))
    draft = Draft(opened(draft))
    for step in range(steps):
        ids = [id for id in draft.walk(PAGES) if id != PAGES]
        into, act = chance.choice([PAGES, *ids]), chance.random()
        if act < 0.4 or not ids:
            draft.insert(page(f"n{step}"), into, chance.choice([None, 0, 1]))
        elif act < 0.7:
            moved = chance.choice(ids)
            if moved != into and moved not in draft.ancestors(into):
                draft.move(moved, into, chance.choice([None, 0, 2]))
        elif act < 0.85:
            draft.remove(chance.choice(ids))
        else:
            draft.replace_node(page(chance.choice(ids), fields={"step": step}))
    after = opened(draft)
    assert shape(after) == shape(draft)
    assert {id: entry.node.fields for id, entry in after.entries.items() if id in draft} == {
        id: draft.node(id).fields for id in draft.walk(tree.ROOT)
    }
    assert Draft(after).hash_tree() == (after.root, [])
