"""A branch moves with the files of the work tree that shows it, whichever work tree of the repository is open."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from syncd.errors import OperationInProgress, WorkTreeInTheWay
from syncd.fault_points import FaultPoint
from syncd.repo.repository import Repository
from syncd.repo.values import Person
from tests.stopping import kill, run_until_stopped

Commit = Callable[..., str]
Git = Callable[..., str]

MOVE = [point for point in FaultPoint if point.startswith("move-")]
FAST_FORWARD = """
import sys
from pathlib import Path
from syncd.repo.repository import Repository
with Repository.open(Path.cwd()) as repository:
    repository.fast_forward("side", old=sys.argv[1], new=sys.argv[2])
"""


@pytest.fixture
def later(commit: Commit, base: str) -> str:
    """A commit after base that changes, adds and removes a page."""
    return commit({"guide/one.md": b"# One\n\nmore\n", "guide/new.md": b"# New\n", "guide/two.md": None}, base)


@pytest.fixture
def side(tmp_path: Path, base: str, git: Git) -> Path:
    """A linked work tree that shows the branch `side`; the main one shows `main`."""
    side = tmp_path / "side"
    git("worktree", "add", "--quiet", "-b", "side", str(side), base)
    return side


def killed_at(point: FaultPoint, at: Path, old: str, new: str) -> None:
    """Kill a fast-forward of `side` there that was started at a work tree."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    with run_until_stopped(point, [sys.executable, "-c", FAST_FORWARD, old, new], cwd=at, environ=environ) as process:
        kill(process)


def test_a_branch_moves_with_the_files_of_the_tree_that_shows_it(
    repository: Repository, base: str, later: str, git: Git, side: Path, top: Path
) -> None:
    assert repository.has_linked_trees()
    assert repository.fast_forward("side", old=base, new=later) == side
    assert git("status", "--porcelain", at=side) == "" == git("status", "--porcelain")
    assert (side / "guide/new.md").exists()
    assert git("rev-parse", "HEAD", at=side).strip() == later
    with Repository.open(side) as linked:
        assert linked.git_dir == (top / ".git/worktrees/side").resolve()
        assert linked.fast_forward("main", old=base, new=later) == top
        assert linked.follow("side", old=later, new=base) is None
    assert git("status", "--porcelain", at=side) == "" == git("status", "--porcelain")
    assert (top / "guide/new.md").exists()
    assert not (side / "guide/new.md").exists()


def test_an_edit_in_the_way_in_another_tree_stays_and_is_told_with_its_place(
    repository: Repository, base: str, later: str, git: Git, side: Path
) -> None:
    (side / "guide/one.md").write_text("mine\n")
    (side / "notes.md").write_text("mine too\n")
    with pytest.raises(WorkTreeInTheWay) as raised:
        repository.fast_forward("side", old=base, new=later)
    assert raised.value.what == f"in {side}: uncommitted edits are in the way: guide/one.md"
    assert raised.value.paths == ("guide/one.md",)
    assert repository.resolve("refs/heads/side") == base
    git("checkout", "--quiet", "guide/one.md", at=side)
    repository.fast_forward("side", old=base, new=later)
    assert git("status", "--porcelain", at=side) == " M notes.md\n"
    assert (side / "notes.md").read_text() == "mine too\n"


@pytest.mark.long
@pytest.mark.parametrize("point", MOVE)
@pytest.mark.parametrize("start", ["main", "side"])
@pytest.mark.parametrize("opened", ["main", "side"])
def test_a_move_that_was_killed_is_finished_from_either_tree(
    base: str, later: str, git: Git, side: Path, top: Path, point: FaultPoint, start: str, opened: str
) -> None:
    trees = {"main": top, "side": side}
    killed_at(point, trees[start], base, later)
    Repository.open(trees[opened]).close()
    assert git("status", "--porcelain", at=side) == "" == git("status", "--porcelain")
    assert git("rev-parse", "side").strip() == (base if point == FaultPoint.MOVE_LOCKED else later)
    assert not (top / ".git/worktrees/side/index.lock").exists()
    assert not (top / ".git/worktrees/side/syncd/moving.json").exists()


def test_a_killed_move_does_not_overwrite_what_was_edited_since(
    base: str, later: str, git: Git, side: Path, top: Path
) -> None:
    killed_at(FaultPoint.MOVE_NOTED, top, base, later)
    (side / "guide/one.md").write_text("mine\n")
    with Repository.open(top) as repository:
        repository.recover()
        with pytest.raises(WorkTreeInTheWay, match=r"in .*side: uncommitted edits are in the way: guide/one.md"):
            repository.fast_forward("side", old=base, new=later)
    assert (side / "guide/one.md").read_text() == "mine\n"
    git("checkout", "--quiet", "guide/one.md", at=side)
    Repository.open(top).close()
    assert git("rev-parse", "side").strip() == later
    assert git("status", "--porcelain", at=side) == ""


