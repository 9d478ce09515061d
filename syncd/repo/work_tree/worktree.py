"""Move a branch and, where it is checked out, the index and the work tree with it; safe to kill at every instruction.

    write down the move          .git/syncd/moving.json
    take the index lock          a hard link of our own file
    work on a private index      a copy; git read-tree checks everything, then updates the files
    put it in place              rename over .git/index
    move the branch              compare-and-set
    release, forget the move

What a kill leaves is told by the note: the branch is where it was, so the next call takes the same way again, and what
it finds done already it lets stand (`healing`); or the branch is where it should be, and only the note is left.
When somebody moved the branch elsewhere meanwhile, what the move has touched is brought to what the branch has now:
what was committed with it stays, all else goes back.

Each work tree of a repository has a git directory with its own HEAD, index, locks and note; all share objects and
branches. So a branch is moved from the work tree that shows it, whichever one a command was started in.
Source: git-worktree(1), DETAILS.
"""

import os
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from syncd.errors import GitFailed, GuardRefused, OperationInProgress, RefMoved, SyncdError, WorkTreeInTheWay
from syncd.fault_points import FaultPoint, reach
from syncd.model.wording import format_first
from syncd.repo.failures import build_failure, translate_system_failures
from syncd.repo.names import check_branch, check_oid
from syncd.repo.process.git import Git
from syncd.repo.process.location import RepositoryLocation, find_repository
from syncd.repo.process.locks import (
    PATIENCE_SECONDS,
    clear_notes,
    has_leftovers,
    lock_index,
    lock_work_tree,
    release_index,
    remove_stale,
)
from syncd.repo.read.objects import Reader
from syncd.repo.read.trees import compare_trees
from syncd.repo.values import Difference
from syncd.repo.work_tree.healing import FileSurvey, MoveStage, build_entry, survey_files
from syncd.repo.work_tree.index import find_overlooked
from syncd.repo.work_tree.moves import Move, delete_note, is_moving, read_note, write_note
from syncd.repo.work_tree.usage import (
    find_showing,
    find_top,
    is_checked_out,
    list_other_git_dirs,
    read_head,
    refuse_elsewhere,
)
from syncd.repo.write import refs

