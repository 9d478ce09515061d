"""What was taken back stays taken back, whatever becomes of the history in Git and of change requests.

Run these stories: .venv/bin/python -m pytest -n 2 tests/cli/sync/test_cli_two_way_history.py
"""

import time
from collections.abc import Callable

import pytest

from syncd.model.change_request import ChangeRequestCreate
from tests.cli.sync.two_way import HOME, MAIN, Team, Web, Writer, conflicts

pytestmark = pytest.mark.story

Deed = Callable[[Writer], None]


def publish(docs: Writer, web: Web) -> None:
    """Propose what the branch has, merge that, and take it in."""
    docs.run("sync")
    web.merge()
    docs.run("sync")


def assert_same(docs: Writer) -> None:
    """The branch and main content are the same."""
    assert docs.git("diff", "HEAD", "platform/main") == ""


# What is taken back.


@pytest.mark.parametrize("side", ["git", "web"])
def test_a_line_that_is_reverted_stays_reverted(docs: Writer, web: Web, side: str) -> None:
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    publish(docs, web)
    if side == "git":
        docs.git("revert", "--no-edit", "HEAD^2" if is_merge(docs) else "HEAD")
        web.edit("p1", "P1 three.", "P1 three, says the web.")
    else:
        web.edit("p1", "P1 one, says B.", "P1 one.")
        docs.edit("p1.md", "P1 three.", "P1 three, says B.")
    publish(docs, web)
    for text in (docs.read("p1.md"), web.text("p1")):
        assert "P1 one.\n" in text
        assert "P1 three, says" in text
    assert_same(docs)


def is_merge(docs: Writer) -> bool:
    return len(docs.git("rev-parse", "HEAD^@").split()) > 1


@pytest.mark.parametrize("side", ["git", "web"])
def test_a_page_that_is_deleted_stays_deleted(docs: Writer, web: Web, side: str) -> None:
    docs.add("new.md", "New")
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    publish(docs, web)
    if side == "git":
        docs.delete("new.md")
        web.edit("p1", "P1 three.", "P1 three, says the web.")
    else:
        web.delete("new")
        docs.edit("p1.md", "P1 three.", "P1 three, says B.")
    publish(docs, web)
    assert [page.title for page in web.pages()] == ["Home", "P1", "P2", "P3", "P4"]
    assert not docs.has("new.md")
    assert "P1 three, says" in docs.read("p1.md")
    assert_same(docs)


def test_a_page_of_which_only_the_line_ends_changed_stays_deleted(docs: Writer, web: Web) -> None:
    for name in ("p1.md", "p2.md"):
        docs.write(name, docs.read(name).replace("\n", "\r\n"))
    docs.replace("p2.md", "P2 one.", "P2 one, says B.")
    docs.commit()
    web.delete("p1")
    web.delete("p2")
    said = docs.run("sync")
    assert "p2.md: deleted on one side and changed on the other; it stays" in said
    assert "p1.md: deleted on one side" not in said
    web.merge()
    docs.run("sync")
    assert sorted(web.slugs()) == [HOME, "p2", "p3", "p4"]
    assert not docs.has("p1.md")
    assert "(p1.md)" not in docs.read("SUMMARY.md")


@pytest.mark.parametrize("side", ["git", "web"])
def test_a_rename_that_is_taken_back_stays_so(docs: Writer, web: Web, side: str) -> None:
    docs.rename("p1.md", "ren.md")
    publish(docs, web)
    if side == "git":
        docs.rename("ren.md", "p1.md")
        web.edit("ren", "P1 three.", "P1 three, says the web.")
    else:
        web.rename("ren", "p1")
        docs.edit("ren.md", "P1 three.", "P1 three, says B.")
    publish(docs, web)
    assert web.slugs() == [HOME, "p1", "p2", "p3", "p4"]
    assert not docs.has("ren.md")
    assert "P1 three, says" in docs.read("p1.md")
    assert_same(docs)


def test_a_reviewers_line_that_the_writer_reverts_stays_reverted(docs: Writer, web: Web) -> None:
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    docs.run("sync")
    web.edit("p1", "P1 three.", "P1 three, says R.", request=web.proposed())
    docs.run("sync")
    docs.edit("p1.md", "P1 three, says R.", "P1 three.")
    web.edit("p2", "P2 one.", "P2 one, says the web.")
    docs.settle()
    assert "P1 three." in docs.read("p1.md")
    assert "P1 three." in web.text("p1", request=web.proposed())
    assert "P1 one, says B." in web.text("p1", request=web.proposed())


