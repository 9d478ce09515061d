"""Text on a terminal: lines are broken between words only, and a reader who leaves early is no failure."""

import os
import subprocess
import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from syncd.cli.terminal.text import wrap_line

WORDS = st.lists(st.text("abcdefghij/é語-", min_size=1, max_size=30), min_size=1, max_size=30)


def test_a_line_that_fits_is_left_alone() -> None:
    assert wrap_line("  ~ update page  use.md", 80) == ["  ~ update page  use.md"]


def test_colours_and_wide_letters_are_measured_as_people_see_them() -> None:
    assert wrap_line("\x1b[32mgreen\x1b[0m words", 11) == ["\x1b[32mgreen\x1b[0m words"]
    assert wrap_line("語語 語語", 8) == ["語語", "    語語"]


@given(WORDS, st.integers(20, 200))
def test_no_word_is_broken_and_none_is_lost(words: list[str], width: int) -> None:
    parts = wrap_line("  " + " ".join(words), width)
    assert " ".join(parts).split() == words
    for number, part in enumerate(parts):
        is_signed = number == 0 and len(part.split()) == 2 and len(words[0]) <= 4
        assert len(part.split()) == 1 or len(part) <= width or is_signed


def test_an_address_alone_is_indented_less_where_that_lets_it_fit() -> None:
    assert wrap_line("           https://docs.example.org/a", 30) == ["    https://docs.example.org/a"]
    assert wrap_line("           https://docs.example.org/a/b/c", 30) == ["https://docs.example.org/a/b/c"]
    assert wrap_line("  https://docs.example.org/a/b/c/d", 30) == ["  https://docs.example.org/a/b/c/d"]


def test_later_parts_stand_below_what_follows_a_gap() -> None:
    assert wrap_line("  run    ok at noon by a command", 20) == [
        "  run    ok at noon",
        "         by a",
        "         command",
    ]
    assert wrap_line("  run    ok at noon by a command", 20, extra_indent=0)[1] == "  by a command"
    assert wrap_line("! a/path/that/is/longer/than/the/line: held", 20) == [
        "! a/path/that/is/longer/than/the/line:",
        "    held",
    ]


def test_a_reader_that_leaves_early_sees_no_complaint() -> None:
    command = f"{sys.executable} -m syncd explain all | head -n 1"
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) == 1


def test_the_exit_code_says_that_the_reader_left() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as closed:
        done = subprocess.run(
            [sys.executable, "-m", "syncd", "explain", "all"], stdout=closed, stderr=subprocess.PIPE, check=False
        )
    assert (done.returncode, done.stderr) == (141, b"")


def test_letters_that_an_encoding_lacks_are_spelled_out(tmp_path: Path) -> None:
    (tmp_path / "SUMMARY.md").write_text("* [Home](README.md)\n")
    (tmp_path / "README.md").write_text("# Home\n\nWelcome.\n")
    (tmp_path / "語.md").write_text("# Word\n")
    done = subprocess.run(
        [sys.executable, "-m", "syncd", "check", "."],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert done.stdout.startswith("\\u8a9e.md:1:1: warning page-unlisted")
    assert done.stderr == ""
