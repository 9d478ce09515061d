"""Who changed what: the commits that lines of a file come from, and the newest one that touched a file."""

import re
from collections.abc import Sequence

from syncd.repo.names import check_oid
from syncd.repo.process.git import Git

_OPTIONS = ("--porcelain", "--root", "--no-textconv", "--ignore-revs-file=")
"""Root commits count, and neither a program nor a list of commits that a repository's configuration names."""
_LINE = re.compile(rb"([0-9a-f]{40,64}) \d+ (\d+)(?: \d+)?")


def find_line_commits(
    git: Git, commit: str, path: str, lines: Sequence[tuple[int, int]], *, exclude: Sequence[str]
) -> dict[int, str]:
    """Return the commit that each line of a file comes from, by the line's number.

    Shape: lines count from 0, and a range of `lines` ends before its second number. A line that an excluded commit has
    already is left out; a file that the commit lacks has no lines. Source: git-blame(1), the porcelain format.
    """
    ranges = [f"-L{start + 1},{end}" for start, end in lines if start < end]
    if not ranges:
        return {}
    names = [*(f"^{check_oid(oid)}" for oid in exclude), check_oid(commit)]
    status, output, _ = git.attempt("blame", *_OPTIONS, *ranges, *names, "--", path)
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