# A branch that is rewritten.


def squash(docs: Writer) -> None:
    docs.git("reset", "--quiet", "--soft", "platform/main")
    docs.commit("All in one")


def amend(docs: Writer, words: str = "P2 one.") -> None:
    docs.replace("p2.md", words, "P2 one, amended.")
    docs.git("commit", "--quiet", "--all", "--amend", "--no-edit")


def rebase(docs: Writer) -> None:
    docs.git("rebase", "--quiet", "platform/main")


@pytest.mark.parametrize("rewrite", [squash, amend, rebase])
@pytest.mark.parametrize("taken_in", [True, False])
def test_a_rewrite_loses_no_word_of_others_and_doubles_nothing(
    docs: Writer, web: Web, rewrite: Deed, taken_in: bool
) -> None:
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    docs.add("new.md", "New")
    docs.run("sync")
    request = web.proposed()
    web.edit("p1", "P1 three.", "P1 three, says R.", request=request)
    web.edit("p3", "P3 one.", "P3 one, says the web.")
    if taken_in:
        docs.run("sync")
    rewrite(docs)
    docs.settle()
    assert [each.number for each in web.requests()] == [request]
    for text in (docs.everything(), web.everything(request=request)):
        for words in ("P1 one, says B.", "P1 three, says R.", "P3 one, says the web."):
            assert text.count(words) == 1
    web.merge()
    docs.settle()
    assert [page.title for page in web.pages()] == ["Home", "P1", "P2", "P3", "P4", "New"]
    assert_same(docs)


def test_own_words_that_an_amended_commit_drops_stay_dropped(docs: Writer, web: Web) -> None:
    docs.replace("p1.md", "P1 one.", "P1 one, says B.")
    docs.edit("p2.md", "P2 one.", "P2 one, says B.")
    docs.run("sync")
    web.edit("p3", "P3 one.", "P3 one, says R.", request=web.proposed())
    docs.run("sync")
    docs.git("reset", "--quiet", "--hard", "platform/main")
    docs.edit("p2.md", "P2 one.", "P2 one, says B.")
    docs.settle()
    for text in (docs.everything(), web.everything(request=web.proposed())):
        assert "P1 one.\n" in text
        assert "P2 one, says B." in text
    assert "P3 one, says R." in web.text("p3", request=web.proposed())


def test_own_words_of_an_amended_commit_that_is_reverted_are_taken_back(docs: Writer, web: Web) -> None:
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    docs.run("sync")
    amend(docs)
    web.merge()  # of the commit as it was before
    docs.git("revert", "--no-edit", "HEAD")
    docs.run("sync")
    publish(docs, web)
    for text in (docs.read("p1.md"), web.text("p1")):
        assert "P1 one.\n" in text
    assert_same(docs)


@pytest.mark.parametrize("command", ["pull", "sync"])
def test_what_a_reviewer_takes_out_is_gone_from_an_amended_branch_that_took_in_more(
    docs: Writer, web: Web, command: str
) -> None:
    docs.replace("p1.md", "P1 one.", "P1 one.\n\nP1 extra, says B.")
    docs.edit("p2.md", "P2 one.", "P2 one, says B.")
    docs.run("sync")
    request = web.proposed()
    web.edit("p3", "P3 one.", "P3 one, says the web.")
    amend(docs, "P2 one, says B.")
    if command == "pull":
        docs.run("pull")
    web.edit("p1", "P1 one.\n\nP1 extra, says B.", "P1 one.", request=request)
    docs.settle()
    for text in (docs.everything(), web.everything(request=request)):
        assert "P1 extra" not in text
        assert "P2 one, amended." in text
    assert "P3 one, says the web." in docs.everything()


def test_words_that_an_amended_commit_drops_stay_dropped_in_each_of_two_spaces(team: Team) -> None:
    one, two = team.space("one"), team.space("two")
    docs = team.clone(f"{one.space}=one", f"{two.space}=two")
    for name in ("one", "two"):
        docs.replace(f"{name}/p1.md", "P1 one.", "P1 one.\n\nP1 extra, says B.")
        docs.replace(f"{name}/p2.md", "P2 one.", "P2 one, says B.")
    docs.commit()
    docs.run("sync")
    for name in ("one", "two"):
        docs.replace(f"{name}/p1.md", "P1 one.\n\nP1 extra, says B.", "P1 one.")
        docs.replace(f"{name}/p3.md", "P3 one.", "P3 one, says B.")
    docs.git("commit", "--quiet", "--all", "--amend", "--no-edit")
    docs.settle()
    assert "P1 extra" not in docs.everything()
    for web in (one, two):
        text = web.everything(request=web.proposed())
        assert "P1 extra" not in text
        assert "P2 one, says B." in text
        assert "P3 one, says B." in text


