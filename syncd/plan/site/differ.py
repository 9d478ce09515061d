"""Three sides of one field: what the lock says was put there, what the file declares, what the platform has.

Source: docs/decisions/0005-sites-have-a-lock-file.md.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from syncd.layout.site.read.declared import OnDrift
from syncd.plan.site.live_state import find_refs
from syncd.plan.site.steps import Cause

MISSING = object()
"""Stands for a value that nobody wrote down, as None is one that was."""
Comparison = Callable[[str, Any, Any], bool]
"""Whether nothing is to do about a field, given its name, the wanted value and the one on the platform."""


@dataclass(frozen=True)
class FieldDiff:
    """A field that is not as it is declared, and whose doing that is."""

    before: Any
    after: Any
    cause: Cause


@dataclass(frozen=True)
class Diff:
    """What is to be done about the fields of one item.

    Shape: `act` are to be written, `report` stay as they are on the platform, `blocked` wait for a person, all by
    field; `learnt` are as they are declared, without the lock knowing it; `dropped` are in the lock and are not managed
    any more.
    """

    act: Mapping[str, FieldDiff] = field(default_factory=dict)
    report: Mapping[str, FieldDiff] = field(default_factory=dict)
    blocked: Mapping[str, FieldDiff] = field(default_factory=dict)
    learnt: Mapping[str, Any] = field(default_factory=dict)
    dropped: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.act or self.report or self.blocked or self.learnt or self.dropped)

    def without(self, *names: str) -> "Diff":
        """Return this diff without writing some fields."""
        return replace(self, act={name: found for name, found in self.act.items() if name not in names})


@dataclass(frozen=True)
class DriftRules:
    """Who wins: what becomes of drift, and of conflicts."""

    on_drift: OnDrift = "report"
    prefer: Literal["", "file", "live"] = ""

    def diff(
        self, base: Mapping[str, Any], desired: Mapping[str, Any], live: Mapping[str, Any], same: Comparison
    ) -> Diff:
        """Return what is to be done about each field of an item, from its values on three sides."""
        act, report, blocked = dict[str, FieldDiff](), dict[str, FieldDiff](), dict[str, FieldDiff]()
        learnt: dict[str, Any] = {}
        for name, after in desired.items():
            before = live.get(name)
            match _classify(name, (base.get(name, MISSING), after, before), same):
                case None:
                    pass
                case "converged":
                    learnt[name] = after
                case "change":
                    act[name] = FieldDiff(before, after, "change")
                case "drift":
                    (act if self.on_drift == "revert" else report)[name] = FieldDiff(before, after, "drift")
                case "conflict":
                    chosen = {"file": act, "live": report, "": blocked}[self.prefer]
                    chosen[name] = FieldDiff(before, after, "conflict")
        return Diff(act, report, blocked, learnt, frozenset(base.keys() - desired.keys()))


def _classify(name: str, sides: tuple[Any, Any, Any], same: Comparison) -> Cause | None:
    base, file, live = sides
    if base == file == live:
        return None
    known = base is not MISSING
    stands = known and (base == file or (not _names_new_item(file) and _is_unchanged(name, base, file, same)))
    if not _names_new_item(file) and same(name, file, live):
        return None if stands else "converged"
    if not known:
        return "change"
    if stands:
        return "drift"
    return "change" if same(name, base, live) else "conflict"


def _is_unchanged(name: str, base: Any, file: Any, same: Comparison) -> bool:
    """Whether a file says what it said; None on the platform may mean more than None in a file."""
    return file is not None and base is not None and same(name, file, base)


def _names_new_item(value: Any) -> bool:
    """Whether a value names something that is yet to be made, so that nothing can be equal to it."""
    return any(True for _ in find_refs(value))
