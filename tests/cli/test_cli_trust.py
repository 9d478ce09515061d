"""`syncd trust`: what it shows, what it records, and how that ends."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command_runner import CommandRunner, make_runner
from tests.cli.conftest import Shell

TEXT = """[platform]
url = "{url}"
token_file = "{token}"
[[repository]]
instance = "3fa9c1"
[[repository.space]]
id = "{space}"
directory = "docs"
[repository.change_requests]
reviewers = ["\\u202e\\u009ba@example.org"]
"""


@pytest.fixture
def work(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main"], cwd=work, check=True)
    subprocess.run(["git", "commit", "--quiet", "--allow-empty", "--message", "Begin"], cwd=work, check=True)
    return work


@pytest.fixture
def syncd(work: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandRunner:
    return make_runner("", work, monkeypatch, capsys)


def write(path: Path, url: str = "https://api.example.com", token: str = "/x", space: str = "abc") -> str:
    text = TEXT.replace("{url}", url).replace("{token}", token).replace("{space}", space)
    path.write_text(text)
    return text


def test_a_committed_configuration_works_from_when_it_is_trusted_until_it_changes(
    shell: Shell, work: Path, syncd: CommandRunner
) -> None:
    text = write(work / "syncd.toml", shell.url, str(shell.token), shell.space)
    assert syncd("status").code == 78
    assert syncd("pull").code == 78
    said = syncd("trust", "--yes")
    assert said.code == 0
    assert f'platform.url = "{shell.url}"   ! your token is sent there' in said.out
    assert f'platform.token_file = "{shell.token}"   ! your token is read from this file' in said.out
    assert f'repository.0.space.0.id = "{shell.space}"\n' in said.out
    assert not {"\u202e", "\u009b"} & set(said.out)
    assert syncd("pull").code == 0
    assert syncd("trust").out.endswith("This is trusted already.\n")
    (work / "syncd.toml").write_text(text + "# another byte\n")
    said = syncd("pull")
    assert said.code == 78
    assert "is not what you trusted on 20" in said.err
    assert "(changed since)" in syncd("trust", "--list").out


def test_a_committed_command_for_the_token_cannot_be_trusted(work: Path, syncd: CommandRunner) -> None:
    text = write(work / "syncd.toml").replace('token_file = "/x"', 'token_command = ["cat", "/x"]')
    (work / "syncd.toml").write_text(text)
    said = syncd("trust", "--yes")
    assert (said.code, said.out) == (78, "")
    assert "must not stand in a committed file" in said.err
    assert syncd("trust", "--list").out == "Nothing is trusted.\n"
    (work / ".git" / "syncd.toml").write_text(text)
    (work / "syncd.toml").unlink()
    said = syncd("trust", "--yes")
    assert said.code == 0
    assert "this command runs as you, and what it prints is your token" in said.out


@pytest.mark.story
def test_an_upstream_in_a_clone_needs_a_word_and_a_space_needs_none(shell: Shell, syncd: CommandRunner) -> None:
    config = shell.clone() / ".git" / "syncd.toml"
    plain = config.read_text()
    os.chdir(config.parents[1])
    config.write_text(plain + '[repository.site]\nfile = "none.yaml"\napply = false\n')
    assert syncd("pull").code == 0
    config.write_text(plain + '[repository.upstream]\nurl = "https://git.example.org/x"\npush = "never"\n')
    said = syncd("pull")
    assert said.code == 78
    assert "repository.0.upstream.url" in said.err
    said = syncd("trust", "--yes")
    assert "Only you may decide:" in said.out
    assert "commits come from there, and go there" in said.out
    assert syncd("status").code == 0


@pytest.mark.story
def test_only_an_import_is_said_to_write_main_content(shell: Shell, syncd: CommandRunner) -> None:
    config = shell.clone() / ".git" / "syncd.toml"
    plain = config.read_text()
    os.chdir(config.parents[1])
    upstream = '[repository.upstream]\nurl = "https://git.example.org/x"\n'
    for way, is_told in (("comments", False), ("content", False), ("auto", False), ("git-import", True)):
        config.write_text(plain.replace("[[repository]]\n", f'[[repository]]\nwrite = "{way}"\n') + upstream)
        said = syncd("trust", "--yes")
        assert f'repository.0.write = "{way}"' in said.out
        assert ("main content may be written without a change request" in said.out) is is_told


def test_trust_is_listed_and_revoked(work: Path, syncd: CommandRunner) -> None:
    assert syncd("trust", "--list").out == "Nothing is trusted.\n"
    write(work / "syncd.toml")
    assert syncd("trust", "--revoke").code == 78
    assert syncd("trust", str(work / "syncd.toml"), "--yes").code == 0
    assert syncd("trust", "--list").out.startswith(f"{work / 'syncd.toml'}  since 20")
    [listed] = json.loads(syncd("trust", "--list", "--json").out)["trusted"]
    assert listed["state"] == "unchanged"
    assert listed["keys"] == {"platform.url": "https://api.example.com", "platform.token_file": "/x"}
    (work / "syncd.toml").unlink()
    assert "(gone)" in syncd("trust", "--list").out
    assert syncd("trust", str(work / "syncd.toml"), "--revoke").out.endswith("is trusted no more.\n")
    assert syncd("trust", "--list").out == "Nothing is trusted.\n"


def test_a_machine_reads_what_would_be_trusted(work: Path, syncd: CommandRunner) -> None:
    write(work / "syncd.toml")
    shown = json.loads(syncd("trust", "--json").out)
    assert shown["privileged"] == {"platform.url": "https://api.example.com", "platform.token_file": "/x"}
    assert shown["permitted"]["repository.0.space.0.id"] == "abc"
    assert (shown["origin"], shown["trusted"]) == ("work tree", False)
    assert json.loads(syncd("trust", "--json", "--yes").out)["trusted"]
    assert json.loads(syncd("trust", "--json").out)["trusted"]


def test_without_a_terminal_nobody_is_asked_and_nothing_recorded(
    work: Path, syncd: CommandRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(work / "syncd.toml")
    with open(os.devnull) as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        said = syncd("trust")
    assert said.code == 64
    assert "--yes" in said.err
    assert syncd("trust", "--list").out == "Nothing is trusted.\n"


@pytest.mark.parametrize(("answer", "recorded"), [(b"y\n", True), (b"n\n", False), (b"\n", False)])
def test_on_a_terminal_it_asks(work: Path, syncd: CommandRunner, answer: bytes, recorded: bool) -> None:
    write(work / "syncd.toml")
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "syncd", "trust"],
        cwd=work,
        stdin=slave,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(os.environ),
    )
    os.write(master, answer)
    out, err = process.communicate(timeout=60)
    os.close(master)
    os.close(slave)
    assert b"Trust this?" in err
    assert process.returncode == (0 if recorded else 1)
    assert (b"Trusted, until" in out) is recorded
    assert bool(json.loads(syncd("trust", "--list", "--json").out)["trusted"]) is recorded


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (("trust",), 78, "there is no syncd.toml"),
        (("trust", "/"), 78, "is in no Git repository"),
        (("trust", "docs/syncd.toml"), 78, "no configuration that syncd finds by itself"),
        (("trust", "--yes", "--list"), 64, "exclude each other"),
    ],
)
def test_what_cannot_be_trusted_is_said(work: Path, syncd: CommandRunner, words: Any, code: int, why: str) -> None:
    (work / "docs").mkdir()
    write(work / "docs" / "syncd.toml")
    said = syncd(*words)
    assert said.code == code
    assert why in said.err


def test_what_is_broken_is_not_trusted(work: Path, syncd: CommandRunner) -> None:
    (work / "syncd.toml").write_text("[platform]\nurl = 1\n")
    said = syncd("trust", "--yes")
    assert said.code == 78
    assert "platform.url - " in said.err
    assert syncd("trust", "--list").out == "Nothing is trusted.\n"
