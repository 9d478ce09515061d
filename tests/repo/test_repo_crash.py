"""Killed at any moment, the next call with the same arguments completes: clean status, sound objects, no lock left."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from syncd.errors import Held, RefMoved
from syncd.repo import Person, Repository
from syncd.repo.locks import noted
from syncd.repo.worktree import Move, WorkTree

Commit = Callable[..., str]
Git = Callable[..., str]
POINTS = 32
REF = "refs/remotes/platform/main"

# One process that has everything imported and forks a victim for each line it reads, in a session of its own.
STAGE = """
import json, os, sys
from datetime import datetime, UTC
from pathlib import Path
from syncd.repo import Person, Repository
for line in sys.stdin:
    job = json.loads(line)
    victim = os.fork()
    if victim:
        print(victim, flush=True)
        os.waitpid(victim, 0)
        print("over", flush=True)
        continue
    os.setsid()
    person = Person("A", "a@b", datetime(2026, 1, 1, tzinfo=UTC))
    with Repository.open(Path(job["path"])) as repository:
        if job["do"] == "move":
            repository.fast_forward("main", old=job["old"], new=job["new"])
        else:
            with repository.writer(job["ref"], old=job["old"]) as writer:
                for number in range(300):
                    writer.put(f"p{number}.md", writer.blob(b"%d" % number * 999))
                writer.commit(message="m", author=person, committer=person, parents=[job["old"]], base=job["old"])
    os._exit(0)
