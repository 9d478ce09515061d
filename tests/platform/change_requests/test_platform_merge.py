"""Merging two trees: both sides' changes are in it, nothing that was added is lost, and it is always a sound tree."""

import random

from hypothesis import given
from hypothesis import strategies as st

from syncd.layout.tree.paths import make_collision_key
from syncd.model.blob_id import compute_blob_id
from syncd.platform.change_requests.merge import MergedTree, MergeSides, merge, merge_order
from syncd.platform.revisions.outline import Draft, Outline, build_outline
from syncd.platform.revisions.tree import FILES, PAGES, ROOT, Node, decode_node

IDS = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=6)


class World:
    """Bodies in memory, and trees made of the drafts that tests write."""

    def __init__(self) -> None:
        self.bodies: dict[str, bytes] = {}

    def keep(self, data: bytes) -> str:
        oid = compute_blob_id(data)
        self.bodies[oid] = data
        return oid

    def page(self, id: str, text: str = "one\ntwo\nthree\n", **members: object) -> Node:
        known = {"title": id, "slug": id, "path": f"{id}.md", "body": self.keep(text.encode())}
        return Node(id, "document", **(known | members))  # type: ignore[arg-type]

    def opened(self, draft: Draft) -> Outline:
        root, rows = draft.hash_tree()
        kept = {entry.hash: entry.node for entry in draft.base.entries.values()}
        return build_outline(root, kept | {row.hash: decode_node(row) for row in rows})

    def merged(self, base: Outline, ours: Draft, theirs: Draft) -> MergedTree:
        sides = MergeSides(base, self.opened(ours), self.opened(theirs))
        return merge(sides, read=self.bodies.__getitem__, write=self.keep)

    def text(self, draft: Draft, id: str) -> str:
        return self.bodies[draft.node(id).body or ""].decode()

    def base(self, *ids: str) -> Outline:
        draft = Draft()
        for id in ids:
            draft.insert(self.page(id), PAGES)
        return self.opened(draft)


@given(base=IDS, ours=IDS, theirs=IDS)
def test_a_merged_order_has_every_member_once_and_follows_the_side_that_moved(
    base: list[str], ours: list[str], theirs: list[str]
) -> None:
    members = list(dict.fromkeys([*ours, *theirs]))
    assert sorted(merge_order(base, ours, theirs, members=members)) == sorted(members)
    assert merge_order(base, base, theirs, members=theirs) == theirs
    assert merge_order(base, ours, base, members=ours) == ours


def _random_edits(world: World, base: Outline, chance: random.Random, name: str) -> Draft:
    """What a careful writer does: within one side, slugs of siblings and paths are unique."""
    draft = Draft(base)
    for step in range(chance.randint(0, 6)):
        ids = [id for id in draft.walk(PAGES) if id != PAGES]
        into, act = chance.choice([PAGES, *ids]), chance.random()
        if act < 0.35 or not ids:
            # Both sides may have a page of this name, but each has only one.
            slug = f"{name}{step}" if f"{name}-new" in draft else "new"
            id = f"{name}-new" if slug == "new" else slug
            draft.insert(world.page(id, f"added by {name} {step}\n", slug=slug, path=f"{slug}.md"), into)
        elif act < 0.6:
            moved = chance.choice(ids)
            if moved != into and moved not in draft.ancestors(into):
                draft.move(moved, into, chance.choice([None, 0]))
        elif act < 0.75:
            draft.remove(chance.choice(ids))
        else:
            id = chance.choice(ids)
            node = draft.node(id)
            draft.replace_node(
                world.page(id, f"{world.text(draft, id)}{name} {step}\n", slug=node.slug, path=node.path)
            )
    return draft


def _base(world: World, chance: random.Random) -> Outline:
    draft = Draft()
    for number in range(chance.randint(0, 8)):
        draft.insert(world.page(f"b{number}"), chance.choice([PAGES, *(f"b{below}" for below in range(number))]))
    return world.opened(draft)


