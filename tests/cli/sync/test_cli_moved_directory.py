"""The configuration gives a space another directory: its pages move there, and nobody loses one.

Run these stories: .venv/bin/python -m pytest -n 2 tests/cli/sync/test_cli_moved_directory.py
"""

import sqlite3
import sys
from contextlib import closing

import pytest

from tests.cli.sync.two_way import HOME, Team, Web, Writer, pages_of, text_of
from tests.sampling import sample_cases
from tests.stopping import kill, run_until_stopped

pytestmark = pytest.mark.story

PAGES = ["README.md", "SUMMARY.md", "p1.md", "p2.md", "p3.md", "p4.md"]


def configure(docs: Writer, old: str, new: str) -> None:
    """Change the directory of a space in the configuration."""
    docs.replace(".git/syncd.toml", f'directory = "{old}"', f'directory = "{new}"')


def list_files(docs: Writer, directory: str, commit: str = "HEAD") -> list[str]:
    """Return the files that a commit has below a directory."""
    listed = docs.git("ls-tree", "-r", "--name-only", commit, f"{directory}/").splitlines()
    return [path.removeprefix(f"{directory}/") for path in listed]


def require_moved(docs: Writer, web: Web) -> None:
    """See that all pages are in the new directory alone, everywhere, and that edits go both ways."""
    docs.settle()
    for commit in ("HEAD", "platform/main"):
        assert list_files(docs, "c", commit) == PAGES
        assert list_files(docs, "b", commit) == []
    web.edit("p2", "P2 one.", "P2 one, says the web.")
    docs.settle()
    docs.edit("c/p2.md", "P2 two.", "P2 two, says Git.")
    docs.settle()
    web.merge()
    docs.settle()
    assert "P2 one, says the web." in web.text("p2")
    assert "P2 two, says Git." in web.text("p2")
    assert len(web.pages()) == 5
    assert not web.requests()
    assert list_files(docs, "c") == list_files(docs, "c", "platform/main") == PAGES
    assert docs.tip("HEAD^{tree}") == docs.tip("platform/main^{tree}")


@pytest.mark.parametrize("is_moved", [False, True])
@pytest.mark.parametrize("is_forgotten", [False, True])
def test_a_new_directory_takes_all_pages_along(team: Team, is_moved: bool, is_forgotten: bool) -> None:
    """Whether the writer has moved the files or not, and whether syncd remembers anything or not."""
    web, other = team.space("docs"), team.space("other")
    docs = team.clone(f"{web.space}=b", f"{other.space}=o")
    if is_forgotten:
        docs.forget()
    if is_moved:
        docs.git("mv", "b", "c")
        docs.commit()
    configure(docs, "b", "c")
    said = docs.run("sync")
    assert "from b/ to c/" in said
    require_moved(docs, web)
    assert "Syncd-Former-Directory" in docs.git("log", "--format=%B", "platform/main")
    assert docs.git("log", "--follow", "--format=%s", "c/p3.md").count("\n") > 1


@pytest.mark.parametrize("is_forgotten", [False, True])
def test_commits_of_an_older_version_do_not_name_the_directory(team: Team, is_forgotten: bool) -> None:
    web, other = team.space("docs"), team.space("other")
    docs = team.clone(f"{other.space}=o", f"{web.space}=b")
    web.edit("p3", "P3 one.", "P3 one, says the web.")
    docs.settle()
    mirrored = docs.tip("platform/main")
    message = docs.git("log", "-1", "--format=%B", mirrored).replace('Syncd-Directory: "b"\n', "")
    person = ("-c", "user.name=syncd", "-c", "user.email=syncd@localhost")
    words = ("commit-tree", f"{mirrored}^{{tree}}", "-p", f"{mirrored}^", "-m", message.strip())
    older = docs.git(*person, *words).strip()
    docs.git("update-ref", "refs/remotes/platform/main", older)
    docs.git("reset", "--quiet", "--hard", older)
    if is_forgotten:
        docs.forget()
    else:
        with closing(sqlite3.connect(docs.path / ".git/syncd/state.db")) as store, store:
            store.execute('UPDATE seen SET "commit" = ? WHERE "commit" = ?', (older, mirrored))
    configure(docs, "b", "c")
    assert "from b/ to c/" in docs.run("sync")
    assert list_files(docs, "o") == PAGES
    require_moved(docs, web)


