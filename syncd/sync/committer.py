"""Who commits what syncd writes itself, and who made a commit."""

from syncd.repo.values import Commit

COMMITTER = ("syncd", "syncd@localhost")


def name_author(commit: Commit) -> str:
    """Return the name of the person who made a commit; "" for syncd itself."""
    return "" if commit.author.email == COMMITTER[1] else commit.author.name
