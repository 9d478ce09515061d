"""Edits of the table of contents and renamed files move pages, and what only a person can do waits for that person."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pytest

from syncd.model.change_request import ChangeRequestCreate
from syncd.model.content_write import ContentWrite, UpdatePage
from syncd.model.page import walk_pages
from syncd.sync.integrate.resolve import resolve_pages
from syncd.sync.outcome import Applied
from syncd.sync.run.cycle import run_cycle
from syncd.sync.run.values import RunOptions
from tests.sync.conflicts import held, review

HEAD = "# Table of contents\n\n"
TABLE = (
    HEAD + "* [Home](README.md)\n* [Guide](guide/README.md)\n  * [Setup](guide/setup.md)\n"
    "  * [Usage](guide/usage.md)\n\n## Reference\n\n* [Options](options.md)\n* [Errors](errors.md)\n"
)
REFERENCE = "## Reference\n\n* [Options](options.md)\n* [Errors](errors.md)\n"


def pages(world: Any, request: str = "") -> dict[str, str]:
    """Ids of documents by path in the API."""
    with world.client() as client:
        read = client.change_request_content.get(world.space, request) if request else client.content.get(world.space)
        return {page.path or "": page.id for page, _ in walk_pages(read.pages) if page.type == "document"}


def table(world: Any, request: str = "") -> list[tuple[str, str, int]]:
    """What the platform lists: kind, title and depth."""
    with world.client() as client:
        read = client.change_request_content.get(world.space, request) if request else client.content.get(world.space)
    found: list[tuple[str, str, int]] = []
    pending = [(page, 0) for page in reversed(read.pages)]
    while pending:
        page, depth = pending.pop()
        found.append((page.type, page.title, depth))
        pending += [(child, depth + 1) for child in reversed(page.pages)]
    return found


def push(world: Any, fine: Any) -> list[Any]:
    results = world.push()
    fine(results)
    return [
        change for r in results if isinstance(r.outcome, Applied) for change in r.outcome.changes if r.flow == "propose"
    ]


def quiet(world: Any, fine: Any) -> None:
    """A second run of everything writes nothing, says nothing on the platform and leaves the branch where it is."""
    tip = world.git("rev-parse", "main")
    for _ in range(2):
        results = world.sync()
        fine(results)
        assert set(world.requests[-1]) <= {"GET"}
        assert not [r for r in results if isinstance(r.outcome, Applied) and r.flow != "propose"], results
    assert world.git("rev-parse", "main") == tip
    assert world.git("status", "--porcelain") == ""


def moved(world: Any, moves: dict[str, str], summary: str, files: dict[str, str] | None = None) -> None:
    """`git mv` each file, all at once, then write SUMMARY.md and other files, and commit."""
    clone = world.root / "clone"
    held = {old: (clone / old).read_bytes() for old in moves}
    for old in moves:
        (clone / old).unlink()
    for old, new in moves.items():
        (clone / new).parent.mkdir(parents=True, exist_ok=True)
        (clone / new).write_bytes(held[old])
    world.commit("Move", {"SUMMARY.md": summary, **(files or {})})


def after_the_merge(world: Any, fine: Any) -> None:
    tree = world.git("rev-parse", "main^{tree}")
    assert world.merge(1) == "merge"
    fine(world.pull())
    assert world.git("rev-parse", "main^{tree}") == tree
    quiet(world, fine)


def test_a_renamed_folder_and_a_renamed_retitled_and_rewritten_page_keep_their_ids(world: Any, fine: Any) -> None:
    world.clone()
    before = pages(world)
    summary = TABLE.replace("guide/", "handbook/").replace("* [Options](options.md)", "* [Settings](settings.md)")
    moves = {
        "guide/README.md": "handbook/README.md",
        "guide/setup.md": "handbook/setup.md",
        "guide/usage.md": "handbook/usage.md",
        "options.md": "settings.md",
    }
    home = "# Home\n\nWelcome. See [setup](handbook/setup.md) and [settings](settings.md).\n"
    moved(world, moves, summary, {"README.md": home})
    changes = push(world, fine)
    assert {change.verb for change in changes if change.noun == "page"} == {"update"}
    now = pages(world, "1")
    assert now["handbook"] == before["guide"]
    assert now["handbook/setup"] == before["guide/setup"]
    assert now["reference/settings"] == before["reference/options"]
    assert ("document", "Settings", 1) in table(world, "1")
    after_the_merge(world, fine)


@pytest.mark.long
def test_two_files_that_change_names_keep_their_pages_and_no_slug_is_left_over(world: Any, fine: Any) -> None:
    world.clone()
    before = pages(world)
    summary = TABLE.replace("(guide/setup.md)", "(guide/tmp.md)").replace("(guide/usage.md)", "(guide/setup.md)")
    moves = {"guide/setup.md": "guide/usage.md", "guide/usage.md": "guide/setup.md"}
    home = "# Home\n\nWelcome. See [setup](guide/usage.md).\n"
    moved(world, moves, summary.replace("(guide/tmp.md)", "(guide/usage.md)"), {"README.md": home})
    changes = push(world, fine)
    assert [(change.verb, change.noun) for change in changes[1:]] == [("update", "page")] * 3
    now = pages(world, "1")
    assert (now["guide/setup"], now["guide/usage"]) == (before["guide/usage"], before["guide/setup"])
    assert now.keys() == before.keys()
    after_the_merge(world, fine)


def test_a_change_request_that_takes_in_an_exchange_of_paths_has_its_pages_where_main_content_has_them(
    world: Any, fine: Any
) -> None:
    world.clone()
    both = RunOptions(branches=("main", "ring"))
    paths = ("guide/usage.md", "options.md", "errors.md")
    usage, options, errors = ((world.root / "clone" / path).read_text() for path in paths)
    world.git("checkout", "--quiet", "-b", "ring")
    summary = TABLE
    for title, former, later in zip(("Usage", "Options", "Errors"), paths, (*paths[2:], *paths[:2]), strict=True):
        summary = summary.replace(f"[{title}]({former})", f"[{title}]({later})")
    files = {"errors.md": f"Now.\n\n{usage}", "guide/usage.md": f"{options}\nNow.\n", "options.md": f"{errors}\nNow.\n"}
    moved(world, {}, summary.replace("[Errors]", "[Faults]"), files)
    world.git("checkout", "--quiet", "main")
    world.commit("Edit", {"guide/usage.md": f"{usage}\nMore.\n"})
    fine(world.run(both))
    with world.client() as client:
        found = client.change_requests.list(world.space, status="open")
        numbers = {name: one.number for one in found for name in ("ring", "main") if f"[{name}" in one.subject}
    assert world.merge(numbers["ring"]) == "merge"
    fine(world.run(both))
    change_ref = f"platform/changes/docs/{numbers['main']}"
    assert world.git("diff", "--name-only", "platform/main", change_ref).split() == ["errors.md"]
    text = world.git("show", "main:errors.md")
    assert (text.startswith("Now.\n"), text.endswith("\nMore.\n")) == (True, True)


def test_a_page_at_the_path_that_another_one_gets_on_the_platform_keeps_its_words(world: Any, fine: Any) -> None:
    """With a page below it, `options.md` is `options/README.md` on the platform, which is the file of another page."""
    world.clone()
    listed = "* [Errors](options/README.md)\n* [Options](options.md)\n  * [More](more.md)\n"
    files = {"more.md": "# More\n\nOf the options.\n"}
    moved(world, {"errors.md": "options/README.md"}, TABLE.replace(REFERENCE, f"## Reference\n\n{listed}"), files)
    words = {path: world.git("show", f"main:{path}") for path in ("options.md", "options/README.md", "more.md")}
    fine(world.sync())
    assert world.git("diff", "--stat", "main", "platform/changes/docs/1") == ""
    assert world.merge(1) == "merge"
    fine(world.sync())
    assert {path: world.git("show", f"platform/main:{path}") for path in words} == words
    assert [title for _, title, _ in table(world)][-3:] == ["Errors", "Options", "More"]
    quiet(world, fine)
    # Without the ids, the path that the platform names says less than the text.
    (world.root / "clone" / ".git" / "syncd-state.db").unlink()
    with world.client() as client:
        request = client.change_requests.create(world.space, ChangeRequestCreate(subject="Edit"))
    words["options/README.md"] = "# Errors\n\nEdited in a browser.\n"
    review(world, request.id, "options-1", words["options/README.md"])
    assert world.merge(2) == "merge"
    fine(world.sync())
    assert {path: world.git("show", f"platform/main:{path}") for path in words} == words


@pytest.mark.long
def test_order_and_nesting_are_moved_and_not_made_anew(world: Any, fine: Any) -> None:
    world.clone()
    before = pages(world)
    summary = (
        HEAD + "* [Home](README.md)\n* [Usage](guide/usage.md)\n  * [Guide](guide/README.md)\n"
        "    * [Setup](guide/setup.md)\n\n## Reference\n\n* [Errors](errors.md)\n* [Options](options.md)\n"
    )
    world.commit("Turn it around", {"SUMMARY.md": summary})
    changes = push(world, fine)
    assert sorted(change.message for change in changes if change.noun == "page") == ["parent, position"] * 2 + [
        "position"
    ]
    assert sorted(pages(world, "1").values()) == sorted(before.values())
    assert table(world, "1")[1:4] == [("document", "Usage", 0), ("document", "Guide", 1), ("document", "Setup", 2)]
    after_the_merge(world, fine)


@pytest.mark.long
def test_a_page_becomes_a_folder_and_a_page_again(world: Any, fine: Any) -> None:
    world.clone()
    before = pages(world)
    deep = TABLE.replace("* [Options](options.md)\n", "* [Options](options/README.md)\n  * [More](options/more.md)\n")
    moved(world, {"options.md": "options/README.md"}, deep, {"options/more.md": "# More\n"})
    assert {change.verb for change in push(world, fine) if change.noun == "page"} == {"create"}
    assert pages(world, "1")["reference/options"] == before["reference/options"]
    after_the_merge(world, fine)
    (world.root / "clone" / "options" / "more.md").unlink()
    moved(world, {"options/README.md": "options.md"}, TABLE)
    assert {change.verb for change in push(world, fine) if change.noun == "page"} == {"delete"}
    assert pages(world, "2")["reference/options"] == before["reference/options"]
    assert world.merge(2) == "merge"
    fine(world.pull())
    quiet(world, fine)


def test_a_page_that_becomes_a_folder_is_one_page_in_its_change_request(world: Any, fine: Any) -> None:
    """The platform has no files, so there is nothing to write; what is read back lies where the branch has it."""
    world.clone()
    world.commit("Edit", {"errors.md": "# Errors explained\n\nMine.\n"})
    fine(world.sync())
    moved(world, {"options.md": "options/README.md"}, TABLE.replace("options.md", "options/README.md"))
    fine(world.sync())
    assert world.git("diff", "--stat", "main", "platform/changes/docs/1") == ""
    quiet(world, fine)


@pytest.mark.long
def test_a_deleted_page_that_was_renamed_and_rewritten_meanwhile_comes_back_into_the_change_request(
    world: Any, fine: Any
) -> None:
    """The platform lets the deletion stand when it updates the change request; a merge must not take the words away."""
    world.clone()
    world.commit("Delete", {"SUMMARY.md": TABLE.replace("* [Options](options.md)\n", "")}, gone=["options.md"])
    fine(world.sync())
    with world.client() as client:
        other = client.change_requests.create(world.space, ChangeRequestCreate(subject="Theirs"))
        document = {"markdown": "# Options\n\nAll of this is new, in a paragraph of its own.\n"}
        update = {"page": pages(world)["reference/options"], "slug": "choices", "document": document}
        client.change_requests.write_content(
            world.space, other.id, ContentWrite(changes=(UpdatePage.model_validate(update),))
        )
    world.merge(other.number)
    fine(world.sync())
    fine(world.sync())
    fine(world.sync())
    assert "All of this is new" in world.git("grep", "-h", "new", "main")
    world.merge(1)
    fine(world.sync())
    assert "All of this is new" in world.git("grep", "-h", "new", "main")
    assert world.git("diff", "main", "platform/main") == ""


@pytest.mark.long
def test_a_page_of_main_content_that_the_branch_renamed_is_not_sent_to_a_change_request_that_lacks_it(
    world: Any, fine: Any
) -> None:
    world.clone()
    world.commit("Mine", {"options.md": "# Options\n\n* mine\n* second\n"})
    fine(world.sync())
    listed = TABLE + "* [New](new.md)\n"
    theirs = {"options.md": "# Options\n\n* theirs\n* second\n", "new.md": "# New\n\nNew.\n", "SUMMARY.md": listed}
    world.edit_on_platform(theirs)
    assert held(world.sync()) == ["options.md"]
    with world.workspace() as workspace:
        resolve_pages(workspace, "main", {"options.md": "ours"})
    moved(world, {"new.md": "named.md"}, listed.replace("new.md", "named.md"))
    review(world, "1", "errors", "# Errors explained\n\nReviewed.\n")
    fine(world.sync())
    fine(world.sync())
    assert [title for _, title, _ in table(world, "1")].count("New") == 1
    assert pages(world)["reference/new"] in pages(world, "1").values()


@pytest.mark.long
def test_another_page_becomes_home(world: Any, fine: Any) -> None:
    world.clone()
    before = pages(world)
    summary = HEAD + "* [Options](README.md)\n* [Home](about.md)\n* [Guide](guide/README.md)\n  * [Setup](guide/setup.md)\n  * [Usage](guide/usage.md)\n\n## Reference\n\n* [Errors](errors.md)\n"  # fmt: skip  # noqa: E501
    moved(world, {"README.md": "about.md", "options.md": "README.md"}, summary)
    assert {change.verb for change in push(world, fine) if change.noun == "page"} == {"update"}
    now = pages(world, "1")
    assert sorted(now.values()) == sorted(before.values())
    assert now["about"] == before[""]
    after_the_merge(world, fine)


@pytest.mark.long
def test_children_of_a_deleted_page_are_moved_out_before_it_goes(world: Any, fine: Any) -> None:
    world.clone()
    before = pages(world)
    summary = TABLE.replace("* [Guide](guide/README.md)\n", "").replace("  * [", "* [")
    home = {"README.md": "# Home\n\nWelcome.\n"}
    world.commit("Flatten", {"SUMMARY.md": summary, **home}, gone=["guide/README.md"])
    push(world, fine)
    now = pages(world, "1")
    assert now.keys() == {"", "setup", "usage", "reference/options", "reference/errors"}
    assert now["setup"] == before["guide/setup"]
    after_the_merge(world, fine)


@pytest.mark.parametrize(
    "where", ["table", pytest.param("heading", marks=pytest.mark.long), pytest.param("both", marks=pytest.mark.long)]
)
def test_a_retitled_page_takes_one_write(world: Any, fine: Any, where: str) -> None:
    world.clone()
    files: dict[str, str] = {}
    if where != "heading":
        files["SUMMARY.md"] = TABLE.replace("[Options]", "[Settings]")
    if where != "table":
        files["options.md"] = "# Settings\n\n* first\n* second\n"
    world.commit("Retitle", files)
    push(world, fine)
    assert world.requests[-1]["POST"] == 2, "one creates the change request, one writes"
    assert ("document", "Options" if where == "heading" else "Settings", 1) in table(world, "1")
    assert world.git("rev-parse", "platform/changes/docs/1") == world.git("rev-parse", "main")
    after_the_merge(world, fine)


def test_a_new_page_whose_heading_is_not_its_title_takes_no_second_look(world: Any, fine: Any) -> None:
    world.clone()
    world.commit("Add", {"new.md": "# A long heading\n", "SUMMARY.md": TABLE + "* [Short](new.md)\n"})
    push(world, fine)
    assert world.requests[-1]["POST"] == 3
    assert ("document", "Short", 1) in table(world, "1")
    assert world.git("rev-parse", "platform/changes/docs/1") == world.git("rev-parse", "main")


NEW_GROUP = TABLE.replace(REFERENCE, "## Reference\n\n* [Options](options.md)\n\n## Trouble\n\n* [Errors](errors.md)\n")


def reports(changes: list[Any]) -> list[str]:
    return [change.message for change in changes if change.verb == "report"]


@pytest.mark.long
def test_a_new_group_waits_for_a_person_and_survives_every_pull(world: Any, fine: Any) -> None:
    world.clone()
    world.commit("Group", {"SUMMARY.md": NEW_GROUP, "errors.md": "# Errors explained\n\nMore words.\n"})
    changes = push(world, fine)
    told = ["Create the group 'Trouble' after the group 'Reference'; the next push moves a page into it."]
    assert reports(changes) == told
    with world.client() as client:
        description = client.change_requests.get(world.space, "1").description
        assert description is not None
        assert told[0] in description.text()
    assert world.git("show", "platform/changes/docs/1:SUMMARY.md") != NEW_GROUP
    assert reports(push(world, fine)) == told
    assert world.requests[-1] == {"GET": 2}
    quiet(world, fine)
    assert world.merge(1) == "merge"
    fine(world.pull())
    assert world.git("show", "main:SUMMARY.md") == NEW_GROUP
    assert "More words." in world.git("show", "platform/main:errors.md")
    for _ in range(2):
        assert reports(push(world, fine)) == told
        assert set(world.requests[-1]) <= {"GET"}
    quiet(world, fine)
    world.edit_on_platform({"SUMMARY.md": NEW_GROUP, "errors.md": "# Errors explained\n\nMore words.\n"})
    fine(world.pull())
    assert world.git("rev-parse", "main^{tree}") == world.git("rev-parse", "platform/main^{tree}")
    assert push(world, fine) == []
    quiet(world, fine)


def test_what_a_reviewer_changes_comes_in_beside_what_waits_for_a_person(world: Any, fine: Any) -> None:
    from syncd.model.content_write import ContentWrite, Markdown, UpdatePage

    world.clone()
    world.commit("Group", {"SUMMARY.md": NEW_GROUP, "errors.md": "# Errors explained\n\nMore words.\n"})
    push(world, fine)
    with world.client() as client:
        text = Markdown(markdown="# Errors explained\n\nBetter words.\n")
        update = UpdatePage(page=pages(world, "1")["errors"], document=text)
        client.change_requests.write_content(world.space, "1", ContentWrite(changes=(update,)))
    fine(world.sync())
    assert "Better words." in world.git("show", "main:errors.md")
    assert world.git("show", "main:SUMMARY.md") == NEW_GROUP
    quiet(world, fine)
    assert world.merge(1) == "merge"
    fine(world.sync())
    assert world.git("show", "main:SUMMARY.md") == NEW_GROUP
    assert "Better words." in world.git("show", "main:errors.md")
    quiet(world, fine)


def test_manual_steps_alone_open_no_change_request(world: Any, fine: Any) -> None:
    world.clone()
    world.commit("Rename a group", {"SUMMARY.md": TABLE.replace("## Reference", "## Lookup")})
    for _ in range(2):
        assert reports(push(world, fine)) == ["Rename the group 'Reference' to 'Lookup'."]
    assert world.requests[-1] == {"GET": 1}, "the second time, nothing has to be read for it"
    fine(world.pull())
    assert "## Lookup" in world.git("show", "main:SUMMARY.md")
    world.edit_on_platform(
        {"SUMMARY.md": TABLE.replace("## Reference", "## Lookup"), "options.md": "# Options\n\nNew.\n"}
    )
    fine(world.pull())
    assert push(world, fine) == []
    assert "New." in world.git("show", "main:options.md")


@pytest.mark.long
def test_a_replaced_and_a_deleted_file_and_reusable_content_survive_a_pull(world: Any, fine: Any) -> None:
    world.clone()
    picture = b"\x89PNG\r\n\x1a\n quite another picture"
    world.commit("Replace", {".gitbook/assets/picture.png": picture, "options.md": "# Options\n\nMine.\n"})
    assert reports(push(world, fine)) == ["Replace this file, or add it under a new name: the API cannot replace it."]
    quiet(world, fine)
    assert world.merge(1) == "merge"
    fine(world.pull())
    assert (world.root / "clone" / ".gitbook/assets/picture.png").read_bytes() == picture
    quiet(world, fine)


class Stopped(BaseException):
    """The run dies here."""


class Stopping:
    """Change requests whose second content write never leaves."""

    def __init__(self, requests: Any) -> None:
        self.requests, self.writes_left = requests, 1

    def __getattr__(self, name: str) -> Any:
        return getattr(self.requests, name)

    def write_content(self, *args: Any) -> Any:
        if not self.writes_left:
            raise Stopped
        self.writes_left -= 1
        return self.requests.write_content(*args)


def test_a_run_that_stops_between_two_requests_is_completed_without_inserting_a_page_twice(
    world: Any, fine: Any
) -> None:
    world.clone()
    before = pages(world)
    moves = {"guide/setup.md": "guide/usage.md", "guide/usage.md": "guide/setup.md"}
    summary = TABLE.replace("(guide/setup.md)", "(t)").replace("(guide/usage.md)", "(guide/setup.md)")
    new = {f"new-{n}.md": f"# New {n}\n" for n in range(60)}
    listed = "".join(f"* [New {n}](new-{n}.md)\n" for n in range(60))
    home = {"README.md": "# Home\n\nWelcome. See [setup](guide/usage.md).\n"}
    moved(world, moves, summary.replace("(t)", "(guide/usage.md)") + listed, new | home)
    with world.workspace() as workspace:
        workspace.client.__dict__["change_requests"] = Stopping(workspace.client.change_requests)
        with pytest.raises(Stopped):
            run_cycle(workspace, RunOptions(integrate=False))
    fine(world.sync())
    now = pages(world, "1")
    assert (now["guide/setup"], now["guide/usage"]) == (before["guide/usage"], before["guide/setup"])
    assert len(now) == len(before) + 60
    assert world.git("rev-parse", "platform/changes/docs/1^{tree}") == world.git("rev-parse", "main^{tree}")
    quiet(world, fine)


@pytest.mark.long
def test_pages_below_a_link_stop_no_other_change(world: Any, fine: Any) -> None:
    world.clone()
    summary = TABLE.replace("* [Errors](errors.md)\n", "* [Site](https://example.com)\n  * [Errors](errors.md)\n")
    world.commit("Below a link", {"SUMMARY.md": summary, "options.md": "# Options\n\nMine.\n"})
    assert reports(push(world, fine)) == ["Add the link 'Site' to 'https://example.com' after the page 'Options'."]
    quiet(world, fine)


@dataclass(eq=False)
class Item:
    """A line of the writer's table of contents; `mark` stands for the page through all its names."""

    title: str
    path: str = ""
    mark: str = ""
    children: list["Item"] = field(default_factory=list)

    def lines(self, depth: int = 0) -> Iterator[str]:
        yield f"{'  ' * depth}* [{self.title}]({self.path})" if self.path else f"{'  ' * depth}* {self.title}"
        for child in self.children:
            yield from child.lines(depth + 1)

    def below(self) -> Iterator["Item"]:
        for child in self.children:
            yield child
            yield from child.below()


