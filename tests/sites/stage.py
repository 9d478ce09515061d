"""A platform with one published site, a repository whose site file is committed, and a client whose wire is watched."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import httpx

from syncd.api.client import Client
from syncd.api.options import ClientOptions
from syncd.layout.site.read.declared import SiteFile
from syncd.model.site import SiteCreate
from syncd.model.space import SpaceCreate
from syncd.plan.site.compose import plan_site
from syncd.platform.server import BackgroundServer
from syncd.platform.settings import PlatformSettings
from syncd.platform.storage.storage import Storage
from syncd.repo.repository import Repository
from syncd.store.store import Store
from syncd.sync.site.apply import ApplyResult, apply_plan
from syncd.sync.site.lock import LockWriter
from syncd.sync.site.options import LockPlace
from syncd.sync.site.read.site import read_live
from syncd.sync.workspace import Workspace
from tests.storages import new_storage

KINDS = frozenset({"site-space", "site-page", "external"})
NOW = datetime(2026, 5, 1, tzinfo=UTC)
WRITES = ("POST", "PUT", "PATCH", "DELETE")


class Killed(BaseException):
    """Stands for a process that is no more: nobody catches it."""


class Wire(httpx.BaseTransport):
    """The network, which tells somebody of each request that was answered, and breaks for good after so many writes.

    Shape: what the platform refuses is no write.
    """

    def __init__(self, seen: Callable[[httpx.Request], None] | None = None, *, lives: int | None = None) -> None:
        self._inner = httpx.HTTPTransport()
        self._seen, self._lives = seen, lives
        self.sent: list[str] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if self._lives is not None and self._lives < 0:
            raise Killed
        there = self._inner.handle_request(request)
        assert isinstance(there.stream, httpx.SyncByteStream)
        answer = httpx.Response(there.status_code, headers=there.headers, content=b"".join(there.stream))
        there.close()
        self.sent.append(f"{request.method} {request.url.path} {request.content.decode()}")
        if self._seen is not None and request.method in WRITES:
            self._seen(request)
        if self._lives is not None and request.method in WRITES and answer.is_success:
            self._lives -= 1
            if self._lives < 0:
                raise Killed
        return answer

    def close(self) -> None:
        self._inner.close()


@dataclass
class Stage:
    """What a test has in hand."""

    root: Path
    storage: Storage
    url: str
    token: str
    organization: str
    site: str
    spaces: tuple[str, ...]
    holding: str
    sorts: bool = True
    store: Path = field(init=False)

    def __post_init__(self) -> None:
        self.store = self.root / "state.db"

    @contextmanager
    def workspace(self, wire: httpx.BaseTransport | None = None) -> Iterator[Workspace]:
        """Open everything as one process does."""
        with (
            Repository.open(self.root / "clone") as repository,
            Store(self.store) as store,
            Client(self.url, self.token, ClientOptions(transport=wire, sleep=lambda _: None)) as client,
        ):
            yield Workspace(client, repository, store, now=lambda: NOW, instance="0a1b2c")

    def apply(self, file: SiteFile, wire: httpx.BaseTransport | None = None, place: LockPlace = "repo") -> ApplyResult:
        """Do what one run does: read, plan, apply."""
        with self.workspace(wire) as workspace:
            lock_writer = LockWriter(workspace, file, place)
            live = read_live(workspace, file, lock_writer.load(), kinds=KINDS)
            plan = plan_site(file, live, lock_writer.lock)
            return apply_plan(workspace, file, plan, live, lock_writer)

    def emptied(self, settings: SiteCreate | None = None) -> "Stage":
        """Return the same stage with another, empty site, which nobody has a lock of."""
        with Client(self.url, self.token) as client:
            made = client.sites.create(self.organization, settings or SiteCreate(title="Site"))
            client.sites.publish(self.organization, made.id)
        return replace(self, site=made.id)


@contextmanager
def create_stage(root: Path, settings: PlatformSettings | None = None, *, spaces: int = 6) -> Iterator[Stage]:
    """Serve a platform with spaces and a site, beside a repository with one commit."""
    with Repository.create(root / "clone") as repository:
        person = Workspace(None, repository, None, now=lambda: NOW).committer()  # type: ignore[arg-type]
        tree = repository.write_tree(None, {"site.yaml": b"version: 1\n"})
        commit = repository.commit_tree(tree, parents=[], message="First\n", author=person, committer=person)
        repository.update_ref("refs/heads/main", commit, old=None)
        repository.checkout_new("main")
    with new_storage(root / "platform") as storage:
        storage.bootstrap()
        token = storage.token_file.read_text().strip()
        chosen = settings or PlatformSettings()
        with BackgroundServer(storage, chosen) as url:
            with Client(url, token) as client:
                organization = next(iter(client.organizations.list())).id
                made = [
                    client.spaces.create(organization, SpaceCreate(title=f"Space {number}")).id
                    for number in range(spaces + 1)
                ]
            stage = Stage(root, storage, url, token, organization, "", tuple(made[:-1]), made[-1], chosen.site_write)
            yield stage.emptied()
