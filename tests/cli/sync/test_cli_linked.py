"""Linked work trees (`git worktree add`): a run moves the files of the tree that shows a branch, wherever it starts.

What a command says is about the branch of the tree that a person stands in.
"""

import json
import os
import shutil
import sys

import pytest

from syncd.cli.preview.gather import find_source
from syncd.fault_points import FaultPoint
from tests.cli.service.hosted import Hosted
from tests.cli.sync.two_way import Team, Web, Writer, conflicts
from tests.stopping import kill, run_until_stopped

pytestmark = pytest.mark.story


@pytest.fixture
def linked(docs: Writer) -> Writer:
    """A linked work tree that shows main, which a run brings up to date; the clone itself shows another branch."""
    docs.git("switch", "--quiet", "--create", "topic")
    docs.git("worktree", "add", "--quiet", "../linked", "main")
    return Writer(docs.path.with_name("linked"))


def assert_clean(*writers: Writer) -> None:
    for writer in writers:
        assert writer.git("status", "--porcelain") == ""


def pull_killed_at(point: FaultPoint, writer: Writer) -> None:
    with run_until_stopped(
        point, [sys.executable, "-m", "syncd", "pull"], cwd=writer.path, environ=dict(os.environ)
    ) as process:
        kill(process)


@pytest.mark.parametrize("start", ["linked", "docs"])
def test_a_run_brings_the_linked_tree_up_to_date(docs: Writer, linked: Writer, web: Web, start: str) -> None:
    web.edit("p1", "P1 one.", "P1 one, says the web.")
    said = Writer(docs.path.with_name(start)).run("sync")
    assert f"fast-forwarded to platform/main, with the files in {linked.path}" in said
    assert "P1 one, says the web." in linked.read("p1.md")
    assert "P1 one, says the web." not in docs.read("p1.md")
    assert_clean(docs, linked)
    assert f"{docs.path}  on main in {linked.path}, " in linked.run("status")
    assert f"{docs.path}  on topic, " in docs.run("status")


def test_both_sides_are_merged_and_proposed_from_the_linked_tree(docs: Writer, linked: Writer, web: Web) -> None:
    linked.edit("p1.md", "P1 one.", "P1 one, says B.")
    web.edit("p1", "P1 three.", "P1 three, says the web.")
    linked.run("sync")
    assert linked.read("p1.md") == "# P1\n\nP1 one, says B.\n\nP1 two.\n\nP1 three, says the web.\n"
    web.merge()
    linked.run("sync")
    assert "P1 one, says B." in web.text("p1")
    assert_clean(docs, linked)


def test_an_uncommitted_edit_in_the_linked_tree_is_kept_and_told(docs: Writer, linked: Writer, web: Web) -> None:
    web.edit("p1", "P1 one.", "P1 one, says the web.")
    linked.replace("p1.md", "P1 two.", "P1 two, not committed.")
    tip = linked.tip()
    for writer in (docs, linked):
        said = writer.run("pull", code=5)
        assert f"in {linked.path}: uncommitted edits are in the way: p1.md" in said
    assert linked.tip() == tip
    assert "P1 two, not committed." in linked.read("p1.md")
    linked.git("checkout", "--quiet", "p1.md")
    linked.replace("p2.md", "P2 two.", "P2 two, not committed.")
    docs.run("pull")
    assert "P1 one, says the web." in linked.read("p1.md")
    assert linked.git("status", "--porcelain") == " M p2.md\n"


@pytest.mark.parametrize("point", [FaultPoint.MOVE_NOTED, FaultPoint.MOVE_FILES_DONE, FaultPoint.MOVE_BRANCH_DONE])
@pytest.mark.parametrize("start", ["linked", "docs"])
def test_a_killed_run_is_mended_by_the_next_command_in_either_tree(
    docs: Writer, linked: Writer, web: Web, point: FaultPoint, start: str
) -> None:
    web.edit("p1", "P1 one.", "P1 one, says the web.")
    web.add("new", "# New\n")
    pull_killed_at(point, docs)
    linked.git("add", "p1.md", code=128)
    Writer(docs.path.with_name(start)).run("pull")
    assert "P1 one, says the web." in linked.read("p1.md")
    assert linked.has("new.md")
    assert_clean(docs, linked)
    assert linked.tip() == docs.tip("platform/main")


def test_a_conflict_is_shown_and_settled_in_the_linked_tree(docs: Writer, linked: Writer, web: Web) -> None:
    for name in ("p1", "p2", "p3"):
        linked.edit(f"{name}.md", f"{name.upper()} one.", f"{name.upper()} one, says B.")
        web.edit(name, f"{name.upper()} one.", f"{name.upper()} one, says the web.")
    said = docs.run("pull", code=6)
    assert conflicts(said) == ["p1.md", "p2.md", "p3.md"]
    assert "syncd resolve p1.md --branch main, with --ours" in said
    assert "Next: syncd resolve p1.md --branch main" in linked.run("status", code=6)
    assert "No page is in conflict in topic." in docs.run("resolve")
    assert "Next: syncd resolve p1.md --branch main --ours" in docs.run("resolve", "--branch", "main", code=6)
    assert "P1 one, says the web." in linked.run("resolve", code=6)
    (linked.path / "guides").mkdir()
    below = Writer(linked.path / "guides")
    assert "P1 one, says B." in below.run("resolve", "../p1.md", code=6)
    assert "is settled in main" in below.run("resolve", "../p1.md", "--theirs")
    linked.run("resolve", "p2.md", "--hunk", "1", "--ours")
    editor = linked.path.with_name("editor")
    editor.write_text("#!/bin/sh\nprintf '# P3\\n\\nBoth.\\n' > \"$1\"\n")
    editor.chmod(0o755)
    done = linked.syncd("resolve", "p3.md", "--edit", VISUAL=str(editor))
    assert done.returncode == 0, done.stderr
    assert "P1 one, says the web." in linked.read("p1.md")
    assert "P2 one, says B." in linked.read("p2.md")
    assert linked.read("p3.md") == "# P3\n\nBoth.\n"
    assert "No page is in conflict." in linked.run("resolve")
    assert_clean(docs, linked)
    assert "P1 one, says" not in docs.read("p1.md")