class Writer:
    """Changes the structure of a clone at random, and remembers which page is which."""

    def __init__(self, world: Any, seed: int) -> None:
        self.world, self.chance, self.made = world, Random(seed), 0
        below = [Item("Setup", "guide/setup.md", "setup"), Item("Usage", "guide/usage.md", "usage")]
        grouped = [Item("Options", "options.md", "options"), Item("Errors", "errors.md", "errors")]
        home, guide = Item("Home", "README.md", "home"), Item("Guide", "guide/README.md", "guide", below)
        self.root = Item("", children=[home, guide, Item("Reference", children=grouped)])

    def documents(self) -> list[Item]:
        return [item for item in self.root.below() if item.path and item.mark != "home"]

    def edit(self) -> None:
        """One to three edits; a page with another file, title and text at once would be another page."""
        telling = self.chance.choice([self.retitle, self.swap, self.rewrite])
        for _ in range(self.chance.randint(1, 3)):
            self.chance.choice([self.move, self.rename, self.add, self.delete, telling])()

    def holder(self, item: Item) -> Item:
        return next(each for each in (self.root, *self.root.below()) if item in each.children)

    def move(self) -> None:
        item = self.chance.choice(self.documents())
        targets = [self.root, *(each for each in self.root.below() if each is not item and each not in item.below())]
        self.holder(item).children.remove(item)
        target = self.chance.choice(targets)
        target.children.insert(self.chance.randint(target is self.root, len(target.children)), item)

    def file(self, path: str) -> Path:
        return Path(self.world.root) / "clone" / path

    def rename(self) -> None:
        item = self.chance.choice(self.documents())
        self.made += 1
        folder, ending = self.chance.choice(["", "guide/", "deep/er/"]), self.chance.choice([".md", "/README.md"])
        path = f"{folder}name-{self.made}{ending}"
        self.file(path).parent.mkdir(parents=True, exist_ok=True)
        self.file(item.path).rename(self.file(path))
        item.path = path

    def retitle(self) -> None:
        self.made += 1
        self.chance.choice(self.documents()).title = f"Title {self.made}"

    def swap(self) -> None:
        one, other = self.chance.sample(self.documents(), 2)
        held = self.file(one.path).read_bytes()
        self.file(one.path).write_bytes(self.file(other.path).read_bytes())
        self.file(other.path).write_bytes(held)
        one.path, other.path = other.path, one.path

    def add(self) -> None:
        self.made += 1
        item = Item(f"New {self.made}", f"new-{self.made}.md", f"new-{self.made}")
        self.file(item.path).write_text(f"# Heading {self.made}\n\nWords of page {self.made}.\n")
        self.chance.choice([self.root, *self.root.below()]).children.append(item)

    def delete(self) -> None:
        if len(self.documents()) < 4:
            return
        item = self.chance.choice(self.documents())
        holder = self.holder(item)
        place = holder.children.index(item)
        holder.children[place : place + 1] = item.children
        self.file(item.path).unlink()

    def rewrite(self) -> None:
        item = self.chance.choice(self.documents())
        self.made += 1
        self.file(item.path).write_text(f"# {item.title}\n\nOther words {self.made}.\n")

    def commit(self) -> None:
        lines = [line for item in self.root.children for line in item.lines()]
        self.made += 1
        self.file("README.md").write_text(f"# Home\n\nWelcome {self.made}.\n")
        self.world.commit("Edit", {"SUMMARY.md": HEAD + "\n".join(lines) + "\n"})