"""


class Stage:
    """Starts victims and kills them."""

    def __init__(self) -> None:
        self._process = subprocess.Popen([sys.executable, "-c", STAGE], stdin=-1, stdout=-1, text=True)

    def play(self, *, after: float | None, all_of_it: bool, **job: object) -> float:
        """Start a victim, kill it (and all that it started) after a while, and return how long it lived."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(job), file=self._process.stdin, flush=True)
        victim, started = int(self._process.stdout.readline()), time.perf_counter()
        if after is not None:
            time.sleep(after)
            for process in [victim, *(_session(victim) if all_of_it else [])]:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
        assert self._process.stdout.readline() == "over\n"
        return time.perf_counter() - started

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def _session(leader: int) -> list[int]:
    """The processes that a session leader started, each of which leads a group of its own."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, IndexError):
            if int(path.read_text().rsplit(")", 1)[1].split()[3]) == leader:
                found.append(int(path.parent.name))
    return [process for process in found if process != leader]


@pytest.fixture
def stage() -> Iterator[Stage]:
    opened = Stage()
    yield opened
    opened.close()


def _moments(stage: Stage, points: int, **job: object) -> list[float]:
    """Delays that sweep a whole run, from one that was left alone."""
    whole = stage.play(after=None, all_of_it=False, **job)
    order = random.Random(7)
    return [whole * 1.1 * (point + order.random()) / points for point in range(points)]


def _locks(top: Path) -> list[str]:
    own = {"run.lock", "move.lock"}
    return [str(path) for path in (top / ".git").rglob("*.lock") if path.name not in own]


@pytest.fixture
def ways(base: str, top: Path, git: Git, commit: Commit, request: pytest.FixtureRequest) -> tuple[str, str]:
    """Two commits a good many files apart: changed, added, removed, folders for files, links and modes."""
    if request.param:
        (top / ".gitattributes").write_text("*.md text eol=crlf\n")
    for number in range(120):
        (top / f"page-{number}.md").write_text(f"# {number}\n" * 200)
    (top / "turned").write_text("a file\n")
    git("add", "-A")
    git("commit", "--quiet", "-m", "before")
    before = git("rev-parse", "HEAD").strip()
    for number in range(0, 120, 2):
        (top / f"page-{number}.md").write_text(f"# later {number}\n" * 300)
        (top / f"page-{number + 1}.md").unlink()
        (top / f'new "{number}" é.md').write_text(f"# new {number}\n" * 100)
    (top / "turned").unlink()
    (top / "turned").mkdir()
    (top / "turned/inner.md").write_text("inner\n")
    (top / "page-0.md").chmod(0o755)
    (top / "guide/two.md").unlink()
    (top / "guide/two.md").symlink_to("one.md")
    git("add", "-A")
    git("commit", "--quiet", "-m", "after")
    after = git("rev-parse", "HEAD").strip()
    return before, after


def _reset(git: Git, top: Path, commit: str) -> None:
    git("reset", "--quiet", "--hard", commit)
    git("clean", "--quiet", "-fdx")
    (top / "notes.md").write_text("an edit that nobody has saved\n")


@pytest.mark.parametrize("ways", [False, True], ids=["plain", "crlf"], indirect=True)
def test_a_killed_fast_forward_is_completed_by_the_next(
    stage: Stage, ways: tuple[str, str], top: Path, git: Git
) -> None:
    old, new = ways
    job = {"do": "move", "path": str(top), "old": old, "new": new}
    points = 12 if (top / ".gitattributes").exists() else POINTS
    _reset(git, top, old)
    half = 0
    for number, moment in enumerate(_moments(stage, points, **job)):
        _reset(git, top, old)
        stage.play(after=moment, all_of_it=number % 2 == 0, **job)
        half += (top / ".git/syncd/moving.json").exists()
        with Repository.open(top) as repository:
            if number % 3 == 0:
                repository.recover()
            repository.fast_forward("main", old=old, new=new)
        assert git("rev-parse", "HEAD").strip() == new
        assert git("status", "--porcelain") == " M notes.md\n", moment
        assert (top / "notes.md").read_text() == "an edit that nobody has saved\n"
        assert _locks(top) == []
        assert not (top / ".git/syncd/moving.json").exists()
    assert half, "no kill hit the move itself"
    assert git("fsck", "--strict", "--no-dangling") == ""


@pytest.mark.parametrize("ways", [False], indirect=True)
def test_a_killed_move_to_an_overtaken_commit_goes_on_to_the_newer(
    stage: Stage, ways: tuple[str, str], top: Path, git: Git, commit: Commit
) -> None:
    old, new = ways
    newer = commit({"page-0.md": b"newest\n", 'new "0" \u00e9.md': None, "page-1.md": b"back\n"}, new)
    job = {"do": "move", "path": str(top), "old": old, "new": new}
    _reset(git, top, old)
    for moment in _moments(stage, 10, **job):
        _reset(git, top, old)
        stage.play(after=moment, all_of_it=True, **job)
        with Repository.open(top) as repository:
            repository.recover()
            here = repository.resolve("refs/heads/main")
            repository.fast_forward("main", old=here, new=newer)
        assert git("status", "--porcelain") == " M notes.md\n"
        assert _locks(top) == []


def test_a_killed_commit_is_all_or_nothing(stage: Stage, base: str, top: Path, git: Git) -> None:
    with Repository.open(top) as repository:
        repository.update_ref(REF, base, old=None)
    job = {"do": "write", "path": str(top), "old": base, "ref": REF}
    for number, moment in enumerate(_moments(stage, POINTS, **job)):
        git("update-ref", REF, base)
        stage.play(after=moment, all_of_it=number % 2 == 0, **job)
        with Repository.open(top) as repository:
            repository.recover()
            here = repository.resolve(REF)
            assert here is not None
            assert here == base or len(repository.tree(here)) == 304
            repository.update_ref(REF, base, old=here)
        assert _locks(top) == []
        assert git("for-each-ref", "refs/syncd/stream") == ""
        assert git("status", "--porcelain") == ""
    assert git("fsck", "--strict", "--no-dangling") == ""


def test_a_half_done_move_whose_branch_moved_on_is_taken_back(
    repository: Repository, base: str, commit: Commit, git: Git, top: Path
) -> None:
    planned = commit({"guide/one.md": b"planned\n", "new.md": b"new\n", "notes.md": None}, base)
    other = commit({"README.md": b"other\n"}, base)
    (top / ".git/syncd/moving.json").write_text(
        json.dumps({"branch": "main", "before": base, "after": planned, "here": base, "publish": True})
    )
    (top / "guide/one.md").write_bytes(b"planned\n")
    (top / "new.md").touch()
    git("update-ref", "refs/heads/main", other)
    git("reset", "--quiet", "--", "README.md")
    git("checkout-index", "--force", "README.md")
    repository.recover()
    assert git("status", "--porcelain", "-uall") == ""
    assert (top / "guide/one.md").read_bytes() == b"# One\n"
    assert not (top / "new.md").exists()
    assert not (top / ".git/syncd/moving.json").exists()


def test_an_edit_made_after_a_kill_is_kept_and_told(
    repository: Repository, base: str, commit: Commit, git: Git, top: Path
) -> None:
    planned = commit({"guide/one.md": b"planned\n", "guide/two.md": b"planned too\n"}, base)
    (top / ".git/syncd/moving.json").write_text(
        json.dumps({"branch": "main", "before": base, "after": planned, "here": base, "publish": True})
    )
    (top / "guide/one.md").write_bytes(b"planned\n")
    (top / "guide/two.md").write_bytes(b"edited by hand\n")
    repository.recover()
    with pytest.raises(Held) as raised:
        repository.fast_forward("main", old=base, new=planned)
    assert "guide/two.md" in str(raised.value)
    assert "guide/one.md" not in str(raised.value)
    assert (top / "guide/two.md").read_bytes() == b"edited by hand\n"
    git("checkout", "--", "guide/two.md")
    repository.fast_forward("main", old=base, new=planned)
    assert git("status", "--porcelain") == ""


def test_a_damaged_note_of_a_move_is_no_obstacle(repository: Repository, base: str, commit: Commit, top: Path) -> None:
    for text in (
        "",
        "{",
        "[]",
        '{"branch": "main"}',
        '{"branch":"main","before":"--x","after":null,"here":null,"publish":true}',
    ):
        (top / ".git/syncd/moving.json").write_text(text)
        repository.recover()
    repository.fast_forward("main", old=base, new=commit({"a.md": b""}, base))


def test_only_locks_that_are_ours_are_removed(repository: Repository, base: str, top: Path) -> None:
    git_dir = top / ".git"
    ours = ["refs/syncd/a.lock", "refs/syncd/deep/b.lock", "refs/remotes/platform/main.lock"]
    theirs = ["refs/heads/main.lock", "refs/remotes/origin/main.lock", "packed-refs.lock", "HEAD.lock", "index.lock"]
    for name in (*ours, *theirs):
        (git_dir / name).parent.mkdir(parents=True, exist_ok=True)
        (git_dir / name).touch()
        os.utime(git_dir / name, (1, 1))
    repository.recover()
    assert [name for name in ours if (git_dir / name).exists()] == []
    assert [name for name in theirs if not (git_dir / name).exists()] == []


def test_a_noted_lock_is_removed_once_it_is_old_or_holds_our_commit(
    repository: Repository, base: str, top: Path
) -> None:
    branch, head = top / ".git/refs/heads/main.lock", top / ".git/HEAD.lock"
    (top / ".git/syncd/locks/1-abc").write_text(json.dumps({"locks": [str(branch), str(head)], "oid": base}))
    (top / ".git/syncd/locks/1-cut").write_text('{"locks": [')
    branch.write_text(f"{base}\n")
    head.touch()
    started = time.monotonic()
    repository.recover()
    assert not branch.exists()
    assert not head.exists()
    assert 1 < time.monotonic() - started < 10
    assert list((top / ".git/syncd/locks").iterdir()) == []


def test_a_lock_of_the_index_that_a_kill_left_is_taken_over(
    repository: Repository, base: str, commit: Commit, top: Path
) -> None:
    owner = top / ".git/syncd/index.lock-owner"
    assert owner.exists()
    os.link(owner, top / ".git/index.lock")
    repository.fast_forward("main", old=base, new=commit({"a.md": b""}, base))
    assert not (top / ".git/index.lock").exists()


def test_a_note_lives_as_long_as_its_block(repository: Repository, base: str, top: Path) -> None:
    with noted(repository._git, [top / "x.lock"], base):
        assert len(list((top / ".git/syncd/locks").iterdir())) == 1
    assert list((top / ".git/syncd/locks").iterdir()) == []


def test_a_race_for_the_branch_puts_the_files_back(
    repository: Repository, base: str, commit: Commit, git: Git, person: Person
) -> None:
    new, other = commit({"guide/one.md": b"new\n", "new.md": b"n\n"}, base), commit({"other.md": b"o\n"}, base)
    tree = WorkTree(repository._git, repository._reader)
    original = tree._shift

    def overtaken(move: Move, *, resumed: bool) -> None:
        original(move, resumed=resumed)
        if not resumed:
            git("update-ref", "refs/heads/main", other)

    tree._shift = overtaken  # type: ignore[method-assign]
    with pytest.raises(RefMoved):
        tree.fast_forward("main", old=base, new=new)
    assert repository.resolve("refs/heads/main") == other
    assert git("diff", "--stat", base) == ""
    assert git("status", "--porcelain") == "D  other.md\n"


def test_a_killed_first_checkout_is_completed(repository: Repository, commit: Commit, git: Git, top: Path) -> None:
    tip = commit({"a.md": b"aaaa\n", "b.md": b"bbbb\n", "c/d.md": b"d\n"})
    repository.update_ref("refs/heads/main", tip, old=None)
    (top / ".git/syncd/moving.json").write_text(
        json.dumps({"branch": "main", "before": None, "after": tip, "here": tip, "publish": False})
    )
    (top / "a.md").write_bytes(b"aaaa\n")
    (top / "b.md").write_bytes(b"bb")
    repository.checkout_new("main")
    assert git("status", "--porcelain") == ""
    assert (top / "b.md").read_bytes() == b"bbbb\n"


def test_a_stuck_move_of_one_branch_does_not_stop_another(
    repository: Repository, base: str, commit: Commit, git: Git, top: Path
) -> None:
    planned = commit({"notes.md": b"planned\n"}, base)
    (top / ".git/syncd/moving.json").write_text(
        json.dumps({"branch": "main", "before": base, "after": planned, "here": base, "publish": True})
    )
    (top / "notes.md").write_bytes(b"mine\n")
    git("branch", "side", base)
    repository.fast_forward("side", old=base, new=planned)
    assert repository.resolve("refs/heads/side") == planned
    with pytest.raises(Held):
        repository.fast_forward("main", old=base, new=planned)
