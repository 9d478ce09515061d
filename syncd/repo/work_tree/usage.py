"""Find out where a branch is checked out, and which operation, such as a rebase, is in progress."""

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from syncd.errors import OperationInProgress
from syncd.repo.failures import build_failure
from syncd.repo.process.git import Git
from syncd.repo.read.objects import Reader
from syncd.repo.values import Head

_HEADS = "refs/heads/"
_NAMES_REF = re.compile(rb"ref: (refs/heads/[^\s]+)\n")
_NAMES_COMMIT = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?\n")
_NOWHERE = b"refs/heads/.invalid"
_SIGNS = {
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "sequencer": "cherry-pick",
    "BISECT_LOG": "bisect",
}


def find_operation(git: Git) -> str | None:
    """Return what is in progress in this work tree: rebase, merge, cherry-pick, revert or bisect; None for nothing."""
    return next((name for sign, name in _SIGNS.items() if (git.location.git_dir / sign).exists()), None)


def read_head(git: Git, reader: Reader) -> Head:
    """Return the branch that is checked out and its commit."""
    target = _read_head_target(git)
    branch = target.removeprefix(_HEADS) if target.startswith(_HEADS) else None
    return Head(branch, reader.resolve_ref("HEAD"))


def _read_head_target(git: Git) -> str:
    """The ref that HEAD stands for, "" when it names a commit.

    Source: gitrepository-layout(5), HEAD; with the reftable format the file says no branch that can be.
    """
    with suppress(OSError):
        head = git.location.git_dir / "HEAD"
        data = b"" if head.is_symlink() else head.read_bytes()
        if _NAMES_COMMIT.fullmatch(data):
            return ""
        if (found := _NAMES_REF.fullmatch(data)) and found[1] != _NOWHERE:
            return found[1].decode("utf-8", "surrogateescape")
    status, output, complaint = git.attempt("symbolic-ref", "--quiet", "HEAD")
    if status not in (0, 1):
        raise build_failure("symbolic-ref", status, complaint)
    return output.decode("utf-8", "surrogateescape").rstrip("\n")


def is_checked_out(git: Git, reader: Reader, branch: str) -> bool:
    """Return whether this work tree has a branch checked out.

    Raises: OperationInProgress when another work tree of the repository has, or when a rebase or the like will move the
    branch here.
    """
    for place in _find_elsewhere(git, branch):
        raise OperationInProgress(f"{branch} is checked out in {place}", hint=f"run syncd in {place}")
    here = git.location.work_tree is not None and read_head(git, reader).branch == branch
    under_way = find_operation(git)
    if under_way and (here or branch in _list_subject_branches(git.location.git_dir)):
        raise OperationInProgress(
            f"{branch} is in the middle of a {under_way}",
            hint=f"finish the {under_way}, or git {under_way} {_find_abort_option(under_way)}",
        )
    return here


def _find_abort_option(name: str) -> str:
    return "reset" if name == "bisect" else "--abort"


def _find_elsewhere(git: Git, branch: str) -> Iterator[str]:
    """The other work trees that show a branch, or in which an operation will move it."""
    place = git.location
    others = _list_children(place.common_dir / "worktrees")
    if not others and not place.is_linked:
        return
    records = git.run("worktree", "list", "--porcelain", "-z").decode("utf-8", "surrogateescape").split("\0\0")
    for number, record in enumerate(filter(None, records)):
        facts = record.split("\0")
        path = facts[0].removeprefix("worktree ")
        # The main work tree comes first.
        own = Path(path).resolve() == place.work_tree if place.is_linked else number == 0
        gone = any(fact.startswith("prunable") for fact in facts)
        if not own and not gone and f"branch {_HEADS}{branch}" in facts:
            yield path
    main = [place.common_dir] if place.is_linked else []
    for git_dir in (*main, *others):
        if git_dir != place.git_dir and branch in _list_subject_branches(git_dir):
            yield str(git_dir)


def _list_subject_branches(git_dir: Path) -> set[str]:
    """The branches that a rebase or bisect in a work tree will come back to."""
    found = set()
    for name in ("rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START"):
        with suppress(OSError):
            found.add((git_dir / name).read_text(encoding="utf-8", errors="replace").strip().removeprefix(_HEADS))
    return found


def _list_children(directory: Path) -> list[Path]:
    with suppress(OSError):
        return sorted(directory.iterdir())
    return []
