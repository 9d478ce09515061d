"""Paths of sections and variants: born free where they can be, renamed in an order in which no two are ever equal."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from syncd.model.redirect import source_key
from syncd.model.ref import ROOT, Ref
from syncd.plan.site.call import Call
from syncd.plan.site.context import Case, Draft
from syncd.plan.site.differ import MISSING
from syncd.plan.site.live_state import Existing
from syncd.plan.site.steps import Wave
from syncd.plan.site.structure.deletions import Doom
from syncd.plan.site.structure.renames import Renames, is_temporary, renames, temporary
from syncd.plan.site.structure.structure import leave_out


@dataclass
class Paths:
    """The paths that new things are born with, by ref, and the renames of each list of siblings."""

    born: dict[Ref, str] = field(default_factory=dict)
    plans: list[Renames] = field(default_factory=list)


def settle(case: Case, doom: Doom) -> bool:
    """Given a case, take out what cannot have its path; return whether anything had to be."""
    before = len(case.lines)
    if case.file.policy.require_bridge:
        _require_bridges(case)
    for parent in _parents(case):
        now, wanted = _siblings(case, parent)
        for name, holder in renames(now, wanted, doom.doomed.keys() & set(now)).blocked.items():
            note = f'path "{wanted[name]}" is taken by {_words(case, holder)}'
            if isinstance(name, Ref):
                leave_out(case, name, note)
            else:
                case.block(case.matches.refs[name], note, name="path")
    return len(case.lines) > before


def lay(case: Case, doom: Doom) -> Paths:
    """Given a case in which everything can have its path, return how it gets it."""
    paths = Paths()
    for parent in _parents(case):
        now, wanted = _siblings(case, parent)
        taken = {path.casefold() for path in now.values()} | {path.casefold() for path in wanted.values()}
        held = {path.casefold() for path in now.values()}
        for ref in [name for name in wanted if isinstance(name, Ref)]:
            is_free = wanted[ref].casefold() not in held
            paths.born[ref] = wanted.pop(ref) if is_free else temporary(wanted[ref], ref, taken)
            held.add(paths.born[ref].casefold())
            taken.add(paths.born[ref].casefold())
            now[ref] = paths.born[ref]
        paths.plans.append(renames(now, wanted, doom.doomed.keys() & set(now)))
    return paths


def rename(case: Case, paths: Paths, doom: Doom) -> None:
    """Given how everything gets its path, take down the requests (W8)."""
    for plan in paths.plans:
        for one in plan.order:
            ref = one.name if isinstance(one.name, Ref) else doom.doomed.get(one.name) or case.name(one.name)
            call = Call.SECTION_UPDATE if ref.kind == "section" else Call.VARIANT_UPDATE
            sets = {"path": MISSING if one.temporary else one.path}
            id = case.id(ref) if ref is one.name else one.name
            case.drafts.append(Draft(Wave.PATHS, call, ref, id, {"path": one.path}, sets, temporary=one.temporary))


def unbridged(case: Case) -> Iterator[tuple[Ref, str]]:
    """Given a case, yield each section or variant that leaves a path to which no redirect stays, and that path."""
    leaving = [
        ref
        for ref, diff in case.diffs.items()
        if "path" in diff.act and ref.kind in ("section", "variant") and _was_public(case, ref)
    ]
    if not leaving:
        return
    sources = {item.key for item in case.file.of("redirect")}
    sources |= {source_key(str(thing.fields.get("source"))) for thing in case.live.of("redirect")}
    heirs = _heirs(case)
    for ref in leaving:
        former = _address(case, ref, heirs)
        if former and source_key(former) not in sources:
            yield ref, former


def _was_public(case: Case, ref: Ref) -> bool:
    """Whether a path was ever meant: what syncd made and did not get to name has one that nobody knows."""
    path = case.matches.found[ref].fields.get("path")
    if not path or is_temporary(str(path)):
        return False
    return case.by(ref) == "adopted" or "path" in case.base(ref)


def _require_bridges(case: Case) -> None:
    for ref, former in list(unbridged(case)):
        note = f"{former} would lead nowhere, and policy.require_bridge is set"
        case.block(ref, note, name="path", manual=f"declare a redirect from {former}")


def _address(case: Case, ref: Ref, heirs: Mapping[str, str]) -> str:
    """Where something is read now, below the site; nothing for a default, which is read where its parent is."""
    thing = case.matches.found[ref]
    if _stays_default(case, thing, heirs):
        return ""
    above = case.live.things.get(thing.parent) if thing.kind == "variant" else None
    # Nobody was led by a path that the platform chose meanwhile.
    is_short = above is None or _stays_default(case, above, heirs) or case.name(above.id) in case.matches.halves
    parts = [] if above is None or is_short else [above.fields.get("path")]
    return "/" + "/".join(str(part) for part in (*parts, thing.fields.get("path")) if part)


def _stays_default(case: Case, thing: Existing, heirs: Mapping[str, str]) -> bool:
    """Whether something is the default when this plan is done."""
    place = "section" if thing.kind == "section" else thing.parent
    heir = heirs.get(place)
    return bool(thing.fields.get("default")) if heir is None else heir == thing.id


def _heirs(case: Case) -> dict[str, str]:
    """Who becomes the default in this plan, by the id of its parent, or `section` for the site's: an id or a ref."""
    heirs: dict[str, str] = {}
    for item in case.file.of("section", "variant"):
        diff = case.diffs.get(item.ref)
        if item.fields.get("default") and (item.ref in case.new or (diff is not None and "default" in diff.act)):
            place = "section" if item.kind == "section" else str(case.id(item.parent))
            heirs[place] = str(case.id(item.ref))
    return heirs


def _parents(case: Case) -> list[Ref | None]:
    """The namespaces of paths: that of all sections, None, and each section's, or the root's, of variants."""
    return [None, ROOT, *(item.ref for item in case.file.of("section") if case.is_there(item.ref))]


def _siblings(case: Case, parent: Ref | None) -> tuple[dict[str, str], dict[str, str]]:
    """The paths that siblings have, by id, and those that some shall have, by id or, of what is new, by ref."""
    if parent is None:
        things = case.live.of("section")
        refs: Iterable[Ref] = (item.ref for item in case.file.of("section"))
    else:
        above = case.matches.found.get(parent)
        id = ROOT if parent == ROOT else "" if above is None else above.id
        there = () if parent != ROOT and above is None else case.live.orders.get(id, ())
        things = tuple(case.live.things[one] for one in there if case.live.things[one].kind == "variant")
        refs = (item.ref for item in case.below.get(parent, ()) if item.kind == "variant")
    now = {thing.id: str(thing.fields.get("path") or "") for thing in things}
    return now, dict(_wanted(case, refs))


def _wanted(case: Case, refs: Iterable[Ref]) -> Iterator[tuple[str, str]]:
    for ref in refs:
        diff = case.diffs.get(ref)
        if diff is not None and "path" in diff.act:
            yield case.matches.found[ref].id, str(diff.act["path"].after)
        elif ref in case.new and case.desired[ref].get("path"):
            yield ref, str(case.desired[ref]["path"])


def _words(case: Case, name: str) -> str:
    """What people call what has a path: a new thing by its ref, and what is there by its id."""
    ref = name if isinstance(name, Ref) else case.matches.refs.get(name)
    thing = case.live.things.get(name)
    if ref is not None or thing is None:
        return name if ref is None else ref.words
    known = case.name(name)
    return known.words if "#" not in known else f"{thing.kind} {thing.id}, which is not in the file"
