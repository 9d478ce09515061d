"""Killed at any moment, the next call with the same arguments completes: clean status, sound objects, no lock left."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from syncd.errors import GuardRefused, RefMoved
from syncd.fault_points import FaultPoint
from syncd.repo.process import locks
from syncd.repo.process.locks import note_locks
from syncd.repo.repository import Repository
from syncd.repo.values import Person
from syncd.repo.work_tree.moves import Move
from syncd.repo.work_tree.worktree import WorkTree

Commit = Callable[..., str]
Git = Callable[..., str]
REF = "refs/remotes/platform/main"
MOVE = [point for point in FaultPoint if point.startswith("move-")]
BLOBS = 300

# One process that has everything imported and forks a victim for each line it reads, in a session of its own. It tells
# when a victim has stopped, and when it is gone.
STAGE = """
import json, os, signal, sys
from datetime import datetime, UTC
from pathlib import Path
from syncd import fault_points
from syncd.repo.repository import Repository
from syncd.repo.values import Person
for line in sys.stdin:
    job = json.loads(line)
    victim = os.fork()
    if victim:
        print(victim, flush=True)
        _, status = os.waitpid(victim, os.WUNTRACED)
        if os.WIFSTOPPED(status):
            print("stopped", flush=True)
            os.waitpid(victim, 0)
        print("over", flush=True)
        continue
    os.setsid()
    if "at" in job:
        fault_points.on_reach = fault_points.stop_at(job["at"])
    person = Person("A", "a@b", datetime(2026, 1, 1, tzinfo=UTC))
    with Repository.open(Path(job["path"])) as repository:
        if job["do"] == "move":
            repository.fast_forward("main", old=job["old"], new=job["new"])
        else:
            with repository.open_writer(job["ref"], old=job["old"]) as writer:
                for number in range(job["blobs"]):
                    writer.put(f"p{number}.md", writer.write_blob(b"%d" % number * 999))
                    if number == job.get("blob"):
                        os.kill(os.getpid(), signal.SIGSTOP)
                writer.commit(message="m", author=person, committer=person, parents=[job["old"]], base=job["old"])
    os._exit(0)
"""


class Stage:
    """Starts victims and kills them where they have stopped."""

    def __init__(self) -> None:
        self._process = subprocess.Popen([sys.executable, "-c", STAGE], stdin=-1, stdout=-1, text=True)

    def play(
        self, job: Mapping[str, object], *, all_of_it: bool, meanwhile: Callable[[], object] = lambda: None
    ) -> None:
        """Start a victim that stops, do something, and kill it, or it and all that it started."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(job), file=self._process.stdin, flush=True)
        victim = int(self._process.stdout.readline())
        assert self._process.stdout.readline() == "stopped\n"
        meanwhile()
        for process in [victim, *(_session(victim) if all_of_it else [])]:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        assert self._process.stdout.readline() == "over\n"

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


