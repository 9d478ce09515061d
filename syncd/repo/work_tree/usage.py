"""Find out where a branch is checked out, and which operation, such as a rebase, is in progress."""

import os
import re
from contextlib import suppress
from pathlib import Path

from syncd.errors import NotARepository, OperationInProgress
from syncd.repo.failures import build_failure
from syncd.repo.process.git import Git
from syncd.repo.process.location import RepositoryLocation, find_repository
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
    return _find_operation_in(git.location.git_dir)


def _find_operation_in(git_dir: Path) -> str | None:
    return next((name for sign, name in _SIGNS.items() if (git_dir / sign).exists()), None)


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

    Raises: OperationInProgress when a rebase or the like will move the branch here.
    """
    here = git.location.work_tree is not None and read_head(git, reader).branch == branch
    under_way = find_operation(git)
    if under_way and (here or branch in _list_subject_branches(git.location.git_dir)):
        raise _build_under_way(branch, under_way)
    return here


def find_showing(git: Git, reader: Reader, branch: str) -> RepositoryLocation | None:
    """Return where another work tree is that shows a branch; None where this one does, or none.

    Raises: OperationInProgress when two show it, when the one that does cannot be used, or when a rebase or the like
    will come back to the branch.
    """
    shown = list_elsewhere(git, branch)
    is_here = is_checked_out(git, reader, branch)
    _refuse_operations_elsewhere(git, branch)
    if len(shown) + is_here > 1:
        places = [*([git.location.work_tree] if is_here else []), *shown]
        raise OperationInProgress(
            f"{branch} is checked out in {' and in '.join(map(str, places))}",
            hint=f"git switch to another branch in all of them but one; {branch} can move with the files of one only",
        )
    return _locate_shown(git, branch, shown[0]) if shown else None


def _locate_shown(git: Git, branch: str, top: Path) -> RepositoryLocation:
    """Where a work tree is that shows a branch. Raises: OperationInProgress when nobody can work in it."""
    told = f"{branch} is checked out in {top}"
    if not top.is_dir():  # and locked, on a disk that comes and goes: else Git would call it prunable
        hint = f"bring it back, or git worktree unlock {top}, then git worktree prune"
        raise OperationInProgress(f"{told}, which is not there", hint=hint)
    try:
        place = find_repository(top)
    except NotARepository as error:
        raise OperationInProgress(f"{told}, which cannot be used: {error.what}", hint=error.hint) from error
    if place.common_dir != git.location.common_dir or place.work_tree is None:
        raise OperationInProgress(f"{told}, which is no work tree of this repository", hint="git worktree repair")
    return place


def refuse_elsewhere(git: Git, branch: str) -> None:
    """Refuse to move a branch from here that another work tree shows, or will come back to after a rebase or the like.

    Raises: OperationInProgress.
    """
    for shown in list_elsewhere(git, branch):
        raise OperationInProgress(f"{branch} is checked out in {shown}", hint="run syncd again")
    _refuse_operations_elsewhere(git, branch)


def _refuse_operations_elsewhere(git: Git, branch: str) -> None:
    """Refuse to move a branch that a rebase or the like in another work tree will come back to.

    Raises: OperationInProgress.
    """
    for git_dir in list_other_git_dirs(git):
        if branch in _list_subject_branches(git_dir):
            under_way = _find_operation_in(git_dir) or "rebase"
            raise _build_under_way(branch, under_way, f" in {find_top(git_dir) or git_dir}")


def _build_under_way(branch: str, under_way: str, where: str = "") -> OperationInProgress:
    return OperationInProgress(
        f"{branch} is in the middle of a {under_way}{where}",
        hint=f"finish the {under_way}, or {format_abort(under_way)}",
    )


def format_abort(operation: str) -> str:
    """Return the command that ends a rebase, merge, cherry-pick, revert or bisect without finishing it."""
    return f"git {operation} {'reset' if operation == 'bisect' else '--abort'}"


def list_elsewhere(git: Git, branch: str) -> list[Path]:
    """Return the tops of the other work trees that show a branch; one whose folder was removed shows nothing."""
    place = git.location
    if not list_other_git_dirs(git):
        return []
    found = []
    records = git.run("worktree", "list", "--porcelain", "-z").decode("utf-8", "surrogateescape").split("\0\0")
    for number, record in enumerate(filter(None, records)):
        facts = record.split("\0")
        path = Path(facts[0].removeprefix("worktree "))
        # The main work tree comes first.
        own = path.resolve() == place.work_tree if place.is_linked else number == 0
        gone = any(fact.startswith("prunable") for fact in facts)
        if not own and not gone and f"branch {_HEADS}{branch}" in facts:
            found.append(path)
    return found


def list_other_git_dirs(git: Git) -> list[Path]:
    """Return the git directories of the repository's other work trees, the main one first, whether these are there
    or not.
    """
    place = git.location
    known = [place.common_dir, *_list_children(place.common_dir / "worktrees")]
    return [git_dir for git_dir in known if git_dir != place.git_dir]


def find_top(git_dir: Path) -> Path | None:
    """Return the top of the work tree that a git directory is of, as far as its files say; None for a bare one.

    Source: gitrepository-layout(5), worktrees/<id>/gitdir.
    """
    with suppress(OSError):
        return Path(os.fsdecode((git_dir / "gitdir").read_bytes()).rstrip("\r\n")).parent
    return git_dir.parent if git_dir.name == ".git" else None


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
