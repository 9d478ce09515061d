"""What a site may know of its visitors: claims come before what reads them, and go after it (W2 and W14)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from syncd.layout.site.read.visitors import list_claims
from syncd.model.ref import CUSTOMIZATION, VISITORS, Ref
from syncd.plan.site.call import Call
from syncd.plan.site.differ import MISSING, Diff, FieldDiff
from syncd.plan.site.gates.gating import find_claims_read
from syncd.plan.site.lines import describe_change, describe_obstacle
from syncd.plan.site.part import PlanPart, draft_step
from syncd.plan.site.settings.settings import compare_fields, is_same, pick_managed
from syncd.plan.site.sides import Sides
from syncd.plan.site.steps import Line, Wave
from syncd.plan.site.structure.decisions import Structure
from syncd.plan.site.structure.deletions import Deletions


@dataclass(frozen=True)
class _Claims:
    """Undeclared claims of the platform.

    Shape: `gone` has the schemas of those that go, by name; `read` are those that would go, and that something still
    reads, each with its reader; `unmanaged` are the names of those that are not syncd's.
    """

    gone: Mapping[str, Any]
    read: Mapping[str, Ref]
    unmanaged: tuple[str, ...]


def compare_visitors(sides: Sides) -> Diff | None:
    """Return what is to be done about the declared claims; None where the plan is not about them."""
    for item in sides.items("visitors"):
        existing = list_claims(sides.existing.schema or {})
        return compare_fields(sides, item, pick_managed(sides, item, item.fields), existing, is_same)
    return None


def plan_visitors(
    sides: Sides, diff: Diff | None, structure: Structure, deletions: Deletions, customization: Mapping[str, Any]
) -> PlanPart:
    """Return what changes in the visitor schema; `diff` is that of the declared claims.

    Shape: what the structure and the desired customization read stays; a claim that is removed last, or cannot be
    removed yet, stays syncd's until then.
    """
    if diff is None:
        return PlanPart()
    drafts = []
    if diff.act:
        claims = {name: found.after for name, found in diff.act.items()}
        drafts.append(draft_step(sides, Wave.SCHEMA_EXPAND, Call.SCHEMA_PUT, VISITORS, claims, claims))
    found = _find_claims_to_go(sides, _find_readers(sides, structure, deletions, customization))
    lines = list(_describe_kept_claims(sides, found.read))
    if found.gone:
        body, sets = dict.fromkeys(found.gone), dict.fromkeys(found.gone, MISSING)
        drafts.append(draft_step(sides, Wave.SCHEMA_SHRINK, Call.SCHEMA_PUT, VISITORS, body, sets))
        fields = {name: FieldDiff(schema, None, "change") for name, schema in found.gone.items()}
        lines.append(describe_change(sides, "update", VISITORS, fields, "nothing reads these claims any more"))
    return PlanPart(
        diffs={VISITORS: replace(diff, dropped=diff.dropped - found.gone.keys() - found.read.keys())},
        drafts=tuple(drafts),
        lines=tuple(lines),
        unmanaged={"visitors": found.unmanaged} if found.unmanaged else {},
    )


def _find_claims_to_go(sides: Sides, readers: Mapping[str, Ref]) -> _Claims:
    prune = sides.desired.policy.prune.get("visitors", "owned")
    owned = sides.find_base(VISITORS).keys()
    declared = sides.desired.items[VISITORS].fields.keys()
    gone: dict[str, Any] = {}
    unmanaged: list[str] = []
    for name, schema in list_claims(sides.existing.schema or {}).items():
        if name in declared or sides.is_ignored(VISITORS, name):
            continue
        if prune == "all" or (prune == "owned" and name in owned):
            gone[name] = schema
        else:
            unmanaged.append(name)
    read = {name: readers[name] for name in gone if name in readers}
    return _Claims({name: schema for name, schema in gone.items() if name not in read}, read, tuple(unmanaged))


def _describe_kept_claims(sides: Sides, read: Mapping[str, Ref]) -> Iterable[Line]:
    for name, reader in read.items():
        claim = name.partition(".")[2] or name
        yield describe_obstacle(sides, VISITORS, f'claim "{claim}" cannot go: {reader.words} reads it')


def _find_readers(
    sides: Sides, structure: Structure, deletions: Deletions, customization: Mapping[str, Any]
) -> dict[str, Ref]:
    """Who reads each claim once the plan is done, by the claim's name."""
    readers: dict[str, Ref] = {}
    for existing in sides.existing.of("section", "variant"):
        ref = sides.find_ref(existing.id)
        diff = structure.diffs.get(ref)
        found = None if diff is None else diff.act.get("condition")
        if existing.id not in deletions.deleted:
            for name in find_claims_read(existing.fields.get("condition") if found is None else found.after):
                readers.setdefault(name, ref)
    for ref, item in structure.new.items():
        for name in find_claims_read(item.fields.get("condition")):
            readers.setdefault(name, ref)
    for condition in [*_list_conditions(sides.existing.customization), *_list_conditions(customization)]:
        for name in find_claims_read(condition):
            readers.setdefault(name, CUSTOMIZATION)
    return readers


def _list_conditions(value: Any) -> list[Any]:
    """The conditions anywhere within a JSON value."""
    found: list[Any] = []
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, Mapping):
            found += [one["condition"]] if isinstance(one.get("condition"), str) else []
            left += one.values()
        elif isinstance(one, list | tuple):
            left += one
    return found
