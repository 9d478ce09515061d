"""What people see most, on terminals of several widths, with and without colour."""

import re
from pathlib import Path
from typing import Any

import pytest

from syncd.cli.terminal.text import wrap_line
from tests.cli.terminal_session import TerminalSession

ANSI = re.compile(r"\x1b\[[\d;]*m")
LONG = "a-directory-with-a-long-name/a-page-whose-name-is-longer-than-the-narrowest-of-these-terminals.md"
COMMANDS = ((), ("status",), ("push",), ("resolve",), ("doctor",), ("site", "plan"), ("cr", "list"))


@pytest.fixture
def conflict(shell: Any) -> Path:
    """A clone whose branch is in conflict on two pages, one of them with a long path."""
    docs: Path = shell.clone()
    (docs / LONG).parent.mkdir()
    (docs / LONG).write_text("# 日本語のとても長いページの題名\n\nWords.\n")
    with (docs / "SUMMARY.md").open("a") as summary:
        summary.write(f"* [日本語のとても長いページの題名]({LONG})\n")
    shell.git("add", ".", cwd=docs)
    shell.git("commit", "-qm", "Add a page", cwd=docs)
    shell.fine("push", cwd=docs)
    shell.fine("cr", "merge", "1", cwd=docs)
    shell.fine("pull", cwd=docs)
    for branch, words in (
        ("other", "Words of others."),
        ("main", "Words of ours, and more than fit on one line. " * 3),
    ):
        shell.git("switch", "-q", *(["-c"] if branch == "other" else []), branch, cwd=docs)
        (docs / LONG).write_text(f"# 日本語のとても長いページの題名\n\n{words}\n")
        shell.git("commit", "-qam", f"Change a page on {branch}", cwd=docs)
        if branch == "other":
            shell.fine("push", cwd=docs)
            shell.fine("cr", "merge", "2", cwd=docs)
    assert shell.syncd("pull", cwd=docs).returncode == 6
    return docs


def show(words: tuple[str, ...], docs: Path, columns: int, colour: str) -> str:
    """Return what a command prints on a terminal."""
    environ = {"TERM": "xterm", "NO_COLOR": colour, "CI": "", "PAGER": "cat"}
    with TerminalSession(*words, cwd=docs, environ=environ, columns=columns) as session:
        session.finish()
    return session.text


@pytest.mark.long
def test_no_line_is_wider_than_the_terminal_and_nothing_is_said_by_colour_alone(conflict: Path) -> None:
    for words in COMMANDS:
        for columns in (60, 80, 120, 200):
            plain = show(words, conflict, columns, "1")
            assert "\x1b" not in plain, words
            for line in plain.splitlines():
                # A path or an address stays whole, so that it can be copied; a short sign may stand in front of it.
                is_one_word = len(line.split()) - (len(line.split()[0]) <= 4 if line.split() else 0) <= 1
                assert is_one_word or wrap_line(line, columns) == [line], (words, columns, line)
        coloured = show(words, conflict, 80, "")
        assert _drop_moments(ANSI.sub("", coloured)) == _drop_moments(show(words, conflict, 80, "1")), words


def test_a_long_path_stands_beside_its_sign(conflict: Path) -> None:
    said = show(("resolve",), conflict, 60, "1")
    assert said.startswith(f"! {LONG}:\n")
    assert "Words of others." in said


def test_what_goes_on_in_the_next_line_stands_below_its_beginning(conflict: Path) -> None:
    lines = show(("status",), conflict, 60, "1").splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("  branch main"))
    column = lines[at].index("1 ahead")
    assert lines[at + 1][:column].strip() == ""
    assert lines[at + 1][column] != " "


def _drop_moments(text: str) -> str:
    """Return a text without times and free space, which differ between two runs."""
    return re.sub(r"\d+:\d\d:\d\d|[\d.]+ GiB", "", text)
