"""Walk commits: ancestry, ranges, and the newest commit that carries a trailer."""

from collections.abc import Iterator
from contextlib import closing

from syncd.errors import GitFailed
from syncd.repo.failures import failure
from syncd.repo.git import Git
from syncd.repo.graph import Graph, Unread
from syncd.repo.names import check_oid
from syncd.repo.objects import Reader
from syncd.repo.trail import Trail, list_messages
from syncd.repo.values import Commit


class History:
    """The commits of a repository; they never change, so what was answered once is answered again from memory."""

    def __init__(self, git: Git, reader: Reader) -> None:
        self._git, self._reader = git, reader
        self._graph = Graph(git, reader)
        self._ancestry: dict[tuple[str, str], bool] = {}
        self._bases: dict[tuple[str, str], list[str]] = {}
        self._marked: dict[tuple[str, str, str], tuple[list[Commit], list[Commit]]] = {}
        self._trails: dict[str, Trail] = {}

    def is_ancestor(self, ancestor: str, commit: str) -> bool:
        """Given two commits, return whether the first is the second or one of its ancestors."""
        key = check_oid(ancestor), check_oid(commit)
        if key not in self._ancestry:
            try:
                self._ancestry[key] = self._graph.is_ancestor(*key)
            except Unread:
                self._ancestry[key] = is_ancestor(self._git, *key)
        return self._ancestry[key]

    def merge_bases(self, ours: str, theirs: str) -> list[str]:
        """Given two commits, return all best common ancestors; none for unrelated histories."""
        key = check_oid(ours), check_oid(theirs)
        if key not in self._bases:
            try:
                self._bases[key] = self._graph.merge_bases(*key)
            except Unread:
                self._bases[key] = merge_bases(self._git, *key)
        return list(self._bases[key])

    def marked(self, ours: str, theirs: str, trailer: str) -> tuple[list[Commit], list[Commit]]:
        """Given two commits, return those with a trailer that only one of them reaches, newest first."""
        key = check_oid(ours), check_oid(theirs), trailer
        if key not in self._marked:
            found = self._few_marked(*key)
            self._marked[key] = found if found is not None else marked(self._git, self._reader, *key)
        left, right = self._marked[key]
        return list(left), list(right)

    def _few_marked(self, ours: str, theirs: str, trailer: str) -> tuple[list[Commit], list[Commit]] | None:
        """As `marked`, when there is at most one on each side: the order of more is Git's."""
        try:
            sides = self._graph.only(ours, theirs)
            nodes = [[self._graph.node(oid) for oid in side] for side in sides]
        except Unread:
            return None
        wanted = f"\n{trailer}: "
        left, right = (
            [node.commit for node in side if wanted in f"\n{node.message}" and trailer in node.commit.trailers]
            for side in nodes
        )
        return (left, right) if max(len(left), len(right)) < 2 else None

    def commits(self, exclude: str | None, include: str, *, limit: int) -> list[Commit]:
        """Given a commit, return it and its ancestors, newest first, without those of another, at most `limit`."""
        if exclude is None and limit == 1:
            return [read(self._reader, check_oid(include))]
        try:
            return self._graph.newest(check_oid(exclude) if exclude else None, check_oid(include), limit)
        except Unread:
            return commits(self._git, self._reader, exclude, include, limit=limit)

    def find(self, tip: str, trailer: str, value: str) -> Commit | None:
        """Given a commit, return the newest of its first-parent line that carries a trailer with exactly this value."""
        if any(character in f"{trailer}{value}" for character in "\n\r\0"):
            raise GitFailed("a trailer is one line")
        trail = self._trails.get(trailer)
        if trail is None or trail.tip != tip:
            trail = self._trails[trailer] = Trail(self._git, self._graph, tip, trailer, trail)
        for oid in trail.carriers(value):
            commit = read(self._reader, oid)
            if value in commit.trailers.get(trailer, []):
                return commit
        return None


def is_ancestor(git: Git, ancestor: str, commit: str) -> bool:
    """Given two commits, return whether the first is the second or one of its ancestors."""
    status, _, complaint = git.attempt("merge-base", "--is-ancestor", "--", check_oid(ancestor), check_oid(commit))
    if status not in (0, 1):
        raise failure("merge-base", status, complaint)
    return status == 0


def merge_bases(git: Git, ours: str, theirs: str) -> list[str]:
    """Given two commits, return all best common ancestors; none for unrelated histories."""
    status, output, complaint = git.attempt("merge-base", "--all", "--", check_oid(ours), check_oid(theirs))
    if status not in (0, 1):
        raise failure("merge-base", status, complaint)
    return output.decode().split()


def marked(git: Git, reader: Reader, ours: str, theirs: str, trailer: str) -> tuple[list[Commit], list[Commit]]:
    """Given two commits, return those with a trailer that only the first and only the second reaches, newest first."""
    span = f"{check_oid(ours)}...{check_oid(theirs)}"
    sides: dict[str, list[Commit]] = {"<": [], ">": []}
    for side, oid, _ in _carriers(git, f"{trailer}: ", "--left-right", "--topo-order", span):
        commit = read(reader, oid)
        if trailer in commit.trailers:
            sides[side].append(commit)
    return sides["<"], sides[">"]


def commits(git: Git, reader: Reader, exclude: str | None, include: str, *, limit: int) -> list[Commit]:
    """Given a commit, return it and its ancestors, newest first, without those of another, at most `limit`."""
    names = [check_oid(include), *([f"^{check_oid(exclude)}"] if exclude else [])]
    listed = git.run("rev-list", f"--max-count={int(limit)}", *names, "--")
    return [read(reader, oid) for oid in listed.decode().splitlines()]


def read(reader: Reader, oid: str) -> Commit:
    """Given a commit's id, return it parsed."""
    return reader.node(oid).commit


def carrying(git: Git, reader: Reader, tip: str, trailer: str, value: str, *, committer: str) -> Iterator[Commit]:
    """Given a commit, return it and all of its ancestors that carry a trailer, newest first.

    Shape: `committer` is in the name and address of the committer of each.
    """
    for _, oid, person in _carriers(git, f"{trailer}: {value}", "--topo-order", check_oid(tip)):
        if committer in person:
            commit = read(reader, oid)
            if value in commit.trailers.get(trailer, []):
                yield commit


def _carriers(git: Git, words: str, *arguments: str) -> Iterator[tuple[str, str, str]]:
    """Given arguments of git rev-list, return side, id and committer of each commit with a line that begins so."""
    wanted = f"\n{words}".encode()
    with closing(list_messages(git, "%m %H %cn <%ce>", *arguments)) as records:
        for record in records:
            if wanted in record:
                side, oid, person = record.split(b"\n", 1)[0].decode("utf-8", "replace").split(" ", 2)
                yield side, oid, person