def test_an_edit_in_the_browser_comes_with_the_new_directory(team: Team) -> None:
    web = team.space()
    docs = team.clone(f"{web.space}=b")
    docs.git("mv", "b", "c")
    docs.commit()
    configure(docs, "b", "c")
    web.edit("p3", "P3 one.", "P3 one, says the web.")
    web.rename("p4", "fourth")
    docs.settle()
    assert "P3 one, says the web." in docs.read("c/p3.md")
    assert not docs.has("c/p4.md")
    web.rename("fourth", "p4")
    require_moved(docs, web)


@pytest.mark.parametrize("is_moved", [False, True])
def test_edits_of_both_sides_follow_their_pages(team: Team, is_moved: bool) -> None:
    web = team.space()
    docs = team.clone(f"{web.space}=b")
    docs.edit("b/p3.md", "P3 three.", "P3 three, says Git.")
    docs.rename("p1.md", "first.md", within="b")
    docs.write("b/p5.md", "# P5\n\nP5 one.\n")
    docs.replace("b/SUMMARY.md", "* [P4](p4.md)\n", "* [P4](p4.md)\n* [P5](p5.md)\n")
    docs.commit()
    if is_moved:
        docs.git("mv", "b", "c")
        docs.commit()
    web.edit("p3", "P3 one.", "P3 one, says the web.")
    web.edit("p1", "P1 one.", "P1 one, says the web.")
    configure(docs, "b", "c")
    docs.settle()
    web.merge()
    docs.settle()
    text = web.text("p3")
    assert "P3 one, says the web." in text
    assert "P3 three, says Git." in text
    assert "P1 one, says the web." in docs.read("c/first.md")
    assert web.titles() == {HOME: "Home", "first": "P1", "p2": "P2", "p3": "P3", "p4": "P4", "p5": "P5"}
    assert list_files(docs, "b") == list_files(docs, "b", "platform/main") == []
    assert docs.tip("HEAD^{tree}") == docs.tip("platform/main^{tree}")


def test_a_push_before_the_branch_has_followed_deletes_nothing(team: Team) -> None:
    web = team.space()
    docs = team.clone(f"{web.space}=b")
    docs.edit("b/p3.md", "P3 three.", "P3 three, says Git.")
    configure(docs, "b", "c")
    docs.run("push")
    assert len(web.pages(request=web.proposed())) == 5
    assert "P3 three, says Git." in web.text("p3", request=web.proposed())
    web.merge()
    docs.settle()
    require_moved(docs, web)


def test_a_page_in_conflict_stays_so_on_the_way(team: Team) -> None:
    web = team.space()
    docs = team.clone(f"{web.space}=b")
    docs.edit("b/p3.md", "P3 one.", "P3 one, says Git.")
    docs.edit("b/p4.md", "P4 one.", "P4 one, says Git.")
    web.edit("p3", "P3 one.", "P3 one, says the web.")
    configure(docs, "b", "c")
    for _ in range(2):
        assert "! conflict c/p3.md" in docs.run("sync", code=6)
    assert "P4 one, says Git." in web.text("p4", request=web.proposed())
    assert len(web.pages(request=web.proposed())) == 5
    docs.run("resolve", "c/p3.md", "--ours")
    docs.settle()
    web.merge()
    docs.settle()
    assert "P3 one, says Git." in web.text("p3")
    require_moved(docs, web)


POINTS = ["commit-written", "ref-moved", "mirror-written", "merge-written", "move-files-done", "move-branch-done"]
"""Of a sync that moves a space: the steps of its mirror commit, then those of the branch that follows."""


