"""Before any command: what a run that was killed left in the repository around the current directory is mended.

It holds the lock of Git's index, so that Git refuses to add or commit anything until it is gone; a person who then
types `syncd status`, or formats a file, should not have to know which command would remove it.
"""

from contextlib import suppress
from pathlib import Path

from syncd.errors import SyncdError


def heal_here() -> None:
    """Look for what a killed run left around the current directory, and mend it; where nothing is, that costs nothing.

    Shape: what stands in the way stays, for the command that needs it to say so.
    """
    with suppress(OSError, ValueError, SyncdError):
        here = Path.cwd()
        top = next((one for one in (here, *here.parents) if (one / ".git").exists()), None)
        if top is None or not _has_leftovers(top / ".git"):
            return
        from syncd.repo import Repository  # takes long, and is needed after a kill only

        Repository.open(top).close()


def _has_leftovers(git_dir: Path) -> bool:
    if git_dir.is_file():  # of a linked work tree
        git_dir = git_dir.parent / git_dir.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
    return (git_dir / "syncd" / "moving.json").exists() or (git_dir / "index.lock").exists()
