"""Turn configuration into the daemon's jobs: one repository, one job."""

from collections.abc import Callable, Mapping, Sequence

from syncd.config import Config, RepositoryConfig
from syncd.daemon.locks import WAKE
from syncd.daemon.service import Job
from syncd.daemon.workplace import Circumstances, opened, wish
from syncd.repo import Repository
from syncd.sync.cycle import Result, run_cycle
from syncd.sync.outcome import Applied, Held, Outcome, Unchanged, Waiting, outcome_of


def jobs(config: Config, environ: Mapping[str, str], report: Callable[[str, Result], None]) -> list[Job]:
    """Given the configuration, return a job for each repository; `report` hears every result of every run.

    Raises: NotARepository when a configured path holds none.
    """
    return [_job(config, repository, environ, report) for repository in config.repository]


def _job(
    config: Config, repository: RepositoryConfig, environ: Mapping[str, str], report: Callable[[str, Result], None]
) -> Job:
    with Repository.open(repository.path) as git:
        git_dir = git.git_dir

    def run(cancelled: Callable[[], bool]) -> Outcome:
        def cycle() -> Outcome:
            around = Circumstances(environ, cancelled=cancelled)
            with opened(config, repository, around) as workspace:
                results = run_cycle(workspace, wish(repository, every=None))
            for result in results:
                report(str(repository.path), result)
            return summary(results)

        return outcome_of(cycle)

    return Job(str(repository.path), git_dir, (git_dir / WAKE,), repository.interval, run)


def summary(results: Sequence[Result]) -> Outcome:
    """Given the results of a run, return the one outcome that decides when the next run is.

    Shape: a known time wins, then waiting, then held, then applied. Waiting for people is no reason to run later.
    """
    outcomes = [result.outcome for result in results]
    waiting = [outcome for outcome in outcomes if isinstance(outcome, Waiting) and outcome.exit_code]
    timed = [outcome for outcome in waiting if outcome.until is not None]
    held = [outcome for outcome in outcomes if isinstance(outcome, Held)]
    changes = tuple(change for o in outcomes if isinstance(o, Applied) for change in o.changes)
    for found in (timed, waiting, held):
        if found:
            return found[0]
    return Applied(changes) if changes else Unchanged()
