"""What is answered from commits and trees that were read is what git says of them, and no process is started for it."""

import os
import random
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from syncd.errors import GitFailed, NotARepository
from syncd.repo.read import graph as graphs
from syncd.repo.read import trees as listings
from syncd.repo.read.trees import _compare_by_git
from syncd.repo.repository import Repository
from syncd.repo.values import Blob
from tests.repo.conftest import AUTHOR

Git = Callable[..., str]
Commit = Callable[..., str]
TRAILER = "Syncd-Revision"


@contextmanager
def verbs(repository: Repository) -> Iterator[list[str]]:
    """The commands that are run in the block."""
    started: list[str] = []
    start = repository._git.start

    def counted(verb: str, *arguments: str, **options: object) -> object:
        started.append(verb)
        return start(verb, *arguments, **options)  # type: ignore[arg-type]

    repository._git.start = counted  # type: ignore[method-assign, assignment]
    yield started
    repository._git.start = start  # type: ignore[method-assign]


def grow(git: Git, dice: random.Random, count: int) -> list[str]:
    """Write commits with random parents, dates that often stand still or go back, and a trailer now and then."""
    stream, when = [], 1_700_000_000
    for number in range(1, count + 1):
        when += dice.choice((0, 0, 60, 60, 60, -30))
        message = f"Number {number}\n\n{TRAILER}: r{number}\n" if dice.random() < 0.2 else f"Number {number}\n"
        parents = dice.sample(range(max(1, number - 6), number), min(number - 1, dice.choice((0, 1, 1, 1, 1, 2, 3))))
        stream.append(f"commit refs/heads/side\nmark :{number}\ncommitter T <t@e> {when} +0000\n")
        stream.append(f"data {len(message)}\n{message}")
        stream += [f"{'merge' if place else 'from'} :{parent}\n" for place, parent in enumerate(parents)]
        stream.append(f"M 100644 inline f{number}\ndata 0\nget-mark :{number}\n")
        stream.append("reset refs/heads/side\n")
    top = git("rev-parse", "--show-toplevel").strip()
    words = ["git", "-C", top, "fast-import", "--quiet", "--force"]
    done = subprocess.run(words, input="".join(stream).encode(), check=True, capture_output=True)
    return done.stdout.decode().split()


@pytest.mark.parametrize("seed", range(3))
def test_ancestry_is_what_git_says(repository: Repository, git: Git, seed: int) -> None:
    dice = random.Random(seed)
    oids = grow(git, dice, 60)
    for _ in range(40):
        ours, theirs = dice.choices(oids, k=2)
        listed = git("merge-base", "--all", ours, theirs, ok=(0, 1)).split()
        assert repository.find_merge_bases(ours, theirs) == listed
        assert repository.find_merge_base(ours, theirs) == (listed[0] if listed else None)
        assert repository.is_ancestor(ours, theirs) == (ours in git("rev-list", theirs).split())
        limit = dice.choice((1, 2, 5, 1000))
        for hidden in (None, ours):
            names = [theirs, *([f"^{hidden}"] if hidden else [])]
            found = [one.oid for one in repository.list_commits(hidden, theirs, limit=limit)]
            assert found == git("rev-list", f"--max-count={limit}", *names).split()
        sides = repository.find_marked(ours, theirs, TRAILER)
        for side, span in zip(sides, (f"{theirs}..{ours}", f"{ours}..{theirs}"), strict=True):
            assert [one.oid for one in side] == git("rev-list", "--topo-order", f"--grep=^{TRAILER}: ", span).split()


@pytest.mark.parametrize("seed", range(3))
def test_one_process_tells_which_of_many_commits_are_ancestors_of_which(
    repository: Repository, git: Git, seed: int
) -> None:
    dice = random.Random(seed)
    oids = grow(git, dice, 60)
    some = set(dice.sample(oids, 30))
    for hidden in (None, oids[20]):
        with verbs(repository) as started:
            found = repository.find_ancestors(some, exclude=hidden)
        assert started == ["rev-list"]
        old = set(git("rev-list", hidden).split()) if hidden else set()
        for oid in some:
            assert found[oid] == (some & set(git("rev-list", oid).split())) - old - {oid}


