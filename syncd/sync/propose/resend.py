"""Whether a branch has more than what a change request was sent with that somebody archived."""

from syncd.repo import Commit, Repository

COMMITS_MAX = 1000


def list_new_work(repository: Repository, sent: str, main: str, tip: str) -> list[Commit]:
    """Given the commit that was sent, one of main content and the branch's commit, return what people committed since.

    Shape: merges, which bring what others did, and syncd's own commits are not in it; a branch that was rewritten or
    reset has its whole history in it.
    """
    if sent == tip:
        return []
    if not repository.is_ancestor(sent, tip):
        return repository.list_commits(None, tip, limit=1)
    return [
        commit
        for commit in repository.list_commits(sent, tip, limit=COMMITS_MAX)
        if len(commit.parents) < 2
        and not any(key.startswith("Syncd-") for key in commit.trailers)
        and not repository.is_ancestor(commit.oid, main)
    ]
