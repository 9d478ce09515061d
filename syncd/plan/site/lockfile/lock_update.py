"""What the lock has after every step: entries adopted, renamed and forgotten, and the values that were put there."""

from collections.abc import Iterable, Iterator
from typing import Any

from syncd.model.ref import SITE, Ref
from syncd.plan.site.call import Call
from syncd.plan.site.context import Case, Draft
from syncd.plan.site.differ import MISSING
from syncd.plan.site.live_state import IdOf
from syncd.plan.site.match.match import KINDS
from syncd.plan.site.steps import Step, Wave


def keep(case: Case) -> list[Draft]:
    """Given a case whose drafts are known, return those of the lock alone; what can comes before all others."""
    touched = {draft.ref for draft in case.drafts}
    drafts = []
    for ref in case.diffs:
        id = _id(case, ref)
        is_made_later = isinstance(id, IdOf)
        if not (is_made_later and ref in touched) and _has_to_be_written(case, ref, is_touched=ref in touched):
            drafts.append(Draft(Wave.CUSTOMIZATION if is_made_later else Wave.NARROW, Call.ADOPT, ref, id))
    return drafts + list(_forgotten(case)) + list(_anew(case))


def steps(case: Case, drafts: Iterable[Draft]) -> Iterator[Step]:
    """Given drafts in the order in which they run, yield the steps, each with what the lock has by then."""
    applied: dict[Ref, dict[str, Any]] = {}
    for draft in drafts:
        values = applied.get(draft.ref)
        if values is None:
            values = applied[draft.ref] = _start(case, draft.ref)
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
            case.by(draft.ref),
            draft.drops,
            draft.temporary,
            case.where(draft.ref),
        )


def _start(case: Case, ref: Ref) -> dict[str, Any]:
    """What the lock has of a thing before the plan does anything, without what is not managed any more."""
    if ref in case.new:
        return {}
    diff = case.diffs.get(ref)
    if diff is None:
        entry = case.lock.items.get(ref)
        return {} if entry is None else dict(entry.applied)
    return {name: value for name, value in case.base(ref).items() if name not in diff.dropped} | diff.learnt


def _has_to_be_written(case: Case, ref: Ref, *, is_touched: bool) -> bool:
    if case.entry(ref) is None or ref in case.matches.former:
        return True
    return not is_touched and bool(case.diffs[ref].learnt or case.diffs[ref].dropped)


def _forgotten(case: Case) -> Iterator[Draft]:
    """The entries of what is gone, and of what has another name now."""
    renamed = {former for ref, former in case.matches.former.items() if ref in case.diffs}
    lost = set(case.matches.lost.values())
    for ref, entry in case.lock.items.items():
        if ref in case.matches.found or ref in lost or (ref in case.file.items and ref not in renamed):
            continue
        if ref in renamed or _is_gone(case, ref, entry.id):
            yield Draft(Wave.NARROW, Call.FORGET, ref, entry.id, drops=True)


def _anew(case: Case) -> Iterator[Draft]:
    """The entries of what was deleted and is made anew, before anything else: a run that dies leaves nothing to guess.

    They say no id: under that ref, another thing is meant from then on, as it is where the id was never its own.
    """
    for ref in case.new:
        known = case.matches.lost.get(ref, ref)
        if known in case.lock.items and ref not in case.matches.gone:
            yield Draft(Wave.NARROW, Call.FORGET, known, drops=True)
    for ref in sorted(case.matches.gone):
        if ref in case.file.items and case.covers(ref):
            yield Draft(Wave.NARROW, Call.FORGET, ref, drops=True)


def _is_gone(case: Case, ref: Ref, id: str) -> bool:
    """Whether the lock knows something that is neither declared nor there, in an area that this plan is about.

    What is there under its id may be another thing: one of another entry, or what somebody else made.
    """
    kind = ref.kind
    if not case.covers(ref) or ref == SITE:
        return False
    thing = case.live.things.get(id)
    return kind not in KINDS or thing is None or case.locked(id) != ref or not case.is_as_left(thing)


def _id(case: Case, ref: Ref) -> str | IdOf:
    kind, key = ref.kind, ref.key
    if kind == "override":
        return case.id(Ref.of("variant", key))
    return case.id(ref) if kind in KINDS else case.file.site
