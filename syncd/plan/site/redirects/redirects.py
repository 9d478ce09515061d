"""Redirects: made and led elsewhere before anything else moves (W6), deleted when everything else has (W13).

Linear in the number of redirects.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from syncd.layout.site.read.declared import Item
from syncd.model.redirect import make_source_key
from syncd.model.ref import Ref
from syncd.plan.site import resolve
from syncd.plan.site.call import Call
from syncd.plan.site.differ import MISSING, Diff
from syncd.plan.site.lines import describe_obstacle
from syncd.plan.site.live_state import ExistingItem, IdOf
from syncd.plan.site.part import Draft, PlanPart, draft_step
from syncd.plan.site.sides import Sides
from syncd.plan.site.steps import Action, FieldChange, Line, OptionalDeletion, RemoteDeletion, Wave
from syncd.plan.site.structure.decisions import RemoteDeletions, Structure
from syncd.plan.site.structure.deletions import Deletions
from syncd.plan.site.structure.remote_deletions import (
    describe_remote_deletions,
    find_lost_entry,
    has_changed,
    is_away,
    judge_deletion,
)
from syncd.plan.site.structure.renames import Rename, Renames, make_temporary_path, plan_renames


@dataclass(frozen=True)
class _Redirects:
    """What is decided about the declared redirects.

    Shape: `desired` has the declared fields in the API's terms, by ref; `diffs` by ref, of what is there; `coming` are
    those that are to be made.
    """

    desired: Mapping[Ref, Mapping[str, Any]]
    diffs: Mapping[Ref, Diff]
    coming: Mapping[Ref, Item]
    remote: RemoteDeletions
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class _Sources:
    """The keys of sources that redirects have, by id, and shall have, by id or, of what is new, by ref."""

    now: Mapping[str, str]
    wanted: Mapping[str, str]


@dataclass(frozen=True)
class _RedirectDeletions:
    """Undeclared redirects: the refs of those that are deleted, by id, and the sources of those that nobody manages."""

    deleted: Mapping[str, Ref]
    unmanaged: tuple[str, ...]
    lines: tuple[Line, ...]


def plan_redirects(sides: Sides, structure: Structure, deletions: Deletions) -> PlanPart:
    """Return what becomes of the redirects, once the structure is decided."""
    decided = _compare_redirects(sides, structure, deletions)
    sources = _find_contested_sources(sides, decided)
    gone = _find_deletions(sides, sources.wanted)
    order = plan_renames(sources.now, sources.wanted, gone.deleted.keys())
    decided = _drop_blocked(sides, decided, order)
    contested = {one.name for one in order.order}
    made = [ref for ref in decided.coming if ref not in contested]
    drafts = [_draft_creation(sides, decided, ref) for ref in made]
    for ref in decided.diffs:
        if sides.find_id(ref) not in contested:
            drafts += _draft_update(sides, decided, ref)
    for one in order.order:
        drafts += _draft_source(sides, decided, one, gone.deleted)
        made += [one.name] if isinstance(one.name, Ref) else []
    drafts += [
        Draft(Wave.DELETE, Call.REDIRECT_DELETE, ref, id, drops=True)
        for id, ref in gone.deleted.items()
        if id not in contested
    ]
    clear = (item for item in sides.items("redirect") if item.ref not in sides.matches.ambiguous)
    warnings = (resolve.warn_of_moved_page(sides, structure, item) for item in clear)
    return PlanPart(
        diffs=decided.diffs,
        new={ref: decided.desired[ref] for ref in made},
        deleted=gone.deleted,
        lost=decided.remote.lost,
        drafts=tuple(drafts),
        lines=(*decided.lines, *gone.lines, *describe_remote_deletions(sides, decided.remote)),
        warnings=tuple(filter(None, warnings)),
        unmanaged={"redirects": gone.unmanaged} if gone.unmanaged else {},
    )


def is_same(name: str, desired: Any, existing: Any) -> bool:
    """Return whether the platform has the desired value of a redirect's field, whatever members it adds."""
    if name == "destination" and isinstance(desired, dict) and isinstance(existing, dict):
        return all(existing.get(key) == value for key, value in desired.items())
    return bool(desired == existing)