@pytest.mark.parametrize("is_moved", sample_cases([False, True], kept=(0,)))
@pytest.mark.parametrize("point", POINTS)
def test_a_move_that_was_killed_is_finished_by_the_next_run(team: Team, point: str, is_moved: bool) -> None:
    web, other = team.space("docs"), team.space("other")
    docs = team.clone(f"{web.space}=b", f"{other.space}=o")
    docs.edit("b/p1.md", "P1 one.", "P1 one, says Git.")
    if is_moved:
        docs.git("mv", "b", "c")
        docs.commit()
    configure(docs, "b", "c")
    with run_until_stopped(point, [sys.executable, "-m", "syncd", "sync"], cwd=docs.path) as process:
        kill(process)
    web.edit("p3", "P3 one.", "P3 one, says the web.")
    web.rename("p4", "fourth")
    web.add("p5", text_of("P5"))
    docs.settle()
    web.merge()
    docs.settle()
    web.rename("fourth", "p4")
    web.delete("p5")
    assert "P1 one, says Git." in web.text("p1")
    assert "P3 one, says the web." in docs.read("c/p3.md")
    require_moved(docs, web)
    moves = docs.git("log", "--format=%H", "--grep=^Syncd-Former-Directory", "platform/main").split()
    assert len(moves) == 1
    assert not other.requests("open", "draft", "merged", "archived")


def test_open_change_requests_hold_the_space_and_no_other(team: Team) -> None:
    web, other = team.space("docs"), team.space("other")
    docs = team.clone(f"{web.space}=b", f"{other.space}=o")
    docs.edit("b/p3.md", "P3 one.", "P3 one, says Git.")
    docs.run("sync")
    configure(docs, "b", "c")
    main = docs.tip("platform/main")
    web.edit("p2", "P2 one.", "P2 one, says the web.")
    other.edit("p2", "P2 one.", "P2 one, says the web.")
    said = docs.run("sync", code=78)
    assert "is in b/, and the configuration says c/, but change requests of it are not done: #1;" in said
    assert 'put directory = "b" back' in said
    assert "P2 one, says the web." in docs.read("o/p2.md")
    assert docs.git("diff", "--name-only", main, "platform/main").split() == ["o/p2.md"]
    assert len(web.requests()) == 1
    assert not other.requests()
    configure(docs, "c", "b")
    docs.settle()
    web.merge()
    docs.settle()
    configure(docs, "b", "c")
    docs.settle()
    assert "P3 one, says Git." in docs.read("c/p3.md")
    assert "P2 one, says the web." in docs.read("c/p2.md")
    assert list_files(docs, "b") == []


def test_files_that_are_in_the_way_hold_the_space(team: Team) -> None:
    web = team.space()
    docs = team.clone(f"{web.space}=b")
    docs.write("c/p3.md", "Something else.\n")
    docs.commit()
    configure(docs, "b", "c")
    main = docs.tip("platform/main")
    assert "other files are in the way: c/p3.md" in docs.run("sync", code=78)
    assert docs.tip("platform/main") == main
    docs.git("mv", "c/p3.md", "else.md")
    docs.commit()
    docs.settle()
    assert list_files(docs, "c") == list_files(docs, "c", "platform/main") == PAGES
    assert docs.read("else.md") == "Something else.\n"
    assert not web.requests()


def test_pages_in_both_directories_hold_the_space(team: Team) -> None:
    web = team.space()
    docs = team.clone(f"{web.space}=b")
    (docs.path / "c").mkdir()
    docs.git("mv", "b/README.md", "b/SUMMARY.md", "b/p1.md", "b/p2.md", "c/")
    docs.edit("c/SUMMARY.md", "* [P3](p3.md)\n* [P4](p4.md)\n", "")
    configure(docs, "b", "c")
    main = docs.tip("platform/main")
    assert "main has pages in both: b/p3.md, b/p4.md; nothing was moved" in docs.run("sync", code=78)
    assert docs.tip("platform/main") == main
    docs.git("mv", "b/p3.md", "b/p4.md", "c/")
    docs.edit("c/SUMMARY.md", "* [P2](p2.md)\n", "* [P2](p2.md)\n* [P3](p3.md)\n* [P4](p4.md)\n")
    docs.settle()
    assert not web.requests()
    require_moved(docs, web)


