"""Redirects: made and led elsewhere before anything else moves (W6), deleted when everything else has (W13).

Linear in the number of redirects.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from syncd.layout.site.read.declared import Item
from syncd.model.redirect import source_key
from syncd.model.ref import Ref
from syncd.plan.site import resolve
from syncd.plan.site.call import Call
from syncd.plan.site.context import Case, Draft
from syncd.plan.site.differ import MISSING
from syncd.plan.site.live_state import Existing, IdOf
from syncd.plan.site.steps import Action, FieldChange, Line, Wave
from syncd.plan.site.structure import remote_deletions
from syncd.plan.site.structure.renames import Rename, renames, temporary


def plan_redirects(case: Case) -> None:
    """Given a case whose structure is decided, take down what becomes of its redirects."""
    coming: dict[str, Item] = {}
    for item in case.items("redirect"):
        wanted = _desired(case, item)
        if wanted is None:
            continue
        case.desired[item.ref] = wanted
        thing = case.matches.found.get(item.ref)
        if item.ref in case.matches.lost:
            _lose(case, item, wanted)
        if thing is not None:
            base, live = _base(case, item, thing, wanted), _live(thing, wanted)
            case.diffs[item.ref] = case.judge("redirects").diff(base, wanted, live, same)
        elif item.ref not in case.left:
            coming[item.ref] = item
    sources = _contested(case, coming)
    doomed = _doom(case, sources.wanted)
    order = renames(sources.now, sources.wanted, doomed.keys())
    for name, holder in order.blocked.items():
        _block(case, name, holder)
        coming.pop(name, None)
    last = {one.name for one in order.order}
    for ref, item in coming.items():
        if ref not in last:
            _create(case, item)
    for ref in case.diffs:
        if ref.kind == "redirect" and case.id(ref) not in last:
            _update(case, ref)
    for one in order.order:
        _take_source(case, one, doomed)
    case.drafts += [
        Draft(Wave.DELETE, Call.REDIRECT_DELETE, ref, id, drops=True) for id, ref in doomed.items() if id not in last
    ]


@dataclass(frozen=True)
class _Sources:
    """The keys of sources that redirects have, by id, and shall have, by id or, of what is new, by ref."""

    now: Mapping[str, str]
    wanted: Mapping[str, str]


def _contested(case: Case, coming: Mapping[str, Item]) -> _Sources:
    """Sources that redirects leave, and those that are to be had and that another redirect has."""
    now = {thing.id: source_key(str(thing.fields.get("source"))) for thing in case.live.of("redirect")}
    holders = {key: id for id, key in now.items()}
    moving = {
        thing.id: case.file.items[ref].key
        for ref, thing in case.matches.found.items()
        if ref.kind == "redirect" and ref in case.diffs and "source" in case.diffs[ref].act
    }
    wanted = {id: key for id, key in moving.items() if now[id] != key}
    wanted |= {ref: item.key for ref, item in coming.items() if item.key in holders}
    concerned = {*wanted, *(holders[key] for key in wanted.values() if key in holders)}
    return _Sources({id: key for id, key in now.items() if id in concerned}, wanted)


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
    if former is None or same("destination", former, now) or remote_deletions.differs(case, led, base):
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
    known = remote_deletions.entry_of(case, item.ref) or case.entry(item.ref)
    destination = known.applied.get("destination") if known is not None else None
    former = destination.values() if isinstance(destination, Mapping) else ()
    is_away = isinstance(problem, resolve.Away)
    leads_there = isinstance(problem, resolve.Away) and any(
        remote_deletions.is_away(case, problem.ref, id) for id in former
    )
    if item.ref in case.matches.lost:
        remote_deletions.lose(case, item, changed=is_away and not leads_there)
        case.left |= {item.ref} if leads_there else set()
    return leads_there or item.ref in case.left


def _lose(case: Case, item: Item, wanted: Mapping[str, Any]) -> None:
    entry = remote_deletions.entry_of(case, item.ref)
    said = {name: value for name, value in wanted.items() if name != "to"}
    remote_deletions.lose(case, item, changed=entry is None or remote_deletions.differs(case, said, entry.applied))


def _block(case: Case, name: str, holder: str) -> None:
    """Say that another redirect has, and keeps, a source that is wanted."""
    owner = case.matches.refs.get(holder)
    known = f", which is {owner.words} in {case.file.path}," if owner is not None else ""
    manual = "delete one of the two" if owner is None else "give that one another source, or delete it"
    if isinstance(name, Ref):
        case.block(name, f"redirect {holder}{known} has this source", manual=manual)
    else:
        case.block(case.matches.refs[name], f"redirect {holder}{known} has this source", manual=manual, name="source")


def _take_source(case: Case, one: Rename, doomed: Mapping[str, Ref]) -> None:
    """Let a redirect have its source once it is free; one that is deleted in any case makes room by that."""
    if one.name in doomed:
        case.drafts.append(Draft(Wave.REDIRECTS, Call.REDIRECT_DELETE, doomed[one.name], one.name, drops=True))
    elif isinstance(one.name, Ref):
        _create(case, case.file.items[one.name])
    elif one.temporary:
        ref = case.matches.refs[one.name]
        aside = {"source": f"/{temporary('', one.name, frozenset())}"}
        case.drafts.append(
            Draft(Wave.REDIRECTS, Call.REDIRECT_UPDATE, ref, one.name, aside, {"source": MISSING}, temporary=True)
        )
    else:
        _update(case, case.matches.refs[one.name])


def _update(case: Case, ref: Ref) -> None:
    found = case.diffs[ref].act
    if body := {name: one.after for name, one in found.items() if name != "to"}:
        case.step(Wave.REDIRECTS, Call.REDIRECT_UPDATE, ref, body, {name: one.after for name, one in found.items()})


def _create(case: Case, item: Item) -> None:
    case.new[item.ref] = item
    wanted = case.desired[item.ref]
    body = {name: wanted[name] for name in ("source", "destination")}
    case.drafts.append(Draft(Wave.REDIRECTS, Call.REDIRECT_CREATE, item.ref, IdOf(item.ref), body, wanted))


def _doom(case: Case, wanted: Mapping[str, str]) -> dict[str, Ref]:
    """Take down which redirects are deleted, and return their refs, by id.

    Shape: `wanted` are the keys of contested sources that something gets in this plan, if they become free.
    """
    prune = case.file.policy.pruned("redirects")
    beyond: list[str] = []
    doomed: dict[str, Ref] = {}
    kept = {item.key for item in case.file.of("redirect")} - set(wanted.values())
    for thing in case.live.of("redirect"):
        if thing.id in case.matches.refs or thing.id in case.matches.disputed:
            continue
        ref, source = case.name(thing.id), str(thing.fields.get("source"))
        key = source_key(source)
        chosen = case.covers(ref) or (key in case.absent and case.covers(Ref.of("redirect", key)))
        owned = case.owns(thing.id)
        if not chosen or not (owned or prune == "all" or key in case.absent):
            beyond.append(source)
        elif why := _why_kept(case, thing, is_declared=key in kept):
            case.lines.append(_line(case, "report", thing, why))
        else:
            doomed[thing.id] = case.doomed[thing.id] = ref
            place = case.absent.get(key)
            why = "declared absent" if place else "no longer declared"
            why += "" if owned else ", made by hand"
            case.lines.append(_line(case, "delete", thing, why, "" if place is None else str(place)))
    if beyond:
        case.beyond["redirects"] = tuple(beyond)
    return doomed


def _why_kept(case: Case, thing: Existing, *, is_declared: bool) -> str:
    """Why a redirect that is syncd's, or that the policy or `absent` names, stays all the same."""
    prune = case.file.policy.pruned("redirects")
    is_named = prune == "all" or source_key(str(thing.fields.get("source"))) in case.absent
    if not is_named and not case.is_as_left(thing):
        return f"kept: it is not {case.locked(thing.id).words}, as which the lock has its id"
    if is_declared:
        # What the file declares for this source is not in its place: this one goes when that is.
        return "kept: what the file declares for its source is elsewhere"
    return "" if is_named or prune == "owned" else f"no longer declared, kept: policy.prune.redirects is {prune}"


def _line(case: Case, action: Action, thing: Existing, note: str, where: str = "") -> Line:
    names = ("source", "destination")
    fields = tuple(FieldChange(name, case.shown(name, thing.fields.get(name)), None) for name in names)
    return Line(action, case.name(thing.id), fields, note, where)
