"""What a site has once: its own settings, what it may know of visitors, and how it looks (W2, W11 and W14)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from syncd.layout.site.read.customization import in_step, inherited, leaf_of, leaves, overlay, override
from syncd.layout.site.read.declared import Item
from syncd.layout.site.read.visitors import claims_of_schema
from syncd.model.ref import AREA, CUSTOMIZATION, VISITORS, Ref
from syncd.plan.site import resolve
from syncd.plan.site.call import Call
from syncd.plan.site.context import Case, Draft
from syncd.plan.site.differ import MISSING, Diff, Found, Same
from syncd.plan.site.gates.gating import SETTINGS, claims_read
from syncd.plan.site.lockfile.in_flight import was_sending
from syncd.plan.site.steps import Wave


def compare_site(case: Case) -> None:
    """Given a case, find what is to change about the site and about what it may know of its visitors."""
    for item in case.items("site"):
        _compare(case, item, item.fields, case.live.site, _plain)
    for item in case.items("visitors"):
        claims = claims_of_schema(case.live.schema or {})
        _compare(case, item, item.fields, claims, _plain)


def expand_schema(case: Case) -> None:
    """Given a case, take down the claims that come or change (W2)."""
    diff = case.diffs.get(VISITORS)
    if diff is not None and diff.act:
        claims = {name: found.after for name, found in diff.act.items()}
        case.step(Wave.SCHEMA_EXPAND, Call.SCHEMA_PUT, VISITORS, claims, claims)


def shrink_schema(case: Case) -> None:
    """Given a case in which all else is decided, take down the claims that go, when nothing reads them (W14)."""
    diff = case.diffs.get(VISITORS)
    if diff is None:
        return
    gone, kept = _claims_to_go(case)
    # What goes last, or cannot go yet, stays syncd's until then.
    case.diffs[VISITORS] = replace(diff, dropped=diff.dropped - gone.keys() - kept)
    if gone:
        case.step(Wave.SCHEMA_SHRINK, Call.SCHEMA_PUT, VISITORS, dict.fromkeys(gone), dict.fromkeys(gone, MISSING))
        fields = {name: Found(schema, None, "change") for name, schema in gone.items()}
        case.line("update", VISITORS, fields, "nothing reads these claims any more")


def plan_customization(case: Case) -> None:
    """Given a case whose structure is decided, take down what changes about how the site looks (W11)."""
    for item in case.items("customization"):
        live = case.live.customization
        wanted = _leaves(case, item)
        _compare(case, item, wanted, {name: leaf_of(live, name) for name in wanted}, in_step)
    # What a variant has of its own is written first, so that none shows its site's new settings in between. Until then
    # it may not be seen whether that was done; so, when a run died over it, the site's settings come first.
    for item in case.items("override"):
        _override(case, item)
    again = [draft for draft in case.drafts if _was_begun(case, draft)]
    case.drafts = [draft for draft in case.drafts if draft not in again]
    diff = case.diffs.get(CUSTOMIZATION)
    if diff is not None and diff.act:
        body = {name: found.after for name, found in diff.act.items()}
        case.step(Wave.CUSTOMIZATION, Call.CUSTOMIZATION_PUT, CUSTOMIZATION, body, body)
    case.drafts += again


def _was_begun(case: Case, draft: Draft) -> bool:
    return draft.call is Call.OVERRIDE_PATCH and was_sending(case.lock, draft.ref, draft.body)


def _plain(name: str, wanted: Any, live: Any) -> bool:
    return bool((wanted or None) == (live or None))


def _compare(case: Case, item: Item, wanted: Mapping[str, Any], live: Mapping[str, Any], same: Same) -> None:
    wanted = {name: value for name, value in wanted.items() if not case.ignored(item.ref, name)}
    case.desired[item.ref] = wanted
    base = {name: value for name, value in case.base(item.ref).items() if item.kind != "site" or name in SETTINGS}
    if item.kind == "override" and (begun := case.lock.begun.get(item.ref)) is not None:
        # What is not there although a dead run was about to say it, nobody has taken away.
        never = {name for name, value in leaves(begun.body).items() if base.get(name, MISSING) == value}
        base = {name: value for name, value in base.items() if name not in never or same(name, value, live.get(name))}
    case.diffs[item.ref] = case.judge(AREA[item.kind]).diff(base, wanted, live, same)


def _claims_to_go(case: Case) -> tuple[dict[str, Any], set[str]]:
    """The live claims that are syncd's and undeclared: those that can go, and those that something still reads."""
    prune = case.file.policy.prune.get("visitors", "owned")
    owned = case.base(VISITORS).keys()
    declared = case.file.items[VISITORS].fields.keys()
    gone: dict[str, Any] = {}
    kept: set[str] = set()
    readers = _readers(case)
    for name, schema in claims_of_schema(case.live.schema or {}).items():
        if name in declared or case.ignored(VISITORS, name):
            continue
        if prune == "all" or (prune == "owned" and name in owned):
            if name in readers:
                claim, reader = name.partition(".")[2] or name, readers[name].words
                case.block(VISITORS, f'claim "{claim}" cannot go: {reader} reads it')
                kept.add(name)
            else:
                gone[name] = schema
        else:
            case.beyond["visitors"] = (*case.beyond.get("visitors", ()), name)
    return gone, kept


