"""What the lock has after every step: entries adopted, renamed and forgotten, and the values that were put there."""

from collections.abc import Iterable, Iterator
from typing import Any

from syncd.model.ref import SITE, Ref
from syncd.plan.site.call import Call
from syncd.plan.site.differ import MISSING, Diff
from syncd.plan.site.live_state import IdOf
from syncd.plan.site.match.match import KINDS
from syncd.plan.site.part import Draft, PlanPart
from syncd.plan.site.sides import Sides
from syncd.plan.site.steps import Step, Wave


def draft_lock_updates(sides: Sides, part: PlanPart) -> list[Draft]:
    """Return the steps that change only the lock, those that can run first at the start."""
    touched = {draft.ref for draft in part.drafts}
    drafts = []
    for ref, diff in part.diffs.items():
        id = _find_id(sides, ref)
        is_made_later = isinstance(id, IdOf)
        if not (is_made_later and ref in touched) and _is_outdated(sides, ref, diff, is_touched=ref in touched):
            drafts.append(Draft(Wave.CUSTOMIZATION if is_made_later else Wave.NARROW, Call.ADOPT, ref, id))
    return drafts + list(_draft_forgotten(sides, part)) + list(_draft_remade(sides, part))


def finish_steps(sides: Sides, part: PlanPart, drafts: Iterable[Draft]) -> Iterator[Step]:
    """Yield the steps of drafts, in the order in which they run, each with what the lock has of its item by then."""
    applied: dict[Ref, dict[str, Any]] = {}
    for draft in drafts:
        values = applied.get(draft.ref)
        if values is None:
            values = applied[draft.ref] = _find_start(sides, part, draft.ref)
        for name, value in draft.sets.items():
            if value is MISSING:
                values.pop(name, None)
            else:
                values[name] = value
        yield Step(
            draft.wave,
            draft.call,
            draft.ref,
            draft.id,
            draft.body,
            {} if draft.drops else dict(values),
            "created" if draft.ref in part.new else sides.find_origin(draft.ref),
            draft.drops,
            draft.is_temporary,
            sides.locate(draft.ref),
        )


def _find_start(sides: Sides, part: PlanPart, ref: Ref) -> dict[str, Any]:
    """What the lock has of an item before the plan does anything, without what is not managed any more."""
    if ref in part.new:
        return {}
    diff = part.diffs.get(ref)
    if diff is None:
        entry = sides.base.items.get(ref)
        return {} if entry is None else dict(entry.applied)
    return {name: value for name, value in sides.find_base(ref).items() if name not in diff.dropped} | dict(diff.learnt)


def _is_outdated(sides: Sides, ref: Ref, diff: Diff, *, is_touched: bool) -> bool:
    if sides.find_entry(ref) is None or ref in sides.matches.former_refs:
        return True
    return not is_touched and bool(diff.learnt or diff.dropped)


def _draft_forgotten(sides: Sides, part: PlanPart) -> Iterator[Draft]:
    """The entries of what is gone, and of what has another name now."""
    renamed = {former for ref, former in sides.matches.former_refs.items() if ref in part.diffs}
    later = {*sides.matches.lost_refs.values(), *part.deleted.values()}
    for ref, entry in sides.base.items.items():
        is_found = ref in sides.matches.found and (ref in part.diffs or ref not in renamed)
        if is_found or ref in later or (ref in sides.desired.items and ref not in renamed):
            continue
        if ref in renamed or _is_gone(sides, ref, entry.id):
            yield Draft(Wave.NARROW, Call.FORGET, ref, entry.id, drops=True)


def _draft_remade(sides: Sides, part: PlanPart) -> Iterator[Draft]:
    """The entries of what was deleted and is made anew, before anything else: a run that dies leaves nothing to guess.

    They say no id: under that ref, another item is meant from then on, as it is where the id was never its own.
    """
    for ref in part.new:
        known = sides.matches.lost_refs.get(ref, ref)
        if known in sides.base.items and ref not in sides.matches.deleted_refs:
            yield Draft(Wave.NARROW, Call.FORGET, known, drops=True)
    for ref in sorted(sides.matches.deleted_refs):
        if ref in sides.desired.items and sides.is_covered(ref):
            yield Draft(Wave.NARROW, Call.FORGET, ref, drops=True)


def _is_gone(sides: Sides, ref: Ref, id: str) -> bool:
    """Whether the lock knows something that is neither declared nor there, in an area that this plan is about.

    What is there under its id may be another item: one of another entry, or what somebody else made.
    """
    kind = ref.kind
    if not sides.is_covered(ref) or ref == SITE:
        return False
    existing = sides.existing.items.get(id)
    return kind not in KINDS or existing is None or sides.find_base_ref(id) != ref or not sides.is_recorded(existing)


def _find_id(sides: Sides, ref: Ref) -> str | IdOf:
    kind, key = ref.kind, ref.key
    if kind == "override":
        return sides.find_id(Ref.of("variant", key))
    return sides.find_id(ref) if kind in KINDS else sides.desired.site
