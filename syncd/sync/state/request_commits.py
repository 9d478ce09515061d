"""The commits that stand for what was sent to a change request, and for what it holds (its lane).

Source: docs/decisions/0002-one-recorded-base.md.
"""

from dataclasses import dataclass

from syncd.model.change_request import ChangeRequest
from syncd.plan.message import REVISION, render_mirror_message, render_proposed_subject
from syncd.repo.repository import Repository
from syncd.repo.values import Person
from syncd.sync.binding import Binding
from syncd.sync.merge.parts import PART_TRAILER
from syncd.sync.workspace import Workspace

SENT_PARENTS = 3
"""Parents of the commit of something sent: the branch's commit, what it was planned upon, and the base of both."""
CONTENT = "Syncd-Content"
"""Names the tree that the platform holds, where it has merged in a way that undoes what Git knows to be merged."""


@dataclass(frozen=True)
class SentContent:
    """What was written to a change request: `commit` has the tree that was desired.

    Shape: `branch_commit` is the branch's commit, or a part of it; `planned` is the content that the write was planned
    against; `base` is the merge base of both.
    """

    commit: str
    branch_commit: str
    planned: str
    base: str


@dataclass(frozen=True)
class LaneContent:
    """The commit to record for content that was read: its tree and parents; `content` is the platform's tree, where
    that is another one, else ""."""

    tree: str
    parents: tuple[str, ...]
    content: str = ""


def read_sent(repository: Repository, commit: str, main: str) -> SentContent:
    """Return what a commit that was sent was made from; `main` is the commit of main content.

    Shape: a commit with other parents was written by a former version, or by a person: it is its own branch's commit.
    """
    parents = repository.read_commit(commit).parents
    if len(parents) != SENT_PARENTS:
        return SentContent(commit, commit, main, main)
    return SentContent(commit, *parents)


def find_content(repository: Repository, commit: str) -> str:
    """Return the tree that the platform holds of a change request; `commit` is the one that stands for its content."""
    found = repository.read_commit(commit).trailers.get(CONTENT, [""])[-1]
    return found if repository.select_present([found]) else repository.read_root_tree(commit)


def find_taken_main(workspace: Workspace, request: ChangeRequest) -> str | None:
    """Return the newest commit of main content that a change request holds, as far as Git knows it.

    Shape: one that is merged is never outdated, and says itself what it had taken in before.
    """
    if request.status != "merged" and not request.outdated:
        return workspace.repository.resolve(workspace.main)
    start = request.revision_merged_ancestor or request.revision_initial or ""
    found = workspace.repository.find_commit(workspace.main, REVISION, start)
    return found.oid if found is not None else None


def write_lane_commit(repository: Repository, lane: LaneContent, message: str, author: Person) -> str:
    """Return the commit that stands for the content: the only parent if it is the same, else a new one with the
    parents."""
    for parent in lane.parents[:1] if len(lane.parents) == 1 else ():
        found = repository.read_commit(parent)
        is_own = not {PART_TRAILER, CONTENT} & found.trailers.keys()
        if is_own and repository.find_tree(parent) == lane.tree and not lane.content:
            return parent
    message += f"{CONTENT}: {lane.content}\n" if lane.content else ""
    return repository.commit_tree(lane.tree, parents=lane.parents, message=message, author=author, committer=author)


def compose_lane_message(binding: Binding, request: ChangeRequest, revision: str) -> str:
    """Return the message of a commit that stands for a revision of a change request."""
    subject = render_proposed_subject(request.number, request.subject)
    return render_mirror_message(subject, space=binding.space, revision=revision, change_requests=[request.number])
