"""A run that is killed while the work tree moves keeps nobody from using Git: the next command of any kind mends it."""

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from syncd.cli.app import run
from syncd.fault_points import FaultPoint
from syncd.platform.services.directory.read import import_directory
from syncd.platform.storage.storage import Storage
from syncd.repo.repository import Repository
from tests.checkouts import plant
from tests.cli.conftest import PAGES, Shell
from tests.stopping import kill, run_until_stopped

MOVE = [point for point in FaultPoint if point.startswith("move-")]
LATER = {**PAGES, "use.md": "# Use\n\nLike that.\n", "more.md": "# More\n\nNew.\n"}
LATER["SUMMARY.md"] += "* [More](more.md)\n"
FAST_FORWARD = """
import sys
from pathlib import Path
from syncd.repo.repository import Repository
with Repository.open(Path.cwd()) as repository:
    repository.fast_forward("main", old=sys.argv[1], new=sys.argv[2])
"""
COMMANDS = ("status", "check", "resolve", "review", "explain SY001", "site validate", "api GET /user", "redirects rm /")


def git(*words: str, at: Path, code: int = 0) -> str:
    done = subprocess.run(["git", *words], cwd=at, capture_output=True, text=True, check=False)
    assert done.returncode == code, (words, done.stderr)
    return done.stdout


@pytest.fixture
def docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository that nobody has configured; `later` is a branch that main can be fast-forwarded to."""
    docs = plant(tmp_path / "docs", PAGES)
    git("init", "--quiet", "--initial-branch=main", at=docs)
    for message, files in (("First", PAGES), ("Later", LATER)):
        plant(docs, files)
        git("add", "--all", at=docs)
        git("commit", "--quiet", "--message", message, at=docs)
    git("branch", "later", at=docs)
    git("reset", "--quiet", "--hard", "main~", at=docs)
    monkeypatch.chdir(docs)
    return docs


def killed_at(point: FaultPoint, docs: Path, *command: str) -> None:
    """Start a command and kill it there; return when all that it had started has ended, too."""
    with run_until_stopped(point, [sys.executable, *command], cwd=docs) as process:
        kill(process)
    with (docs / ".git" / "syncd" / "move.lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)


def move_killed_at(point: FaultPoint, docs: Path) -> None:
    """Kill a fast-forward there, and see that Git refuses to stage anything."""
    ids = git("rev-parse", "main", "later", at=docs).split()
    killed_at(point, docs, "-c", FAST_FORWARD, *ids)
    (docs / "mine.md").write_text("Mine.\n")
    git("add", "mine.md", at=docs, code=128)


def assert_moved(docs: Path, to: str = "later") -> None:
    """The person can stage what they like, and what syncd had begun is done."""
    git("add", "mine.md", at=docs)
    assert git("status", "--porcelain", at=docs) == "A  mine.md\n"
    assert git("rev-parse", "main", at=docs) == git("rev-parse", to, at=docs)


@pytest.mark.parametrize("point", MOVE)
def test_whatever_the_kill_hit_is_mended(docs: Path, point: FaultPoint) -> None:
    move_killed_at(point, docs)
    Repository.open(docs).close()
    assert_moved(docs, "main" if point == FaultPoint.MOVE_LOCKED else "later")


@pytest.mark.parametrize("words", COMMANDS)
def test_whichever_command_comes_next_mends_it(docs: Path, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    move_killed_at(FaultPoint.MOVE_FILES_DONE, docs)
    (docs / "folder").mkdir()
    monkeypatch.chdir(docs / "folder")
    run(words.split())
    assert_moved(docs)


def test_a_linked_work_tree_is_mended_too(docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git("switch", "--quiet", "--detach", at=docs)
    git("worktree", "add", "--quiet", "../linked", "main", at=docs)
    linked, ids = docs.parent / "linked", git("rev-parse", "main", "later", at=docs).split()
    with run_until_stopped(
        FaultPoint.MOVE_FILES_DONE, [sys.executable, "-c", FAST_FORWARD, *ids], cwd=linked
    ) as process:
        kill(process)
    monkeypatch.chdir(linked)
    run(["explain", "SY001"])
    assert git("status", "--porcelain", at=linked) == ""
    assert git("rev-parse", "main", at=docs) == f"{ids[1]}\n"


@pytest.mark.parametrize("words", ["status", "check", "explain SY001"])
def test_a_lock_of_the_person_is_never_taken_away(docs: Path, words: str) -> None:
    move_killed_at(FaultPoint.MOVE_FILES_DONE, docs)
    lock = docs / ".git" / "index.lock"
    lock.unlink()
    shutil.copy(docs / ".git" / "index", lock)
    run(words.split())
    assert lock.exists()
    lock.unlink()
    run(words.split())
    assert_moved(docs)


@pytest.mark.parametrize("as_two_files", [False, True])
def test_a_copy_of_a_repository_is_mended_too(docs: Path, as_two_files: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    move_killed_at(FaultPoint.MOVE_INDEX_DONE, docs)
    twin = docs.parent / "twin"
    shutil.copytree(docs, twin)
    if not as_two_files:
        (twin / ".git" / "index.lock").unlink()
        os.link(twin / ".git" / "syncd" / "index.lock-owner", twin / ".git" / "index.lock")
    monkeypatch.chdir(twin)
    run(["status"])
    assert_moved(twin)


def test_nothing_is_written_where_nothing_was_left(docs: Path) -> None:
    def written() -> dict[str, int]:
        return {str(path): path.stat().st_mtime_ns for path in (docs / ".git").rglob("*")}

    before = written()
    for words in COMMANDS:
        run(words.split())
    assert written() == before


def test_an_edit_in_the_way_of_a_killed_pull_stays_and_git_can_be_used(shell: Shell) -> None:
    docs = shell.clone()
    with Storage(shell.data) as storage:
        import_directory(storage, plant(shell.root / "later", LATER), space=shell.space)
    killed_at(FaultPoint.MOVE_NOTED, docs, "-m", "syncd", "pull")
    (docs / "use.md").write_text("# Use\n\nMy words.\n")
    shell.fine("status", cwd=docs)
    git("add", "use.md", at=docs)
    git("reset", "--quiet", at=docs)
    assert (docs / "use.md").read_text() == "# Use\n\nMy words.\n"
    refused = shell.syncd("pull", cwd=docs)
    assert refused.returncode == 5
    assert "use.md" in refused.stdout
    git("checkout", "--quiet", "--", "use.md", at=docs)
    assert shell.syncd("status", cwd=docs).returncode == 5, "the last run still stands: it did not integrate"
    assert git("status", "--porcelain", at=docs) == ""
    assert (docs / "more.md").exists()