@given(seed=st.integers(0, 2**32))
def test_any_two_edits_merge_into_a_sound_tree_that_loses_nothing_added(seed: int) -> None:
    world, chance = World(), random.Random(seed)
    base = _base(world, chance)
    ours, theirs = (_random_edits(world, base, chance, name) for name in ("ours", "theirs"))
    merged = world.merged(base, ours, theirs)
    draft = merged.draft
    after = world.opened(draft)
    pages = [entry.node for id, entry in after.entries.items() if not id.startswith("/")]
    for side in (ours, theirs):
        added = {id for id in side.walk(PAGES) if id not in base.entries and id != PAGES}
        assert added <= set(after.entries)
    for children in after.order.values():
        slugs = [after.entries[child].node.slug.casefold() for child in children if after.entries[child].node.slug]
        assert len(slugs) == len(set(slugs))
    paths = [make_collision_key(node.path) for node in pages if node.path]
    assert len(paths) == len(set(paths))
    assert world.merged(base, ours, theirs).draft.hash_tree()[0] == after.root
    if not merged.conflicts:
        for side in (ours, theirs):
            edited = [id for id in side.touched_ids if id in base.entries and id in after.entries]
            lines = {id: set(world.text(side, id).split("\n")) for id in edited}
            assert all(lines[id] <= set(world.text(draft, id).split("\n")) for id in edited)


@given(seed=st.integers(0, 2**32))
def test_an_unchanged_side_takes_the_other_as_it_is(seed: int) -> None:
    world, chance = World(), random.Random(seed)
    base = _base(world, chance)
    side = _random_edits(world, base, chance, "side")
    # Slugs of one tree are the writer's business; only those of two sides can clash.
    wanted = world.opened(side)
    for ours, theirs in ((Draft(base), side), (side, Draft(base))):
        merged = world.merged(base, ours, theirs)
        after = world.opened(merged.draft)
        assert after.order.keys() | wanted.order.keys() == wanted.order.keys()
        assert {id: entry.node.body for id, entry in after.entries.items()} == {
            id: entry.node.body for id, entry in wanted.entries.items()
        }
        assert {id: after.order.get(id) for id in wanted.order} == dict(wanted.order)


def test_edits_of_different_pages_merge_the_same_from_both_sides() -> None:
    world = World()
    base = world.base("a", "b", "c", "d")
    ours, theirs = Draft(base), Draft(base)
    ours.replace_node(world.page("a", "changed\n", path="a/README.md"))
    ours.move("b", "a")
    theirs.replace_node(world.page("c", title="C", path="c/README.md"))
    theirs.remove("d")
    theirs.insert(world.page("e"), "c")
    one, other = world.merged(base, ours, theirs), world.merged(base, theirs, ours)
    assert one.conflicts == other.conflicts == ()
    assert one.draft.hash_tree()[0] == other.draft.hash_tree()[0]
    assert [one.draft.children(id) for id in (PAGES, "a", "c")] == [["a", "c"], ["b"], ["e"]]


def test_both_sides_of_one_page_are_kept_line_by_line() -> None:
    world = World()
    base = world.base("a")
    ours, theirs = Draft(base), Draft(base)
    ours.replace_node(world.page("a", "ONE\ntwo\nthree\n", title="New title"))
    theirs.replace_node(world.page("a", "one\ntwo\nTHREE\n"))
    merged = world.merged(base, ours, theirs)
    assert (world.text(merged.draft, "a"), merged.draft.node("a").title) == ("ONE\ntwo\nTHREE\n", "New title")
    assert merged.conflicts == ()


