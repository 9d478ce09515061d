"""Answer questions about few commits by reading them; a question that needs many is left to a git process.

Source: git-rev-list(1), --date-order is not asked for: commits come by the time at which they were recorded.
"""

from collections import deque
from heapq import heappop, heappush

from syncd.errors import GitFailed
from syncd.repo.process.git import Git
from syncd.repo.read.objects import Reader
from syncd.repo.values import Commit, CommitNode, NeedsGit

COMMITS_MAX = 300
"""Commits that are read for questions about a repository: reading them takes as long as a few processes."""


class CommitGraph:
    """The commits of one repository, by their parents; every question raises NeedsGit where it ends."""

    def __init__(self, git: Git, reader: Reader) -> None:
        self._git, self._reader = git, reader

    def read_node(self, oid: str) -> CommitNode:
        """Return a commit. Raises: NeedsGit when too many have been read, or it cannot be read."""
        reader = self._reader
        if not reader.knows_commit(oid) and reader.count_commits() >= COMMITS_MAX:
            raise NeedsGit
        try:
            return reader.read_node(oid)
        except GitFailed:
            raise NeedsGit from None

    def read_complete(self, oid: str) -> CommitNode:
        """Return a commit that a walk begins at or has reached, with its real parents. Raises: NeedsGit."""
        self._check_complete()
        return self.read_node(oid)

    def is_ancestor(self, ancestor: str, commit: str) -> bool:
        """Return whether the first commit is the second or one of its ancestors. Raises: NeedsGit."""
        self._check_complete()
        self.read_node(ancestor)
        return ancestor in self._find_reachable(commit, until=ancestor)

    def find_merge_bases(self, ours: str, theirs: str) -> list[str]:
        """Return the merge base of two commits, in a list that is empty without one. Raises: NeedsGit, also for
        several.
        """
        if self.is_ancestor(ours, theirs):
            return [ours]
        if self.is_ancestor(theirs, ours):
            return [theirs]
        both = self._find_reachable(ours) & self._find_reachable(theirs)
        # `both` holds all ancestors of its commits, so one that is no parent in it is an ancestor of none in it.
        best = both - {parent for oid in both for parent in self.read_node(oid).commit.parents}
        if len(best) > 1:  # in an order that only Git knows
            raise NeedsGit
        return list(best)

    def find_unshared(self, ours: str, theirs: str) -> tuple[set[str], set[str]]:
        """Return the commits that only the first, and only the second, of two reaches. Raises: NeedsGit."""
        self._check_complete()
        left, right = self._find_reachable(ours), self._find_reachable(theirs)
        return left - right, right - left

    def list_newest(self, exclude: str | None, include: str, limit: int) -> list[Commit]:
        """Return a commit and its ancestors, newest first, without those that `exclude` reaches, at most `limit`.

        Raises: NeedsGit.
        """
        self._check_complete()
        hidden = self._find_reachable(exclude) if exclude else set()
        found: list[Commit] = []
        seen = {include}
        waiting = [(-self.read_node(include).commit.recorded, 0, include)]
        while waiting and len(found) < limit:
            oid = heappop(waiting)[2]
            if oid in hidden:
                continue
            found.append(self.read_node(oid).commit)
            for parent in found[-1].parents if len(found) < limit else ():
                if parent not in seen:
                    seen.add(parent)
                    # Commits of the same second come in the order in which they were reached, as git lists them.
                    heappush(waiting, (-self.read_node(parent).commit.recorded, len(seen), parent))
        return found

    def _find_reachable(self, start: str, until: str | None = None) -> set[str]:
        """A commit and its ancestors; with `until`, at most as many as it takes to find that one."""
        seen, waiting = {start}, deque([start])
        while waiting and until not in seen:
            for parent in self.read_node(waiting.popleft()).commit.parents:
                if parent not in seen:
                    seen.add(parent)
                    waiting.append(parent)
        return seen

    def _check_complete(self) -> None:
        """Refuse to answer where shallow clones or grafts change parents. Source: gitrepository-layout(5)."""
        common = self._git.location.common_dir
        if (common / "shallow").exists() or (common / "info" / "grafts").exists():
            raise NeedsGit
