"""Walk commits: ancestry, ranges, and the newest commit that carries a trailer."""

from collections.abc import Iterator
from contextlib import closing

from syncd.errors import GitFailed, HistoryCut
from syncd.repo.names import check_oid
from syncd.repo.process.git import Git
from syncd.repo.read.graph import CommitGraph
from syncd.repo.read.objects import Reader
from syncd.repo.read.rev_list import (
    find_marked,
    find_merge_bases,
    is_ancestor,
    list_commits,
    list_messages,
    read_commit,
)
from syncd.repo.values import Commit, NeedsGit


class History:
    """Questions about the commits of a repository; commits never change, so each answer is kept."""

    def __init__(self, git: Git, reader: Reader) -> None:
        self._git, self._reader = git, reader
        self._graph = CommitGraph(git, reader)
        self._ancestry: dict[tuple[str, str], bool] = {}
        self._bases: dict[tuple[str, str], list[str]] = {}
        self._marked: dict[tuple[str, str, str], tuple[list[Commit], list[Commit]]] = {}
        self._trails: dict[str, TrailerIndex] = {}

    def is_ancestor(self, ancestor: str, commit: str) -> bool:
        """Return whether the first commit is the second or one of its ancestors."""
        key = check_oid(ancestor), check_oid(commit)
        if key not in self._ancestry:
            try:
                self._ancestry[key] = self._graph.is_ancestor(*key)
            except NeedsGit:
                self._ancestry[key] = is_ancestor(self._git, *key)
        return self._ancestry[key]

    def find_merge_bases(self, ours: str, theirs: str) -> list[str]:
        """Return all merge bases of two commits; none for unrelated histories.

        Raises: HistoryCut when this shallow clone lacks the history in which one may be.
        """
        key = check_oid(ours), check_oid(theirs)
        if key not in self._bases:
            try:
                self._bases[key] = self._graph.find_merge_bases(*key)
            except NeedsGit:
                self._bases[key] = find_merge_bases(self._git, *key)
        if not self._bases[key] and self.list_cuts():  # histories that are cut may still be related
            raise HistoryCut(
                f"{ours[:10]} and {theirs[:10]} cannot be merged: what they grew from is not in this shallow clone"
            )
        return list(self._bases[key])

    def list_cuts(self) -> list[str]:
        """Return the commits whose parents this shallow clone lacks. Source: gitrepository-layout(5), shallow."""
        try:
            return (self._git.location.common_dir / "shallow").read_text().split()
        except FileNotFoundError:
            return []

    def list_cut_parents(self, commit: str) -> set[str]:
        """Return the ancestors of a commit that this shallow clone names as parents, and lacks."""
        cuts = (cut for cut in self._reader.read_sizes(self.list_cuts()) if self.is_ancestor(cut, commit))
        return {parent for cut in cuts for parent in self.read_commit(cut).parents}

    def read_commit(self, oid: str) -> Commit:
        """Return a commit. Raises: GitFailed when it is missing, or no commit."""
        return read_commit(self._reader, check_oid(oid))

    def find_marked(self, ours: str, theirs: str, trailer: str) -> tuple[list[Commit], list[Commit]]:
        """Return the commits with a trailer that only the first, and only the second, of two reaches, newest first."""
        key = check_oid(ours), check_oid(theirs), trailer
        if key not in self._marked:
            found = self._find_few_marked(*key)
            self._marked[key] = found if found is not None else find_marked(self._git, self._reader, *key)
        left, right = self._marked[key]
        return list(left), list(right)

    def _find_few_marked(self, ours: str, theirs: str, trailer: str) -> tuple[list[Commit], list[Commit]] | None:
        """As `find_marked`, when there is at most one on each side: only Git knows the order of more."""
        try:
            sides = self._graph.find_unshared(ours, theirs)
            nodes = [[self._graph.read_node(oid) for oid in side] for side in sides]
        except NeedsGit:
            return None
        wanted = f"\n{trailer}: "
        left, right = (
            [node.commit for node in side if wanted in f"\n{node.message}" and trailer in node.commit.trailers]
            for side in nodes
        )
        return (left, right) if max(len(left), len(right)) < 2 else None

    def list_commits(self, exclude: str | None, include: str, *, limit: int) -> list[Commit]:
        """Return a commit and its ancestors, newest first, without those that `exclude` reaches, at most `limit`."""
        try:
            return self._graph.list_newest(check_oid(exclude) if exclude else None, check_oid(include), limit)
        except NeedsGit:
            return list_commits(self._git, self._reader, exclude, include, limit=limit)

    def find_commit(self, tip: str, trailer: str, value: str) -> Commit | None:
        """Return the newest commit of a tip's first-parent line that has a trailer with exactly this value, or None.

        Raises: GitFailed when the trailer or value has a line break.
        """
        if any(character in f"{trailer}{value}" for character in "\n\r\0"):
            raise GitFailed("a trailer is one line")
        trail = self._trails.get(trailer)
        if trail is None or trail.tip != tip:
            trail = self._trails[trailer] = TrailerIndex(self._git, self._graph, tip, trailer, trail)
        for oid in trail.find_commits(value):
            commit = read_commit(self._reader, oid)
            if value in commit.trailers.get(trailer, []):
                return commit
        return None


