"""Find submodules and symbolic links where files of a tree are to be: these are neither followed nor replaced."""

from collections.abc import Iterable

from syncd.repo.names import check_oid, is_plain
from syncd.repo.process.git import Git
from syncd.repo.read.objects import Reader
from syncd.repo.read.trees import TreeWalk
from syncd.repo.values import SUBMODULE, SYMBOLIC_LINK, NeedsGit

_KINDS = {SUBMODULE: "submodule", SYMBOLIC_LINK: "symbolic link"}
_ASKED_MAX = 500
"""Names on one command line; for more, the whole tree is listed."""


def find_obstacles(git: Git, reader: Reader, commit: str, paths: Iterable[str]) -> dict[str, str]:
    """Return each submodule and symbolic link that a commit has at one of the paths, or above it.

    Shape: path to kind, `submodule` or `symbolic link`.
    """
    names = {name for path in paths if is_plain(path) for name in _list_with_parents(path)}
    if not names:
        return {}
    walk = TreeWalk(reader)
    try:
        root = walk.find_root(check_oid(commit))
        found = {name: walk.find(root, name) for name in sorted(names)}
        return {name: _KINDS[entry.mode] for name, entry in found.items() if entry is not None and entry.mode in _KINDS}
    except NeedsGit:
        return _find_by_listing(git, commit, names)


def _find_by_listing(git: Git, commit: str, names: set[str]) -> dict[str, str]:
    few = sorted(names) if len(names) <= _ASKED_MAX else []
    options = ["-z", "--full-tree", *(["-t"] if few else ["-r"])]
    listed = git.run("ls-tree", *options, check_oid(commit), "--", *few).decode("utf-8", "surrogateescape")
    records = (record.split("\t", 1) for record in listed.split("\0")[:-1])
    found = ((path, _KINDS.get(facts.split(" ", 1)[0])) for facts, path in records)
    return {path: kind for path, kind in found if kind is not None and path in names}


def _list_with_parents(path: str) -> Iterable[str]:
    yield path
    while (cut := path.rfind("/")) > 0:
        path = path[:cut]
        yield path
