"""A whole world in one place: the embedded platform over HTTP, a clone, and a writer who uses Git."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from syncd.api.client import Client
from syncd.platform.server import BackgroundServer
from syncd.platform.services.directory.read import import_directory
from syncd.platform.settings import PlatformSettings
from syncd.platform.storage.storage import Storage
from syncd.repo.repository import Repository
from syncd.store.store import Store
from syncd.sync.binding import Binding
from syncd.sync.outcome import Applied
from syncd.sync.run.cycle import run_cycle
from syncd.sync.run.values import Result, RunOptions
from syncd.sync.workspace import Workspace
from tests.checkouts import plant
from tests.storages import new_storage

SMALL: dict[str, str | bytes] = {
    "README.md": "# Home\n\nWelcome. See [setup](guide/setup.md).\n",
    "SUMMARY.md": (
        "# Table of contents\n\n* [Home](README.md)\n* [Guide](guide/README.md)\n  * [Setup](guide/setup.md)\n"
        "  * [Usage](guide/usage.md)\n\n## Reference\n\n* [Options](options.md)\n* [Errors](errors.md)\n"
    ),
    "guide/README.md": "# Guide\n\nStart here.\n",
    "guide/setup.md": "---\ndescription: How to set up\n---\n\n# Setup\n\nOne.\n\nTwo.\n\nThree.\n",
    "guide/usage.md": "# Usage\n\n![A picture](../.gitbook/assets/picture.png)\n",
    "options.md": "# Options\n\n* first\n* second\n",
    "errors.md": "# Errors explained\n\nThe title in the table of contents is another one.\n",
    ".gitbook/assets/picture.png": b"\x89PNG\r\n\x1a\n not quite a picture",
}


@dataclass
class World:
    """One platform with one space, and any number of clones of it."""

    root: Path
    storage: Storage
    url: str
    token: str
    space: str
    requests: list[dict[str, int]] = field(default_factory=list)
    founded: "Founded | None" = None
    untouched: int | None = None
    """The version of a platform that is a copy of `founded`."""
    ahead: timedelta = timedelta()
    """How far the clock of who syncs is ahead of the platform's."""

    @contextmanager
    def workspace(
        self, clone: str = "clone", *, directory: str = "", force: dict[str, int] | None = None
    ) -> Iterator[Workspace]:
        path = self.root / clone
        with (
            Repository.open(path) as repository,
            Store(path / ".git" / "syncd-state.db") as store,
            Client(self.url, self.token) as client,
        ):
            yield Workspace(
                client=client,
                repository=repository,
                store=store,
                now=lambda: datetime.now(UTC) + self.ahead,
                bindings=(Binding(self.space, directory, "docs"),),
                instance="0a1b2c",
                force=force or {},
            )
            self.requests.append(dict(client.requests_sent))

    def clone(self, name: str = "clone", *, directory: str = "") -> Path:
        """Clone the space; while nobody has changed the platform, all clones are copies of one."""
        path = self.root / name
        founded = self.founded
        if founded is not None and (founded.space, self.untouched) == (self.space, self.storage.version()):
            template, requests = founded.clone(directory)
            shutil.copytree(template, path, symlinks=True)
            self.requests.append(requests)
            return path
        Repository.create(path, branch="main").close()
        assert_fine(self.run(RunOptions(integrate=False, propose=False), name, directory=directory))
        with Repository.open(path) as repository:
            tip = repository.resolve("refs/remotes/platform/main")
            assert tip is not None
            repository.update_ref("refs/heads/main", tip, old=None)
            repository.checkout_new("main")
        return path

    def run(
        self, wish: RunOptions, clone: str = "clone", *, directory: str = "", force: dict[str, int] | None = None
    ) -> list[Result]:
        with self.workspace(clone, directory=directory, force=force) as workspace:
            return run_cycle(workspace, wish)

    def pull(self, clone: str = "clone") -> list[Result]:
        return self.run(RunOptions(propose=False), clone)

    def push(self, clone: str = "clone") -> list[Result]:
        return self.run(RunOptions(integrate=False), clone)

    def sync(self, clone: str = "clone") -> list[Result]:
        return self.run(RunOptions(), clone)

    def git(self, *words: str, clone: str = "clone") -> str:
        done = subprocess.run(["git", *words], cwd=self.root / clone, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def commit(
        self, message: str, files: dict[str, str | bytes], *, clone: str = "clone", gone: Sequence[str] = ()
    ) -> str:
        plant(self.root / clone, files)
        for path in gone:
            (self.root / clone / path).unlink()
        self.git("add", "--all", clone=clone)
        self.git("commit", "--quiet", "--message", message, clone=clone)
        return self.git("rev-parse", "HEAD", clone=clone).strip()

    def client(self) -> Client:
        return Client(self.url, self.token)

    def edit_on_platform(self, files: dict[str, str | bytes]) -> None:
        """Another writer changes main content: the whole directory is imported as a new revision."""
        directory = self.root / "elsewhere"
        merged: dict[str, str | bytes] = {**SMALL, **files}
        plant(directory, merged)
        import_directory(self.storage, directory, title=None, space=self.space)

    def merge(self, number: int) -> str:
        with self.client() as client:
            return client.change_requests.merge(self.space, str(number)).result


def assert_fine(results: list[Result]) -> None:
    wrong = [result for result in results if result.outcome.exit_code]
    assert not wrong, wrong


def changed(results: list[Result], flow: str) -> Applied:
    (outcome,) = [result.outcome for result in results if result.flow == flow and isinstance(result.outcome, Applied)]
    return outcome


@contextmanager
def new_world(
    root: Path, settings: PlatformSettings | None = None, *, files: dict[str, str | bytes] | None = None
) -> Iterator[World]:
    """Serve a platform with one small space, with everything in a directory."""
    founded = _found(tuple((files or SMALL).items()))
    shutil.copytree(founded.root, root, dirs_exist_ok=True)
    token = (root / "platform" / "token").read_text().strip()
    with Storage(root / "platform") as storage:
        untouched = storage.version()
        with BackgroundServer(storage, settings or PlatformSettings()) as url:
            yield World(
                root, storage, url, token, founded.space, founded=None if settings else founded, untouched=untouched
            )


class Founded:
    """A platform with one small space that no test uses: each gets a copy of it, and of the clones of it."""

    def __init__(self, files: dict[str, str | bytes]) -> None:
        self._directory = TemporaryDirectory(prefix="syncd-founded-", dir=os.environ.get("PYTEST_DEBUG_TEMPROOT"))
        self.root = Path(self._directory.name, "world")
        source = plant(self.root / "source", files)
        with new_storage(self.root / "platform") as storage:
            storage.bootstrap()
            self.space = import_directory(storage, source, title="Docs", space=None).space
        self._clones: dict[str, tuple[Path, dict[str, int]]] = {}

    def clone(self, directory: str) -> tuple[Path, dict[str, int]]:
        """Given where the space is to be in it, return a clone and how many requests it took."""
        if directory not in self._clones:
            place = Path(self._directory.name, str(len(self._clones)))
            shutil.copytree(self.root, place)
            token = (place / "platform" / "token").read_text().strip()
            with Storage(place / "platform") as storage, BackgroundServer(storage) as url:
                world = World(place, storage, url, token, self.space)
                self._clones[directory] = world.clone(directory=directory), world.requests[-1]
        return self._clones[directory]


@cache
def _found(files: tuple[tuple[str, str | bytes], ...]) -> Founded:
    return Founded(dict(files))


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with new_world(tmp_path) as served:
        yield served


@pytest.fixture
def worlds() -> Callable[..., AbstractContextManager[World]]:
    return new_world


@pytest.fixture
def fine() -> Callable[[list[Result]], None]:
    return assert_fine


@pytest.fixture
def applied() -> Callable[[list[Result], str], Applied]:
    return changed


@pytest.fixture
def small() -> dict[str, str | bytes]:
    return dict(SMALL)
