"""One run of one repository of a fleet: the same flows as everywhere, under a lease, on a clone that anybody can make.

Before each write to the platform and each push, three things happen in this order: the database says that the lease is
still ours; the state goes to the remote where it has changed, by compare-and-set; the database is asked once more.
"""

import hmac
import random
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from syncd.config import Config, RepositoryConfig
from syncd.daemon.locks import RUN_LOCK, FileLock
from syncd.daemon.records import DEFECT, Subject, is_complete_run, judge_run, list_subjects, summarize_run
from syncd.daemon.task import find_delay, is_unanswered
from syncd.daemon.workspaces import Environment, build_service_options, build_upstream, open_locked_workspace, read_time
from syncd.errors import FleetUnreachable, LeaseLost, Stopped, SyncdError
from syncd.fleet.cache import Cache
from syncd.fleet.database import FleetDatabase, FleetSettings, Row, render_json
from syncd.fleet.leases import Lease, acquire_lease
from syncd.fleet.limits import compute_token_key, note_limit, share_windows
from syncd.fleet.people.notifications import note_run
from syncd.fleet.people.plans import FleetPlan, keep_plans, lend_plans
from syncd.fleet.people.reports import save_report
from syncd.fleet.repositories import FleetRepository, find_repository, parse_records
from syncd.fleet.snapshot import Snapshot
from syncd.repo.repository import Repository
from syncd.store.status import PendingPlan
from syncd.sync.integrate.upstream import list_requested
from syncd.sync.outcome import Applied, outcome_from
from syncd.sync.run.cycle import run_cycle
from syncd.sync.run.values import RUN, Result, RunOptions, is_stopped
from syncd.sync.workspace import Upstream

if TYPE_CHECKING:
    import psycopg

_JITTER = 0.1
"""Share of an interval by which runs are spread, so that a thousand repositories do not meet."""


@dataclass(frozen=True)
class RunContext:
    """What all runs of one worker have in common. Units: `lease_seconds` is how long a lease is good unrenewed."""

    database: FleetDatabase
    settings: FleetSettings
    worker: str
    cache: Cache
    lease_seconds: float
    environ: Mapping[str, str]
    is_stopping: Callable[[], bool]


@dataclass(frozen=True)
class RunEnd:
    """What a run came to; `results` of one that lost its lease are nobody's any more.

    Shape: `failure` says why one broke off that could not be recorded; its repository stays due.
    """

    repository: str
    results: Sequence[Result]
    has_lost_lease: bool = False
    failure: str = ""


@dataclass(frozen=True)
class _Work:
    """What a run did; `left` are the plans of sites that wait after it, None where it did not come that far."""

    results: Sequence[Result]
    lent: Sequence[FleetPlan] = ()
    left: Sequence[PendingPlan] | None = None


@dataclass(frozen=True)
class _RepositoryFacts:
    """What the database knows of a repository: the records of its last run, and how many runs in a row got no answer.

    Units: `interval` between two runs, in seconds.
    """

    records: Sequence[Mapping[str, Any]]
    failures: int
    interval: float


def run_repository(context: RunContext, name: str) -> RunEnd | None:
    """Run a repository once, record what it came to, and return that.

    Shape: None when it is not due, when another worker has its lease, and when the fleet has it no more. A defect is
    recorded, and passes through. Raises: FleetUnreachable.
    """
    if not _is_due(context.database, name):
        return None
    lease = acquire_lease(context.database, name, worker=context.worker, seconds=context.lease_seconds)
    if lease is None:
        return None
    with lease:
        repository: FleetRepository | None = None
        try:
            repository = find_repository(context.database, name)
            if repository is None:
                return None
            work = _run_under_lease(context, lease, repository)
        except SyncdError as error:
            work = _Work([Result(RUN, "", outcome_from(error))])
            if isinstance(error, LeaseLost):
                return RunEnd(name, work.results, has_lost_lease=True)
        except Exception:  # a defect, of any kind: unrecorded, the repository would count as good, and be due at once
            with suppress(FleetUnreachable):
                _record_run(context, lease, repository, _Work([Result(RUN, "", DEFECT)]))
            raise
        if repository is not None:
            context.cache.note_use(name)
        is_ours = _record_run(context, lease, repository, work)
    return RunEnd(name, work.results, has_lost_lease=not is_ours)


def _is_due(database: FleetDatabase, name: str) -> bool:
    """Whether a repository is still to run: a job can wait behind a run that was already asked for twice."""
    found = database.query(
        "SELECT due_at <= clock_timestamp() FROM syncd_fleet_repositories WHERE name = %(name)s", {"name": name}
    )
    return bool(found and found[0][0])


def _run_under_lease(context: RunContext, lease: Lease, repository: FleetRepository) -> _Work:
    """Bring the clone up to date, run all flows, and leave what they know where every worker finds it."""

    def is_cancelled() -> bool:
        return context.is_stopping() or lease.is_lost

    def pulse() -> None:
        if is_cancelled():
            raise Stopped("stopped while the state of the repository was exchanged")

    with ExitStack() as stack:
        branch = next(iter(repository.config.branch_names), "main")
        path = stack.enter_context(context.cache.hold_clone(repository.name, branch))
        stack.enter_context(FileLock.acquire(path / RUN_LOCK))
        config = repository.build_config(path)
        own = config.repository[0]
        answers = context.cache.find_answers(repository.name)
        git = stack.enter_context(Repository.open(path, answers.state))
        upstream = build_upstream(own.upstream, git, context.environ)
        assert upstream is not None
        snapshot = stack.enter_context(_open_snapshot(context, repository, git, upstream, pulse))
        options = _build_options(config, own, repository.name)
        snapshot.restore(list_requested(upstream, [*options.branches, *options.patterns], options.others))

        def permit() -> None:
            lease.check()
            if snapshot.save(fence=lease.fence, permit=lease.check):
                lease.check()

        share = share_windows(context.database, compute_token_key(repository.platform, context.environ))
        environment = Environment(
            context.environ,
            cancelled=is_cancelled,
            permit=permit,
            share=share,
            upstream_heads=snapshot.heads,
            kept_answers=answers.run,
        )
        with open_locked_workspace(config, own, environment) as workspace:
            plans = workspace.store.plans
            lent = lend_plans(context.database, repository.name, plans)
            results = run_cycle(workspace, options)
            left = plans.list_pending()
        # Also after a run that was stopped: whoever comes next goes on from here.
        lease.check()
        snapshot.save(fence=lease.fence, permit=lease.check)
        return _Work(results, lent, left)


