"""A syncd that is killed at a step that a person would notice: the next run repairs, and nobody's words are lost.

Run these stories: .venv/bin/python -m pytest -n 2 tests/cli/sync/test_cli_two_way_killed.py
"""

import re
import signal
import sys

import pytest

from syncd.fault_points import FaultPoint
from tests.cli.sync.two_way import MAIN, Interposer, Team, Web, Writer, conflicts, text_of
from tests.stopping import kill, run_until_stopped

pytestmark = pytest.mark.story

CONTENT = "/content$"
opening = pytest.mark.parametrize("later", [0, 3])
"""Requests after the first write to a new change request: it has content, and nothing in Git says so yet."""
writing = pytest.mark.parametrize(("at", "later"), [("/update$", 0), (CONTENT, 0), (CONTENT, 2)])
"""Moments of a sync at which an open change request, outdated at first, says more than Git knows."""


@pytest.fixture
def docs(team: Team, web: Web, interposer: Interposer) -> Writer:
    return team.clone(web.space)


@pytest.mark.parametrize("later", range(4))
def test_a_reviewers_words_in_a_killed_opening_are_kept(
    docs: Writer, web: Web, interposer: Interposer, later: int
) -> None:
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    docs.killed(interposer, "push", at=CONTENT, later=later)
    (request,) = web.requests()
    web.edit("p1", "P1 one, says B.", "P1 one, says B, better.", request=request.number)
    web.edit("p2", "P2 one.", "P2 one, says R.", request=request.number)
    docs.edit("p1.md", "P1 three.", "P1 three, says B.")
    docs.run("sync")
    (request,) = web.requests()
    for text in (web.everything(request=request.number), docs.everything()):
        assert "P1 one, says B, better." in text
        assert "P1 three, says B." in text
        assert "P2 one, says R." in text


@opening
def test_a_reviewers_words_in_a_killed_opening_conflict_with_what_the_writer_says_now(
    docs: Writer, web: Web, interposer: Interposer, later: int
) -> None:
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    docs.killed(interposer, "push", at=CONTENT, later=later)
    request = web.proposed()
    web.edit("p1", "P1 one, says B.", "P1 one, says R.", request=request)
    docs.edit("p1.md", "P1 one, says B.", "P1 one, says B now.")
    assert conflicts(docs.run("push", code=6)) == ["p1.md"]
    assert "P1 one, says R." in web.text("p1", request=web.proposed())
    assert "P1 one, says B now." in docs.read("p1.md")


@opening
def test_a_line_that_the_writer_changes_again_after_a_killed_opening_is_his_newest(
    docs: Writer, web: Web, interposer: Interposer, later: int
) -> None:
    docs.edit("p1.md", "P1 one.", "P1 one, at first.")
    docs.killed(interposer, "sync", at=CONTENT, later=later)
    docs.edit("p1.md", "P1 one, at first.", "P1 one, at last.")
    docs.run("sync")
    assert "P1 one, at last." in docs.read("p1.md")
    assert "P1 one, at last." in web.text("p1", request=web.proposed())
    assert len(web.requests()) == 1


def test_a_line_that_a_killed_opening_did_not_send_is_sent_when_main_content_has_moved(
    docs: Writer, web: Web, interposer: Interposer
) -> None:
    docs.write("p1.md", f"{docs.read('p1.md')}\nP1 four, says B.\n")
    docs.commit()
    docs.killed(interposer, "sync", at="/change-requests$", later=1)
    assert "says B" not in web.everything(request=web.proposed())
    web.edit("p1", "P1 two.", "Nobody in this place had ever heard of what is told here.")
    docs.settle()
    assert "P1 four, says B." in web.text("p1", request=web.proposed())
    web.merge()
    docs.settle()
    for text in (web.text("p1"), docs.read("p1.md")):
        assert "P1 four, says B." in text
        assert "Nobody in this place" in text


def test_a_line_that_a_reviewer_takes_out_of_a_killed_opening_stays_out_after_an_update(
    docs: Writer, web: Web, interposer: Interposer
) -> None:
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    docs.killed(interposer, "sync", at="/change-requests$", later=1)
    docs.run("pull")
    web.edit("p2", "P2 two.\n\n", "", request=web.proposed())
    web.edit("p3", "P3 one.", "P3 one, says W.")
    docs.settle()
    request = web.proposed()
    for text in (web.everything(request=request), docs.everything()):
        assert "P2 two." not in text
        assert "P1 one, says B." in text
        assert "P3 one, says W." in text


