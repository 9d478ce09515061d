"""Build the jobs of the service from its configuration: one for each repository."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from syncd.api.transport.breaker import Breaker
from syncd.api.transport.rate_limit import Observe, ignore_try
from syncd.config import Config, DropIn, RepositoryConfig
from syncd.config.repository import INTERVAL_SECONDS
from syncd.daemon.labels import name_repositories
from syncd.daemon.locks import WAKE_FILE
from syncd.daemon.records import list_subjects
from syncd.daemon.task import Job
from syncd.daemon.workspaces import Environment, build_service_options, open_locked_workspace
from syncd.repo.read.kept_answers import KeptAnswers
from syncd.repo.repository import Repository
from syncd.sync.run.cycle import run_cycle
from syncd.sync.run.values import Result


def build_jobs(config: Config, environ: Mapping[str, str], observe: Observe = ignore_try) -> list[Job]:
    """Return a job for each repository of a configuration; none is opened before its run.

    Shape: `observe` hears of each request to the platform.
    """
    named = zip(name_repositories(config), config.repository, strict=True)
    return [_build_job(config, name, repository, environ, observe) for name, repository in named]


def build_broken_jobs(broken: Sequence[DropIn]) -> list[Job]:
    """Return a job for each drop-in that has a mistake, which says so until somebody mends it."""
    return [_build_broken_job(drop_in) for drop_in in broken]


def _build_broken_job(drop_in: DropIn) -> Job:
    def refuse() -> Path:
        assert drop_in.error is not None
        raise drop_in.error

    # No repository can be had, so nothing is ever run.
    name = f"conf.d/{drop_in.path.name}"
    return Job(name, drop_in.path, refuse, INTERVAL_SECONDS, lambda cancelled: [], fault=drop_in.error)


def _build_job(
    config: Config, name: str, repository: RepositoryConfig, environ: Mapping[str, str], observe: Observe
) -> Job:
    # One for each host: runs go on for the sake of the one that answers.
    platform, upstream = Breaker(repository.interval), Breaker(repository.interval)
    kept_answers = KeptAnswers()

    def run(cancelled: Callable[[], bool]) -> Sequence[Result]:
        environment = Environment(
            environ,
            cancelled=cancelled,
            platform_breaker=platform,
            upstream_breaker=upstream,
            observe=observe,
            kept_answers=kept_answers,
        )
        with open_locked_workspace(config, repository, environment) as workspace:
            return run_cycle(workspace, run_options)

    run_options = build_service_options(config, repository, name)
    locate = partial(Repository.locate, repository.path)
    subjects = list_subjects(repository)

    def allow_requests() -> None:
        platform.allow()
        upstream.allow()

    return Job(name, repository.path, locate, repository.interval, run, subjects, (WAKE_FILE,), allow_requests)