@pytest.mark.parametrize("text", ["New one.", "New one, says B.\n\nAnd more."])
@pytest.mark.parametrize("command", ["sync", "push"])
def test_a_new_page_that_a_squashed_branch_renames_stays_one_page(
    docs: Writer, web: Web, command: str, text: str
) -> None:
    docs.add("new.md", "New")
    web.edit("p3", "P3 one.", "P3 one, says the web.")
    docs.run("pull")
    docs.run(command)
    docs.git("reset", "--quiet", "--soft", "platform/main")
    docs.commit("All in one")
    docs.rename("new.md", "ren.md")
    if text != "New one.":
        docs.edit("ren.md", "New one.", text)
    web.merge()
    docs.settle()
    web.merge()
    docs.settle()
    assert web.slugs() == [HOME, "p1", "p2", "p3", "p4", "ren"]
    assert "new.md" not in docs.files()
    assert text in web.text("ren")
    assert_same(docs)


def test_what_is_published_is_not_undone_by_a_reset(docs: Writer, web: Web) -> None:
    start = docs.tip()
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    publish(docs, web)
    web.edit("p2", "P2 one.", "P2 one, says the web.")
    docs.run("sync")
    docs.git("reset", "--quiet", "--hard", start)
    docs.edit("p3.md", "P3 one.", "P3 one, says B.")
    publish(docs, web)
    for words in ("P1 one, says B.", "P2 one, says the web.", "P3 one, says B."):
        assert words in web.everything()
        assert words in docs.everything()


def test_a_branch_that_is_reset_to_main_content_stays_there(docs: Writer, web: Web) -> None:
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    docs.run("sync")
    request = web.proposed()
    web.edit("p2", "P2 one.", "P2 one, says R.", request=request)
    docs.run("sync")
    docs.git("reset", "--quiet", "--hard", "platform/main")
    tip = docs.tip()
    for _ in range(2):
        docs.run("sync")
        assert docs.tip() == tip
        assert "P2 one, says R." in web.text("p2", request=request)


# Plain Git.


def start_conflict(docs: Writer, web: Web) -> None:
    """Let p3 be in conflict, while p1 and p2 come in."""
    docs.edit("p3.md", "P3 two.", "P3 two, says B.")
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    web.edit("p3", "P3 two.", "P3 two, says the web.")
    web.edit("p1", "P1 three.", "P1 three, says the web.")
    web.edit("p2", "P2 one.", "P2 one, says the web.")
    assert conflicts(docs.run("sync", code=6)) == ["p3.md"]


def test_git_merge_shows_the_pages_in_conflict_and_settles_them(docs: Writer, web: Web) -> None:
    start_conflict(docs, web)
    docs.git("merge", "platform/main", code=1)
    assert docs.git("diff", "--name-only", "--diff-filter=U").split() == ["p3.md"]
    docs.write("p3.md", "# P3\n\nP3 one.\n\nP3 two, say both.\n\nP3 three.\n")
    docs.commit("Say both")
    docs.run("sync")
    assert "No page is in conflict." in docs.run("resolve")
    web.merge()
    docs.run("sync")
    for words in ("P3 two, say both.", "P1 one, says B.", "P1 three, says the web.", "P2 one, says the web."):
        assert words in web.everything()
    assert_same(docs)


def test_git_merge_that_keeps_ours_settles_a_conflict_too(docs: Writer, web: Web) -> None:
    start_conflict(docs, web)
    docs.git("merge", "platform/main", code=1)
    docs.git("checkout", "--ours", "p3.md")
    docs.commit("Ours")
    docs.run("sync")
    web.merge()
    docs.run("sync")
    assert "P3 two, says B." in web.text("p3")
    assert "P1 three, says the web." in web.text("p1")
    assert_same(docs)


