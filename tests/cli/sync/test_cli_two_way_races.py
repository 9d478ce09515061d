"""What happens on the platform in the middle of a run, or was undone there, costs nobody a word.

Run these stories: .venv/bin/python -m pytest -n 2 tests/cli/sync/test_cli_two_way_races.py
"""

import re
from collections.abc import Callable

import pytest

from tests.cli.sync.two_way import MAIN, Interposer, Team, Web, Writer, conflicts, text_of

pytestmark = pytest.mark.story

TRY_AGAIN = (0, 69, 75)
"""Codes of a run that is done, or asks for another one because the platform moved while it read."""


@pytest.fixture
def docs(team: Team, web: Web, interposer: Interposer) -> Writer:
    return team.clone(web.space)


def take_mistake_back(docs: Writer, web: Web) -> None:
    """Take a mistake out of main content, merge what the writer has, and see that the mistake is nowhere."""
    web.edit("p3", "P3 one, a mistake.", "P3 one.")
    docs.settle()
    web.merge()
    docs.settle()
    assert "a mistake" not in web.everything()
    assert "a mistake" not in docs.everything()


def test_a_line_that_somebody_merges_while_syncd_opens_is_a_conflict(
    docs: Writer, web: Web, interposer: Interposer
) -> None:
    docs.edit("p3.md", "P3 two.", "P3 two, says B.")
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    interposer.at("POST", "/change-requests$", lambda: web.edit("p3", "P3 two.", "P3 two, says the web."))
    assert conflicts(docs.run("push", code=6)) == ["p3.md"]
    docs.edit("p3.md", "P3 three.", "P3 three, says B.")
    assert conflicts(docs.run("sync", code=6)) == ["p3.md"]
    web.merge()
    assert "P3 two, says the web." in web.text("p3")
    assert "P1 one, says B." in web.text("p1")
    assert "P3 two, says B." in docs.read("p3.md")
    docs.run("resolve", "p3.md", "--ours")
    docs.run("sync")
    web.merge()
    assert "P3 two, says B." in web.text("p3")


@pytest.mark.parametrize("nth", range(1, 7))
def test_a_line_written_in_main_content_before_an_update_asks_for_it_is_a_conflict(
    docs: Writer, web: Web, interposer: Interposer, nth: int
) -> None:
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    docs.run("push")
    web.edit("p3", "P3 one.", "P3 one, says the web.")
    interposer.at("", "/", lambda: web.edit("p1", "P1 one.", "P1 one, says the web."), nth=nth)
    assert conflicts(docs.run("sync", code=6)) == ["p1.md"]
    assert not interposer.withdraw()
    assert web.requests()[-1].outdated, "an update keeps one side of a conflict, and would hide the other"


@pytest.mark.parametrize("who", ["a reviewer", "somebody in main content"])
def test_lines_that_are_written_just_before_an_update_stand_beside_the_others(
    docs: Writer, web: Web, interposer: Interposer, who: str
) -> None:
    docs.edit("p1.md", "P1 three.", "P1 three, says B.")
    docs.run("push")
    request = web.proposed()
    early, late = (MAIN, request) if who == "a reviewer" else (request, MAIN)
    web.edit("p1", "P1 one.", "P1 one, says the first.", request=early)
    web.edit("p3", "P3 one.", "P3 one, says the web.")
    interposer.at("POST", "/update$", lambda: web.edit("p1", "P1 one.", "P1 one, says the last.", request=late))
    docs.settle()
    web.merge()
    docs.settle()
    for text in (web.text("p1"), docs.read("p1.md")):
        for words in ("P1 one, says the first.", "P1 one, says the last.", "P1 three, says B."):
            assert words in text


@pytest.mark.parametrize("command", ["pull", "sync"])
def test_lines_that_only_the_platform_cannot_merge_are_in_what_anybody_may_merge(
    docs: Writer, web: Web, interposer: Interposer, command: str
) -> None:
    """Git merges an edit with a paragraph that was put behind it; the platform keeps the change request's lines."""
    docs.edit("p2.md", "P2 one.", "P2 one, says B.")
    docs.run("push")
    request = web.proposed()
    web.edit("p1", "P1 one.", "P1 one, says the web.")
    web.edit("p1", "P1 one.", "P1 one.\n\nR was here.", request=request)
    said = docs.run(command)
    assert ("updated from main content" in said) is (command == "sync")
    if command == "sync":
        assert "the platform found conflicts" in said
    else:
        assert web.requests()[-1].outdated
        docs.run("push")
    web.merge()
    docs.settle()
    for text in (web.text("p1"), docs.read("p1.md")):
        assert "P1 one, says the web." in text
        assert "R was here." in text


