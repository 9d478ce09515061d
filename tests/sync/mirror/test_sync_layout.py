"""The layout between Git and a living platform: what moves moves once, and what only Git knows stays."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from syncd.model.blob_id import compute_blob_id
from syncd.model.change_request import ChangeRequestCreate
from syncd.model.content_write import ContentWrite, DeletePage, InsertPage, UpdatePage
from syncd.model.file import File, GitBlob
from syncd.model.page import walk_pages
from syncd.model.revision import Revision
from syncd.platform.server import BackgroundServer
from syncd.platform.services.directory.read import import_directory
from syncd.platform.settings import PlatformSettings
from syncd.sync.mirror.anchors import recover_anchors
from syncd.sync.mirror.source import ProposedContent
from syncd.sync.outcome import Applied, Held
from syncd.sync.run.cycle import run_cycle
from syncd.sync.run.values import RunOptions


@contextmanager
def served(world: Any, **settings: Any) -> Iterator[Any]:
    """The same platform as another one would show it."""
    with BackgroundServer(world.storage, PlatformSettings(**settings)) as url:
        yield replace(world, url=url, requests=[])


def grown(world: Any, files: dict[str, str | bytes], gone: tuple[str, ...] = ()) -> None:
    """Main content as a directory says from now on."""
    world.edit_on_platform(files)
    for path in gone:
        (world.root / "elsewhere" / path).unlink()
    import_directory(world.storage, world.root / "elsewhere", space=world.space)


def merged(world: Any, *operations: Any) -> None:
    """A change request of somebody else, merged."""
    with world.client() as client:
        request = client.change_requests.create(world.space, ChangeRequestCreate(subject="Theirs"))
        client.change_requests.write_content(world.space, request.id, ContentWrite(changes=operations))
        assert client.change_requests.merge(world.space, request.id).result == "merge"


def page_called(world: Any, title: str) -> str:
    with world.client() as client:
        return next(page.id for page, _ in walk_pages(client.content.get(world.space).pages) if page.title == title)


def listed(world: Any, commit: str = "main") -> list[str]:
    return str(world.git("ls-tree", "-r", "--name-only", commit)).splitlines()


def renames(world: Any) -> list[tuple[str, str]]:
    """What Git itself sees in the last mirror commit."""
    fields = world.git("diff", "-M", "--raw", "-z", "platform/main^", "platform/main").split("\0")
    return [(fields[at + 1], fields[at + 2]) for at, field in enumerate(fields) if field.endswith(" R100")]


@pytest.mark.parametrize("edited", [True, False], ids=["with an edit", "alone"])
def test_a_root_that_a_writer_changes_takes_everything_along(world: Any, fine: Any, edited: bool) -> None:
    clone = world.clone()
    before = listed(world)
    (clone / "docs").mkdir()
    for path in before:
        (clone / "docs" / path).parent.mkdir(parents=True, exist_ok=True)
        world.git("mv", path, f"docs/{path}")
    mine = {"docs/options.md": "# Options\n\n* first\n* second\n* mine\n"} if edited else {}
    world.commit("Move", {".gitbook.yaml": "root: ./docs/\nredirects:\n  old: options.md\n", **mine})
    fine(world.sync())
    expected = sorted([".gitbook.yaml", *(f"docs/{path}" for path in before)])
    assert listed(world, "platform/main") == expected, "main content follows at once"
    if edited:
        assert listed(world, "platform/changes/docs/1") == expected
        world.merge(1)
        fine(world.sync())
    summary = (clone / "docs" / "SUMMARY.md").read_text() + "* [New](new.md)\n"
    world.edit_on_platform({"errors.md": "# Errors explained\n\nTheirs.\n", "new.md": "# New\n", "SUMMARY.md": summary})
    results = world.sync()
    fine(results)
    assert listed(world) == listed(world, "platform/main") == sorted([*expected, "docs/new.md"])
    assert (clone / "docs" / "errors.md").read_text().endswith("Theirs.\n")
    assert (clone / "docs" / "SUMMARY.md").read_text() == summary
    assert (clone / ".gitbook.yaml").read_text().startswith("root: ./docs/\nredirects:\n")
    assert not [result for result in world.sync() if isinstance(result.outcome, Applied)]


def test_a_settings_file_that_cannot_be_read_is_named_and_stops_only_what_needs_it(world: Any) -> None:
    clone = world.clone()
    world.commit("Break", {".gitbook.yaml": "root: docs\nredirects: [\n"})
    world.edit_on_platform({"options.md": "# Options\n\nTheirs.\n"})
    results = world.sync()
    (held,) = [result.outcome for result in results if result.outcome.exit_code]
    assert isinstance(held, Held)
    assert held.exit_code == 65
    assert ".gitbook.yaml:3:1:" in held.why
    assert (clone / "options.md").read_text().endswith("Theirs.\n")


def test_variables_and_tags_go_when_the_platform_has_none_any_more(world: Any, fine: Any) -> None:
    grown(world, {".gitbook/vars.yaml": "b: 1\na: 'no'\n", ".gitbook/tags.yaml": "- tag: x\n  label: X\n"})
    clone = world.clone()
    assert (clone / ".gitbook" / "vars.yaml").read_text() == "b: 1\na: 'no'\n"
    grown(world, {}, gone=(".gitbook/vars.yaml", ".gitbook/tags.yaml"))
    fine(world.sync())
    assert listed(world) == [path for path in listed(world) if "vars" not in path and "tags" not in path]
    world.commit("Mine", {".gitbook/vars.yaml": "mine: 1\n", "errors.md": "# Errors explained\n\nMine.\n"})
    fine(world.sync())
    world.merge(1)
    fine(world.sync())
    world.edit_on_platform({"errors.md": "# Errors explained\n\nMine.\n", "options.md": "# Options\n\nTheirs.\n"})
    fine(world.sync())
    assert (clone / ".gitbook" / "vars.yaml").read_text() == "mine: 1\n"


def test_tags_that_are_the_same_keep_their_bytes(world: Any, fine: Any) -> None:
    grown(
        world, {".gitbook/tags.yaml": "- tag: x\n  label: X\n- tag: z\n", "errors.md": "---\ntags: [x]\n---\n\n# E\n"}
    )
    clone = world.clone()
    assert (clone / ".gitbook" / "tags.yaml").read_text() == "- tag: x\n  label: X\n- tag: z\n  label: z\n"
    assert "tags: [x]" in (clone / "errors.md").read_text()
    own = "# ours\n- {label: X, tag: x, color: default}\n- tag: z\n"
    world.commit("Spell", {".gitbook/tags.yaml": own})
    grown(world, {"options.md": "# Options\n\nTheirs.\n"})
    fine(world.sync())
    assert (clone / "options.md").read_text().endswith("Theirs.\n")
    assert (clone / ".gitbook" / "tags.yaml").read_text() == own


@pytest.mark.parametrize("git", [True, False], ids=["paths named", "paths derived"])
def test_a_page_turns_into_a_folder_and_back_and_links_follow(world: Any, fine: Any, git: bool) -> None:
    grown(world, {"errors.md": "# Errors explained\n\nSee [o](options.md#x).\n"})
    with served(world, git=git) as here:
        clone = here.clone()
        folder = "" if git else "reference/"
        assert (clone / folder / "options.md").exists()
        deep = {"markdown": "# Deep\n\n[up](/pages/reference/options)\n"}
        merged(here, InsertPage(document=deep, into=page_called(here, "Options"), slug="deep"))
        fine(here.sync())
        assert renames(here) == [(f"{folder}options.md", f"{folder}options/README.md")]
        assert "[o](options/README.md#x)" in (clone / folder / "errors.md").read_text()
        merged(here, DeletePage(page=page_called(here, "Deep")))
        fine(here.sync())
        assert renames(here) == [(f"{folder}options/README.md", f"{folder}options.md")]
        assert "[o](options.md#x)" in (clone / folder / "errors.md").read_text()
        assert not [result for result in here.sync() if isinstance(result.outcome, Applied)]


def _without_unknown_keys(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("mine:"))


def _with_broken_links(text: str) -> str:
    return text.replace("](setup.md)", "](/broken/pages/1)")


def test_a_link_to_what_only_the_platform_knows_breaks_in_git_when_it_breaks_there(world: Any, fine: Any) -> None:
    works, broken = "https://app.gitbook.com/s/abc/intro", "/broken/spaces/abc/pages/def"
    text = f"# Usage\n\nSee [other]({works}) and [setup](setup.md) here.\n"
    grown(world, {"guide/usage.md": text})
    with served(world, git=False, rewrite=lambda now: now.replace(works, broken)) as here:
        clone = here.clone()
        theirs = text.replace("here.", "there.")
        merged(here, UpdatePage(page=page_called(here, "Usage"), document={"markdown": theirs}))
        fine(here.sync())
        assert (clone / "guide" / "usage.md").read_text() == theirs.replace(works, broken)


@pytest.mark.parametrize(
    ("rewrite", "kept"), [(_without_unknown_keys, "mine: 'yes'  # ours\n"), (_with_broken_links, "[setup](setup.md)")]
)
def test_what_the_platform_drops_on_the_way_stays_in_git(
    world: Any, fine: Any, rewrite: Callable[[str], str], kept: str
) -> None:
    text = "---\nmine: 'yes'  # ours\ndescription: D\n---\n\n# Usage\n\nSee [setup](setup.md) here.\n"
    grown(world, {"guide/usage.md": text})
    with served(world, git=False, rewrite=rewrite) as here:
        clone = here.clone()
        theirs = text.replace("here.", "there.").replace("description: D", "description: E")
        merged(here, UpdatePage(page=page_called(here, "Usage"), document={"markdown": theirs}))
        results = here.sync()
        fine(results)
        assert (clone / "guide" / "usage.md").read_text() == theirs
        assert kept in theirs
        told = [note for result in results for note in getattr(result.outcome, "notes", ())]
        assert any("guide/usage.md" in note and "setup.md" in note for note in told) == (rewrite is _with_broken_links)


@pytest.mark.parametrize("blobs", [True, False], ids=["told by blob", "told by size"])
def test_files_of_one_name_are_told_apart_when_the_store_is_lost(world: Any, blobs: bool) -> None:
    world.clone()
    names = {
        ".gitbook/assets/a.png": b"one",
        ".gitbook/assets/a (1).png": b"four",
        ".gitbook/assets/a (2).png": b"seven",
    }
    commit = world.commit("Files", {**names})
    bodies = {"f7": b"seven", "f4": b"four", "f1": b"one"}
    with world.workspace() as workspace:
        for present in (("f7", "f4", "f1"), ("f7", "f4"), ("f7",)):
            files = tuple(
                File(
                    id=id,
                    name="a.png",
                    size=len(bodies[id]),
                    git=GitBlob(oid=compute_blob_id(bodies[id]), path=".gitbook/assets/a.png") if blobs else None,
                )
                for id in present
            )
            anchors = recover_anchors(
                workspace.repository, workspace.bindings[0], Revision(id="r", files=files), commit
            )
            assert {id: names[anchors[id].path] for id in present} == {id: bodies[id] for id in present}


def test_a_page_in_a_folder_of_its_own_is_a_writers_choice_unless_its_children_came_or_went(world: Any) -> None:
    clone = world.clone()
    world.git("mv", "errors.md", "errors-moved.md")
    (clone / "errors").mkdir()
    world.git("mv", "errors-moved.md", "errors/README.md")
    summary = (clone / "SUMMARY.md").read_text().replace("(errors.md)", "(errors/README.md)")
    alone = world.commit("Move", {"SUMMARY.md": summary})
    lines = summary.splitlines()
    at = next(index for index, line in enumerate(lines) if "(errors/README.md)" in line)
    indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    lines.insert(at + 1, f"{indent}  * [Below](errors/below.md)")
    above = world.commit("Add", {"SUMMARY.md": "\n".join(lines) + "\n", "errors/below.md": "# Below\n"})
    page = page_called(world, "Errors")
    with world.workspace() as workspace, world.client() as client:
        revision = client.content.get(world.space)
        found = [
            recover_anchors(workspace.repository, workspace.bindings[0], revision, c)[page] for c in (alone, above)
        ]
    assert [anchor.path for anchor in found] == ["errors/README.md"] * 2
    assert [bool(anchor.form) for anchor in found] == [True, False]


def test_a_change_request_has_reusable_content_of_its_own(world: Any) -> None:
    note = "---\ntitle: Note\n---\n\nOne.\n"
    grown(world, {".gitbook/includes/note.md": note})
    with world.client() as client:
        request = client.change_requests.create(world.space, ChangeRequestCreate(subject="Mine"))
        grown(world, {".gitbook/includes/note.md": note.replace("One", "Two")})
        source = ProposedContent(client, world.space, request.id)
        (content,) = source.content().reusable_contents
        assert source.include(content.id).markdown == note
        assert client.content.get_reusable_content(world.space, content.id).markdown == note.replace("One", "Two")


def test_bytes_that_are_not_the_platforms_stay_in_git(world: Any, fine: Any) -> None:
    clone = world.clone()
    mine = {
        "options.md": b"\xef\xbb\xbf# Options\r\n\r\n* first\r\n* third\r\n",
        "errors.md": b"---\r\nicon: bolt\r\n---\r\n\r\n# Errors explained\r\n\r\n\tcode\r\n\r\nno end",
    }
    world.commit("Windows", dict(mine))
    fine(world.sync())
    with world.client() as client:
        texts = [
            client.change_request_content.get_page(world.space, "1", page_called(world, t)).markdown
            for t in ("Options", "Errors")
        ]
    assert texts == ["# Options\n\n* first\n* third\n", mine["errors.md"].decode().replace("\r\n", "\n")]
    world.merge(1)
    fine(world.sync())
    assert {path: (clone / path).read_bytes() for path in mine} == mine
    assert not [result for result in world.sync() if isinstance(result.outcome, Applied)]


def test_a_page_that_is_not_utf8_is_named(world: Any) -> None:
    world.clone()
    world.commit("Latin", {"options.md": b"# Options\n\ncaf\xe9\n"})
    (held,) = [result.outcome for result in world.push() if result.outcome.exit_code]
    assert isinstance(held, Held)
    assert (held.exit_code, "options.md:3:4: is not UTF-8" in held.why) == (65, True)


@pytest.fixture
def pull_other(world: Any, fine: Any) -> Callable[[], None]:
    """Brings a second clone of the same branch what the first has, by Git, then what the platform has."""
    world.clone()
    world.git("clone", "--quiet", str(world.root / "clone"), str(world.root / "other"))

    def pull() -> None:
        world.git("pull", "--quiet", "--ff-only", clone="other")
        with world.workspace("other") as workspace:
            fine(run_cycle(replace(workspace, instance="0a1b2d", branch="main"), RunOptions(propose=False)))

    pull()
    return pull


def test_a_page_that_another_clone_has_moved_lies_where_that_clone_has_it(
    world: Any, fine: Any, pull_other: Callable[[], None]
) -> None:
    toc = (world.root / "clone" / "SUMMARY.md").read_text().replace("(options.md)", "(guide/choices.md)")
    moved: dict[str, str | bytes] = {"guide/choices.md": "# Options\n\n* first\n* second\n", "SUMMARY.md": toc}
    world.commit("Move", moved, gone=["options.md"])
    fine(world.sync())
    world.merge(1)
    pull_other()
    paths = world.git("ls-tree", "-r", "--name-only", "platform/main", clone="other").split()
    assert [path for path in paths if "options" in path or "choices" in path] == ["guide/choices.md"]


def test_a_page_that_was_moved_stays_there_when_an_older_change_request_is_merged(
    world: Any, fine: Any, pull_other: Callable[[], None]
) -> None:
    world.commit("Mine", {"errors.md": "# Errors\n\nMine.\n"})
    fine(world.sync())
    pull_other()
    toc = (world.root / "clone" / "SUMMARY.md").read_text().replace("(options.md)", "(guide/choices.md)")
    moved: dict[str, str | bytes] = {"guide/choices.md": "# Options\n\n* first\n* second\n", "SUMMARY.md": toc}
    world.commit("Move", moved, gone=["options.md"], clone="other")
    for number in (2, 1):
        with world.workspace("other") as workspace:
            fine(run_cycle(replace(workspace, instance="0a1b2d", branch="main"), RunOptions()))
        assert world.merge(number) == "merge"
    with world.workspace("other") as workspace:
        fine(run_cycle(replace(workspace, instance="0a1b2d", branch="main"), RunOptions()))
    paths = world.git("ls-tree", "-r", "--name-only", "platform/main", clone="other").split()
    assert [path for path in paths if "options" in path or "choices" in path] == ["guide/choices.md"]


def test_what_another_clone_has_taken_in_and_back_does_not_come_in_again(
    world: Any, fine: Any, small: dict[str, str | bytes], pull_other: Callable[[], None]
) -> None:
    world.commit("Mine", {"errors.md": "# Errors\n\nMine.\n"})
    fine(world.sync())
    with world.client() as client:  # a reviewer adds a line to another page
        pages = {page.slug: page.id for page, _ in walk_pages(client.content.get(world.space).pages)}
        document = {"markdown": "# Options\n\n* first\n* second\n* third\n"}
        update = UpdatePage.model_validate({"page": pages["options"], "document": document})
        client.change_requests.write_content(world.space, "1", ContentWrite(changes=(update,)))
    world.merge(1)
    with world.workspace("other") as workspace:  # the other clone mirrors before it has the commits of the first
        fine(run_cycle(replace(workspace, branch="main"), RunOptions(integrate=False, propose=False)))
    fine(world.sync())
    world.commit("Two are enough", {"options.md": small["options.md"]})
    pull_other()
    assert world.git("show", "main:options.md", clone="other") == small["options.md"]
    mirrored = world.git("rev-parse", "platform/main")
    assert world.git("rev-parse", "platform/main", clone="other") == mirrored, "one commit stands for one revision"
    with world.client() as client:
        update = UpdatePage.model_validate({"page": pages["usage"], "document": {"markdown": "# Usage\n\nNewer.\n"}})
        number = client.change_requests.create(world.space, ChangeRequestCreate(subject="Newer")).id
        client.change_requests.write_content(world.space, number, ContentWrite(changes=(update,)))
        client.change_requests.merge(world.space, number)
    pull_other()
    assert world.git("show", "main:guide/usage.md", clone="other") == "# Usage\n\nNewer.\n"
    assert world.git("show", "main:options.md", clone="other") == small["options.md"]


@pytest.mark.parametrize("is_copied", [False, True])
def test_a_commit_that_is_no_mirror_commit_is_not_followed(
    world: Any, fine: Any, pull_other: Callable[[], None], is_copied: bool
) -> None:
    world.edit_on_platform({"options.md": "# Options\n\n* third\n"})
    message = world.git("log", "-1", "--format=%B", "platform/main")
    fine(world.run(RunOptions(integrate=False, propose=False)))
    if is_copied:  # a cherry-pick has the trailers, and another committer
        world.git("cherry-pick", "platform/main")
    else:
        (world.root / "clone" / "errors.md").write_text("# Errors\n\nMine.\n")
        world.git("commit", "--quiet", "--all", "--message", message)
    before = world.git("rev-parse", "platform/main", clone="other")
    pull_other()
    assert world.git("rev-parse", "platform/main^", clone="other") == before
