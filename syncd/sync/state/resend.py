"""Whether a branch has more than what a change request was sent with that somebody archived."""

from syncd.repo.repository import Repository
from syncd.repo.values import Commit

COMMITS_MAX = 1000


def list_new_work(repository: Repository, sent: str, main: str, tip: str) -> list[Commit]:
    """Return what people committed to a branch since a commit of it was sent.

    Shape: `main` is a commit of main content, `tip` the branch's. Merges, which bring what others did, and syncd's own
    commits are not in it. Of a branch that was rewritten or reset, it is the newest commit alone: all of it is new.
    """
    if sent == tip:
        return []
    if not repository.is_ancestor(sent, tip):
        return [repository.read_commit(tip)]
    return [
        commit
        for commit in repository.list_commits(sent, tip, limit=COMMITS_MAX)
        if len(commit.parents) < 2
        and not any(key.startswith("Syncd-") for key in commit.trailers)
        and not repository.is_ancestor(commit.oid, main)
    ]
