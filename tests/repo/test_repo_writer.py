"""A commit is written whole or not at all, and holds no path that a repository must not have."""

import hashlib
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from pathlib import Path

import pytest

from syncd.errors import GitFailed, PathRefused, RefMoved
from syncd.repo.names import check_path
from syncd.repo.repository import Repository
from syncd.repo.values import Blob, Person
from tests.growing import assert_linear, count_calls

Commit = Callable[..., str]
Git = Callable[..., str]
REF = "refs/remotes/platform/main"


def blob_id(body: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(body) + body, usedforsecurity=False).hexdigest()


HOSTILE = [
    "", "../x", "a/../../x", "./x", "a/./b", "/etc/passwd", "a//b", "a/", ".git/config", ".git/hooks/pre-commit",
    ".GIT/config", ".Git/x", "docs/.git/config", ".git", "git~1/config", "GIT~1/config", ".git ", ".git.",
    ".git::$INDEX_ALLOCATION", ".git:x", ".g\u200cit/x", ".git\ufeff", ".\u200fgit", ".git\\config", "a\\b",
    "..\\..\\x", "C:\\x", "C:/x", "\\\\srv\\s", ".gitattributes", "docs/.gitattributes", ".gitmodules", ".gitignore",
    ".mailmap", ".lfsconfig", ".envrc", ".github/workflows/x.yml", "a\nb", "a\rb", "a\tb",
    "\x1b]0;t\x07", "a\x7f", "a\x9b", "a\0b", "a\u202eb",
    "a\ud800", "x" * 300, "/".join(["x" * 200] * 30), ".GitAttributes", ".gitmodules.", "GITATT~1",
]  # fmt: skip
AWKWARD = [
    "-rf", "--upload-pack=x", ":(exclude)x", ":/x", "*.md", "@", "con.md", "a?b", "~/x", "$HOME/x", 'a"b', "..%2fx",
    "．．/x", ".gitbook.yaml", ".gitbook/assets/a b.png", ".gitbook/includes/x.md", "é.md", "e\u0301.md", "x.",
    "日本/語.md",
]  # fmt: skip


def test_what_was_sent_before_a_checkpoint_outlives_a_writer_that_is_dropped(
    repository: Repository, person: Person, git: Git
) -> None:
    bodies = [b"body %d\n" % number for number in range(300)]
    with repository.open_writer(REF, old=None) as writer:
        for body in bodies:
            writer.write_blob(body)
        writer.checkpoint()
        writer.write_blob(b"too late\n")
    oids = [blob_id(body) for body in bodies]
    assert repository.select_present([*oids, blob_id(b"too late\n")]) == set(oids)
    with repository.open_writer(REF, old=None) as writer:
        for number, oid in enumerate(oids):
            writer.put(f"{number}.md", oid)
        commit = writer.commit(message="All\n", author=person, committer=person, parents=[], base=None)
    assert [repository.read(blob.oid) for blob in repository.list_files(commit).values()] == sorted(
        bodies, key=lambda body: f"{int(body[5:])}.md"
    )
    assert git("fsck", "--strict") == ""


def test_the_packs_of_checkpoints_are_joined(repository: Repository, person: Person, git: Git) -> None:
    with repository.open_writer(REF, old=None) as writer:
        for number in range(400):
            writer.put(f"{number}.md", writer.write_blob(b"body %d\n" % number))
            if number % 150 == 149:
                writer.checkpoint()
        commit = writer.commit(message="All\n", author=person, committer=person, parents=[], base=None)
    assert len(repository.list_files(commit)) == 400
    assert "packs: 1\n" in git("count-objects", "-v")
    assert git("fsck", "--strict") == ""


@pytest.mark.parametrize("pieces", [[b"abc"], [b"abc", b"def", b"g"]])
def test_a_file_of_another_length_than_announced_is_never_written(
    repository: Repository, person: Person, pieces: list[bytes]
) -> None:
    with repository.open_writer(REF, old=None) as writer:
        with pytest.raises(GitFailed, match="6 bytes came as"):
            writer.stream(6, pieces)
        with pytest.raises(GitFailed):
            writer.commit(message="All\n", author=person, committer=person, parents=[], base=None)
    assert repository.resolve(REF) is None


def test_a_hostile_path_reaches_no_tree(repository: Repository, base: str) -> None:
    with repository.open_writer(REF, old=None) as writer:
        mark = writer.write_blob(b"x")
        for path in HOSTILE:
            with pytest.raises(PathRefused):
                writer.put(path, mark)
            with pytest.raises(PathRefused):
                writer.remove(path)


