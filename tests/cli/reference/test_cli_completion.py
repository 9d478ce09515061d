"""What a shell completes, and the man pages: both know every command and option that there is."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from syncd.cli.app import app
from syncd.cli.reference.completion import SHELLS
from syncd.cli.reference.man import render_pages
from syncd.cli.terminal.tree import build_tree

ROOT = build_tree(app)
REQUESTS = {".TH", ".SH", ".PP", ".TP"}
"""The requests of troff that a page may make."""


def complete(shell: Any, words: str, place: int, *, cwd: Path | None = None) -> list[str]:
    """Return the words that are offered for the word at a place of a command line."""
    environ = {"_SYNCD_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(place)}
    done = shell.syncd(cwd=cwd, environ=environ)
    assert done.returncode == 0, done.stderr
    return str(done.stdout).split()


def test_commands_and_options_are_offered(shell: Any) -> None:
    assert complete(shell, "syncd sta", 1) == ["status"]
    assert "apply" in complete(shell, "syncd site ", 2)
    assert complete(shell, "syncd push --dr", 2) == ["--dry-run"]
    assert complete(shell, "syncd explain link-b", 2) == ["link-broken"]
    assert complete(shell, "syncd example gitl", 2) == ["gitlab-pages", "gitlab"]


def test_numbers_of_change_requests_come_from_git_alone(shell: Any) -> None:
    docs = shell.clone()
    (docs / "use.md").write_text("# Use\n\nLike that.\n")
    shell.git("commit", "--quiet", "--all", "--message", "Say it better", cwd=docs)
    shell.fine("push", cwd=docs)
    shell.token.unlink()
    assert complete(shell, "syncd cr show ", 3, cwd=docs) == ["1"]
    assert complete(shell, "syncd cr show 2", 3, cwd=docs) == []
    assert complete(shell, "syncd cr show ", 3) == [], "where no repository is"


def test_zsh_completes_at_the_first_tab(shell: Any) -> None:
    script = shell.fine("completion", "zsh")
    last = "if [[ $funcstack[1] = _syncd ]]; then _syncd_completion; else compdef _syncd_completion syncd; fi"
    assert script.rstrip().endswith(f"\n{last}")


@pytest.mark.parametrize("name", SHELLS)
def test_each_shell_gets_a_script_that_asks_syncd(shell: Any, name: str) -> None:
    script = shell.fine("completion", name)
    assert f"_SYNCD_COMPLETE=complete_{name}" in script


def test_bash_takes_the_script(shell: Any) -> None:
    script = shell.fine("completion", "bash") + "complete -p syncd"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "complete -o default -F _syncd_completion syncd\n"


def test_another_shell_is_refused_with_those_that_there_are(shell: Any) -> None:
    done = shell.syncd("completion", "tcsh")
    assert (done.returncode, done.stdout) == (64, "")
    assert "bash, zsh, fish" in done.stderr


def test_there_is_a_page_for_each_command_with_each_of_its_options(shell: Any) -> None:
    shell.fine("man", shell.root / "man1")
    files = {file.name: file.read_text() for file in shell.root.glob("man[15]/*")}
    assert files == dict(render_pages(ROOT))
    assert {"syncd.1", "syncd-push.1", "syncd-platform-token-create.1"} <= set(files)
    assert "\\-\\-dry\\-run" in files["syncd-push.1"]
    for name, text in files.items():
        assert text.isascii(), name
        lines = text.splitlines()
        assert lines[0].startswith(".TH ")
        assert [line for line in lines if line.startswith((".", "'")) and line.split()[0] not in REQUESTS] == []


def test_a_directory_that_cannot_be_written_is_named(shell: Any) -> None:
    (shell.root / "file").write_text("")
    done = shell.syncd("man", shell.root / "file" / "man1")
    assert (done.returncode, "cannot be written" in done.stderr) == (78, True)