BATCH, LARGEST_BATCH = 64, 8192
"""Commits that one process reads; then twice as many each time, so far."""


class TrailerIndex:
    """The commits of a first-parent line by their values of one trailer, read only as far as somebody asked.

    Shape: `former` is the index of an earlier tip; where this line reaches that tip, its content is reused.
    """

    def __init__(
        self, git: Git, graph: CommitGraph, tip: str, trailer: str, former: "TrailerIndex | None" = None
    ) -> None:
        self.tip = check_oid(tip)
        self._git, self._graph, self._lead, self._former = git, graph, f"{trailer}: ", former
        self._commits: dict[str, list[str]] = {}
        self._next, self._size = self.tip, BATCH

    def find_commits(self, value: str) -> Iterator[str]:
        """Yield the commits whose message has a line of the trailer with this value, newest first."""
        shown = 0
        while True:
            found = self._commits.get(value, [])
            yield from found[shown:]
            shown = max(shown, len(found))
            if not self._next:
                return
            self._read_more()

    def _read_more(self) -> None:
        if not self._read_few():
            self._read_many()

    def _read_few(self) -> bool:
        """Read one commit without a process; return whether that could be done."""
        if self._former is not None and self._next == self._former.tip:
            self._continue_as(self._former)
            return True
        try:
            node = self._graph.read_complete(self._next)
        except NeedsGit:
            return False
        if f"\n{self._lead}" in f"\n{node.message}":
            self._index_message(self._next, node.message)
        self._next = next(iter(node.commit.parents), "")
        return True

    def _read_many(self) -> None:
        wanted = f"\n{self._lead}".encode()
        arguments = ("--first-parent", f"--max-count={self._size}", self._next)
        with closing(list_messages(self._git, "%H %P", *arguments)) as records:
            for record in records:
                oid, *parents = record.split(b"\n", 1)[0].decode().split()
                if self._former is not None and oid == self._former.tip:
                    self._continue_as(self._former)
                    return
                if wanted in record:
                    self._index_message(oid, record.decode("utf-8", "replace"))
                self._next = parents[0] if parents else ""
        self._size = min(2 * self._size, LARGEST_BATCH)

    def _index_message(self, oid: str, message: str) -> None:
        for line in message.split("\n"):
            if line.startswith(self._lead):
                self._commits.setdefault(line.removeprefix(self._lead).strip(), []).append(oid)

    def _continue_as(self, former: "TrailerIndex") -> None:
        for value, oids in former._commits.items():
            self._commits.setdefault(value, []).extend(oids)
        self._next, self._size, self._former = former._next, former._size, former._former
