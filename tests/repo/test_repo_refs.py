"""Refs move by compare-and-set, and only under names that git takes."""

from collections.abc import Callable
from pathlib import Path

import pytest

from syncd.errors import GitFailed, PathRefused, RefMoved
from syncd.repo.repository import Repository

Commit = Callable[..., str]
REF = "refs/remotes/platform/main"


def test_a_ref_is_made_moved_and_removed(repository: Repository, commit: Commit, base: str) -> None:
    later = commit({"a.md": b"a"}, base)
    assert repository.resolve(REF) is None
    repository.update_ref(REF, base, old=None)
    repository.update_ref(REF, later, old=base)
    assert repository.resolve(REF) == later
    repository.delete_ref(REF, old=later)
    assert repository.resolve(REF) is None


def test_a_ref_is_set_whatever_it_names(repository: Repository, commit: Commit, base: str) -> None:
    later = commit({"a.md": b"a"}, base)
    former = [repository.set_ref(REF, new) for new in (None, base, base, later, None)]
    assert former == [None, None, base, base, later]
    assert repository.resolve(REF) is None


def test_a_ref_that_moved_stays_where_it_is(repository: Repository, commit: Commit, base: str) -> None:
    later = commit({"a.md": b"a"}, base)
    repository.update_ref(REF, later, old=None)
    for old in (None, base):
        with pytest.raises(RefMoved):
            repository.update_ref(REF, base, old=old)
    with pytest.raises(RefMoved):
        repository.delete_ref(REF, old=base)
    assert repository.resolve(REF) == later


def test_a_ref_moves_after_another_could_not(
    repository: Repository, commit: Commit, git: Callable[..., str], base: str
) -> None:
    """One process of Git moves them all, and ends at the first that it cannot move."""
    later = commit({"a.md": b"a"}, base)
    repository.update_ref(REF, base, old=None)
    with pytest.raises(RefMoved):
        repository.update_ref(REF, later, old=later)
    git("update-ref", REF, later)
    git("pack-refs", "--all")  # somebody else's Git, while the process runs
    repository.update_ref(REF, base, old=later)
    git("pack-refs", "--all")
    git("update-ref", REF, later)
    with pytest.raises(RefMoved):
        repository.update_ref(REF, later, old=base)
    repository.update_ref(REF, base, old=later)
    assert repository.resolve(REF) == base
    assert "syncd" in git("reflog", "show", REF)


def test_refs_are_listed_below_a_prefix(repository: Repository, base: str) -> None:
    for name in ("refs/syncd/proposed/guides/1", "refs/syncd/proposed/guides/2", "refs/syncd/proposed/guides-old/3"):
        repository.update_ref(name, base, old=None)
    found = repository.list_refs("refs/syncd/proposed/guides/")
    assert found == {"refs/syncd/proposed/guides/1": base, "refs/syncd/proposed/guides/2": base}
    assert repository.list_refs("refs/syncd/nothing/") == {}
    assert REF not in repository.list_refs("refs/")


def test_a_hostile_ref_name_is_refused(repository: Repository, base: str) -> None:
    names = "main|refs/|refs/heads/../x|refs/heads/a b|refs/heads/.x|refs/heads/x.lock|refs/heads/x@{1}|refs/heads/x\n"
    for name in (
        *names.split("|"),
        "refs/heads/*",
        "refs//x",
        "refs/heads/x/",
        "--stdin",
        "refs/heads/\x9bx",
        "refs/heads/\udce9",
    ):
        with pytest.raises(PathRefused):
            repository.update_ref(name, base, old=None)
        with pytest.raises(PathRefused):
            repository.resolve(name)


def test_what_is_no_object_id_is_refused(repository: Repository, base: str) -> None:
    for oid in ("", "main", "--help", "0" * 39, "G" * 40, "a" * 40 + "\n"):
        with pytest.raises(GitFailed):
            repository.update_ref(REF, oid, old=None)
        with pytest.raises(GitFailed):
            repository.read(oid)


def test_a_ref_cannot_name_what_is_missing(repository: Repository, base: str) -> None:
    with pytest.raises(GitFailed):
        repository.update_ref(REF, "a" * 40, old=None)


def test_a_lock_that_another_git_holds_is_named(repository: Repository, commit: Commit, base: str, top: Path) -> None:
    later = commit({"a.md": b"a"}, base)
    lock = top / ".git/refs/heads/main.lock"
    lock.touch()
    with pytest.raises(GitFailed) as raised:
        repository.update_ref("refs/heads/main", later, old=base)
    assert str(lock) in raised.value.hint
    assert lock.exists()


def test_head_tells_branch_and_commit(repository: Repository, git: Callable[..., str], base: str) -> None:
    assert (repository.read_head().branch, repository.read_head().oid) == ("main", base)
    git("checkout", "--quiet", "--detach")
    assert (repository.read_head().branch, repository.read_head().oid) == (None, base)


def test_an_empty_repository_has_a_branch_without_a_commit(repository: Repository) -> None:
    head = repository.read_head()
    assert (head.branch, head.oid) == ("main", None)
    assert repository.list_refs("refs/") == {}
    assert repository.find_commit("refs/heads/main", "Syncd-Space", "x") is None


def test_an_anchor_holds_exactly_its_files(repository: Repository) -> None:
    first = repository.write_files("refs/syncd/site/a", {"lock.json": b"{}", "old.json": b"1"}, "Own nothing\n")
    second = repository.write_files("refs/syncd/site/a", {"lock.json": b"[]"}, "Own less\n")
    assert repository.list_commits(first, second, limit=9)[0].parents == (first,)
    assert list(repository.list_files(second)) == ["lock.json"]
    with pytest.raises(PathRefused):
        repository.write_files("refs/heads/main", {}, "no\n")
