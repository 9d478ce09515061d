"""Real repositories in temporary directories: a work tree with one commit, and git itself to look from outside."""

import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest

from syncd.repo.repository import Repository
from syncd.repo.values import Person

AUTHOR = Person("Ada Lovelace", "ada@example.com", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))
BASE = {"README.md": b"# Home\n", "guide/one.md": b"# One\n", "guide/two.md": b"# Two\n", "notes.md": b"# Notes\n"}


@pytest.fixture(autouse=True)
def isolate_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the configuration of whoever runs it."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Test")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "test@example.com")


@pytest.fixture
def person() -> Person:
    return AUTHOR


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """The top of the work tree."""
    return tmp_path / "work"


@pytest.fixture
def git(top: Path) -> Callable[..., str]:
    """Run git in the work tree (or `at` another) as a person would, and return what it prints."""

    def run(*arguments: str, at: Path | None = None, ok: tuple[int, ...] = (0,)) -> str:
        done = subprocess.run(["git", "-C", str(at or top), *arguments], capture_output=True, check=False)
        assert done.returncode in ok, (arguments, done.stderr.decode())
        return done.stdout.decode("utf-8", "surrogateescape")

    return run


@pytest.fixture
def repository(top: Path) -> Iterator[Repository]:
    """An empty repository with a work tree."""
    with Repository.create(top) as opened:
        yield opened


@pytest.fixture
def commit(repository: Repository) -> Callable[..., str]:
    """Write a commit that sets files (None removes) on top of another, and return its id."""
    number = count()

    def write(files: Mapping[str, bytes | None], parent: str | None = None, message: str = "Change\n") -> str:
        with repository.open_writer(f"refs/syncd/test/{next(number)}", old=None) as writer:
            for path, data in files.items():
                if data is None:
                    writer.remove(path)
                else:
                    writer.put(path, writer.write_blob(data))
            return writer.commit(
                message=message, author=AUTHOR, committer=AUTHOR, parents=[parent] if parent else [], base=parent
            )

    return write


@pytest.fixture
def base(repository: Repository, commit: Callable[..., str]) -> str:
    """The first commit, checked out on main."""
    oid = commit(BASE)
    repository.update_ref("refs/heads/main", oid, old=None)
    repository.checkout_new("main")
    return oid