def _compare_redirects(sides: Sides, structure: Structure, deletions: Deletions) -> _Redirects:
    desired: dict[Ref, Mapping[str, Any]] = {}
    diffs: dict[Ref, Diff] = {}
    coming: dict[Ref, Item] = {}
    lost: dict[Ref, RemoteDeletion] = {}
    left: set[Ref] = set()
    lines: list[Line] = []
    for item in sides.items("redirect"):
        one = _resolve_redirect(sides, structure, deletions, item)
        if one.gone:
            lost[item.ref] = one.gone
            left |= {item.ref} if one.is_left else set()
        if one.fields is None:
            lines += [one.line] if one.line is not None else []
            continue
        desired[item.ref] = one.fields
        existing_item = sides.matches.found.get(item.ref)
        if existing_item is not None:
            base = _find_base(sides, deletions, item, existing_item, one.fields)
            # How the file names a page is nothing that the platform could change.
            existing = {**existing_item.fields, **({"to": one.fields["to"]} if "to" in one.fields else {})}
            diff = sides.judge("redirects").diff(base, one.fields, existing, is_same)
            diffs[item.ref] = _learn_page_with_destination(diff)
        elif not one.is_left:
            coming[item.ref] = item
    return _Redirects(desired, diffs, coming, RemoteDeletions(lost, frozenset(left)), tuple(lines))


def _learn_page_with_destination(diff: Diff) -> Diff:
    """The diff of a redirect with what the file calls its page recorded by the step that leads there, and not before.

    Else the lock would have the new name beside the former page, which the next plan would take for that of this name.
    """
    if "to" not in diff.learnt:
        return diff
    learnt = {name: value for name, value in diff.learnt.items() if name != "to"}
    leads = diff.act.get("destination")
    if leads is not None:
        named = replace(leads, before=None, after=diff.learnt["to"])
        return replace(diff, learnt=learnt, act={**diff.act, "to": named})
    stays = diff.blocked.get("destination") or diff.report.get("destination")
    return replace(diff, learnt=learnt) if stays is not None and stays.cause == "conflict" else diff


@dataclass(frozen=True)
class _ResolvedRedirect:
    """One declared redirect: its fields in the API's terms, or None, and then a line where a person has to know why.

    Shape: `gone` says why it is noticed that somebody deleted it, `is_left` that it is not made anew.
    """

    fields: Mapping[str, Any] | None
    gone: OptionalDeletion = ""
    is_left: bool = False
    line: Line | None = None


def _resolve_redirect(sides: Sides, structure: Structure, deletions: Deletions, item: Item) -> _ResolvedRedirect:
    is_lost = item.ref in sides.matches.lost_refs
    if item.ref in sides.matches.ambiguous:
        manual = "name the right one with id: in the file, or delete the other"
        note = f"ambiguous: {sides.matches.ambiguous[item.ref]}"
        return _ResolvedRedirect(None, line=describe_obstacle(sides, item.ref, note, manual=manual))
    try:
        fields = resolve.resolve_redirect(sides, structure, item)
    except resolve.Unresolved as problem:
        follows = isinstance(problem, resolve.Away) and _leads_to(sides, structure, item, problem.ref)
        gone: OptionalDeletion = ""
        is_left = False
        if is_lost:
            is_changed = isinstance(problem, resolve.Away) and not follows
            gone, is_left = judge_deletion(sides, item, is_changed=is_changed)
        # What was deleted, or leads to what was, stays as it is.
        if follows or is_left:
            return _ResolvedRedirect(None, gone, is_left=True)
        line = describe_obstacle(sides, item.ref, str(problem), name="destination", gone=gone)
        return _ResolvedRedirect(None, gone, line=line)
    if not is_lost:
        return _ResolvedRedirect(fields)
    entry = find_lost_entry(sides, item.ref)
    compared = {name: value for name, value in fields.items() if name != "to"}
    is_changed = entry is None or has_changed(sides, compared, entry.applied, deletions.deleted)
    return _ResolvedRedirect(fields, *judge_deletion(sides, item, is_changed=is_changed))