class HalfWay:
    """What git does to the files of a work tree on its way from one commit to another, to be left off anywhere.

    Source: git, unpack-trees.c, check_updates: what goes is removed first, then each file is written, by its path.
    """

    def __init__(self, top: Path, git: Git, old: str, new: str) -> None:
        self.top, self.whole = top, top.parent / f"whole-{new}"
        self.whole.mkdir(exist_ok=True)
        git("--work-tree", str(self.whole), "checkout", "--quiet", new, "--", ".")
        listed = git("diff-tree", "-r", "--no-renames", "-z", "--name-status", old, new).split("\0")[:-1]
        pairs = sorted(zip(listed[1::2], listed[::2], strict=True))
        self.gone = [path for path, status in pairs if status == "D"]
        self.written = [path for path, status in pairs if status != "D"]

    def __len__(self) -> int:
        return len(self.gone) + len(self.written)

    def go(self, steps: int) -> None:
        """Take so many steps, and begin the next."""
        for path in self.gone[:steps]:
            (self.top / path).unlink()
        written = self.written[: max(0, steps - len(self.gone)) + 1] if steps >= len(self.gone) else []
        for path in written:
            self._write(path, begun=path == written[-1] and steps < len(self))
        (self.top / ".git/syncd/index.lock").touch()  # of the private index, which git writes last

    def _write(self, path: str, *, begun: bool) -> None:
        source, target = self.whole / path, self.top / path
        target.parent.mkdir(exist_ok=True)
        target.unlink(missing_ok=True)
        shutil.copy2(source, target, follow_symlinks=False)
        if begun and not target.is_symlink():
            os.truncate(target, target.stat().st_size // 2)


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


def _kills(stage: Stage, top: Path, git: Git, old: str, new: str, *, portions: int) -> Iterator[str]:
    """Kill a fast-forward at each of its points, and with so many portions of the files done, each time from anew."""
    job = {"do": "move", "path": str(top), "old": old, "new": new}
    for number, point in enumerate(MOVE):
        _reset(git, top, old)
        stage.play({**job, "at": point}, all_of_it=number % 2 == 0)
        yield point
    way = HalfWay(top, git, old, new)
    for number in range(portions):
        steps = (len(way) * number + number) // portions
        _reset(git, top, old)
        noted_job = {**job, "at": FaultPoint.MOVE_NOTED}
        stage.play(noted_job, all_of_it=number % 2 == 0, meanwhile=partial(way.go, steps))
        yield f"{steps} of {len(way)}"


@pytest.mark.long
@pytest.mark.parametrize("ways", [False, True], ids=["plain", "crlf"], indirect=True)
def test_a_killed_fast_forward_is_completed_by_the_next(
    stage: Stage, ways: tuple[str, str], top: Path, git: Git
) -> None:
    old, new = ways
    portions = 5 if (top / ".gitattributes").exists() else 11
    for number, moment in enumerate(_kills(stage, top, git, old, new, portions=portions)):
        with Repository.open(top) as repository:
            if number % 3 == 0:
                repository.recover()
            repository.fast_forward("main", old=old, new=new)
        assert git("rev-parse", "HEAD").strip() == new
        assert git("status", "--porcelain") == " M notes.md\n", moment
        assert (top / "notes.md").read_text() == "an edit that nobody has saved\n"
        assert _locks(top) == []
        assert not (top / ".git/syncd/moving.json").exists()
    assert git("fsck", "--strict", "--no-dangling") == ""


@pytest.mark.long
@pytest.mark.parametrize("ways", [False], indirect=True)
def test_a_killed_move_to_an_overtaken_commit_goes_on_to_the_newer(
    stage: Stage, ways: tuple[str, str], top: Path, git: Git, commit: Commit
) -> None:
    old, new = ways
    newer = commit({"page-0.md": b"newest\n", 'new "0" \u00e9.md': None, "page-1.md": b"back\n"}, new)
    for moment in _kills(stage, top, git, old, new, portions=4):
        with Repository.open(top) as repository:
            repository.recover()
            here = repository.resolve("refs/heads/main")
            repository.fast_forward("main", old=here, new=newer)
        assert git("status", "--porcelain") == " M notes.md\n", moment
        assert _locks(top) == []


@pytest.mark.long
@pytest.mark.parametrize("all_of_it", [False, True])
@pytest.mark.parametrize(
    ("moment", "is_there"),
    [
        ({"blob": 0}, False),
        ({"blob": BLOBS // 2}, False),
        ({"at": FaultPoint.COMMIT_STREAMED}, False),
        ({"at": FaultPoint.COMMIT_WRITTEN}, False),
        ({"at": FaultPoint.REF_MOVED}, True),
    ],
    ids=["first blob", "blobs", "streamed", "written", "named"],
)
def test_a_killed_commit_is_all_or_nothing(
    stage: Stage, base: str, top: Path, git: Git, moment: dict[str, object], is_there: bool, all_of_it: bool
) -> None:
    with Repository.open(top) as repository:
        repository.update_ref(REF, base, old=None)
    job = {"do": "write", "path": str(top), "old": base, "ref": REF, "blobs": BLOBS}
    stage.play({**job, **moment}, all_of_it=all_of_it)
    with Repository.open(top) as repository:
        repository.recover()
        here = repository.resolve(REF)
        assert here is not None
        assert (here != base) == is_there
        assert len(repository.list_files(here)) == (BLOBS + 4 if is_there else 4)
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


@pytest.mark.parametrize("is_indexed", [False, True], ids=["files done", "index done"])
@pytest.mark.parametrize(
    "done", [("guide/one.md",), ("guide/one.md", "new.md"), ("guide/one.md", "new.md", "notes.md")]
)
@pytest.mark.parametrize("staged", [("--all",), ("README.md",), ("README.md", "guide/one.md")], ids=" ".join)
def test_what_a_person_committed_after_a_kill_is_what_the_files_are(
    repository: Repository,
    base: str,
    commit: Commit,
    git: Git,
    top: Path,
    is_indexed: bool,
    done: tuple[str, ...],
    staged: tuple[str, ...],
) -> None:
    contents: dict[str, bytes | None] = {"guide/one.md": b"planned\n", "new.md": b"new\n", "notes.md": None}
    planned = commit(contents, base)
    (top / ".git/syncd/moving.json").write_text(
        json.dumps({"branch": "main", "before": base, "after": planned, "here": base, "publish": True})
    )
    for path in contents if is_indexed else done:
        content = contents[path]
        (top / path).unlink(missing_ok=True)
        if content is not None:
            (top / path).write_bytes(content)
    if is_indexed:
        git("read-tree", planned)
    (top / "README.md").write_bytes(b"mine\n")
    (top / "guide/two.md").write_bytes(b"not committed\n")
    git("add", *staged, ":!guide/two.md")
    git("commit", "--quiet", "--message", "Mine")
    tip = repository.resolve(REF)
    (top / "README.md").write_bytes(b"mine again\n")
    repository.recover()
    assert repository.resolve(REF) == tip
    assert git("status", "--porcelain", "-uall") == " M README.md\n M guide/two.md\n"
    assert not (top / ".git/syncd/moving.json").exists()


def test_what_a_person_staged_after_a_finished_move_stays_staged(
    repository: Repository, base: str, commit: Commit, git: Git, top: Path
) -> None:
    planned = commit({"guide/one.md": b"planned\n", "new.md": b"new\n"}, base)
    repository.fast_forward("main", old=base, new=planned)
    (top / ".git/syncd/moving.json").write_text(
        json.dumps({"branch": "main", "before": base, "after": planned, "here": base, "publish": True})
    )
    (top / "README.md").write_bytes(b"mine\n")
    git("commit", "--quiet", "--all", "--message", "Mine")
    git("checkout", base, "--", "guide/one.md")
    git("rm", "--quiet", "new.md")
    repository.recover()
    assert git("status", "--porcelain", "-uall") == "M  guide/one.md\nD  new.md\n"
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
    with pytest.raises(GuardRefused) as raised:
        repository.fast_forward("main", old=base, new=planned)
    assert "guide/two.md" in str(raised.value)
    assert "guide/one.md" not in str(raised.value)
    assert (top / "guide/two.md").read_bytes() == b"edited by hand\n"
    git("checkout", "--", "guide/two.md")
    repository.fast_forward("main", old=base, new=planned)
    assert git("status", "--porcelain") == ""


@pytest.mark.parametrize("begun", [b"planned\r\nto", b"planned\r", b"", b"planned\nto"])
def test_a_file_that_was_begun_with_other_line_ends_is_finished(
    repository: Repository, base: str, commit: Commit, git: Git, top: Path, begun: bytes
) -> None:
    git("config", "core.autocrlf", "true")
    planned = commit({"guide/one.md": b"planned\nto be long\n", "new.md": b"planned\nto be long\n"}, base)
    (top / ".git/syncd/moving.json").write_text(
        json.dumps({"branch": "main", "before": base, "after": planned, "here": base, "publish": True})
    )
    for name in ("guide/one.md", "new.md"):
        (top / name).write_bytes(begun)
    repository.recover()
    assert git("status", "--porcelain") == ""
    assert (top / "new.md").read_bytes() == b"planned\r\nto be long\r\n"


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


def _noted_locks(top: Path, base: str) -> tuple[Path, Path]:
    """The locks of a branch and of HEAD as a killed run leaves them, with its note, and a note that was cut off."""
    branch, head = top / ".git/refs/heads/main.lock", top / ".git/HEAD.lock"
    (top / ".git/syncd/locks/1-abc").write_text(json.dumps({"locks": [str(branch), str(head)], "oid": base}))
    (top / ".git/syncd/locks/1-cut").write_text('{"locks": [')
    branch.write_text(f"{base}\n")
    head.touch()
    return branch, head


def test_a_noted_lock_is_removed_at_once_when_it_holds_our_commit_and_else_when_nobody_touches_it(
    repository: Repository, base: str, top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    branch, head = _noted_locks(top, base)
    waits: list[float] = []

    def wait(seconds: float) -> None:
        assert not branch.exists()
        assert head.exists()
        waits.append(seconds)

    monkeypatch.setattr(locks, "sleep", wait)
    repository.recover()
    assert not head.exists()
    assert [0 <= seconds <= locks.STALE_SECONDS for seconds in waits] == [True]
    assert list((top / ".git/syncd/locks").iterdir()) == []


def test_a_noted_lock_that_another_git_has_taken_since_is_left(
    repository: Repository, base: str, top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, head = _noted_locks(top, base)

    def another_takes_it(seconds: float) -> None:
        head.unlink()
        head.write_text("another\n")

    monkeypatch.setattr(locks, "sleep", another_takes_it)
    repository.recover()
    assert head.read_text() == "another\n"


def test_a_lock_of_the_index_that_a_kill_left_is_taken_over(
    repository: Repository, base: str, commit: Commit, top: Path
) -> None:
    owner = top / ".git/syncd/index.lock-owner"
    assert owner.exists()
    os.link(owner, top / ".git/index.lock")
    repository.fast_forward("main", old=base, new=commit({"a.md": b""}, base))
    assert not (top / ".git/index.lock").exists()


def test_a_note_lives_as_long_as_its_block(repository: Repository, base: str, top: Path) -> None:
    with note_locks(repository._git, [top / "x.lock"], base):
        assert len(list((top / ".git/syncd/locks").iterdir())) == 1
    assert list((top / ".git/syncd/locks").iterdir()) == []


def test_a_race_for_the_branch_puts_the_files_back(
    repository: Repository, base: str, commit: Commit, git: Git, person: Person
) -> None:
    new, other = commit({"guide/one.md": b"new\n", "new.md": b"n\n"}, base), commit({"other.md": b"o\n"}, base)
    tree = WorkTree(repository._git, repository._reader)
    original = tree._move_files

    def overtaken(move: Move, *, resumed: bool) -> None:
        original(move, resumed=resumed)
        if not resumed:
            git("update-ref", "refs/heads/main", other)

    tree._move_files = overtaken  # type: ignore[method-assign]
    with pytest.raises(RefMoved):
        tree.follow("main", old=base, new=new)
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
    with pytest.raises(GuardRefused):
        repository.fast_forward("main", old=base, new=planned)
