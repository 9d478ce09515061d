"""Who changed what: the commits that lines of a file come from, and the newest one that touched a file, or many."""

import re
from collections.abc import Collection, Iterator, Sequence

from syncd.repo.failures import build_failure
from syncd.repo.names import check_oid
from syncd.repo.process.git import Git
from syncd.repo.read.objects import parse_seconds

_OPTIONS = ("--porcelain", "--root", "--no-textconv", "--ignore-revs-file=")
"""Root commits count, and neither a program nor a list of commits that a repository's configuration names."""
_COMMITS_AT_ONCE = 1000
"""Commits whose changes are in memory at one time."""
_LINE = re.compile(rb"([0-9a-f]{40,64}) \d+ (\d+)(?: \d+)?")


def find_line_commits(
    git: Git,
    commit: str,
    path: str,
    lines: Sequence[tuple[int, int]],
    *,
    exclude: Sequence[str],
    should_follow_moves: bool = False,
) -> dict[int, str]:
    """Return the commit that each line of a file comes from, by the line's number.

    Shape: with `should_follow_moves`, a line that was moved within the file comes from where it was written. Lines
    count from 0, and a range of `lines` ends before its second number. A line that an excluded commit has already is
    left out; a file that the commit lacks has no lines. Source: git-blame(1), the porcelain format.
    """
    ranges = [f"-L{start + 1},{end}" for start, end in lines if start < end]
    if not ranges:
        return {}
    names = [*(f"^{check_oid(oid)}" for oid in exclude), check_oid(commit)]
    moves = ("-M1",) if should_follow_moves else ()
    status, output, _ = git.attempt("blame", *_OPTIONS, *moves, *ranges, *names, "--", path)
    found: dict[int, str] = {}
    old: set[str] = set()
    oid = ""
    for line in output.split(b"\n") if status == 0 else ():
        if head := _LINE.fullmatch(line):
            oid = head[1].decode()
            found[int(head[2]) - 1] = oid
        elif line == b"boundary":
            old.add(oid)
    return {number: oid for number, oid in found.items() if oid not in old}


def find_last_change(git: Git, commit: str, path: str, *, exclude: Sequence[str]) -> str:
    """Return the newest ancestor of a commit, or itself, that changed a path; "" when there is none.

    Shape: what an excluded commit reaches does not count.
    """
    names = [check_oid(commit), *(f"^{check_oid(oid)}" for oid in exclude)]
    return git.run("rev-list", "--max-count=1", *names, "--", path).decode().strip()


def find_change_times(
    git: Git, commit: str, paths: Collection[str], *, since: str | None, cuts: Collection[str]
) -> dict[str, int] | None:
    """Return when each of many files last changed, on the line of first parents that ends in a commit.

    Shape: a merge changed what differs from its first parent, and its time is that of its committer. What `since` and
    commits before it changed does not count; None when `since` is not on that line. `cuts` are the commits of a shallow
    clone whose parents are missing: nobody can say what these changed.
    Units: seconds since 1970.
    """
    line = _list_line(git, commit, since)
    if line is None:
        return None
    wanted, found = set(paths), {}
    for at in range(0, len(line), _COMMITS_AT_ONCE):
        part = {oid: when for oid, when in line[at : at + _COMMITS_AT_ONCE] if oid not in cuts}
        for oid, path in _list_touched(git, part) if wanted else ():
            if path in wanted:
                wanted.discard(path)
                found[path] = part[oid]
    return found


def _list_line(git: Git, commit: str, since: str | None) -> list[tuple[str, int]] | None:
    """The commits of a line of first parents with their times, newest first; None when `since` is not on it."""
    names = [check_oid(commit), *([f"^{check_oid(since)}"] if since else [])]
    shape = ("--first-parent", "--no-commit-header", "--format=%H %ct %P")
    status, output, complaint = git.attempt("rev-list", *shape, *names, "--")
    if status and since:
        return None  # it is not here any more
    if status:
        raise build_failure("rev-list", status, complaint)
    rows = [row.split(" ") for row in output.decode().splitlines()]
    end = rows[-1][2] if rows else commit
    return [(row[0], parse_seconds(row[1])) for row in rows] if not since or end == since else None


def _list_touched(git: Git, commits: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield commit and path of each file that commits changed against their first parents, in the order of commits."""
    options = ("--stdin", "--root", "-r", "-z", "--raw", "--no-renames", "--diff-merges=first-parent")
    words = iter(git.run("diff-tree", *options, data="".join(f"{oid}\n" for oid in commits).encode()).split(b"\0"))
    oid = ""
    for word in words:
        if word.startswith(b":"):
            yield oid, next(words).decode("utf-8", "surrogateescape")
        else:
            oid = word.decode()
