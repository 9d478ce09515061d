"""`syncd log`: what happened, from what Git and the state database have recorded, and nothing else."""

import json
import os
import pty
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from syncd.api.client import Client
from tests.cli.command_runner import CommandRunner, make_runner

pytestmark = pytest.mark.story


@pytest.fixture
def docs(shell: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """A clone in which a page was edited and renamed, two change requests were merged and a third one is open."""
    docs: Path = shell.clone()
    syncd = make_runner("", docs, monkeypatch, capsys)
    with Client(shell.url, shell.token.read_text().strip()) as client:
        for number, (subject, text) in enumerate((("Say it better", "Like that."), ("Say it best", "Just so.")), 1):
            (docs / "use.md").write_text(f"# Use\n\n{text}\n")
            shell.git("commit", "--quiet", "--all", "--message", subject, cwd=docs)
            assert syncd("push").code == 0
            client.change_requests.merge(shell.space, str(number))
            assert syncd("pull").code == 0
    shell.git("mv", "use.md", "usage.md", cwd=docs)
    summary = (docs / "SUMMARY.md").read_text().replace("use.md", "usage.md")
    (docs / "SUMMARY.md").write_text(summary)
    shell.git("commit", "--quiet", "--all", "--message", "Rename\x1b[2J it", cwd=docs)
    assert syncd("push").code == 0
    return docs


@pytest.fixture
def log(docs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandRunner:
    return make_runner("log", docs, monkeypatch, capsys)


def list_kinds(log: CommandRunner, *words: str) -> list[tuple[str, list[int]]]:
    done = log(*words, "--json")
    assert done.code == 0, done.err
    return [(each["kind"], each["change_requests"]) for each in json.loads(done.out)["entries"]]


def test_the_log_has_merges_proposals_and_the_last_run_newest_first(
    shell: Any, docs: Path, log: CommandRunner, tmp_path: Path
) -> None:
    token = shell.token.read_text()
    shell.token.write_text("")  # nobody is asked
    kinds = list_kinds(log)
    assert [kind for kind in kinds if kind[0] != "run"] == [
        ("sent", [3]),
        ("merged", [2]),
        ("merged", [1]),
        ("revision", []),
    ]
    assert ("run", []) in kinds
    lines = log().out.splitlines()
    assert any("sent        docs/main  #3  Rename\\u001b[2J it" in line for line in lines)
    moments = [line[:19] for line in lines]
    assert moments == sorted(moments, reverse=True)
    assert list_kinds(log, "--change-request", "2") == [("merged", [2])]
    assert list_kinds(log, "-n", "1", "--space", "docs") == [("sent", [3])]
    assert list_kinds(log, "--since", "2 days") == kinds
    assert list_kinds(log, "--since", "999999 weeks") == kinds, "what was before all times is no mistake"
    assert list_kinds(log, "--since", "2999-01-01") == []
    assert "Nothing is recorded" in log("--since", "2999-01-01").out
    for wrong in (
        ("--since", "soon"),
        ("--space", "nowhere"),
        ("-n", "0"),
        ("--change-request", "x"),
        ("/etc/passwd",),
    ):
        assert log(*wrong).code == 64, wrong
    (docs / ".git" / "syncd" / "state.db").unlink()
    assert ("merged", [1]) in list_kinds(log), "the database may be lost"
    shell.token.write_text(token)


def test_what_was_pushed_later_was_sent_later(
    shell: Any, docs: Path, log: CommandRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    (docs / "usage.md").write_text("# Usage\n\nLater.\n")
    later = datetime.now(UTC).replace(microsecond=0) + timedelta(minutes=5)
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_DATE", later.isoformat())
    shell.git("commit", "--quiet", "--all", "--message", "Later", cwd=docs)
    shell.fine("push", cwd=docs)
    newest = json.loads(log("--json").out)["entries"][0]
    assert (newest["kind"], newest["what"], datetime.fromisoformat(newest["at"])) == ("sent", "Later", later)


def test_a_page_is_followed_through_what_was_done_to_it(shell: Any, docs: Path, log: CommandRunner) -> None:
    with Client(shell.url, shell.token.read_text().strip()) as client:
        client.change_requests.merge(shell.space, "3")
    shell.fine("pull", cwd=docs)
    assert list_kinds(log, "usage.md") == [("merged", [3]), ("merged", [2]), ("merged", [1]), ("revision", [])]
    assert "use.md -> usage.md" in log("usage.md").out
    assert list_kinds(log, "install.md") == [("revision", [])]


def test_a_file_that_nothing_ever_had_is_refused(docs: Path, log: CommandRunner) -> None:
    done = log("instal.md")
    assert (done.code, done.out) == (64, "")
    assert done.err.startswith(
        "error: there is no instal.md, neither in Git nor on the platform; did you mean install.md?\n"
    )
    assert "did you mean" not in log("nothing/like/it.md").err
    (docs / "folder").mkdir()
    assert "folder is a directory: name one of its files" in log("folder").err
    (docs / "new.md").touch()
    for known in ("new.md", "usage.md"):
        done = log(known, "--since", "2999-01-01")
        assert (done.code, done.out) == (0, "Nothing is recorded for that.\n")
    assert list_kinds(log, "use.md")[-1] == ("revision", []), "it was there once"


def test_a_pager_is_used_on_a_terminal_only(shell: Any, docs: Path, tmp_path: Path) -> None:
    pager = tmp_path / "pager"
    pager.write_text(f'#!/bin/sh\ncat > "{tmp_path}/paged"\n')
    pager.chmod(0o700)
    environ = {**os.environ, "PAGER": str(pager), "TERM": "xterm"}
    command = [sys.executable, "-m", "syncd", "log"]
    plain = subprocess.run(command, cwd=docs, env=environ, capture_output=True, text=True, check=True)
    assert not (tmp_path / "paged").exists()
    main, side = pty.openpty()
    try:
        subprocess.run(command, cwd=docs, env=environ, stdout=side, check=True)
    finally:
        os.close(side)
        os.close(main)
    assert (tmp_path / "paged").read_text().split() == plain.stdout.split()