def test_what_a_reviewer_writes_just_before_syncd_does_is_kept(docs: Writer, web: Web, interposer: Interposer) -> None:
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    docs.run("sync")
    request = web.proposed()
    docs.edit("p1.md", "P1 two.", "P1 two, says B.")
    interposer.at("POST", "/content$", lambda: web.edit("p1", "P1 three.", "P1 three, says R.", request=request))
    docs.settle()
    for text in (web.text("p1", request=request), docs.read("p1.md")):
        for words in ("P1 one, says B.", "P1 two, says B.", "P1 three, says R."):
            assert words in text


def test_a_line_that_a_reviewer_writes_just_before_syncd_does_is_a_conflict(
    docs: Writer, web: Web, interposer: Interposer
) -> None:
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    docs.run("sync")
    request = web.proposed()
    docs.edit("p1.md", "P1 two.", "P1 two, says B.")
    interposer.at("POST", "/content$", lambda: web.edit("p1", "P1 two.", "P1 two, says R.", request=request))
    for _ in range(2):
        assert conflicts(docs.run("sync", code=6)) == ["p1.md"]
        assert "P1 two, says R." in web.text("p1", request=request)
        assert "P1 two, says B." in docs.read("p1.md")


def test_what_a_reviewer_writes_just_after_syncd_did_comes_back(docs: Writer, web: Web, interposer: Interposer) -> None:
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    words = ("P1 one, says B.", "P1 one, says B, better.")
    interposer.at("POST", "/content$", lambda: web.edit("p1", *words, request=web.proposed()), when="after")
    docs.run("sync")
    docs.edit("p1.md", "P1 three.", "P1 three, says B.")
    docs.run("sync")
    for text in (web.text("p1", request=web.proposed()), docs.read("p1.md")):
        assert "P1 one, says B, better." in text
        assert "P1 three, says B." in text


def delete_new(web: Web, request: int) -> None:
    web.delete("new", request=request)


def take_back(web: Web, request: int) -> None:
    web.edit("p1", "P1 one, says B.", "P1 one.", request=request)


def improve(web: Web, request: int) -> None:
    web.edit("p1", "P1 one, says B.", "P1 one, says B, better.", request=request)


@pytest.mark.parametrize("is_killed", [False, True])
@pytest.mark.parametrize("deed", [delete_new, take_back, improve])
def test_what_a_reviewer_does_to_what_just_arrived_stands_whatever_follows(
    docs: Writer, web: Web, interposer: Interposer, deed: Callable[[Web, int], None], is_killed: bool
) -> None:
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    docs.add("new.md", "New")

    def write_twice() -> None:
        request = web.proposed()
        deed(web, request)
        web.edit("p2", "P2 one.", "P2 one, says R.", request=request)
        if is_killed:
            docs.kill()

    interposer.at("POST", "/content$", write_twice, when="after", breaks=is_killed)
    docs.syncd("sync")
    docs.settle()
    request = web.proposed()
    assert ("new" in web.slugs(request=request), docs.has("new.md")) == (deed is not delete_new,) * 2
    for text in (web.text("p1", request=request), docs.read("p1.md")):
        assert ("says B" in text, "better" in text) == (deed is not take_back, deed is improve)
    assert "P2 one, says R." in docs.read("p2.md")


def test_a_page_of_the_first_batch_that_a_reviewer_edits_is_no_conflict(
    docs: Writer, web: Web, interposer: Interposer
) -> None:
    names = [f"n{number:03}" for number in range(60)]
    for name in names:
        docs.write(f"{name}.md", text_of(name.upper()))
    listed = "".join(f"* [{name.upper()}]({name}.md)\n" for name in names)
    docs.write("SUMMARY.md", docs.read("SUMMARY.md").rstrip("\n") + f"\n{listed}")
    docs.commit()

    def write_twice() -> None:
        request = web.proposed()
        web.edit("n003", "N003 one.", "N003 one, says R.", request=request)
        web.delete("n004", request=request)

    interposer.at("POST", "/content$", write_twice, when="after")
    docs.settle()
    assert "N003 one, says R." in docs.read("n003.md")
    assert not docs.has("n004.md")
    assert web.slugs(request=web.proposed())[-1] == "n059"


