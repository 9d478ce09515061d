"""A move of a work tree from one commit to another, and the note of it that tells what a kill left."""

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from syncd.files import write_own_file
from syncd.repo.failures import translate_system_failures
from syncd.repo.names import is_oid
from syncd.repo.process.git import Git
from syncd.repo.process.locks import holds_index


@dataclass(frozen=True, slots=True)
class Move:
    """A work tree on its way from one commit (None: nothing) to another.

    Shape: the branch is at `here`; it is to follow when `publish` is set.
    """

    branch: str
    before: str | None
    after: str | None
    here: str | None
    publish: bool = True

    def reverse(self, here: str | None, to: str | None) -> "Move":
        """Return the move back to the tree `to` while the branch is at `here`; it leaves the branch alone."""
        return replace(self, before=self.after, after=to, here=here, publish=False)

    def is_over(self, here: str | None) -> bool:
        """Return whether nothing is left to do with the branch at `here`: the move is done, or a person has committed
        since.
        """
        return here == self.after if self.publish else here != self.here


def write_note(git: Git, move: Move) -> None:
    """Note a move of this work tree, so that it lasts."""
    with translate_system_failures("noting a move"):
        write_own_file(_find_note(git.location.git_dir), json.dumps(asdict(move)).encode(), mode=0o600)


def read_note(git: Git) -> Move | None:
    """Return the move of this work tree that is noted, or None."""
    try:
        found = json.loads(_find_note(git.location.git_dir).read_bytes())
        move = Move(**found)
    except (FileNotFoundError, ValueError, TypeError):
        return None
    ids = [oid for oid in (move.before, move.after) if oid is not None]
    return move if ids and all(is_oid(oid) for oid in ids) else None


def delete_note(git: Git) -> None:
    """Forget the move of this work tree."""
    _find_note(git.location.git_dir).unlink(missing_ok=True)


def is_moving(git_dir: Path) -> bool:
    """Return whether a work tree is, or was left, in the middle of a move, by its git directory."""
    return _find_note(git_dir).exists() or holds_index(git_dir)


def _find_note(git_dir: Path) -> Path:
    return git_dir / "syncd" / "moving.json"
