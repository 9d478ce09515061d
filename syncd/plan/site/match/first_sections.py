"""The first sections of a site whose site-spaces stand at its root: the platform puts those into a section of its own.

It does so when it makes the first section, and says neither how it calls the other one nor its id. So a plan expects
the declared section that shows these site-spaces to be that one. A run makes the first section, reads the site again,
and plans the rest from what is there.
"""

from collections.abc import Mapping, Set
from dataclasses import replace

from syncd.layout.site.read.declared import Item, SiteFile
from syncd.model.ref import ROOT, Ref
from syncd.plan.site.call import Call
from syncd.plan.site.live_state import ExistingItem, LiveSite, SiteLock
from syncd.plan.site.steps import SitePlan, Step


def find_root_section(file: SiteFile, live: LiveSite, lock: SiteLock) -> Item | None:
    """Return the declared section that will be the one into which the platform moves the site-spaces at the root.

    Shape: None for a site that has sections or nothing at its root, for a file that declares something there, and where
    no single section shows all site-spaces at the root that the file declares.
    """
    root = _list_root_variants(live)
    if not root or live.of("section") or any(item.parent == ROOT for item in file.of("variant")):
        return None
    by_id, by_space = _find_sections_by_variant(file, lock)
    claims = [by_id.get(one.id) or by_space.get(str(one.fields.get("space")), frozenset()) for one in root]
    spoken_of = [refs for refs in claims if refs]
    sections = file.of("section") if spoken_of else ()
    return next((item for item in sections if all(item.ref in refs for refs in spoken_of)), None)


def format_expected_id(section: Item) -> str:
    """Return what stands in a plan for the id of the section that the platform will create."""
    return f"({section.ref})"


def expect_structure(file: SiteFile, live: LiveSite, lock: SiteLock) -> LiveSite:
    """Return the platform as it is expected once it has created the first section; else as it is."""
    section = find_root_section(file, live, lock)
    if section is None:
        return live
    id, root = format_expected_id(section), _list_root_variants(live)
    unknown = dict.fromkeys(("title", "path", "icon", "description", "condition"))
    items = {id: ExistingItem("section", id, unknown | {"default": True}), **live.items}
    items |= {one.id: replace(one, parent=id) for one in root}
    inner = tuple(one.id for one in root)
    left = tuple(child for child in live.orders.get(ROOT, ()) if child not in inner)
    return replace(live, items=items, orders={**live.orders, ROOT: (id, *left), id: inner})


def is_carried_out(plan: SitePlan, section: Item) -> bool:
    """Return whether a plan for an expected structure creates a section, and adopts the expected one."""
    makes = any(step.call is Call.SECTION_CREATE for step in plan.steps)
    return makes and any(step.ref == section.ref for step in plan.steps)


def take_first_part(plan: SitePlan) -> SitePlan:
    """Return the part of a plan that can run on the site as it is.

    Shape: all of it, but of a plan that expects a section only what comes before the first section, that one and the
    variant that it is created with. The lock adopts the site-spaces at the root by their ids, by which the section that
    the platform creates is found; they change with that section, so that nothing is open between the two.
    """
    if not plan.expects:
        return plan
    at = next(at for at, step in enumerate(plan.steps) if step.call is Call.SECTION_CREATE)
    made, before = plan.steps[at], [_without_place(plan, s) for s in plan.steps[:at] if _can_run_before(plan, s)]
    inner = Ref.of("variant", f"{made.ref.key}/")
    brought = next(step for step in plan.steps[at:] if step.call is Call.ADOPT and step.ref.startswith(inner))
    return replace(plan, steps=(*before, made, brought))


def _without_place(plan: SitePlan, step: Step) -> Step:
    """A step whose item is not yet where the plan expects it."""
    return replace(step, applied={name: value for name, value in step.applied.items() if value != plan.expects})


def _can_run_before(plan: SitePlan, step: Step) -> bool:
    return step.id != plan.expects and (step.kind != "variant" or step.call.is_local)


def _list_root_variants(live: LiveSite) -> list[ExistingItem]:
    there = (live.items[id] for id in live.orders.get(ROOT, ()))
    return [one for one in there if one.kind == "variant"]


def _find_sections_by_variant(file: SiteFile, lock: SiteLock) -> tuple[Mapping[str, Set[Ref]], Mapping[str, Set[Ref]]]:
    """The refs of the declared sections that show a variant, by its id, and a space."""
    by_id: dict[str, frozenset[Ref]] = {}
    by_space: dict[str, frozenset[Ref]] = {}
    for item in file.of("variant"):
        entry, space = lock.items.get(item.ref), str(item.fields.get("space"))
        for id in {item.id, entry.id if entry is not None else ""} - {""}:
            by_id[id] = by_id.get(id, frozenset()) | {item.parent}
        by_space[space] = by_space.get(space, frozenset()) | {item.parent}
    return by_id, by_space