def test_what_a_reviewer_writes_just_before_a_change_request_is_archived_stays_in_git(
    docs: Writer, web: Web, interposer: Interposer
) -> None:
    docs.git("switch", "--quiet", "--create", "topic")
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    docs.run("push")
    request = web.proposed()
    docs.git("switch", "--quiet", "main")
    docs.git("branch", "--quiet", "--delete", "--force", "topic")
    interposer.at("PATCH", "/change-requests/", lambda: web.edit("p1", "P1 two.", "P1 two, R.", request=request))
    assert "holds edits that topic never had" in docs.run("sync")
    assert "P1 two, R." in docs.git("show", f"refs/syncd/archived/docs/{request}/topic:p1.md")
    assert "holds edits" not in docs.run("sync")
    for words in ((), ("--change-request", request), ("p1.md",)):
        found = re.findall(
            r"fetched +docs/topic  #1 .*; topic was deleted and never had it: git (\S.*?)  ", docs.run("log", *words)
        )
        assert len(found) == 1, words
    assert "+P1 two, R." in docs.git(*found[0].split())
    assert "fetched" not in docs.run("log", "p2.md")


@pytest.mark.parametrize("place", ["main content", "change request"])
def test_past_revisions_whose_pages_are_not_shown_stop_nothing(
    docs: Writer, web: Web, interposer: Interposer, place: str
) -> None:
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    docs.run("sync")
    if place == "main content":
        web.edit("p2", "P2 one.", "P2 one, says the web.")
    else:
        web.edit("p1", "P1 three.", "P1 three, says R.", request=web.proposed())
    web.edit("p2", "P2 two.", "P2 two, says the web.")
    if place == "change request":
        web.update(web.proposed())
    interposer.hidden = re.compile("/revisions/[^/]+/page/")
    docs.settle()
    assert "P2 two, says the web." in docs.read("p2.md")
    assert ("says R." in docs.read("p1.md")) == (place == "change request")


def test_main_content_that_an_update_brings_before_the_mirror_has_it_can_be_taken_back(
    docs: Writer, web: Web, interposer: Interposer
) -> None:
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    docs.run("sync")
    web.edit("p2", "P2 one.", "P2 one, says the web.")
    interposer.at("POST", "/update$", lambda: web.edit("p3", "P3 one.", "P3 one, a mistake."))
    assert "updated from main content" in docs.run("sync")
    assert "P3 one, a mistake." in web.text("p3", request=web.proposed())
    take_mistake_back(docs, web)
    assert not web.requests("draft", "open")


@pytest.mark.parametrize("is_new", [False, True])
@pytest.mark.parametrize("nth", range(2, 11))
def test_main_content_that_a_reviewer_brings_while_syncd_runs_can_be_taken_back(
    docs: Writer, web: Web, interposer: Interposer, nth: int, is_new: bool
) -> None:
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    if not is_new:
        docs.run("sync")
        web.edit("p4", "P4 one.", "P4 one, says R.", request=web.proposed())

    def edit_and_update() -> None:
        web.edit("p3", "P3 one.", "P3 one, a mistake.")
        if web.requests():
            web.update(web.proposed())

    interposer.at("", "/", edit_and_update, nth=nth)
    docs.run("sync")
    take_mistake_back(docs, web)
    assert "P1 one, says B." in web.text("p1")
    assert ("P4 one, says R." in web.text("p4")) != is_new


def test_main_content_that_a_new_change_request_begins_with_can_be_taken_back(
    docs: Writer, web: Web, interposer: Interposer
) -> None:
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    interposer.at("POST", "/change-requests$", lambda: web.edit("p3", "P3 one.", "P3 one, a mistake."))
    told = docs.run("sync")
    request = web.proposed()
    assert f"+ create change request #{request}" in told
    assert "not sent" not in told
    assert "P3 one, a mistake." in web.text("p3", request=request)
    take_mistake_back(docs, web)
    assert "P1 one, says B." in web.text("p1")


def test_a_page_that_a_reviewer_deletes_just_before_syncd_does_is_no_error(
    docs: Writer, web: Web, interposer: Interposer
) -> None:
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    docs.run("sync")
    request = web.proposed()
    docs.delete("p2.md")
    docs.edit("p1.md", "P1 two.", "P1 two, says B.")
    interposer.at("POST", "/content$", lambda: web.delete("p2", request=request))
    docs.run("sync")
    assert "p2" not in web.slugs(request=request)
    assert "P1 two, says B." in web.text("p1", request=request)