@opening
def test_pages_of_a_killed_opening_are_deleted_renamed_and_added_but_once(
    docs: Writer, web: Web, interposer: Interposer, later: int
) -> None:
    docs.add("a.md", "A")
    docs.add("b.md", "B")
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    docs.killed(interposer, "sync", at=CONTENT, later=later)
    docs.delete("a.md")
    docs.rename("b.md", "c.md")
    docs.delete("p4.md")
    docs.rename("p3.md", "third.md")
    web.add("w", "# W\n\nTheirs.\n")
    web.add("v", "# V\n\nTheirs, too.\n", below="p2")
    docs.settle()
    titles = ["B", "Home", "P1", "P2", "P3", "V", "W"]
    assert sorted(each.title for each in web.pages(request=web.proposed())) == titles
    web.merge()
    docs.settle()
    assert sorted(each.title for each in web.pages()) == titles
    assert docs.files() == sorted(
        ["README.md", "SUMMARY.md", "c.md", "p1.md", "p2/README.md", "p2/v.md", "third.md", "w.md"]
    )
    assert docs.tip("HEAD^{tree}") == docs.tip("platform/main^{tree}")


def kill_writing(docs: Writer, web: Web, interposer: Interposer, at: str, later: int) -> int:
    """Open a change request, let main content go on, and kill the sync that brings a new page; return its number."""
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    docs.add("a.md", "A")
    docs.run("sync")
    web.add("w", "# W\n\nTheirs.\n")
    docs.add("b.md", "B")
    docs.edit("p1.md", "P1 two.", "P1 two, at first.")
    docs.killed(interposer, "sync", at=at, later=later)
    return web.proposed()


@writing
def test_a_sync_killed_while_its_change_request_is_outdated_doubles_no_page(
    docs: Writer, web: Web, interposer: Interposer, at: str, later: int
) -> None:
    request = kill_writing(docs, web, interposer, at, later)
    docs.delete("a.md")
    docs.rename("b.md", "c.md")
    web.add("v", "# V\n\nTheirs, too.\n")
    docs.settle()
    titles = ["B", "Home", "P1", "P2", "P3", "P4", "V", "W"]
    assert sorted(each.title for each in web.pages(request=request)) == titles
    web.merge(request)
    docs.settle()
    assert sorted(each.title for each in web.pages()) == titles
    assert docs.git("diff", "HEAD", "platform/main") == ""


@writing
def test_a_reviewers_words_after_a_killed_sync_are_kept(
    docs: Writer, web: Web, interposer: Interposer, at: str, later: int
) -> None:
    request = kill_writing(docs, web, interposer, at, later)
    web.edit("p1", "P1 one, says B.", "P1 one, says B, better.", request=request)
    web.edit("a", "A one.", "A one, says R.", request=request)
    docs.edit("p1.md", "P1 two, at first.", "P1 two, at last.")
    docs.edit("p1.md", "P1 three.", "P1 three, says B.")
    docs.run("sync")
    for text in (web.everything(request=request), docs.everything()):
        for words in ("P1 one, says B, better.", "A one, says R.", "P1 two, at last.", "P1 three, says B."):
            assert words in text


@pytest.mark.parametrize("lost", ["the clone", "the refs"])
def test_a_reviewers_words_are_kept_by_who_has_no_record_of_the_change_request(
    docs: Writer, web: Web, lost: str
) -> None:
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    docs.run("push")
    web.edit("p1", "P1 one, says B.", "P1 one, says B, better.", request=web.proposed())
    if lost == "the clone":
        docs = clone_with_git(docs)
    else:
        docs.forget()
    docs.edit("p1.md", "P1 three.", "P1 three, says B.")
    docs.run("push")
    (request,) = web.requests()
    assert "P1 one, says B, better." in web.text("p1", request=request.number)
    assert "P1 three, says B." in web.text("p1", request=request.number)
    web.merge()
    assert "P1 one, says B, better." in web.text("p1", request=MAIN)


def clone_with_git(docs: Writer) -> Writer:
    """Clone with Git alone, and take the configuration along."""
    other = Writer(docs.path.parent / "cloned")
    docs.git("clone", "--quiet", str(docs.path), str(other.path))
    other.configure_like(docs)
    return other


@pytest.mark.parametrize(
    ("point", "way"),
    [
        (FaultPoint.MOVE_FILES_DONE, "syncd"),
        *((point, "lock removed") for point in FaultPoint if point.startswith("move-")),
    ],
)
def test_a_commit_after_a_killed_move_of_the_work_tree_takes_nothing_of_others_back(
    docs: Writer, web: Web, point: FaultPoint, way: str
) -> None:
    web.edit("p1", "P1 one.", "P1 one, says the web.")
    web.add("w", "# W\n\nTheirs.\n")
    with run_until_stopped(point, [sys.executable, "-m", "syncd", "pull"], cwd=docs.path) as process:
        kill(process)
    docs.write("p2.md", docs.read("p2.md").replace("P2 one.", "P2 one, says B."))
    if way == "syncd":  # Git refuses to stage until what was begun is done, which any command does
        docs.syncd("status")
    else:  # what Git says to do
        (docs.path / ".git" / "index.lock").unlink(missing_ok=True)
    docs.commit()
    docs.run("sync")
    assert docs.git("status", "--porcelain") == ""
    assert "P1 one, says the web." in docs.read("p1.md")
    assert docs.has("w.md")
    docs.edit("p3.md", "P3 one.", "P3 one, says B.")
    docs.run("sync")
    web.merge()
    docs.run("sync")
    for words in ("P1 one, says the web.", "P2 one, says B.", "P3 one, says B.", "Theirs."):
        assert words in web.everything()
        assert words in docs.everything()
    assert docs.git("diff", "HEAD", "platform/main") == ""