EMPTY_TREE = {
    40: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    64: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
"""The empty tree's id in SHA-1 and SHA-256; git knows it without storing it."""

HEALING_SECONDS = 2.0
"""How long a command that moves nothing itself waits for a process of a killed run to end."""

_IN_THE_WAY = re.compile(
    r"not uptodate|would be overwritten|would lose untracked|would be removed|needs merge|resolve your current index"
)
_NAMED = re.compile(r"(?:Entry|file|Updating) '(.*)' (?:not uptodate|would)")
_SHOWN = 5


class WorkTree:
    """The one place that touches what a person is editing."""

    def __init__(self, git: Git, reader: Reader) -> None:
        self._git, self._reader = git, reader

    @translate_system_failures("moving the work tree")
    def follow(self, branch: str, *, old: str | None, new: str) -> None:
        """Move a branch from `old`, None for an unborn one, to another commit, with the files where it is checked out.

        Shape: whether commits of the branch are lost is for the caller to know.

        Raises: WorkTreeInTheWay, OperationInProgress, RefMoved; then nothing has moved.
        """
        ref = check_branch(branch)
        with lock_work_tree(self._git):
            self._resume_for(branch)
            here = self._reader.resolve_ref(ref)
            if here == new:
                return
            if here != old:
                raise RefMoved(f"{branch} moved while syncd was at work; nothing was changed", hint="run syncd again")
            is_here = is_checked_out(self._git, self._reader, branch)
            refuse_elsewhere(self._git, branch)  # somebody may have gone there since this work tree was chosen
            if is_here:
                self._carry_out(Move(branch, old, check_oid(new), here=old))
            else:
                refs.update_ref(self._git, self._reader, ref, new, old=old)

    @translate_system_failures("filling the work tree")
    def checkout_new(self, branch: str) -> None:
        """Fill the index and files of a fresh work tree from the branch that it is on; one with an index is left alone.

        Raises: WorkTreeInTheWay when a file is there already, with other content.
        """
        ref = check_branch(branch)
        with lock_work_tree(self._git):
            self._resume_for(branch)
            tip = self._reader.resolve_ref(ref)
            if self._index_path().exists() or tip is None or not is_checked_out(self._git, self._reader, branch):
                return
            self._carry_out(Move(branch, None, tip, here=tip, publish=False))

    @translate_system_failures("recovering the work tree")
    def recover(self, remote: str) -> None:
        """Remove stale locks of ours and finish a move that was cut off; the caller holds the repository's run lock.

        Shape: a move that a person's edit or operation is in the way of stays noted; the next move says so.
        """
        remove_stale(self._git, remote)
        with lock_work_tree(self._git), suppress(GuardRefused):
            self._resume()

    def require_movable(self, branch: str) -> None:
        """Refuse a branch that a rebase or the like will move here. Raises: OperationInProgress."""
        is_checked_out(self._git, self._reader, branch)

    def heal(self) -> None:
        """Finish what a run that was killed has begun here, if nobody works on it; nothing when there is nothing.

        Shape: what cannot be finished now stays noted, and the next move says why.
        """
        with suppress(SyncdError), translate_system_failures("finishing a move"):
            if is_moving(self._git.location.git_dir) or has_leftovers(self._git):
                with lock_work_tree(self._git, patience=HEALING_SECONDS):
                    self._resume(patience=HEALING_SECONDS)

    def _resume_for(self, branch: str) -> None:
        """Finish an earlier move; one of another branch may stay unfinished."""
        try:
            self._resume()
        except GuardRefused:
            left = read_note(self._git)
            if left is None or left.branch == branch:
                raise

    def _resume(self, *, patience: float = PATIENCE_SECONDS) -> None:
        """Finish the move that an earlier process was killed in, forwards or backwards."""
        clear_notes(self._git, patience=patience)
        release_index(self._git)
        move = read_note(self._git)
        if move is None:
            return
        here = self._reader.resolve_ref(check_branch(move.branch))
        # The index was in place before the branch moved; and who has gone to another branch has looked at the files.
        if move.is_over(here) or not is_checked_out(self._git, self._reader, move.branch):
            delete_note(self._git)
        else:
            self._carry_out(move if here == move.here else self._plan_return(move, here), resumed=True)

    def _plan_return(self, move: Move, here: str | None) -> Move:
        """The way from where a move was to lead to what the branch has by now of the files that the move has touched.

        Only the tip says what a person has made of them: with the files that the move has written in it, to go back to
        the state before would be to revert them.
        """
        if here is None or move.after is None:
            return move.reverse(here, move.before)
        touched = {change.path for change in self._compare_trees(_choose_tree(move.after, move.before), move.after)}
        since = self._compare_trees(move.after, here)
        entries = {change.path: build_entry(change.after, change) for change in since if change.path in touched}
        return move.reverse(
            here, self._write_settled_tree(move.after, FileSurvey(touched, entries)) if entries else move.after
        )

    def _carry_out(self, move: Move, *, resumed: bool = False) -> None:
        with lock_index(self._git):
            reach(FaultPoint.MOVE_LOCKED)
            # A person may have gone to another branch before the lock was ours.
            if read_head(self._git, self._reader).branch != move.branch:
                raise RefMoved(
                    f"{move.branch} is not checked out any more; nothing was changed", hint="run syncd again"
                )
            write_note(self._git, move)
            reach(FaultPoint.MOVE_NOTED)
            try:
                self._move_files(move, resumed=resumed)
            except GuardRefused:
                if not resumed:
                    delete_note(self._git)
                raise
            except GitFailed:
                if not resumed:  # half of the files have moved: committed, they would delete what was to follow
                    self._go_back(move, self._reader.resolve_ref(check_branch(move.branch)))
                raise
            if move.publish:
                self._move_branch(move)
            reach(FaultPoint.MOVE_BRANCH_DONE)
        delete_note(self._git)

    def _move_branch(self, move: Move) -> None:
        assert move.after is not None
        ref = check_branch(move.branch)
        try:
            refs.update_ref(self._git, self._reader, ref, move.after, old=move.here)
        except SyncdError:
            self._go_back(move, self._reader.resolve_ref(ref))
            raise

    def _go_back(self, move: Move, here: str | None) -> None:
        """Take the files back to what the branch has. What a person has edited since stays; then the note stays too,
        and the next run says what is in the way."""
        with suppress(SyncdError):
            back = self._plan_return(move, here)
            write_note(self._git, back)
            self._move_files(back, resumed=True)
            delete_note(self._git)

    def _move_files(self, move: Move, *, resumed: bool) -> None:
        """Take index and files from one commit to another. Raises: WorkTreeInTheWay, then nothing was touched."""
        private = self._copy_index()
        old, new = (
            _choose_tree(move.before or move.after, move.before),
            _choose_tree(move.after or move.before, move.after),
        )
        environment = {"GIT_INDEX_FILE": str(private)}
        self._refresh(environment)
        changes = self._compare_trees(old, new)
        found = survey_files(self._git, self._reader, changes, environment, way=_find_stage(move, resumed))
        if found.obstacles:
            raise _build_in_the_way(self._git, found.obstacles)
        if found.settled:
            self._git.run("update-index", "-z", "--index-info", data=found.format_index_lines(), extra=environment)
            self._refresh(environment)
            old = self._write_settled_tree(old, found)
        status, _, complaint = self._git.attempt("read-tree", "-m", "-u", old, new, extra=environment)
        if status:
            if _IN_THE_WAY.search(complaint):
                raise _build_in_the_way(self._git, self._find_edited(old, found, complaint, environment))
            raise build_failure("read-tree", status, complaint)
        reach(FaultPoint.MOVE_FILES_DONE)
        with translate_system_failures("putting the index in place"):
            os.replace(private, self._index_path())
            _sync_directory(self._git.location.git_dir)
        reach(FaultPoint.MOVE_INDEX_DONE)

    def _compare_trees(self, before: str, after: str) -> list[Difference]:
        return compare_trees(self._git, self._reader, before, after)

    def _write_settled_tree(self, old: str, found: FileSurvey) -> str:
        """A tree with what is settled in it; where a move starts from it, git sees no difference and no clash there."""
        scratch = self._git.location.make_own_directory() / "settled-index"
        environment = {"GIT_INDEX_FILE": str(scratch)}
        with translate_system_failures("settling files"):
            for left in (scratch, scratch.with_name("settled-index.lock")):
                left.unlink(missing_ok=True)
            self._git.run("read-tree", old, extra=environment)
            self._git.run("update-index", "-z", "--index-info", data=found.format_index_lines(), extra=environment)
            tree = self._git.run("write-tree", extra=environment).decode().strip()
            scratch.unlink(missing_ok=True)
        return tree

    def _refresh(self, environment: Mapping[str, str]) -> None:
        """Let the index know files that were touched and not changed; that others were changed is no failure."""
        self._git.attempt("update-index", "-q", "--ignore-submodules", "--refresh", extra=environment)

    def _find_edited(self, old: str, found: FileSurvey, complaint: str, environment: Mapping[str, str]) -> set[str]:
        """Which of the files that a move would touch hold an edit; git names only the first."""
        options = ("-z", "--name-only", "--no-ext-diff", "--ignore-submodules=all", "--diff-filter=d")
        listed = self._git.run("diff-index", *options, old, "--", extra=environment)
        edited = set(listed.decode("utf-8", "surrogateescape").split("\0")[:-1])
        return (edited & found.paths - found.settled.keys()) | set(_NAMED.findall(complaint))

    def _copy_index(self) -> Path:
        """A copy of the index, with its time: git compares that with a file's to see edits of the same moment."""
        private = self._git.location.make_own_directory() / "index"
        with translate_system_failures("copying the index"):
            for left in (private, private.with_name("index.lock")):
                left.unlink(missing_ok=True)
            if self._index_path().exists():
                shutil.copy2(self._index_path(), private)
        return private

    def _index_path(self) -> Path:
        return self._git.location.git_dir / "index"


@contextmanager
def open_showing(git: Git, reader: Reader, branch: str) -> Iterator[tuple[WorkTree, Path | None]]:
    """Open the work tree that shows a branch, else the own one; with the top of the first where it is another one.

    Shape: what is in the way in another one is told with its place.
    Raises: OperationInProgress, as `find_showing`; WorkTreeInTheWay and OperationInProgress of what is done in it.
    """
    place = find_showing(git, reader, branch)
    if place is None:
        yield WorkTree(git, reader), None
        return
    top = place.work_tree
    with _open_at(place) as tree:
        try:
            yield tree, top
        except WorkTreeInTheWay as refusal:
            raise WorkTreeInTheWay(f"in {top}: {refusal.what}", paths=refusal.paths, hint=refusal.hint) from refusal
        except OperationInProgress as refusal:
            raise OperationInProgress(f"in {top}: {refusal.what}", hint=refusal.hint) from refusal


def heal_others(git: Git) -> None:
    """Finish in the other work trees what a killed run has begun there, as `WorkTree.heal` does in its own."""
    for git_dir in list_other_git_dirs(git):
        top = find_top(git_dir) if is_moving(git_dir) else None
        with suppress(SyncdError), translate_system_failures("finishing a move"):
            place = find_repository(top) if top is not None and top.is_dir() else None
            if place is not None and place.git_dir == git_dir:
                with _open_at(place) as tree:
                    tree.heal()


@contextmanager
def _open_at(place: RepositoryLocation) -> Iterator[WorkTree]:
    """Another work tree of the repository, with processes of its own."""
    git = Git(place)
    git.override_programs()
    reader = Reader(git)
    try:
        yield WorkTree(git, reader)
    finally:
        reader.close()


def _find_stage(move: Move, resumed: bool) -> MoveStage:
    """How the disk is to be read before a move."""
    if not resumed:
        return MoveStage.FRESH
    return MoveStage.ONWARDS if move.publish or move.before is None else MoveStage.BACK


def _choose_tree(sample: str | None, commit: str | None) -> str:
    """A commit, or the empty tree in its place."""
    return commit or EMPTY_TREE[len(sample or "")]


def _build_in_the_way(git: Git, paths: set[str]) -> WorkTreeInTheWay:
    names = tuple(sorted(paths))
    shown = format_first(names, _SHOWN)
    what = f"uncommitted edits are in the way: {shown}" if names else "uncommitted edits are in the way"
    return WorkTreeInTheWay(what, paths=names, hint=_format_way_on(find_overlooked(git, names) if names else {}))


def _format_way_on(overlooked: Mapping[str, str]) -> str:
    """What a person does about files in the way: Git neither stashes nor commits those that it overlooks."""
    flagged = next(((path, option) for path, option in sorted(overlooked.items()) if option), None)
    if flagged is not None:
        return f"git update-index {flagged[1]} {shlex.quote(flagged[0])}, then commit or stash it, and run syncd again"
    if overlooked:
        return "commit them, or move elsewhere what Git does not track, then run syncd again"
    return "commit or stash them, then run syncd again"


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
