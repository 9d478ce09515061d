"""A page in conflict waits for a person, alone: it loses no word of anybody, and no other page waits for it.

Run these stories: .venv/bin/python -m pytest -n 2 tests/cli/sync/test_cli_two_way_conflicts.py
"""

import pytest

from tests.cli.sync.two_way import AHEAD, BEHIND, HOME, MAIN, Team, Web, Writer, conflicts, text_of
from tests.sampling import sample_cases

pytestmark = pytest.mark.story

UNTAKEN = sample_cases([b"# P2\n\nLike \0 this.\n", b"# P2\n\nLike \xff this.\n"], kept=(0,))


def start_conflict(docs: Writer, web: Web) -> None:
    """Let the writer and somebody in a browser change the same line of p3."""
    docs.edit("p3.md", "P3 two.", "P3 two, says B.")
    web.edit("p3", "P3 two.", "P3 two, says the web.")


@pytest.mark.parametrize("command", ["push", "sync"])
def test_a_change_request_beside_a_conflict_takes_nothing_back_when_the_next_one_comes(
    docs: Writer, web: Web, command: str
) -> None:
    """Main content came into no branch, or not into this one: an uncommitted edit was in the way."""
    start_conflict(docs, web)
    web.edit("p1", "P1 one.", "P1 one, says A.")
    web.rename("p1", "first")
    docs.retitle("P4", "Fourth")
    if command == "sync":
        docs.write("p1.md", docs.read("p1.md") + "\nNot committed.\n")
    docs.syncd(command)
    web.merge()
    if command == "sync":
        docs.git("checkout", "--", "p1.md")
    docs.edit("p1.md", "P1 three.", "P1 three, says B.")
    assert conflicts(docs.run(command, code=6)) == ["p3.md"]
    proposed = web.proposed()
    assert "P1 one, says A." in web.everything(request=proposed)
    assert "first" in web.slugs(request=proposed)
    web.merge()
    assert "P1 one, says A." in web.text("first")
    assert "P1 three, says B." in web.text("first")
    assert "P3 two, says the web." in web.text("p3")
    assert web.titles()["p4"] == "Fourth"


def test_what_waits_until_a_change_request_has_a_page_of_main_content_is_named(docs: Writer, web: Web) -> None:
    with (docs.path / ".git" / "syncd.toml").open("a") as file:
        file.write('\n[repository.change_requests]\nupdate = "never"\n')
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    docs.run("sync")
    request = web.proposed()
    web.add("new", "# New\n\nNew one.\n")
    docs.run("sync")
    docs.edit("new.md", "New one.", "New one, says B.")
    for _ in range(2):
        assert f"new.md after #{request} began" in docs.run("sync")
    said = docs.run("status")
    assert f"! not sent: new.md waits until #{request} is updated or merged" in said
    assert "1 file sent later" in said
    web.client.change_requests.refresh(web.space, str(request))
    docs.run("sync")
    assert "not sent" not in docs.run("status")
    web.merge()
    assert "New one, says B." in web.text("new")


def test_lines_that_a_merge_in_the_browser_took_out_of_a_page_in_conflict_are_named(docs: Writer, web: Web) -> None:
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    docs.run("push")
    request = web.proposed()
    web.edit("p3", "P3 two.", "P3 two, says R.", request=request)
    web.edit("p3", "P3 two.", "P3 two, says the web.")
    assert conflicts(docs.run("sync", code=6)) == ["p3.md"]
    assert web.client.change_requests.merge(web.space, str(request)).result == "conflicts"
    said = docs.run("sync")
    assert f"#{request} was merged on the platform while it was in conflict with main content" in said
    command = said.split("is gone: git ")[1].splitlines()[0]
    assert "-P3 two, says the web." in docs.git(*command.split())
    assert "is gone" not in docs.run("sync")


