"""Find out what a branch grew from without records of earlier runs: by history, change requests or the platform."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from syncd.errors import GitFailed, GuardRefused
from syncd.model.change_request import ChangeRequest
from syncd.plan.message import CHANGE_REQUEST, PROPOSED, SPACE, build_marker
from syncd.plan.propose.description import read_base_revision, read_commit_unless_partial, read_proposed_commit
from syncd.repo.values import Commit
from syncd.sync.binding import Binding
from syncd.sync.run.values import Result
from syncd.sync.workspace import COMMITTER, Workspace

LOOKED_AT = 100
"""Merged change requests whose commits are looked for in the clone."""
WHOLE_HISTORY_HINT = "fetch the whole history (fetch-depth: 0 on GitHub, GIT_DEPTH: 0 on GitLab) and run again"

Kind = Literal["mirror", "commit", "target", "revision", "present"]


@dataclass(frozen=True)
class Job:
    """What a CI job is about: a commit of a branch, and the branch that it shall be merged into.

    Shape: `target_tip` is where the clone knows that branch, `parents` are those that the commit names, whether the
    clone has them or not.
    """

    branch: str
    commit: str
    target: str = ""
    target_tip: str = ""
    subject: str = ""


@dataclass(frozen=True)
class KnownRequests:
    """The change requests of this repository in one space, newest first; `live` is the branch's own."""

    live: ChangeRequest | None = None
    archived: tuple[ChangeRequest, ...] = ()
    merged: tuple[ChangeRequest, ...] = ()
    doubles: tuple[ChangeRequest, ...] = field(default=())


@dataclass(frozen=True)
class ComparisonBase:
    """What to compare a branch with in one space: a commit of the clone, or a revision of the platform.

    Shape: with both, the revision is what the platform made of the commit. `note` is for a person, where something had
    to be taken for granted.
    """

    kind: Kind
    commit: str = ""
    revision: str = ""
    note: str = ""


def find_known_requests(workspace: Workspace, binding: Binding, branch: str) -> KnownRequests:
    """Return the change requests of a branch that this repository made in a space.

    Shape: of several that are live, which two jobs at once may have made, the first one counts.
    """
    requests, mark = workspace.client.change_requests, build_marker(branch, workspace.instance)
    live = sorted(
        (one for status in ("draft", "open") for one in requests.list(binding.space, status=status)
         if one.subject.endswith(mark)),
        key=lambda one: one.number,
    )  # fmt: skip
    merged = _select_own(requests.list(binding.space, status="merged"), f"#{workspace.instance}]")
    archived = [] if live else _select_own(requests.list(binding.space, status="archived"), mark)
    return KnownRequests(live[0] if live else None, tuple(archived), tuple(merged), tuple(live[1:]))


def _select_own(requests: Iterator[ChangeRequest], sign: str) -> list[ChangeRequest]:
    found = [request for request in requests if request.subject.endswith(sign)]
    return sorted(found, key=lambda one: one.number, reverse=True)


def find_comparison_base(workspace: Workspace, binding: Binding, job: Job, known: KnownRequests) -> ComparisonBase:
    """Return what a job's branch is to be compared with, the most certain base first.

    Raises: GuardRefused when nothing can be told without undoing what others did.
    """
    return (
        _find_by_mirror(workspace, binding, job)
        or _find_by_commit(workspace, job, known.merged)
        or _find_by_target(workspace, job)
        or _find_by_revision(workspace, job, known)
        or _find_by_change_request(known)
        or _take_present(workspace, binding, job, known)
    )


def _find_by_mirror(workspace: Workspace, binding: Binding, job: Job) -> ComparisonBase | None:
    """The newest commit of main content in the branch's history."""
    for commit in workspace.repository.find_carrying(job.commit, SPACE, binding.space, committer=COMMITTER[0]):
        if not _is_of_change_request(commit):
            return ComparisonBase("mirror", commit.oid)
    return None


def _is_of_change_request(commit: Commit) -> bool:
    """Whether a commit stands for the content of a change request, which reviewers' edits bring into a branch."""
    numbers = commit.trailers.get(CHANGE_REQUEST, [])
    return any(commit.subject.startswith(f"{PROPOSED}{number}: ") for number in numbers)


