"""What a plan may not do without a person's word: too much at once, in the open, or under loosened limits.

Source: site-file notes, §5.
"""

from syncd.layout.site.read.declared import USUAL_LIMITS, Limits, SiteFile
from syncd.model.ref import Area, Kind, Ref
from syncd.plan.site.context import Case
from syncd.plan.site.steps import Gate

PCT_FROM = 10
"""Percentages mean something from this number of things on."""
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


def limits(file: SiteFile, area: Area) -> Limits:
    """Given a file and an area, return how much may go unasked in it."""
    return file.policy.limits.get(area, USUAL_LIMITS.get(area, Limits()))


def gate(case: Case) -> None:
    """Given a case whose lines are known, take down the gates that these ask for."""
    for area, kinds in _LIMITED:
        deleted = _refs(case, "delete", area)
        _too_much(case, area, deleted, _refs(case, "update", area))
        _empty(case, area, kinds)
        _loosened(case, area, deleted)
    if case.defaults:
        refs = tuple(case.defaults)
        case.gates.append(Gate("defaults", refs, "visitors arrive at another place than before", approval=True))


def _refs(case: Case, action: str, area: Area) -> tuple[Ref, ...]:
    """The refs with such an action; a group that is made anew elsewhere is not deleted for good."""
    anew = set(case.replaced.values())
    found = (line.ref for line in case.lines if line.action == action and line.ref not in anew)
    return tuple(dict.fromkeys(ref for ref in found if ref.area == area))


def _owned(case: Case, kinds: tuple[Kind, ...]) -> tuple[Ref, ...]:
    return tuple(ref for ref, entry in case.lock.items.items() if ref.kind in kinds and entry.id in case.live.things)


def _too_much(case: Case, area: Area, deleted: tuple[Ref, ...], updated: tuple[Ref, ...]) -> None:
    owned = _owned(case, dict(_LIMITED)[area])
    why = _over(case, area, (len(deleted), len(owned)), ("max_delete", "max_delete_pct"))
    if why:
        case.gates.append(Gate(f"{area}.delete", deleted, f"{_number(area, deleted, owned)} would be deleted; {why}"))
    why = _over(case, area, (len(updated), len(owned)), ("", "max_update_pct"))
    if why:
        case.gates.append(Gate(f"{area}.update", updated, f"{_number(area, updated, owned)} would be changed; {why}"))


def _over(case: Case, area: Area, counts: tuple[int, int], names: tuple[str, str]) -> str:
    """Given how many of how many, and the names of a limit by number and one by share, say which of them are passed."""
    (count, owned), allowed = counts, limits(case.file, area)
    most, pct = (getattr(allowed, name) if name else None for name in names)
    passed = []
    if most is not None and count > most:
        passed.append(f"the limit is {most}{_declared(case, area, names[0])}")
    if pct is not None and owned >= PCT_FROM and count * 100 > pct * owned:
        share = f"{count * 100 / owned:.1f} %"
        passed.append(f"the limit is {pct} %{_declared(case, area, names[1])}, and this is {share}")
    return "; ".join(passed)


def _declared(case: Case, area: Area, name: str) -> str:
    """Where the file says how much may go, when it does."""
    place = case.file.places.get(f"policy.limits.{area}.{name}")
    return f" ({place.file}:{place.line})" if place is not None else ""


def _empty(case: Case, area: Area, kinds: tuple[Kind, ...]) -> None:
    is_asked = area in case.file.managed and area in case.options.areas and not case.options.target
    if not is_asked or case.file.policy.allow_empty or case.file.of(*kinds):
        return
    if owned := _owned(case, kinds):
        why = f"the file declares none, and syncd owns {len(owned)}; set policy.allow_empty: true if that is intended"
        case.gates.append(Gate(f"{area}.empty", owned, why))


def _loosened(case: Case, area: Area, deleted: tuple[Ref, ...]) -> None:
    """What would go is held where the change that lets it go is as new as the change that takes it out."""
    former = case.options.previous
    if former is None or not deleted:
        return
    unprotected = tuple(ref for ref in deleted if (one := former.items.get(ref)) is not None and one.protect)
    if unprotected:
        why = "they were protected until the change that takes them out"
        case.gates.append(Gate("protect", unprotected, why, approval=True))
    if _is_looser(limits(case.file, area), limits(former, area)):
        why = f"policy.limits.{area} was loosened in the same change"
        case.gates.append(Gate(f"{area}.limits", deleted, why, approval=True))


def _is_looser(now: Limits, before: Limits) -> bool:
    pairs = ((now.max_delete, before.max_delete), (now.max_delete_pct, before.max_delete_pct))
    return any(old is not None and (new is None or new > old) for new, old in pairs)


def _number(area: Area, refs: tuple[Ref, ...], owned: tuple[Ref, ...]) -> str:
    """How many things, and of how many that are syncd's."""
    one, many = ("redirect", "redirects") if area == "redirects" else ("part", "parts of the structure")
    if not set(refs) <= set(owned):
        return f"{len(refs)} {one if len(refs) == 1 else many} (syncd owns {len(owned)})"
    if len(refs) < len(owned):
        return f"{len(refs)} of the {len(owned)} {many} that syncd owns"
    return f"all {len(owned)} {many} that syncd owns" if len(owned) > 1 else f"the only {one} that syncd owns"
