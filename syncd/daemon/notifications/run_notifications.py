"""Notifications of a running service: configured anew with it, and fed with the results of its runs."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from syncd.config import Config, RepositoryConfig
from syncd.daemon.health import USEFUL
from syncd.daemon.labels import name_repositories
from syncd.daemon.locks import STATE_FILE
from syncd.daemon.notifications.ledger import IncidentLedger, Subscription
from syncd.daemon.notifications.request_news import describe_requests
from syncd.daemon.notifications.targets import build_address_finder
from syncd.daemon.records import find_state
from syncd.daemon.task import Job
from syncd.errors import StoreError, SyncdError
from syncd.plan.message import CHANGE_REQUEST, SPACE
from syncd.repo.repository import Repository
from syncd.store.incidents import SeenRequest
from syncd.store.status import read_store_summary
from syncd.sync.run.values import Result

_COMMITS_MAX = 200
"""Mirror commits, newest first, among which the one is sought by which a change request was merged."""


class RunNotifications:
    """Tells people what the runs of a service come to; a context manager that ends with the service."""

    def __init__(self, directory: Path, notice: Callable[[str], None]) -> None:
        """Keep what was told in the service's directory; `notice` gets what cannot be told."""
        self.ledger = IncidentLedger(directory, notice)
        self._repositories: Mapping[Path, RepositoryConfig] = {}

    def configure(self, config: Config, subscriptions: Sequence[Subscription]) -> None:
        """Tell these receivers of the repositories of a configuration from now on."""
        named = zip(name_repositories(config), config.repository, strict=True)
        self.ledger.configure(subscriptions, {name: repository.path for name, repository in named})
        self._repositories = {repository.path: repository for repository in config.repository}

    def note_run(self, job: Job, git_dir: Path | None, results: Sequence[Result], at: str) -> None:
        """Note what a run came to, and tell what began and ended. Units: `at` in ISO 8601."""
        repository = self._repositories.get(job.path)
        if repository is not None:
            self.ledger.note_run(job.path, job.name, results, at, build_address_finder(repository, git_dir))
            if git_dir is not None and self.ledger.should_read_requests(job.name) and _has_read_all(results):
                self._note_requests(job, repository, git_dir, at)

    def _note_requests(self, job: Job, repository: RepositoryConfig, git_dir: Path, at: str) -> None:
        """Note the change requests after a run that got through, so that what it could not read is not gone."""
        try:
            now = describe_requests(read_store_summary(git_dir / STATE_FILE).requests)
        except StoreError:  # the counts of the same run say so in the log
            return
        is_merged = partial(_is_merged, git_dir, f"refs/remotes/{repository.remote}/main")
        self.ledger.note_requests(job.path, job.name, now, is_merged, at)

    def __enter__(self) -> "RunNotifications":
        return self

    def __exit__(self, *_: object) -> None:
        self.ledger.outbox.stop()


def _has_read_all(results: Sequence[Result]) -> bool:
    return all(find_state(result) in USEFUL for result in results)


def _is_merged(git_dir: Path, main: str, request: SeenRequest) -> bool:
    """Whether a mirror commit says that a change request has become main content."""
    try:
        with Repository.open(git_dir) as repository:
            tip = repository.resolve(main)
            commits = repository.list_commits(None, tip, limit=_COMMITS_MAX) if tip is not None else []
    except SyncdError:
        return False
    return any(
        request.number in commit.trailers.get(CHANGE_REQUEST, []) and request.space in commit.trailers.get(SPACE, [])
        for commit in commits
    )