def _find_by_commit(workspace: Workspace, job: Job, merged: Sequence[ChangeRequest]) -> ComparisonBase | None:
    """The newest merged commit that the branch grew from, with the revision that it became, if that is known."""
    repository = workspace.repository
    related: ComparisonBase | None = None
    for request in merged[:LOOKED_AT]:
        commit = repository.find_revision(read_commit_unless_partial(request.description))
        sign, revision = read_base_revision(request.description)
        if commit is not None and repository.is_ancestor(commit, job.commit):
            return ComparisonBase("commit", commit, revision if sign == "=" else "")
        if commit is not None and related is None and find_common_base(workspace, commit, job.commit):
            related = ComparisonBase("commit", commit)
    return related


def _find_by_target(workspace: Workspace, job: Job) -> ComparisonBase | None:
    """Where the branch left the one that it shall be merged into."""
    base = find_common_base(workspace, job.commit, job.target_tip) if job.target_tip else None
    return ComparisonBase("target", base) if base else None


def _find_by_revision(workspace: Workspace, job: Job, known: KnownRequests) -> ComparisonBase | None:
    """What the platform held when the branch, or the one that it shall be merged into, was published."""
    marks = {build_marker(branch, workspace.instance): branch for branch in (job.target, job.branch) if branch}
    for request in known.merged:
        branch = next((branch for mark, branch in marks.items() if request.subject.endswith(mark)), None)
        sign, revision = read_base_revision(request.description)
        if branch is None or sign != "=":
            continue
        own = branch == job.branch or read_proposed_commit(request.description) in _read_parents(workspace, job.commit)
        note = f"the clone is too shallow to show that {job.branch} grew from #{request.number}; that was assumed"
        return ComparisonBase("revision", revision=revision, note="" if own else note)
    return None


def find_common_base(workspace: Workspace, one: str, other: str) -> str | None:
    """Return a merge base of two commits; None when there is none, or where the history is cut off."""
    try:
        return workspace.repository.find_merge_base(one, other)
    except GitFailed:
        return None


def _read_parents(workspace: Workspace, commit: str) -> tuple[str, ...]:
    """The parents that a commit names, whether the clone has them or not."""
    return workspace.repository.list_commits(None, commit, limit=1)[0].parents


def _find_by_change_request(known: KnownRequests) -> ComparisonBase | None:
    """The main content that the branch's change request started from.

    What that has taken in since is what others wrote: the branch never had it, and must not seem to have taken it out.
    """
    revision = known.live.revision_initial if known.live is not None else ""
    return ComparisonBase("revision", revision=revision) if revision else None


def _take_present(workspace: Workspace, binding: Binding, job: Job, known: KnownRequests) -> ComparisonBase:
    """Main content as it is now, as at the very first push of a repository.

    Raises: GuardRefused where a shallow clone hides what was published before: what others wrote on the platform since
    would look as if the branch had taken it out.
    """
    if known.merged and workspace.repository.is_cut(job.commit):
        raise GuardRefused(
            f"{binding.name}: this shallow clone does not show what {job.branch} grew from, and main content has what "
            f"others wrote since #{known.merged[0].number} was merged",
            hint=WHOLE_HISTORY_HINT,
        )
    return ComparisonBase("present", note="nothing says what the branch grew from: all that differs is proposed")


def has_main_as_opened(live: ChangeRequest | None) -> bool:
    """Return whether main content is as it was when a change request was made; then it is itself what to compare
    with."""
    return live is not None and not live.outdated and live.revision_merged_ancestor in (None, "", live.revision_initial)


def refuse_unreadable(name: str) -> GuardRefused:
    """Return why a push has to wait for a person, as no past revision of a space can be read."""
    return GuardRefused(
        f"{name}: nothing in this clone says what the branch grew from, and the platform shows no past revisions",
        hint=WHOLE_HISTORY_HINT,
    )


def choose_mirror(workspace: Workspace, starts: Mapping[Binding, ComparisonBase]) -> str | None:
    """Return the newest mirror commit from which a space starts, or None."""
    commits = [start.commit for start in starts.values() if start.kind == "mirror"]
    newest = commits[0] if commits else None
    for commit in commits[1:]:
        if newest is not None and workspace.repository.is_ancestor(newest, commit):
            newest = commit
    return newest


@dataclass(frozen=True)
class CiResult:
    """What a run came to: the results of its flows, the change requests that stand for the branch, and notes."""

    results: tuple[Result, ...]
    requests: Mapping[Binding, ChangeRequest] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
