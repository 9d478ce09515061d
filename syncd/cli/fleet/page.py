"""The status page of a fleet: which address shows what, all of it read from the database."""

import hashlib
import time
from collections.abc import Callable

from syncd.cli.fleet.page_values import COMMANDS, build_overview, build_repository
from syncd.cli.web.build import build_plan_view
from syncd.daemon.page.reader import CachedValue, PageVersions
from syncd.daemon.page.routes import SessionPages, build_message, build_not_found, build_response, build_trail
from syncd.daemon.page.sessions import Sessions
from syncd.errors import StalePlan
from syncd.fleet.database import FleetDatabase
from syncd.fleet.people.plans import FleetPlan, approve_plan, list_plans
from syncd.fleet.people.reports import list_reports
from syncd.fleet.repositories import list_states
from syncd.fleet.workers import list_workers
from syncd.net.page_values import PageRequest, PageResponse
from syncd.web.status.pages import render_fleet, render_plan, render_repository, render_space
from syncd.web.status.values import Frame, Overview

VERSION_SECONDS = 5.0
"""A page is shown anew at most so often: in a large fleet, something changes every second."""


def make_versions(database: FleetDatabase, sleep: Callable[[float], object] = time.sleep) -> PageVersions:
    """Return the versions of what the pages show: another after each run, start of a worker, and approval."""

    def compute() -> str:
        rows = database.query(
            "SELECT (SELECT array[count(*)::text, sum(last_fence)::text, max(changed_at)::text]"
            " FROM syncd_fleet_repositories), (SELECT array_agg(name || is_draining) FROM syncd_fleet_workers),"
            " (SELECT array[count(*)::text, max(approved_at)::text] FROM syncd_fleet_plans)"
        )
        return hashlib.sha256(repr(rows).encode()).hexdigest()[:16]

    return PageVersions(compute, sleep, seconds=VERSION_SECONDS)


class FleetPage(SessionPages):
    """The status page of a fleet."""

    link_command = f"{COMMANDS} web"

    def __init__(
        self, sessions: Sessions, database: FleetDatabase, versions: PageVersions, now: Callable[[], float] = time.time
    ) -> None:
        """Prepare to answer. Units: `now` in epoch seconds."""
        super().__init__(sessions, versions)
        self._database, self._find_version, self._now = database, versions.find_version, now
        self._known = CachedValue(
            lambda: (list_states(database), list_reports(database), list_plans(database), list_workers(database))
        )

    def show_page(self, request: PageRequest, token: str) -> PageResponse:
        """Return the page of a path. Raises: FleetUnreachable."""
        version = self._find_version()
        match request.path.strip("/").split("/"):
            case [""]:
                return self._show_overview(request, token, version)
            case ["repository", *words]:
                return self._show_repository("/".join(words), token, version)
            case ["space", *words, name] if words:
                return self._show_space("/".join(words), name, token, version)
            case ["plan", digest]:
                return self._show_plan(digest, token, version)
            case _:
                return build_not_found(token)

    def approve_plan(self, digest: str, comment: str) -> None:
        """Approve the plan of just this digest, and wake its repository. Raises: StalePlan, FleetUnreachable."""
        found = self._find_plan(digest)
        if found is None:
            hint = "it was applied, or things have changed since: read the plan that waits now"
            raise StalePlan(f"no plan {digest} waits for approval", hint=hint)
        approve_plan(self._database, found, comment)
        self._known.discard()

    def _show_overview(self, request: PageRequest, token: str, version: str) -> PageResponse:
        first, sought = request.query.get("first", ""), request.query.get("find", "")[:100]
        states, reports, plans, workers = self._known.read()
        overview = build_overview(
            states,
            reports,
            plans,
            workers,
            now=self._now(),
            version=version,
            first=int(first) if first.isascii() and first.isdigit() and len(first) < 9 else 0,
            sought=sought,
        )
        return build_response(render_fleet(overview, _make_frame("Fleet", token, version)))

    def _show_repository(self, name: str, token: str, version: str) -> PageResponse:
        overview = self._read_repository(name, version)
        if overview is None:
            return build_not_found(token)
        frame = _make_frame(name, token, version, (("Overview", "/"),))
        return build_response(render_repository(overview, overview.repositories[0], frame))

    def _show_space(self, repository: str, name: str, token: str, version: str) -> PageResponse:
        overview = self._read_repository(repository, version)
        row = overview.repositories[0] if overview is not None else None
        spaces = [space for space in row.spaces if space.name == name] if row is not None else []
        if overview is None or row is None or not spaces:
            return build_not_found(token)
        frame = _make_frame(name, token, version, build_trail(repository))
        return build_response(render_space(overview, row, spaces[0], frame))

    def _show_plan(self, digest: str, token: str, version: str) -> PageResponse:
        found = self._find_plan(digest)
        if found is None:
            what = f"No plan {digest} waits: it was applied, or things have changed since."
            return build_message("No such plan", what, "", token, 404, f"{COMMANDS} pending")
        frame = _make_frame(f"Plan {digest}", token, version, build_trail(found.repository))
        return build_response(
            render_plan(build_plan_view(found.repository, found.plan, commands=COMMANDS), self._now(), frame)
        )

    def _read_repository(self, name: str, version: str) -> Overview | None:
        states, _, plans, _ = self._known.read()
        state = next((one for one in states if one.name == name), None)
        reports = list_reports(self._database, [name])
        if state is None or not reports:
            return None
        own = [one for one in plans if one.repository == name]
        return build_repository(state, reports[0], own, self._now(), version)

    def _find_plan(self, digest: str) -> FleetPlan | None:
        found = list_plans(self._database, beginning=digest)
        return next((one for one in found if one.plan.digest == digest), None)


def _make_frame(title: str, token: str, version: str, trail: tuple[tuple[str, str], ...] = ()) -> Frame:
    return Frame(title, "", token, version, trail=trail, link_command=FleetPage.link_command, has_operations=False)
