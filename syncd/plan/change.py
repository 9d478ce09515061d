"""What a flow is about to do, as values that can be printed, counted, guarded and compared."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

Verb = Literal["delete", "update", "create", "move", "adopt", "report"]
ORDER: tuple[Verb, ...] = ("create", "update", "move", "adopt", "delete", "report")
"""Additions before deletions, so that nothing is ever missing in between; reports last."""


@dataclass(frozen=True)
class Change:
    """One action on one page, file or resource, which it describes and cannot carry out; `key` tells it from others."""

    verb: Verb
    noun: str
    key: str
    message: str = ""
    before: Any = None
    after: Any = None
    where: str = ""


@dataclass(frozen=True)
class Plan:
    """Changes in a fixed order; falsy when nothing would change (reports change nothing)."""

    changes: tuple[Change, ...] = field(default=())

    @classmethod
    def of(cls, changes: Iterable[Change]) -> "Plan":
        """Return the plan of changes, sorted by verb, noun and key."""
        return cls(tuple(sorted(changes, key=lambda change: (ORDER.index(change.verb), change.noun, change.key))))

    def __bool__(self) -> bool:
        return any(change.verb != "report" for change in self.changes)

    def select(self, *verbs: Verb) -> tuple[Change, ...]:
        """Return the changes with one of the verbs, in order."""
        return tuple(change for change in self.changes if change.verb in verbs)
