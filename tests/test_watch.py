"""The watcher wakes once for what someone else changed, and never for what the daemon wrote itself."""

import errno
import logging
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, SimpleQueue

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver
from watchdog.observers.polling import PollingObserver

from syncd.watch import LONGEST, QUIET, Debounce, Watcher

PATIENT = 60.0
"""Seconds after which a wake that should come counts as not coming, on a busy machine too."""
SILENCE = 1.2
"""Seconds after which no wake will come any more: watchdog holds unmatched moves back for half a second."""


def git(directory: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=directory, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    path = tmp_path / "docs"
    path.mkdir()
    git(path, "init", "-q", "-b", "main")
    (path / "site.yaml").write_text("site: one\n")
    git(path, "add", "site.yaml")
    git(path, "commit", "-q", "-m", "Begin")
    return path


class Woken:
    """Collects wakes and notices."""

    def __init__(self) -> None:
        self.keys: SimpleQueue[str] = SimpleQueue()
        self.notices: list[str] = []

    def within(self, seconds: float) -> str | None:
        try:
            return self.keys.get(timeout=seconds)
        except Empty:
            return None


@contextmanager
def watching(repository: Path, *observers: Callable[[], BaseObserver]) -> Iterator[tuple[Watcher, Woken]]:
    woken = Woken()
    watcher = Watcher(woken.keys.put, notice=woken.notices.append, observers=observers or (Observer, PollingObserver))
    watcher.add("docs", repository / ".git", [repository / "site.yaml"])
    watcher.start()
    try:
        yield watcher, woken
    finally:
        watcher.stop()


def test_a_commit_wakes_once(repository: Path) -> None:
    with watching(repository) as (_, woken):
        git(repository, "commit", "-q", "--allow-empty", "-m", "Edit")
        assert woken.within(PATIENT) == "docs"
        assert woken.within(SILENCE) is None
        git(repository, "commit", "-q", "--allow-empty", "-m", "Edit")
        assert woken.within(PATIENT) == "docs"
        assert woken.notices == []


def test_reading_and_staging_wake_nobody(repository: Path) -> None:
    with watching(repository) as (_, woken):
        git(repository, "log")
        (repository / "page.md").write_text("# Page\n")
        git(repository, "add", "page.md")
        git(repository, "status")
        (repository / "site.yaml").read_bytes()
        assert woken.within(SILENCE) is None


def test_branches_in_folders_that_appear_later_are_seen(repository: Path) -> None:
    with watching(repository) as (_, woken):
        git(repository, "branch", "docs/deep/x")
        assert woken.within(PATIENT) == "docs"
        head = git(repository, "commit-tree", "-p", "main", "-m", "Edit", "main^{tree}").strip()
        git(repository, "update-ref", "refs/heads/docs/deep/x", head)
        assert woken.within(PATIENT) == "docs"
        git(repository, "branch", "-D", "docs/deep/x")
        assert woken.within(PATIENT) == "docs"


def test_packed_refs_and_head_are_seen(repository: Path) -> None:
    git(repository, "branch", "other")
    with watching(repository) as (_, woken):
        git(repository, "symbolic-ref", "HEAD", "refs/heads/other")
        assert woken.within(PATIENT) == "docs"
        git(repository, "pack-refs", "--all")
        assert woken.within(PATIENT) == "docs"


def test_the_named_file_is_seen_and_its_neighbours_are_not(repository: Path) -> None:
    with watching(repository) as (_, woken):
        (repository / "notes.yaml").write_text("site: two\n")
        assert woken.within(SILENCE) is None
        saved = repository / "site.yaml~"
        saved.write_text("site: two\n")
        saved.rename(repository / "site.yaml")
        assert woken.within(PATIENT) == "docs"


def test_lock_files_wake_nobody(repository: Path) -> None:
    with watching(repository) as (_, woken):
        for name in ("HEAD.lock", "packed-refs.lock", "refs/heads/main.lock"):
            (repository / ".git" / name).touch()
            (repository / ".git" / name).unlink()
        assert woken.within(SILENCE) is None


def test_a_commit_in_a_linked_worktree_is_seen(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "-q", "-b", "draft", str(tmp_path / "linked"))
    woken = Woken()
    watcher = Watcher(woken.keys.put)
    watcher.add("linked", repository / ".git" / "worktrees" / "linked", [])
    watcher.start()
    git(tmp_path / "linked", "commit", "-q", "--allow-empty", "-m", "Edit")
    assert woken.within(PATIENT) == "linked"
    watcher.stop()


def test_paused_writes_wake_nobody_and_later_ones_do(repository: Path) -> None:
    with watching(repository) as (watcher, woken):
        with watcher.pause("docs") as moved:
            assert not moved()
            git(repository, "commit", "-q", "--allow-empty", "-m", "Ours")
            assert moved()
        assert woken.within(SILENCE) is None
        git(repository, "commit", "-q", "--allow-empty", "-m", "Theirs")
        assert woken.within(PATIENT) == "docs"


def test_what_comes_after_the_last_look_of_a_pause_is_not_hidden(repository: Path) -> None:
    with watching(repository) as (watcher, woken):
        with watcher.pause("docs") as moved:
            assert not moved()
            git(repository, "commit", "-q", "--allow-empty", "-m", "Theirs")
            assert woken.within(SILENCE) is None
        assert woken.within(PATIENT) == "docs"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EMFILE])
