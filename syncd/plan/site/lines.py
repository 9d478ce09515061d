"""A case's decisions as lines that people read: what is made, changed, adopted, left to a person, or only noticed."""

import re
from collections.abc import Mapping
from typing import Any

from syncd.layout.site.read.declared import Item
from syncd.model.ref import Area, Ref
from syncd.plan.site.context import Case
from syncd.plan.site.differ import Diff, Found
from syncd.plan.site.steps import Class, Line
from syncd.plan.site.structure import remote_deletions
from syncd.plan.site.structure.paths import unbridged
from syncd.plan.site.structure.remote_deletions import CHOOSE
from syncd.plan.site.structure.structure import gate_of

CONFLICT = "changed in the file and on the platform"
_PLAIN = re.compile(r"/[A-Za-z0-9/._~-]+")
_ADOPTED = "syncd's from now on"
_BESIDE = ("to",)
"""Fields that only the lock needs."""


def tell(case: Case) -> None:
    """Given a case in which everything is decided, take down its lines and warnings."""
    for ref, item in case.new.items():
        wanted = {name: Found(None, value, "change") for name, value in _visible(case.desired[ref]).items()}
        case.line("create", ref, wanted, ", ".join(filter(None, (_back(case, ref), _how(case, item)))))
    remote_deletions.tell(case)
    for ref, diff in case.diffs.items():
        if diff or ref in case.matches.former or case.entry(ref) is None:
            _tell_one(case, ref, diff)
    if not case.file.policy.require_bridge:
        case.warnings += [
            f"{case.where(ref, 'path')}: {former} leads nowhere after this; {_bridge(ref, former)}"
            for ref, former in unbridged(case)
        ]
    for thing in case.live.of("redirect"):
        to = thing.fields.get("destination")
        if thing.id not in case.matches.refs and thing.id not in case.doomed and isinstance(to, Mapping):
            gone = [case.doomed[id] for id in (to.get("siteSectionId"), to.get("siteSpaceId")) if id in case.doomed]
            if gone:
                words = gone[0].words
                case.warnings.append(f"redirect {thing.fields.get('source')} leads to {words}, which is deleted")


def left_alone(case: Case, of: Class, area: Area) -> str:
    """Given whose doing a difference is, return why it stays."""
    if of == "conflict":
        return f"{CONFLICT}; left as it is"
    return f"changed outside syncd, left as it is: on_drift is {case.file.policy.drift(area)}"


def _tell_one(case: Case, ref: Ref, diff: Diff) -> None:
    known = case.entry(ref) is not None
    former = case.matches.former.get(ref)
    notes = [f"was {former.words}"] if former else []
    if ref in case.matches.halves:
        notes.append("made by a run that was interrupted")
    elif ref == case.expected:
        notes.append("the platform makes it of what stands at the root, as soon as there is another section")
    elif not known:
        notes.append(_ADOPTED)
    act, report = _visible(diff.act), _visible(diff.report)
    if act:
        case.line("update", ref, act, ", ".join(notes))
    elif not known or former:
        case.line("adopt", ref, {}, ", ".join([note for note in notes if note != _ADOPTED] or ["already as declared"]))
    elif diff.learnt or diff.dropped:
        case.line("adopt", ref, {}, _learnt(diff))
    if report:
        of: Class = "drift" if any(found.of == "drift" for found in report.values()) else "conflict"
        case.line("report", ref, report, left_alone(case, of, ref.area))
    if conflict := _visible(diff.blocked):
        case.lines.append(Line("blocked", ref, case.changes(ref, conflict), CONFLICT, case.where(ref), CHOOSE))


def _bridge(ref: Ref, former: str) -> str:
    """What to type for a redirect from an address that goes away; it comes from the platform, so it may be anything."""
    return f"syncd redirects add {former} {ref}" if _PLAIN.fullmatch(former) else "declare a redirect from it"


def _learnt(diff: Diff) -> str:
    parts = []
    if diff.learnt:
        parts.append(f"already as declared: {', '.join(sorted(_visible(diff.learnt)) or sorted(diff.learnt))}")
    if diff.dropped:
        parts.append(f"not managed any more: {', '.join(sorted(diff.dropped))}")
    return "; ".join(parts)


def _back(case: Case, ref: Ref) -> str:
    return f"{remote_deletions.DELETED}, made anew" if ref in case.lost else ""


def _how(case: Case, item: Item) -> str:
    if item.kind not in ("section", "variant") or not case.file.holding or not gate_of(case, item):
        return ""
    return "made on the holding space, then gated, then shown its content" if item.kind == "variant" else "gated first"


def _visible(found: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if name not in _BESIDE}
