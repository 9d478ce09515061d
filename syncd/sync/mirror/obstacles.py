"""Refuse to mirror onto submodules and symbolic links: they are neither followed nor replaced."""

from collections.abc import Iterable

from syncd.errors import PathRefused
from syncd.sync.workspace import Binding, Workspace

NAMES_SHOWN = 5


def check_obstacles(workspace: Workspace, binding: Binding, commit: str | None, paths: Iterable[str]) -> None:
    """Given paths that a mirror commit is to have upon another commit, make sure that only files stand there.

    Raises: PathRefused naming what is in the way.
    """
    if commit is None:
        return
    found = workspace.repository.find_obstacles(commit, map(binding.path, paths))
    if found:
        names = ", ".join(f"{path} is a {kind}" for path, kind in sorted(found.items())[:NAMES_SHOWN])
        raise PathRefused(
            f"the platform has a page or file where Git has none to replace: {names}",
            hint="replace it by a file or a directory and commit, or rename what is there on the platform",
        )
