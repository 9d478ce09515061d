"""Before any command: repair what a killed run left in the repository around the current directory.

A killed run can leave the lock of Git's index behind, and Git refuses to add or commit anything until it is gone. A
person who then types `syncd status`, or formats a file, should not have to know which command would remove it.
"""

from contextlib import suppress
from pathlib import Path

from syncd.errors import SyncdError


def repair_here() -> None:
    """Repair what a killed run left in the repository around the current directory; without leftovers this is cheap.

    An error is ignored here: the command that needs the repository reports it.
    """
    with suppress(OSError, ValueError, SyncdError):
        current = Path.cwd()
        top = next((one for one in (current, *current.parents) if (one / ".git").exists()), None)
        if top is None or not _has_leftovers(top / ".git"):
            return
        from syncd.repo.repository import Repository  # a slow import, needed only after a kill

        Repository.open(top).close()


def _has_leftovers(git_dir: Path) -> bool:
    if git_dir.is_file():  # of a linked work tree
        git_dir = git_dir.parent / git_dir.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
    return (git_dir / "syncd" / "moving.json").exists() or (git_dir / "index.lock").exists()
