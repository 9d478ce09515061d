"""A site's own settings: title, audience, and the like (W1, W2 and W12)."""

from collections.abc import Mapping
from typing import Any

from syncd.layout.site.read.declared import Item
from syncd.model.ref import AREA, SITE
from syncd.plan.site.differ import Comparison, Diff
from syncd.plan.site.gates.gating import SETTINGS, draft_settings
from syncd.plan.site.part import PlanPart
from syncd.plan.site.sides import Sides


def plan_settings(sides: Sides) -> PlanPart:
    """Return what changes in the settings of the site itself."""
    for item in sides.items("site"):
        desired = pick_managed(sides, item, item.fields)
        # The lock also has the order of what stands at the root, with the site.
        base = {name: value for name, value in sides.find_base(item.ref).items() if name in SETTINGS}
        diff = sides.judge("settings").diff(base, desired, sides.existing.site, is_same)
        return PlanPart(diffs={SITE: diff}, drafts=tuple(draft_settings(sides, diff)))
    return PlanPart()


def pick_managed(sides: Sides, item: Item, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return those fields of a declared item that the policy does not ignore."""
    return {name: value for name, value in fields.items() if not sides.is_ignored(item.ref, name)}


def compare_fields(
    sides: Sides, item: Item, desired: Mapping[str, Any], existing: Mapping[str, Any], same: Comparison
) -> Diff:
    """Return what is to be done about each managed field of a declared item."""
    return sides.judge(AREA[item.kind]).diff(sides.find_base(item.ref), desired, existing, same)


def is_same(name: str, desired: Any, existing: Any) -> bool:
    """Return whether two values of a field are the same in meaning: absent, empty and off are."""
    return bool((desired or None) == (existing or None))
