"""What stands where files of a space are to be: a submodule or a symbolic link is neither followed nor replaced."""

from collections.abc import Iterable

from syncd.errors import FileInvalid, PathRefused
from syncd.sync.workspace import Binding, Workspace

SHOWN = 5


def check_free(workspace: Workspace, binding: Binding, commit: str | None, paths: Iterable[str]) -> None:
    """Given paths that a mirror commit is to have upon another commit, make sure that only files stand there.

    Raises: PathRefused naming what is in the way.
    """
    if commit is None:
        return
    found = workspace.repository.obstacles(commit, map(binding.path, paths))
    if found:
        names = ", ".join(f"{path} is a {kind}" for path, kind in sorted(found.items())[:SHOWN])
        raise PathRefused(
            f"the platform has a page or file where Git has none to replace: {names}",
            hint="replace it by a file or a directory and commit, or rename what is there on the platform",
        )


def check_replaced(workspace: Workspace, binding: Binding, commit: str, paths: Iterable[str]) -> None:
    """Given paths of pages and files that a branch has no more, make sure that nothing else has taken their place.

    Raises: FileInvalid: what is hidden by a link was not deleted.
    """
    found = sorted(workspace.repository.obstacles(commit, map(binding.path, paths)).items())
    if found:
        path, kind = found[0]
        raise FileInvalid(
            f"is a {kind}, which syncd does not follow, where the platform has a page or file; nothing was proposed",
            path=path,
            hint="put the file back, or delete the link to delete the page",
        )
