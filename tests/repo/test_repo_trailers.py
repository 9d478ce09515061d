"""A commit is found by its trailer as fast the hundredth time, and as rightly, wherever the ref has moved since."""

import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from syncd.errors import GitFailed
from syncd.repo.repository import Repository
from syncd.repo.values import Person
from tests.repo.conftest import AUTHOR

Git = Callable[..., str]
REF = "refs/remotes/platform/main"
COMMITS, SPACES = 300, 7


def grown(git: Git, start: str, first: int, count: int) -> str:
    """Put commits on `start`, each a mirror of the next space; return the last."""
    stream = []
    for number in range(first, first + count):
        message = f"Mirror {number}\n\nSyncd-Space: s{number % SPACES}\nSyncd-Revision: r{number}\n".encode()
        stream.append(
            b"commit refs/heads/side\ncommitter T <t@e> 1700000000 +0000\ndata %d\n%b" % (len(message), message)
        )
        if number == first and start:
            stream.append(b"from %b\n" % start.encode())
    top = git("rev-parse", "--show-toplevel").strip()
    subprocess.run(["git", "-C", top, "fast-import", "--quiet", "--force"], input=b"\n".join(stream), check=True)
    return git("rev-parse", "refs/heads/side").strip()


def naive(git: Git, tip: str, space: str) -> str | None:
    listed = git("log", "--first-parent", "--format=%H %(trailers:key=Syncd-Space,valueonly,separator=%x2C)", tip)
    return next((line[:40] for line in listed.splitlines() if line[41:] == space), None)


def test_every_tip_is_searched_as_if_it_were_the_first(repository: Repository, git: Git) -> None:
    tip = None
    for first, count in ((0, 1), (1, 3), (4, COMMITS), (COMMITS + 4, 1), (COMMITS + 5, 80)):
        new = grown(git, tip or "", first, count)
        repository.update_ref(REF, new, old=tip)
        tip = new
        for space in ("s0", "s3", "s6", "s99"):
            found = repository.find_commit(REF, "Syncd-Space", space)
            assert (found and found.oid) == naive(git, tip, space)
    back = git("rev-parse", f"{tip}~50").strip()
    repository.update_ref(REF, back, old=tip)
    for space in ("s0", "s5"):
        found = repository.find_commit(REF, "Syncd-Space", space)
        assert (found and found.oid) == naive(git, back, space)


def test_a_hundred_questions_take_a_few_processes(repository: Repository, git: Git) -> None:
    repository.update_ref(REF, grown(git, "", 0, COMMITS), old=None)
    started: list[str] = []
    start = repository._git.start

    def counted(verb: str, *arguments: str, **options: object) -> object:
        started.append(verb)
        return start(verb, *arguments, **options)  # type: ignore[arg-type]

    repository._git.start = counted  # type: ignore[method-assign, assignment]
    for number in range(100):
        assert (repository.find_commit(REF, "Syncd-Space", f"s{number}") is None) == (number >= SPACES)
    assert started.count("rev-list") <= 5


def test_own_refs_are_listed_anew_once_one_has_moved(repository: Repository, base: str, person: Person) -> None:
    assert repository.list_refs("refs/syncd/proposed/docs/") == {}
    repository.update_ref("refs/syncd/proposed/docs/1/main", base, old=None)
    repository.update_ref("refs/syncd/proposed/docs-2/1/main", base, old=None)
    assert repository.list_refs("refs/syncd/proposed/docs/") == {"refs/syncd/proposed/docs/1/main": base}
    assert repository.list_refs("refs/syncd/proposed/docs") == {"refs/syncd/proposed/docs/1/main": base}
    lock = repository.write_files("refs/syncd/site/1", {"a": b"b"}, "Lock\n")
    assert repository.list_refs("refs/syncd/site/") == {"refs/syncd/site/1": lock}
    repository.delete_ref("refs/syncd/proposed/docs/1/main", old=base)
    assert repository.list_refs("refs/syncd/proposed/docs/") == {}


def test_both_sides_and_all_ancestors_are_searched(
    repository: Repository, git: Git, commit: Callable[..., str]
) -> None:
    base = commit({"a.md": b"a\n"}, message="Mirror\n\nSyncd-Space: s1\n")
    long = commit({"a.md": b"b\n"}, base, message=f"{'word ' * 200_000}\n\nSyncd-Space: s1\n")
    quoted = commit({"a.md": b"c\n"}, long, message="Subject\n\nSyncd-Space: s1\n\nis only quoted here\n")
    other = commit({"b.md": b"b\n"}, base, message="Mirror\n\nSyncd-Space: s2\n")
    left, right = repository.find_marked(quoted, other, "Syncd-Space")
    assert [one.oid for one in left] == [long]
    assert [one.oid for one in right] == [other]
    merge = repository.commit_tree(
        git("rev-parse", f"{quoted}^{{tree}}").strip(),
        parents=[quoted, other],
        message="Merge\n",
        author=AUTHOR,
        committer=AUTHOR,
    )
    assert [one.oid for one in repository.find_carrying(merge, "Syncd-Space", "s1", committer="Ada")] == [long, base]
    assert next(repository.find_carrying(merge, "Syncd-Space", "s2", committer="<ada@example.com>")).oid == other
    assert list(repository.find_carrying(merge, "Syncd-Space", "s1", committer="Charles")) == []


def test_a_commit_that_is_missing_is_an_error_and_no_end(repository: Repository, commit: Callable[..., str]) -> None:
    first = commit({"a.md": b"a\n"}, message="Mirror\n\nSyncd-Space: s1\n")
    second = commit({"a.md": b"b\n"}, first, message="Mirror\n\nSyncd-Space: s1\n")
    repository.close()
    (repository.git_dir / "objects" / first[:2] / first[2:]).unlink()
    with pytest.raises(GitFailed):
        list(repository.find_carrying(second, "Syncd-Space", "s1", committer=""))


def test_what_imports_overwrote_and_all_own_refs_are_listed_once(repository: Repository, base: str) -> None:
    started: list[str] = []
    start = repository._git.run

    def counted(verb: str, *arguments: Any, **options: Any) -> Any:
        started.append(verb)
        return start(verb, *arguments, **options)

    repository._git.run = counted  # type: ignore[method-assign]
    prefix = "refs/remotes/platform/overwritten"
    for number in range(10):
        assert repository.list_refs(f"{prefix}/space{number}/") == {}
        assert repository.list_refs(f"refs/syncd/proposed/space{number}/") == {}
    assert started == ["for-each-ref"]
    repository.update_ref(f"{prefix}/space1/1", base, old=None)
    assert repository.list_refs(f"{prefix}/space1/") == {f"{prefix}/space1/1": base}
    assert started.count("for-each-ref") == 1
    repository.close()
    with Repository.open(repository.git_dir) as again:
        again.update_ref("refs/syncd/proposed/space1/1", base, old=None)
        assert again.list_refs(f"{prefix}/space1/") == {f"{prefix}/space1/1": base}
        assert again.list_refs("refs/syncd/proposed/") == {"refs/syncd/proposed/space1/1": base}