def test_lines_are_named_where_the_merge_in_the_browser_moved_their_page(docs: Writer, web: Web) -> None:
    docs.rename("p3.md", "s7.md")
    docs.edit("s7.md", "P3 two.", "P3 two, says B.")
    docs.run("push")
    request = web.proposed()
    web.edit("p3", "P3 two.", "P3 two, says the web.")
    assert web.client.change_requests.merge(web.space, str(request)).result == "conflicts"
    said = docs.run("sync")
    command = said.split("is gone: git ")[1].splitlines()[0]
    assert "-P3 two, says the web." in docs.git(*command.split())


def test_a_title_that_a_merge_in_the_browser_took_out_is_named(docs: Writer, web: Web) -> None:
    docs.retitle("P3", "Ours")
    docs.retitle("P4", "Fourth")
    docs.run("push")
    request = web.proposed()
    web.retitle("p3", "Theirs")
    assert web.client.change_requests.merge(web.space, str(request)).result == "conflicts"
    said = docs.run("sync")
    command = said.split("is gone: git ")[1].splitlines()[0]
    assert "-* [Theirs](p3.md)" in docs.git(*command.split())
    assert "is gone" not in docs.run("sync")


def test_lines_of_a_page_that_a_merge_in_the_browser_deletes_are_named(docs: Writer, web: Web) -> None:
    docs.delete("p3.md")
    docs.delete("p4.md")
    docs.run("push")
    web.edit("p3", "P3 two.", "P3 two, says the web.")
    request = web.proposed()
    assert web.client.change_requests.merge(web.space, str(request)).result == "conflicts"
    said = docs.run("sync")
    command = said.split("is gone: git ")[1].splitlines()[0]
    assert "-P3 two, says the web." in docs.git(*command.split())
    assert "p4.md" not in command
    assert "is gone" not in docs.run("sync")


def test_what_waited_beside_a_conflict_is_whole_once_it_is_resolved(docs: Writer, web: Web) -> None:
    start_conflict(docs, web)
    web.edit("p1", "P1 one.", "P1 one, says A.")
    docs.retitle("P4", "Fourth")
    docs.run("push", code=6)
    web.merge()
    docs.run("sync", code=6)
    docs.run("resolve", "p3.md", "--ours")
    docs.run("sync")
    web.merge()
    docs.run("sync")
    assert "P3 two, says B." in web.text("p3")
    assert "P1 one, says A." in docs.read("p1.md")
    assert docs.tip("HEAD^{tree}") == docs.tip("platform/main^{tree}")


def test_a_line_in_conflict_with_a_reviewers_waits_where_main_content_moved_the_page(docs: Writer, web: Web) -> None:
    docs.edit("README.md", "Home one.", "Home one, says B.")
    docs.run("sync")
    request = web.proposed()
    web.edit("p1", "P1 one.", "P1 one, says R.", request=request)
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    web.add("w", "# W\n\nW one.\n", below="p1")  # so that the page is p1/README.md
    assert conflicts(docs.run("push", code=6)) == ["p1/README.md"]
    docs.run("sync", code=6)
    assert "P1 one, says B." in docs.read("p1/README.md")
    docs.run("resolve", "p1/README.md", "--ours")
    docs.settle()
    assert "P1 one, says B." in web.text("p1", request=request)


def test_a_resolved_conflict_stays_so_where_main_content_has_a_new_page_with_a_link(docs: Writer, web: Web) -> None:
    docs.rename("p1.md", "first.md")
    docs.edit("p3.md", "P3 two.", "P3 two, says B.")
    docs.run("push")
    request = web.proposed()
    web.edit("p3", "P3 two.", "P3 two, says the web.")
    web.add("w", "# W\n\nW one, see [it](../p1.md).\n", below="p4")
    assert conflicts(docs.run("sync", code=6)) == ["p3.md"]
    docs.edit("p4/w.md", "W one", "W one, says B")
    docs.run("resolve", "p3.md", "--ours")
    docs.run("sync")  # in the change request, the link reads as neither main content nor the branch has it
    assert web.text("p3", request=request).count("P3 two") == 1
    assert "says B, see [it](../first.md)" in web.text("w", request=request)
    web.merge()
    docs.settle()
    assert "P3 two, says B." in web.text("p3")


