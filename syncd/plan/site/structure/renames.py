"""Renames among siblings that never put two of them under one path, not even between two requests."""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Set
from dataclasses import dataclass

PATH_MAX = 100
"""Characters of a path. Source: API document, Limits."""
_MARK = "-syncd-"


@dataclass(frozen=True)
class Rename:
    """One path for one item; `is_temporary` where it only makes room for another."""

    name: str
    path: str
    is_temporary: bool = False


@dataclass(frozen=True)
class Renames:
    """What to rename, in order, and, for each item that cannot have its path, which other item has it."""

    order: tuple[Rename, ...]
    blocked: Mapping[str, str]


def plan_renames(now: Mapping[str, str], wanted: Mapping[str, str], deleted: Set[str] = frozenset()) -> Renames:
    """Return the order in which siblings get the paths that they want, and what blocks some of them.

    Shape: paths are the same regardless of letter case; whatever is neither wanted elsewhere nor deleted stays where
    it is, and blocks those that want its path. Something that is deleted gets a temporary path first, so that nothing
    is deleted early; a cycle is opened by one temporary path. Linear in the number of siblings.
    """
    holders: defaultdict[str, set[str]] = defaultdict(set)
    for name, path in now.items():
        holders[path.casefold()].add(name)
    moving = {name: path for name, path in wanted.items() if now.get(name) != path}
    blocked = _find_blocked(now, moving, holders, deleted)
    moving = {name: path for name, path in moving.items() if name not in blocked}
    return Renames(tuple(_RenameOrder(now, moving, holders, deleted).all()), blocked)


def make_temporary_path(path: str, name: str, taken: Set[str]) -> str:
    """Return a path that is not taken, for something that has to give way; always the same one. Shape: `taken` is
    case-folded.
    """
    number = 0
    while True:
        digits = hashlib.sha256(f"{name}\0{path}\0{number}".encode()).hexdigest()[:4]
        candidate = f"{path[: PATH_MAX - len(_MARK) - len(digits)]}{_MARK}{digits}"
        if candidate.casefold() not in taken:
            return candidate
        number += 1


def is_temporary(path: str) -> bool:
    """Return whether a path is one that only makes room for another."""
    return _MARK in path


def _find_blocked(
    now: Mapping[str, str], moving: Mapping[str, str], holders: Mapping[str, set[str]], deleted: Set[str]
) -> dict[str, str]:
    """Who cannot have its path, and who has it; whoever stays because of that blocks others in turn."""
    blocked: dict[str, str] = {}
    first: dict[str, str] = {}
    for name, path in moving.items():
        if (taker := first.setdefault(path.casefold(), name)) != name:
            blocked[name] = taker
    wanting = dict(first)
    stuck = list(blocked)
    for path, name in first.items():
        stays = [other for other in sorted(holders.get(path, ())) if other not in moving and other not in deleted]
        if stays and stays != [name]:
            blocked[name] = stays[0]
            stuck.append(name)
    while stuck:
        stayed = stuck.pop()
        waiting = wanting.get(now.get(stayed, "").casefold()) if stayed in now else None
        if waiting is not None and waiting != stayed and waiting not in blocked:
            blocked[waiting] = stayed
            stuck.append(waiting)
    return blocked


class _RenameOrder:
    """Takes one rename after another whose path is free, and makes room where none is."""

    def __init__(
        self, now: Mapping[str, str], moving: Mapping[str, str], holders: Mapping[str, set[str]], deleted: Set[str]
    ) -> None:
        self.moving, self.doomed = moving, deleted
        self.at = {name: path.casefold() for name, path in now.items()}
        self.now = now
        self.holders = {path: set(names) for path, names in holders.items()}
        self.waiting = {path.casefold(): name for name, path in moving.items()}
        self.taken = set(self.holders) | set(self.waiting)
        self.made: list[Rename] = []

    def all(self) -> list[Rename]:
        """Return every rename, in order."""
        for path in self.waiting:
            for name in sorted(self.holders.get(path, ())):
                if name in self.doomed and name not in self.moving:
                    self._aside(name, self.now[name])
        left = dict(self.moving)
        ready = [name for name in left if self._free(name)]
        while left:
            if not ready:
                name = next(iter(left))
                freed = self._aside(name, left[name])
            else:
                name = ready.pop(0)
                freed = self._go(name, left.pop(name), is_temporary=False)
            follower = self.waiting.get(freed)
            if follower in left and follower != name and self._free(follower):
                ready.append(follower)
            elif follower == name and name in left and self._free(name):
                ready.append(name)
        return self.made

    def _free(self, name: str) -> bool:
        return not self.holders.get(self.moving[name].casefold(), set()) - {name}

    def _aside(self, name: str, path: str) -> str:
        aside = make_temporary_path(path, name, self.taken)
        self.taken.add(aside.casefold())
        return self._go(name, aside, is_temporary=True)

    def _go(self, name: str, path: str, *, is_temporary: bool) -> str:
        freed = self.at.get(name, "")
        self.holders.get(freed, set()).discard(name)
        self.at[name] = path.casefold()
        self.holders.setdefault(path.casefold(), set()).add(name)
        self.made.append(Rename(name, path, is_temporary))
        return freed
