"""Every page that steps give another path on the platform is found before they are sent."""

from dataclasses import dataclass, field
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from syncd.plan.propose.moved_pages import find_moved_pages
from syncd.plan.propose.steps import ROOT, AddFile, DeleteStep, InsertStep, Step, UpdateStep

PATHS = {"home": "README.md", "a": "a/README.md", "b": "a/b.md", "c": "c.md", "d": "c/d/README.md", "e": "c/d/e.md"}


@dataclass
class PageTree:
    """A space as the product lays it out: the first page is README.md, a page with others below it a folder."""

    slugs: dict[str, str] = field(default_factory=dict)
    children: dict[str, list[str]] = field(default_factory=lambda: {ROOT: []})

    def paths(self) -> dict[str, str]:
        found: dict[str, str] = {}
        pending = [(id, "") for id in self.children[ROOT]]
        while pending:
            id, above = pending.pop()
            path = f"{above}{self.slugs[id]}"
            below = self.children[id]
            is_home = self.children[ROOT][0] == id
            found[id] = "README.md" if is_home else f"{path}/README.md" if below else f"{path}.md"
            pending += [(child, f"{path}/") for child in below]
        return found

    def insert(self, id: str, slug: str, into: str, at: int | None) -> None:
        self.slugs[id], self.children[id] = slug, []
        self._place(id, into, at)

    def move(self, id: str, into: str, at: int | None) -> None:
        for children in self.children.values():
            if id in children:
                children.remove(id)
        self._place(id, into, at)

    def delete(self, id: str) -> None:
        self.move(id, ROOT, None)
        self.children[ROOT].remove(id)

    def find_parent(self, id: str) -> str:
        return next(above for above, children in self.children.items() if id in children)

    def list_below(self, id: str) -> set[str]:
        return {id}.union(*(self.list_below(child) for child in self.children[id]))

    def _place(self, id: str, into: str, at: int | None) -> None:
        children = self.children[into]
        children.insert(len(children) if at is None else at, id)


def grow(chance: Random) -> PageTree:
    tree = PageTree()
    for number in range(chance.randint(2, 12)):
        # Nothing stands below the first page: where that would be, is no matter of its slug.
        tree.insert(f"i{number}", f"s{number}", chance.choice([ROOT, *[id for id in tree.slugs if id != "i0"]]), None)
    return tree


def play(chance: Random, tree: PageTree, number: int) -> Step:
    home, *others = [tree.children[ROOT][0], *tree.slugs]
    id, at = chance.choice(list(tree.children.keys() - {ROOT})), chance.choice([None, 0])
    free = [one for one in others if one not in tree.list_below(id) and one != home]
    into = chance.choice([ROOT, *free])
    match chance.choice(["insert", "move", "reorder", "slug", "delete"]):
        case "insert":
            tree.insert(f"n{number}", f"n{number}", into, at)
            return InsertStep(f"n{number}.md", "", "", f"n{number}", into, at)
        case "move":
            tree.move(id, into, at)
            return UpdateStep(id, "", into=into, at=at)
        case "reorder":
            tree.move(id, tree.find_parent(id), 0)
            return UpdateStep(id, "", at=0)
        case "delete" if not tree.children[id] and len(tree.children[ROOT]) > 1:
            tree.delete(id)
            del tree.children[id], tree.slugs[id]
            return DeleteStep(id, "")
        case _:
            tree.slugs[id] = f"r{number}"
            return UpdateStep(id, "", slug=f"r{number}")


@given(st.randoms(use_true_random=False))
def test_every_page_that_gets_another_path_is_found(chance: Random) -> None:
    tree = grow(chance)
    before = tree.paths()
    steps = [play(chance, tree, number) for number in range(chance.randint(1, 4))]
    after = tree.paths()
    changed = {id for id in before.keys() & after.keys() if before[id] != after[id]}
    assert changed <= find_moved_pages(steps, before), (before, steps, after)


def test_texts_and_files_move_nothing() -> None:
    steps: list[Step] = [UpdateStep("c", "c.md", oid="1", title="C"), AddFile("x.png", "2")]
    assert find_moved_pages(steps, PATHS) == frozenset()


def test_only_what_is_around_a_page_moves_with_it() -> None:
    assert find_moved_pages([UpdateStep("b", "b.md", into="c")], PATHS) == {"a", "b", "c"}
    assert find_moved_pages([UpdateStep("d", "d.md", slug="f")], PATHS) == {"d", "e"}
    assert find_moved_pages([InsertStep("n.md", "", "N", "n", "c", None)], PATHS) == {"c"}
    assert find_moved_pages([DeleteStep("b", "a/b.md")], PATHS) == {"a", "b"}


def test_every_page_may_move_where_the_first_one_goes() -> None:
    assert find_moved_pages([DeleteStep("home", "README.md")], PATHS) == PATHS.keys()
