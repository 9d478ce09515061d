"""The program as people run it: processes, a served platform, and a directory to work in."""

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from syncd.platform.server import BackgroundServer
from syncd.platform.services.directory.read import import_directory
from tests.checkouts import plant
from tests.cli.sync.two_way import Interposer, Team, Web, Writer, interpose, serve_team
from tests.forked import run_forked
from tests.storages import new_storage

PAGES = {
    "README.md": "# Home\n\nWelcome.\n",
    "SUMMARY.md": "# Table of contents\n\n* [Home](README.md)\n* [Install](install.md)\n* [Use](use.md)\n",
    "install.md": "# Install\n\nOne.\n\nTwo.\n",
    "use.md": "# Use\n\nLike this.\n",
}


@dataclass
class Shell:
    """Runs syncd and Git in a directory, as a person would."""

    root: Path
    url: str = ""
    space: str = ""
    data: Path = Path()

    @property
    def token(self) -> Path:
        return self.data / "token"

    def syncd(
        self, *words: object, cwd: Path | None = None, environ: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        environ = {**os.environ, **(environ or {})}
        return run_forked([*map(str, words)], cwd=cwd or self.root, environ=environ)

    def fine(self, *words: object, cwd: Path | None = None) -> str:
        done = self.syncd(*words, cwd=cwd)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def clone(self, name: str = "docs") -> Path:
        self.fine("clone", self.url, self.space, self.root / name, "--token-file", self.token)
        return self.root / name

    def git(self, *words: str, cwd: Path) -> str:
        done = subprocess.run(["git", *words], cwd=cwd, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def json(self, *words: object, cwd: Path) -> Any:
        return json.loads(self.syncd(*words, "--json", cwd=cwd).stdout)


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    """A served platform with one small space."""
    shell = Shell(tmp_path, data=tmp_path / "platform")
    source = plant(tmp_path / "source", PAGES)
    with new_storage(shell.data) as storage:
        storage.bootstrap()
        shell.space = import_directory(storage, source, title="Docs").space
        with BackgroundServer(storage) as shell.url:
            yield shell


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    """A served platform without content, for a story of several writers and people in a browser."""
    with serve_team(tmp_path) as team:
        yield team


@pytest.fixture
def web(team: Team) -> Web:
    """A space of that platform, as people in a browser see it."""
    return team.space()


@pytest.fixture
def docs(team: Team, web: Web) -> Writer:
    """A writer's clone of that space."""
    return team.clone(web.space)


@pytest.fixture
def interposer(team: Team) -> Iterator[Interposer]:
    """What stands between the platform and the clones that a story makes, to act in the middle of a run."""
    with interpose(team) as interposer:
        yield interposer
