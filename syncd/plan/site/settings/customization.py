"""How a site looks, and what its variants have of their own (W11)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from syncd.layout.site.read.customization import (
    build_override,
    find_inherited,
    find_leaf,
    is_in_step,
    list_leaves,
    overlay_leaves,
)
from syncd.layout.site.read.declared import Item
from syncd.model.ref import CUSTOMIZATION, Ref
from syncd.plan.site import resolve
from syncd.plan.site.call import Call
from syncd.plan.site.differ import MISSING, Comparison, Diff, FieldDiff
from syncd.plan.site.lines import describe_obstacle
from syncd.plan.site.lockfile.in_flight import was_sending
from syncd.plan.site.part import Draft, PlanPart, draft_step, join_parts
from syncd.plan.site.settings.settings import is_same, pick_managed
from syncd.plan.site.sides import Sides
from syncd.plan.site.steps import Line, Wave
from syncd.plan.site.structure.decisions import Structure


@dataclass(frozen=True)
class Customization:
    """What changes about how a site looks; `desired` are the settings that the file declares for the whole site."""

    part: PlanPart
    desired: Mapping[str, Any]


def plan_customization(sides: Sides, structure: Structure) -> Customization:
    """Return what changes in the customization of the site and of its variants, once the structure is decided."""
    desired: Mapping[str, Any] = {}
    diffs: dict[Ref, Diff] = {}
    lines: tuple[Line, ...] = ()
    for item in sides.items("customization"):
        resolved, lines = _resolve_settings(sides, structure, item)
        desired = pick_managed(sides, item, resolved)
        existing = {name: find_leaf(sides.existing.customization, name) for name in resolved}
        diffs[item.ref] = sides.judge("customization").diff(sides.find_base(item.ref), desired, existing, is_in_step)
    shared = diffs.get(CUSTOMIZATION)
    overrides = join_parts(_plan_override(sides, structure, shared, item) for item in sides.items("override"))
    # What a variant has of its own is written first, so that none shows its site's new settings in between. Until then
    # it may not be seen whether that was done; so, when a run died over it, the site's settings come first.
    again = [draft for draft in overrides.drafts if _is_in_flight(sides, draft)]
    drafts = [draft for draft in overrides.drafts if draft not in again]
    if shared is not None and shared.act:
        body = {name: found.after for name, found in shared.act.items()}
        drafts.append(draft_step(sides, Wave.CUSTOMIZATION, Call.CUSTOMIZATION_PUT, CUSTOMIZATION, body, body))
    part = join_parts([PlanPart(diffs=diffs, lines=lines), replace(overrides, drafts=(*drafts, *again))])
    return Customization(part, desired)


def _is_in_flight(sides: Sides, draft: Draft) -> bool:
    return draft.call is Call.OVERRIDE_PATCH and was_sending(sides.base, draft.ref, draft.body)


def _resolve_settings(sides: Sides, structure: Structure, item: Item) -> tuple[dict[str, Any], tuple[Line, ...]]:
    """Declared settings in the API's terms, by leaf, and a line for each whose destination is nowhere."""
    found: dict[str, Any] = {}
    lines: list[Line] = []
    for name, value in item.fields.items():
        try:
            found[name] = resolve.resolve_setting(sides, structure, value, name)
        except resolve.Unresolved as problem:
            base = sides.find_base(item.ref)
            if isinstance(problem, resolve.Away) and name in base:
                found[name] = base[name]  # it stays as syncd left it
            else:
                lines.append(describe_obstacle(sides, item.ref, str(problem), name=name))
    return found, tuple(lines)


