"""The status as lines for people: problems first, then where each side stands, and the next command."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence

from syncd.cli.service.run_status import RunStatus, format_run, format_run_problems
from syncd.cli.status.next_command import suggest_command
from syncd.cli.status.values import (
    BranchStatus,
    BrokenStatus,
    RepositoryStatus,
    RequestStatus,
    SiteStatus,
    SpaceStatus,
)
from syncd.cli.sync.unsent import BranchWork, format_paths, format_unsent
from syncd.cli.terminal.text import escape, format_time, name_config, style_text
from syncd.model.wording import format_count
from syncd.repo.work_tree.usage import format_abort
from syncd.store.status import FlowOutcome
from syncd.sync.state.request_state import Verdict

WRONG_STATES = ("drifted", "blocked")
AWAITED = {
    "author": "waits for you",
    "text": "waits for somebody to put it in on the platform",
    "review": "waits for a review",
    "merge": "waits for its merge on the platform",
    "pull": "waits for syncd pull, which brings it to Git",
    "reopening": "nothing is proposed through it any more",
}
_NAME_COLUMNS = 16
_BOLD, _RED = 1, 31
"""A reason, and in parentheses what to do about it."""


def format_status(status: RepositoryStatus | BrokenStatus, *, start: str) -> list[str]:
    """Return the lines of a status; paths are relative to the current directory."""
    if isinstance(status, BrokenStatus):
        hint = [f"    {escape(line)}" for line in filter(None, status.hint.split("\n"))]
        lines = [f"{escape(status.path)}  cannot be read", f"! {escape(status.error)}", *hint]
        run = [format_run(status.run)] if status.run.record is not None else []
        return [*map(mark_problem, lines), *map(mark_problem, format_run_problems(status.run)), *run]
    lines = [_format_headline(status), *map(mark_problem, _format_problems(status)), format_run(status.run)]
    works = {work.branch: work for work in status.works}
    for branch in status.branches:
        distance = _format_distance(branch, works.get(branch.branch), status.run)
        lines.append(f"  branch {_fill_column(escape(branch.branch))}{distance}")
        if branch.branch == status.imported:
            lines.append(f"         {'':<16} a push writes main content, without a change request")
    for space in status.spaces:
        lines += _format_space(space, [request for request in status.requests if request.space == space.name])
    for site in status.sites:
        lines.append(f"  site   {_fill_column(escape(site.file))}{_format_counts(site)}")
    for id in status.former:
        lines.append(f"  space  {escape(id)} is configured no more; its directory and its refs stay as they are")
    if command := suggest_command(status, start=start):
        lines.append(f"Next: {style_text(escape(command), _BOLD, sys.stdout)}")
    return lines


def _format_headline(status: RepositoryStatus) -> str:
    where = f"on {escape(status.current)}" if status.current else "on no branch"
    if status.work_tree and status.work_tree != os.path.realpath(status.path):
        where += f" in {escape(status.work_tree)}"  # a linked work tree
    service = f"service running (pid {status.daemon})" if status.daemon else "no service"
    if status.is_service_hidden:
        service = "perhaps a service that your user cannot see"
    return f"{style_text(escape(status.path), _BOLD, sys.stdout)}  {where}, {service}"


def _fill_column(name: str) -> str:
    """A name and the gap behind it, by which a terminal knows where later parts of the line stand."""
    return f"{name:<{_NAME_COLUMNS}} " if len(name) <= _NAME_COLUMNS else f"{name}  "


def mark_problem(line: str) -> str:
    """Return a line; a sign for a problem at its beginning is red, too."""
    return f"{style_text('!', _RED, sys.stdout)}{line[1:]}" if line.startswith("!") else line


def _format_problems(status: RepositoryStatus) -> Iterator[str]:
    if status.is_disk_full:
        yield f"! no space is left on the disk of {escape(status.path)}: make room there"
    yield from format_run_problems(status.run)
    cause = status.run.record.why if status.run.exit_code and status.run.record is not None else ""
    for outcome in status.problems:
        subject = f"{outcome.flow} {outcome.key}: "
        if not (cause.startswith(subject) and outcome.detail.startswith(cause.removeprefix(subject))):
            yield from _format_outcome(outcome)
    for plan in status.plans:
        state = "is approved" if plan.approved else "waits for approval"
        yield f"! plan {plan.digest} of {escape(plan.file)} {state}: {escape('; '.join(plan.why))}"
        if not plan.approved:
            yield f"    {plan.command} shows it; {plan.approve_command}"
    if status.operation:
        word, way_back = status.operation, format_abort(status.operation)
        yield f"! a {word} is in progress, and no branch that it is about is moved: finish it, or {way_back}"
    elif status.detached and not status.is_job:
        yield f"! HEAD is detached at {status.detached}: commits there are on no branch; git switch BRANCH"
    if status.is_unborn:
        init = escape(name_config("syncd init", status.config))
        yield f"! {escape(status.current)} has no commit yet: {init} checks out what is mirrored"
    for work in status.works:
        yield from format_unsent(work)


def _format_outcome(outcome: FlowOutcome) -> Iterator[str]:
    first, *rest = f"{outcome.sentence}\n{outcome.hint}".rstrip("\n").split("\n")
    yield f"! {outcome.flow} {escape(outcome.key)} {outcome.state}: {escape(first)}"
    yield from (f"    {escape(line)}" for line in rest)


def _format_distance(branch: BranchStatus, work: BranchWork | None, run: RunStatus) -> str:
    if not branch.ahead and not branch.behind:
        old = (
            f"the same as main content of {format_time(run.mirrored)}"
            if run.mirrored
            else "the same as main content when last mirrored"
        )
        return "in step with main content" if run.is_good else old
    distance = f"{branch.ahead} ahead, {branch.behind} behind main content"
    if not branch.ahead or work is None:
        return distance
    changed = [path for space in work.spaces if space.needs_push for path in space.pending]
    conflicts = sum(len(space.conflicting) for space in work.spaces)
    if conflicts and not changed:
        return f"{distance}; {format_count(conflicts, 'page')} in conflict"
    if changed:
        return f"{distance}; {format_count(len(changed), 'file')} not pushed: {format_paths(changed)}"
    if steps := sum(space.manual_steps for space in work.spaces):
        return f"{distance}; {format_count(steps, 'manual step')} to do on the platform"
    if awaited := sum(len(space.awaited) for space in work.spaces):
        return f"{distance}; {format_count(awaited, 'file')} sent later"
    if refused := sum(len(space.refused) for space in work.sent_spaces):
        return f"{distance}; {format_count(refused, 'page')} not sent"
    if any(space.request is not None and space.request.is_commented for space in work.sent_spaces):
        return f"{distance}; all is proposed in comments"
    if taken_back := sum(len(space.changed) for space in work.spaces if space.is_taken_back):
        return f"{distance}; {format_count(taken_back, 'file')} not proposed any more"
    return f"{distance}; {'all is proposed' if work.sent_spaces else 'no page or file of a space is changed'}"


def _format_space(space: SpaceStatus, requests: Sequence[RequestStatus]) -> Iterator[str]:
    end = "" if requests else ", no change request"
    end = ", undecided: see syncd init" if space.undecided else end
    revision = escape(space.revision) or "none yet"
    yield f"  space  {_fill_column(space.name)}revision {revision} in {escape(space.directory)}{end}"
    for request in requests:
        yield f"         #{request.number} of {escape(request.branch)}: {'; '.join(describe_request(request))}"
        if request.state.address:
            yield f"           {request.state.address}"


def describe_request(request: RequestStatus) -> Iterator[str]:
    """Give what a person should know of a change request, and at last whom it waits for."""
    state = request.state
    yield escape(state.status) or "not seen by a run yet"
    branch = escape(request.branch)
    if request.left_out:
        yield f"lacks {format_count(len(request.left_out), 'file')} of {branch}, sent later"
    elif state.status != "archived":  # nothing is sent to it, and what it holds counts no more
        holds = "its comments hold" if request.is_commented else "holds"
        yield f"{holds} what {branch} says" if request.has_all else f"lacks some of {branch}"
    if request.objections:
        yield f"changes requested by {_name_reviewers(request.objections)}"
    if request.approvals:
        yield f"approved by {_name_reviewers(request.approvals)}"
    silent = [name for name in state.requested if name not in {verdict.reviewer for verdict in state.verdicts}]
    if silent:
        yield f"review requested from {escape(', '.join(silent))}"
    if state.comments:
        yield f"{format_count(state.comments, 'open comment')}"
    if state.is_outdated:
        yield "outdated: main content has moved on"
    if request.next_step:
        yield AWAITED[request.next_step]


def _name_reviewers(verdicts: Sequence[Verdict]) -> str:
    names = (
        f"{verdict.reviewer} before the last change" if verdict.is_outdated else verdict.reviewer
        for verdict in verdicts
    )
    return escape(", ".join(names))


def _format_counts(site: SiteStatus) -> str:
    """How many resources of each area syncd owns, and how many of them drifted or are blocked."""
    counts: Mapping[str, Mapping[str, int]] = site.states
    parts = []
    for area in sorted({area for each in counts.values() for area in each}):
        owned = counts["owned"].get(area, 0)
        wrong = [f"{count} {state}" for state in WRONG_STATES if (count := counts[state].get(area, 0))]
        if owned or wrong:
            parts.append(f"{area} {', '.join([f'{owned} owned', *wrong])}")
    hint = "  (syncd site drift)" if counts["drifted"] else ""
    return f"{' | '.join(parts) or 'nothing is owned yet'}{hint}"
