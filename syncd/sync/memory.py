"""What a branch proposed and the platform merged, kept in Git until the branch has caught up with main content."""

from syncd.plan.met import Claim
from syncd.sync.ancestry import held_by, origin_of
from syncd.sync.branches import HEADS
from syncd.sync.workspace import Binding, Workspace

MERGED = "refs/syncd/merged/"


def keep_merged(workspace: Workspace, binding: Binding, number: int, branch: str, commit: str) -> None:
    """Given a change request that was merged, remember what the branch said of it.

    A branch that is amended before it has taken in its own merge would else be in conflict with itself.
    """
    repository, ref = workspace.repository, f"{MERGED}{binding.name}/{number}/{branch}"
    old, origin = repository.resolve(ref), origin_of(workspace, commit)
    if old != origin and repository.resolve(f"{HEADS}{branch}") is not None:
        repository.update_ref(ref, origin, old=old)


def merged_origins(workspace: Workspace, branch: str) -> tuple[Claim, ...]:
    """Given a branch, return what it said that the platform merged since it last caught up, but for pages held then."""
    repository = workspace.repository
    refs = sorted(repository.refs(MERGED).items())
    commits = dict.fromkeys(commit for ref, commit in refs if _branch(ref) == branch)
    return tuple(Claim(commit, (commit,), (), held_by(repository, commit)) for commit in commits)


def caught_up(workspace: Workspace, branch: str) -> None:
    """Given a branch, forget what it had merged when it holds main content, and what branches had that are gone."""
    repository = workspace.repository
    main, tip = repository.resolve(workspace.main), repository.resolve(f"{HEADS}{branch}")
    done = main is not None and tip is not None and repository.is_ancestor(main, tip)
    for ref, commit in repository.refs(MERGED).items():
        if (done and _branch(ref) == branch) or repository.resolve(f"{HEADS}{_branch(ref)}") is None:
            repository.delete_ref(ref, old=commit)


def _branch(ref: str) -> str:
    return ref.removeprefix(MERGED).split("/", 2)[-1]
