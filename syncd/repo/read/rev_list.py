"""Ask git about commits: ancestry, ranges, and commits with a trailer; one process for each question."""

from collections.abc import Collection, Generator, Iterator
from contextlib import closing

from syncd.repo.failures import build_failure
from syncd.repo.names import check_oid
from syncd.repo.process.git import Git
from syncd.repo.read.objects import Reader
from syncd.repo.values import Commit


def is_ancestor(git: Git, ancestor: str, commit: str) -> bool:
    """Return whether the first commit is the second or one of its ancestors. Raises: as `Git.run`."""
    status, _, complaint = git.attempt("merge-base", "--is-ancestor", "--", check_oid(ancestor), check_oid(commit))
    if status not in (0, 1):
        raise build_failure("merge-base", status, complaint)
    return status == 0


def find_ancestors(git: Git, commits: Collection[str], *, exclude: str | None) -> dict[str, frozenset[str]]:
    """Return for each of some commits which others of them are its ancestors, but for those that `exclude` reaches."""
    names = [*map(check_oid, commits), *([f"^{check_oid(exclude)}"] if exclude else [])]
    found: dict[str, frozenset[str]] = {}
    for line in git.run("rev-list", "--topo-order", "--reverse", "--parents", *names, "--").decode().splitlines():
        oid, *parents = line.split()
        found[oid] = frozenset().union(*(found[one] | {one}.intersection(commits) for one in parents if one in found))
    return {oid: found.get(oid, frozenset()) for oid in commits}


def find_merge_bases(git: Git, ours: str, theirs: str) -> list[str]:
    """Return all merge bases of two commits; none for unrelated histories. Raises: as `Git.run`."""
    status, output, complaint = git.attempt("merge-base", "--all", "--", check_oid(ours), check_oid(theirs))
    if status not in (0, 1):
        raise build_failure("merge-base", status, complaint)
    return output.decode().split()


def find_marked(git: Git, reader: Reader, ours: str, theirs: str, trailer: str) -> tuple[list[Commit], list[Commit]]:
    """Return the commits with a trailer that only the first, and only the second, of two reaches, newest first."""
    span = f"{check_oid(ours)}...{check_oid(theirs)}"
    sides: dict[str, list[Commit]] = {"<": [], ">": []}
    for side, oid, _ in _list_carriers(git, f"{trailer}: ", "--left-right", "--topo-order", span):
        commit = read_commit(reader, oid)
        if trailer in commit.trailers:
            sides[side].append(commit)
    return sides["<"], sides[">"]


def list_commits(git: Git, reader: Reader, exclude: str | None, include: str, *, limit: int) -> list[Commit]:
    """Return a commit and its ancestors, newest first, without those that `exclude` reaches, at most `limit`."""
    names = [check_oid(include), *([f"^{check_oid(exclude)}"] if exclude else [])]
    listed = git.run("rev-list", f"--max-count={int(limit)}", *names, "--")
    return [read_commit(reader, oid) for oid in listed.decode().splitlines()]


def read_commit(reader: Reader, oid: str) -> Commit:
    """Return a commit."""
    return reader.read_node(oid).commit


def find_carrying(
    git: Git, reader: Reader, tip: str, trailer: str, value: str, *, committer: str, exclude: str | None = None
) -> Iterator[Commit]:
    """Yield a commit and all of its ancestors that have a trailer with this value, newest first, without those that
    `exclude` reaches.

    Shape: `committer` is part of the name and address of the committer of each.
    """
    names = [check_oid(tip), *([f"^{check_oid(exclude)}"] if exclude else [])]
    for _, oid, person in _list_carriers(git, f"{trailer}: {value}", "--topo-order", *names):
        if committer in person:
            commit = read_commit(reader, oid)
            if value in commit.trailers.get(trailer, []):
                yield commit


def _list_carriers(git: Git, words: str, *arguments: str) -> Iterator[tuple[str, str, str]]:
    """Yield side, id and committer of each commit of a git rev-list whose message has a line that begins with
    `words`.
    """
    wanted = f"\n{words}".encode()
    with closing(list_messages(git, "%m %H %cn <%ce>", *arguments)) as records:
        for record in records:
            if wanted in record:
                side, oid, person = record.split(b"\n", 1)[0].decode("utf-8", "replace").split(" ", 2)
                yield side, oid, person


def list_messages(git: Git, heading: str, *arguments: str) -> Generator[bytes, None, None]:
    """Yield, for each commit of a git rev-list, a line in a format of git-log(1) and the message."""
    shape = ("--no-commit-header", "--encoding=UTF-8", f"--format={heading}%n%B%x00")
    return git.start("rev-list", *shape, *arguments, "--").read_records(b"\0\n")
