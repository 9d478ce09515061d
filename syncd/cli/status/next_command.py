"""The one command that a person should type next, by what the status says."""

import os
from shlex import quote

from syncd.cli.status.values import RepositoryStatus
from syncd.cli.terminal.text import name_config
from syncd.errors import ConfigInvalid, FileInvalid, Unauthorized, Unreachable
from syncd.store.status import FlowOutcome
from syncd.sync.binding import format_space_option
from syncd.sync.outcome import CONFLICT, PAGE

NEEDS_DOCTOR = {Unreachable.exit_code, Unauthorized.exit_code, ConfigInvalid.exit_code}
"""Exit codes of a last run after which another run comes to the same, until somebody mends what it stands on."""
PATHS_MAX = 3
"""Up to so many paths are named in a command."""


def suggest_command(status: RepositoryStatus, *, start: str) -> str:
    """Return the next command that a status asks for; "" where nothing is to be done.

    Shape: what keeps everything else from working comes first, then what waits for a person, then what is behind.
    """
    command = (
        _suggest_repair(status)
        or _suggest_decision(status)
        or _suggest_transfer(status)
        or _suggest_check(status)
        or _suggest_commit(status, start)
        or _suggest_review(status)
    )
    return name_config(command, status.config) if command.startswith("syncd ") else command


def _suggest_repair(status: RepositoryStatus) -> str:
    if status.is_disk_full or status.run.exit_code in NEEDS_DOCTOR:
        return "syncd doctor"
    return "git status" if status.operation else ""


def _suggest_decision(status: RepositoryStatus) -> str:
    conflict = next((one for one in status.problems if (one.flow, one.state) == (CONFLICT, "held")), None)
    if conflict is not None:
        return format_resolve(conflict)
    if invalid := status.list_held(PAGE):
        return f"syncd check {quote(invalid[0])}"
    if plan := next((plan for plan in status.plans if not plan.approved), None):
        return plan.command
    if any(space.undecided for space in status.spaces):
        return "syncd init"
    return ""


def _suggest_transfer(status: RepositoryStatus) -> str:
    if status.problems:
        return ""  # each of them has a hint of its own
    if status.plans:
        return "syncd sync"
    if status.is_job:
        return "syncd push --ci --dry-run"
    is_behind = any(branch.behind and branch.can_pull for branch in status.branches)
    if is_behind or (status.run.record is None and status.daemon is None):
        return "syncd pull"
    if any(request.next_step == "pull" for request in status.requests):
        return "syncd pull"
    if status.is_unborn:
        return "syncd init"
    if status.detached:
        branch = next((branch.branch for branch in status.branches), "BRANCH")
        return f"git switch {quote(branch)}"
    unsent = next((work for work in status.works if work.needs_push), None)
    if unsent is not None:
        return _format_push(status, unsent.branch)
    return ""


def _format_push(status: RepositoryStatus, branch: str) -> str:
    return "syncd push" if branch == status.current else f"syncd push {quote(branch)}"


def _suggest_check(status: RepositoryStatus) -> str:
    """Suggest to look at the docs where a file of theirs ended the last run, and nothing else says what to do."""
    is_invalid = status.run.exit_code == FileInvalid.exit_code
    return "syncd check" if is_invalid and status.run.record is not None and not status.run.record.hint else ""


def _suggest_commit(status: RepositoryStatus, start: str) -> str:
    if status.problems:
        return ""
    edits = [path for work in status.works for path in work.uncommitted]
    gone = {path for work in status.works for path in work.list_uncommitted("deleted")}
    if edits and gone.issuperset(edits):
        return "git status"  # whoever deleted files by mistake is not to be led on
    if edits:
        # Git adds no path that is gone, and staged as that.
        edits = [path for path in edits if path not in gone]
        paths = [os.path.relpath(os.path.join(status.work_tree, path), start) for path in edits]
        words = [quote(path) for path in paths] if len(paths) <= PATHS_MAX else ["--all"]
        return f"git add {' '.join(words)} && git commit"
    return ""


def _suggest_review(status: RepositoryStatus) -> str:
    if status.problems:
        return ""
    live = [request for request in status.requests if request.next_step != "reopening"]
    # Nothing is sent to an older one of the branch any more.
    newest = {(request.space, request.branch): request for request in sorted(live, key=lambda one: one.number)}
    outdated = next((request for request in newest.values() if request.state.is_outdated), None)
    if outdated is not None:
        return _format_push(status, outdated.branch)
    approved = next((request for request in live if request.next_step == "merge"), None)
    if approved is not None:
        space = format_space_option(approved.space, status.spaces)
        return f"syncd cr merge {approved.number}{space}"
    if live:
        return "syncd review"
    unlisted = [path for work in status.works for space in work.spaces for path in space.unlisted]
    if unlisted:
        return f"syncd check {quote(unlisted[0])}"
    is_old = status.run.record is not None and not status.run.is_recent and status.daemon is None
    return "syncd pull" if is_old else ""


def format_resolve(conflict: FlowOutcome) -> str:
    """Return the command that shows the conflict of a page."""
    return conflict.command or f"syncd resolve {quote(conflict.key)}"
