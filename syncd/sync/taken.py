"""The main content that a change request has taken in, so that Git's graph says the same as the content does."""

from collections.abc import Iterable
from dataclasses import dataclass

from syncd.model.change_request import ChangeRequest
from syncd.plan.message import REVISION
from syncd.plan.met import MET, TIP, met_message
from syncd.repo import Difference
from syncd.sync.ancestry import NOBODY
from syncd.sync.meeting import Meeting, meet
from syncd.sync.proposals import is_disputed
from syncd.sync.workspace import Binding, Workspace


@dataclass(frozen=True)
class Footing:
    """What a commit of a change request's content stands on.

    Shape: `start` has, outside of the space too, what the parents bring: a child that lacked it would pass for having
    deleted it. `dispute` is how it met main content that is no parent, since the platform found conflicts with it.
    """

    start: str
    parents: tuple[str, ...]
    dispute: Meeting | None = None


def footing(
    workspace: Workspace, binding: Binding, request: ChangeRequest, ground: str, *, disputed: bool = False
) -> Footing:
    """Given a change request and the commit that its content lies upon, return what the next commit stands on.

    Shape: main content becomes a parent once the change request holds it and the commit does not; but not after an
    update in which the platform found conflicts (`disputed`).
    """
    repository = workspace.repository
    taken = _taken(workspace, request)
    if taken is None or contains(workspace, ground, taken):
        return Footing(ground, (ground,))
    meeting = meet(workspace, ground, taken)
    contested = (*meeting.outside, *(path for page in meeting.held for path in page.paths))
    if not all(binding.holds(path) for path in contested):
        return Footing(ground, (ground,))
    start = ground
    if meeting.kept_ours != repository.subtree(ground):
        start = repository.commit_tree(
            meeting.kept_ours, parents=[ground, taken], message="syncd: ground\n", author=NOBODY, committer=NOBODY
        )
    return Footing(start, (ground,), meeting) if disputed else Footing(start, (ground, taken))


def claims_of(workspace: Workspace, feet: Footing, content: str) -> str:
    """Given what a commit of a change request's content stands on and that commit, return trailers for its message.

    Shape: after an update in dispute, what both sides changed, each in its own way, may lack some of main content, so
    the commit claims all the rest. What counts is what the platform has, with what nobody had seen before the update.
    """
    meeting, repository = feet.dispute, workspace.repository
    if meeting is None:
        return ""
    one, other = ({*repository.differences(meeting.base, side, renames=True)} for side in (content, meeting.theirs))
    apart = sorted(_paths(one) & _paths(other) & _paths(one ^ other))
    claims = met_message("", met=[meeting.theirs], since=meeting.since, held=[(path,) for path in apart])
    return claims.strip() + "\n"


def _paths(differences: Iterable[Difference]) -> set[str]:
    return {path for change in differences for path in (change.path, change.old_path) if path is not None}


def _taken(workspace: Workspace, request: ChangeRequest) -> str | None:
    """The newest commit of main content that a change request holds, as far as Git knows it."""
    if not request.outdated:
        return workspace.repository.resolve(workspace.main)
    start = request.revision_merged_ancestor or request.revision_initial or ""
    found = workspace.repository.find(workspace.main, REVISION, start)
    return found.oid if found is not None else None


def contains(workspace: Workspace, content: str, main: str) -> bool:
    """Given a commit of a change request's content, return whether it holds a commit of main content, or claims to."""
    repository = workspace.repository
    if repository.is_ancestor(main, content):
        return True
    marked = repository.marked(main, content, MET)[1]
    claims = [commit for commit in marked if REVISION in commit.trailers and TIP not in commit.trailers]
    met = [oid for commit in claims for oid in commit.trailers[MET]]
    here = repository.present(met)
    return any(oid in here and repository.is_ancestor(main, oid) for oid in met)


def takes(workspace: Workspace, binding: Binding, content: str, main: str) -> bool:
    """Given a change request's content and main content, return whether both merge without a person or lost words."""
    met = meet(workspace, content, main)
    return not is_disputed(binding, met) and not any(map(binding.holds, met.revived))
