"""Where a repository is: found as Git finds it, but that a directory which anybody can commit is never one."""

import os
import subprocess
from pathlib import Path

import pytest

from syncd.errors import NotARepository
from syncd.repo.process.location import discover_repository, find_repository


def git(*words: str, at: Path) -> None:
    subprocess.run(["git", *words], cwd=at, check=True, capture_output=True)


def bare_looking(directory: Path) -> Path:
    for name in ("objects", "refs"):
        (directory / name).mkdir(parents=True)
    (directory / "HEAD").write_text("ref: refs/heads/main\n")
    return directory


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    docs.mkdir()
    git("init", "--quiet", at=docs)
    git("commit", "--quiet", "--allow-empty", "--message", "Begin", at=docs)
    return docs


def test_the_nearest_git_directory_is_meant_from_anywhere_in_the_work_tree(docs: Path) -> None:
    inner = docs / "guide" / "deep"
    inner.mkdir(parents=True)
    for start in (docs, inner, docs / ".git", docs / ".git" / "refs" / "heads"):
        place = discover_repository(start)
        assert place is not None
        assert (place.git_dir, place.common_dir, place.work_tree) == (docs / ".git", docs / ".git", docs)


def test_what_looks_like_a_repository_inside_of_a_work_tree_is_none(docs: Path) -> None:
    sub = bare_looking(docs / "sub")
    (sub / "below").mkdir()
    for start in (sub, sub / "below", sub / "objects"):
        place = discover_repository(start)
        assert place is not None
        assert place.work_tree == docs


def test_a_bare_repository_outside_of_any_work_tree_is_found(tmp_path: Path) -> None:
    git("init", "--quiet", "--bare", "docs.git", at=tmp_path)
    for start in (tmp_path / "docs.git", tmp_path / "docs.git" / "refs"):
        place = discover_repository(start)
        assert place is not None
        assert (place.git_dir, place.work_tree) == (tmp_path / "docs.git", None)


def test_an_operator_may_name_a_bare_repository_inside_of_a_work_tree(docs: Path) -> None:
    git("init", "--quiet", "--bare", "inner.git", at=docs)
    assert find_repository(docs / "inner.git").work_tree is None


def test_a_directory_named_git_that_is_no_repository_is_passed_over(docs: Path) -> None:
    (docs / "sub" / ".git").mkdir(parents=True)
    place = discover_repository(docs / "sub")
    assert place is not None
    assert place.work_tree == docs


def test_a_linked_work_tree_shares_the_directory_of_its_repository(docs: Path, tmp_path: Path) -> None:
    git("worktree", "add", "--quiet", "--detach", str(tmp_path / "side"), at=docs)
    place = discover_repository(tmp_path / "side")
    assert place is not None
    assert place.is_linked
    assert (place.common_dir, place.work_tree) == (docs / ".git", tmp_path / "side")


def test_a_git_directory_elsewhere_is_found_by_its_pointer_and_by_a_link(tmp_path: Path) -> None:
    git("init", "--quiet", "--separate-git-dir=apart.git", "tree", at=tmp_path)
    place = discover_repository(tmp_path / "tree")
    assert place is not None
    assert (place.common_dir, place.work_tree) == (tmp_path / "apart.git", tmp_path / "tree")
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / ".git").symlink_to(tmp_path / "apart.git")
    assert discover_repository(tmp_path / "linked") is not None


@pytest.mark.parametrize("pointer", ["gitdir: nowhere\n", "no pointer\n", "", "gitdir:docs/.git\n"])
def test_a_git_file_that_leads_nowhere_is_an_error_and_no_reason_to_look_further_up(docs: Path, pointer: str) -> None:
    (docs / "sub").mkdir()
    (docs / "sub" / ".git").write_text(pointer)
    with pytest.raises(NotARepository, match="leads to no Git repository"):
        discover_repository(docs / "sub")


def test_outside_of_any_repository_there_is_none(tmp_path: Path) -> None:
    assert discover_repository(tmp_path) is None
    (tmp_path / "file").touch()
    for path in (tmp_path, tmp_path / "gone", tmp_path / "file"):
        with pytest.raises(NotARepository, match="is no Git repository") as refused:
            find_repository(path)
        # Who moved a repository away must not be told to begin a new one in its place.
        assert ("git init" in refused.value.hint) == path.exists()


@pytest.mark.parametrize("foreign", [".", ".git"])
def test_a_repository_of_which_a_part_belongs_to_someone_else_is_refused(
    docs: Path, foreign: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Source: git, setup.c, ensure_valid_ownership."""
    if os.geteuid() == 0:
        os.chown(docs / foreign, 12345, -1)
    else:  # nobody else can give a file away
        monkeypatch.setattr(os, "geteuid", lambda: docs.stat().st_uid + 1)
    with pytest.raises(NotARepository, match="belongs to user"):
        find_repository(docs)
