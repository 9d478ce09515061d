"""Walk commits by what was read of them; a question that would read many is for a process of git to answer.

Source: git-rev-list(1), --date-order is not asked for: commits come by the time at which they were recorded.
"""

from collections import deque
from heapq import heappop, heappush

from syncd.errors import GitFailed
from syncd.repo.git import Git
from syncd.repo.objects import Node, Reader
from syncd.repo.values import Commit

COMMITS_MAX = 300
"""Commits that a repository's questions read by themselves: as long as a few processes take."""


class Unread(Exception):
    """More commits would have to be read than a process costs, or only Git can say what they are."""


class Graph:
    """The commits of one repository, by their parents; every question raises Unread where it ends."""

    def __init__(self, git: Git, reader: Reader) -> None:
        self._git, self._reader = git, reader

    def node(self, oid: str) -> Node:
        """Given a commit's id, return what it says. Raises: Unread."""
        reader = self._reader
        if not reader.knows_commit(oid) and reader.known_commits() >= COMMITS_MAX:
            raise Unread
        try:
            return reader.node(oid)
        except GitFailed:
            raise Unread from None

    def first(self, oid: str) -> Node:
        """Given a commit that a walk begins at or has come to, return it with its real parents. Raises: Unread."""
        self._check_whole()
        return self.node(oid)

    def is_ancestor(self, ancestor: str, commit: str) -> bool:
        """Given two commits, return whether the first is the second or one of its ancestors. Raises: Unread."""
        self._check_whole()
        self.node(ancestor)
        return ancestor in self._reach(commit, until=ancestor)

    def merge_bases(self, ours: str, theirs: str) -> list[str]:
        """Given two commits, return their best common ancestor, if any. Raises: Unread, also for several."""
        if self.is_ancestor(ours, theirs):
            return [ours]
        if self.is_ancestor(theirs, ours):
            return [theirs]
        both = self._reach(ours) & self._reach(theirs)
        best = both - {parent for oid in both for parent in self.node(oid).commit.parents}
        if len(best) > 1:  # in an order that only Git knows
            raise Unread
        return list(best)

    def only(self, ours: str, theirs: str) -> tuple[set[str], set[str]]:
        """Given two commits, return what only the first, and only the second, has. Raises: Unread."""
        self._check_whole()
        left, right = self._reach(ours), self._reach(theirs)
        return left - right, right - left

    def newest(self, exclude: str | None, include: str, limit: int) -> list[Commit]:
        """Given a commit, return it and its ancestors, newest first, without those of `exclude`, at most `limit`.

        Raises: Unread.
        """
        self._check_whole()
        hidden = self._reach(exclude) if exclude else set()
        found: list[Commit] = []
        seen = {include}
        waiting = [(-self.node(include).when, 0, include)]
        while waiting and len(found) < limit:
            oid = heappop(waiting)[2]
            if oid in hidden:
                continue
            found.append(self.node(oid).commit)
            for parent in found[-1].parents if len(found) < limit else ():
                if parent not in seen:
                    seen.add(parent)
                    heappush(waiting, (-self.node(parent).when, len(seen), parent))
        return found

    def _reach(self, start: str, until: str | None = None) -> set[str]:
        """A commit and its ancestors, or as many as it takes to meet one."""
        seen, waiting = {start}, deque([start])
        while waiting and until not in seen:
            for parent in self.node(waiting.popleft()).commit.parents:
                if parent not in seen:
                    seen.add(parent)
                    waiting.append(parent)
        return seen

    def _check_whole(self) -> None:
        """Where commits have other parents than they say, only Git knows them. Source: gitrepository-layout(5)."""
        common = self._git.place.common_dir
        if (common / "shallow").exists() or (common / "info" / "grafts").exists():
            raise Unread