def test_the_same_line_changed_twice_stays_as_the_change_request_has_it() -> None:
    world = World()
    base = world.base("a", "b")
    ours, theirs = Draft(base), Draft(base)
    ours.replace_node(world.page("a", "one\nmain\nthree\n"))
    ours.replace_node(world.page("b", "untouched by the other\n"))
    theirs.replace_node(world.page("a", "one\nrequest\nthree\n"))
    merged = world.merged(base, ours, theirs)
    assert merged.conflicts == ("a",)
    assert world.text(merged.draft, "a") == "one\nrequest\nthree\n"
    assert world.text(merged.draft, "b") == "untouched by the other\n"


def test_a_page_deleted_on_one_side_and_edited_on_the_other_follows_the_change_request() -> None:
    world = World()
    base = world.base("a", "b", "c")
    ours, theirs = Draft(base), Draft(base)
    ours.remove("a")
    ours.replace_node(world.page("b", "edited in main\n"))
    theirs.replace_node(world.page("a", "edited in the request\n"))
    theirs.remove("b")
    ours.remove("c")
    merged = world.merged(base, ours, theirs)
    assert merged.draft.children(PAGES) == ["a"]
    assert merged.conflicts == ("a", "b")


def test_a_page_added_below_a_deleted_one_stays() -> None:
    world = World()
    base = world.base("a", "b")
    ours, theirs = Draft(base), Draft(base)
    ours.remove("a")
    ours.insert(world.page("main"), "b")
    theirs.remove("b")
    theirs.insert(world.page("request"), "a")
    draft = world.merged(base, ours, theirs).draft
    assert draft.children(PAGES) == ["a", "main"]
    assert draft.children("a") == ["request"]


def test_two_moves_that_would_put_pages_below_each_other_end_as_the_change_request_has_it() -> None:
    world = World()
    base = world.base("a", "b")
    ours, theirs = Draft(base), Draft(base)
    ours.move("a", "b")
    theirs.move("b", "a")
    merged = world.merged(base, ours, theirs)
    assert (merged.draft.children(PAGES), merged.draft.children("a")) == (["a"], ["b"])
    assert merged.conflicts == ("a",)


def test_pages_with_one_slug_or_one_file_are_told_apart_and_main_content_keeps_its_own() -> None:
    world = World()
    base = world.base("a")
    ours, theirs = Draft(base), Draft(base)
    ours.insert(world.page("x", slug="setup", path="setup.md"), PAGES)
    theirs.insert(world.page("y", slug="Setup", path="Setup.md"), PAGES)
    merged = world.merged(base, ours, theirs)
    assert merged.conflicts == ("y",)
    assert [(merged.draft.node(id).slug, merged.draft.node(id).path) for id in ("x", "y")] == [
        ("setup", "setup.md"),
        ("Setup-1", "Setup-1.md"),
    ]


def test_files_and_variables_merge_too() -> None:
    world = World()
    draft = Draft()
    draft.insert(Node("f", "file", "f.png", fields={"size": 1}, body=world.keep(b"\xff"), path="f.png"), FILES)
    base = world.opened(draft)
    ours, theirs = Draft(base), Draft(base)
    ours.replace_node(Node(ROOT, "content", fields={"variables": {"one": 1}}))
    ours.replace_node(Node("f", "file", "f.png", fields={"size": 2}, body=world.keep(b"\xff\xfe"), path="f.png"))
    theirs.replace_node(Node(ROOT, "content", fields={"variables": {"two": 2}}))
    theirs.replace_node(Node("f", "file", "f.png", fields={"size": 1}, body=world.keep(b"\xfd"), path="f.png"))
    theirs.insert(Node("g", "file", "g.png", fields={"size": 0}, body=world.keep(b""), path="g.png"), FILES)
    merged = world.merged(base, ours, theirs)
    assert merged.draft.node(ROOT).fields in ({"variables": {"two": 2}}, {"variables": {"one": 1, "two": 2}})
    assert (merged.draft.node("f").body, merged.draft.node("f").fields) == (world.keep(b"\xfd"), {"size": 1})
    assert merged.draft.children(FILES) == ["f", "g"]