@pytest.mark.parametrize("below", ["p1", "p3"])
def test_a_page_that_a_reviewer_adds_just_before_pages_exchange_names_stays(
    docs: Writer, web: Web, interposer: Interposer, below: str
) -> None:
    for old, new in (("p2.md", "between.md"), ("p3.md", "p2.md"), ("between.md", "p3.md")):
        docs.git("mv", old, new)
    table = docs.read("SUMMARY.md").replace("[P2](p2.md)", "[P2](p3.md)").replace("[P3](p3.md)", "[P3](p2.md)")
    docs.write("SUMMARY.md", table)
    docs.commit()
    text = "# Extra\n\nExtra, says R.\n"
    interposer.at("POST", "/content$", lambda: web.add("extra", text, below=below, request=web.proposed()))
    docs.run("push")
    docs.settle()
    assert "Extra, says R." in docs.everything()
    web.merge()
    docs.settle()
    assert "Extra, says R." in web.text("extra")
    assert web.titles()["p2"] == "P3"
    assert web.titles()["p3"] == "P2"


@pytest.mark.parametrize("nth", range(1, 7))
def test_a_change_request_merged_while_sync_runs_is_merged_and_nothing_else(
    docs: Writer, web: Web, interposer: Interposer, nth: int
) -> None:
    docs.add("new.md", "New")
    docs.run("sync")
    web.edit("p2", "P2 one.", "P2 one, says the web.")
    docs.edit("new.md", "New one.", "New one, says B.")
    interposer.at("GET", "/spaces/", web.merge, nth=nth)
    assert docs.syncd("sync").returncode in TRY_AGAIN
    if interposer.withdraw():  # it made fewer requests
        web.merge()
    docs.settle()
    assert [page.title for page in web.pages()] == ["Home", "P1", "P2", "P3", "P4", "New"]
    if web.requests():
        assert [page.title for page in web.pages(request=web.proposed())] == ["Home", "P1", "P2", "P3", "P4", "New"]
        web.merge()
        docs.settle()
    assert "New one, says B." in web.text("new")
    assert docs.tip("HEAD^{tree}") == docs.tip("platform/main^{tree}")


@pytest.mark.parametrize("goes_on", [False, True])
def test_a_space_that_was_restored_from_a_backup_is_held(
    docs: Writer, web: Web, team: Team, interposer: Interposer, goes_on: bool
) -> None:
    backup = team.back_up()
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    docs.run("sync")
    web.merge()
    docs.run("sync")
    web = team.restore(backup, web, interposer)
    if goes_on:
        web.edit("p2", "P2 one.", "P2 one, says the web.")
    before = docs.tip(), docs.tip("platform/main")
    for command in ("pull", "sync", "push", "sync"):
        said = docs.run(command, code=5)
        assert re.search("restored|backup|went back|earlier revision", said), said
        assert (docs.tip(), docs.tip("platform/main")) == before
        assert "P1 one, says B." in docs.read("p1.md")
        assert not web.requests()
    assert docs.syncd("status").returncode == 5


def restored(docs: Writer, web: Web, team: Team, interposer: Interposer) -> Web:
    """Publish words of the writer, restore the platform to before that, and let somebody go on there."""
    backup = team.back_up()
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    docs.run("sync")
    web.merge()
    docs.run("sync")
    web = team.restore(backup, web, interposer)
    web.edit("p2", "P2 one.", "P2 one, says the web.")
    assert "--force restored.docs=1" in docs.run("sync", code=5)
    return web


def test_a_restored_space_is_taken_in_when_a_person_says_so(
    docs: Writer, web: Web, team: Team, interposer: Interposer
) -> None:
    web = restored(docs, web, team, interposer)
    docs.run("sync", "--force", "restored.docs=1")
    docs.settle()
    assert "P1 one.\n" in docs.read("p1.md")
    assert "P2 one, says the web." in docs.read("p2.md")
    assert not web.requests()
    assert docs.tip("HEAD^{tree}") == docs.tip("platform/main^{tree}")


def test_what_a_restored_space_has_lost_is_proposed_again_when_a_person_reverts_that(
    docs: Writer, web: Web, team: Team, interposer: Interposer
) -> None:
    web = restored(docs, web, team, interposer)
    docs.run("pull", "--force", "restored.docs=1")
    went_back = docs.git("log", "--format=%H", "--grep=^Restore", "platform/main").split()
    docs.git("revert", "--no-edit", *went_back)
    docs.settle()
    web.merge()
    docs.settle()
    assert "P1 one, says B." in web.text("p1")
    assert "P2 one, says the web." in web.text("p2")
    assert docs.tip("HEAD^{tree}") == docs.tip("platform/main^{tree}")
