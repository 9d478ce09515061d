"""Foreign failures become ours once, here: what git printed and what the system refused."""

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager

from syncd.errors import DiskFull, GitFailed, NotARepository, SyncdError

_FULL = re.compile(r"no space left on device|disk quota exceeded", re.IGNORECASE)
_NOT_WHOLE = re.compile(r"unexpected checksum for \S*tmp_pack", re.IGNORECASE)
_NO_REPOSITORY = re.compile(
    r"not a git repository|unknown repository (?:version|extension)|expected git repo version|invalid gitfile format",
    re.IGNORECASE,
)
_LOCKED = re.compile(r"unable to create '([^']*\.lock)': file exists", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_LONGEST_LINE = 300


def failure(verb: str, status: int, stderr: str) -> SyncdError:
    """Given a git command's verb, exit status and error output, return the error to raise.

    Shape: the message carries git's last line of weight, without control characters.
    """
    line = _weightiest(stderr)
    said = f"git {verb}: {line}" if line else f"git {verb} ended with status {status}"
    if _FULL.search(stderr):
        return DiskFull(said, hint="make room on the repository's disk, then run again")
    if _NOT_WHOLE.search(stderr):  # fast-import writes past a full disk and only then reads back what it wrote
        return DiskFull(f"{said}: no space was left for it", hint="make room on the repository's disk, then run again")
    if _NO_REPOSITORY.search(stderr):
        return NotARepository(said)
    if locked := _LOCKED.search(stderr):
        return GitFailed(said, hint=f"another git process is at work; if none runs, remove {locked[1]}")
    return GitFailed(said)


@contextmanager
def system_failures(what: str) -> Iterator[None]:
    """Given what is being done, turn a refusal of the operating system inside the block into DiskFull or GitFailed."""
    try:
        yield
    except OSError as error:
        said = f"{what}: {error.strerror or error}"
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(said, hint="make room on the repository's disk, then run again") from error
        raise GitFailed(said) from error


def _weightiest(stderr: str) -> str:
    """The last line that says fatal or error, else the last line at all."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    heavy = [line for line in lines if line.startswith(("fatal:", "error:"))]
    return _CONTROL.sub("?", (heavy or lines or [""])[-1])[:_LONGEST_LINE]