def test_a_clone_whose_configuration_is_old_moves_nothing_back(team: Team) -> None:
    web = team.space()
    docs = team.clone(f"{web.space}=b")
    configure(docs, "b", "c")
    docs.settle()
    other = team.clone(f"{web.space}=b", name="other")
    other.git("fetch", "--quiet", str(docs.path), "main")
    other.git("reset", "--quiet", "--hard", "FETCH_HEAD")
    said = other.run("sync", code=78)
    assert "it was moved from b/ before" in said
    assert 'set directory = "c"' in said
    assert list_files(other, "b") == []
    configure(other, "b", "c")
    other.settle()
    docs.git("mv", "c", "b")
    docs.commit()
    configure(docs, "c", "b")
    docs.settle()
    assert list_files(docs, "b") == list_files(docs, "b", "platform/main") == PAGES
    assert list_files(docs, "c", "platform/main") == []
    assert not web.requests()


def test_pages_leave_the_root_for_a_directory_and_other_files_stay(team: Team) -> None:
    web = team.space("docs", pages_of("P1", "P2", "P3", "P4"))
    docs = team.clone(web.space)
    docs.write("tools/run.sh", "#!/bin/sh\n")
    docs.commit()
    configure(docs, ".", "c")
    docs.settle()
    assert list_files(docs, "c") == PAGES
    assert docs.files() == [*(f"c/{page}" for page in PAGES), "tools/run.sh"]
    docs.edit("c/p2.md", "P2 two.", "P2 two, says Git.")
    docs.settle()
    web.merge()
    docs.settle()
    assert len(web.pages()) == 5
    configure(docs, "c", ".")
    docs.git("mv", *(f"c/{page}" for page in PAGES), ".")
    docs.commit()
    docs.settle()
    assert docs.files() == [*PAGES, "tools/run.sh"]
    assert not web.requests()


@pytest.mark.parametrize("is_edited", [False, True])
def test_pages_leave_the_root_of_the_settings_and_its_file_goes_too(docs: Writer, web: Web, is_edited: bool) -> None:
    (docs.path / "content").mkdir()
    docs.git("mv", *PAGES, "content/")
    docs.write(".gitbook.yaml", "root: ./content/\n")
    docs.commit()
    docs.settle()
    docs.git("mv", *(f"content/{page}" for page in PAGES), ".")
    docs.git("rm", "--quiet", ".gitbook.yaml")
    docs.commit()
    if is_edited:
        web.edit("p2", "P2 one.", "P2 one, says the web.")
    docs.settle()
    for commit in ("HEAD", "platform/main"):
        assert docs.git("ls-tree", "-r", "--name-only", commit).splitlines() == PAGES
    assert not web.requests()


def test_an_undo_of_what_was_merged_before_the_move(team: Team) -> None:
    web = team.space()
    docs = team.clone(f"{web.space}=b")
    docs.edit("b/p3.md", "P3 one.", "P3 one, says Git.")
    docs.settle()
    number = web.merge()
    docs.settle()
    configure(docs, "b", "c")
    docs.settle()
    docs.run("undo", f"#{number}", "--yes")
    docs.settle()
    web.merge()
    docs.settle()
    assert "P3 one.\n" in web.text("p3")
    require_moved(docs, web)


def test_a_clone_of_its_own_follows_what_another_has_moved(team: Team) -> None:
    """Its own edits of the former place, on another branch too, come to where the pages are now."""
    web = team.space()
    docs = team.clone(f"{web.space}=b")
    docs.git("branch", "topic")
    other = team.clone(f"{web.space}=b", name="other")
    other.git("fetch", "--quiet", str(docs.path), "main")
    other.git("reset", "--quiet", "--hard", "FETCH_HEAD")
    other.run("sync")
    other.edit("b/p4.md", "P4 one.", "P4 one, says B.")
    configure(docs, "b", "c")
    docs.settle()
    other.git("pull", "--quiet", "--no-rebase", "--no-edit", str(docs.path), "main")
    assert "P4 one, says B." in other.read("c/p4.md")
    configure(other, "b", "c")
    other.settle()
    web.merge()
    other.settle()
    assert "P4 one, says B." in web.text("p4")
    assert len(web.pages()) == 5
    docs.git("checkout", "--quiet", "topic")
    docs.edit("b/p3.md", "P3 one.", "P3 one, says a topic.")
    docs.run("push", "topic")
    assert "P3 one, says a topic." in web.text("p3", request=web.proposed())
    assert len(web.pages(request=web.proposed())) == 5