def test_git_rebase_onto_main_content_takes_no_word_of_others_out(docs: Writer, web: Web) -> None:
    start_conflict(docs, web)
    docs.git("rebase", "platform/main", code=1)
    assert docs.git("diff", "--name-only", "--diff-filter=U").split() == ["p3.md"]
    docs.write("p3.md", "# P3\n\nP3 one.\n\nP3 two, say both.\n\nP3 three.\n")
    docs.git("add", "p3.md")
    docs.git("-c", "core.editor=true", "rebase", "--continue")
    docs.run("sync")
    web.merge()
    docs.run("sync")
    for words in ("P3 two, say both.", "P1 one, says B.", "P1 three, says the web.", "P2 one, says the web."):
        assert words in web.everything()
        assert words in docs.everything()
    assert_same(docs)


def test_a_cherry_picked_merge_of_syncd_claims_nothing(docs: Writer, web: Web) -> None:
    docs.git("branch", "other")
    start_conflict(docs, web)
    taken = docs.git("log", "--merges", "-1", "--format=%H").strip() or docs.tip()
    docs.git("switch", "--quiet", "other")
    pick = ["cherry-pick", "--keep-redundant-commits", "-x"]
    parents = docs.git("rev-parse", f"{taken}^@").split()
    docs.git(*pick, *(["-m", "1"] if len(parents) > 1 else []), taken)
    docs.edit("p4.md", "P4 one.", "P4 one, says B.")
    docs.syncd("push", "other")
    web.merge()
    for words in ("P3 two, says the web.", "P1 three, says the web.", "P2 one, says the web.", "P4 one, says B."):
        assert words in web.everything()


def test_a_sync_with_nothing_new_makes_no_commit_and_writes_nothing(docs: Writer, web: Web) -> None:
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    docs.run("sync")
    web.edit("p2", "P2 one.", "P2 one, says the web.")
    web.edit("p3", "P3 one.", "P3 one, says R.", request=web.proposed())
    docs.settle()
    refs, request = docs.git("for-each-ref"), web.requests()
    for command in ("sync", "pull", "push", "sync"):
        docs.run(command)
        assert docs.git("for-each-ref") == refs
        assert web.requests() == request


def test_two_branches_of_one_clone_are_both_merged(docs: Writer, web: Web) -> None:
    docs.git("switch", "--quiet", "--create", "one")
    docs.edit("p1.md", "P1 one.", "P1 one, says one.")
    docs.run("push")
    docs.git("switch", "--quiet", "--create", "two", "main")
    docs.edit("p1.md", "P1 three.", "P1 three, says two.")
    docs.edit("p2.md", "P2 one.", "P2 one, says two.")
    docs.run("push")
    first, second = (request.number for request in web.requests())
    web.merge(first)
    docs.run("pull")
    docs.git("merge", "--quiet", "--no-edit", "platform/main")
    docs.run("push")
    assert "P1 one, says one." in web.text("p1", request=second)
    web.merge(second)
    docs.git("switch", "--quiet", "main")
    docs.run("sync")
    for words in ("P1 one, says one.", "P1 three, says two.", "P2 one, says two."):
        assert words in docs.everything()
    assert_same(docs)


# Clones, and what they do not have.


def test_two_clones_of_a_space_come_to_the_same(docs: Writer, web: Web, team: Team) -> None:
    other = team.clone(web.space, name="other")
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    docs.rename("p4.md", "ren.md")
    other.edit("p1.md", "P1 three.", "P1 three, says C.")
    other.edit("p4.md", "P4 one.", "P4 one, says C.")
    docs.run("sync")
    web.merge()
    other.run("sync")
    web.merge()
    docs.run("sync")
    other.run("sync")
    for words in ("P1 one, says B.", "P1 three, says C.", "P4 one, says C."):
        assert words in web.everything()
    for clone in (docs, other):
        assert_same(clone)
    assert docs.tip("HEAD^{tree}") == other.tip("HEAD^{tree}")


def test_a_conflict_stays_one_where_the_records_are_gone(docs: Writer, web: Web) -> None:
    start_conflict(docs, web)
    docs.forget()
    docs.edit("p4.md", "P4 one.", "P4 one, says B.")
    for _ in range(2):
        assert conflicts(docs.run("sync", code=6)) == ["p3.md"]
    (request,) = web.requests()
    for words in ("P3 two, says the web.", "P1 three, says the web.", "P1 one, says B.", "P4 one, says B."):
        assert words in web.everything(request=request.number)
    assert "P3 two, says B." in docs.read("p3.md")


