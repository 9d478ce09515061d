"""Build what the status page shows of repositories, from the values of `syncd status` and the health of the service."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from urllib.parse import quote

from syncd.cli.status.next_command import NEEDS_DOCTOR, format_resolve, suggest_command
from syncd.cli.status.values import BrokenStatus, PlanStatus, RepositoryStatus, RequestStatus, SiteStatus, SpaceStatus
from syncd.daemon.health import USEFUL, RepositoryHealth, ServiceHealth, describe_pause, find_repository_run, is_overdue
from syncd.daemon.workspaces import read_time
from syncd.model.text import show_hidden
from syncd.model.wording import format_count
from syncd.store.runs import RunRecord
from syncd.store.status import FlowOutcome, PendingPlan
from syncd.sync.outcome import CONFLICT, PAGE
from syncd.sync.site.approvals import is_approval_valid
from syncd.web.status.pages import build_conflict_page
from syncd.web.status.values import (
    AreaCount,
    BranchRow,
    ConflictRow,
    PlanRow,
    PlanView,
    Problem,
    RepositoryRow,
    RequestRow,
    SiteRow,
    SpaceRow,
)

_AWAITED = {
    "author": "you",
    "text": "somebody who puts in what its comments say",
    "review": "a review",
    "merge": "its merge on the platform",
    "pull": "the next run, which brings it to Git",
    "reopening": "reopening, or nothing",
}
_NONE = "none yet"
_WORST_FIRST = {"error": 0, "decide": 1, "notice": 2}

Status = RepositoryStatus | BrokenStatus


def build_row(health: RepositoryHealth, status: Status | None) -> RepositoryRow:
    """Return what the page shows of one repository; `status` is None where the service alone knows it."""
    whole = find_repository_run(health.runs)
    row = RepositoryRow(
        health.name,
        status.path if status is not None else "",
        whole.state if whole is not None else _NONE,
        whole.why if whole is not None and whole.state not in USEFUL else "",
        whole.at if whole is not None else "",
        whole.succeeded if whole is not None else "",
        health.is_running,
        describe_pause(health.pause) if health.pause is not None else "",
    )
    if not isinstance(status, RepositoryStatus):
        return row
    conflicts = tuple(_build_conflicts(health.name, status))
    return replace(
        row,
        branches=tuple(_build_branches(status)),
        spaces=tuple(_build_space(health, status, space, conflicts) for space in status.spaces),
        requests=tuple(_build_request(health.name, request) for request in status.requests),
        conflicts=conflicts,
        plans=tuple(_build_plan(health.name, plan) for plan in status.plans),
        sites=tuple(_build_site(health.name, site) for site in status.sites),
        next_command=suggest_command(status, start=status.work_tree or status.path),
    )


def list_problems(health: ServiceHealth, statuses: Mapping[str, Status], now: float) -> tuple[Problem, ...]:
    """Return what a person should know, errors first. Units: `now` in epoch seconds. Shape: `statuses` are by name."""
    found: list[Problem] = []
    if not health.is_alive:
        what = "The work of the service does not move on: a run shows no progress."
        found.append(Problem("error", "the service", "service", what, command="systemctl restart syncd"))
    for repository in health.repositories:
        found += list_repository_problems(repository, statuses.get(repository.name), now)
    return order_problems(found)


def order_problems(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """Return problems with errors first."""
    return tuple(sorted(problems, key=lambda problem: _WORST_FIRST[problem.severity]))


def list_repository_problems(repository: RepositoryHealth, status: Status | None, now: float) -> Iterator[Problem]:
    """Return what a person should know of one repository. Units: `now` in epoch seconds."""
    yield from _list_run_problems(repository, now)
    if isinstance(status, BrokenStatus):
        yield Problem("error", repository.name, "repository", status.error, status.hint, "syncd doctor")
    elif status is not None:
        yield from _list_status_problems(repository, status)


def _list_run_problems(repository: RepositoryHealth, now: float) -> Iterator[Problem]:
    name, whole = repository.name, find_repository_run(repository.runs)
    if repository.refusal:
        yield Problem("error", name, "run", repository.refusal)
    if repository.pause is not None:
        what = f"paused {describe_pause(repository.pause)}"
        yield Problem("notice", name, "pause", what, command=f"syncd resume {name}", since=repository.pause.at)
    elif whole is not None and is_overdue(whole, repository.interval, now) and not repository.is_running:
        yield Problem("error", name, "run", "No run has ended for too long.", command="syncd doctor", since=whole.at)
    if whole is None or whole.state in USEFUL:
        return
    parts = [one for one in repository.runs if one.kind != "repository" and one.state not in USEFUL]
    for record in parts or [whole]:
        yield _build_run_problem(name, record)


def _build_run_problem(name: str, record: RunRecord) -> Problem:
    subject = f"{record.kind} {record.name}".rstrip() if record.kind != "repository" else "run"
    page = quote(f"/space/{name}/{record.name}" if record.kind == "space" else f"/repository/{name}")
    runs = format_count(record.failures, "run")
    what = f"{record.state}, {runs} in a row: {record.why}"
    command = "syncd doctor" if record.exit_code in NEEDS_DOCTOR else "syncd sync"
    return Problem("error", name, subject, what, record.hint, command, page, since=record.since)


def _list_status_problems(repository: RepositoryHealth, status: RepositoryStatus) -> Iterator[Problem]:
    name = repository.name
    known = {record.why for record in repository.runs if record.state not in USEFUL}
    for outcome in status.problems:
        why, hint = outcome.sentence, outcome.hint
        if outcome.flow == CONFLICT:
            page = build_conflict_page(name, outcome.key, _find_branch(outcome, status))
            yield Problem("decide", name, outcome.key, why, "", format_resolve(outcome), page, since=outcome.at)
        elif outcome.flow == PAGE:
            command = f"syncd check {outcome.key}"
            yield Problem("error", name, outcome.key, why, hint, command, since=outcome.at)
        elif not any(why in text for text in known):
            yield Problem("error", name, f"{outcome.flow} {outcome.key}", why, hint, since=outcome.at)
    for plan in status.plans:
        if not plan.approved:
            what = "; ".join(plan.why)
            subject, page = f"plan {plan.digest} of {plan.file}", f"/plan/{plan.digest}"
            yield Problem("decide", name, subject, what, "", plan.approve_command, page, since=plan.at)
    yield from _list_people_problems(name, status)


def _list_people_problems(name: str, status: RepositoryStatus) -> Iterator[Problem]:
    for site in status.sites:
        if count := site.count("drifted"):
            what = f"{format_count(count, 'resource')} changed on the platform, outside of the file."
            yield Problem("decide", name, f"drift of {site.file}", what, "", "syncd site drift", since=site.at)
    for request in status.requests:
        subject, address = f"{request.space} #{request.number}", request.state.address
        if request.objections:
            who = ", ".join(verdict.reviewer for verdict in request.objections)
            what, command = f"Changes were requested by {who}.", "syncd review"
            yield Problem("decide", name, subject, what, "", command, address=address, since=request.objections[-1].at)
        elif request.state.is_outdated:
            what = "Outdated: main content has moved on."
            yield Problem("notice", name, subject, what, "", "syncd pull", address=address)
    for space in status.spaces:
        if space.undecided:
            what = "Git and the space differ, and nobody has chosen which side goes first."
            yield Problem(
                "decide", name, f"space {space.name}", what, "", "syncd init", quote(f"/space/{name}/{space.name}")
            )


def build_plan_view(repository: str, plan: PendingPlan, *, commands: str = "syncd site") -> PlanView:
    """Return a plan that waits, with the lines that the command prints which shows it."""
    document = json.loads(plan.document)
    gates = tuple((gate["scope"], gate["why"]) for gate in document["plan"]["gates"])
    lines = tuple((style, show_hidden(part)) for style, text in document["text"] for part in text.split("\n"))
    row = PlanRow(repository, plan.digest, plan.file, plan.site, plan.at, plan.approved, ())
    shown = tuple((style, text) for style, text in lines if style not in ("gate", "hint"))
    return PlanView(row, gates, shown, is_approval_valid(plan, read_time()), plan.comment, commands)


def _find_branch(outcome: FlowOutcome, status: RepositoryStatus) -> str:
    """The branch of a page in conflict; where an older version recorded it, the first one."""
    return outcome.branch or next((branch.branch for branch in status.branches), status.current)


def _build_conflicts(name: str, status: RepositoryStatus) -> Iterator[ConflictRow]:
    for outcome in status.problems:
        if (outcome.flow, outcome.state) == (CONFLICT, "held"):
            space = next((one.name for one in status.spaces if _is_below(one, outcome.key)), "")
            page = build_conflict_page(name, outcome.key, _find_branch(outcome, status))
            yield ConflictRow(outcome.key, space, outcome.sentence, format_resolve(outcome), page, outcome.at)


def _is_below(space: SpaceStatus, path: str) -> bool:
    return space.directory == "." or path.startswith(f"{space.directory}/")


def _build_branches(status: RepositoryStatus) -> Iterator[BranchRow]:
    works = {work.branch: work for work in status.works}
    for branch in status.branches:
        work = works.get(branch.branch)
        spaces = work.spaces if work is not None else ()
        yield BranchRow(
            branch.branch,
            branch.ahead,
            branch.behind,
            sum(len(space.pending) for space in spaces if space.needs_push),
            len(work.uncommitted) if work is not None else 0,
            sum(len(space.conflicting) for space in spaces),
        )


def _build_space(
    health: RepositoryHealth, status: RepositoryStatus, space: SpaceStatus, conflicts: Sequence[ConflictRow]
) -> SpaceRow:
    record = next((one for one in health.runs if (one.kind, one.name) == ("space", space.name)), None)
    own = [one for work in status.works for one in work.spaces if one.binding.name == space.name]
    requests = [request for request in status.requests if request.space == space.name]
    is_bad = record is not None and record.state not in USEFUL
    in_conflict = sum(conflict.space == space.name for conflict in conflicts)
    state = record.state if record is not None else _NONE
    return SpaceRow(
        health.name,
        space.name,
        space.space,
        space.directory,
        space.revision,
        # A run that did all it could is no sign that nothing is left to decide.
        CONFLICT if in_conflict and state == "ok" else state,
        record.why if record is not None and is_bad else "",
        record.hint if record is not None and is_bad else "",
        record.at if record is not None else "",
        record.succeeded if record is not None else "",
        sum(len(one.pending) for one in own if one.needs_push),
        in_conflict,
        len(requests),
        sum(request.state.is_outdated for request in requests),
    )


def _build_request(name: str, request: RequestStatus) -> RequestRow:
    state = request.state
    reviews = [
        f"{one.reviewer}: {one.status.replace('-', ' ')}{' before the last change' if one.is_outdated else ''}"
        for one in state.verdicts
    ]
    silent = [one for one in state.requested if one not in {verdict.reviewer for verdict in state.verdicts}]
    return RequestRow(
        name,
        request.space,
        request.number,
        request.branch,
        state.subject,
        state.address,
        state.status,
        state.is_outdated,
        state.comments,
        (*reviews, *(f"{one}: was asked" for one in silent)),
        _AWAITED.get(request.next_step, ""),
        request.has_all,
    )


def _build_plan(name: str, plan: PlanStatus) -> PlanRow:
    return PlanRow(name, plan.digest, plan.file, plan.site, plan.at, plan.approved, plan.why)


def _build_site(name: str, site: SiteStatus) -> SiteRow:
    states = site.states
    areas = sorted({area for each in states.values() for area in each})
    return SiteRow(
        name,
        site.file,
        site.site,
        site.at,
        tuple(
            AreaCount(area, *(states[state].get(area, 0) for state in ("owned", "unmanaged", "drifted", "blocked")))
            for area in areas
        ),
    )
