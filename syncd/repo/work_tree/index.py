"""What the index and the work tree hold, by path from the root, without changing either."""

from collections.abc import Collection
from pathlib import Path

from syncd.errors import GitFailed
from syncd.repo.process.git import Git
from syncd.repo.values import SUBMODULE, Blob, EditKind


def list_staged(git: Git, file: Path | None = None) -> dict[str, Blob]:
    """Return the files of the index by path; of a path in conflict, our side. Submodules are left out.

    Shape: `file` is another index than the repository's. Source: git-ls-files(1), --stage.
    """
    found: dict[str, Blob] = {}
    extra = {"GIT_INDEX_FILE": str(file)} if file is not None else None
    for record in _split_records(git.run("ls-files", "--stage", "-z", extra=extra)):
        facts, path = record.split("\t", 1)
        mode, oid, stage = facts.split(" ")
        if mode != SUBMODULE and stage in ("0", "2"):
            found[path] = Blob(oid, mode)
    return found


def list_tracked(git: Git) -> list[str]:
    """Return the paths that are tracked, or untracked and not ignored; some may not be on disk.

    Raises: GitFailed in a bare repository.
    """
    if git.location.work_tree is None:
        raise GitFailed(f"{git.location.git_dir} has no work tree", hint="name a commit")
    options = ("--cached", "--others", "--exclude-standard", "--deduplicate", "-z")
    return [path for path in _split_records(git.run("ls-files", *options)) if not path.endswith("/")]


def list_uncommitted(git: Git) -> dict[str, EditKind]:
    """Return the paths that differ from the last commit, staged or not, and those that are not tracked, with how.

    Shape: submodules and what is ignored are left out; of an untracked directory each file is named.
    Source: git-status(1), porcelain format version 1.
    """
    options = ("--porcelain=v1", "-z", "--no-renames", "--ignore-submodules=all", "--untracked-files=all")
    return {record[3:]: _find_kind(record[:2]) for record in _split_records(git.run("status", *options))}


def find_overlooked(git: Git, paths: Collection[str]) -> dict[str, str]:
    """Return, of some paths, those that the index does not have, with "", and those whose edits a person told Git to
    overlook, with the option of git-update-index(1) that ends that.

    Source: git-ls-files(1), -v.
    """
    tags = {record[2:]: record[0] for record in _split_records(git.run("ls-files", "-v", "-z"))}
    options = {path: _find_option(tags[path]) if path in tags else "" for path in paths}
    return {path: option for path, option in options.items() if option is not None}


def _find_option(tag: str) -> str | None:
    if tag in "Ss":
        return "--no-skip-worktree"
    return "--no-assume-unchanged" if tag.islower() else None


def _find_kind(states: str) -> EditKind:
    """What two letters of git-status(1) say; a path that is gone from the index alone is named again as untracked."""
    if "U" in states or states in ("AA", "DD"):
        return "unmerged"
    return "deleted" if "D" in states else "edited"


def _split_records(output: bytes) -> list[str]:
    return output.decode("utf-8", "surrogateescape").split("\0")[:-1]
