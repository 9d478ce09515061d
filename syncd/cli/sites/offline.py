"""Which site file a command means that needs no platform: the one that is named, configured, or usual."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from syncd.cli.terminal.context import repositories
from syncd.sync.site.read.site_file import Source, in_work_tree

if TYPE_CHECKING:
    from syncd.sync.workspace import Binding

USUAL = "site.yaml"


@dataclass(frozen=True)
class Place:
    """A site file on disk: the top of the work tree that it lies in, and its path from there.

    Shape: `bindings` are the spaces that the configuration mirrors into this repository.
    """

    top: Path
    path: str
    bindings: "tuple[Binding, ...]" = ()

    def source(self) -> Source:
        """Return the texts on disk. Raises: ConfigInvalid, FileInvalid."""
        return in_work_tree(self.top, self.path)


def place_of(config_file: Path | None, file: Path | None, *, option: str = "--file") -> Place:
    """Given `--config` and `--file`, or what the command calls that option, return where the site file is.

    Shape: without either it is the configured one, else `site.yaml` at the top of the work tree around the current
    directory. Raises: ConfigInvalid when several are configured, or the named one lies in no directory that exists.
    """
    configured = _configured(config_file)
    if file is not None:
        path = Path(os.path.abspath(file))
        known = [(top, spaces) for top, _, spaces in configured if path.is_relative_to(top)]
        top, spaces = known[0] if known else (_top(path.parent), ())
        return Place(top, path.relative_to(top).as_posix(), spaces)
    sited = [(top, name, spaces) for top, name, spaces in configured if name]
    if len(sited) > 1:
        names = ", ".join(str(top / name) for top, name, _ in sited)
        raise typer.BadParameter(f"{len(sited)} sites are configured: {names}; name one with {option}")
    if sited:
        return Place(*sited[0])
    top = _top(Path.cwd())
    return Place(top, USUAL, next((spaces for known, _, spaces in configured if known == top), ()))


def _configured(given: Path | None) -> "list[tuple[Path, str, tuple[Binding, ...]]]":
    """The top, the site file ("" without one) and the spaces of every repository that the configuration names."""
    configured = repositories(given)
    if not configured:
        return []
    from syncd.sync.workspace import Binding  # heavy, and of no use without a configuration

    found = []
    for repository in configured:
        spaces = tuple(Binding(space.id, space.directory, space.name) for space in repository.space)
        found.append((_top(repository.path), repository.site.file if repository.site is not None else "", spaces))
    return found


def _top(path: Path) -> Path:
    """The top of the work tree around a path, else the path itself."""
    here = Path(os.path.abspath(path))
    return next((one for one in (here, *here.parents) if (one / ".git").exists()), here)
