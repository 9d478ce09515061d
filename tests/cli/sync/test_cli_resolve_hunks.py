"""`syncd resolve`, hunk by hunk: who wrote each side and when, and what is settled stays so until the last one is."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from syncd.cli.sync.conflict_lines import underline_new_words
from syncd.fault_points import FaultPoint
from tests.cli.sync.two_way import FOUR, HOME, MAIN, Team, Web, Writer, text_of
from tests.stopping import run_until_stopped

pytestmark = pytest.mark.story

MIXED = "# P1\n\nP1 one, says B.\n\nP1 two.\n\nP1 three, says the web.\n"


@pytest.fixture
def torn(docs: Writer, web: Web) -> Writer:
    """A clone in which two places of p1 are in conflict with main content."""
    docs.clock = "2031-02-03T05:05:06+01:00"
    docs.replace("p1.md", "P1 three.", "P1 three, says B.")
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    web.edit("p1", "P1 one.", "P1 one, says the web.")
    web.edit("p1", "P1 three.", "P1 three, says the web.")
    docs.run("pull", code=6)
    return docs


def held(docs: Writer) -> list[dict[str, Any]]:
    found = json.loads(docs.syncd("resolve", "--json").stdout)["repositories"][0]["held"]
    assert isinstance(found, list)
    return found


def drafts(docs: Writer) -> list[Path]:
    return [path for path in (docs.path / ".git" / "syncd" / "resolve").rglob("*") if path.is_file()]


def test_only_what_is_in_conflict_is_shown_with_who_wrote_it_and_when(torn: Writer) -> None:
    said = torn.run("resolve", code=6)
    shown = said.splitlines()
    assert shown[0] == "! p1.md: both sides changed the same lines (main and platform/main)"
    assert "  Hunk 1 of 2" in shown
    assert "  Hunk 2 of 2" in shown
    assert "        | P1 one." in shown
    assert "      3 < P1 one, says B." in shown
    assert "      7 > P1 three, says the web." in shown
    assert f"ours, main: A. Writer, 2031-02-03 04:05:06 UTC, {torn.tip()[:7]} Mine" in said
    assert "theirs, platform/main: Owner, 20" in said
    assert "Next: syncd resolve p1.md --ours, --theirs or --edit" in shown
    (page,) = held(torn)
    first, second = page["hunks"]
    assert (first["number"], first["base"], first["is_settled"]) == (1, ["P1 one."], False)
    assert second["ours"]["lines"] == ["P1 three, says B."]
    assert (second["theirs"]["line"], second["theirs"]["lines"]) == (7, ["P1 three, says the web."])
    assert [author["name"] for author in second["ours"]["authors"]] == ["A. Writer"]
    assert second["ours"]["authors"][0]["commit"] == torn.tip()


def test_a_page_is_settled_with_its_last_hunk(torn: Writer, web: Web) -> None:
    before = torn.tip()
    said = torn.run("resolve", "p1.md", "--hunk", "2", "--theirs")
    assert "p1.md stays in conflict until hunk 1 is settled too" in said
    assert torn.tip() == before, "nothing half-done is committed"
    shown = torn.run("resolve", "p1.md", code=6)
    assert "Hunk 1 of 2" in shown
    assert "Hunk 2 of 2" not in shown
    assert "1 of 2 hunks are settled" in shown
    assert [hunk["is_settled"] for hunk in held(torn)[0]["hunks"]] == [False, True]
    assert "p1.md is settled in main" in torn.run("resolve", "p1.md", "--hunk", "1", "--ours")
    assert torn.read("p1.md") == MIXED
    assert len(torn.git("rev-parse", "HEAD^@").split()) == 2, "the last decision makes it a merge"
    assert drafts(torn) == []
    torn.run("push")
    web.merge()
    assert web.text("p1") == MIXED


def test_several_hunks_are_settled_at_once(torn: Writer) -> None:
    torn.run("resolve", "p1.md", "--hunk", "1,2", "--theirs")
    assert torn.read("p1.md") == MIXED.replace("says B", "says the web")


def test_what_was_settled_is_dropped_when_a_side_moves_on(torn: Writer, web: Web) -> None:
    torn.run("resolve", "p1.md", "--hunk", "2", "--ours")
    web.edit("p1", "P1 three, says the web.", "P1 three, says the web again.")
    torn.run("pull", code=6)
    said = torn.run("resolve", code=6)
    assert "p1.md changed after you had settled some of its hunks" in said
    assert "Hunk 2 of 2" in said
    assert "P1 three, says B." in drafts(torn)[0].read_text(), "no word of a person is thrown away"
    assert "changed after" not in torn.run("resolve", code=6), "it is said once"


def test_the_editor_shows_what_is_left(torn: Writer, tmp_path: Path) -> None:
    torn.run("resolve", "p1.md", "--hunk", "2", "--theirs")
    editor = tmp_path / "editor"
    editor.write_text(
        f"#!/bin/sh\ncp \"$1\" {tmp_path}/seen\nsed -i -e '/^[<>|=]\\{{7\\}}/d' -e '/^P1 one\\.$/d' \"$1\"\n"
    )
    editor.chmod(0o755)
    assert "p1.md is settled" in torn.syncd("resolve", "p1.md", "--edit", EDITOR=str(editor)).stdout
    assert (tmp_path / "seen").read_text().count("<<<<<<< main") == 1
    assert torn.read("p1.md").splitlines()[2:] == [
        "P1 one, says B.",
        "P1 one, says the web.",
        *MIXED.splitlines()[3:],
    ]


def test_a_marker_that_was_overlooked_is_not_committed(torn: Writer, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nsed -i -e '/^[|=>]\\{7\\}/d' \"$1\"\n")
    editor.chmod(0o755)
    done = torn.syncd("resolve", "p1.md", "--edit", EDITOR=str(editor))
    assert done.returncode == 6
    assert "still has markers" in done.stderr
    assert "<<<<<<<" not in torn.read("p1.md")
    assert "No hunk is left, but nothing is recorded yet: --edit shows" in torn.run("resolve", code=6)


def test_an_edit_in_the_way_loses_no_decision(torn: Writer) -> None:
    torn.run("resolve", "p1.md", "--hunk", "2", "--theirs")
    torn.write("p1.md", "Not committed.\n")
    torn.run("resolve", "p1.md", "--hunk", "1", "--ours", code=5)
    assert torn.read("p1.md") == "Not committed.\n"
    assert "No hunk is left, but nothing is recorded yet" in torn.run("resolve", code=6)
    torn.git("checkout", "--", "p1.md")
    torn.run("resolve", "p1.md", "--hunk", "1", "--ours")
    assert torn.read("p1.md") == MIXED


def test_a_kill_before_the_branch_moves_loses_no_decision(torn: Writer) -> None:
    torn.run("resolve", "p1.md", "--hunk", "2", "--theirs")
    before = torn.tip()
    command = [sys.executable, "-m", "syncd", "resolve", "p1.md", "--hunk", "1", "--ours"]
    with run_until_stopped(FaultPoint.MERGE_WRITTEN, command, cwd=torn.path):
        pass
    assert torn.tip() == before
    assert held(torn)[0]["path"] == "p1.md"
    torn.run("resolve", "p1.md", "--hunk", "1", "--ours")
    assert torn.read("p1.md") == MIXED


def test_what_cannot_be_meant_is_refused(torn: Writer) -> None:
    refused = [
        ("p1.md --hunk 1", "--hunk needs --ours or --theirs"),
        ("p1.md --hunk 1 --edit", "--hunk needs --ours or --theirs"),
        ("p1.md --hunk 3 --ours", "p1.md has no open hunk 3; open: 1, 2"),
        ("p1.md --hunk one --ours", "'one' is no number of a hunk"),
        ("--hunk 1 --ours", "name the pages to settle"),
        ("p1.md --interactive", "--interactive asks on a terminal"),
        ("p1.md -p --ours", "--ours and --interactive exclude each other"),
    ]
    for words, complaint in refused:
        assert complaint in " ".join(torn.run("resolve", *words.split(), code=64).split())
    assert drafts(torn) == []


def test_a_person_is_asked_for_each_hunk_on_a_terminal(torn: Writer) -> None:
    assert "Hunk 2 of 2" in typed(torn, "t\nx\nq\n")
    assert [hunk["is_settled"] for hunk in held(torn)[0]["hunks"]] == [True, False]
    said = typed(torn, "o\n")
    assert "\x1b[32m" in said, "in colour"
    assert "p1.md is settled in main" in said
    assert torn.read("p1.md") == MIXED.replace("one, says B", "one, says the web").replace(
        "three, says the web", "three, says B"
    )


def typed(docs: Writer, answers: str) -> str:
    """What `syncd resolve -p` says to somebody who types answers."""
    person, terminal = pty.openpty()
    command = [sys.executable, "-m", "syncd", "resolve", "-p"]
    given = {**os.environ, "TERM": "xterm"}
    with subprocess.Popen(
        command, cwd=docs.path, stdin=terminal, stdout=terminal, stderr=terminal, env=given
    ) as asking:
        os.close(terminal)
        os.write(person, answers.encode())
        said = b""
        while True:
            try:
                said += os.read(person, 4096)
            except OSError:  # nobody is at the other end any more
                break
        asking.wait()
    os.close(person)
    return said.decode()


def test_a_title_is_told_in_words(docs: Writer, web: Web) -> None:
    docs.retitle("P3", "Mine")
    web.retitle("p3", "Theirs")
    docs.run("pull", code=6)
    said = docs.run("resolve", code=6)
    assert "ours, main: calls it “Mine”: A. Writer" in said
    assert "theirs, platform/main: calls it “Theirs”: Owner" in said
    assert "--edit" not in said
    (page,) = held(docs)
    assert page["hunks"] == []
    assert page["pages"][0]["theirs"]["what"] == "calls it “Theirs”"
    docs.run("resolve", "p3.md", "--edit", code=64)
    assert "[o]urs, [t]heirs, [s]kip, [q]uit? " in typed(docs, "e\nt\n")
    assert "[Theirs](p3.md)" in docs.read("SUMMARY.md")


@pytest.fixture
def crlf(docs: Writer, web: Web) -> Writer:
    """A clone in which one line of p1 is in conflict with main content, and Git gave the page CRLF."""
    docs.write("p1.md", docs.read("p1.md").replace("\n", "\r\n"))
    docs.commit()
    ours = (docs.path / "p1.md").read_bytes()
    docs.write("p1.md", ours.replace(b"one.", b"one, says B.").replace(b"three.", b"three, says B."))
    docs.commit()
    web.edit("p1", "P1 one.", "P1 one, says the web.")
    docs.run("sync", code=6)
    return docs


def test_a_title_is_its_authors_where_the_merge_has_moved_the_entry(docs: Writer, web: Web, team: Team) -> None:
    docs.replace("SUMMARY.md", "[P1]", "[Mine]")
    docs.commit("Another page")
    docs.replace("SUMMARY.md", "[P2]", "[Mine]")
    docs.commit("This page")
    listed = FOUR["SUMMARY.md"].replace("* [P2](p2.md)\n", "")
    team.replace_content(web, {**FOUR, "SUMMARY.md": f"{listed}* [Theirs](p2.md)\n"})
    docs.run("sync", code=6)
    said = docs.run("resolve", code=6)
    (line,) = [line for line in said.splitlines() if "calls it “Mine”" in line]
    assert "A. Writer" in line
    assert line.endswith(" This page")


def test_a_page_with_crlf_keeps_its_line_ends_and_what_only_git_changed(crlf: Writer) -> None:
    (hunk,) = held(crlf)[0]["hunks"]
    assert (hunk["base"], hunk["ours"]["lines"]) == (["P1 one."], ["P1 one, says B."])
    assert (hunk["theirs"]["line"], hunk["theirs"]["lines"]) == (3, ["P1 one, says the web."])
    crlf.run("resolve", "p1.md", "--hunk", "1", "--theirs")
    settled = MIXED.replace("one, says B", "one, says the web").replace("three, says the web", "three, says B")
    assert (crlf.path / "p1.md").read_bytes() == settled.replace("\n", "\r\n").encode()
    crlf.settle()


def test_the_editor_shows_a_page_with_crlf_with_one_kind_of_line_ends(crlf: Writer, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text(f'#!/bin/sh\ncp "$1" {tmp_path}/seen\nexit 1\n')
    editor.chmod(0o755)
    assert crlf.syncd("resolve", "p1.md", "--edit", EDITOR=str(editor)).returncode == 6
    seen = (tmp_path / "seen").read_bytes()
    assert b"P1 one, says the web.\r\n" in seen
    assert seen.count(b"\n") == seen.count(b"\r\n")


def retitle_beside_a_hunk(docs: Writer, web: Web, request: int = MAIN) -> None:
    """Let both sides change one line of p1 and give it another title."""
    web.edit("p1", "P1 one.", "P1 one, says the web.", request=request)
    web.retitle("p1", "Theirs", request=request)
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    docs.retitle("P1", "Mine")
    docs.run("sync", code=6)


@pytest.mark.parametrize("lane", ["main content", "change request"])
def test_a_title_in_conflict_is_a_hunk_beside_those_of_the_text(docs: Writer, web: Web, lane: str) -> None:
    docs.edit("p2.md", "P2 one.", "P2 one, says B.")
    docs.run("sync")
    retitle_beside_a_hunk(docs, web, web.proposed() if lane == "change request" else MAIN)
    said = docs.run("resolve", code=6)
    assert "! p1.md: both sides changed the same lines, and its titles differ (main and platform/" in said
    for line in ("Hunk 1 of 2", "| title: P1", "< title: Mine", "> title: Theirs", "Hunk 2 of 2", "< P1 one, says B."):
        assert line in said
    title, text = held(docs)[0]["hunks"]
    assert (title["theirs"]["line"], title["theirs"]["lines"]) == (None, ["title: Theirs"])
    assert [author["name"] for author in title["ours"]["authors"]] == ["A. Writer"]
    assert text["ours"]["line"] == 3
    docs.run("resolve", "p1.md", "--hunk", "2", "--ours")
    assert "P1 one, says B." not in docs.run("resolve", code=6), "the title waits"
    docs.run("resolve", "p1.md", "--hunk", "1", "--theirs")
    docs.settle()
    assert docs.read("p1.md") == text_of("P1").replace("# P1", "# Theirs").replace("P1 one.", "P1 one, says B.")
    assert "[Theirs](p1.md)" in docs.read("SUMMARY.md")
    assert web.titles(request=web.proposed())["p1"] == "Theirs"


def test_the_editor_shows_a_title_in_conflict_above_the_text(docs: Writer, web: Web, tmp_path: Path) -> None:
    retitle_beside_a_hunk(docs, web)
    editor = tmp_path / "editor"

    def edit(script: str) -> "subprocess.CompletedProcess[str]":
        editor.write_text(f'#!/bin/sh\nsed -i -e "{script}" "$1"\n')
        editor.chmod(0o755)
        return docs.syncd("resolve", "p1.md", "--edit", EDITOR=str(editor))

    refused = edit("/^[<>|=]\\{7\\}/d")
    assert refused.returncode == 6
    assert "p1.md has to begin with its title, “title: Mine” or “title: Theirs”" in " ".join(refused.stderr.split())
    assert edit("1,2d;/^P1 one\\./d").returncode == 0
    assert docs.read("p1.md").splitlines()[:5] == ["# Theirs", "", "P1 one, says B.", "P1 one, says the web.", ""]
    assert "[Theirs](p1.md)" in docs.read("SUMMARY.md")


def test_new_words_of_a_long_line_are_underlined() -> None:
    assert underline_new_words(["  Wait until it has ended. "], ["  Wait until it is over. "]) == [
        "  Wait until it \x1b[4mhas\x1b[24m \x1b[4mended.\x1b[24m"
    ]
    assert underline_new_words([" " * 200_000, "a" + " " * 200_000], ["a"]) == ["", "a"], (
        "spaces at an end are not shown"
    )
    assert underline_new_words(["None.", "", "At all."], ["Some."]) == ["None.", "", "At all."], "most words are new"


def test_what_a_change_request_and_main_content_have_alike_is_settled_once(docs: Writer, web: Web) -> None:
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    web.edit("p1", "P1 one.", "P1 one, says the web.")
    docs.edit("p2.md", "P2 one.", "P2 one, says B.")
    docs.run("sync", code=6)
    web.update(web.proposed())
    docs.run("sync", code=6)
    said = docs.run("resolve", code=6)
    assert said.count("! p1.md") == 2
    assert said.count("< P1 one, says B.") == 1
    docs.run("resolve", "p1.md", "--hunk", "1", "--ours")
    assert "No page is in conflict." in docs.run("resolve")


def test_a_choice_of_lines_drops_no_title_and_no_name_that_a_side_gave_the_page(docs: Writer, web: Web) -> None:
    docs.rename("p1.md", "guide/first.md")
    docs.edit("guide/first.md", "P1 one.", "P1 one, says B.")
    docs.edit("p2.md", "P2 one.", "P2 one, says B.")
    docs.edit("p4.md", "P4 one.", "P4 one, see [it](p2.md).")
    web.edit("p1", "P1 one.", "P1 one, see [it](p3.md).")
    web.retitle("p1", "First")
    web.edit("p2", "P2 one.", "P2 one, says the web.")
    web.rename("p2", "second")
    docs.run("pull", code=6)
    docs.run("resolve", "guide/first.md", "--hunk", "1", "--theirs")
    docs.run("resolve", "p2.md", "--hunk", "1", "--ours")
    for listed in ("[First](guide/first.md)", "[P2](second.md)"):
        assert listed in docs.read("SUMMARY.md")
    assert "P1 one, see [it](../p3.md)." in docs.read("guide/first.md")
    assert "P2 one, says B." in docs.read("second.md")
    assert not docs.has("p2.md")
    docs.settle()
    web.merge()
    docs.settle()
    assert web.titles() == {HOME: "Home", "first": "First", "second": "P2", "p3": "P3", "p4": "P4"}
    assert "see [it](second.md)" in web.text("p4")
