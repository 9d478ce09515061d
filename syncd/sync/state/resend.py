"""Whether a branch has more than what a change request was sent with that somebody archived."""

from syncd.errors import GitFailed
from syncd.plan.message import RESOLVED
from syncd.repo.repository import Repository
from syncd.repo.values import Commit
from syncd.sync.committer import name_author

COMMITS_MAX = 1000


def has_new_work(repository: Repository, sent: str, main: str, tip: str) -> bool:
    """Return whether people committed something to a branch since a commit of it was sent.

    Shape: `main` is a commit of main content, `tip` the branch's. Of a branch that was rewritten or reset, all is new.
    Merges, which bring what others did, and syncd's own commits do not count; a merge in which a person decided does,
    but for `syncd resolve --theirs`, which takes nothing of the branch.
    """
    if sent == tip:
        return False
    if not repository.is_ancestor(sent, tip):
        return True
    commits = repository.list_commits(sent, tip, limit=COMMITS_MAX)
    return any(_is_work(repository, commit) and not repository.is_ancestor(commit.oid, main) for commit in commits)


def _is_work(repository: Repository, commit: Commit) -> bool:
    """Whether a commit has something that a person wrote, or chose of the branch."""
    if RESOLVED in commit.trailers:
        return commit.trailers[RESOLVED] != ["theirs"]
    if any(key.startswith("Syncd-") for key in commit.trailers):
        return False
    return len(commit.parents) < 2 or _is_decision(repository, commit)


def _is_decision(repository: Repository, commit: Commit) -> bool:
    """Whether a merge has what Git does not make of its parents by itself: a person settled a conflict in it."""
    if not name_author(commit) or len(commit.parents) > 2:
        return False
    try:
        return repository.merge(*commit.parents).tree != repository.find_tree(commit.oid)
    except GitFailed:  # a shallow clone may lack what both grew from
        return False