def test_a_conflict_told_by_push_deletes_no_page_of_others_at_the_next_sync(docs: Writer, web: Web) -> None:
    web.edit("p2", "P2 one.", "P2 one, says the web.")
    web.edit("p4", "P4 one.", "P4 one, says the web.")
    web.retitle("p1", "First")
    web.add("w1", "# W1\n\nAnother page.\n", below="p1")
    docs.edit("p2.md", "P2 one.", "P2 one, says A.")
    docs.edit("README.md", "Home one.", "Home one, says A.")
    assert conflicts(docs.run("push", code=6)) == ["p2.md"]
    web.add("w2", "# W2\n\nOne more page.\n", below="p1")
    said = docs.run("sync", code=6)
    assert conflicts(said) == ["p2.md"]
    assert "delete" not in said
    for request in (web.proposed(), 0):
        assert web.slugs(request=request) == [HOME, "p1", "w1", "w2", "p2", "p3", "p4"]
        assert web.titles(request=request)["p1"] == "First"
        assert "P4 one, says the web." in web.text("p4", request=request)
        if request:
            web.merge(request)
    assert "Home one, says A." in web.text(HOME)
    assert "P2 one, says the web." in web.text("p2")


def test_a_page_is_not_deleted_while_a_page_in_conflict_links_to_it(docs: Writer, web: Web) -> None:
    docs.edit("p3.md", "P3 one.", "See [it](p4.md).")
    docs.run("sync")
    web.merge()
    docs.run("sync")
    docs.replace("p3.md", "See [it](p4.md).", "See nothing.")
    docs.delete("p4.md")
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    web.edit("p3", "See ", "Do see ")
    assert conflicts(docs.run("sync", code=6)) == ["p3.md"]
    assert "p4" in web.slugs(request=web.proposed())
    assert "P1 one, says B." in web.text("p1", request=web.proposed())
    docs.run("resolve", "p3.md", "--ours")
    docs.settle()
    assert "p4" not in web.slugs(request=web.proposed())
    assert "See nothing." in web.text("p3", request=web.proposed())
    assert not docs.has("p4.md")


def test_a_conflict_in_one_space_holds_nothing_in_another(team: Team) -> None:
    one, two = team.space("one"), team.space("two")
    docs = team.clone(f"{one.space}=one", f"{two.space}=two")
    docs.edit("one/p3.md", "P3 two.", "P3 two, says B.")
    one.edit("p3", "P3 two.", "P3 two, says the web.")
    docs.edit("two/p3.md", "P3 two.", "P3 two, says B.")
    two.edit("p3", "P3 three.", "P3 three, says the web.")
    for _ in range(2):
        assert conflicts(docs.run("sync", code=6)) == ["one/p3.md"]
        assert "P3 three, says the web." in docs.read("two/p3.md")
    assert not one.requests()
    two.merge()
    assert conflicts(docs.run("sync", code=6)) == ["one/p3.md"]
    assert "P3 two, says B." in two.text("p3")
    assert "P3 three, says the web." in two.text("p3")
    docs.run("resolve", "one/p3.md", "--theirs")
    docs.settle()
    assert not one.requests()
    assert docs.git("diff", "HEAD", "platform/main") == ""


@pytest.mark.parametrize("bad", UNTAKEN, ids=["NUL", "not UTF-8"])
def test_a_page_that_no_platform_takes_stops_no_other_page(docs: Writer, web: Web, bad: bytes) -> None:
    docs.write("p2.md", bad)
    docs.edit("p1.md", "P1 one.", "P1 one, says A.")
    for _ in range(2):
        assert "p2.md:3:6" in docs.run("push", code=65)
    assert "P1 one, says A." in web.text("p1", request=web.proposed())
    assert "P2 one." in web.text("p2", request=web.proposed())
    assert len(web.requests()) == 1
    assert "p2.md:3:6: error" in docs.syncd("check").stdout
    web.edit("p3", "P3 one.", "P3 one, says the web.")
    docs.run("sync", code=65)
    assert "P3 one, says the web." in docs.read("p3.md")
    docs.write("p2.md", "# P2\n\nLike this.\n")
    docs.commit()
    docs.run("sync")
    assert "Like this." in web.text("p2", request=web.proposed())


