"""Walk commits: ancestry, ranges, and the newest commit that carries a trailer."""

from collections.abc import Iterator

from syncd.errors import GitFailed
from syncd.repo.failures import failure
from syncd.repo.git import Git
from syncd.repo.names import check_oid
from syncd.repo.objects import Reader, parse_commit
from syncd.repo.values import Commit

_BATCH = 64


def is_ancestor(git: Git, ancestor: str, commit: str) -> bool:
    """Given two commits, return whether the first is the second or one of its ancestors."""
    status, _, complaint = git.attempt("merge-base", "--is-ancestor", "--", check_oid(ancestor), check_oid(commit))
    if status not in (0, 1):
        raise failure("merge-base", status, complaint)
    return status == 0


def merge_base(git: Git, ours: str, theirs: str) -> str | None:
    """Given two commits, return a best common ancestor; None for unrelated histories."""
    status, output, complaint = git.attempt("merge-base", "--", check_oid(ours), check_oid(theirs))
    if status not in (0, 1):
        raise failure("merge-base", status, complaint)
    return output.decode().split("\n", 1)[0] or None


def commits(git: Git, reader: Reader, exclude: str | None, include: str, *, limit: int) -> list[Commit]:
    """Given a commit, return it and its ancestors, newest first, without those of another, at most `limit`."""
    names = [check_oid(include), *([f"^{check_oid(exclude)}"] if exclude else [])]
    listed = git.run("rev-list", f"--max-count={int(limit)}", *names, "--")
    return [read(reader, oid) for oid in listed.decode().splitlines()]


def read(reader: Reader, oid: str) -> Commit:
    """Given a commit's id, return it parsed."""
    return parse_commit(oid, reader.contents(oid, "commit"))


def find(git: Git, reader: Reader, tip: str, *, trailer: str, value: str) -> Commit | None:
    """Given a commit, return the newest of its first-parent line that carries a trailer with exactly this value."""
    if any(character in f"{trailer}{value}" for character in "\n\r\0"):
        raise GitFailed("a trailer is one line")
    for oid in _candidates(git, tip, f"{trailer}: {value}"):
        commit = read(reader, oid)
        if value in commit.trailers.get(trailer, []):
            return commit
    return None


def _candidates(git: Git, tip: str, words: str) -> Iterator[str]:
    """Commits whose message holds the words somewhere; a few at a time, since the first is nearly always the one."""
    options = ("--first-parent", "--fixed-strings", f"--grep={words}")
    skip, size = 0, 1
    while True:
        listed = git.run("rev-list", *options, f"--max-count={size}", f"--skip={skip}", check_oid(tip), "--")
        found = listed.decode().splitlines()
        yield from found
        if len(found) < size:
            return
        skip, size = skip + size, _BATCH
