"""The plan for a site: desired, existing and base side in; lines for people, steps for an executor and gates out.

Each area returns its part of the plan as a value, and says by its parameters what it needs of the areas before it. The
parts are joined in the order in which their steps run within one wave.
Source: docs/decisions/0005-sites-have-a-lock-file.md; ARCHITECTURE.md, "A redirect is applied".
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from syncd.layout.site.read.declared import SiteFile
from syncd.model.ref import AREAS, Area, Ref
from syncd.plan.site.describe import describe_changes, warn_of_broken_addresses, warn_of_dead_redirects
from syncd.plan.site.gates.exposure import gate_exposures
from syncd.plan.site.gates.gates import gate_amounts
from syncd.plan.site.live_state import LiveSite, SiteLock
from syncd.plan.site.lockfile.lock_update import draft_lock_updates, finish_steps
from syncd.plan.site.lockfile.snapshot import digest_areas, take_snapshot
from syncd.plan.site.match.first_sections import expect_structure, find_root_section, format_expected_id, is_carried_out
from syncd.plan.site.match.match import match_items
from syncd.plan.site.options import Options
from syncd.plan.site.part import PlanPart, join_parts
from syncd.plan.site.redirects.redirects import plan_redirects
from syncd.plan.site.settings.customization import plan_customization
from syncd.plan.site.settings.settings import plan_settings
from syncd.plan.site.settings.visitors import compare_visitors, plan_visitors
from syncd.plan.site.sides import Sides, replace_groups
from syncd.plan.site.steps import Action, Line, SitePlan
from syncd.plan.site.structure.deletions import plan_deletions
from syncd.plan.site.structure.paths import find_broken_addresses
from syncd.plan.site.structure.plan import decide_structure, plan_structure

_ACTIONS: tuple[Action, ...] = ("create", "adopt", "update", "move", "delete", "blocked", "report")
_PARTLY_MANAGED: tuple[Area, ...] = ("redirects", "visitors", "structure")
"""Areas of which a file may declare a part only, as people are told of the rest."""


def plan_site(file: SiteFile, live: LiveSite, lock: SiteLock, options: Options = Options()) -> SitePlan:
    """Return everything that brings the platform to what a site file declares; `lock` is the base.

    Shape: the same sides give the same plan; what cannot be done is blocked, and stops nothing else. A plan whose
    `SitePlan.expects` names a section runs in two parts, see `take_first_part`.
    """
    section = find_root_section(file, live, lock)
    if section is not None:
        expected = expect_structure(file, live, lock)
        plan = _plan(Sides(file, expected, lock, options, match_items(file, expected, lock), expected=section.ref))
        if is_carried_out(plan, section):
            return replace(plan, snapshot=take_snapshot(file, live, lock), expects=format_expected_id(section))
    return _plan(Sides(file, live, lock, options, match_items(file, live, lock)))


def _plan(sides: Sides) -> SitePlan:
    seen = digest_areas(sides.desired, sides.existing, sides.matches)
    sides = replace_groups(sides)
    claims = compare_visitors(sides)
    decided = decide_structure(sides)
    structure, deletions = decided.structure, decided.deletions
    customization = plan_customization(sides, structure)
    part = join_parts(
        [
            plan_settings(sides),
            plan_visitors(sides, claims, structure, deletions, customization.desired),
            plan_structure(sides, decided, claims),
            plan_redirects(sides, structure, deletions),
            customization.part,
            plan_deletions(sides, deletions),
        ]
    )
    broken = find_broken_addresses(sides, structure) if not sides.desired.policy.require_bridge else ()
    warnings = (*warn_of_broken_addresses(sides, broken), *warn_of_dead_redirects(sides, part.deleted))
    described = PlanPart(lines=tuple(describe_changes(sides, part)), warnings=warnings)
    return _finish_plan(sides, join_parts([part, described]), seen, structure.first_variants)


def _finish_plan(sides: Sides, part: PlanPart, seen: Mapping[Area, str], first_variants: Mapping[Ref, Ref]) -> SitePlan:
    drafts = sorted([*draft_lock_updates(sides, part), *part.drafts], key=lambda draft: draft.wave)
    amounts, exposures = gate_amounts(sides, part.lines), gate_exposures(sides, drafts, first_variants)
    unmanaged = {area: part.unmanaged[area] for area in _PARTLY_MANAGED if area in part.unmanaged}
    return SitePlan(
        site=sides.desired.site,
        lines=_sort_lines(sides, part.lines),
        steps=tuple(finish_steps(sides, part, drafts)),
        gates=(*amounts, *part.gates, *exposures),
        warnings=part.warnings,
        unmanaged={area: len(names) for area, names in unmanaged.items()},
        beyond=unmanaged,
        snapshot=seen,
    )


def _sort_lines(sides: Sides, lines: Iterable[Line]) -> tuple[Line, ...]:
    """The lines by area, then as the file has them; what it does not have comes last."""
    index = {ref: at for at, ref in enumerate(sides.desired.items)}

    def find_position(line: Line) -> tuple[int, int, int]:
        area = line.ref.area
        return AREAS.index(area), index.get(line.ref, len(index)), _ACTIONS.index(line.action)

    return tuple(sorted(lines, key=find_position))
