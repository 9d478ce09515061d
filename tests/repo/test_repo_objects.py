"""What is read from a repository is what git wrote there."""

import signal
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from threading import Thread

import pytest

from syncd.errors import GitFailed, NotARepository, PathRefused, Stopped
from syncd.repo.read.objects import parse_commit, parse_trailers
from syncd.repo.repository import Repository
from syncd.repo.values import FileChange, Person

Commit = Callable[..., str]
Git = Callable[..., str]


def test_a_tree_is_listed_below_a_directory(repository: Repository, base: str) -> None:
    assert sorted(repository.list_files(base)) == ["README.md", "guide/one.md", "guide/two.md", "notes.md"]
    assert sorted(repository.list_files(base, "guide")) == ["one.md", "two.md"]
    assert repository.list_files(base, "gui") == {} == repository.list_files(base, "README.md")
    with pytest.raises(PathRefused):
        repository.list_files(base, "../x")


def test_blobs_are_found_and_read(repository: Repository, base: str) -> None:
    oid = repository.lookup(base, "guide/one.md")
    assert oid == repository.list_files(base)["guide/one.md"].oid
    assert oid is not None
    assert repository.read(oid) == b"# One\n"
    for absent in ("guide", "nothing.md", "../guide/one.md", "./guide/one.md", "", "a\nb"):
        assert repository.lookup(base, absent) is None
    assert repository.find_tree(base, "guide") != repository.find_tree(base)
    assert repository.find_tree(base, "nothing") is None
    tree = repository.read_root_tree(base)
    assert tree == repository.find_tree(base) == repository.read_root_tree(tree) == repository.write_tree(tree, {})
    assert repository.is_tree(tree)
    assert not repository.is_tree(base)
    with pytest.raises(GitFailed, match="missing"):
        repository.read_root_tree("0" * len(base))


def test_a_read_that_a_signal_stops_leaves_nothing_to_the_next_one(
    repository: Repository, base: str, top: Path, git: Git
) -> None:
    """A command is stopped by an exception, which may come between any two steps."""
    (top / "large.md").write_bytes(b"One line of many.\n" * 60_000)
    large, small = git("hash-object", "-w", "large.md").strip(), repository.lookup(base, "guide/one.md")
    assert small is not None

    def stop(number: int, frame: object) -> None:
        raise Stopped("stopped")

    former = signal.signal(signal.SIGVTALRM, stop)
    try:
        for tenths in range(1, 60, 4):
            with suppress(Stopped):
                signal.setitimer(signal.ITIMER_VIRTUAL, tenths / 10_000)
                while True:
                    repository.read(large)
            assert repository.read(small) == b"# One\n"
            assert repository.resolve("HEAD") == base
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, former)


def test_the_author_is_who_git_would_name(repository: Repository, top: Path, git: Git, tmp_path: Path) -> None:
    when = datetime(2026, 1, 2, tzinfo=UTC)
    assert repository.read_author({"HOME": str(tmp_path / "empty")}, when=when) is None
    own = tmp_path / "home" / ".gitconfig"
    own.parent.mkdir()
    own.write_text("[user]\n\tname = Ann Lee\n\temail = ann@example.org\n")
    home = {"HOME": str(own.parent)}
    assert repository.read_author(home, when=when) == Person("Ann Lee", "ann@example.org", when)
    assert repository.read_author({"GIT_CONFIG_GLOBAL": str(own)}, when=when) == Person(
        "Ann Lee", "ann@example.org", when
    )
    git("config", "user.email", "ann@work.example")
    assert repository.read_author(home, when=when) == Person("Ann Lee", "ann@work.example", when)
    named = {**home, "GIT_AUTHOR_NAME": "Bob"}
    assert repository.read_author(named, when=when) == Person("Bob", "ann@work.example", when)


def test_reading_goes_on_after_a_miss(repository: Repository, base: str) -> None:
    with pytest.raises(GitFailed, match="missing"):
        repository.read("a" * 40)
    with pytest.raises(GitFailed, match="is a commit"):
        repository.read(base)
    oid = repository.lookup(base, "README.md")
    assert oid is not None
    assert repository.read(oid) == b"# Home\n"


def test_objects_made_later_are_seen(repository: Repository, base: str, commit: Commit) -> None:
    assert repository.lookup(base, "README.md")
    later = commit({"new.md": b"new"}, base)
    assert repository.lookup(later, "new.md") is not None


def test_present_answers_only_what_is_there(repository: Repository, base: str) -> None:
    oid = repository.list_files(base)["README.md"].oid
    assert repository.select_present([oid, "b" * 40, oid[:10], "--help", "", oid + "\n"]) == {oid}
    assert repository.select_present([]) == set()


def test_names_of_any_script_come_back_as_written(repository: Repository, commit: Commit) -> None:
    names = {
        f"d é/{name}.md": name.encode() for name in ('quo"te', "sp ace", "日本語", "tab-less", "-rf", ":x", "*", "#")
    }
    oid = commit(names)
    assert {path: repository.read(blob.oid) for path, blob in repository.list_files(oid).items()} == names
    assert {change.path for change in repository.list_changes(oid, commit({}, oid))} == set()
    for path in names:
        assert repository.lookup(oid, path) is not None


