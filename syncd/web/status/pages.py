"""Render the pages of the status page from values."""

from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urlencode

from markupsafe import Markup

from syncd.model.moment import format_moment
from syncd.web.rendering import render_template
from syncd.web.status.graphs import build_graphs
from syncd.web.status.times import format_age, parse_moment
from syncd.web.status.values import (
    ConflictView,
    FleetOverview,
    Frame,
    LoggedOperation,
    Overview,
    PlanView,
    RepositoryRow,
    SpaceRow,
)


def render_overview(overview: Overview, frame: Frame) -> Markup:
    """Return the first page: problems, repositories with their spaces, change requests, plans, drift, and graphs."""
    graphs = build_graphs(overview.minutes, overview.now)
    return _render("overview", replace(frame, current="overview"), overview.now, overview=overview, graphs=graphs)


def render_fleet(overview: FleetOverview, frame: Frame) -> Markup:
    """Return the first page of a fleet: problems, workers with their sum, and repositories."""
    return _render("fleet", replace(frame, current="overview"), overview.now, overview=overview)


def render_repository(overview: Overview, repository: RepositoryRow, frame: Frame) -> Markup:
    """Return the page of one repository."""
    problems = [problem for problem in overview.problems if problem.repository == repository.name]
    return _render("repository", frame, overview.now, repository=repository, problems=problems)


def render_space(overview: Overview, repository: RepositoryRow, space: SpaceRow, frame: Frame) -> Markup:
    """Return the page of one space."""
    requests = [request for request in repository.requests if request.space == space.name]
    conflicts = [conflict for conflict in repository.conflicts if conflict.space == space.name]
    values = {"repository": repository, "space": space, "requests": requests, "conflicts": conflicts}
    return _render("space", frame, overview.now, **values)


def render_operations(operations: Sequence[LoggedOperation], now: float, frame: Frame) -> Markup:
    """Return the page of what happened last, newest first. Units: `now` in epoch seconds."""
    return _render("operations", replace(frame, current="operations"), now, operations=operations)


def render_conflict(conflict: ConflictView, now: float, frame: Frame) -> Markup:
    """Return the page of a page in conflict, both sides beside each other."""
    return _render("conflict", frame, now, conflict=conflict)


def render_plan(plan: PlanView, now: float, frame: Frame) -> Markup:
    """Return the page of a plan that waits, with a button that approves exactly it."""
    return _render("plan", frame, now, plan=plan)


def render_message(frame: Frame, what: str, hint: str, command: str = "") -> Markup:
    """Return a page that says one sentence and what to do."""
    return _render("message", frame, 0.0, what=what, hint=hint, command=command)


def build_conflict_page(repository: str, path: str, branch: str) -> str:
    """Return the path here at which a page in conflict is shown."""
    return f"/conflict?{urlencode({'repository': repository, 'path': path, 'branch': branch})}"


def order_spaces(spaces: Sequence[SpaceRow]) -> list[SpaceRow]:
    """Return spaces with those first that a person should look at; else in the order of the configuration."""
    return sorted(spaces, key=lambda space: (space.state == "ok", not (space.conflicts or space.outdated)))


def _render(template: str, frame: Frame, now: float, **values: object) -> Markup:
    return render_template(
        f"status/{template}.html",
        frame=frame,
        now=now,
        parse_moment=parse_moment,
        format_moment=format_moment,
        format_age=format_age,
        order_spaces=order_spaces,
        **values,
    )
