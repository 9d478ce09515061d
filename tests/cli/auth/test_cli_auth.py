"""`syncd auth`: a token is checked, saved, shown by its owner alone, and deleted."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command_runner import CommandRunner, make_runner
from tests.cli.conftest import Shell
from tests.cli.terminal_session import TerminalSession


@pytest.fixture
def syncd(shell: Shell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandRunner:
    return make_runner("", shell.root, monkeypatch, capsys)


@pytest.fixture
def token(shell: Shell) -> str:
    return shell.token.read_text().strip()


def log_in(syncd: CommandRunner, shell: Shell, text: str, monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    return syncd("auth", "login", shell.url, "--with-token", *words).code


def test_after_a_login_every_command_finds_the_token(
    shell: Shell, syncd: CommandRunner, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert log_in(syncd, shell, f"{token}\n", monkeypatch) == 0
    assert syncd("clone", shell.url, shell.space, "docs").code == 0
    assert "token_file" not in (shell.root / "docs" / ".git" / "syncd.toml").read_text()
    monkeypatch.chdir(shell.root / "docs")
    assert syncd("pull").code == 0
    said = syncd("auth", "status")
    assert said.code == 0
    assert said.out.startswith(shell.url)
    assert "  organizations: " in said.out
    assert "- variable SYNCD_TOKEN: none" in said.out
    assert "* file that syncd auth login wrote: " in said.out
    assert "UTC (used)" in said.out
    assert token not in said.out + said.err
    assert "file that syncd auth login wrote" in syncd("doctor").out
    assert syncd("auth", "logout").code == 0
    assert syncd("pull").code == 78
    assert syncd("auth", "logout").code == 78


def test_programs_get_the_status_without_the_token(
    shell: Shell, syncd: CommandRunner, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    log_in(syncd, shell, token, monkeypatch)
    said = syncd("auth", "status", "--json")
    [platform] = json.loads(said.out)["platforms"]
    assert platform["url"] == shell.url
    assert platform["user"]["id"]
    assert [source["kind"] for source in platform["sources"]] == [
        *("token_file", "token_command", "variable", "credential", "keyring", "file")
    ]
    assert [source["is_used"] for source in platform["sources"]] == [False] * 5 + [True]
    assert token not in said.out


def test_a_token_that_the_platform_does_not_know_is_not_saved(
    shell: Shell, syncd: CommandRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert log_in(syncd, shell, "gb_wrong\n", monkeypatch) == 77
    said = syncd("auth", "status", shell.url)
    assert said.code == 78
    assert "! error: there is no token" in said.out
    assert f"syncd auth login {shell.url}" in said.out
    said = syncd("auth", "status")
    assert (said.code, said.err) == (78, "")
    assert "No platform is configured here, and no token is saved." in said.out
    said = syncd("auth", "status", "--json")
    assert (said.code, json.loads(said.out)["exit_code"]) == (78, 78)


def test_a_login_that_is_not_used_is_said(
    shell: Shell, syncd: CommandRunner, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SYNCD_TOKEN", token)
    monkeypatch.setattr(sys, "stdin", io.StringIO(token))
    assert (
        "It is not used here, because SYNCD_TOKEN comes before it."
        in syncd("auth", "login", shell.url, "--with-token").out
    )
    assert "(not used: another comes first)" in syncd("auth", "status", shell.url).out


@pytest.mark.parametrize(
    "words", [["gb_secret"], ["https://api.example.com", "gb_secret"], ["--with-token", "gb_secret"]]
)
def test_a_token_on_the_command_line_is_refused_and_not_repeated(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = make_runner("auth login", tmp_path, monkeypatch, capsys)(*words)
    assert said.code == 64
    assert "a token is never given on the command line" in said.err
    assert "gb_secret" not in said.out + said.err


@pytest.mark.parametrize(
    ("words", "text", "why"),
    [
        (
            ["https://api.example.com"],
            "",
            "nobody is here to ask for the token: pass it on stdin, and add --with-token",
        ),
        ([], "", "name the platform, because none is configured here: syncd auth login URL"),
        (["https://api.example.com", "--with-token"], "one two", "stdin does not hold one token, but 2 words"),
        (["https://api.example.com", "--with-token"], " \n", "stdin is empty: give the token as --with-token < FILE"),
        (["https://api.example.com", "--with-token"], "x" * 20_000, "but more than 16384 characters"),
        (["https://api.example.com", "--storage", "paper"], "", "write keyring or file"),
    ],
)
def test_without_a_terminal_what_is_missing_is_a_mistake_of_usage(
    words: list[str],
    text: str,
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    said = make_runner("auth login", tmp_path, monkeypatch, capsys)(*words)
    assert said.code == 64
    assert why in said.err


def test_a_terminal_is_not_read_with_the_token_in_sight(shell: Shell) -> None:
    with TerminalSession("auth", "login", shell.url, "--with-token", cwd=shell.root, columns=500) as session:
        assert session.finish() == 64
        assert "leave it out to be asked, or add --with-token < FILE" in session.text


def test_a_closed_stdin_is_an_empty_one(shell: Shell) -> None:
    command = f'exec "$0" -m syncd auth login {shell.url} --with-token <&-'
    done = subprocess.run(["sh", "-c", command, sys.executable], capture_output=True, text=True, check=False)
    assert done.returncode == 64
    assert done.stderr.startswith("error: stdin is empty")


def test_on_a_terminal_the_token_is_not_shown(shell: Shell, token: str) -> None:
    with TerminalSession("auth", "login", shell.url, cwd=shell.root, columns=500) as session:
        session.expect("Token (it is not shown): ")
        session.type_line(token)
        session.expect("Logged in to")
        assert session.finish() == 0
        assert token not in session.text
        assert "The token is in " in session.text


def test_no_other_command_loads_keyring() -> None:
    code = "import sys, syncd.cli.app, syncd.config, syncd.daemon.workspaces; sys.exit('keyring' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
