"""What must hold on a site after every single request, and what a plan may delete at all."""

from collections.abc import Iterator, Sequence

from syncd.layout.site.read.declared import SiteFile
from syncd.model.redirect import make_source_key
from syncd.model.ref import AREA, ROOT
from syncd.plan.site.compose import plan_site
from syncd.plan.site.live_state import ExistingItem, LiveSite, LockEntry, SiteLock
from syncd.plan.site.match.first_sections import take_first_part
from syncd.plan.site.match.match import find_matched_ids
from syncd.plan.site.steps import SitePlan, Step, Wave
from tests.plan.site.readers import find_new_readers
from tests.plan.site.simulator import Simulator


def carry_out(simulator: Simulator, plan: SitePlan, *, until: int | None = None) -> None:
    """Run a plan, or its first steps, and check after each that nothing is exposed, doubled or lost."""
    file, live = simulator.file, simulator.live()
    views = [live]
    for step in steps_of(simulator, plan, until):
        before = simulator.live()
        simulator.run(step)
        after = simulator.live()
        if step.call not in ("adopt", "forget"):
            views.append(after)
            no_two_are_equal(after)
            if step.call == "redirect.delete" and step.wave is Wave.DELETE:
                replaced(file, before.items[str(step.id)], after)
    if until is None:
        nobody_reads_more_unasked(file, views, plan)


def steps_of(simulator: Simulator, plan: SitePlan, until: int | None) -> Iterator[Step]:
    """Yield the steps of a plan, or its first ones, as a run takes them: where it expects something, it looks."""
    first = take_first_part(plan).steps
    yield from first[:until]
    if plan.expects and (until is None or until > len(first)):
        rest = plan_site(simulator.file, simulator.live(), simulator.lock)
        asked = {gate.scope: set(gate.refs) for gate in plan.gates}
        assert all(set(gate.refs) <= asked.get(gate.scope, set()) for gate in rest.gates), "it asks for more on the way"
        yield from rest.steps[: None if until is None else until - len(first)]


def nobody_reads_more_unasked(file: SiteFile, views: Sequence[LiveSite], plan: SitePlan) -> None:
    """A plan asks a person exactly when, at some moment, somebody can read a space who could not before."""
    (first, *_), last = views, views[-1]
    may_show, empty = file.policy.allow_new_spaces, frozenset({file.holding})
    exposed = [find_new_readers((first, view, last), empty, may_show=may_show) for view in views]
    is_asked = any(gate.scope == "exposure" for gate in plan.gates)
    assert is_asked == any(exposed), f"asked: {is_asked}; spaces that have new readers: {exposed}"


def no_two_are_equal(live: LiveSite) -> None:
    seen: set[tuple[str, str, str]] = set()
    for thing in live.of("section", "variant"):
        place = ROOT if thing.kind == "section" else thing.parent
        key = (thing.kind, place, str(thing.fields["path"]).casefold())
        assert key not in seen, f"two {thing.kind}s have the path {key[2]}"
        seen.add(key)


def replaced(file: SiteFile, gone: ExistingItem, after: LiveSite) -> None:
    """A redirect goes last only when the file declares none for its source, or that one stands."""
    key = make_source_key(gone.fields["source"])
    stands = {make_source_key(thing.fields["source"]) for thing in after.of("redirect")}
    assert f"redirect:{key}" not in file.items or key in stands, f"{gone.fields['source']} is gone, its heir is missing"


def is_known(ref: str, entry: LockEntry, live: LiveSite) -> bool:
    """Whether somebody who has the lock in hand would say that it speaks of the thing with that id."""
    thing, (kind, _, key) = live.items.get(entry.id), ref.partition(":")
    if thing is None or thing.kind != kind:
        return False
    if kind == "redirect":
        return make_source_key(thing.fields["source"]) == key
    if "-syncd-" in str(thing.fields.get("path")):
        return True
    names = [name for name in ("title", "path", "space") if name in entry.applied and entry.applied[name] is not None]
    return not names or any(entry.applied[name] == thing.fields[name] for name in names)


def deletes_are_owned(file: SiteFile, live: LiveSite, lock: SiteLock, plan: SitePlan) -> None:
    """Everything that goes is syncd's, declared absent, or in an area of which all goes; and nothing goes with it."""
    owned = {entry.id for ref, entry in lock.items.items() if is_known(ref, entry, live)}
    absent = {make_source_key(source) for source in file.absent}
    gone: dict[str, ExistingItem] = {}
    for step in plan.steps:
        if step.call.endswith(".delete") and step.kind != "override":
            thing = live.items[str(step.id)]
            gone[thing.id] = thing
            gone |= {id: live.items[id] for id in live.orders.get(thing.id, ()) if step.kind == "section"}
    for thing in gone.values():
        area = AREA[thing.kind]
        prune = file.policy.find_prune(area)
        named = thing.kind == "redirect" and make_source_key(thing.fields["source"]) in absent
        assert named or prune == "all" or (prune == "owned" and thing.id in owned), f"{thing.id} is not syncd's"
    declared = find_matched_ids(file, live, lock)
    assert not gone.keys() & set(declared.values())
