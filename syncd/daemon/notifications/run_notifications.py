"""Notifications of a running service: configured anew with it, and fed with the results of its runs."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from syncd.config import Config, RepositoryConfig
from syncd.daemon.labels import name_repositories
from syncd.daemon.notifications.ledger import IncidentLedger, Subscription
from syncd.daemon.notifications.read_requests import build_merge_finder, has_read_all, read_requests
from syncd.daemon.notifications.targets import build_address_finder
from syncd.daemon.task import Job
from syncd.sync.run.values import Result


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
            if git_dir is not None and self.ledger.should_read_requests(job.name) and has_read_all(results):
                self._note_requests(job, repository, git_dir, at)

    def _note_requests(self, job: Job, repository: RepositoryConfig, git_dir: Path, at: str) -> None:
        """Note the change requests after a run that got through, so that what it could not read is not gone."""
        now = read_requests(git_dir)
        if now is not None:
            self.ledger.note_requests(job.path, job.name, now, build_merge_finder(repository, git_dir), at)

    def __enter__(self) -> "RunNotifications":
        return self

    def __exit__(self, *_: object) -> None:
        self.ledger.outbox.stop()
