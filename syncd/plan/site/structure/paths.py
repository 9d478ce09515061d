"""Paths of sections and variants: free from the start where they can be, renamed so that no two are ever equal."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from syncd.model.redirect import make_source_key
from syncd.model.ref import ROOT, Ref
from syncd.plan.site.call import Call
from syncd.plan.site.differ import MISSING
from syncd.plan.site.live_state import ExistingItem
from syncd.plan.site.part import Draft
from syncd.plan.site.sides import Sides
from syncd.plan.site.steps import Wave
from syncd.plan.site.structure.decisions import Structure, block_field, is_becoming_default, leave_out
from syncd.plan.site.structure.deletions import Deletions
from syncd.plan.site.structure.renames import Renames, is_temporary, make_temporary_path, plan_renames


@dataclass(frozen=True)
class Paths:
    """The paths that new items are made with, by ref, and the renames of each list of siblings."""

    first: Mapping[Ref, str]
    renames: tuple[Renames, ...]


def drop_taken_paths(sides: Sides, structure: Structure, deletions: Deletions) -> Structure:
    """Return the structure without what cannot have its path; the same value when everything can."""
    broken = find_broken_addresses(sides, structure) if sides.desired.policy.require_bridge else ()
    notes = {ref: _explain_broken(former) for ref, former in broken}
    structure = block_field(sides, structure, "path", notes)
    for parent in _list_namespaces(sides, structure):
        now, wanted = _find_paths(sides, structure, parent)
        blocked = plan_renames(now, wanted, deletions.deleted.keys() & set(now)).blocked
        why = {name: f'path "{wanted[name]}" is taken by {_describe_holder(sides, blocked[name])}' for name in blocked}
        structure = leave_out(sides, structure, {name: why[name] for name in blocked if isinstance(name, Ref)})
        existing = {sides.matches.refs[name]: (why[name], "") for name in blocked if not isinstance(name, Ref)}
        structure = block_field(sides, structure, "path", existing)
    return structure


def _explain_broken(former: str) -> tuple[str, str]:
    """Why a path cannot be left, and what a person can do."""
    note = f"{former} would lead nowhere, and policy.require_bridge is set"
    return note, f"declare a redirect from {former}"


def plan_paths(sides: Sides, structure: Structure, deletions: Deletions) -> Paths:
    """Return how everything gets its path, for a structure in which everything can."""
    first: dict[Ref, str] = {}
    plans: list[Renames] = []
    for parent in _list_namespaces(sides, structure):
        now, wanted = _find_paths(sides, structure, parent)
        used = {path.casefold() for path in now.values()}
        reserved = used | {path.casefold() for path in wanted.values()}
        for ref in [name for name in wanted if isinstance(name, Ref)]:
            is_free = wanted[ref].casefold() not in used
            first[ref] = wanted.pop(ref) if is_free else make_temporary_path(wanted[ref], ref, reserved)
            used.add(first[ref].casefold())
            reserved.add(first[ref].casefold())
            now[ref] = first[ref]
        plans.append(plan_renames(now, wanted, deletions.deleted.keys() & set(now)))
    return Paths(first, tuple(plans))


def draft_renames(sides: Sides, paths: Paths, deletions: Deletions) -> Iterator[Draft]:
    """Yield the requests that change paths (W8)."""
    for plan in paths.renames:
        for one in plan.order:
            ref = one.name if isinstance(one.name, Ref) else deletions.deleted.get(one.name) or sides.find_ref(one.name)
            call = Call.SECTION_UPDATE if ref.kind == "section" else Call.VARIANT_UPDATE
            sets = {"path": MISSING if one.is_temporary else one.path}
            id = sides.find_id(ref) if ref is one.name else one.name
            yield Draft(Wave.PATHS, call, ref, id, {"path": one.path}, sets, is_temporary=one.is_temporary)


def find_broken_addresses(sides: Sides, structure: Structure) -> Iterator[tuple[Ref, str]]:
    """Yield each part that leaves a path without a redirect from it, and that path."""
    leaving = [
        ref
        for ref, diff in structure.diffs.items()
        if "path" in diff.act and ref.kind in ("section", "variant") and _was_public(sides, ref)
    ]
    if not leaving:
        return
    sources = {item.key for item in sides.desired.of("redirect")}
    sources |= {make_source_key(str(existing.fields.get("source"))) for existing in sides.existing.of("redirect")}
    heirs = _find_heirs(sides, structure)
    for ref in leaving:
        former = _find_address(sides, ref, heirs)
        if former and make_source_key(former) not in sources:
            yield ref, former


def _was_public(sides: Sides, ref: Ref) -> bool:
    """Whether a path was ever meant: what syncd made and did not get to name has one that nobody knows."""
    path = sides.matches.found[ref].fields.get("path")
    if not path or is_temporary(str(path)):
        return False
    return sides.find_origin(ref) == "adopted" or "path" in sides.find_base(ref)


def _find_address(sides: Sides, ref: Ref, heirs: Mapping[str, str]) -> str:
    """Where something is read now, below the site; nothing for a default, which is read where its parent is."""
    existing = sides.matches.found[ref]
    if _stays_default(existing, heirs):
        return ""
    above = sides.existing.items.get(existing.parent) if existing.kind == "variant" else None
    # Nobody was led by a path that the platform chose meanwhile.
    is_short = above is None or _stays_default(above, heirs) or sides.find_ref(above.id) in sides.matches.half_made
    parts = [] if above is None or is_short else [above.fields.get("path")]
    return "/" + "/".join(str(part) for part in (*parts, existing.fields.get("path")) if part)


def _stays_default(existing: ExistingItem, heirs: Mapping[str, str]) -> bool:
    """Whether something is the default when this plan is done."""
    heir = heirs.get("section" if existing.kind == "section" else existing.parent)
    return bool(existing.fields.get("default")) if heir is None else heir == existing.id


def _find_heirs(sides: Sides, structure: Structure) -> dict[str, str]:
    """Who becomes the default in this plan, by the id of its parent, or `section` for the site's: an id or a ref."""
    heirs: dict[str, str] = {}
    for item in sides.desired.of("section", "variant"):
        if is_becoming_default(structure, item):
            parent = "section" if item.kind == "section" else str(sides.find_id(item.parent))
            heirs[parent] = str(sides.find_id(item.ref))
    return heirs


