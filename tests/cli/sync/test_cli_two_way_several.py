"""Several spaces, branches and copies of pages: what is known of one says nothing of another.

Run these stories: .venv/bin/python -m pytest -n 2 tests/cli/sync/test_cli_two_way_several.py
"""

from collections.abc import Callable

import pytest

from tests.cli.sync.two_way import HOME, Team, Web, Writer, distinct_pages_of, merge_all, text_of

pytestmark = pytest.mark.story

Two = tuple[Writer, Web, Web]


@pytest.fixture
def two(team: Team) -> Two:
    """A clone of two spaces, and the people in front of them."""
    one, other = team.space("one", distinct_pages_of("one")), team.space("two", distinct_pages_of("two"))
    return team.clone(f"{one.space}=one", f"{other.space}=two"), one, other


def list_page(docs: Writer, folder: str, title: str, name: str) -> None:
    docs.write(f"{folder}/SUMMARY.md", docs.read(f"{folder}/SUMMARY.md") + f"* [{title}]({name})\n")


def add_page(docs: Writer, folder: str) -> None:
    docs.write(f"{folder}/new.md", text_of("New"))
    list_page(docs, folder, "New", "new.md")


def rename_page(docs: Writer, folder: str) -> None:
    docs.git("mv", f"{folder}/new.md", f"{folder}/ren.md")
    docs.replace(f"{folder}/SUMMARY.md", "(new.md)", "(ren.md)")


def move_page(docs: Writer, source: str, target: str, title: str) -> None:
    """Move a page to another space."""
    docs.git("mv", source, target)
    (former, name), (folder, new) = source.split("/"), target.split("/")
    docs.replace(f"{former}/SUMMARY.md", f"* [{title}]({name})\n", "")
    list_page(docs, folder, title, new)


def amend(docs: Writer) -> None:
    docs.git("add", "--all")
    docs.git("commit", "--quiet", "--amend", "--no-edit")


def track(docs: Writer, *names: str) -> None:
    listed = ", ".join(f'"{name}"' for name in names)
    docs.write(".git/syncd.toml", docs.read(".git/syncd.toml").replace('branches = ["main"]', f"branches = [{listed}]"))
    docs.run("trust", "--yes")


# A page that is copied.


def test_words_go_to_the_page_and_not_to_its_copy_on_the_platform(docs: Writer, web: Web) -> None:
    web.add("p5", web.text("p1"))
    web.edit("p1", "P1 one.", "P1 one, says the web.")
    docs.edit("p1.md", "P1 three.", "P1 three, says B.")
    merge_all(docs, web)
    assert "says B." in web.text("p1")
    assert "says B." not in web.text("p5")


@pytest.mark.parametrize("copy", ["p5.md", "p4.md"])
def test_words_go_to_the_page_and_not_to_its_copy_in_git(docs: Writer, web: Web, copy: str) -> None:
    docs.write(copy, docs.read("p1.md"))
    if copy == "p5.md":
        list_page(docs, ".", "P5", copy)
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    web.edit("p1", "P1 three.", "P1 three, says the web.")
    merge_all(docs, web)
    assert "says the web." in web.text("p1")
    assert "says the web." not in web.text(copy.removesuffix(".md"))


def test_a_deletion_of_a_page_that_was_copied_is_one_of_that_page(docs: Writer, web: Web) -> None:
    docs.write("p5.md", docs.read("p1.md"))
    list_page(docs, ".", "P5", "p5.md")
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    web.delete("p1")
    said = docs.run("sync")
    assert "p1.md: deleted on one side and changed on the other; it stays" in said
    assert "p5.md: deleted" not in said


# Pages that move between spaces.


def test_pages_that_are_exchanged_between_two_spaces_are_in_both(two: Two) -> None:
    docs, one, other = two
    move_page(docs, "one/p1.md", "two/q1.md", "P1")
    move_page(docs, "two/p2.md", "one/q2.md", "P2")
    docs.commit()
    docs.run("sync")
    one.edit("p1", "P1 one.", "P1 one, says the web.")
    other.edit("p2", "P2 one.", "P2 one, says the web.")
    merge_all(docs, one, other)
    assert "P2 one, says the web." in one.text("q2")
    assert "P1 one, says the web." in other.text("q1")