def test_small_histories_take_no_process(repository: Repository, git: Git) -> None:
    oids = grow(git, random.Random(7), 80)
    repository.update_ref("refs/remotes/platform/main", oids[-1], old=None)
    with verbs(repository) as started:
        for ours, theirs in pairwise(oids):
            repository.is_ancestor(ours, theirs)
            repository.list_commits(ours, theirs, limit=10)
        repository.find_commit("refs/remotes/platform/main", TRAILER, "none")
    assert started == []


def test_a_long_history_is_walked_by_git(repository: Repository, git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    oids = grow(git, random.Random(3), 60)
    monkeypatch.setattr(graphs, "COMMITS_MAX", 5)
    pairs = list(zip(oids[::7], oids[3::7], strict=False))
    with verbs(repository) as started:
        for ours, theirs in pairs * 3:
            assert repository.is_ancestor(ours, theirs) == (ours in git("rev-list", theirs).split())
            assert (
                repository.find_merge_bases(ours, theirs) == git("merge-base", "--all", ours, theirs, ok=(0, 1)).split()
            )
            sides = repository.find_marked(ours, theirs, TRAILER)
            for side, span in zip(sides, (f"{theirs}..{ours}", f"{ours}..{theirs}"), strict=True):
                assert [o.oid for o in side] == git("rev-list", "--topo-order", f"--grep=^{TRAILER}: ", span).split()
    assert started.count("merge-base") <= 2 * len(pairs)  # what was asked before is not asked again


def test_grafts_and_shallow_ends_are_git_s(repository: Repository, git: Git, top: Path) -> None:
    first, second, third = (git("commit-tree", "-m", str(n), git("mktree", "--missing").strip()).strip() for n in "123")
    (top / ".git/info").mkdir(exist_ok=True)
    (top / ".git/info/grafts").write_text(f"{third} {second}\n{second} {first}\n")
    assert repository.is_ancestor(first, third)
    (top / ".git/info/grafts").unlink()
    with Repository.open(top) as again:
        assert not again.is_ancestor(first, third)


def test_a_commit_that_is_not_there_is_no_ancestor_and_an_error(repository: Repository, base: str) -> None:
    with pytest.raises(GitFailed):
        repository.is_ancestor("a" * 40, base)
    with pytest.raises(GitFailed):
        repository.find_merge_bases(base, "b" * 40)


def scatter(dice: random.Random, blobs: list[str]) -> dict[str, Blob | bytes | None]:
    """Files, links and submodules at random places, some of which are a file here and a directory there."""
    changes: dict[str, Blob | bytes | None] = {}
    for _ in range(dice.randrange(1, 12)):
        parts = [dice.choice(("a", "a-b", "a.md", "b", "é", "z0")) for _ in range(dice.randrange(1, 4))]
        mode = dice.choice(("100644", "100644", "100755", "120000", "160000"))
        if not any("/".join(parts[:n]) in changes for n in range(len(parts))):
            changes["/".join(parts)] = Blob(dice.choice(blobs), mode)
    return {path: blob for path, blob in changes.items() if not any(p.startswith(f"{path}/") for p in changes)}


@pytest.mark.parametrize("reads", [listings.READS_MAX, 0])
def test_trees_are_listed_and_compared_as_git_does(
    repository: Repository, git: Git, base: str, monkeypatch: pytest.MonkeyPatch, reads: int
) -> None:
    monkeypatch.setattr(listings, "READS_MAX", reads)
    dice = random.Random(reads)
    blobs = sorted({blob.oid for blob in repository.list_files(base).values()})
    trees = [repository.write_tree(None, scatter(dice, blobs)) for _ in range(12)]
    for before, after in pairwise(trees):
        for spec in ((), ("a/",), ("a",), ("b", "é/a"), ("a/b/",)):
            for renames in (False, True):
                found = repository.compare_trees(before, after, spec, renames=renames)
                assert found == list(_compare_by_git(repository._git, before, after, spec, renames=renames))
        for directory in ("", "a", "a-b/b", "none"):
            lead = f"{directory}/" if directory else ""
            lines = git("ls-tree", "-rz", "--full-tree", after, *([lead] if lead else [])).split("\0")[:-1]
            facts = [line.replace("\t", " ", 1).split(" ", 3) for line in lines]
            wanted = {path.removeprefix(lead): Blob(oid, mode) for mode, kind, oid, path in facts if kind != "commit"}
            assert repository.list_files(after, directory) == wanted
            assert list(repository.list_files(after, directory)) == list(wanted)


def test_a_great_tree_is_read_by_one_command(repository: Repository, commit: Commit) -> None:
    files = {f"{number % 60}/{number}.md": str(number).encode() for number in range(120)}
    first = commit(files)
    second = commit({"7/7.md": b"new"}, first)
    with verbs(repository) as started:
        assert len(repository.list_files(first)) == 120
        assert repository.list_files(second).keys() == files.keys()
        assert [one.path for one in repository.compare_trees(first, second)] == ["7/7.md"]
        assert len(repository.list_files(second, "7")) == 2
    assert started == ["ls-tree"]


def test_a_tree_that_git_would_not_write_is_read_by_git(repository: Repository, git: Git, top: Path) -> None:
    oid = bytes.fromhex(git("hash-object", "-w", "/dev/null").strip())
    for data in (b"100644 a\0%b100644 a\0%b", b"100644 b\0%b100644 a\0%b", b"100664 a\0%b100664 b\0%b"):
        written = subprocess.run(
            ["git", "-C", str(top), "hash-object", "-w", "-t", "tree", "--literally", "--stdin"],
            input=data % (oid, oid),
            capture_output=True,
            check=True,
        ).stdout.decode()
        listed = git("ls-tree", "-r", written.strip()).splitlines()
        assert set(repository.list_files(written.strip())) == {line.split("\t")[1] for line in listed}
        assert {blob.mode for blob in repository.list_files(written.strip()).values()} == {"100644"}


def test_the_same_is_written_once(repository: Repository, base: str) -> None:
    tree = repository.find_tree(base)
    assert tree is not None
    with verbs(repository) as started:
        for _ in range(3):
            new = repository.write_tree(tree, {"new.md": b"new\n", "notes.md": None})
            repository.commit_tree(new, parents=[base], message="M\n", author=AUTHOR, committer=AUTHOR)
    assert sorted(set(started)) == sorted(started)
    assert set(repository.list_files(new)) == {"README.md", "guide/one.md", "guide/two.md", "new.md"}


def test_head_is_read_in_every_form(repository: Repository, base: str, git: Git, top: Path) -> None:
    with verbs(repository) as started:
        assert repository.read_head().branch == "main"
        git("checkout", "--quiet", "--detach")
        assert (repository.read_head().branch, repository.read_head().oid) == (None, base)
        git("symbolic-ref", "HEAD", "refs/heads/not/yet")
        assert (repository.read_head().branch, repository.read_head().oid) == ("not/yet", None)
        assert started == []
    (top / ".git/HEAD").unlink()
    os.symlink("refs/heads/main", top / ".git/HEAD")
    assert (repository.read_head().branch, repository.read_head().oid) == ("main", base)


def test_a_configuration_is_read_again_once_it_changes(top: Path, repository: Repository, git: Git) -> None:
    git("config", "filter.one.clean", "false")
    with Repository.open(top) as opened:
        assert opened._git._config["filter.one.clean"] == ""
    with Repository.open(top) as opened:
        assert opened._git._config["filter.one.clean"] == ""
    git("config", "filter.two.smudge", "false")
    with Repository.open(top) as opened:
        assert opened._git._config["filter.two.smudge"] == ""
    (top / ".git/more").write_text('[filter "three"]\n\tclean = false\n')
    git("config", "include.path", "more")
    with Repository.open(top) as opened:
        assert opened._git._config["filter.three.clean"] == ""
    (top / ".git/more").write_text('[filter "four"]\n\tclean = false\n')
    with Repository.open(top) as opened:
        assert opened._git._config["filter.four.clean"] == ""


def test_a_directory_that_only_looks_like_a_repository_is_none(top: Path, repository: Repository) -> None:
    (top / ".git/HEAD").write_text("nonsense\n")
    with pytest.raises(NotARepository):
        Repository.open(top)