def _list_namespaces(sides: Sides, structure: Structure) -> list[Ref | None]:
    """The namespaces of paths: that of all sections, None, and each section's, or the root's, of variants."""
    sections = (item.ref for item in sides.desired.of("section") if structure.is_present(sides, item.ref))
    return [None, ROOT, *sections]


def _find_paths(sides: Sides, structure: Structure, parent: Ref | None) -> tuple[dict[str, str], dict[str, str]]:
    """The paths that siblings have, by id, and those that some shall have, by id or, of what is new, by ref."""
    if parent is None:
        items = sides.existing.of("section")
        refs: Iterable[Ref] = (item.ref for item in sides.desired.of("section"))
    else:
        above = sides.matches.found.get(parent)
        id = ROOT if parent == ROOT else "" if above is None else above.id
        children = () if parent != ROOT and above is None else sides.existing.orders.get(id, ())
        items = tuple(one for id in children if (one := sides.existing.items[id]).kind == "variant")
        refs = (item.ref for item in sides.children.get(parent, ()) if item.kind == "variant")
    now = {existing.id: str(existing.fields.get("path") or "") for existing in items}
    return now, dict(_find_wanted_paths(sides, structure, refs))


def _find_wanted_paths(sides: Sides, structure: Structure, refs: Iterable[Ref]) -> Iterator[tuple[str, str]]:
    for ref in refs:
        diff = structure.diffs.get(ref)
        if diff is not None and "path" in diff.act:
            yield sides.matches.found[ref].id, str(diff.act["path"].after)
        elif ref in structure.new and structure.desired[ref].get("path"):
            yield ref, str(structure.desired[ref]["path"])


def _describe_holder(sides: Sides, name: str) -> str:
    """What people call what has a path: a new item by its ref, and what is there by its id."""
    ref = name if isinstance(name, Ref) else sides.matches.refs.get(name)
    existing = sides.existing.items.get(name)
    if ref is not None or existing is None:
        return name if ref is None else ref.words
    known = sides.find_ref(name)
    return known.words if "#" not in known else f"{existing.kind} {existing.id}, which is not in the file"
