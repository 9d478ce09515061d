"""Find out what a branch grew from without records of earlier runs: by history, change requests or the platform."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from syncd.errors import GitFailed, GuardRefused
from syncd.model.change_request import ChangeRequest
from syncd.plan.message import CHANGE_REQUEST, PROPOSED, REVISION, SPACE, build_marker
from syncd.plan.propose.description import (
    read_base_revision,
    read_commit_unless_partial,
    read_proposed_commit,
    read_start,
    read_written_revision,
)
from syncd.repo.values import Commit
from syncd.sync.binding import Binding
from syncd.sync.ci.known_requests import KnownRequests
from syncd.sync.committer import COMMITTER
from syncd.sync.mirror.history import read_past
from syncd.sync.run.values import Result
from syncd.sync.workspace import Workspace

LOOKED_AT = 100
"""Merged change requests whose commits are looked for in the clone."""
WHOLE_HISTORY_HINT = "fetch the whole history (fetch-depth: 0 on GitHub, GIT_DEPTH: 0 on GitLab) and run again"

Kind = Literal["mirror", "commit", "target", "revision", "present"]


@dataclass(frozen=True)
class Job:
    """What a CI job is about: a commit of a branch, and the branch that it shall be merged into.

    Shape: `target_tip` is where the clone knows that branch. `former` is the commit that the branch was at when the
    commit was pushed on top of it, where the CI service says so; the clone need not have it. `newest` is where the
    clone knows the branch itself at its remote, and `is_repeated` says that the job ran for this commit before.
    """

    branch: str
    commit: str
    target: str = ""
    target_tip: str = ""
    former: str = ""
    subject: str = ""
    newest: str = ""
    is_repeated: bool = False


@dataclass(frozen=True)
class ComparisonBase:
    """What to compare a branch with in one space: a commit of the clone, or a revision of the platform.

    Shape: with both, the revision is what the platform made of the commit. Where the revision is that of a commit which
    is not here, and of main content, `absent` is the commit, and `others` are the revisions between which others wrote
    what the commit had not. `note` is for a person, where something had to be taken for granted.
    """

    kind: Kind
    commit: str = ""
    revision: str = ""
    others: tuple[str, str] = ("", "")
    absent: str = ""
    note: str = ""


def find_comparison_base(workspace: Workspace, binding: Binding, job: Job, known: KnownRequests) -> ComparisonBase:
    """Return what a job's branch is to be compared with, the most certain base first.

    Raises: GuardRefused when nothing can be told without undoing what others did.
    """
    return (
        _find_by_mirror(workspace, binding, job)
        or _find_by_commit(workspace, job, known.merged)
        or _find_by_target(workspace, job, known.live)
        or _find_by_revision(workspace, job, known.merged)
        or _find_by_change_request(workspace, job, known)
        or _find_rewritten(workspace, job, known)
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


def _find_by_target(workspace: Workspace, job: Job, live: ChangeRequest | None) -> ComparisonBase | None:
    """Where the branch left the one that it shall be merged into; none where that has taken in what the branch's change
    request holds, and still proposes."""
    repository = workspace.repository
    base = find_common_base(workspace, job.commit, job.target_tip) if job.target_tip else None
    if base and live is not None:
        start = repository.find_revision(read_start(live.description))
        commit = repository.find_revision(read_proposed_commit(live.description))
        is_later = start is not None and start != base and repository.is_ancestor(start, base)
        if is_later and commit is not None and repository.is_ancestor(base, commit):
            return None
    return ComparisonBase("target", base) if base else None


def _find_by_revision(workspace: Workspace, job: Job, merged: Sequence[ChangeRequest]) -> ComparisonBase | None:
    """What a merged commit became that the clone has not, but names as one that the branch grew from."""
    return _find_published(workspace.repository.list_cut_parents(job.commit) | {job.former}, merged) if merged else None


def _find_published(commits: Collection[str], merged: Sequence[ChangeRequest]) -> ComparisonBase | None:
    """The revision that the newest of some commits became, which the clone has not; also one with what main content
    brought, where that can be told from the commit's own."""
    for request in merged:
        commit, (sign, revision) = read_proposed_commit(request.description), read_base_revision(request.description)
        if commit not in commits or sign not in ("=", "+"):
            continue
        if sign == "=":
            return ComparisonBase("revision", revision=revision)
        start, begun = read_start(request.description), request.revision_initial or ""
        if start[:1] in ("@", "?") and begun and request.revision_merged_ancestor in (None, "", begun):
            return ComparisonBase("revision", revision=revision, others=(start[1:], begun), absent=commit)
    return None


def find_common_base(workspace: Workspace, one: str, other: str) -> str | None:
    """Return a merge base of two commits; None when there is none, or where the history is cut off."""
    try:
        return workspace.repository.find_merge_base(one, other)
    except GitFailed:
        return None


