"""Translate failures of git and of the operating system into syncd's errors."""

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from syncd.errors import (
    NO_SPACE,
    DiskFull,
    GitFailed,
    NotARepository,
    NotFound,
    RepositoryDenied,
    SyncdError,
    Unauthorized,
    Unreachable,
)
from syncd.model.text import mask_unprintable

_FULL = re.compile(
    # Git gives no reason for a file of the work tree that it could open and not write: there is hardly another one.
    r"no space left on device|disk quota exceeded|out of disk ?space|unable to write file",
    re.IGNORECASE,
)
_TEMPORARY = re.compile(r"tmp_(pack|obj|idx)_\w+")
_NOT_WHOLE = re.compile(r"unexpected checksum for \S*tmp_pack", re.IGNORECASE)
_NO_REPOSITORY = re.compile(
    r"not a git repository|unknown repository (?:version|extension)|expected git repo version|invalid gitfile format",
    re.IGNORECASE,
)
_DENIED = re.compile(r"permission denied|read-only file system|insufficient permission for adding", re.IGNORECASE)
_DENIED_HERE = re.compile(
    r"insufficient permission for adding"
    r"|(?:unable to|cannot|could not|can't|failed to) (?:append|create|lock|open|unlink|write)[^\n]*"
    r"(?:permission denied|read-only file system)",
    re.IGNORECASE,
)
"""What git cannot write on this machine, as opposed to what a remote refuses in the same words."""
_LOCKED = re.compile(r"unable to create '([^']*\.lock)': file exists", re.IGNORECASE)
_NOT_ALLOWED = re.compile(
    r"authentication failed|could not read (?:username|password)|permission denied|returned error: 40[13]\b"
    r"|access denied|invalid (?:username|credentials)|terminal prompts disabled|bad permissions|load key",
    re.IGNORECASE,
)
_STRANGER = re.compile(r"host key verification failed|no \S+ host key is known|certificate", re.IGNORECASE)
_NOT_THERE = re.compile(
    r"repository '?[^']*'? ?not found|returned error: 404\b|does not (?:appear to be a git repository|exist)"
    r"|not found on (?:this|the) server|project you were looking for",
    re.IGNORECASE,
)
_NO_ANSWER = re.compile(
    r"could not resolve|connection (?:refused|reset|timed out|closed)|failed to connect|couldn't connect|timed out"
    r"|network is unreachable|no route to host|returned error: (?:429|5\d\d)|early eof|hung up unexpectedly"
    r"|rpc failed|empty reply|operation too slow|name or service not known|temporary failure|unable to access",
    re.IGNORECASE,
)
_PROMISED = re.compile(r"could not fetch [0-9a-f]+ from promisor remote|lazy fetching disabled", re.IGNORECASE)
_REMOTE_WORDS = re.compile(r"(remote error:).*", re.IGNORECASE)
INSTALL_GIT = "install git 2.38 or newer"
_USAGE_STATUS = 129
"""Git's exit status for an option, or a form of a command, that it does not know."""
_LONGEST_LINE = 300
_SMALL_FILE_BYTES = 4096


def build_failure(verb: str, status: int, stderr: str, *, disk: Path | None = None) -> SyncdError:
    """Return the error that a git command's exit status and error output mean; `disk` is where it writes.

    Shape: the message has the most telling line of git's output, without control characters. A failure that git does
    not explain is taken for a full disk when no room is left: `git init`, for one, only says that it could not set a
    value.
    """
    line = _find_main_line(stderr)
    said = f"git {verb}: {line}" if line else f"git {verb} ended with status {status}"
    if _FULL.search(stderr):
        return DiskFull(said, hint="make room on the repository's disk, then run again")
    if _NOT_WHOLE.search(stderr):  # fast-import writes past a full disk and only then reads back what it wrote
        return DiskFull(f"{said}: no space was left for it", hint="make room on the repository's disk, then run again")
    if _NO_REPOSITORY.search(stderr):
        return NotARepository(said)
    if _PROMISED.search(stderr):
        return GitFailed(
            "this is a partial clone that lacks an object, and syncd fetches none behind your back",
            hint="clone it whole, without --filter",
        )
    if denied := _find_line(_DENIED, stderr):
        return RepositoryDenied(f"git {verb}: {denied}")
    if locked := _LOCKED.search(stderr):
        return GitFailed(said, hint=f"another git process is at work; if none runs, remove {locked[1]}")
    if status == _USAGE_STATUS:
        return GitFailed(said, hint=f"this git may be too old: {INSTALL_GIT}; syncd doctor says which it is")
    if disk is not None and not has_room(disk):
        return DiskFull(f"{said}: no space was left for it", hint="make room on the repository's disk, then run again")
    return GitFailed(said)


def has_room(path: Path) -> bool:
    """Return whether the disk of a path, which need not exist yet, takes one more small file."""
    there = next(each for each in (path, *path.absolute().parents) if each.exists())
    disk = os.statvfs(there)
    blocks = disk.f_blocks == 0 or disk.f_bavail * disk.f_frsize >= _SMALL_FILE_BYTES  # some systems count none
    return blocks and (disk.f_files == 0 or disk.f_favail > 0)


def build_remote_failure(verb: str, where: str, status: int, stderr: str) -> SyncdError:
    """Return the error that the failure of a git command means that connected to a remote; `where` names the remote.

    Shape: what the remote itself said is left out: it is another's text, and may repeat what it was sent.
    """
    lines = [line.strip() for line in stderr.splitlines() if not line.lstrip().startswith("remote:")]
    own = "\n".join(_REMOTE_WORDS.sub("remote error", line) for line in lines)
    if _DENIED_HERE.search(own):
        return build_failure(verb, status, own)
    if _STRANGER.search(own):
        return Unauthorized(f"{where} is not known to be who it says", hint="see known_hosts_file, or SSL_CERT_FILE")
    if found := _find_line(_NOT_ALLOWED, own):
        return Unauthorized(
            f"{where}: {found}", hint="see username, token_file and ssh_key_file of [repository.upstream]"
        )
    if found := _find_line(_NOT_THERE, own):
        return NotFound(f"{where}: {found}", hint="check the address, and what the token or key may see")
    if found := _find_line(_NO_ANSWER, own):
        return Unreachable(f"{where}: {found}")
    return build_failure(verb, status, own)


def _find_line(words: re.Pattern[str], text: str) -> str:
    """The first line of a complaint that holds one of these words, or ""."""
    return _clean_line(next((line for line in text.splitlines() if words.search(line)), ""))


@contextmanager
def translate_system_failures(what: str) -> Iterator[None]:
    """Turn an OSError in the block into DiskFull or GitFailed; `what` says what is being done.

    Raises: DiskFull when no space is left or a quota is used up, RepositoryDenied without permission, else GitFailed.
    """
    try:
        yield
    except OSError as error:
        said = f"{what}: {error.strerror or error}"
        if error.errno in NO_SPACE:
            raise DiskFull(said, hint="make room on the repository's disk, then run again") from error
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise RepositoryDenied(said) from error
        raise GitFailed(said) from error


def _find_main_line(stderr: str) -> str:
    """The last line that says fatal or error, else the last line at all."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    heavy = [line for line in lines if line.startswith(("fatal:", "error:"))]
    return _clean_line((heavy or lines or [""])[-1])


def _clean_line(line: str) -> str:
    """A line without control characters and names that Git draws anew: the next run fails in the same words."""
    return mask_unprintable(_TEMPORARY.sub(r"tmp_\1", line), "?")[:_LONGEST_LINE]