def _readers(case: Case) -> dict[str, Ref]:
    """Who reads each claim once the plan is done, by the claim's name."""
    readers: dict[str, Ref] = {}
    for thing in case.live.of("section", "variant"):
        ref = case.name(thing.id)
        diff = case.diffs.get(ref)
        acts = None if diff is None else diff.act.get("condition")
        if thing.id not in case.doomed:
            for name in claims_read(thing.fields.get("condition") if acts is None else acts.after):
                readers.setdefault(name, ref)
    for ref, item in case.new.items():
        for name in claims_read(item.fields.get("condition")):
            readers.setdefault(name, ref)
    for value in (case.live.customization, case.desired.get(CUSTOMIZATION, {})):
        for condition in _conditions(value):
            for name in claims_read(condition):
                readers.setdefault(name, CUSTOMIZATION)
    return readers


def _conditions(value: Any) -> list[Any]:
    found: list[Any] = []
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, Mapping):
            found += [one["condition"]] if isinstance(one.get("condition"), str) else []
            left += one.values()
        elif isinstance(one, list | tuple):
            left += one
    return found


def _leaves(case: Case, item: Item) -> dict[str, Any]:
    """The leaves of a customization in the API's terms; one whose destination is nowhere is blocked and left out."""
    found: dict[str, Any] = {}
    for name, value in item.fields.items():
        try:
            found[name] = resolve.leaf(case, value, name)
        except resolve.Unresolved as problem:
            base = case.base(item.ref)
            if isinstance(problem, resolve.Away) and name in base:
                found[name] = base[name]  # it stays as syncd left it
            else:
                case.block(item.ref, str(problem), name=name)
    return found


def _override(case: Case, item: Item) -> None:
    variant = Ref.of("variant", item.key)
    if variant in case.left and item.ref in case.lock.items:
        return  # it went with its variant
    if not case.is_there(variant):
        case.block(item.ref, f'variant "{item.key}" is not there, and this plan does not make it')
        return
    thing = case.matches.found.get(variant)
    effective = {} if thing is None else case.live.overrides.get(thing.id, {})
    if "reset" in item.fields:
        _reset(case, item, effective, is_new=thing is None)
        return
    wanted = _leaves(case, item)
    site = case.live.customization

    def same(name: str, declared: Any, live: Any) -> bool:
        return in_step(name, inherited(site, name) if declared is None else declared, live)

    _compare(case, item, wanted, {name: leaf_of(effective, name) for name in wanted}, same)
    diff = case.diffs[item.ref]
    _pin(case, item, diff)
    if diff.act:
        body = {name: found.after for name, found in diff.act.items()}
        case.step(Wave.CUSTOMIZATION, Call.OVERRIDE_PATCH, item.ref, override(_then(case, effective), body), body)


def _then(case: Case, effective: Mapping[str, Any]) -> dict[str, Any]:
    """What a site-space shows when the site's own settings have been written."""
    site = case.diffs.get(CUSTOMIZATION)
    coming = {} if site is None else {name: found.after for name, found in site.act.items()}
    shared = {
        name: value
        for name, value in coming.items()
        if in_step(name, inherited(case.live.customization, name), leaf_of(effective, name))
    }
    return overlay(effective, shared)


def _pin(case: Case, item: Item, diff: Diff) -> None:
    """Write what only looks in step, because the site has the same value now and will not have it after this plan."""
    site = case.diffs.get(CUSTOMIZATION)
    for name, found in site.act.items() if site is not None else ():
        wanted = case.desired[item.ref].get(name, MISSING)
        if wanted is MISSING or name in diff.act or name in diff.report or name in diff.blocked:
            continue
        if wanted is None or in_step(name, wanted, inherited(case.live.customization, name)):
            diff.learnt.pop(name, None)
            diff.act[name] = Found(found.before, wanted, "change")


def _reset(case: Case, item: Item, effective: Mapping[str, Any], *, is_new: bool) -> None:
    def members(settings: Mapping[str, Any]) -> dict[str, Any]:
        return {
            name: value for name, value in settings.items() if name not in ("title", "updatedAt") and value is not None
        }

    has_none = members(effective) == members(case.live.customization) and effective.get("title") in (
        None,
        case.live.customization.get("title"),
    )
    _compare(case, item, {"reset": True}, {"reset": is_new or has_none}, _plain)
    diff = case.diffs[item.ref]
    if "reset" in diff.act:
        case.step(Wave.CUSTOMIZATION, Call.OVERRIDE_DELETE, item.ref, {}, {"reset": True})


def tell_unread(case: Case) -> None:
    """Given a case, count what the file does not speak of in the areas of its structure."""
    beyond = [
        f"{thing.kind} {thing.fields.get('path') or thing.fields.get('title')} ({thing.id})"
        for thing in case.live.of("group", "section", "variant")
        if thing.id not in case.matches.refs and thing.id not in case.doomed and not case.owns(thing.id)
    ]
    if beyond and "structure" in case.file.managed:
        case.beyond["structure"] = tuple(beyond)
