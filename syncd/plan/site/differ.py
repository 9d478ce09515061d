"""Three sides of one field: what the lock says was put there, what the file declares, what the platform has.

Source: site-file notes, §4.1.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from syncd.layout.site.read.declared import OnDrift
from syncd.plan.site.live_state import refs_in
from syncd.plan.site.steps import Class

MISSING = object()
"""Stands for a value that nobody wrote down, as None is one that was."""
Same = Callable[[str, Any, Any], bool]
"""Given a field's name, a wanted value and one on the platform, whether there is nothing to do."""


@dataclass(frozen=True)
class Found:
    """A field that is not as it is declared, and whose doing that is."""

    before: Any
    after: Any
    of: Class


@dataclass(frozen=True)
class Diff:
    """What is to be done about the fields of one thing.

    Shapes: `act` are to be written, `report` stay as they are on the platform, `blocked` wait for a person, all by
    field; `learnt` are as they are declared, without the lock knowing it; `dropped` are in the lock and are not managed
    any more.
    """

    act: dict[str, Found] = field(default_factory=dict)
    report: dict[str, Found] = field(default_factory=dict)
    blocked: dict[str, Found] = field(default_factory=dict)
    learnt: dict[str, Any] = field(default_factory=dict)
    dropped: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.act or self.report or self.blocked or self.learnt or self.dropped)


@dataclass(frozen=True)
class Judge:
    """Who wins: what becomes of drift, and of conflicts."""

    on_drift: OnDrift = "report"
    prefer: Literal["", "file", "live"] = ""

    def diff(self, base: Mapping[str, Any], desired: Mapping[str, Any], live: Mapping[str, Any], same: Same) -> Diff:
        """Given the fields of a thing on its three sides, return what is to be done about each."""
        diff = Diff(dropped=frozenset(base.keys() - desired.keys()))
        for name, after in desired.items():
            before, former = live.get(name), base.get(name, MISSING)
            of = _class(name, (former, after, before), same)
            if of == "converged":
                diff.learnt[name] = after
            elif of is not None:
                self._side(diff, of)[name] = Found(before, after, of)
        return diff

    def _side(self, diff: Diff, of: Class) -> dict[str, Found]:
        if of == "drift":
            return diff.act if self.on_drift == "revert" else diff.report
        if of == "conflict":
            return {"file": diff.act, "live": diff.report, "": diff.blocked}[self.prefer]
        return diff.act


def _class(name: str, sides: tuple[Any, Any, Any], same: Same) -> Class | None:
    base, file, live = sides
    if base == file == live:
        return None
    known = base is not MISSING
    stands = known and (base == file or (not _open(file) and _kept(name, base, file, same)))
    if not _open(file) and same(name, file, live):
        return None if stands else "converged"
    if not known:
        return "change"
    if stands:
        return "drift"
    return "change" if same(name, base, live) else "conflict"


def _kept(name: str, base: Any, file: Any, same: Same) -> bool:
    """Whether a file says what it said; None on the platform may mean more than None in a file."""
    return file is not None and base is not None and same(name, file, base)


def _open(value: Any) -> bool:
    """Whether a value names something that is yet to be made, so that nothing can be equal to it."""
    return any(True for _ in refs_in(value))
