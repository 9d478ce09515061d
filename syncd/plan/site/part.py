"""What one area adds to a site's plan, as a value; a plan is its parts, one behind the other."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from syncd.model.ref import Area, Ref
from syncd.plan.site.call import Call
from syncd.plan.site.differ import Diff
from syncd.plan.site.live_state import IdOf
from syncd.plan.site.sides import Sides
from syncd.plan.site.steps import Gate, Line, RemoteDeletion, Wave


@dataclass(frozen=True)
class Draft:
    """A step before it is known what the lock has of its item by then; `sets` are the values that it puts there.

    Shape: `MISSING` among the values of `sets` takes a value out of the lock.
    """

    wave: Wave
    call: Call
    ref: Ref
    id: str | IdOf = ""
    body: Mapping[str, Any] = field(default_factory=dict)
    sets: Mapping[str, Any] = field(default_factory=dict)
    drops: bool = False
    is_temporary: bool = False


@dataclass(frozen=True)
class PlanPart:
    """One area's share of a plan.

    Shape: `diffs` by ref, of what is there; `new` has the desired fields of what is going to be made, in the API's
    terms, by ref; `deleted` has refs by the ids of what is going to be deleted; `lost` has the refs of what somebody
    deleted on the platform; `unmanaged` names what is on the platform and not in the file.
    """

    diffs: Mapping[Ref, Diff] = field(default_factory=dict)
    new: Mapping[Ref, Mapping[str, Any]] = field(default_factory=dict)
    deleted: Mapping[str, Ref] = field(default_factory=dict)
    lost: Mapping[Ref, RemoteDeletion] = field(default_factory=dict)
    drafts: tuple[Draft, ...] = ()
    lines: tuple[Line, ...] = ()
    gates: tuple[Gate, ...] = ()
    warnings: tuple[str, ...] = ()
    unmanaged: Mapping[Area, tuple[str, ...]] = field(default_factory=dict)


def join_parts(parts: Iterable[PlanPart]) -> PlanPart:
    """Return parts that are about different items as one, in this order."""
    parts = list(parts)
    return PlanPart(
        diffs={ref: diff for part in parts for ref, diff in part.diffs.items()},
        new={ref: fields for part in parts for ref, fields in part.new.items()},
        deleted={id: ref for part in parts for id, ref in part.deleted.items()},
        lost={ref: lost for part in parts for ref, lost in part.lost.items()},
        drafts=tuple(chain.from_iterable(part.drafts for part in parts)),
        lines=tuple(chain.from_iterable(part.lines for part in parts)),
        gates=tuple(chain.from_iterable(part.gates for part in parts)),
        warnings=tuple(chain.from_iterable(part.warnings for part in parts)),
        unmanaged={area: names for part in parts for area, names in part.unmanaged.items()},
    )


def draft_step(
    sides: Sides, wave: Wave, call: Call, ref: Ref, body: Mapping[str, Any], sets: Mapping[str, Any]
) -> Draft:
    """Return the draft of a request about a declared item, with the item's id; `sets` are the values that it puts
    there.
    """
    kind, key = ref.kind, ref.key
    id = sides.find_id(Ref.of("variant", key) if kind == "override" else ref) if key else sides.desired.site
    return Draft(wave, call, ref, id, body, sets)