def test_an_edit_follows_its_page_to_another_space_that_moves_on(two: Two) -> None:
    docs, one, other = two
    move_page(docs, "one/p1.md", "two/q1.md", "P1")
    docs.commit()
    docs.run("sync")
    one.edit("p1", "P1 one.", "P1 one, says the web.")
    other.edit("p4", "P4 one.", "P4 one, says the web.")
    merge_all(docs, one, other)
    assert "p1" not in one.slugs()
    assert "P1 one, says the web." in other.text("q1")


def test_a_page_is_proposed_anew_whose_move_was_dropped_after_it_had_left_its_space(two: Two) -> None:
    docs, one, other = two
    move_page(docs, "one/p1.md", "two/q1.md", "P1")
    docs.commit()
    docs.run("sync")
    one.merge()
    docs.git("reset", "--quiet", "--hard", "HEAD~1")
    docs.edit("two/p3.md", "P3 one.", "P3 one, says B.")
    docs.run("sync")
    assert "* [P1](p1.md)\n" in docs.read("one/SUMMARY.md")
    merge_all(docs, one, other)
    assert "Only in one p1.md" in one.text("p1")
    assert "Only in one p1.md" in docs.read("one/p1.md")
    assert "q1" not in other.slugs()


# A branch that was rewritten before all that it had sent was merged.


def amend_and_pull_before_the_merge(docs: Writer, web: Web) -> None:
    """Amend what was sent, and take in other news of main content before the change request is merged."""
    amend(docs)
    web.edit("p3", "P3 one.", "P3 one, says the web.")
    docs.run("pull")
    web.merge()
    merge_all(docs, web)


def test_a_new_page_that_an_amendment_renames_is_one_page_after_a_pull(docs: Writer, web: Web) -> None:
    docs.add("new.md", "New")
    docs.run("sync")
    rename_page(docs, ".")
    amend_and_pull_before_the_merge(docs, web)
    assert web.slugs() == [HOME, "p1", "p2", "p3", "p4", "ren"]


def test_an_amended_line_is_in_no_conflict_with_what_it_was_after_a_pull(docs: Writer, web: Web) -> None:
    docs.edit("p2.md", "P2 one.", "P2 one, says B.")
    docs.run("sync")
    docs.replace("p2.md", "P2 one, says B.", "P2 one, amended.")
    amend_and_pull_before_the_merge(docs, web)
    assert "P2 one, amended." in web.text("p2")


def test_a_merge_in_one_space_counts_though_another_space_has_news_first(two: Two) -> None:
    docs, one, other = two
    add_page(docs, "one")
    docs.edit("two/p2.md", "P2 one.", "P2 one, says B.")
    docs.run("sync")
    rename_page(docs, "one")
    amend(docs)
    one.merge()
    other.edit("p3", "P3 one.", "P3 one, says R.", request=other.proposed())
    merge_all(docs, one, other)
    assert one.slugs() == [HOME, "p1", "p2", "p3", "p4", "ren"]


def test_a_merge_in_one_space_counts_though_a_page_of_another_is_in_conflict(two: Two) -> None:
    docs, one, other = two
    docs.replace("one/p1.md", "P1 one.", "P1 one, says B.")
    docs.replace("one/p2.md", "P2 one.", "P2 one, says B.")
    add_page(docs, "two")
    docs.commit()
    docs.run("sync")
    one.edit("p1", "P1 one.", "P1 one, says the web.")
    docs.run("sync", code=6)
    other.merge()
    docs.replace("one/p2.md", "P2 one, says B.", "P2 one, amended.")
    rename_page(docs, "two")
    amend(docs)
    for _ in range(2):
        docs.run("sync", code=6)
    docs.run("resolve", "one/p1.md", "--ours")
    merge_all(docs, one, other)
    assert other.slugs() == [HOME, "p1", "p2", "p3", "p4", "ren"]


def test_dropped_words_stay_dropped_though_an_equal_page_of_another_space_is_in_conflict(team: Team) -> None:
    one, other = team.space("one"), team.space("two")
    docs = team.clone(f"{one.space}=one", f"{other.space}=two")
    start = docs.tip()
    docs.replace("one/p1.md", "P1 one.", "P1 one, says B.")
    docs.replace("two/p1.md", "P1 one.", "P1 one.\n\nP1 extra, says B.")
    docs.edit("two/p2.md", "P2 one.", "P2 one, says B.")
    docs.run("sync")
    one.edit("p1", "P1 one.", "P1 one, says the web.")
    docs.run("sync", code=6)
    docs.git("reset", "--quiet", "--hard", start)
    docs.replace("one/p1.md", "P1 one.", "P1 one, says B.")
    docs.edit("two/p2.md", "P2 one.", "P2 one, says B.")
    for _ in range(3):
        docs.run("sync", code=6)
    assert "P1 extra" not in other.everything(request=other.proposed())