def test_awkward_paths_are_written_as_they_are(repository: Repository, commit: Commit, git: Git) -> None:
    oid = commit({check_path(path): path.encode() for path in AWKWARD})
    assert set(repository.list_files(oid)) == set(AWKWARD)
    git("fsck", "--strict", "--no-dangling")


@pytest.mark.parametrize("folders", [1, 60])
def test_a_file_keeps_its_mode(repository: Repository, person: Person, git: Git, folders: int) -> None:
    paths = [f"{number}/{name}" for number in range(folders) for name in ("run", "plain", "link")]
    blobs = {"run": Blob(blob_id(b"run"), "100755"), "link": Blob(blob_id(b"plain"), "120000")}
    tree = repository.write_tree(None, {"0/run": b"run", "0/plain": b"plain"})
    tree = repository.write_tree(
        tree, {path: blobs.get(path.partition("/")[2], Blob(blob_id(b"plain"), "100644")) for path in paths}
    )
    base = repository.commit_tree(tree, parents=[], message="Base\n", author=person, committer=person)
    with repository.open_writer(REF, old=None) as writer:
        mark = writer.write_blob(b"new")
        for number in range(folders):
            writer.put(f"{number}/run", mark)
            writer.put(f"{number}/moved", mark, former=f"{number}/run")
            writer.put(f"{number}/plain", mark)
            writer.put(f"{number}/link", mark)
            writer.put(f"{number}/new", mark, former=f"{number}/missing")
        commit = writer.commit(message="New\n", author=person, committer=person, parents=[base], base=base)
    last = f"{folders - 1}/"
    modes = {path: blob.mode for path, blob in repository.list_files(commit, str(folders - 1)).items()}
    runnable, plain = "100755", "100644"
    assert modes == {"run": runnable, "moved": runnable, "plain": plain, "link": plain, "new": plain}
    again = repository.write_tree(repository.find_tree(commit), {f"{last}run": b"newer", f"{last}other": b"other"})
    found = {path: repository.find_file(again, last + path) for path in ("run", "other", "missing")}
    assert found == {"run": Blob(blob_id(b"newer"), runnable), "other": Blob(blob_id(b"other"), plain), "missing": None}
    assert repository.find_file(again, str(folders - 1)) is None, "a directory is no file"
    assert git("fsck", "--strict", "--no-dangling") == ""


def test_a_thousand_blobs_come_back_byte_for_byte(repository: Repository, person: Person, git: Git) -> None:
    bodies = {f"d{number % 7}/p{number}.md": os.urandom(number * 7 % 4001) for number in range(1000)}
    with repository.open_writer(REF, old=None) as writer:
        for path, body in bodies.items():
            writer.put(path, writer.write_blob(body))
        oid = writer.commit(message="All\n", author=person, committer=person, parents=[], base=None)
    assert repository.resolve(REF) == oid
    assert {path: repository.read(blob.oid) for path, blob in repository.list_files(oid).items()} == bodies
    assert git("fsck", "--strict") == ""
    assert repository.list_refs("refs/syncd/") == {}


def test_a_blob_costs_a_few_steps_of_our_own(repository: Repository) -> None:
    body = b"x" * 100
    with repository.open_writer(REF, old=None) as writer:

        def write(count: int) -> None:
            for number in range(count):
                writer.put(f"d{number % 99}/p{number}.md", writer.write_blob(body))

        write(1_000)  # names of folders are known by then
        assert count_calls(partial(write, 1_000)) / 1_000 < 60
        assert_linear(write, 2_500)


def test_who_when_and_why_are_kept(repository: Repository, git: Git) -> None:
    author = Person(
        "Zoë <b>\nx", "z@e>", datetime(2020, 2, 3, 4, 5, 6, tzinfo=timezone(-timedelta(hours=3, minutes=30)))
    )
    committer = Person("", "", datetime(2021, 1, 1, tzinfo=UTC))
    with repository.open_writer(REF, old=None) as writer:
        message = "Subject\n\ndata 5\n\nSyncd-Space: x\n\n\n"
        oid = writer.commit(message=message, author=author, committer=committer, parents=[], base=None)
    shown = git("show", "--no-patch", "--format=%an|%ae|%ad|%cn|%B", "--date=iso-strict", oid)
    assert shown == "Zoë b x|z@e|2020-02-03T04:05:06-03:30|unknown|Subject\n\ndata 5\n\nSyncd-Space: x\n\n"
    git("fsck", "--strict")