def test_without_inotify_it_looks_now_and_then_and_says_so(repository: Path, number: int) -> None:
    def exhausted() -> BaseObserver:
        raise OSError(number, "inotify limit reached")

    with watching(repository, exhausted, lambda: PollingObserver(timeout=0.1)) as (watcher, woken):
        assert len(woken.notices) == 1
        assert "inotify limit reached" in woken.notices[0]
        git(repository, "commit", "-q", "--allow-empty", "-m", "Edit")
        assert woken.within(PATIENT) == "docs"
        with watcher.pause("docs"):
            git(repository, "commit", "-q", "--allow-empty", "-m", "Ours")
        assert woken.within(SILENCE) is None


def test_a_directory_that_is_not_there_is_said_and_hinders_nothing(repository: Path) -> None:
    woken = Woken()
    watcher = Watcher(woken.keys.put, notice=woken.notices.append)
    watcher.add("docs", repository / ".git", [repository / "missing" / "site.yaml"])
    watcher.start()
    assert len(woken.notices) == 1
    assert "missing" in woken.notices[0]
    git(repository, "commit", "-q", "--allow-empty", "-m", "Edit")
    assert woken.within(PATIENT) == "docs"
    watcher.stop()


def test_stopping_is_final(repository: Path) -> None:
    with watching(repository) as (watcher, woken):
        git(repository, "commit", "-q", "--allow-empty", "-m", "Edit")
        watcher.stop()
        assert woken.within(SILENCE) is None


def test_a_key_is_due_after_a_quiet_time() -> None:
    debounce = Debounce(QUIET, LONGEST)
    assert debounce.find_wait(0) is None
    debounce.touch("a", 10.0)
    assert debounce.take_due(10.29) == []
    assert debounce.find_wait(10.1) == pytest.approx(0.2)
    assert debounce.take_due(10.31) == ["a"]
    assert debounce.take_due(20.0) == []


def test_events_without_end_do_not_put_a_wake_off_for_ever() -> None:
    debounce = Debounce(QUIET, LONGEST)
    due = []
    for tick in range(100):
        now = tick * 0.1
        debounce.touch("a", now)
        due += [now for _ in debounce.take_due(now)]
    assert due == pytest.approx([2.0, 4.1, 6.2, 8.3])


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.floats(0, 10)), max_size=30))
def test_every_touch_is_answered_in_time_and_not_before_its_quiet_time(touches: list[tuple[str, float]]) -> None:
    debounce = Debounce(QUIET, LONGEST)
    open_since: dict[str, float] = {}
    for key, now in sorted(touches, key=lambda touch: touch[1]):
        for due in debounce.take_due(now):
            open_since.pop(due)
        assert all(now < since + LONGEST for since in open_since.values())
        open_since.setdefault(key, now)
        debounce.touch(key, now)
        assert debounce.find_wait(now) is not None
    assert set(debounce.take_due(10 + QUIET)) == set(open_since)


def test_a_thread_that_ends_a_moment_late_is_not_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    watcher = Watcher(lambda key: None)
    watcher.start()
    watcher.stop()
    log = logging.getLogger("watchdog.observers.inotify")
    log.error("InotifyEmitter.queue_events() called when the thread is inactive")
    log.warning("Inotify queue overflowed; reconciling recursive watches below %r", "docs")
    assert [record.levelname for record in caplog.records] == ["WARNING"]
