"""Build what the status page of a fleet shows, from what is in its database."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from urllib.parse import quote

from syncd import __version__
from syncd.cli.fleet.status import GONE_SECONDS, count_live, describe_lateness
from syncd.cli.status.gather import read_plans, read_sites
from syncd.cli.status.values import RepositoryStatus, RequestStatus, SpaceStatus
from syncd.cli.web.build import build_row, list_repository_problems, order_problems
from syncd.daemon.health import RepositoryHealth, find_repository_run
from syncd.fleet.people.plans import FleetPlan
from syncd.fleet.people.reports import RepositoryReport
from syncd.fleet.repositories import RepositoryState
from syncd.fleet.workers import WorkerState
from syncd.model.wording import format_count
from syncd.sync.outcome import CONFLICT
from syncd.sync.state.request_state import parse_request_state
from syncd.web.status.values import FleetOverview, FleetRow, Overview, Problem, RepositoryRow, WorkerRow

ROWS_MAX, PROBLEMS_MAX = 100, 100
"""Repositories and problems of one page."""
COMMANDS = "syncd fleet"
_ORDER = ("ok", "none yet")


def build_repository(
    state: RepositoryState, report: RepositoryReport, plans: Sequence[FleetPlan], now: float, version: str
) -> Overview:
    """Return what the pages of one repository show of it and its spaces. Units: `now` in epoch seconds."""
    health, status = _build_health(state, report), _build_status(report, plans)
    row = build_row(health, status)
    conflicts = tuple(replace(one, page=_find_page(state.name)) for one in row.conflicts)
    row = replace(row, conflicts=conflicts, next_command="", branches=())
    problems = order_problems(list(_list_problems(state, report, plans, now)))
    return Overview(now, version, __version__, "", "", (_note_worker(row, state),), problems)


def build_overview(
    states: Sequence[RepositoryState],
    reports: Sequence[RepositoryReport],
    plans: Sequence[FleetPlan],
    workers: Sequence[WorkerState],
    *,
    now: float,
    version: str,
    first: int = 0,
    sought: str = "",
) -> FleetOverview:
    """Return what the first page shows: of repositories whose names have `sought`, those from `first` on.

    Shape: those that somebody should look at stand first, then those that are late, then the others by name.
    """
    by_name = {one.name: one for one in reports}
    waiting = Counter(one.repository for one in plans)
    problems = list(_list_worker_problems(states, workers, now))
    for state in states:
        own = [one for one in plans if one.repository == state.name] if waiting[state.name] else []
        if state.name in by_name:
            problems += _list_problems(state, by_name[state.name], own, now)
    ordered = order_problems(problems)
    rows = [
        _build_fleet_row(state, by_name[state.name], waiting[state.name], now)
        for state in states
        if state.name in by_name and sought.casefold() in state.name.casefold()
    ]
    rows.sort(key=lambda row: (row.state in _ORDER, not row.conflicts, -row.late, row.name))
    first = min(max(first, 0), max(len(rows) - 1, 0))
    return FleetOverview(
        now,
        version,
        __version__,
        _format_headline(states, workers),
        tuple(_build_worker_row(one, now) for one in workers),
        _sum_workers(workers),
        ordered[:PROBLEMS_MAX],
        max(len(ordered) - PROBLEMS_MAX, 0),
        tuple(rows[first : first + ROWS_MAX]),
        first,
        len(rows),
        sought,
    )


def _format_headline(states: Sequence[RepositoryState], workers: Sequence[WorkerState]) -> str:
    running = sum(bool(one.worker) for one in states)
    late = [-one.due_in for one in states if one.due_in < 0 and not one.worker]
    longest = f", longest for {max(late):.0f} s" if late else ""
    count = f"{len(states):,} {'repository' if len(states) == 1 else 'repositories'}"
    return f"{count}: {running} running, {len(late)} due{longest}; {format_count(count_live(workers), 'worker')}"


def _build_health(state: RepositoryState, report: RepositoryReport) -> RepositoryHealth:
    return RepositoryHealth(state.name, report.seconds, state.records, bool(state.records), bool(state.worker))


def _build_status(report: RepositoryReport, plans: Sequence[FleetPlan]) -> RepositoryStatus:
    names = {space.id: space.name for space in report.spaces}
    summary = report.summary
    return RepositoryStatus(
        path="",
        daemon=None,
        branches=(),
        spaces=tuple(
            SpaceStatus(one.name, one.id, one.directory, summary.revisions.get(one.id, ""), False, ())
            for one in report.spaces
        ),
        former=(),
        outcomes=summary.outcomes,
        plans=tuple(replace(one, commands=COMMANDS) for one in read_plans([plan.plan for plan in plans])),
        sites=tuple(read_sites(summary.site_states)),
        requests=tuple(
            RequestStatus(names[space], number, "", True, parse_request_state(facts))
            for (space, number), facts in sorted(summary.requests.items())
            if space in names
        ),
    )


def _list_problems(
    state: RepositoryState, report: RepositoryReport, plans: Sequence[FleetPlan], now: float
) -> Iterator[Problem]:
    if late := describe_lateness(state):
        yield Problem("error", state.name, "run", late, command=f"{COMMANDS} status", page=_find_page(state.name))
    for problem in list_repository_problems(_build_health(state, report), _build_status(report, plans), now):
        yield _name_commands(problem)


def _name_commands(problem: Problem) -> Problem:
    """A problem with what settles it in a fleet: no worker has a work tree, and no other command reaches one."""
    if problem.command in ("syncd doctor", "syncd sync"):
        return replace(problem, command=f"{COMMANDS} wake {problem.repository}")
    if problem.page.startswith("/conflict"):
        return replace(problem, page=_find_page(problem.repository))
    return problem


def _list_worker_problems(
    states: Sequence[RepositoryState], workers: Sequence[WorkerState], now: float
) -> Iterator[Problem]:
    if states and not count_live(workers):
        yield Problem("error", "the fleet", "workers", "No worker runs.", command=f"{COMMANDS} worker --cache DIR")
    for worker in workers:
        if worker.seen_ago >= GONE_SECONDS:
            what = f"Not seen for {worker.seen_ago:.0f} s; its repositories go to other workers."
            hint = f"start it again on {worker.host}, or forget it: start and end one of the same name"
            yield Problem(
                "notice", "the fleet", f"worker {worker.name}", what, hint, since=_format(now, worker.seen_ago)
            )
        if worker.counts.lost_leases:
            what = f"{format_count(worker.counts.lost_leases, 'lease')} lost: it was too slow, or stopped."
            hint = "when it happens often: a longer --lease, or fewer --jobs"
            yield Problem("notice", "the fleet", f"worker {worker.name}", what, hint)


def _build_fleet_row(state: RepositoryState, report: RepositoryReport, plans: int, now: float) -> FleetRow:
    record = find_repository_run(state.records)
    outcomes = report.summary.outcomes
    is_due = state.due_in <= 0
    return FleetRow(
        state.name,
        record.state if record is not None else "none yet",
        state.worker or state.last_worker,
        _format(now, state.ended_ago) if state.ended_ago is not None else "",
        "runs" if state.worker else f"due for {-state.due_in:.0f} s" if is_due else f"in {state.due_in:.0f} s",
        -state.due_in if describe_lateness(state) else 0.0,
        len(report.spaces),
        len({one.key for one in outcomes if (one.flow, one.state) == (CONFLICT, "held")}),
        len(report.summary.requests),
        plans,
    )


def _build_worker_row(worker: WorkerState, now: float) -> WorkerRow:
    state = "gone" if worker.seen_ago >= GONE_SECONDS else "draining" if worker.is_draining else "ok"
    return replace(
        _sum_workers([worker]),
        name=worker.name,
        state=state,
        seen=_format(now, worker.seen_ago),
        version=worker.version,
    )


def _sum_workers(workers: Sequence[WorkerState]) -> WorkerRow:
    counts = [one.counts for one in workers]
    return WorkerRow(
        "all",
        "",
        sum(one.running for one in counts),
        sum(one.jobs for one in workers),
        sum(one.runs for one in counts),
        sum(one.failed_runs for one in counts),
        sum(one.lost_leases for one in counts),
        sum(one.cached for one in counts),
        sum(one.cache_bytes for one in counts),
    )


def _note_worker(row: RepositoryRow, state: RepositoryState) -> RepositoryRow:
    when = f"due in {state.due_in:.0f} s" if state.due_in > 0 else f"due for {-state.due_in:.0f} s"
    who = f"runs at {state.worker}" if state.worker else f"last at {state.last_worker or 'no worker'}, {when}"
    return replace(row, path=who)


def _find_page(name: str) -> str:
    return quote(f"/repository/{name}")


def _format(now: float, ago: float) -> str:
    return datetime.fromtimestamp(now - ago, UTC).isoformat(timespec="seconds")