@pytest.mark.parametrize("is_edited", [False, True])
def test_what_reviewers_take_back_after_an_update_stays_so_where_the_records_are_gone(
    docs: Writer, web: Web, is_edited: bool
) -> None:
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    docs.run("sync")
    request = web.proposed()
    web.add("extra", "# Extra\n\nExtra.\n", below="p2")
    web.edit("p4", "P4 one.", "P4 one, a mistake.")
    if is_edited:
        web.edit("p1", "P1 three.", "P1 three, says R.", request=request)
    web.update(request)
    docs.forget()
    web.delete("extra", request=request)
    web.edit("p4", "P4 one, a mistake.", "P4 one.", request=request)
    docs.settle()
    assert web.slugs(request=request) == ["", "p1", "p2", "p3", "p4"]
    web.merge()
    docs.settle()
    assert not docs.has("p2/extra.md")
    assert "a mistake" not in web.everything()
    assert ("P1 three, says R." in web.text("p1")) == is_edited
    assert "P1 one, says B." in web.text("p1")


def test_a_clone_that_is_cut_off_asks_for_the_whole_history(docs: Writer, web: Web, team: Team) -> None:
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    docs.edit("p1.md", "P1 two.", "P1 two, says B.")
    web.edit("p1", "P1 three.", "P1 three, says the web.")
    cut = Writer(team.root / "cut")
    docs.git("clone", "--quiet", "--depth=1", f"file://{docs.path}", str(cut.path))
    cut.configure_like(docs)
    assert "fetch the whole history" in cut.run("sync", code=5)
    assert not web.requests()
    cut.git("fetch", "--quiet", "--unshallow")
    cut.run("pull")
    assert "fetch the whole history" not in cut.run("status"), "what was held then is settled"
    cut.run("sync")
    for words in ("P1 one, says B.", "P1 two, says B.", "P1 three, says the web."):
        assert words in cut.read("p1.md")
        assert words in web.text("p1", request=web.proposed())


# Change requests that end otherwise than by a merge.


@pytest.mark.parametrize("how", ["archived", "archived and followed", "branch deleted"])
def test_a_reviewers_words_in_a_change_request_that_is_over_are_in_git(docs: Writer, web: Web, how: str) -> None:
    docs.git("switch", "--quiet", "--create", "topic")
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    docs.run("push")
    request = web.proposed()
    web.edit("p1", "P1 three.", "P1 three, says R.", request=request)
    if how == "branch deleted":
        docs.git("switch", "--quiet", "main")
        docs.git("branch", "--quiet", "-D", "topic")
    else:
        web.archive(request)
        if how == "archived and followed":
            docs.edit("p2.md", "P2 one.", "P2 one, says B.")
            docs.run("push")
    said = docs.run("sync")
    assert docs.git("log", "--all", "--format=%H", "-SP1 three, says R."), said


def test_a_new_commit_after_an_archived_change_request_opens_another(docs: Writer, web: Web) -> None:
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    docs.run("sync")
    first = web.proposed()
    web.archive(first)
    docs.run("sync")
    assert not web.requests()
    docs.edit("p2.md", "P2 one.", "P2 one, says B.")
    docs.run("sync")
    assert web.proposed() > first
    assert "P1 one, says B." in web.text("p1", request=web.proposed())
    assert "P2 one, says B." in web.text("p2", request=web.proposed())


def test_of_two_change_requests_for_a_branch_the_newest_counts_and_the_other_is_told(docs: Writer, web: Web) -> None:
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    docs.run("sync")
    first = web.requests()[-1]
    second = web.client.change_requests.create(web.space, ChangeRequestCreate(subject=first.subject)).number
    web.edit("p2", "P2 one.", "P2 one, says R.", request=first.number)
    docs.edit("p1.md", "P1 three.", "P1 three, says B.")
    said = docs.run("sync")
    assert f"#{first.number}" in said
    docs.run("sync")
    for words in ("P1 one, says B.", "P1 three, says B."):
        assert words in web.text("p1", request=second)
    assert "P1 three." in web.text("p1", request=first.number)
    assert "P2 one, says R." in web.text("p2", request=first.number)
    assert len(web.requests()) == 2
    assert web.text("p1", request=MAIN).count("says B") == 0


def test_no_commit_of_main_content_is_older_than_its_parents(team: Team) -> None:
    """Git stops early on its way through commits that are not in the order of their dates."""
    web = team.space()
    docs = team.repository("docs")
    time.sleep(1.1)  # the revision is older
    docs.write("code.py", "pass\n")
    docs.commit("Code")
    docs.run("init", team.url, f"{web.space}=docs", "--token-file", str(team.token))
    dates = docs.git("log", "--format=%ct", "platform/main").split()
    assert len(dates) > 1
    assert dates == sorted(dates, reverse=True)
