"""`syncd help`, the man pages of files, and the options that stand in front of a command."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from syncd.cli.reference.help_topics import list_topics, read_topic
from syncd.cli.reference.man_files import render_file_pages
from tests.cli.command_runner import CommandRunner, make_runner
from tests.cli.terminal_session import TerminalSession

ROOT = Path(__file__).parents[3]
MANUAL = ROOT / "syncd" / "manual"
ANSI = re.compile(r"\x1b\[[\d;]*m")


@pytest.fixture
def syncd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandRunner:
    return make_runner("", tmp_path, monkeypatch, capsys)


def test_every_page_of_the_manual_is_a_topic_with_a_word_of_its_own(syncd: CommandRunner) -> None:
    listed = json.loads(syncd("help", "--json").out)["topics"]
    pages = {path.relative_to(MANUAL).with_suffix("").as_posix() for path in MANUAL.rglob("*.md")}
    assert {one["name"] for one in listed} == pages - {"SUMMARY"}
    words = [one["topic"] for one in listed]
    assert len(words) == len(set(words))
    said = syncd("help")
    assert said.code == 0
    assert "  exit-codes" in said.out
    assert "  ci " in said.out


def test_a_page_is_markdown_for_programs_and_its_beginning_is_the_title(syncd: CommandRunner) -> None:
    for topic in list_topics():
        said = syncd("help", topic.name)
        assert (said.code, said.err) == (0, "")
        assert said.out == read_topic(topic)
        assert said.out.startswith("# "), topic.name
    assert json.loads(syncd("help", "exit-codes", "--json").out)["markdown"].startswith("# Exit codes")


def test_a_command_comes_before_a_page_and_names_it(syncd: CommandRunner) -> None:
    said = syncd("help", "undo")
    assert said.out.startswith("Usage: syncd undo ")
    assert "syncd help how-to/undo" in said.out
    assert syncd("help", "how-to/undo").out.startswith("# ")
    assert syncd("help", "site", "plan").out.startswith("Usage: syncd site plan ")
    assert syncd("help", "site", "plan").out == syncd("site", "plan", "--help").out


def test_what_is_neither_is_told_what_is_near(syncd: CommandRunner) -> None:
    said = syncd("help", "exit-code")
    assert (said.code, said.out) == (64, "")
    assert "did you mean exit-codes?" in said.err
    assert "syncd help lists the topics" in syncd("help", "zzz", "../../etc/passwd").err


def test_a_shell_offers_topics(shell: Any) -> None:
    environ = {"_SYNCD_COMPLETE": "complete_bash", "COMP_WORDS": "syncd help exit", "COMP_CWORD": "2"}
    assert shell.syncd(environ=environ).stdout.split() == ["exit-codes"]


@pytest.mark.parametrize("columns", [60, 80, 120])
@pytest.mark.parametrize("name", ["exit-codes", "servers", "commands"])
def test_a_page_on_a_terminal_fits_it_and_says_how_to_read_on(tmp_path: Path, name: str, columns: int) -> None:
    environ = {"TERM": "xterm", "PAGER": "cat", "NO_COLOR": ""}
    with TerminalSession("help", name, cwd=tmp_path, environ=environ, columns=columns) as session:
        assert session.finish() == 0
    lines = [ANSI.sub("", line) for line in session.text.splitlines()]
    assert max(map(len, lines)) <= min(columns, 100)
    assert not any("](" in line for line in lines)
    assert lines[0].strip()
    if name == "servers":
        assert "(syncd help embedded-platform)" in " ".join(" ".join(lines).split())
    assert "\x1b[" in session.text


def test_a_page_without_colour_has_none(tmp_path: Path) -> None:
    environ = {"TERM": "xterm", "PAGER": "cat", "NO_COLOR": "1"}
    with TerminalSession("help", "trust", cwd=tmp_path, environ=environ) as session:
        session.finish()
    assert "\x1b" not in session.text


def test_the_page_of_a_file_has_every_key(tmp_path: Path, syncd: CommandRunner) -> None:
    assert syncd("man", str(tmp_path / "man" / "man1")).code == 0
    written = {path.name: path.read_text() for path in (tmp_path / "man" / "man5").iterdir()}
    assert written == dict(render_file_pages())
    assert not list((tmp_path / "man" / "man1").glob("*.5"))
    config = written["syncd.toml.5"].replace("\\-", "-")
    for key in ("platform.token_command", "repository[].space[].id", "repository[].upstream.side", "webhooks.listen"):
        assert f"\\fB{key}\\fR" in config
    assert "One of auto, never. Default: " in config
    site = written["syncd-site.5"].replace("\\-", "-")
    for key in ("site.org", "policy.limits.redirects.max_delete", "redirects[].from", "structure.items[].section"):
        assert f"\\fB{key}\\fR" in site
    assert "\\fB[].from\\fR" in written["syncd-redirects.5"]


def test_the_directory_stands_in_front_of_the_command(tmp_path: Path, syncd: CommandRunner) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    said = syncd("-C", "a", "-C", "b", "man", "pages")
    assert (said.code, said.err) == (0, "")
    assert (tmp_path / "a" / "b" / "pages" / "syncd.1").is_file()
    refused = syncd("-C", str(tmp_path / "none"), "status")
    assert refused.code == 64
    assert f"'-C': {tmp_path}/none cannot be entered: No such file or directory\n" in refused.err
    assert syncd("-q", "-v", "status").code == 64


def test_a_quiet_run_says_nothing_while_all_is_well_and_what_is_wrong_else(shell: Any) -> None:
    docs = shell.clone()
    assert shell.fine("-C", docs, "-q", "sync") == ""
    (docs / "README.md").write_text("# Docs\n\nOther words.\n")
    shell.git("commit", "-qam", "Other words", cwd=docs)
    loud = shell.syncd("-C", docs, "-q", "push", "elsewhere")
    assert loud.returncode == 64
    assert shell.syncd("-q", "push", cwd=docs).stdout == ""
    shell.token.write_text("wrong\n")
    refused = shell.syncd("-q", "sync", cwd=docs)
    assert refused.returncode == 77
    assert "not allowed" in refused.stdout + refused.stderr


def test_a_verbose_run_lists_all_and_says_what_it_cost(shell: Any) -> None:
    docs = shell.clone()
    for number in range(25):
        (docs / f"page-{number}.md").write_text(f"# Page {number}\n\nWords.\n")
    with (docs / "SUMMARY.md").open("a") as summary:
        summary.writelines(f"* [Page {number}](page-{number}.md)\n" for number in range(25))
    shell.git("add", ".", cwd=docs)
    shell.git("commit", "-qm", "Pages", cwd=docs)
    said = shell.syncd("-v", "push", cwd=docs)
    assert said.returncode == 0, said.stderr
    assert "page-24" in said.stdout
    assert re.search(r"^\d+ requests \(.*\d+ GET.*\d+ POST.*\) in \d+\.\d s$", said.stderr, re.MULTILINE)
    assert shell.syncd("-v", "sync", "--json", cwd=docs).stderr == ""