def test_the_tree_starts_from_the_base_not_from_the_first_parent(
    repository: Repository, base: str, commit: Commit, person: Person
) -> None:
    other = commit({"only-here.md": b"x"})
    with repository.open_writer(REF, old=None) as writer:
        writer.put("new.md", writer.write_blob(b"n"))
        oid = writer.commit(message="m\n", author=person, committer=person, parents=[base, other], base=other)
    assert sorted(repository.list_files(oid)) == ["new.md", "only-here.md"]
    assert repository.read_commit(oid).parents == (base, other)


def test_the_start_stands_in_for_a_base(repository: Repository, base: str, person: Person) -> None:
    with repository.open_writer(REF, old=None, start=base) as writer:
        writer.remove("guide/one.md")
        writer.put("notes.md", repository.list_files(base)["README.md"].oid)
        oid = writer.commit(message="m\n", author=person, committer=person, parents=[], base=None)
    assert sorted(repository.list_files(oid)) == ["README.md", "guide/two.md", "notes.md"]
    assert repository.read_commit(oid).parents == ()


def test_a_commit_with_parents_and_no_base_starts_empty(repository: Repository, base: str, person: Person) -> None:
    with repository.open_writer(REF, old=None) as writer:
        writer.put("a.md", writer.write_blob(b""))
        oid = writer.commit(message="m\n", author=person, committer=person, parents=[base], base=None)
    assert list(repository.list_files(oid)) == ["a.md"]


def test_a_file_takes_the_place_of_a_directory(repository: Repository, base: str, commit: Commit) -> None:
    oid = commit({"guide": b"now a file", "guide/one.md": None, "guide/two.md": None}, base)
    assert sorted(repository.list_files(oid)) == ["README.md", "guide", "notes.md"]


def test_a_ref_that_moved_is_left_alone(repository: Repository, base: str, commit: Commit, person: Person) -> None:
    repository.update_ref(REF, base, old=None)
    other = commit({"a.md": b""}, base)
    with repository.open_writer(REF, old=base) as writer:
        repository.update_ref(REF, other, old=base)
        with pytest.raises(RefMoved):
            writer.commit(message="m\n", author=person, committer=person, parents=[base], base=base)
    assert repository.resolve(REF) == other


def _left(top: Path) -> list[str]:
    git_dir = top / ".git"
    return [path.name for path in git_dir.rglob("*") if path.name.startswith(("tmp_", "fast_import_crash"))]


def test_an_abandoned_commit_leaves_nothing(repository: Repository, top: Path) -> None:
    with pytest.raises(KeyboardInterrupt), repository.open_writer(REF, old=None) as writer:  # noqa: PT012
        for number in range(300):
            writer.put(f"{number}.md", writer.write_blob(os.urandom(4000)))
        process = writer._pipe.process if writer._pipe else None
        time.sleep(0.05)
        raise KeyboardInterrupt
    assert process is not None
    assert process.returncode is not None
    assert repository.list_refs("refs/") == {}
    assert _left(top) == []
    with pytest.raises(GitFailed, match="closed"):
        writer.write_blob(b"")


def test_a_blob_that_does_not_exist_fails_the_whole_commit(
    repository: Repository, base: str, person: Person, top: Path
) -> None:
    with repository.open_writer(REF, old=None) as writer:
        writer.put("a.md", "a" * 40)
        with pytest.raises(GitFailed, match="fast-import"):
            writer.commit(message="m\n", author=person, committer=person, parents=[], base=None)
    assert repository.resolve(REF) is None
    assert _left(top) == []


def test_only_marks_and_object_ids_can_be_put(repository: Repository) -> None:
    with repository.open_writer(REF, old=None) as writer:
        writer.write_blob(b"")
        for name in (":0", ":2", ":-1", ":1x", "1", "main", "", ":\u0661"):
            with pytest.raises(GitFailed):
                writer.put("a.md", name)


def test_a_git_that_dies_says_so(repository: Repository, base: str) -> None:
    with repository.open_writer(REF, old=None) as writer:
        assert writer._pipe is not None
        writer._pipe.process.kill()
        with pytest.raises(GitFailed, match="fast-import"):  # noqa: PT012
            for _ in range(100):
                writer.write_blob(b"x" * 100_000)
