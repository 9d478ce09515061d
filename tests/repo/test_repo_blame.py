"""Whose lines these are: asked of Git, and of nothing that a repository's configuration names."""

from collections.abc import Callable
from pathlib import Path

import pytest

from syncd.repo.repository import Repository

Git = Callable[..., str]


@pytest.fixture
def history(top: Path, git: Git) -> dict[str, str]:
    """A page that was written, moved and changed, by commit."""
    git("init", "--quiet", "--initial-branch=main", str(top), at=top.parent)
    found = {}
    for name, path, text in (
        ("written", "page.md", "one\nthe 2nd line\nthree\n"),
        ("changed", "page.md", "one\nthe second line\nthree\n"),
        ("added", "page.md", "one\nthe second line\nthree\nfour\n"),
    ):
        (top / path).write_text(text)
        git("add", "--all")
        git("commit", "--quiet", "--message", name)
        found[name] = git("rev-parse", "HEAD").strip()
    git("mv", "page.md", "moved.md")
    git("commit", "--quiet", "--message", "moved")
    return found | {"moved": git("rev-parse", "HEAD").strip()}


def test_each_line_has_the_commit_that_wrote_it(top: Path, history: dict[str, str]) -> None:
    with Repository.open(top) as repository:
        lines = repository.find_line_commits(history["moved"], "moved.md", [(0, 2), (3, 4)], exclude=[])
        assert lines == {0: history["written"], 1: history["changed"], 3: history["added"]}


def test_lines_that_excluded_commits_have_are_nobody_s(top: Path, history: dict[str, str]) -> None:
    with Repository.open(top) as repository:
        lines = repository.find_line_commits(history["moved"], "moved.md", [(0, 4)], exclude=[history["changed"]])
        assert lines == {3: history["added"]}
        assert repository.find_line_commits(history["moved"], "moved.md", [(2, 2)], exclude=[]) == {}
        assert repository.find_line_commits(history["moved"], "gone.md", [(0, 1)], exclude=[]) == {}


def test_the_last_change_of_a_path_is_its_removal_too(top: Path, history: dict[str, str]) -> None:
    with Repository.open(top) as repository:
        assert repository.find_last_change(history["moved"], "page.md", exclude=[]) == history["moved"]
        assert (
            repository.find_last_change(history["added"], "page.md", exclude=[history["changed"]]) == history["added"]
        )
        assert repository.find_last_change(history["added"], "page.md", exclude=[history["added"]]) == ""


def test_no_program_and_no_file_is_heeded_that_the_repository_names(
    top: Path, git: Git, history: dict[str, str], tmp_path: Path
) -> None:
    (top / ".gitattributes").write_text("*.md diff=odd\n")
    git("config", "diff.odd.textconv", f"touch {tmp_path}/ran; cat")
    git("config", "blame.ignoreRevsFile", str(tmp_path / "ignored"))
    (tmp_path / "ignored").write_text(history["changed"] + "\n")
    with Repository.open(top) as repository:
        lines = repository.find_line_commits(history["moved"], "moved.md", [(1, 2)], exclude=[])
    assert lines == {1: history["changed"]}
    assert not (tmp_path / "ran").exists()


def test_files_have_the_time_at_which_they_arrived_on_the_line_of_a_branch(
    top: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    def commit(hour: int, name: str, *arguments: str) -> str:
        monkeypatch.setenv("GIT_COMMITTER_DATE", f"2026-01-02T{hour:02}:00:00+00:00")
        git("add", "--all")
        git(*(arguments or ("commit", "--quiet", "--message", name)))
        return git("rev-parse", "HEAD").strip()

    git("init", "--quiet", "--initial-branch=main", str(top), at=top.parent)
    odd = "b" * 40
    for path in ("a.md", odd, "c d\n.md"):
        (top / path).write_text("one\n")
    first = commit(1, "first")
    git("switch", "--quiet", "--create", "side")
    (top / odd).write_text("two\n")
    side = commit(2, "side")
    git("switch", "--quiet", "main")
    (top / "a.md").write_text("two\n")
    second = commit(3, "second")
    merged = commit(4, "", "merge", "--quiet", "--no-edit", "side")
    paths, start = ["a.md", odd, "c d\n.md", "none.md"], 1767315600  # the first hour of that day
    whole = {"a.md": start + 7200, odd: start + 10800, "c d\n.md": start}
    with Repository.open(top) as repository:
        assert repository.find_change_times(merged, paths, since=None) == whole
        later = repository.find_change_times(merged, paths, since=second)
        assert later == {odd: whole[odd]}
        assert repository.find_change_times(merged, paths, since=merged) == {}
        assert repository.find_change_times(merged, paths, since=side) is None
        assert repository.find_change_times(first, paths, since=second) is None
        assert repository.find_change_times(merged, paths, since="0" * 40) is None
    shallow = top.parent / "shallow"
    git("clone", "--quiet", "--depth=2", f"file://{top}", str(shallow), at=top.parent)
    with Repository.open(shallow) as repository:
        assert repository.find_change_times(merged, paths, since=None) == {odd: whole[odd]}


@pytest.mark.parametrize("stamp", ["", "x", "-5", "1" * 5000], ids=["empty", "word", "negative", "endless"])
def test_a_commit_whose_time_is_none_is_of_1970_as_git_says(top: Path, git: Git, stamp: str) -> None:
    git("init", "--quiet", "--initial-branch=main", str(top), at=top.parent)
    (top / "a.md").write_text("one\n")
    git("add", "--all")
    people = "".join(f"{role} A <a@b.example> {stamp} +0000\n" for role in ("author", "committer"))
    (top.parent / "commit").write_text(f"tree {git('write-tree').strip()}\n{people}\nOne\n")
    oid = git("hash-object", "-t", "commit", "-w", "--literally", str(top.parent / "commit")).strip()
    with Repository.open(top) as repository:
        assert repository.read_commit(oid).recorded == 0
        assert repository.find_change_times(oid, ["a.md"], since=None) == {"a.md": 0}
        assert [commit.oid for commit in repository.list_commits(None, oid, limit=9)] == [oid]
