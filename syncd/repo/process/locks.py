"""Take Git's locks such that those which a killed process of syncd leaves behind are known and removed.

| lock                                     | how it is known as ours                                          |
|------------------------------------------|------------------------------------------------------------------|
| index.lock                               | a hard link to our own file, or, in a copy, with its text        |
| refs below refs/syncd, refs/remotes/<us> | nobody else writes there                                         |
| refs/heads/x.lock, HEAD, packed-refs     | a note says that we were about to take it; it holds our commit,  |
|                                          | or nobody has touched it for two seconds                         |

A note, and the lock around a move of the work tree, are files under flock(2), and git inherits the descriptor: so they
stay locked until the last process of a killed run is gone, and only then is anything judged to be left behind.
Source: flock(2); tests/repo/test_repo_crash.py kills a run between the steps.
"""

import fcntl
import json
import os
import secrets
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep, time

from syncd.errors import AnotherRuns, OperationInProgress
from syncd.repo.failures import translate_system_failures
from syncd.repo.process.git import Git

STALE_SECONDS = 2.0
PATIENCE_SECONDS = 60.0
_OWNER_TEXT = "syncd holds the index while it moves the work tree.\n"


@contextmanager
def lock_work_tree(git: Git, *, patience: float = PATIENCE_SECONDS) -> Iterator[None]:
    """Lock the work tree against every other syncd that would move it, and wait for what a killed one has left running.

    Units: `patience` in seconds. Raises: AnotherRuns when the lock is not free in that time.
    """
    with translate_system_failures("locking the work tree"):
        descriptor = os.open(git.location.make_own_directory() / "move.lock", os.O_RDWR | os.O_CREAT, 0o600)
    with _hold_lock(git, descriptor, patience):
        yield


@contextmanager
def note_locks(git: Git, locks: Sequence[Path], oid: str) -> Iterator[None]:
    """Leave a note of the locks that git is about to take, for as long as the block runs.

    A later run can tell by it that a lock was left by a syncd that was killed, and remove the lock.
    """
    with translate_system_failures("noting a lock"):
        note = git.location.make_notes_directory() / f"{os.getpid()}-{secrets.token_hex(6)}"
        descriptor = os.open(note, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    with _hold_lock(git, descriptor, PATIENCE_SECONDS):
        try:
            with translate_system_failures("noting a lock"):
                os.write(descriptor, json.dumps({"locks": [str(lock) for lock in locks], "oid": oid}).encode())
            yield
        finally:
            note.unlink(missing_ok=True)


@contextmanager
def _hold_lock(git: Git, descriptor: int, patience: float) -> Iterator[None]:
    before = git.inherited
    try:
        _lock(descriptor, patience)
        git.inherited = (*before, descriptor)
        yield
    finally:
        git.inherited = before
        # Unlocked explicitly: a process that inherited the descriptor and still runs would keep the lock.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def _lock(descriptor: int, patience: float) -> None:
    deadline = monotonic() + patience
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if monotonic() > deadline:
                raise AnotherRuns("another syncd is moving this work tree", hint="wait for it to end") from None
            sleep(0.01)


@contextmanager
def lock_index(git: Git) -> Iterator[None]:
    """Hold git's own lock of the index. Raises: OperationInProgress when another process holds it."""
    owner, lock = git.location.make_own_directory() / "index.lock-owner", git.location.git_dir / "index.lock"
    with translate_system_failures("locking the index"):
        if not owner.exists():
            owner.write_text(_OWNER_TEXT, encoding="utf-8")
        try:
            os.link(owner, lock)
        except FileExistsError:
            raise OperationInProgress(
                "another git process holds the index", hint=f"wait for it; if no git runs, remove {lock}"
            ) from None
    try:
        yield
    finally:
        release_index(git)


def release_index(git: Git) -> None:
    """Remove the lock of the index when it is ours."""
    owner, lock = git.location.make_own_directory() / "index.lock-owner", git.location.git_dir / "index.lock"
    if _is_ours(owner, lock):
        lock.unlink(missing_ok=True)


def _is_ours(owner: Path, lock: Path) -> bool:
    """Whether a lock of the index is a hard link to our file, or, in a copy of the repository, has its text."""
    try:
        found = lock.lstat()
        if owner.exists() and os.path.samestat(found, owner.lstat()):
            return True
        return stat.S_ISREG(found.st_mode) and found.st_size == len(_OWNER_TEXT) and lock.read_text() == _OWNER_TEXT
    except (FileNotFoundError, UnicodeDecodeError):
        return False


def has_leftovers(git: Git) -> bool:
    """Return whether a syncd that was killed, or that still runs, holds the index or has noted a lock.

    Shape: it writes nothing to find out.
    """
    if holds_index(git.location.git_dir):
        return True
    with suppress(FileNotFoundError):
        return any((git.location.common_dir / "syncd" / "locks").iterdir())
    return False


def holds_index(git_dir: Path) -> bool:
    """Return whether a syncd that was killed, or that still runs, holds the index in a git directory."""
    return _is_ours(git_dir / "syncd" / "index.lock-owner", git_dir / "index.lock")


def remove_stale(git: Git, remote: str) -> None:
    """Remove the locks that killed runs of syncd left; the caller holds the repository's run lock."""
    refs = git.location.common_dir / "refs"
    for directory in (refs / "syncd", refs / "remotes" / remote):
        for lock in directory.rglob("*.lock"):
            lock.unlink(missing_ok=True)
    clear_notes(git)


def clear_notes(git: Git, *, patience: float = PATIENCE_SECONDS) -> None:
    """Remove the locks that the notes of killed runs name; a note whose process still runs is waited for.

    Units: `patience` in seconds. Raises: AnotherRuns.
    """
    for note in git.location.make_notes_directory().iterdir():
        _clear_note(git, note, patience)


def _clear_note(git: Git, note: Path, patience: float) -> None:
    """Remove the locks that a note names, once nobody works under it."""
    try:
        descriptor = os.open(note, os.O_RDWR)
    except FileNotFoundError:
        return
    with _hold_lock(git, descriptor, patience):
        # A note that was cut off was left before git was started.
        with suppress(ValueError):
            known = json.loads(note.read_bytes() if note.exists() else b"{}")
            for lock in known.get("locks", ()):
                _remove_when_stale(Path(lock), known["oid"])
        note.unlink(missing_ok=True)


def _remove_when_stale(lock: Path, oid: str) -> None:
    with suppress(FileNotFoundError):
        seen = lock.stat()
        if not oid or lock.read_bytes().strip() != oid.encode():
            sleep(min(STALE_SECONDS, max(0.0, STALE_SECONDS - (time() - seen.st_mtime))))
            now = lock.stat()
            if (now.st_ino, now.st_mtime_ns) != (seen.st_ino, seen.st_mtime_ns):
                return
        lock.unlink()
