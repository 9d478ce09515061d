"""What people read of work that no change request holds yet: what is not sent, why, and what to do about it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from syncd.cli.terminal.text import safe
from syncd.config import RepositoryConfig
from syncd.model.wording import format_count
from syncd.repo import Repository
from syncd.sync.state.unsent import Unsent, find_unsent
from syncd.sync.workspace import Binding

NAMED = 5
"""Paths of one kind that are printed; of more, the rest is counted. `--json` lists all."""


@dataclass(frozen=True)
class BranchWork:
    """What a branch has of its own: space by space, and, where a work tree shows it, the edits not committed there."""

    branch: str
    spaces: tuple[Unsent, ...] = ()
    uncommitted: tuple[str, ...] = ()

    @property
    def needs_push(self) -> bool:
        """Whether a push would write something."""
        return any(space.needs_push for space in self.spaces)

    @property
    def waiting(self) -> list[Unsent]:
        """The spaces whose change request holds all that the branch says, so that others have to act."""
        return [space for space in self.spaces if space.changed and space.is_sent]


def find_branch_work(git: Repository, repository: RepositoryConfig, branch: str) -> BranchWork:
    """Given a repository, open at the work tree around the caller, and a branch, return what the branch has of its own.

    Shape: edits count where this work tree shows the branch, and for files of a space only. Raises: GitFailed.
    """
    main = git.resolve(f"refs/remotes/{repository.remote}/main")
    bindings = [Binding(space.id, space.directory, space.name) for space in repository.space]
    spaces = tuple(find_unsent(git, binding, branch, main=main) for binding in bindings)
    edits = git.list_uncommitted() if git.work_tree is not None and git.read_head().branch == branch else []
    uncommitted = tuple(path for path in edits if any(binding.holds(path) for binding in bindings))
    return BranchWork(branch, spaces, uncommitted)


def unsent_lines(work: BranchWork, *, pushed: bool = False) -> Iterator[str]:
    """Given what a branch has of its own, return a line for each thing that a push does not take, with the way out.

    Shape: after a push, changed content that no change request holds is one of these things.
    """
    unlisted = [path for space in work.spaces for path in space.unlisted]
    if unlisted:
        verb = "is" if len(unlisted) == 1 else "are"
        yield f"! not sent: {_named(unlisted)} {verb} not listed in SUMMARY.md; list what is to be a page, and commit"
    changed = [path for space in work.spaces if space.needs_push for path in space.changed]
    if changed and pushed:
        yield f"! not sent: {_named(changed)}; syncd check may say why"
    if not pushed and (steps := sum(space.manual_steps for space in work.spaces)):
        named = f"syncd push {safe(work.branch)} names each"
        yield f"! {format_count(steps, 'manual step')} on the platform: {named}"
    if work.uncommitted:
        verb = "is" if len(work.uncommitted) == 1 else "are"
        yield f"! not sent: {_named(work.uncommitted)} {verb} edited and not committed; git add, then git commit"


def request_lines(work: BranchWork) -> Iterator[str]:
    """Given what a branch has of its own, return a line for each change request that holds it already."""
    for space in work.waiting:
        assert space.request is not None
        address = f"  {safe(space.request.address)}" if space.request.address else ""
        holds = f"change request #{space.request.number} holds what {safe(work.branch)} says"
        yield f"{space.binding.name}: {holds}{address}"


def _named(paths: Sequence[str]) -> str:
    more = len(paths) - NAMED
    return ", ".join(map(safe, paths[:NAMED])) + (f" and {more} more" if more > 0 else "")


def unsent_document(work: BranchWork) -> dict[str, Any]:
    """Given what a branch has of its own, return its JSON object."""
    return {
        "branch": work.branch,
        "uncommitted": list(work.uncommitted),
        "spaces": [_space_document(space) for space in work.spaces],
    }


def _space_document(space: Unsent) -> dict[str, Any]:
    request = space.request
    return {
        "name": space.binding.name,
        "changed": list(space.changed),
        "unlisted": list(space.unlisted),
        "is_sent": space.is_sent,
        "was_tried": space.was_tried,
        "manual_steps": space.manual_steps,
        "change_request": {"number": request.number, "url": request.address} if request is not None else None,
    }