@pytest.mark.parametrize("bad", UNTAKEN, ids=["NUL", "not UTF-8"])
def test_a_page_that_no_platform_takes_leaves_no_empty_change_request(docs: Writer, web: Web, bad: bytes) -> None:
    docs.write("p2.md", bad)
    docs.commit()
    assert "p2.md:3:6" in docs.run("push", code=65)
    assert "p2.md:3:6" in docs.run("sync", code=65)
    assert not web.requests()


def start_title_conflict(docs: Writer, web: Web) -> int:
    """Let the writer and a reviewer of his change request retitle p3; return the change request."""
    docs.edit("p1.md", "P1 one.", "P1 one, says A.")
    docs.run("push")
    request = web.proposed()
    web.retitle("p3", "Third", request=request)
    docs.retitle("P3", "Dritte")
    return request


@pytest.mark.parametrize("side", ["ours", "theirs"])
def test_a_title_in_conflict_with_a_reviewer_waits_until_it_is_resolved(docs: Writer, web: Web, side: str) -> None:
    request = start_title_conflict(docs, web)
    for command in ("sync", "push", "sync"):
        assert conflicts(docs.run(command, code=6)) == ["p3.md"]
        assert "[Dritte](p3.md)" in docs.read("SUMMARY.md")
        assert web.titles(request=request)["p3"] == "Third"
    assert "p3.md" in docs.run("resolve", code=6)
    docs.run("resolve", "p3.md", f"--{side}")
    title = {"ours": "Dritte", "theirs": "Third"}[side]
    for _ in range(2):
        docs.run("sync")
        assert f"[{title}](p3.md)" in docs.read("SUMMARY.md")
        assert web.titles(request=request)["p3"] == title


@pytest.mark.parametrize(
    ("how", "is_reviewer", "clock"),
    sample_cases(
        [("text", True, AHEAD), ("text", False, BEHIND), ("title", True, BEHIND), ("title", False, AHEAD)], kept=(1, 2)
    ),
)
def test_a_page_that_is_resolved_stays_so_when_the_next_one_is(
    docs: Writer, web: Web, how: str, is_reviewer: bool, clock: str
) -> None:
    docs.clock = clock
    docs.edit("p1.md", "P1 one.", "P1 one, says A.")
    docs.run("push")
    request = web.proposed() if is_reviewer else MAIN
    if how == "text":
        docs.edit("README.md", "Home two.", "Home two, says A.")
        web.edit(HOME, "Home two.", "Home two, says R.", request=request)
    else:
        docs.retitle("Home", "Start")
        web.retitle(HOME, "Welcome", request=request)
    docs.edit("p2.md", "P2 two.", "P2 two, says A.")
    web.edit("p2", "P2 two.", "P2 two, says R.", request=request)
    assert conflicts(docs.run("sync", code=6)) == ["README.md", "p2.md"]
    docs.run("resolve", "README.md", "--ours")
    editor = docs.path.parent / "editor.sh"
    editor.write_text('#!/bin/sh\nprintf "# P2\\n\\nBoth.\\n" > "$1"\n')
    editor.chmod(0o755)
    edited = docs.syncd("resolve", "p2.md", "--edit", EDITOR=str(editor))
    assert edited.returncode == 0, edited.stdout + edited.stderr
    if how == "text":
        assert "Home two, says A." in docs.read("README.md")
    else:
        assert "[Start](README.md)" in docs.read("SUMMARY.md")
    assert "Both." in docs.read("p2.md")
    docs.run("sync")
    assert "Both." in web.text("p2", request=web.proposed())
    if how == "text":
        assert "Home two, says A." in web.text(HOME, request=web.proposed())
    else:
        assert web.titles(request=web.proposed())[HOME] == "Start"


