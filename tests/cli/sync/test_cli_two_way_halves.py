"""A page that moves to another space has two halves: one change request deletes it, and one creates it.

They do not come to their end at one time, and what others do to either half meanwhile goes with the page.
Run these stories: .venv/bin/python -m pytest -n 2 tests/cli/sync/test_cli_two_way_halves.py
"""

import pytest

from tests.cli.sync.two_way import Team, Web, Writer, distinct_pages_of, merge_all

pytestmark = pytest.mark.story

Two = tuple[Writer, Web, Web]


@pytest.fixture
def two(team: Team) -> Two:
    """A clone of two spaces, and the people in front of them; the move of a page is proposed."""
    one, other = team.space("one", distinct_pages_of("one")), team.space("two", distinct_pages_of("two"))
    docs = team.clone(f"{one.space}=one", f"{other.space}=two")
    docs.git("mv", "one/p1.md", "two/q1.md")
    docs.replace("one/SUMMARY.md", "* [P1](p1.md)\n", "")
    docs.write("two/SUMMARY.md", docs.read("two/SUMMARY.md") + "* [P1](q1.md)\n")
    docs.commit("Move")
    docs.run("sync")
    return docs, one, other


def assert_page_came_back(docs: Writer, one: Web, other: Web) -> None:
    """Given the clone and both spaces, see that the page is in the first one alone, with a reviewer's words."""
    assert not docs.has("two/q1.md"), "the page is in both spaces"
    assert "P1 one, says R." in docs.read("one/p1.md")
    merge_all(docs, one, other)
    assert "P1 one, says R." in one.text("p1")
    assert "q1" not in other.slugs()


@pytest.mark.parametrize("syncs_between", [True, False])
@pytest.mark.parametrize("what", ["text", "title"])
def test_an_edit_of_the_old_page_follows_to_the_new_one_that_is_merged(
    two: Two, what: str, syncs_between: bool
) -> None:
    docs, one, other = two
    other.merge()
    if syncs_between:
        docs.run("sync")
    if what == "text":
        one.edit("p1", "P1 one.", "P1 one, says W.")
    else:
        one.retitle("p1", "P1, says W.")
    docs.run("sync")
    assert not docs.has("one/p1.md"), "the page is in both spaces"
    merge_all(docs, one, other)
    assert "P1" not in " ".join(one.titles().values())
    if what == "text":
        assert "P1 one, says W." in other.text("q1")
    else:
        assert other.titles()["q1"] == "P1, says W."


def test_an_edit_of_the_old_page_that_got_another_slug_follows_to_the_new_one(two: Two) -> None:
    docs, one, other = two
    other.merge()
    one.rename("p1", "ren")
    one.edit("ren", "P1 one.", "P1 one, says W.")
    docs.run("sync")
    assert not docs.has("one/ren.md"), "the page is in both spaces"
    assert "P1 one, says W." in docs.read("two/q1.md")
    merge_all(docs, one, other)
    assert "P1 one, says W." in other.text("q1")
    assert "P1" not in one.titles().values()


def test_words_of_a_reviewer_and_of_the_former_space_are_both_in_the_page(two: Two) -> None:
    docs, one, other = two
    other.edit("q1", "P1 one.", "P1 one, says R.", request=other.proposed())
    one.edit("p1", "P1 three.", "P1 three, says W.")
    docs.run("sync")
    for text in (docs.read("two/q1.md"), other.text("q1", request=other.proposed())):
        for words in ("P1 one, says R.", "P1 three, says W."):
            assert words in text
    assert not docs.has("one/p1.md")


def test_words_of_both_in_one_line_are_held(two: Two) -> None:
    docs, one, other = two
    other.edit("q1", "P1 one.", "P1 one, says R.", request=other.proposed())
    one.edit("p1", "P1 one.", "P1 one, says W.")
    docs.run("sync", code=6)
    assert "P1 one, says R." in other.text("q1", request=other.proposed())
    assert "P1 one, says W." in one.text("p1") + docs.everything()


def test_a_page_with_words_of_a_reviewer_leaves_its_space_once_the_branch_has_them(two: Two) -> None:
    docs, one, other = two
    docs.edit("one/p2.md", "P2 one.", "P2 one, says A.")
    docs.run("sync")
    docs.git("mv", "one/p2.md", "two/q2.md")
    docs.replace("one/SUMMARY.md", "* [P2](p2.md)\n", "")
    docs.write("two/SUMMARY.md", docs.read("two/SUMMARY.md") + "* [P2](q2.md)\n")
    docs.commit("Move another")
    one.edit("p2", "P2 three.", "P2 three, says R.", request=one.proposed())
    assert "one/p2.md stays in #1 too, where reviewers wrote what the branch lacks" in docs.run("push")
    assert "not sent: one/SUMMARY.md, one/p2.md wait until #1" in docs.run("status")
    assert "P2 three, says R." in one.text("p2", request=one.proposed())
    docs.run("pull")
    docs.run("push")
    assert "P2 three, says R." in other.text("q2", request=other.proposed())
    assert "p2" not in one.slugs(request=one.proposed())


