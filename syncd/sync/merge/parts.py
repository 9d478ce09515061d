"""Parts: a commit that stands for another commit X but for some entries, so that a merge can leave these out.

A part of X has X's tree, but with the left-out entries as the merge base has them. Its parents are the commits of that
base and not X, so that Git never takes X for merged. A part counts only while its tree is the one that its trailer
names: a rebase or a cherry-pick copies the trailer, but not the tree. Source: docs/decisions/0002-one-recorded-base.md.
"""

from collections.abc import Sequence
from datetime import UTC, datetime

from syncd.repo.repository import Repository
from syncd.repo.values import Commit, Person

PART_TRAILER = "Syncd-Part"
"""Names the commit that a part stands for, and the tree that makes it one."""
SYNTHETIC_AUTHOR = Person("syncd", "syncd@localhost", datetime(2100, 1, 1, tzinfo=UTC))
"""Author of commits that no branch ever has. It is always the same, so that the same content is the same object; its
date is late, because git looks for common ancestors from the youngest commit on."""


def write_synthetic_commit(repository: Repository, tree: str, parents: Sequence[str], subject: str) -> str:
    """Write a commit that no branch ever has, and return its id; the same arguments give the same commit."""
    author, message = SYNTHETIC_AUTHOR, f"{subject}\n"
    return repository.commit_tree(tree, parents=parents, message=message, author=author, committer=author)


def find_original(repository: Repository, commit: Commit) -> str | None:
    """Return the commit that another one is a part of; None when it is no part."""
    words = commit.trailers.get(PART_TRAILER, [""])[-1].split()
    if len(words) != 2 or repository.find_tree(commit.oid) != words[1]:
        return None
    return words[0]


def find_present_original(repository: Repository, commit: Commit) -> str | None:
    """Return the commit that another one is a part of; None when it is no part, or this clone lacks that commit."""
    original = find_original(repository, commit)
    return original if original is not None and repository.select_present([original]) else None


def read_original(repository: Repository, oid: str) -> Commit:
    """Return a commit; for a part, the commit that it stands for, if this clone has it."""
    commit = repository.read_commit(oid)
    original = find_present_original(repository, commit)
    return repository.read_commit(original) if original is not None else commit


def find_taken_in(repository: Repository, commit: str, main: str) -> str | None:
    """Return a commit of main content, or the newest part of it, in a commit's history; None for neither."""
    if repository.is_ancestor(main, commit):
        return main
    for part in repository.find_marked(main, commit, PART_TRAILER)[1]:
        if find_original(repository, part) == main:
            return part.oid
    return None