def test_the_branch_of_the_linked_tree_is_the_one_that_is_resolved(docs: Writer, web: Web) -> None:
    docs.git("worktree", "add", "--quiet", "-b", "topic", "../linked", "main")
    linked = Writer(docs.path.with_name("linked"))
    linked.edit("p1.md", "P1 one.", "P1 one, says B.")
    web.edit("p1", "P1 one.", "P1 one, says the web.")
    docs.run("sync")
    assert "No page is in conflict." in docs.run("resolve")
    assert "(topic and platform/main)" in linked.run("resolve", code=6)
    linked.run("resolve", "p1.md", "--ours")
    assert "P1 one, says B." in linked.read("p1.md")
    assert "P1 one, says the web." in docs.read("p1.md")
    assert_clean(docs, linked)
    assert "propose docs/topic" in linked.run("push")
    said = json.loads(linked.run("status", "--json"))["repositories"][0]
    assert (said["current"], said["work_tree"]) == ("topic", str(linked.path))


def test_commands_without_a_platform_read_the_linked_tree(docs: Writer, linked: Writer) -> None:
    linked.replace("p1.md", "P1 one.", "P1 one, see [there](nowhere.md).")
    assert "p1.md:3:" in linked.run("check", code=65)
    assert "P1" not in docs.run("check")
    linked.write("site.yaml", "site: {title: Linked}\nspaces: {docs: missing}\n")
    assert "missing" in linked.run("site", "validate", code=65)
    assert "there is no site.yaml in" in docs.run("site", "validate", code=78)
    for writer in (linked, docs):
        assert "missing" in writer.run("site", "plan", "--file", linked.path / "site.yaml", code=65)
    shown = find_source(linked.path)
    assert shown.repository is not None
    assert shown.repository.path == linked.path


def test_a_detached_linked_tree_stays_as_it_is(docs: Writer, web: Web) -> None:
    docs.git("worktree", "add", "--quiet", "--detach", "../linked", "main")
    linked = Writer(docs.path.with_name("linked"))
    tip = linked.tip()
    web.edit("p1", "P1 one.", "P1 one, says the web.")
    linked.run("pull")
    assert "P1 one, says the web." in docs.read("p1.md")
    assert linked.tip() == tip
    said = linked.run("status")
    assert f"{docs.path}  on no branch in {linked.path}, " in said
    assert "HEAD is detached" in said
    assert_clean(docs, linked)


def test_a_linked_tree_that_was_removed_and_not_pruned_is_in_nobodys_way(
    docs: Writer, linked: Writer, web: Web
) -> None:
    before = docs.tip("main")
    web.edit("p1", "P1 one.", "P1 one, says the web.")
    pull_killed_at(FaultPoint.MOVE_NOTED, docs)
    shutil.rmtree(linked.path)
    docs.run("pull")
    assert docs.tip("main") == docs.tip("platform/main") != before
    assert_clean(docs)


def test_undo_resets_the_linked_tree(docs: Writer, linked: Writer, web: Web) -> None:
    linked.edit("p1.md", "P1 one.", "P1 one, says B.")
    linked.run("push")
    docs.run("undo", "1", "--reset", "--yes")
    assert "P1 one, says B." not in linked.read("p1.md")
    assert_clean(docs, linked)


def test_a_bare_clone_serves_its_linked_tree(docs: Writer, web: Web) -> None:
    bare = Writer(docs.path.with_name("bare.git"))
    docs.git("clone", "--quiet", "--bare", ".", str(bare.path))
    bare.git("worktree", "add", "--quiet", "../linked", "main")
    linked = Writer(docs.path.with_name("linked"))
    text = (docs.path / ".git/syncd.toml").read_text()
    (bare.path / "syncd.toml").write_text(text)
    bare.run("trust", "--yes")
    web.edit("p1", "P1 one.", "P1 one, says the web.")
    bare.run("pull")
    assert "P1 one, says the web." in linked.read("p1.md")
    web.edit("p2", "P2 one.", "P2 one, says the web.")
    linked.run("pull")
    assert "P2 one, says the web." in linked.read("p2.md")
    assert_clean(linked)


def test_a_branch_that_the_remote_deleted_stays_where_a_linked_tree_of_a_bare_clone_shows_it(team: Team) -> None:
    hosted = Hosted(team)
    hosted.configure(repository='branches = ["main", "docs/*"]')
    hosted.git.git("push", "--quiet", "origin", "main:docs/a", "main:docs/b")
    hosted.sync()
    hosted.clone.git("worktree", "add", "--quiet", "../linked", "docs/a")
    hosted.git.git("push", "--quiet", "origin", ":docs/a", ":docs/b")
    hosted.sync()
    listed = hosted.clone.git("for-each-ref", "--format=%(refname:short)", "refs/heads/docs")
    assert listed.split() == ["docs/a"]
    assert_clean(Writer(team.root / "linked"))