def _leads_to(sides: Sides, structure: Structure, item: Item, ref: Ref) -> bool:
    """Whether a redirect led to what somebody deleted under this ref, and not only since the file says so."""
    known = find_lost_entry(sides, item.ref) or sides.find_entry(item.ref)
    destination = known.applied.get("destination") if known is not None else None
    former = destination.values() if isinstance(destination, Mapping) else ()
    return any(is_away(sides, structure.remote, ref, id) for id in former)


def _find_base(
    sides: Sides, deletions: Deletions, item: Item, existing: ExistingItem, desired: Mapping[str, Any]
) -> Mapping[str, Any]:
    """What syncd last put there; the new id of what is made anew is no word of the file against a person's edit."""
    base = sides.find_base(item.ref)
    former, now = base.get("destination"), existing.fields.get("destination")
    wanted = {"destination": desired.get("destination")}
    is_unmoved = former is None or is_same("destination", former, now)
    return base if is_unmoved or has_changed(sides, wanted, base, deletions.deleted) else {**base, **wanted}


def _find_contested_sources(sides: Sides, decided: _Redirects) -> _Sources:
    """Sources that redirects leave, and those that are to be had and that another redirect has."""
    now = {
        existing.id: make_source_key(str(existing.fields.get("source"))) for existing in sides.existing.of("redirect")
    }
    holders = {key: id for id, key in now.items()}
    moving = {
        existing.id: sides.desired.items[ref].key
        for ref, existing in sides.matches.found.items()
        if ref.kind == "redirect" and ref in decided.diffs and "source" in decided.diffs[ref].act
    }
    wanted = {id: key for id, key in moving.items() if now[id] != key}
    wanted |= {ref: item.key for ref, item in decided.coming.items() if item.key in holders}
    concerned = {*wanted, *(holders[key] for key in wanted.values() if key in holders)}
    return _Sources({id: key for id, key in now.items() if id in concerned}, wanted)


def _drop_blocked(sides: Sides, decided: _Redirects, order: Renames) -> _Redirects:
    """The decisions without sources that another redirect has, and keeps."""
    diffs, coming, lines = dict(decided.diffs), dict(decided.coming), list(decided.lines)
    for name, holder in order.blocked.items():
        owner = sides.matches.refs.get(holder)
        known = f", which is {owner.words} in {sides.desired.path}," if owner is not None else ""
        note = f"redirect {holder}{known} has this source"
        manual = "delete one of the two" if owner is None else "give that one another source, or delete it"
        ref, field, found = (name, "", None) if isinstance(name, Ref) else (sides.matches.refs[name], "source", None)
        if field:
            found = diffs[ref].act.get(field)
            diffs[ref] = diffs[ref].without(field)
        coming.pop(ref, None)
        gone = decided.remote.classify(ref)
        lines.append(describe_obstacle(sides, ref, note, manual=manual, name=field, found=found, gone=gone))
    return replace(decided, diffs=diffs, coming=coming, lines=tuple(lines))


def _draft_source(sides: Sides, decided: _Redirects, one: Rename, deleted: Mapping[str, Ref]) -> Iterator[Draft]:
    """Let a redirect have its source once it is free; one that is deleted in any case makes room by that."""
    if isinstance(one.name, Ref):
        yield _draft_creation(sides, decided, one.name)
    elif one.name in deleted:
        yield Draft(Wave.REDIRECTS, Call.REDIRECT_DELETE, deleted[one.name], one.name, drops=True)
    elif one.is_temporary:
        body, sets = {"source": f"/{make_temporary_path('', one.name, frozenset())}"}, {"source": MISSING}
        ref = sides.matches.refs[one.name]
        yield Draft(Wave.REDIRECTS, Call.REDIRECT_UPDATE, ref, one.name, body, sets, is_temporary=True)
    else:
        yield from _draft_update(sides, decided, sides.matches.refs[one.name])


