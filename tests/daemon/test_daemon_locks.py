"""A lock is held by one, named when it is in the way, and gone with its process."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from syncd.daemon.locks import SERVICE_LOCK, UNKNOWN, FileLock, ServiceLocks, find_holder, is_abandoned
from syncd.errors import AnotherRuns, ConfigInvalid, NotARepository

HOLD = """
import sys, time
from pathlib import Path
from syncd.daemon.locks import FileLock
with FileLock.acquire(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(float(sys.argv[2]))
"""

ASK = """
import sys, time
from pathlib import Path
from syncd.daemon.locks import find_holder
while True:
    find_holder(Path(sys.argv[1]))
    time.sleep(0.001)
"""


def hold(path: Path, seconds: float) -> subprocess.Popen[bytes]:
    process = subprocess.Popen([sys.executable, "-c", HOLD, path, str(seconds)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    return process


def test_the_second_is_refused_at_once_and_told_who_holds_it(tmp_path: Path) -> None:
    path = tmp_path / "syncd" / "daemon.lock"
    with hold(path, 60) as process:
        waited: list[float] = []
        with pytest.raises(AnotherRuns, match=rf"\(process {process.pid}\) works on {tmp_path}$"):
            FileLock.acquire(path, clock=lambda: sum(waited), sleep=waited.append)
        assert sum(waited) < 1
        assert find_holder(path) == process.pid
        process.kill()


def test_it_dies_with_its_process(tmp_path: Path) -> None:
    path = tmp_path / "syncd" / "run.lock"
    for _ in range(3):
        with hold(path, 60) as process:
            process.kill()
            process.wait()
        assert find_holder(path) is None
        assert is_abandoned(path)
        with FileLock.acquire(path):
            assert find_holder(path) == os.getpid()


def test_it_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "syncd" / "run.lock"
    with hold(path, 0.5), FileLock.acquire(path, wait=30):
        assert find_holder(path) == os.getpid()


def test_waiting_ends(tmp_path: Path) -> None:
    path = tmp_path / "syncd" / "run.lock"
    waited: list[float] = []
    with FileLock.acquire(path), pytest.raises(AnotherRuns):
        FileLock.acquire(path, wait=5, clock=lambda: sum(waited), sleep=waited.append)
    assert sum(waited) == pytest.approx(5, abs=0.1)


def test_a_child_does_not_inherit_it(tmp_path: Path) -> None:
    path = tmp_path / "syncd" / "run.lock"
    with FileLock.acquire(path):
        child = subprocess.Popen(["sleep", "60"], close_fds=False)
    with FileLock.acquire(path):
        child.kill()
    child.wait()


def test_it_can_be_given_back_and_taken_again(tmp_path: Path) -> None:
    path = tmp_path / "syncd" / "run.lock"
    lock = FileLock.acquire(path)
    assert not is_abandoned(path)
    lock.release()
    lock.release()
    assert find_holder(path) is None
    assert not is_abandoned(path)
    with FileLock.acquire(path) as again:
        assert again.path == path


def test_nobody_holds_what_is_not_there(tmp_path: Path) -> None:
    assert find_holder(tmp_path / "syncd" / "run.lock") is None
    assert list(tmp_path.iterdir()) == []


def test_who_may_not_read_a_lock_does_not_take_it_for_free(tmp_path: Path) -> None:
    path, own = tmp_path / "syncd" / "run.lock", os.geteuid()
    with FileLock.acquire(path):
        path.chmod(0)
        if own == 0:  # no mode keeps root from reading
            os.seteuid(65534)
        try:
            assert find_holder(path) == UNKNOWN
        finally:
            os.seteuid(own)


def test_to_ask_who_holds_it_is_in_nobodys_way(tmp_path: Path) -> None:
    path = tmp_path / "syncd" / "run.lock"
    FileLock.acquire(path).release()
    with subprocess.Popen([sys.executable, "-c", ASK, path]) as asking:
        try:
            for _ in range(2_000):
                FileLock.acquire(path).release()
        finally:
            asking.kill()


def test_a_lock_needs_a_repository_and_never_follows_a_link(tmp_path: Path) -> None:
    with pytest.raises(NotARepository):
        FileLock.acquire(tmp_path / "missing" / "syncd" / "run.lock")
    (tmp_path / "syncd").mkdir()
    (tmp_path / "syncd" / "run.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(NotARepository):
        FileLock.acquire(tmp_path / "syncd" / "run.lock")
    assert not (tmp_path / "elsewhere").exists()


def test_a_disk_that_hangs_keeps_no_other_repository(tmp_path: Path) -> None:
    locks, is_asked, answers = ServiceLocks(), Event(), Event()
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()

    def wait_for_disk() -> Path:
        is_asked.set()
        assert answers.wait(60)
        return one

    with ThreadPoolExecutor() as threads:
        first = threads.submit(locks.take, one, wait_for_disk)
        assert is_asked.wait(60)
        try:
            again = threads.submit(locks.take, one, lambda: one)
            assert threads.submit(locks.take, two, lambda: two).result(10) == (two, True)
            threads.submit(locks.release, two).result(10)
            assert find_holder(two / SERVICE_LOCK) is None
            assert not again.done()
        finally:
            answers.set()
        assert (first.result(10), again.result(10)) == ((one, True), (one, False)), "one after the other"
    with pytest.raises(ConfigInvalid, match="twice"):
        locks.take(tmp_path / "alias", lambda: one)
    assert find_holder(one / SERVICE_LOCK) == os.getpid()
    locks.release_all()
    assert find_holder(one / SERVICE_LOCK) is None