def test_only_choices_that_there_are_are_offered(docs: Writer, web: Web) -> None:
    docs.rename("p1.md", "new.md")
    docs.retitle("P2", "Second")
    docs.edit("p3.md", "P3 one.", "P3 one, says Ann.")
    web.add("new", text_of("New"))
    web.retitle("p2", "The second")
    web.edit("p3", "P3 one.", "P3 one, says Bea.")
    said = docs.run("sync", code=6)
    for path, choices in {"new.md": "or --theirs", "p2.md": "or --theirs", "p3.md": "--theirs or --edit"}.items():
        (hint,) = (line for line in said.splitlines() if f"syncd resolve {path}, with --ours" in line)
        assert hint.endswith(f" {choices}")
        done = docs.syncd("resolve", path, "--edit", EDITOR="true", VISUAL="")
        assert ("has no lines to choose from" in done.stderr) is ("--edit" not in choices), path
        if "--edit" not in choices:  # nobody's page is emptied for a hunk that there is not
            assert "has no lines to choose from" in docs.run("resolve", path, "--hunk", "1", "--ours", code=64)
    assert docs.read("new.md") == text_of("P1")


@pytest.mark.parametrize("side", ["ours", "theirs"])
def test_what_resolve_keeps_of_a_branch_is_sent_though_its_change_request_was_archived(
    docs: Writer, web: Web, side: str
) -> None:
    docs.edit("p3.md", "P3 one.", "Ours.")
    docs.edit("p4.md", "P4 one.", "P4, ours.")
    web.edit("p3", "P3 one.", "Theirs.")
    docs.run("sync", code=6)
    first = web.proposed()
    web.archive(first)
    docs.run("sync", code=6)
    docs.run("resolve", "p3.md", f"--{side}")
    said = docs.run("sync")
    assert docs.git("log", "-1", "--format=%(trailers:key=Syncd-Resolved,valueonly)").strip() == side
    if side == "theirs":
        assert f"not sent: p4.md: #{first} was archived with that" in said
        assert web.requests() == []
    else:
        assert "was archived with that" not in said
        assert "Ours." in web.text("p3", request=web.proposed())


@pytest.mark.parametrize(("side", "left"), [("ours", "P3 three, says the web."), ("theirs", "P3 two, says B.")])
def test_what_else_is_left_out_of_a_page_that_is_taken_as_a_whole_is_named(
    docs: Writer, web: Web, side: str, left: str
) -> None:
    docs.edit("p3.md", "P3 one.", "P3 one, says B.")
    docs.edit("p3.md", "P3 two.", "P3 two, says B.")
    web.edit("p3", "P3 one.", "P3 one, says the web.")
    web.edit("p3", "P3 three.", "P3 three, says the web.")
    docs.run("pull", code=6)
    said = docs.run("resolve", "p3.md", f"--{side}")
    command = said.split("in it beside the hunks: git ")[1].splitlines()[0]
    assert left in docs.git(*command.split())
    assert left not in docs.read("p3.md")


def test_nothing_is_said_of_a_page_that_was_taken_as_a_whole_and_has_all(docs: Writer, web: Web) -> None:
    docs.edit("p3.md", "P3 one.", "P3 one, says B.")
    web.edit("p3", "P3 one.", "P3 one, says the web.")
    docs.run("pull", code=6)
    assert "note:" not in docs.run("resolve", "p3.md", "--ours")


def test_a_conflict_with_a_change_request_is_over_when_that_is_archived(docs: Writer, web: Web) -> None:
    docs.edit("p1.md", "P1 one.", "P1 one, says A.")
    docs.run("push")
    web.edit("p1", "P1 one, says A.", "P1 one, says R.", request=web.proposed())
    docs.edit("p1.md", "P1 one, says A.", "P1 one, says B.")
    assert conflicts(docs.run("sync", code=6)) == ["p1.md"]
    web.archive(web.proposed())
    docs.syncd("sync")
    assert "! conflict" not in docs.run("status")
    assert docs.run("resolve") == "No page is in conflict.\n"
