"""Open what a run works with: configuration in, a workspace under the repository's run lock out."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from syncd.api.client import Client
from syncd.config import Config, RepositoryConfig, token
from syncd.daemon.locks import RUN, Lock
from syncd.repo import Repository
from syncd.store.store import Store
from syncd.sync.cycle import Wish
from syncd.sync.workspace import Binding, Progress, Workspace, silent

STATE = "syncd/state.db"
"""Below a repository's git directory: what neither side remembers; its directory comes with the run lock."""
LOCK_WAIT_SECONDS = 10.0
"""How long a command waits for another run of the same repository to end."""


def never() -> bool:
    """Return False: nothing asks this run to stop."""
    return False


@dataclass(frozen=True)
class Circumstances:
    """What surrounds a run and is no configuration."""

    environ: Mapping[str, str]
    cancelled: Callable[[], bool] = never
    progress: Progress = silent
    force: Mapping[str, int] = field(default_factory=dict)
    wait: float = LOCK_WAIT_SECONDS


@contextmanager
def workplace(config: Config, repository: RepositoryConfig, around: Circumstances) -> Iterator[Workspace]:
    """Given a repository's configuration, open it for one run of its own.

    Raises: AnotherRuns when another run holds the repository; ConfigInvalid, NotARepository, StoreNewer.
    """
    with Repository.open(repository.path) as git:
        lock = git.git_dir / RUN
    with Lock.acquire(lock, wait=around.wait), opened(config, repository, around) as workspace:
        yield workspace


@contextmanager
def opened(config: Config, repository: RepositoryConfig, around: Circumstances) -> Iterator[Workspace]:
    """Given a repository whose run lock is held, open both sides and the store, and close them after the run.

    Raises: ConfigInvalid, NotARepository, StoreNewer.
    """
    secret = token(config.platform, around.environ)
    with Repository.open(repository.path) as git:
        git.recover(remote=repository.remote)
        with (
            Store(git.git_dir / STATE) as store,
            Client(
                config.platform.url,
                secret.get_secret_value(),
                insecure=config.platform.insecure,
                cancelled=around.cancelled,
            ) as client,
        ):
            yield Workspace(
                client=client,
                repository=git,
                store=store,
                now=now,
                bindings=bindings(repository),
                remote=repository.remote,
                instance=repository.instance,
                progress=around.progress,
                force=around.force,
            )


def bindings(repository: RepositoryConfig) -> tuple[Binding, ...]:
    """Given a repository's configuration, return its spaces as the flows know them."""
    return tuple(Binding(space.id, space.directory, space.name) for space in repository.space)


def wish(repository: RepositoryConfig) -> Wish:
    """Given a repository's configuration, return what a whole run of it is asked for."""
    site = repository.site.file if repository.site is not None and repository.site.apply else ""
    return Wish(branches=repository.branches, propose=repository.propose, site=site)


def now() -> datetime:
    """Return the time, aware, in UTC."""
    return datetime.now(UTC)
