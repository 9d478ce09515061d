"""Build beside what is published, and exchange the two at once: readers see the one site or the other."""

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from syncd.errors import ConfigInvalid
from syncd.layout.tree.built_sites import MANIFEST
from syncd.sync.publish.output import BuildSummary, make_directory_for_all, open_output, read_manifest

_SLOTS = ("a", "b")
"""The names of the two builds: one is published, the other is the former one, or is being built."""
_LINK = "link"


def build_atomically(link: Path, build: Callable[[Path], BuildSummary]) -> BuildSummary:
    """Build a site by `build` into a directory, and make `link` a symbolic link to that once it is whole.

    Shape: the builds lie beside the link, in a directory named like it that ends in `.builds`. Files that did not
    change are the same files in both. A build that comes to the same leaves the link where it was.
    Raises: AnotherRuns, ConfigInvalid, PathRefused; OSError.
    """
    builds = _locate_builds(link)
    with open_output(builds, (*_SLOTS, _LINK)):
        _adopt_directory(link, builds)
        current = _find_current(link, builds)
        following = builds / _SLOTS[1 if current is not None and current.name == _SLOTS[0] else 0]
        # What a build that was stopped left there, or the site before the present one.
        _remove_tree(following)
        if current is not None:
            _copy_links(current, following)
        summary = build(following)
        if current is None or summary.has_changed:
            _exchange(link, following)
    return summary


def check_target(link: Path) -> None:
    """Check that a site can be exchanged at a path, as far as what is there now says. Raises: ConfigInvalid."""
    _find_current(link, _locate_builds(link))
    if not link.is_symlink() and link.exists():
        _refuse_others(link)


def _refuse_others(link: Path) -> None:
    """Refuse what is at the place of the link, and is neither empty nor a site that syncd built."""
    if not link.is_dir() or (not (link / MANIFEST).is_file() and any(link.iterdir())):
        raise ConfigInvalid(f"{link} is there, and syncd did not make it", hint="name another directory, or move it")


def _locate_builds(link: Path) -> Path:
    return link.with_name(f"{link.name}.builds")


def _find_current(link: Path, builds: Path) -> Path | None:
    """The build that is published; None for none. Raises: ConfigInvalid when the link is not ours."""
    if not link.is_symlink():
        return None
    target = Path(os.path.abspath(link.parent / os.readlink(link)))
    if target.parent != Path(os.path.abspath(builds)) or target.name not in _SLOTS:
        raise ConfigInvalid(f"{link} leads to {target}, which syncd did not build", hint="name another directory")
    return target if target.is_dir() else None


def _adopt_directory(link: Path, builds: Path) -> None:
    """Move a directory that syncd built, or that is empty, to where builds are: from then on a link is there."""
    if link.is_symlink() or not link.exists():
        return
    _refuse_others(link)
    for slot in _SLOTS:
        _remove_tree(builds / slot)
    os.replace(link, builds / _SLOTS[0])
    _exchange(link, builds / _SLOTS[0])


def _copy_links(current: Path, following: Path) -> None:
    """Make the files of a build appear in another one, too: they are never changed in place, only replaced."""
    make_directory_for_all(following)
    for path in (*read_manifest(current).files, MANIFEST):
        with suppress(OSError):
            _make_parents(following, path)
            os.link(current / path, following / path, follow_symlinks=False)


def _make_parents(top: Path, path: str) -> None:
    above = path.rpartition("/")[0]
    if above and not (top / above).is_dir():
        _make_parents(top, above)
        make_directory_for_all(top / above)


def _exchange(link: Path, target: Path) -> None:
    aside = target.parent / _LINK
    aside.unlink(missing_ok=True)
    aside.symlink_to(os.path.relpath(target, link.parent))
    os.replace(aside, link)


def _remove_tree(path: Path) -> None:
    if path.is_symlink():
        path.unlink()
    elif path.exists():
        shutil.rmtree(path)