def _find_by_change_request(workspace: Workspace, job: Job, known: KnownRequests) -> ComparisonBase | None:
    """What the branch's change request says that the branch grew from, or the main content that the request began with.

    What that has taken in since is what others wrote: the branch never had it, and must not seem to have taken it out.
    That holds for what it began with, too, unless the branch's commit is all that came of both, or the clone has the
    whole history and shows nothing that is older. What is said counts for the commits that grew from the one that was
    proposed; but what a job took for granted is so for the whole branch.
    """
    if known.live is None:
        return None
    description, begun = known.live.description, known.live.revision_initial or ""
    start, is_cut = read_start(description), bool(workspace.repository.list_cut_parents(job.commit))
    is_described = description is not None and bool(description.text().strip())
    if start.startswith("?"):
        return ComparisonBase("present", revision=start[1:])
    # One without a description was opened by a job that has not come to its end. Where nothing was merged before, that
    # job compared with what the request began with, as this one would have.
    if begun and not start and (not is_cut or not (is_described or known.merged)):
        return ComparisonBase("present", revision=begun)
    commit = workspace.repository.find_revision(start)
    if commit is not None and workspace.repository.is_ancestor(commit, job.commit):
        return ComparisonBase("commit", commit)
    if not _has_grown_from(workspace, job, read_proposed_commit(description)):
        return None
    if start.startswith("@"):
        return ComparisonBase("revision", revision=start[1:])
    if (published := _find_published([start], known.merged)) is not None:
        return published
    is_all = read_base_revision(description)[0] == "="
    return ComparisonBase("revision", revision=begun) if begun and is_all else None


def _has_grown_from(workspace: Workspace, job: Job, commit: str) -> bool:
    """Whether a commit, which the clone may only name, is in the history of the job's one."""
    repository = workspace.repository
    if commit in (job.commit, job.former, *repository.list_cut_parents(job.commit)):
        return True
    found = repository.find_revision(commit)
    return found is not None and repository.is_ancestor(found, job.commit)


def _find_rewritten(workspace: Workspace, job: Job, known: KnownRequests) -> ComparisonBase | None:
    """What was published of a branch that was rewritten since, in a clone of its whole history: with main content as it
    is now, the branch would seem to have taken out what others wrote there."""
    if known.live is not None or workspace.repository.list_cut_parents(job.commit):
        return None
    marker = build_marker(job.branch, workspace.instance)
    for request in known.merged:
        sign, revision = read_base_revision(request.description)
        if request.subject.endswith(marker) and sign == "=":
            note = f"{job.branch} was rewritten after #{request.number}: it is compared with what that published"
            return ComparisonBase("revision", revision=revision, note=note)
    return None


def _take_present(workspace: Workspace, binding: Binding, job: Job, known: KnownRequests) -> ComparisonBase:
    """What the last merged change request said; without one, main content as it is now, as at the very first push of a
    repository.

    Raises: GuardRefused where something was published or proposed before that the clone does not show: what others
    wrote on the platform since would look as if the branch had taken it out.
    """
    former = known.live or next(iter(known.merged), None)
    if former is not None and workspace.repository.list_cut_parents(job.commit):
        raise refuse_shallow(binding.name, job.branch, former.number)
    if known.live is not None:
        raise GuardRefused(
            f"{binding.name}: #{known.live.number} was compared with a commit that this clone has not",
            hint=f"merge #{known.live.number} on the platform, and run again",
        )
    unknown = "nothing says what the branch grew from: all that differs"
    # What was merged last was a squash in Git, where its commit is not here: what others wrote later is in no commit.
    last = max(known.merged, key=lambda one: (one.merged_at or "", one.number), default=None)
    written = read_written_revision(last.description) if last is not None else ""
    if last is not None and written and read_past(workspace.client, binding.space, written) is not None:
        note = f"{unknown} from what #{last.number} said is proposed"
        return ComparisonBase("present", revision=written, note=note)
    return ComparisonBase("present", note=f"{unknown} is proposed")


def name_start(workspace: Workspace, binding: Binding, start: ComparisonBase) -> str:
    """Return what a branch grew from as its change request is to say it, in the form of `Description.start`."""
    if start.kind == "mirror":
        commit = workspace.repository.read_commit(start.commit)
        return "@" + commit.trailers[REVISION][-1]
    sign = "?" if start.kind == "present" else "@"
    return start.absent or (f"{sign}{start.revision}" if start.revision else start.commit)


def has_main_as_opened(live: ChangeRequest | None) -> bool:
    """Return whether main content is as it was when a change request was made; then it is itself what to compare
    with."""
    return live is not None and not live.outdated and live.revision_merged_ancestor in (None, "", live.revision_initial)


def refuse_shallow(name: str, branch: str, number: int) -> GuardRefused:
    """Return why a push has to wait for a clone with more of the history; a change request has the given number."""
    return GuardRefused(
        f"{name}: this shallow clone does not show what {branch} grew from, and main content may have what others "
        f"wrote before #{number} or since",
        hint=WHOLE_HISTORY_HINT,
    )


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
    """What a run came to: the results of its flows, the change requests that stand for the branch, and notes.

    Shape: `unlisted` are pages that the branch adds or changes and that no table of contents lists, and `missing` those
    that one lists and the commit has not; from the repository's root. No platform gets them.
    """

    results: tuple[Result, ...]
    requests: Mapping[Binding, ChangeRequest] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    unlisted: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