@pytest.mark.parametrize("link", ["", "\n\nSee [P2](../one/p2.md)."])
def test_a_page_in_conflict_stays_in_the_change_request_of_its_new_space(two: Two, link: str) -> None:
    docs, one, other = two
    one.edit("p1", "P1 three.", f"P1 three.{link.replace('../one/', '')}")
    docs.run("sync")
    docs.edit("two/q1.md", "P1 one.", "P1 one, says A.")
    docs.run("sync")
    other.edit("q1", "P1 three.", "P1 three.\n\nSays R.", request=other.proposed())
    one.edit("p1", "P1 one.", "P1 one, says W.")
    for _ in range(3):
        docs.run("sync", code=6)
        kept = other.text("q1", request=other.proposed())
        assert "P1 one, says A." in kept
        assert "Says R." in kept
    assert "P1 one, says A." in docs.read("two/q1.md")
    docs.run("resolve", "two/q1.md", "--hunk", "1", "--ours")
    merge_all(docs, one, other)
    assert "P1 one, says A." in other.text("q1")
    assert "Says R." in other.text("q1")
    assert "p1" not in one.slugs()


def test_a_page_that_moved_is_merged_though_another_one_that_moved_is_in_conflict(two: Two) -> None:
    docs, one, other = two
    docs.git("mv", "one/p3.md", "two/q3.md")
    docs.replace("one/SUMMARY.md", "* [P3](p3.md)\n", "")
    docs.write("two/SUMMARY.md", docs.read("two/SUMMARY.md") + "* [P3](q3.md)\n")
    docs.edit("two/q1.md", "P1 one.", "P1 one, says A.")
    docs.run("sync")
    other.edit("q3", "P3 one.", "P3 one, says R.", request=other.proposed())
    one.edit("p3", "P3 three.", "P3 three, says W.")
    other.edit("q1", "P1 three.", "P1 three, says R.", request=other.proposed())
    one.edit("p1", "P1 one.", "P1 one, says W.")
    docs.run("sync", code=6)
    for text in (docs.read("two/q3.md"), other.text("q3", request=other.proposed())):
        for words in ("P3 one, says R.", "P3 three, says W."):
            assert words in text


def test_a_reviewers_words_follow_a_page_whose_move_is_reverted(two: Two) -> None:
    docs, _, other = two
    other.edit("q1", "P1 one.", "P1 one, says R.", request=other.proposed())
    docs.git("revert", "--no-edit", "HEAD")
    docs.run("sync")
    assert_page_came_back(*two)


@pytest.mark.parametrize("commit", ["reset", "amend"])
def test_a_reviewers_words_follow_a_page_whose_move_is_dropped(two: Two, commit: str) -> None:
    docs, _, other = two
    other.edit("q1", "P1 one.", "P1 one, says R.", request=other.proposed())
    docs.git("reset", "--quiet", "--hard" if commit == "reset" else "--soft", "HEAD~1")
    if commit == "amend":
        docs.git("restore", "--staged", "--worktree", "--source=HEAD", ".")
    docs.edit("two/p2.md", "P2 one.", "P2 one, says A.")
    docs.run("sync")
    assert_page_came_back(*two)


def test_words_in_a_half_that_is_merged_follow_to_the_path_that_an_amendment_gives_it(two: Two) -> None:
    docs, one, other = two
    other.merge()
    other.edit("q1", "P1 one.", "P1 one, says R.")
    docs.git("mv", "two/q1.md", "two/r1.md")
    docs.replace("two/SUMMARY.md", "(q1.md)", "(r1.md)")
    docs.git("commit", "--quiet", "--all", "--amend", "--no-edit")
    docs.run("sync")
    assert not docs.has("two/q1.md"), "the page is there twice"
    assert "P1 one, says R." in docs.read("two/r1.md")
    merge_all(docs, one, other)
    assert "P1 one, says R." in other.text("r1")
    assert "q1" not in other.slugs()
    assert "p1" not in one.slugs()


def test_a_file_of_no_space_is_deleted_while_others_edit_pages(two: Two) -> None:
    docs, one, _ = two
    docs.write("notes.md", "# Notes\n")
    docs.commit("Add notes")
    docs.run("sync")
    docs.git("rm", "--quiet", "notes.md")
    docs.commit("Drop notes")
    one.edit("p2", "P2 one.", "P2 one, says W.")
    docs.run("sync")
    assert "P2 one, says W." in docs.read("one/p2.md")
    assert not docs.has("notes.md")