def _open_snapshot(
    context: RunContext, repository: FleetRepository, git: Repository, upstream: Upstream, pulse: Callable[[], None]
) -> Snapshot:
    return Snapshot(
        git,
        upstream.access,
        f"{context.settings.state_ref}/{repository.name}",
        key=hmac.new(context.settings.secret.encode(), repository.name.encode(), "sha256").digest(),
        upstream=upstream.name,
        pulse=pulse,
        listing=context.cache.find_answers(repository.name).refs,
    )


def _build_options(config: Config, own: RepositoryConfig, name: str) -> RunOptions:
    options = build_service_options(config, own, name)
    return replace(options, site=replace(options.site, commands="syncd fleet")) if options.site else options


def _record_run(context: RunContext, lease: Lease, repository: FleetRepository | None, work: _Work) -> bool:
    """Record what a run came to and when the next one is due; return whether the lease was still ours."""
    with context.database.transact() as cursor:
        cursor.execute(
            "SELECT r.records, r.failures, r.seconds FROM syncd_fleet_repositories r JOIN syncd_fleet_leases l"
            " ON l.repository = r.name WHERE r.name = %(name)s AND l.fence = %(fence)s"
            " AND l.expires_at > clock_timestamp() FOR UPDATE OF l, r",
            {"name": lease.repository, "fence": lease.fence},
        )
        found = cursor.fetchone()
        if found is None:
            return False
        facts = _RepositoryFacts(*found)
        if is_complete_run(work.results):
            records = _judge_run(lease.repository, repository, work.results, facts.records)
            facts = replace(facts, records=records)
            if repository is not None:
                _save_findings(context, cursor, repository, work)
        key = compute_token_key(repository.platform, context.environ) if repository is not None else ""
        _schedule_next(cursor, lease, work, facts, key)
    return True


def _judge_run(
    name: str, repository: FleetRepository | None, results: Sequence[Result], records: Sequence[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """Return the records of a run that came to its end, from those before it.

    Shape: of a repository whose configuration cannot be read here, `repository` is None; the run failed for all that
    it was about before.
    """
    former = parse_records(records)
    if repository is not None:
        subjects = list_subjects(repository.config)
    else:
        subjects = tuple(Subject(one.kind, one.name) for one in former if one.kind != "repository")
    at = read_time().isoformat(timespec="seconds")
    return [asdict(record) for record in judge_run(results, former, subjects, name=name, at=at)]


def _save_findings(
    context: RunContext, cursor: "psycopg.Cursor[Row]", repository: FleetRepository, work: _Work
) -> None:
    """Note what people are to be told of a run that came to its end, which plans it left, and what pages show of it."""
    clone = context.cache.find_clone(repository.name)
    at = read_time().isoformat(timespec="seconds")
    note_run(cursor, repository, clone if clone.is_dir() else None, work.results, at)
    if work.left is not None:
        keep_plans(cursor, repository.name, work.lent, work.left)
        save_report(cursor, repository.name, clone)


def _schedule_next(
    cursor: "psycopg.Cursor[Row]", lease: Lease, work: _Work, facts: _RepositoryFacts, token_key: str
) -> None:
    """Write the records of a run, and when the next one is due."""
    # The next worker knows of a platform that is down only by the time: that the Git host works must not hide it.
    counted = [result for result in work.results if result.flow != "upstream" or result.outcome.exit_code]
    outcome, now = summarize_run(counted), time.time()
    failures = min(facts.failures + 1, 32) if is_unanswered(outcome) else 0
    again = is_stopped(work.results)
    if token_key:
        note_limit(cursor, token_key, outcome, now=now)
    cursor.execute(
        "UPDATE syncd_fleet_repositories SET records = %(records)s, failures = %(failures)s,"
        " last_worker = %(worker)s, last_fence = %(fence)s, token_key = %(key)s, ended_at = clock_timestamp(),"
        " begun_at = %(begun)s, is_active = %(active)s,"
        " due_at = CASE WHEN %(again)s OR woken_at > %(begun)s"
        " THEN clock_timestamp() + make_interval(secs => %(delay)s)"
        " ELSE greatest(clock_timestamp() + make_interval(secs => %(delay)s),"
        " %(begun)s + make_interval(secs => %(spread)s)) END WHERE name = %(name)s",
        {
            "name": lease.repository,
            "worker": lease.worker,
            "fence": lease.fence,
            "begun": lease.acquired_at,
            "records": render_json(facts.records),
            "failures": failures,
            "again": again,
            "active": again or any(isinstance(result.outcome, Applied) for result in work.results),
            "delay": find_delay(outcome, facts.interval, failures=failures, now=now, chance=random.random()),  # noqa: S311
            "spread": facts.interval * (1 - _JITTER * random.random()),  # noqa: S311
            "key": token_key,
        },
    )
