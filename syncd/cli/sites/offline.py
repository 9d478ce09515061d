"""Locate the site file for commands that need no platform: the named one, the configured one, or site.yaml."""

import os
from dataclasses import dataclass
from pathlib import Path

import typer

from syncd.cli.terminal.context import list_repositories
from syncd.daemon.labels import build_bindings
from syncd.sync.binding import Binding
from syncd.sync.site.read.site_file import SiteFileTexts, read_work_tree

DEFAULT_FILE = "site.yaml"


@dataclass(frozen=True)
class SiteFileLocation:
    """Where a site file is on disk: the top of its work tree, and its path from there.

    Shape: `bindings` are the spaces that the configuration mirrors into this repository.
    """

    top: Path
    path: str
    bindings: tuple[Binding, ...] = ()

    def read_texts(self) -> SiteFileTexts:
        """Read the site file and the files that it names. Raises: ConfigInvalid, FileInvalid."""
        return read_work_tree(self.top, self.path)


def locate_site_file(config_file: Path | None, file: Path | None, *, option: str = "--file") -> SiteFileLocation:
    """Return where the site file is that `--config` and `--file` select; `option` is the command's name for `--file`.

    Shape: without either it is the configured one, else `site.yaml` at the top of the work tree around the current
    directory. Raises: ConfigInvalid when several are configured, or the named one lies in no directory that exists.
    """
    configured = _list_configured(config_file)
    if file is not None:
        path = Path(os.path.abspath(file))
        known = [(top, spaces) for top, _, spaces in configured if path.is_relative_to(top)]
        top, spaces = known[0] if known else (_find_top(path.parent), ())
        return SiteFileLocation(top, path.relative_to(top).as_posix(), spaces)
    with_site = [(top, name, spaces) for top, name, spaces in configured if name]
    if len(with_site) > 1:
        names = ", ".join(str(top / name) for top, name, _ in with_site)
        raise typer.BadParameter(f"{len(with_site)} sites are configured: {names}; name one with {option}")
    if with_site:
        return SiteFileLocation(*with_site[0])
    top = _find_top(Path.cwd())
    return SiteFileLocation(top, DEFAULT_FILE, next((spaces for known, _, spaces in configured if known == top), ()))


def _list_configured(config_file: Path | None) -> list[tuple[Path, str, tuple[Binding, ...]]]:
    """The top, the site file ("" without one) and the spaces of every repository that the configuration names."""
    found = []
    for repository in list_repositories(config_file):
        file = repository.site.file if repository.site is not None else ""
        found.append((_find_top(repository.path), file, build_bindings(repository)))
    return found


def _find_top(path: Path) -> Path:
    """The top of the work tree around a path, else the path itself."""
    path_here = Path(os.path.abspath(path))
    return next((one for one in (path_here, *path_here.parents) if (one / ".git").exists()), path_here)
