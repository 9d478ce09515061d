"""The structure's part of a plan: what is decided first, then the requests in the order in which they run."""

from collections.abc import Iterator
from dataclasses import dataclass

from syncd.model.ref import Area
from syncd.plan.site.differ import Diff
from syncd.plan.site.gates.gating import draft_audiences
from syncd.plan.site.part import Draft, PlanPart, join_parts
from syncd.plan.site.sides import Sides
from syncd.plan.site.structure.building import draft_groups, draft_sections, draft_variants
from syncd.plan.site.structure.decisions import PARTS, Structure
from syncd.plan.site.structure.deletions import Deletions, find_deletions
from syncd.plan.site.structure.ordering import plan_order
from syncd.plan.site.structure.paths import Paths, draft_renames, drop_taken_paths, plan_paths
from syncd.plan.site.structure.placing import draft_memberships, list_children, plan_defaults
from syncd.plan.site.structure.remote_deletions import describe_remote_deletions
from syncd.plan.site.structure.structure import compare_structure


@dataclass(frozen=True)
class DecidedStructure:
    """All decisions about a site's structure: what is made and changed, and what is deleted."""

    structure: Structure
    deletions: Deletions


def decide_structure(sides: Sides) -> DecidedStructure:
    """Return what of the structure is created, changed and deleted.

    Whatever cannot have its path is left out, so that its siblings may stay where they would have been deleted; that is
    repeated until everything that is left can have its path.
    """
    structure = compare_structure(sides)
    while True:
        deletions = find_deletions(sides, structure)
        smaller = drop_taken_paths(sides, structure, deletions)
        if smaller is structure:
            return DecidedStructure(structure, deletions)
        structure = smaller


def plan_structure(sides: Sides, decided: DecidedStructure, visitors: Diff | None) -> PlanPart:
    """Return the lines and requests of a decided structure; `visitors` is the diff of the claims that conditions may
    read.
    """
    structure, deletions = decided.structure, decided.deletions
    made = tuple(_draft_parts(sides, structure, visitors, plan_paths(sides, structure, deletions), deletions))
    memberships = tuple(draft_memberships(sides, structure))
    order = plan_order(sides, structure, list_children(sides, structure, memberships))
    decisions = PlanPart(
        diffs=structure.diffs,
        new={ref: structure.desired[ref] for ref in structure.new},
        lost=structure.remote.lost,
        drafts=(*made, *memberships),
        lines=(*structure.lines, *describe_remote_deletions(sides, structure.remote)),
        unmanaged=_list_unmanaged(sides, deletions),
    )
    defaults = plan_defaults(sides, structure, (*made, *memberships, *order.drafts))
    return join_parts([decisions, order, defaults])


def _draft_parts(
    sides: Sides, structure: Structure, visitors: Diff | None, paths: Paths, deletions: Deletions
) -> Iterator[Draft]:
    yield from draft_audiences(sides, structure, visitors)
    yield from draft_groups(sides, structure)
    yield from draft_sections(sides, structure, paths)
    yield from draft_variants(sides, structure, paths)
    yield from draft_renames(sides, paths, deletions)


def _list_unmanaged(sides: Sides, deletions: Deletions) -> dict[Area, tuple[str, ...]]:
    """What of the structure is neither in the file nor syncd's, for people."""
    names = [
        f"{item.kind} {item.fields.get('path') or item.fields.get('title')} ({item.id})"
        for item in sides.existing.of(*PARTS)
        if item.id not in sides.matches.refs and item.id not in deletions.deleted and not sides.is_owned(item.id)
    ]
    return {"structure": tuple(names)} if names and "structure" in sides.desired.managed else {}