def _plan_override(sides: Sides, structure: Structure, shared: Diff | None, item: Item) -> PlanPart:
    """What changes about what a variant has of its own; `shared` is the diff of its site's settings."""
    variant = Ref.of("variant", item.key)
    if variant in structure.remote.left and item.ref in sides.base.items:
        return PlanPart()  # it went with its variant
    if not structure.is_present(sides, variant):
        note = f'variant "{item.key}" is not there, and this plan does not make it'
        return PlanPart(lines=(describe_obstacle(sides, item.ref, note),))
    existing = sides.matches.found.get(variant)
    effective = {} if existing is None else sides.existing.overrides.get(existing.id, {})
    if "reset" in item.fields:
        return _plan_reset(sides, item, effective, is_new=existing is None)
    resolved, lines = _resolve_settings(sides, structure, item)
    desired = pick_managed(sides, item, resolved)
    site = sides.existing.customization

    def same(name: str, declared: Any, existing: Any) -> bool:
        return is_in_step(name, find_inherited(site, name) if declared is None else declared, existing)

    diff = _compare_override(sides, item, desired, {name: find_leaf(effective, name) for name in resolved}, same)
    diff = _write_shared_values(sides, shared, desired, diff)
    drafts: tuple[Draft, ...] = ()
    if diff.act:
        sets = {name: found.after for name, found in diff.act.items()}
        body = build_override(_foresee_settings(sides, shared, effective), sets)
        drafts = (draft_step(sides, Wave.CUSTOMIZATION, Call.OVERRIDE_PATCH, item.ref, body, sets),)
    return PlanPart(diffs={item.ref: diff}, drafts=drafts, lines=lines)


def _compare_override(
    sides: Sides, item: Item, desired: Mapping[str, Any], existing: Mapping[str, Any], same: Comparison
) -> Diff:
    base = sides.find_base(item.ref)
    begun = sides.base.in_flight.get(item.ref)
    if begun is not None:
        # What is not there although a dead run was about to say it, nobody has taken away.
        unsent = {name for name, value in list_leaves(begun.body).items() if base.get(name, MISSING) == value}
        base = {
            name: value for name, value in base.items() if name not in unsent or same(name, value, existing.get(name))
        }
    return sides.judge("customization").diff(base, desired, existing, same)


def _foresee_settings(sides: Sides, shared: Diff | None, effective: Mapping[str, Any]) -> dict[str, Any]:
    """What a site-space shows when the site's own settings have been written."""
    coming = {} if shared is None else {name: found.after for name, found in shared.act.items()}
    followed = {
        name: value
        for name, value in coming.items()
        if is_in_step(name, find_inherited(sides.existing.customization, name), find_leaf(effective, name))
    }
    return overlay_leaves(effective, followed)


def _write_shared_values(sides: Sides, shared: Diff | None, desired: Mapping[str, Any], diff: Diff) -> Diff:
    """The diff of an override that also writes what only looks in step.

    That is what the site has the same value for now, and will not have after this plan.
    """
    act, learnt = dict(diff.act), dict(diff.learnt)
    for name, found in shared.act.items() if shared is not None else ():
        value = desired.get(name, MISSING)
        if value is MISSING or name in act or name in diff.report or name in diff.blocked:
            continue
        if value is None or is_in_step(name, value, find_inherited(sides.existing.customization, name)):
            learnt.pop(name, None)
            act[name] = FieldDiff(found.before, value, "change")
    return replace(diff, act=act, learnt=learnt)


def _plan_reset(sides: Sides, item: Item, effective: Mapping[str, Any], *, is_new: bool) -> PlanPart:
    def pick_members(settings: Mapping[str, Any]) -> dict[str, Any]:
        skipped = ("title", "updatedAt")
        return {name: value for name, value in settings.items() if name not in skipped and value is not None}

    site = sides.existing.customization
    has_none = pick_members(effective) == pick_members(site) and effective.get("title") in (None, site.get("title"))
    desired = pick_managed(sides, item, {"reset": True})
    diff = _compare_override(sides, item, desired, {"reset": is_new or has_none}, is_same)
    drafts: tuple[Draft, ...] = ()
    if "reset" in diff.act:
        drafts = (draft_step(sides, Wave.CUSTOMIZATION, Call.OVERRIDE_DELETE, item.ref, {}, {"reset": True}),)
    return PlanPart(diffs={item.ref: diff}, drafts=drafts)
