"""What Git answered in one run serves the next one while no ref moves, and not one question longer."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from syncd.repo.process.git import Git
from syncd.repo.process.location import find_repository
from syncd.repo.read.kept_answers import ANSWERS_MAX, FILES_MAX, KeptAnswers, KeptListing
from syncd.repo.read.objects import Reader
from syncd.repo.repository import Repository
from syncd.repo.write.refs import Refs

Commit = Callable[..., str]
Shell = Callable[..., str]
NAMES = ("refs/heads/main", "refs/heads/other", "refs/syncd/tip/main", "refs/remotes/platform/main", "HEAD")
Answers = tuple[dict[str, str | None], dict[str, str]]


def ask(top: Path, kept: KeptAnswers | None = None) -> Answers:
    """What a run is answered: the commit of each name, and the refs that only syncd writes."""
    with Repository.open(top, kept) as opened:
        commits = {name: opened.resolve(name) for name in NAMES}
        for commit in filter(None, commits.values()):
            opened.read_commit(commit)
        return commits, opened.list_refs("refs/syncd/")


def needs_git(top: Path, kept: KeptAnswers) -> bool:
    """Whether the questions of `ask` need a process of Git in the next run."""
    place = find_repository(top)
    kept.begin_run(place)
    git = Git(place)
    reader = Reader(git, kept)
    for name in NAMES:
        if (commit := reader.resolve_ref(name)) is not None:
            reader.read_node(commit)
    Refs(git, reader, kept).list_refs("refs/syncd/")
    reader.close()
    return git.has_started


def test_nothing_is_asked_again_while_no_ref_moves(top: Path, base: str, git: Shell) -> None:
    git("update-ref", "refs/heads/main", base)
    kept = KeptAnswers()
    before = ask(top, kept)
    assert not needs_git(top, kept)
    assert ask(top, kept) == before == ask(top)


def test_refs_that_others_move_are_listed_anew_once_a_process_was_started(top: Path, base: str, git: Shell) -> None:
    git("update-ref", "refs/remotes/origin/main", base)
    kept, prefix = KeptAnswers(), "refs/remotes/origin/"
    for _ in range(2):
        with Repository.open(top, kept) as opened:
            opened.list_refs("refs/syncd/")
            assert opened.list_refs(prefix) == {f"{prefix}main": base}
            has_started = opened._git.has_started
    assert not has_started
    with Repository.open(top, kept) as opened:
        opened.update_ref(f"{prefix}other", base, old=None)
        assert opened.list_refs(prefix) == {f"{prefix}main": base, f"{prefix}other": base}
    git("update-ref", "-d", f"{prefix}other")
    with Repository.open(top, kept) as opened:
        assert opened.list_refs(prefix) == {f"{prefix}main": base}


def test_a_listing_of_all_refs_holds_while_no_file_of_refs_changes(top: Path, base: str, git: Shell) -> None:
    listing, place = KeptListing(), find_repository(top)
    found = iter([{"refs/heads/main": base}, {"refs/heads/other": base}])
    for _ in range(2):
        assert listing.list_refs(place, lambda: next(found)) == {"refs/heads/main": base}
    git("update-ref", "refs/heads/other", base)
    assert listing.list_refs(place, lambda: next(found)) == {"refs/heads/other": base}


@pytest.mark.parametrize(
    "change",
    [
        ("update-ref", "refs/heads/other", "refs/heads/main"),
        ("update-ref", "refs/syncd/tip/main", "refs/heads/main"),
        ("update-ref", "-d", "refs/remotes/platform/main"),
        ("commit", "--allow-empty", "--quiet", "--message", "Later"),
        ("checkout", "--quiet", "-b", "new"),
        ("pack-refs", "--all"),
        ("config", "user.name", "Another"),
    ],
)
def test_all_is_asked_again_after_a_change(top: Path, base: str, git: Shell, change: tuple[str, ...]) -> None:
    for name in ("refs/heads/main", "refs/remotes/platform/main"):
        git("update-ref", name, base)
    kept = KeptAnswers()
    ask(top, kept)
    git(*change)
    assert needs_git(top, kept)
    assert ask(top, kept) == ask(top)


def test_answers_are_those_of_git_whatever_moves(top: Path, base: str, commit: Commit, git: Shell) -> None:
    chance, kept = random.Random(7), KeptAnswers()
    commits = [base, commit({"a.md": b"a"}, base), commit({"b.md": b"b"}, base)]
    for _ in range(40):
        name, new = chance.choice(NAMES[:4]), chance.choice(commits)
        deed = chance.choice(["move", "delete", "pack", "nothing"])
        if deed == "move":
            git("update-ref", name, new)
        elif deed == "delete":
            git("update-ref", "-d", name)
        elif deed == "pack":
            git("pack-refs", "--all")
        assert ask(top, kept) == ask(top)


def test_what_the_run_itself_moves_is_asked_again(top: Path, base: str, commit: Commit, git: Shell) -> None:
    git("update-ref", "refs/heads/main", base)
    kept, later = KeptAnswers(), commit({"a.md": b"a"}, base)
    ask(top, kept)
    with Repository.open(top, kept) as opened:
        assert opened.resolve("refs/syncd/tip/main") is None
        opened.update_ref("refs/syncd/tip/main", later, old=None)
        assert opened.resolve("refs/syncd/tip/main") == later
        assert opened.list_refs("refs/syncd/tip/") == {"refs/syncd/tip/main": later}
    assert ask(top, kept) == ask(top)


def test_what_another_moves_is_seen_once_the_run_needs_git(top: Path, base: str, commit: Commit, git: Shell) -> None:
    git("update-ref", "refs/heads/main", base)
    kept, later = KeptAnswers(), commit({"a.md": b"a"}, base)
    ask(top, kept)
    with Repository.open(top, kept) as opened:
        git("update-ref", "refs/heads/main", later)
        assert opened.list_files(base)
        assert opened.resolve("refs/heads/main") == later
    assert ask(top, kept) == ask(top)


def test_nothing_is_kept_where_refs_lie_elsewhere(top: Path, base: str, git: Shell) -> None:
    git("update-ref", "refs/heads/main", base)
    heads = top / ".git" / "refs" / "heads"
    heads.rename(top / "elsewhere")
    heads.symlink_to(top / "elsewhere")
    kept = KeptAnswers()
    ask(top, kept)
    assert not kept.names


def test_too_many_refs_or_answers_are_not_kept(top: Path, base: str, git: Shell) -> None:
    kept = KeptAnswers()
    with Repository.open(top, kept) as opened:
        for number in range(ANSWERS_MAX + 1):
            opened.resolve(f"refs/heads/{number}")
    assert not kept.names
    ask(top, kept)
    assert kept.names
    directory = top / ".git" / "refs" / "heads"
    directory.mkdir(exist_ok=True)
    for number in range(FILES_MAX):
        (directory / f"{number}").write_text(f"{base}\n", encoding="ascii")
    ask(top, kept)
    assert not kept.names