def test_what_a_change_request_holds_is_kept_by_a_ref_until_it_is_what_is_meant(
    team: Team, interposer: Interposer
) -> None:
    web = team.space()
    docs = team.clone(web.space)
    docs.edit("p1.md", "P1 one.", "P1 one, says A.")
    docs.run("push")
    web.edit("p1", "P1 one.", "P1 one, says the web.")
    docs.run("sync", code=6)
    docs.git("merge", "platform/main", code=1)
    docs.write("p1.md", text_of("P1").replace("P1 one.", "P1 one, says A with the web."))
    docs.commit()
    docs.killed(interposer, "sync", at=CONTENT)
    told = docs.git("log", "-1", "--format=%(trailers:key=Syncd-Content,valueonly)", "platform/changes/docs/1")
    assert docs.tip("refs/syncd/read/docs/1^{tree}") == told.strip()
    docs.settle()
    web.merge(1)
    docs.settle()
    assert "P1 one, says A with the web." in web.text("p1")
    assert docs.git("for-each-ref", "refs/syncd/read") == ""


@pytest.mark.parametrize("later", [0, 2])
def test_a_page_that_was_to_be_deleted_and_gets_a_page_below_it_is_gone(
    docs: Writer, web: Web, interposer: Interposer, later: int
) -> None:
    docs.delete("p1.md")
    docs.killed(interposer, "sync", at="/change-requests$", later=1)
    assert "p1" in web.slugs(request=web.proposed())
    web.add("sub", text_of("Sub"), below="p1")
    docs.killed(interposer, "sync", at="/update$", later=later)
    docs.settle()
    web.merge()
    docs.settle()
    assert sorted(web.texts()) == ["Home", "P2", "P3", "P4", "Sub"]
    assert "P1 one." not in docs.everything()


@pytest.mark.parametrize(
    ("before", "after"),
    [("P1 one.\n\nP1 two.", "P1 two.\n\nP1 one."), ("P1 two.", "P1 two.\n\nP1 one.")],
    ids=["order", "second"],
)
def test_lines_that_are_there_already_and_that_a_killed_run_did_not_send_are_kept(
    docs: Writer, web: Web, interposer: Interposer, before: str, after: str
) -> None:
    """Where no line is new and none is gone, all lines of the page do not say that the edit has arrived."""
    docs.edit("p1.md", "P1 three.", "P1 three.\n\nP1 four.")
    docs.run("sync")
    request = web.proposed()
    docs.edit("p1.md", before, after)
    interposer.at("POST", CONTENT, docs.kill, breaks=True)
    assert docs.syncd("push").returncode == -signal.SIGKILL
    web.edit("p1", "P1 four.", "P1 four, says R.", request=request)
    docs.run("sync")
    for text in (docs.read("p1.md"), web.text("p1", request=request)):
        assert f"{after}\n\nP1 three.\n\nP1 four, says R." in text


@pytest.mark.parametrize("was_written", [True, False])
def test_where_past_revisions_cannot_be_read_no_word_is_lost_after_a_kill(
    docs: Writer, web: Web, interposer: Interposer, was_written: bool
) -> None:
    """Nobody can say whether a reviewer edited what was sent or what was there before: the older base is taken."""
    interposer.hidden = re.compile(r"/spaces/[^/]+/revisions/")
    docs.edit("p2.md", "P2 two.", "P2 two, says B.")
    docs.run("sync")
    request = web.proposed()
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    if was_written:
        docs.killed(interposer, "push", at=CONTENT)
    else:
        interposer.at("POST", CONTENT, docs.kill, breaks=True)
        assert docs.syncd("push").returncode == -signal.SIGKILL
    web.edit("p1", "P1 three.", "P1 three, says R.", request=request)
    web.edit("p1", "P1 two.", "P1 two, says R.", request=request)
    docs.edit("p1.md", "P1 one, says B.", "P1 one, says B now.")
    docs.run("sync")
    for text in (docs.read("p1.md"), web.text("p1", request=request)):
        for words in ("P1 one, says B now.", "P1 two, says R.", "P1 three, says R."):
            assert words in text
