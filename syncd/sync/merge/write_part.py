"""Write a part (see parts.py): the commit that stands for another commit but for some entries, with its own moves."""

from collections.abc import Sequence
from dataclasses import replace

from syncd.plan.message import REVISION, SPACE
from syncd.repo.repository import Repository
from syncd.sync.committer import COMMITTER
from syncd.sync.merge.moves import find_moves_since, render_moves
from syncd.sync.merge.parts import PART_TRAILER

CONFLICTS = "pages in conflict"
"""What most parts lack."""
NOT_SENT = "what is not sent"


def write_part(
    repository: Repository, commit: str, base: Sequence[str], tree: str, *, name: str, lacks: str = CONFLICTS
) -> str:
    """Write a part of a commit, with the tree that lacks what is left out, and return its id; `base` are its parents.

    Shape: `name` is what people call the commit, and `lacks` what it is taken in without. The same arguments give the
    same commit, so that a second run writes nothing new. The commits that record moves are no ancestors of a part, so
    it has its own record of the moves.
    """
    original = repository.read_commit(commit)
    kept = "".join(f"{key}: {value}\n" for key in (SPACE, REVISION) for value in original.trailers.get(key, [])[-1:])
    moves = find_moves_since(repository, base[0], commit) if base else {}
    moved = {old: new for old, new in moves.items() if _has_move(repository, old, new, commit, tree)}
    subject = f"Take in {name} but for {lacks}" if lacks else f"Take in {name}"
    message = f"{subject}\n\n{kept}{render_moves(moved)}{PART_TRAILER}: {commit} {tree}\n"
    # The date of the original, not of this run: the same arguments have to give the same commit.
    person = replace(original.author, name=COMMITTER[0], email=COMMITTER[1])
    return repository.commit_tree(tree, parents=base, message=message, author=person, committer=person)


def _has_move(repository: Repository, old: str, new: str, commit: str, tree: str) -> bool:
    """Whether a tree has a move that a commit made. Where the entry is left out, both paths are as in the base."""
    return all(repository.lookup(commit, path) == repository.lookup(tree, path) for path in (old, new))