def ids(world: Any) -> dict[str, str]:
    with world.workspace() as workspace:
        seen = workspace.store.read_last_seen(world.space)
        assert seen is not None
        return {anchor.path: anchor.id for anchor in seen.anchors.values() if anchor.kind == "page"}


def random_history(world: Any, fine: Any, seed: int, rounds: int) -> None:
    world.clone()
    writer = Writer(world, seed)
    known = ids(world)
    for number in range(1, rounds + 1):
        before = {item.mark: known[item.path] for item in writer.root.below() if item.path}
        writer.edit()
        writer.commit()
        if not push(world, fine):
            continue
        assert not reports(push(world, fine)), "pages below the group that exists need nobody"
        with world.client() as client:
            (request,) = client.change_requests.list(world.space, status="open")
        assert world.merge(request.number) == "merge"
        fine(world.pull())
        assert world.git("diff", "platform/main", "main") == "", number
        known = ids(world)
        for item in writer.root.below():
            if item.path:
                assert known[item.path] == before.get(item.mark, known[item.path]), (number, item)
        quiet(world, fine)


def test_after_random_edits_both_sides_are_equal_and_every_page_that_is_left_is_the_same_page(
    world: Any, fine: Any
) -> None:
    random_history(world, fine, seed=1, rounds=2)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 22))
def test_many_random_edits_keep_every_page(world: Any, fine: Any, seed: int) -> None:
    random_history(world, fine, seed=seed, rounds=12)