def test_a_difference_is_told_by_path_below_the_directory(repository: Repository, base: str, commit: Commit) -> None:
    after = commit({"guide/one.md": b"1", "guide/new.md": b"n", "guide/two.md": None, "notes.md": b"2"}, base)
    found = {change.path: change for change in repository.list_changes(base, after, "guide")}
    assert {path: change.status for path, change in found.items()} == {"one.md": "M", "new.md": "A", "two.md": "D"}
    assert found["two.md"].oid == repository.list_files(base)["guide/two.md"].oid
    assert repository.list_changes(base, base) == []


def test_a_rename_is_found_when_asked_for(repository: Repository, commit: Commit) -> None:
    text = b"".join(b"line %d\n" % number for number in range(50))
    before = commit({"guide/old.md": text})
    after = commit({"guide/old.md": None, "guide/new.md": text + b"more\n"}, before)
    oid = repository.list_files(after)["guide/new.md"].oid
    assert repository.list_changes(before, after, "guide", renames=True) == [
        FileChange("R", "new.md", "old.md", oid, "100644")
    ]
    assert sorted(change.status for change in repository.list_changes(before, after, "guide")) == ["A", "D"]


def test_links_and_submodules_are_told_apart(repository: Repository, base: str, git: Git, top: Path) -> None:
    (top / "link.md").symlink_to("/etc/passwd")
    git("add", "link.md")
    git("update-index", "--add", "--cacheinfo", f"160000,{base},module")
    git("commit", "--quiet", "-m", "links")
    head = repository.read_head().oid
    assert head is not None
    assert repository.list_files(head)["link.md"].mode == "120000"
    assert "module" not in repository.list_files(head)
    assert [change.path for change in repository.list_changes(base, head)] == ["link.md"]


def test_commits_come_newest_first_with_their_trailers(repository: Repository, base: str, commit: Commit) -> None:
    message = "Change request: Speed\n\nWords.\n\nSyncd-Space: s1\nSyncd-Revision: r7\nSyncd-Space: s2\n"
    first = commit({"a.md": b"a"}, base, message)
    second = commit({"a.md": b"b"}, first, "Second\n")
    assert [found.oid for found in repository.list_commits(base, second, limit=9)] == [second, first]
    assert [found.oid for found in repository.list_commits(None, second, limit=2)] == [second, first]
    found = repository.find_commit("refs/syncd/test/2", "Syncd-Space", "s2")
    assert found is not None
    assert (found.oid, found.subject, found.trailers["Syncd-Revision"]) == (first, "Change request: Speed", ["r7"])
    assert found.body.startswith("Words.")
    assert repository.find_commit("refs/syncd/test/2", "Syncd-Space", "s") is None
    assert repository.find_commit("refs/syncd/test/2", "Syncd-Space", "Words") is None


def test_a_trailer_is_found_past_messages_that_only_quote_it(repository: Repository, commit: Commit) -> None:
    tip = wanted = commit({"a.md": b"a"}, None, "One\n\nSyncd-Space: s1\n")
    for number in range(3):
        tip = commit({"a.md": b"%d" % number}, tip, "Quote\n\nSyncd-Space: s1\n\nas the text says\n")
    found = repository.find_commit("refs/syncd/test/3", "Syncd-Space", "s1")
    assert found is not None
    assert found.oid == wanted


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Subject: not a trailer\n", {}),
        ("S\n\nKey: a\n  b\nOther:c\n", {"Key": ["a b"], "Other": ["c"]}),
        ("S\n\nKey: a\n(cherry picked from commit 1234)\n", {"Key": ["a"]}),
        ("S\n\nKey: a\nand prose\n", {}),
        ("S\n\nKey: a\n\nprose\n", {}),
        ("", {}),
    ],
)
def test_trailers_are_the_last_paragraph(message: str, expected: dict[str, list[str]]) -> None:
    assert parse_trailers(message) == expected


def test_a_commit_of_any_shape_is_read() -> None:
    data = b"tree x\nauthor =?broken\nencoding latin1\ngpgsig a\n b\n\nGr\xfc\xdfe\nzwei\n\nBody\n"
    found = parse_commit("0" * 40, data)
    assert (found.subject, found.body, found.author.name) == ("Grüße zwei", "Body", "=?broken")
    data = b"author A B <a@b> 1700000000 -0130\n\nx"
    assert parse_commit("0" * 40, data).author.when.tzinfo == timezone(-timedelta(hours=1, minutes=30))


def test_ancestry(repository: Repository, base: str, commit: Commit) -> None:
    left, right, alone = commit({"l": b""}, base), commit({"r": b""}, base), commit({"x": b""})
    assert repository.is_ancestor(base, left)
    assert not repository.is_ancestor(left, right)
    assert repository.find_merge_base(left, right) == base
    assert repository.find_merge_base(left, alone) is None
    with pytest.raises(GitFailed):
        repository.is_ancestor("a" * 40, left)


def test_one_repository_a_thread_reads_what_it_asked_for(commit: Commit, top: Path) -> None:
    oid = commit({f"{number}.md": b"%d" % number * 99 for number in range(200)})
    wrong: list[str] = []

    def read() -> None:
        with Repository.open(top) as own:
            for path, blob in own.list_files(oid).items():
                if own.read(blob.oid) != path.removesuffix(".md").encode() * 99:
                    wrong.append(path)

    threads = [Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_what_is_no_repository_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(NotARepository):
            Repository.open(path)
    (tmp_path / ".git").mkdir()
    with pytest.raises(NotARepository):
        Repository.open(tmp_path)


def test_a_newer_repository_format_is_refused(repository: Repository, top: Path, git: Git) -> None:
    git("config", "core.repositoryFormatVersion", "99")
    with pytest.raises(NotARepository):
        Repository.open(top)
