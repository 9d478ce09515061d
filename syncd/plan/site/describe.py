"""What a plan does as lines that people read: what is made, changed, adopted, left to a person, or only noticed."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from syncd.model.ref import Ref
from syncd.plan.site.differ import Diff, FieldDiff
from syncd.plan.site.lines import CHOOSE, CONFLICT, DELETED, describe_change, explain_report
from syncd.plan.site.part import PlanPart
from syncd.plan.site.sides import Sides
from syncd.plan.site.steps import Cause, Line
from syncd.plan.site.structure.decisions import find_condition

_PLAIN = re.compile(r"/[A-Za-z0-9/._~-]+")
_ADOPTED = "syncd's from now on"
_LOCK_ONLY = ("to",)
"""Fields that only the lock needs."""


def describe_changes(sides: Sides, part: PlanPart) -> Iterator[Line]:
    """Yield the lines of what a plan creates, changes, adopts or leaves as it is."""
    for ref, desired in part.new.items():
        found = {name: FieldDiff(None, value, "change") for name, value in _pick_visible(desired).items()}
        notes = [f"{DELETED}, made anew"] if ref in part.lost else []
        notes += filter(None, [_explain_creation(sides, ref)])
        yield describe_change(sides, "create", ref, found, ", ".join(notes), gone=part.lost.get(ref, ""))
    for ref, diff in part.diffs.items():
        if diff or ref in sides.matches.former_refs or sides.find_entry(ref) is None:
            yield from _describe_diff(sides, ref, diff)


def warn_of_broken_addresses(sides: Sides, broken: Iterable[tuple[Ref, str]]) -> Iterator[str]:
    """Yield a warning for each item that leaves a path without a redirect from it."""
    for ref, former in broken:
        # The path comes from the platform, so it may be anything: it is shown as a command only where it is harmless.
        command = f"syncd redirects add {former} {ref}" if _PLAIN.fullmatch(former) else "declare a redirect from it"
        yield f"{sides.locate(ref, 'path')}: {former} leads nowhere after this; {command}"


def warn_of_dead_redirects(sides: Sides, deleted: Mapping[str, Ref]) -> Iterator[str]:
    """Yield a warning for each redirect that stays and leads to something that a plan deletes."""
    for item in sides.existing.of("redirect"):
        to = item.fields.get("destination")
        if item.id in sides.matches.refs or item.id in deleted or not isinstance(to, Mapping):
            continue
        targets = (str(to.get(name)) for name in ("siteSectionId", "siteSpaceId"))
        gone = [deleted[id] for id in targets if id in deleted]
        if gone:
            yield f"redirect {item.fields.get('source')} leads to {gone[0].words}, which is deleted"


def _describe_diff(sides: Sides, ref: Ref, diff: Diff) -> Iterator[Line]:
    is_known = sides.find_entry(ref) is not None
    former = sides.matches.former_refs.get(ref)
    notes = [f"was {former.words}"] if former else []
    if ref in sides.matches.half_made:
        notes.append("made by a run that was interrupted")
    elif ref == sides.expected:
        notes.append("the platform makes it of what stands at the root, as soon as there is another section")
    elif not is_known:
        notes.append(_ADOPTED)
    act, report = _pick_visible(diff.act), _pick_visible(diff.report)
    if act:
        yield describe_change(sides, "update", ref, act, ", ".join(notes))
    elif not is_known or former:
        others = [note for note in notes if note != _ADOPTED]
        yield describe_change(sides, "adopt", ref, {}, ", ".join(others or ["already as declared"]))
    elif diff.learnt or diff.dropped:
        yield describe_change(sides, "adopt", ref, {}, _explain_adoption(diff))
    if report:
        of: Cause = "drift" if any(found.cause == "drift" for found in report.values()) else "conflict"
        yield describe_change(sides, "report", ref, report, explain_report(sides, of, ref.area))
    if conflict := _pick_visible(diff.blocked):
        yield Line("blocked", ref, sides.describe_fields(ref, conflict), CONFLICT, sides.locate(ref), CHOOSE)


def _explain_adoption(diff: Diff) -> str:
    parts = []
    if diff.learnt:
        parts.append(f"already as declared: {', '.join(sorted(_pick_visible(diff.learnt)) or sorted(diff.learnt))}")
    if diff.dropped:
        parts.append(f"not managed any more: {', '.join(sorted(diff.dropped))}")
    return "; ".join(parts)


def _explain_creation(sides: Sides, ref: Ref) -> str:
    """How something is made that not everybody may see."""
    item = sides.desired.items[ref]
    if item.kind not in ("section", "variant") or not sides.desired.holding or not find_condition(sides, item):
        return ""
    return "made on the holding space, then gated, then shown its content" if item.kind == "variant" else "gated first"


def _pick_visible(found: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if name not in _LOCK_ONLY}
