"""What a plan may not do without a person's word: too much at once, or under loosened limits.

Source: syncd/manual/how-to/site.md, "Gates".
"""

from collections.abc import Iterable, Iterator, Sequence

from syncd.layout.site.read.declared import USUAL_LIMITS, Limits, SiteFile
from syncd.model.ref import Area, Kind, Ref
from syncd.plan.site.sides import Sides
from syncd.plan.site.steps import Action, Gate, Line

PCT_FROM = 10
"""Percentages mean something from this number of items on."""
_LIMITED: tuple[tuple[Area, tuple[Kind, ...]], ...] = (
    ("redirects", ("redirect",)),
    ("structure", ("group", "section", "variant")),
)
SCOPES = (
    *(f"{area}.{what}" for area, _ in _LIMITED for what in ("delete", "update", "empty", "limits")),
    "protect",
    "defaults",
    "exposure",
)
"""Every scope that a gate can have."""


def find_limits(file: SiteFile, area: Area) -> Limits:
    """Return how much of an area a run may change without being asked."""
    return file.policy.limits.get(area, USUAL_LIMITS.get(area, Limits()))


def gate_amounts(sides: Sides, lines: Sequence[Line]) -> tuple[Gate, ...]:
    """Return the gates that hold a plan which deletes or changes too much."""
    gates: list[Gate] = []
    for area, kinds in _LIMITED:
        deleted = _find_refs(sides, lines, "delete", area)
        updated = _find_refs(sides, lines, "update", area)
        gates += _gate_limits(sides, area, kinds, deleted, updated)
        gates += _gate_emptied(sides, area, kinds)
        gates += _gate_loosened(sides, area, deleted)
    return tuple(gates)


def _find_refs(sides: Sides, lines: Iterable[Line], action: Action, area: Area) -> tuple[Ref, ...]:
    """The refs with such an action; a group that is made anew elsewhere is not deleted for good."""
    anew = set(sides.matches.replaced.values())
    found = (line.ref for line in lines if line.action == action and line.ref not in anew)
    return tuple(dict.fromkeys(ref for ref in found if ref.area == area))


def _find_owned(sides: Sides, kinds: tuple[Kind, ...]) -> tuple[Ref, ...]:
    return tuple(
        ref for ref, entry in sides.base.items.items() if ref.kind in kinds and entry.id in sides.existing.items
    )


def _gate_limits(
    sides: Sides, area: Area, kinds: tuple[Kind, ...], deleted: tuple[Ref, ...], updated: tuple[Ref, ...]
) -> Iterator[Gate]:
    owned = _find_owned(sides, kinds)
    why = _explain_excess(sides.desired, area, (len(deleted), len(owned)), ("max_delete", "max_delete_pct"))
    if why:
        yield Gate(f"{area}.delete", deleted, f"{_format_count(area, deleted, owned)} would be deleted; {why}")
    why = _explain_excess(sides.desired, area, (len(updated), len(owned)), ("", "max_update_pct"))
    if why:
        yield Gate(f"{area}.update", updated, f"{_format_count(area, updated, owned)} would be changed; {why}")


def _explain_excess(file: SiteFile, area: Area, counts: tuple[int, int], names: tuple[str, str]) -> str:
    """Return which limits a count exceeds, in words; `names` are those of a limit by number and of one by share."""
    (count, owned), allowed = counts, find_limits(file, area)
    most, pct = (getattr(allowed, name) if name else None for name in names)
    passed = []
    if most is not None and count > most:
        passed.append(f"the limit is {most}{_locate_limit(file, area, names[0])}")
    if pct is not None and owned >= PCT_FROM and count * 100 > pct * owned:
        share = f"{count * 100 / owned:.1f} %"
        passed.append(f"the limit is {pct} %{_locate_limit(file, area, names[1])}, and this is {share}")
    return "; ".join(passed)


def _locate_limit(file: SiteFile, area: Area, name: str) -> str:
    """Where the file says how much may go, when it does."""
    place = file.places.get(f"policy.limits.{area}.{name}")
    return f" ({place.file}:{place.line})" if place is not None else ""


def _gate_emptied(sides: Sides, area: Area, kinds: tuple[Kind, ...]) -> Iterator[Gate]:
    is_asked = area in sides.desired.managed and area in sides.options.areas and not sides.options.target
    if not is_asked or sides.desired.policy.allow_empty or sides.desired.of(*kinds):
        return
    if owned := _find_owned(sides, kinds):
        why = f"the file declares none, and syncd owns {len(owned)}; set policy.allow_empty: true if that is intended"
        yield Gate(f"{area}.empty", owned, why)


def _gate_loosened(sides: Sides, area: Area, deleted: tuple[Ref, ...]) -> Iterator[Gate]:
    """What would go is held where the change that lets it go is as new as the change that takes it out."""
    former = sides.options.previous
    if former is None or not deleted:
        return
    unprotected = tuple(ref for ref in deleted if (one := former.items.get(ref)) is not None and one.protect)
    if unprotected:
        why = "they were protected until the change that takes them out"
        yield Gate("protect", unprotected, why, approval=True)
    if _is_looser(find_limits(sides.desired, area), find_limits(former, area)):
        why = f"policy.limits.{area} was loosened in the same change"
        yield Gate(f"{area}.limits", deleted, why, approval=True)


def _is_looser(now: Limits, before: Limits) -> bool:
    pairs = ((now.max_delete, before.max_delete), (now.max_delete_pct, before.max_delete_pct))
    return any(old is not None and (new is None or new > old) for new, old in pairs)


def _format_count(area: Area, refs: tuple[Ref, ...], owned: tuple[Ref, ...]) -> str:
    """How many items, and of how many that are syncd's."""
    one, many = ("redirect", "redirects") if area == "redirects" else ("part", "parts of the structure")
    if not set(refs) <= set(owned):
        return f"{len(refs)} {one if len(refs) == 1 else many} (syncd owns {len(owned)})"
    if len(refs) < len(owned):
        return f"{len(refs)} of the {len(owned)} {many} that syncd owns"
    return f"all {len(owned)} {many} that syncd owns" if len(owned) > 1 else f"the only {one} that syncd owns"
