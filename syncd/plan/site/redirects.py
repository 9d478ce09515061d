"""Redirects: made and led elsewhere before anything else moves (W6), deleted when everything else has (W13).

Linear in the number of redirects.
"""

from collections.abc import Mapping
from typing import Any

from syncd.layout.site.declared import Item
from syncd.model.redirect import source_key
from syncd.plan.site import lost, resolve
from syncd.plan.site.case import Case, Draft
from syncd.plan.site.differ import Found
from syncd.plan.site.facts import Existing, Ref
from syncd.plan.site.steps import Action, FieldChange, Line, Wave


def plan_redirects(case: Case) -> None:
    """Given a case whose structure is decided, take down what becomes of its redirects."""
    judge = case.judge("redirects")
    holders = {source_key(str(thing.fields.get("source"))): thing.id for thing in case.live.of("redirect")}
    for item in case.items("redirect"):
        wanted = _desired(case, item)
        if wanted is None:
            continue
        case.desired[item.ref] = wanted
        thing = case.matches.found.get(item.ref)
        if item.ref in case.matches.lost:
            _lose(case, item, wanted)
        if thing is None:
            if item.ref not in case.left and _is_free(case, item, holders):
                _create(case, item, wanted)
            continue
        diff = case.diffs[item.ref] = judge.diff(_base(case, item, thing, wanted), wanted, _live(thing, wanted), same)
        if "source" in diff.act and holders.get(item.key, thing.id) != thing.id:
            case.block(item.ref, f"redirect {holders[item.key]} has this source", name="source")
        body = {name: found.after for name, found in diff.act.items() if name != "to"}
        if body:
            case.step(Wave.REDIRECTS, "redirect.update", item.ref, body, _sets(diff.act))
    _delete(case)


def same(name: str, wanted: Any, live: Any) -> bool:
    """Given a field of a redirect, return whether the live value is the wanted one; members unknown to syncd may be."""
    if name == "destination" and isinstance(wanted, dict) and isinstance(live, dict):
        return all(live.get(key) == value for key, value in wanted.items())
    return bool(wanted == live)


def _base(case: Case, item: Item, thing: Existing, wanted: Mapping[str, Any]) -> Mapping[str, Any]:
    """What syncd last put there; the new id of what is made anew is no word of the file against a person's edit."""
    base = case.base(item.ref)
    former, now = base.get("destination"), thing.fields.get("destination")
    led = {"destination": wanted.get("destination")}
    if former is None or same("destination", former, now) or lost.differs(case, led, base):
        return base
    return {**base, **led}


def _live(thing: Existing, wanted: Mapping[str, Any]) -> dict[str, Any]:
    # How the file names a page is nothing that the platform could change.
    return {**thing.fields, **({"to": wanted["to"]} if "to" in wanted else {})}


def _desired(case: Case, item: Item) -> dict[str, Any] | None:
    if item.ref in case.matches.unclear:
        manual = "name the right one with id: in the file, or delete the other"
        case.block(item.ref, f"ambiguous: {case.matches.unclear[item.ref]}", manual=manual)
        return None
    try:
        return resolve.redirect(case, item)
    except resolve.Unresolved as problem:
        if not _stays(case, item, problem):
            case.block(item.ref, str(problem), name="destination")
        return None


def _stays(case: Case, item: Item, problem: resolve.Unresolved) -> bool:
    """Whether a redirect was deleted, or leads to what was, so that it stays as it is; not if it leads there anew."""
    known = lost.entry_of(case, item.ref) or case.entry(item.ref)
    destination = known.applied.get("destination") if known is not None else None
    former = destination.values() if isinstance(destination, Mapping) else ()
    is_away = isinstance(problem, resolve.Away)
    leads_there = isinstance(problem, resolve.Away) and any(lost.is_away(case, problem.ref, id) for id in former)
    if item.ref in case.matches.lost:
        lost.lose(case, item, changed=is_away and not leads_there)
        case.left |= {item.ref} if leads_there else set()
    return leads_there or item.ref in case.left


def _lose(case: Case, item: Item, wanted: Mapping[str, Any]) -> None:
    entry = lost.entry_of(case, item.ref)
    said = {name: value for name, value in wanted.items() if name != "to"}
    lost.lose(case, item, changed=entry is None or lost.differs(case, said, entry.applied))


def _is_free(case: Case, item: Item, holders: Mapping[str, str]) -> bool:
    holder = holders.get(item.key)
    if holder is not None:
        case.block(item.ref, f"redirect {holder} has this source", manual="delete one of the two")
    return holder is None


def _create(case: Case, item: Item, wanted: Mapping[str, Any]) -> None:
    case.new[item.ref] = item
    body = {name: wanted[name] for name in ("source", "destination")}
    case.drafts.append(Draft(Wave.REDIRECTS, "redirect.create", item.ref, Ref(item.ref), body, wanted))


def _sets(found: Mapping[str, Found]) -> dict[str, Any]:
    return {name: one.after for name, one in found.items()}


def _delete(case: Case) -> None:
    prune = case.file.policy.pruned("redirects")
    beyond: list[str] = []
    declared = {item.key for item in case.file.of("redirect")}
    for thing in case.live.of("redirect"):
        if thing.id in case.matches.refs or thing.id in case.matches.disputed:
            continue
        ref, source = case.name(thing.id), str(thing.fields.get("source"))
        is_absent = source_key(source) in case.absent
        chosen = case.covers(ref) or (is_absent and case.covers(f"redirect:{source_key(source)}"))
        owned = case.owns(thing.id)
        if chosen and (is_absent or prune == "all" or (owned and prune == "owned")):
            _delete_one(case, thing, ref, is_declared=source_key(source) in declared)
        elif chosen and owned:
            case.lines.append(
                _line(case, "report", thing, f"no longer declared, kept: policy.prune.redirects is {prune}")
            )
        else:
            beyond.append(source)
    if beyond:
        case.beyond["redirects"] = tuple(beyond)


def _delete_one(case: Case, thing: Existing, ref: str, *, is_declared: bool) -> None:
    source = str(thing.fields.get("source"))
    if is_declared:
        # What the file declares for this source is not in its place: this one goes when that is.
        case.lines.append(_line(case, "report", thing, "kept: what the file declares for its source is elsewhere"))
        return
    case.doomed[thing.id] = ref
    place = case.absent.get(source_key(source))
    why = "declared absent" if place else "no longer declared"
    why += "" if case.owns(thing.id) else ", made by hand"
    case.lines.append(_line(case, "delete", thing, why, "" if place is None else str(place)))
    case.drafts.append(Draft(Wave.DELETE, "redirect.delete", ref, thing.id, drops=True))


def _line(case: Case, action: Action, thing: Existing, note: str, where: str = "") -> Line:
    names = ("source", "destination")
    fields = tuple(FieldChange(name, case.shown(name, thing.fields.get(name)), None) for name in names)
    return Line(action, case.name(thing.id), fields, note, where)
