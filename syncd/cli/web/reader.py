"""Read what the status page shows: the service's health, the state databases, and Git; no request is sent."""

import os
import time
from collections.abc import Callable, Sequence
from datetime import UTC
from pathlib import Path
from shlex import quote

from syncd import __version__
from syncd.cli.history.log import list_newest
from syncd.cli.sites.approve import approve_plan, find_held_plans
from syncd.cli.status.gather import find_status
from syncd.cli.sync.conflict_lines import AUTHORS_SHOWN, describe_actions, find_nobody, format_author
from syncd.cli.terminal.text import hide_credentials
from syncd.cli.web.build import Status, build_plan_view, build_row, list_problems
from syncd.config import Config, RepositoryConfig
from syncd.daemon.health import ServiceHealth, render_status
from syncd.daemon.labels import name_repositories
from syncd.daemon.locks import STATE_FILE
from syncd.daemon.page.reader import OPERATIONS_MAX
from syncd.daemon.page.request_log import RequestLog
from syncd.daemon.workspaces import Environment, open_for_reading
from syncd.errors import StalePlan, SyncdError
from syncd.model.text import show_hidden
from syncd.plan.merge.hunks import split_lines
from syncd.plan.merge.pages import Side
from syncd.repo.repository import Repository
from syncd.store.status import PendingPlan
from syncd.sync.integrate.authors import HunkSide, HunkView, view_hunks
from syncd.sync.integrate.resolve import PageConflict, find_conflicts
from syncd.sync.workspace import Workspace
from syncd.web.status.values import ConflictView, HunkComparison, LoggedOperation, Overview, PlanView, SideView

CONTEXT = 3
"""So many lines are shown before and after a hunk."""


class PageReader:
    """Reads for the status page of a service; called only while somebody looks."""

    def __init__(
        self, config: Callable[[], Config | None], health: Callable[[], ServiceHealth], log: RequestLog
    ) -> None:
        """Read of the repositories of the service's configuration, its health, and its requests."""
        self._find_config, self._health, self._log = config, health, log

    def read_overview(self, version: str) -> Overview:
        """Return all that the first page shows; a repository that cannot be read is a problem of it."""
        config, health, now = self._find_config(), self._health(), time.time()
        statuses: dict[str, Status] = {
            name: find_status(repository) for name, repository in self._list_repositories().items()
        }
        return Overview(
            now,
            version,
            __version__,
            hide_credentials(config.platform.url) if config is not None else "",
            f"service {os.getpid()}: {render_status(health)}"[:200],
            tuple(build_row(repository, statuses.get(repository.name)) for repository in health.repositories),
            list_problems(health, statuses, now),
            self._log.list_minutes(),
        )

    def read_operations(self) -> Sequence[LoggedOperation]:
        """Return what happened last in all repositories, newest first. Raises: GitFailed, StoreError."""
        named = {repository.path: name for name, repository in self._list_repositories().items()}
        return [
            LoggedOperation(
                entry.at.astimezone(UTC).isoformat(timespec="seconds"),
                entry.kind,
                show_hidden(entry.what),
                named[path],
                entry.space,
                show_hidden(entry.author),
                entry.numbers,
                entry.commit,
                entry.revision,
                entry.branch,
                show_hidden(entry.path),
            )
            for path, entry in list_newest(list(self._list_repositories().values()), OPERATIONS_MAX)
        ]

    def read_conflict(self, repository: str, path: str, branch: str) -> ConflictView | None:
        """Return a page of a branch in conflict, or None where it is in none. Raises: ConfigInvalid, NotARepository."""
        config, chosen = self._find_config(), self._list_repositories().get(repository)
        if config is None or chosen is None:
            return None
        with open_for_reading(config, chosen, Environment(os.environ)) as workspace:
            if workspace.repository.resolve(f"refs/heads/{branch}") is None:
                return None
            found = next((one for one in find_conflicts(workspace, branch) if path in one.entry.paths), None)
            return _build_conflict(workspace, repository, found) if found is not None else None

    def read_plan(self, digest: str) -> PlanView | None:
        """Return the plan of just this digest that waits, with the lines that `syncd site pending` prints."""
        found = self._find_plan(digest)
        if found is None:
            return None
        name, _, plan = found
        return build_plan_view(name, plan)

    def approve_plan(self, digest: str, comment: str) -> None:
        """Approve the plan of just this digest as `syncd site approve` does. Raises: StalePlan, StoreError."""
        found = self._find_plan(digest)
        if found is None:
            hint = "it was applied, or things have changed since: read the plan that waits now"
            raise StalePlan(f"no plan {digest} waits for approval", hint=hint)
        approve_plan(found[1], found[2], comment)

    def list_files(self) -> Sequence[Path]:
        """Return the state databases and what Git writes when a ref moves."""
        found = []
        for repository in self._list_repositories().values():
            try:
                git_dir = Repository.locate(repository.path)
            except SyncdError:
                continue
            state = git_dir / STATE_FILE
            found += [state, state.with_name(f"{state.name}-wal"), git_dir / "HEAD", git_dir / "logs" / "HEAD"]
        return found

    def _list_repositories(self) -> dict[str, RepositoryConfig]:
        """The repositories by the names that the service gives them."""
        config = self._find_config()
        return dict(zip(name_repositories(config), config.repository, strict=True)) if config is not None else {}

    def _find_plan(self, digest: str) -> tuple[str, Path, PendingPlan] | None:
        for name, repository in self._list_repositories().items():
            for git_dir, plan in find_held_plans([repository]):
                if plan.digest == digest:
                    return name, git_dir, plan
        return None


def _build_conflict(workspace: Workspace, repository: str, conflict: PageConflict) -> ConflictView:
    command = f"syncd resolve {quote(conflict.path)}"
    views = view_hunks(workspace, conflict, context=CONTEXT) if conflict.parts else []
    return ConflictView(
        repository,
        conflict.path,
        conflict.entry.reason,
        conflict.branch,
        conflict.lane,
        tuple(_build_comparison(conflict, view) for view in views),
        tuple(describe_actions(workspace, conflict)) if not views else (),
        (
            (f"{command} --ours", "Keep the branch's"),
            (f"{command} --theirs", "Take the platform's"),
            *([(f"{command} --edit", "Write your own")] if views else []),
        ),
    )


def _build_comparison(conflict: PageConflict, view: HunkView) -> HunkComparison:
    base = view.hunk.base
    return HunkComparison(
        view.hunk.number,
        _decode_lines(view.ours.before),
        _decode_lines(view.ours.after),
        None if base is None else _decode_lines(split_lines(base)),
        _build_side(f"{conflict.branch} (ours)", view.ours, "ours"),
        _build_side(f"{conflict.lane} (theirs)", view.theirs, "theirs"),
    )


def _build_side(label: str, view: HunkSide, side: Side) -> SideView:
    authors = tuple(format_author(author, find_nobody(side)) for author in view.authors[:AUTHORS_SHOWN])
    return SideView(label, authors, _decode_lines(view.lines))


def _decode_lines(lines: Sequence[bytes]) -> tuple[str, ...]:
    return tuple(show_hidden(line.decode("utf-8", "replace").rstrip("\r\n")) for line in lines)
