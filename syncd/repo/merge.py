"""Merge two commits without a work tree, and record the result."""

from collections.abc import Sequence

from syncd.errors import GitFailed
from syncd.repo.failures import failure
from syncd.repo.git import Git
from syncd.repo.names import check_oid
from syncd.repo.values import Merged, Person
from syncd.repo.writer import message_bytes, signature


def merge(git: Git, ours: str, theirs: str) -> Merged:
    """Given two commits, related or not, return the tree that merges them and the paths in conflict.

    Source: git-merge-tree(1): exit status 1 is a conflict; -z lists the tree, then each path once.
    """
    options = ("--write-tree", "-z", "--name-only", "--no-messages", "--allow-unrelated-histories")
    status, output, complaint = git.attempt("merge-tree", *options, "--", check_oid(ours), check_oid(theirs))
    if status not in (0, 1):
        raise failure("merge-tree", status, complaint)
    tree, *paths = output.decode("utf-8", "surrogateescape").rstrip("\0").split("\0")
    if status == 1 and not paths:
        raise GitFailed("git merge-tree found a conflict in no path", hint="merge by hand with git merge")
    return Merged(check_oid(tree), tuple(sorted(set(paths))) if status else ())


def commit_tree(git: Git, tree: str, *, parents: Sequence[str], message: str, author: Person, committer: Person) -> str:
    """Given a tree and what is to be said about it, write the commit and return its id; no ref names it yet.

    Shape: written as an object, since commit-tree would add what the user's configuration says about encodings.
    """
    lines = [f"tree {check_oid(tree)}\n", *(f"parent {check_oid(parent)}\n" for parent in parents)]
    data = "".join(lines).encode() + signature(author, committer) + b"\n" + message_bytes(message)
    return git.run("hash-object", "-t", "commit", "-w", "--stdin", data=data).decode().strip()
