"""Every command works where no process may make machine code, as under the service's MemoryDenyWriteExecute=."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from syncd.api.client import Client
from tests import without_new_code
from tests.cli.conftest import Shell
from tests.git_wrapper import GitWrapper

pytestmark = pytest.mark.story

USE = "# Use\n\nLike {}.\n"


class Hardened:
    """Runs syncd in a directory without the right to make machine code."""

    def __init__(self, shell: Shell) -> None:
        self.shell, self.git = shell, GitWrapper(shell.root / "bin")
        self.environ = {**os.environ, "PATH": f"{self.git.directory}{os.pathsep}{os.environ['PATH']}"}
        self.environ["SYNCD_TOKEN"] = shell.token.read_text().strip()

    def syncd(self, *words: object, cwd: Path, **environ: str) -> str:
        command = [sys.executable, str(without_new_code.__file__), sys.executable, "-m", "syncd", *map(str, words)]
        given = self.environ | environ
        done = subprocess.run(command, cwd=cwd, env=given, capture_output=True, text=True, timeout=110)
        assert done.returncode == 0, (words, done.stdout + done.stderr)
        return done.stdout

    def clone(self, docs: Path) -> Path:
        self.syncd("clone", self.shell.url, self.shell.space, docs, cwd=self.shell.root)
        return docs

    def commit(self, docs: Path, text: str) -> None:
        (docs / "use.md").write_text(text)
        self.shell.git("commit", "--quiet", "--all", "--message", text.strip(), cwd=docs)


@pytest.fixture
def hardened(shell: Shell) -> Hardened:
    return Hardened(shell)


def test_a_clone_proposes_and_takes_in_what_was_merged(hardened: Hardened, shell: Shell) -> None:
    docs = hardened.clone(shell.root / "docs")
    hardened.commit(docs, USE.format("that"))
    assert "create change request #1" in hardened.syncd("push", cwd=docs)
    with Client(shell.url, shell.token.read_text().strip()) as client:
        client.change_requests.merge(shell.space, "1")
    hardened.commit(docs, USE.format("those"))
    hardened.syncd("sync", cwd=docs)
    assert "2 ahead" in hardened.syncd("status", cwd=docs)
    verbs = {one.words[0] for one in hardened.git.started()}
    assert {"cat-file", "fast-import", "update-ref"} <= verbs


def test_a_clone_of_a_clone_is_bound_and_pushed_by_a_job(hardened: Hardened, shell: Shell) -> None:
    docs = hardened.clone(shell.root / "docs")
    shell.git("clone", "--quiet", str(docs), "second", cwd=shell.root)
    second = shell.root / "second"
    hardened.syncd("init", shell.url, shell.space, cwd=second)
    hardened.commit(second, USE.format("these"))
    words = ("push", "--ci", "--url", shell.url, "--space", shell.space)
    job = {"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "team/docs", "GITHUB_REF_NAME": "main"}
    assert "use.md" in hardened.syncd(*words, cwd=second, **job)