def test_a_tree_whose_folder_was_removed_holds_no_branch(
    repository: Repository, base: str, later: str, git: Git, side: Path, top: Path
) -> None:
    killed_at(FaultPoint.MOVE_NOTED, top, base, later)
    shutil.rmtree(side)
    repository.recover()
    assert repository.fast_forward("side", old=base, new=later) is None
    assert not repository.is_shown("side")
    repository.follow("side", old=later, new=base)
    assert git("rev-parse", "side").strip() == base
    assert not side.exists()


def test_a_locked_tree_that_is_not_there_keeps_its_branch(
    repository: Repository, base: str, later: str, git: Git, side: Path
) -> None:
    git("worktree", "lock", str(side))
    side.rename(side.with_name("away"))
    with pytest.raises(OperationInProgress, match=f"side is checked out in {side}, which is not there"):
        repository.fast_forward("side", old=base, new=later)
    side.with_name("away").rename(side)
    repository.fast_forward("side", old=base, new=later)
    assert git("status", "--porcelain", at=side) == ""


@pytest.mark.parametrize("pointer", ["gitdir: /nowhere\n", None])
def test_a_tree_that_is_no_tree_of_the_repository_any_more_keeps_its_branch(
    repository: Repository, base: str, later: str, git: Git, side: Path, pointer: str | None
) -> None:
    if pointer is None:
        shutil.rmtree(side)
        git("init", "--quiet", str(side))
    else:
        (side / ".git").write_text(pointer)
    with pytest.raises(OperationInProgress, match="side is checked out in"):
        repository.fast_forward("side", old=base, new=later)
    assert repository.resolve("refs/heads/side") == base


def test_a_branch_that_two_trees_show_moves_in_none(
    repository: Repository, base: str, later: str, git: Git, side: Path, top: Path
) -> None:
    git("checkout", "--quiet", "--ignore-other-worktrees", "main", at=side)
    with pytest.raises(OperationInProgress) as raised:
        repository.fast_forward("main", old=base, new=later)
    assert raised.value.what == f"main is checked out in {top} and in {side}"
    assert git("status", "--porcelain", at=side) == "" == git("status", "--porcelain")
    git("switch", "--quiet", "side", at=side)
    repository.fast_forward("main", old=base, new=later)


def test_a_branch_moves_alone_where_its_tree_is_on_no_branch(
    repository: Repository, base: str, later: str, git: Git, side: Path
) -> None:
    git("switch", "--quiet", "--detach", at=side)
    assert repository.fast_forward("side", old=base, new=later) is None
    assert git("rev-parse", "HEAD", at=side).strip() == base
    assert git("status", "--porcelain", at=side) == ""


def test_a_branch_that_another_work_tree_rebases_stays(
    repository: Repository, base: str, commit: Commit, git: Git, side: Path
) -> None:
    other = commit({"notes.md": b"other\n"}, base)
    (side / "notes.md").write_text("mine\n")
    git("commit", "--quiet", "-a", "-m", "mine", at=side)
    git("rebase", "--quiet", other, at=side, ok=(1,))
    tip = repository.resolve("refs/heads/side")
    assert tip is not None
    with pytest.raises(OperationInProgress, match=f"side is in the middle of a rebase in {side}"):
        repository.require_movable("side")
    later = commit({"x.md": b""}, tip)
    with pytest.raises(OperationInProgress, match=f"side is in the middle of a rebase in {side}"):
        repository.fast_forward("side", old=tip, new=later)
    git("rebase", "--abort", at=side)
    repository.require_movable("side")
    repository.fast_forward("side", old=tip, new=later)


def test_a_branch_that_another_work_tree_merges_stays(
    repository: Repository, base: str, commit: Commit, later: str, git: Git, side: Path
) -> None:
    other = commit({"notes.md": b"other\n"}, base)
    (side / "notes.md").write_text("mine\n")
    git("commit", "--quiet", "-a", "-m", "mine", at=side)
    git("merge", "--quiet", other, at=side, ok=(1,))
    tip = git("rev-parse", "side").strip()
    with pytest.raises(OperationInProgress, match=f"in {side}: side is in the middle of a merge"):
        repository.require_movable("side")
    with pytest.raises(OperationInProgress, match=f"in {side}: side is in the middle of a merge"):
        repository.fast_forward("side", old=tip, new=commit({"x.md": b""}, tip))


def test_a_bare_repository_moves_the_files_of_its_linked_trees(
    tmp_path: Path, base: str, git: Git, top: Path, person: Person
) -> None:
    bare, shown = tmp_path / "bare.git", tmp_path / "shown"
    subprocess.run(["git", "clone", "--quiet", "--bare", str(top), str(bare)], check=True)
    git("worktree", "add", "--quiet", str(shown), "main", at=bare)
    with Repository.open(bare) as repository:
        tree = repository.write_tree(repository.find_tree(base), {"new.md": b"new\n"})
        new = repository.commit_tree(tree, parents=[base], message="m\n", author=person, committer=person)
        assert repository.fast_forward("main", old=base, new=new) == shown
        assert repository.is_shown("main")
    assert (shown / "new.md").read_text() == "new\n"
    assert git("status", "--porcelain", at=shown) == ""
