"""`fleet status` and `fleet drain`: how the fleet is, and what it counts."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from syncd.cli.fleet.connect import open_database
from syncd.cli.terminal.output import print_document
from syncd.cli.terminal.text import escape, print_text
from syncd.daemon.health import USEFUL, find_repository_run
from syncd.fleet.people.notifications import count_waiting
from syncd.fleet.repositories import RepositoryState, list_states
from syncd.fleet.workers import WorkerState, drain_worker, list_workers
from syncd.model.wording import format_count
from syncd.store.runs import RunRecord

GONE_SECONDS = 60.0
"""After so long without a sign of life, a worker is shown as gone, whatever its lease."""
FAILED = 1
_LATE_SECONDS = 60.0
_GIB = 1 << 30


def show_fleet_status(url: str, *, as_json: bool) -> int:
    """Print workers and repositories, problems first, and return the exit code: 1 when something is not well.

    Raises: ConfigInvalid, FleetUnreachable.
    """
    with open_database(url) as database:
        database.read_settings()
        workers, repositories = list_workers(database), list_states(database)
        waiting = count_waiting(database)
    is_well = all(not _find_problem(one) for one in repositories) and (not repositories or count_live(workers) > 0)
    if as_json:
        print_document(_build_document(workers, repositories, waiting, is_well=is_well))
    else:
        for line in _format_status(workers, repositories):
            print_text(line)
    return 0 if is_well else FAILED


def drain_in_fleet(url: str, worker: str) -> None:
    """Ask a worker to end; its repositories go to others. Raises: ConfigInvalid, FleetUnreachable."""
    with open_database(url) as database:
        database.read_settings()
        drain_worker(database, worker)
    print_text(f"{escape(worker)} begins no run any more, and ends")


def count_live(workers: Sequence[WorkerState]) -> int:
    """Return how many workers take runs."""
    return sum(one.seen_ago < GONE_SECONDS and not one.is_draining for one in workers)


def _find_problem(one: RepositoryState) -> str:
    """What is wrong with a repository, or ""."""
    record = find_repository_run(one.records)
    if record is not None and record.state not in USEFUL:
        return f"{record.state}: {record.why}"
    return describe_lateness(one)


def describe_lateness(one: RepositoryState) -> str:
    """Return for how long a repository has been due and no worker took it, or "" while that is not long."""
    if one.due_in < -_LATE_SECONDS and not one.worker:
        return f"due for {-one.due_in:.0f} s, and no worker takes it"
    return ""


def _find_wait(one: RepositoryState) -> RunRecord | None:
    """The last run of a repository, where it did its work and left something for a person; else None."""
    record = find_repository_run(one.records)
    return record if record is not None and record.state in USEFUL - {"ok"} and not _find_problem(one) else None


def _format_wait(one: RepositoryState, record: RunRecord) -> list[str]:
    hint = next(filter(None, record.hint.splitlines()), "syncd status in a clone says more")
    return [f"! {one.name} {record.state}: {escape(record.why)}", f"    {escape(hint)}"]


def _format_status(workers: Sequence[WorkerState], repositories: Sequence[RepositoryState]) -> list[str]:
    running = sum(bool(one.worker) for one in repositories)
    due = sum(one.due_in <= 0 and not one.worker for one in repositories)
    lines = [
        f"{_count_repositories(len(repositories))}: {running} running, {due} due;"
        f" {format_count(count_live(workers), 'worker')}"
    ]
    problems = [(one, problem) for one in repositories if (problem := _find_problem(one))]
    lines += [f"! {one.name} {escape(problem)}" for one, problem in problems]
    lines += [line for one in repositories if (record := _find_wait(one)) for line in _format_wait(one, record)]
    if repositories and not count_live(workers):
        lines.append("! no worker runs: syncd fleet worker")
    for worker in workers:
        lines.append(_format_worker(worker))
    for one in repositories:
        if not _find_problem(one):
            lines.append(_format_repository(one))
    return lines


def _count_repositories(count: int) -> str:
    return f"{count:,} {'repository' if count == 1 else 'repositories'}"


def _format_worker(worker: WorkerState) -> str:
    counts = worker.counts
    state = "draining" if worker.is_draining else "ok"
    state = f"gone for {worker.seen_ago:.0f} s" if worker.seen_ago >= GONE_SECONDS else state
    runs = f"{counts.running} of {worker.jobs} running, {format_count(counts.runs, 'run')}, {counts.failed_runs} failed"
    clones = f"{format_count(counts.cached, 'clone')} ({counts.cache_bytes / _GIB:.1f} GiB)"
    lost = f", {counts.lost_leases} leases lost" if counts.lost_leases else ""
    return f"worker {escape(worker.name)} {state}: {runs}{lost}, {clones}, syncd {escape(worker.version)}"


def _format_repository(one: RepositoryState) -> str:
    if one.worker:
        return f"{one.name} runs at {escape(one.worker)}"
    record = find_repository_run(one.records)
    when = "due now" if one.due_in <= 0 else f"due in {one.due_in:.0f} s"
    if record is None or one.ended_ago is None:
        return f"{one.name} has not run yet, {when}"
    why = f" ({escape(record.why)})" if record.why else ""
    return f"{one.name} {record.state}{why}: {one.ended_ago:.0f} s ago at {escape(one.last_worker)}, {when}"


def _build_document(
    workers: Sequence[WorkerState], repositories: Sequence[RepositoryState], waiting: int, *, is_well: bool
) -> dict[str, Any]:
    sums = {key: sum(asdict(one.counts)[key] for one in workers) for key in ("running", "runs", "failed_runs")}
    more = {key: sum(asdict(one.counts)[key] for one in workers) for key in ("lost_leases", "cached", "cache_bytes")}
    return {
        "is_well": is_well,
        "sum": {
            **sums,
            **more,
            "workers": count_live(workers),
            "repositories": len(repositories),
            "waiting_notifications": waiting,
        },
        "waits_for_person": [one.name for one in repositories if _find_wait(one)],
        "workers": [asdict(one) for one in workers],
        "repositories": [asdict(one) for one in repositories],
    }
