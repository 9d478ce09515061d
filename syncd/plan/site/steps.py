"""A site's plan as a value: actions that people read, steps that an executor runs, and the gates that hold them.

Source: docs/decisions/0005-sites-have-a-lock-file.md; syncd/manual/how-to/site.md, "Gates".
"""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import Any, Literal

from syncd.model.ref import Area, Kind, Ref
from syncd.plan.change import Change
from syncd.plan.site.call import Call
from syncd.plan.site.live_state import By, IdOf, replace_refs

Action = Literal["create", "update", "move", "adopt", "delete", "blocked", "report"]
RemoteDeletion = Literal["drift", "conflict"]
"""An item that the lock has was deleted on the platform: `conflict` where the file has changed it since, too."""
OptionalDeletion = RemoteDeletion | Literal[""]
Cause = Literal["change", "drift", "conflict", "converged"]


class Wave(IntEnum):
    """When a step runs: narrow early, widen late, delete last."""

    NARROW = 1
    SCHEMA_EXPAND = 2
    GROUPS = 3
    SECTIONS = 4
    VARIANTS = 5
    REDIRECTS = 6
    DEFAULTS = 7
    PATHS = 8
    MEMBERSHIP = 9
    ORDER = 10
    CUSTOMIZATION = 11
    WIDEN = 12
    DELETE = 13
    SCHEMA_SHRINK = 14


@dataclass(frozen=True)
class FieldChange:
    """One field of one item: what it is on the platform, what it becomes, and who moved it away from the base."""

    name: str
    before: Any
    after: Any
    cause: Cause = "change"
    where: str = ""


@dataclass(frozen=True)
class Line:
    """One action on one item, as people read it; `where` is file:line:column of the cause, `note` says why."""

    action: Action
    ref: Ref
    fields: tuple[FieldChange, ...] = ()
    note: str = ""
    where: str = ""
    manual: str = ""
    """For `blocked`: what a person can do about it."""
    gone: OptionalDeletion = ""
    """Whether somebody deleted the item on the platform, and for a conflict, what the file changed meanwhile."""

    @property
    def is_drift(self) -> bool:
        """Whether somebody changed or deleted the item on the platform, whatever becomes of it."""
        return bool(self.gone) or any(one.cause in ("drift", "conflict") for one in self.fields)

    @property
    def is_conflict(self) -> bool:
        """Whether it waits for a person because both sides changed."""
        both = self.gone == "conflict" or any(one.cause == "conflict" for one in self.fields)
        return self.action == "blocked" and both


@dataclass(frozen=True)
class Step:
    """One request, or for `adopt` and `forget` one line of the lock."""

    wave: Wave
    call: Call
    ref: Ref
    """The item that it is about."""
    id: str | IdOf = ""
    """The id of the item; an IdOf while it has none."""
    body: Mapping[str, Any] = field(default_factory=dict)
    """The request's JSON in the API's own names, in which an IdOf may stand for an id.

    Shape: of `customization.put` and `schema.put` only the leaves to overlay, by their dotted names, on what the
    platform has at that moment; None takes a claim out of the schema. `section.move`, `variant.move` and
    `structure.sort` have {"before" | "after": IdOf}, `group.add` has {"section": IdOf or id}, with the group as its id.
    An `adopt` may have {"after": an IdOf or several} of the items whose steps before it make it true.
    """
    applied: Mapping[str, Any] = field(default_factory=dict)
    """The values that the lock has of the item once the step is done."""
    by: By = "adopted"
    drops: bool = False
    """Whether the lock forgets the item."""
    is_temporary: bool = False
    """Whether the value is only passing, such as a path that makes room in a cycle of renames."""
    where: str = ""

    @property
    def kind(self) -> Kind:
        """The kind of item that it is about."""
        return self.ref.kind


@dataclass(frozen=True)
class Gate:
    """Something that a person has to agree to: by `--force SCOPE=COUNT`, or by approving the whole plan.

    Shape: `scope` names what it guards, such as `redirects.delete` or `structure.delete`; `refs` are the items that it
    is about.
    """

    scope: str
    refs: tuple[Ref, ...]
    why: str
    approval: bool = False

    @property
    def count(self) -> int:
        """The number that `--force` has to name."""
        return len(self.refs)

    @property
    def flag(self) -> str:
        """What to type so that this gate, and no other, opens."""
        return f"--force {self.scope}={self.count}"


@dataclass(frozen=True)
class SitePlan:
    """Everything that would happen to a site, in order; falsy when nothing would.

    Shape: `lines` for people, sorted by area, then as the file has them; `steps` sorted by wave; `unmanaged` counts,
    by area, what is on the platform and not in the file; `snapshot` has a digest of what the plan saw, by area.
    """

    site: str
    lines: tuple[Line, ...] = ()
    steps: tuple[Step, ...] = ()
    gates: tuple[Gate, ...] = ()
    warnings: tuple[str, ...] = ()
    unmanaged: Mapping[Area, int] = field(default_factory=dict)
    beyond: Mapping[Area, tuple[str, ...]] = field(default_factory=dict)
    """The names of what `unmanaged` counts."""
    snapshot: Mapping[Area, str] = field(default_factory=dict)
    expects: str = ""
    """What stands for the id of a section that the platform makes while the plan runs."""

    def __bool__(self) -> bool:
        return bool(self.steps)

    def select_lines(self, *actions: Action) -> tuple[Line, ...]:
        """Return the lines with one of the actions."""
        return tuple(line for line in self.lines if line.action in actions)

    def counts(self) -> Counter[str]:
        """Return how many lines each action has."""
        return Counter(line.action for line in self.lines)

    def list_drift(self) -> tuple[Line, ...]:
        """Return the lines about what somebody changed or deleted on the platform, whatever becomes of it."""
        return tuple(line for line in self.lines if line.is_drift)

    @cached_property
    def digest(self) -> str:
        """Twelve hex digits that differ when any step or gate differs."""
        steps = [[s.wave, s.call, s.ref, s.id, s.body, s.drops] for s in self.steps]
        gates = [[gate.scope, list(gate.refs), gate.why] for gate in self.gates]
        text = json.dumps([self.site, steps, gates], sort_keys=True, ensure_ascii=False, default=_format_value)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def changes(self) -> tuple[Change, ...]:
        """Return what this plan does as changes, as every flow reports them."""
        return tuple(
            Change(
                "report" if line.action == "blocked" else line.action,
                line.ref.kind,
                line.ref.key or line.ref.kind,
                line.note,
                before={one.name: to_json(one.before) for one in line.fields},
                after={one.name: to_json(one.after) for one in line.fields},
                where=line.where,
            )
            for line in self.lines
        )


def _format_value(value: Any) -> str:
    return str(to_json(value))


def to_json(value: Any) -> Any:
    """Return a value in which refs may stand for ids as JSON: a ref is a text such as `(section:home)`."""
    return replace_refs(value, "({})".format)