# Branches that are gone.


def rename_branch(docs: Writer) -> None:
    docs.git("branch", "-m", "fix", "fix/a")


def make_branch_anew(docs: Writer) -> None:
    tip = docs.tip()
    docs.git("switch", "--quiet", "main")
    docs.git("branch", "-D", "fix")
    docs.git("switch", "--quiet", "--create", "fix/a", tip)


@pytest.mark.parametrize("change", [rename_branch, make_branch_anew])
def test_a_branch_below_the_name_of_a_former_one_is_proposed(
    docs: Writer, web: Web, change: Callable[[Writer], None]
) -> None:
    track(docs, "main", "fix", "fix/*")
    docs.git("switch", "--quiet", "--create", "fix")
    docs.edit("p1.md", "P1 one.", "P1 one, says A.")
    docs.run("sync")
    change(docs)
    docs.run("sync")
    assert "P1 one, says A." in web.text("p1", request=web.proposed())


def test_a_branch_with_the_name_of_a_former_one_says_nothing_of_what_that_said(docs: Writer, web: Web) -> None:
    track(docs, "main", "topic/*")
    start = docs.tip()
    web.edit("p1", "P1 one.", "P1 one, W.")
    docs.run("pull")
    docs.git("switch", "--quiet", "--create", "topic/a")
    docs.edit("p1.md", "P1 one, W.", "P1 one.")
    docs.run("sync")
    docs.git("switch", "--quiet", "main")
    docs.git("branch", "-D", "topic/a")
    docs.run("sync")
    docs.git("switch", "--quiet", "--create", "topic/a", start)
    docs.edit("p4.md", "P4 one.", "P4 one, says B.")
    docs.run("sync")
    assert "P1 one, W." in web.text("p1", request=web.proposed())


def test_two_branches_that_have_only_manual_steps_come_to_rest(docs: Writer) -> None:
    track(docs, "main", "topic/*")
    for name in ("a", "b"):
        docs.git("switch", "--quiet", "--create", f"topic/{name}", "main")
        docs.edit("SUMMARY.md", "* [P3]", f"\n## Group {name}\n\n* [P3]")
    docs.run("sync")
    refs = docs.git("for-each-ref")
    docs.run("sync")
    assert docs.git("for-each-ref") == refs


def test_a_change_request_that_is_opened_again_beside_a_newer_one_is_told(docs: Writer, web: Web) -> None:
    docs.edit("p1.md", "P1 one.", "P1 one, A.")
    docs.run("sync")
    first = web.proposed()
    web.archive(first)
    docs.edit("p1.md", "P1 one, A.", "P1 one, B.")
    docs.run("push")
    newer = web.proposed()
    assert f"what main says goes to #{newer}" in docs.run("cr", "reopen", first)
    told = (
        f"#{first} is open, and is not written to: what main says goes to #{newer}; merge #{first}, or syncd cr close"
    )
    for command in ("sync", "status", "push"):
        assert told in docs.run(command), command
    assert "P1 one, A." in web.text("p1", request=first)
    docs.run("cr", "close", first)
    assert docs.run("sync").splitlines()[-1] == "Everything is in step."
    assert "P1 one, B." in web.text("p1", request=newer)


# What a message says to type next, where a number alone names a change request of each space.


def test_a_change_request_that_was_archived_is_opened_again_by_the_named_command(two: Two) -> None:
    docs, one, other = two
    docs.replace("one/p1.md", "P1 two.", "P1 two, in Git.")
    docs.edit("two/p1.md", "P1 two.", "P1 two, in Git.")
    docs.run("sync")
    command = "syncd cr reopen 1 --space two"
    assert command in docs.run("cr", "close", "1", "--space", "two")
    for said in (docs.run("sync"), docs.run("status"), docs.run("cr", "merge", "1", "--space", "two", code=5)):
        assert command in said
    docs.run(*command.split()[1:])
    assert [len(web.requests()) for web in (one, other)] == [1, 1]
    one.archive(1)
    docs.run("sync")
    assert command in docs.run("undo", "1", "--space", "two", "--yes")