def test_spaces_that_follow_one_another_move_one_by_one(team: Team) -> None:
    one, two = team.space("one"), team.space("two")
    docs = team.clone(f"{one.space}=a", f"{two.space}=b")
    two.edit("p3", "P3 one.", "P3 one, says the web.")
    docs.settle()
    configure(docs, "b", "c")
    configure(docs, "a", "b")
    said = docs.run("sync", code=78)
    assert "other files are in the way: b/README.md" in said
    docs.settle()
    for commit in ("HEAD", "platform/main"):
        assert list_files(docs, "b", commit) == list_files(docs, "c", commit) == PAGES
        assert list_files(docs, "a", commit) == []
    assert "P3 one, says the web." in docs.read("c/p3.md")
    assert not one.requests("open", "draft", "merged")
    assert not two.requests("open", "draft", "merged")


@pytest.mark.parametrize("is_moved", [False, True])
def test_spaces_that_exchange_their_directories_take_two_steps(team: Team, is_moved: bool) -> None:
    one, two = team.space("one"), team.space("two", pages_of("Q1", "Q2"))
    docs = team.clone(f"{one.space}=a", f"{two.space}=b")
    docs.edit("a/p3.md", "P3 one.", "P3 one, says Git.")
    if is_moved:
        for old, new in (("a", "c"), ("b", "a"), ("c", "b")):
            docs.git("mv", old, new)
        docs.commit("Exchange")
    configure(docs, "a", "c")
    configure(docs, "b", "a")
    configure(docs, "c", "b")
    main = docs.tip("platform/main")
    said = docs.run("sync", code=78)
    assert "a is in a/, and the configuration says b/, but a and b would exchange their directories" in said
    assert "b is in b/, and the configuration says a/, but b and a would exchange their directories" in said
    assert "give one of these spaces a third directory, and run syncd sync" in said
    assert docs.tip("platform/main") == main
    assert not one.requests() + two.requests()
    if is_moved:
        docs.git("revert", "--no-edit", "HEAD")
    configure(docs, "b", "c")
    configure(docs, "a", "b")
    docs.run("sync")
    one.merge()
    docs.settle()
    configure(docs, "b", "a")
    configure(docs, "c", "b")
    docs.run("sync", code=78)
    docs.settle()
    assert (
        list_files(docs, "a") == list_files(docs, "a", "platform/main") == ["README.md", "SUMMARY.md", "q1.md", "q2.md"]
    )
    assert list_files(docs, "b") == list_files(docs, "b", "platform/main") == PAGES
    assert list_files(docs, "c") == []
    assert "P3 one, says Git." in one.text("p3")
    assert (len(one.pages()), len(two.pages())) == (5, 3)
    assert not one.requests() + two.requests()


def test_a_space_whose_place_another_one_has_taken_is_held(team: Team) -> None:
    one, two = team.space("one"), team.space("two")
    docs = team.clone(f"{one.space}=a", f"{two.space}=b")
    whole = docs.read(".git/syncd.toml")
    first, table = whole.index("[[repository.space]]"), whole.rindex("[[repository.space]]")
    docs.write(".git/syncd.toml", whole[:first] + whole[table:])
    docs.settle()
    docs.git("rm", "-r", "--quiet", "a")
    docs.commit()
    configure(docs, "b", "a")
    docs.settle()
    two.edit("p3", "P3 one.", "P3 one, says the web.")
    docs.write(
        ".git/syncd.toml",
        whole.replace('directory = "a"', 'directory = "c"').replace('directory = "b"', 'directory = "a"'),
    )
    assert "its files are not there any more" in docs.run("sync", code=78)
    assert list_files(docs, "a") == list_files(docs, "a", "platform/main") == PAGES
    assert list_files(docs, "c", "platform/main") == []
    assert "P3 one, says the web." in docs.read("a/p3.md")
    assert not two.requests()
