"""The plan for a site: file, platform and lock in; lines for people, steps for an executor and gates out.

Source: site-file notes, §4 and §5.
"""

from dataclasses import replace

from syncd.layout.site.read.declared import SiteFile
from syncd.model.ref import AREAS
from syncd.plan.site.context import Case
from syncd.plan.site.gates import exposure, gates, gating
from syncd.plan.site.lines import tell
from syncd.plan.site.live_state import Live, Lock
from syncd.plan.site.lockfile import lock_update
from syncd.plan.site.lockfile.snapshot import snapshot, snapshot_of
from syncd.plan.site.match.first_sections import expect_structure, expected_id, find_root_section, is_carried_out
from syncd.plan.site.match.match import match
from syncd.plan.site.options import Options
from syncd.plan.site.redirects import redirects
from syncd.plan.site.steps import Action, Line, SitePlan
from syncd.plan.site.structure import building, deletions, ordering, paths, placing, site_settings, structure

__all__ = ["Options", "plan_site"]

_ACTIONS: tuple[Action, ...] = ("create", "adopt", "update", "move", "delete", "blocked", "report")


def plan_site(file: SiteFile, live: Live, lock: Lock, options: Options = Options()) -> SitePlan:
    """Given a site's three sides, return everything that brings the platform to what the file declares.

    Shapes: the same sides give the same plan; what cannot be done is blocked, and stops nothing else. A plan that
    `expects` a section runs in two parts, see `take_first_part`.
    """
    section = find_root_section(file, live, lock)
    if section is not None:
        expected = expect_structure(file, live, lock)
        plan = _plan(Case(file, expected, lock, options, match(file, expected, lock), expected=section.ref))
        if is_carried_out(plan, section):
            return replace(plan, snapshot=snapshot(file, live, lock), expects=expected_id(section))
    return _plan(Case(file, live, lock, options, match(file, live, lock)))


def _plan(case: Case) -> SitePlan:
    file, live = case.file, case.live
    seen = snapshot_of(file, live, case.matches)
    site_settings.compare_site(case)
    structure.compare(case)
    structure.arrive(case)
    doom = deletions.doom(case)
    while paths.settle(case, doom):
        doom = deletions.doom(case)
    structure.pair(case)
    case.doomed = dict(doom.doomed)
    _structure(case, doom)
    redirects.plan_redirects(case)
    site_settings.plan_customization(case)
    site_settings.shrink_schema(case)
    deletions.tell(case, doom)
    site_settings.tell_unread(case)
    tell(case)
    gates.gate(case)
    drafts = sorted([*lock_update.keep(case), *case.drafts], key=lambda draft: draft.wave)
    exposure.gate_exposures(case, drafts)
    return SitePlan(
        site=file.site,
        lines=_sorted(case),
        steps=tuple(lock_update.steps(case, drafts)),
        gates=tuple(case.gates),
        warnings=tuple(case.warnings),
        unmanaged={area: len(names) for area, names in case.beyond.items()},
        beyond=dict(case.beyond),
        snapshot=seen,
    )


def _structure(case: Case, doom: deletions.Doom) -> None:
    laid = paths.lay(case, doom)
    gating.gate_site(case)
    site_settings.expand_schema(case)
    gating.gate_parts(case)
    building.build_groups(case)
    building.build_sections(case, laid)
    building.build_variants(case, laid)
    paths.rename(case, laid, doom)
    placing.place(case)
    ordering.order(case)
    placing.choose_defaults(case)


def _sorted(case: Case) -> tuple[Line, ...]:
    """The lines by area, then as the file has them; what it does not have comes last."""
    index = {ref: at for at, ref in enumerate(case.file.items)}

    def place(line: Line) -> tuple[int, int, int]:
        area = line.ref.area
        return AREAS.index(area), index.get(line.ref, len(index)), _ACTIONS.index(line.action)

    return tuple(sorted(case.lines, key=place))
