"""Lines of a plan that people read: what happens to an item, and why something cannot be done."""

from collections.abc import Mapping

from syncd.model.ref import Area, Ref
from syncd.plan.site.differ import FieldDiff
from syncd.plan.site.sides import Sides
from syncd.plan.site.steps import Action, Cause, Line, OptionalDeletion

CONFLICT = "changed in the file and on the platform"
CHOOSE = "choose with --prefer file or --prefer live"
DELETED = "was deleted outside syncd"


def describe_change(
    sides: Sides,
    action: Action,
    ref: Ref,
    found: Mapping[str, FieldDiff],
    note: str = "",
    *,
    gone: OptionalDeletion = "",
) -> Line:
    """Return the line of a plan about what happens to the fields of an item."""
    fields = sides.describe_fields(ref, found)
    where = fields[0].where if action in ("update", "report") and fields else sides.locate(ref)
    return Line(action, ref, fields, note, where, gone=gone)


def describe_obstacle(
    sides: Sides,
    ref: Ref,
    note: str,
    *,
    manual: str = "",
    name: str = "",
    found: FieldDiff | None = None,
    gone: OptionalDeletion = "",
) -> Line:
    """Return the line of a plan about something that cannot be done: why, and what a person can do about it.

    Shape: `name` is the field that it is about, `found` is what was to be done with that field.
    """
    fields = () if found is None else sides.describe_fields(ref, {name: found})
    return Line("blocked", ref, fields, note, sides.locate(ref, name), manual, gone)


def explain_report(sides: Sides, of: Cause, area: Area) -> str:
    """Return why the platform's value of a field stays; `of` says whether the platform alone or both sides changed
    it.
    """
    if of == "conflict":
        return f"{CONFLICT}; left as it is"
    return f"changed outside syncd, left as it is: on_drift is {sides.desired.policy.drift(area)}"