def _draft_update(sides: Sides, decided: _Redirects, ref: Ref) -> Iterator[Draft]:
    sets = {name: found.after for name, found in decided.diffs[ref].act.items()}
    if body := {name: value for name, value in sets.items() if name != "to"}:
        yield draft_step(sides, Wave.REDIRECTS, Call.REDIRECT_UPDATE, ref, body, sets)


def _draft_creation(sides: Sides, decided: _Redirects, ref: Ref) -> Draft:
    desired = decided.desired[ref]
    body = {name: desired[name] for name in ("source", "destination")}
    # What the policy ignores is sent, since a redirect is nothing without it, and not recorded as managed.
    sets = {name: value for name, value in desired.items() if not sides.is_ignored(ref, name)}
    return Draft(Wave.REDIRECTS, Call.REDIRECT_CREATE, ref, IdOf(ref), body, sets)


def _find_deletions(sides: Sides, wanted: Mapping[str, str]) -> _RedirectDeletions:
    """Which undeclared redirects are deleted.

    Shape: `wanted` are the keys of contested sources that something gets in this plan, if they become free.
    """
    prune = sides.desired.policy.find_prune("redirects")
    unmanaged: list[str] = []
    deleted: dict[str, Ref] = {}
    lines: list[Line] = []
    kept = {item.key for item in sides.desired.of("redirect")} - set(wanted.values())
    for existing in sides.existing.of("redirect"):
        if existing.id in sides.matches.refs or existing.id in sides.matches.disputed_ids:
            continue
        ref, source = sides.find_ref(existing.id), str(existing.fields.get("source"))
        key = make_source_key(source)
        absent = sides.absent_sources.get(key)
        is_owned = sides.is_owned(existing.id)
        is_chosen = sides.is_covered(ref) or (absent is not None and sides.is_covered(Ref.of("redirect", key)))
        if not is_chosen or not (is_owned or prune == "all" or absent is not None):
            unmanaged.append(source)
        elif why := _explain_kept(sides, existing, is_declared=key in kept):
            lines.append(_describe_redirect(sides, "report", existing, why))
        else:
            deleted[existing.id] = ref
            why = "declared absent" if absent is not None else "no longer declared"
            why += "" if is_owned else ", made by hand"
            lines.append(_describe_redirect(sides, "delete", existing, why, "" if absent is None else str(absent)))
    return _RedirectDeletions(deleted, tuple(unmanaged), tuple(lines))


def _explain_kept(sides: Sides, existing: ExistingItem, *, is_declared: bool) -> str:
    """Why a redirect that is syncd's, or that the policy or `absent` names, stays all the same; "" when it goes."""
    prune = sides.desired.policy.find_prune("redirects")
    is_named = prune == "all" or make_source_key(str(existing.fields.get("source"))) in sides.absent_sources
    if not is_named and not sides.is_recorded(existing):
        return f"kept: it is not {sides.find_base_ref(existing.id).words}, as which the lock has its id"
    if is_declared:
        # What the file declares for this source is not in its place: this one goes when that is.
        return "kept: what the file declares for its source is elsewhere"
    return "" if is_named or prune == "owned" else f"no longer declared, kept: policy.prune.redirects is {prune}"


def _describe_redirect(sides: Sides, action: Action, existing: ExistingItem, note: str, where: str = "") -> Line:
    names = ("source", "destination")
    fields = tuple(FieldChange(name, sides.describe_value(name, existing.fields.get(name)), None) for name in names)
    return Line(action, sides.find_ref(existing.id), fields, note, where)
