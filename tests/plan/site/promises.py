"""What must hold on a site after every single request, and what a plan may delete at all."""

from collections.abc import Mapping

from syncd.layout.site.declared import AREA, ROOT, Item, SiteFile
from syncd.layout.site.keys import source_key
from syncd.plan.site.facts import Existing, Live, Lock
from syncd.plan.site.gating import AUDIENCE
from syncd.plan.site.match import matched
from syncd.plan.site.steps import SitePlan
from tests.plan.site.simulator import Simulator


def carry_out(simulator: Simulator, plan: SitePlan, *, until: int | None = None) -> None:
    """Run a plan, or its first steps, and check after each that nothing is exposed, doubled or lost."""
    file, live = simulator.file, simulator.live()
    allowed = {ref for gate in plan.gates if gate.scope == "exposure" for ref in gate.refs}
    for step in plan.steps[:until]:
        before = simulator.live()
        simulator.run(step)
        after = simulator.live()
        if step.call not in ("adopt", "forget"):
            nothing_is_exposed(file, (live, before, after), simulator.lock, allowed)
            no_two_are_equal(after)
            if step.call == "redirect.delete":
                replaced(file, before.things[str(step.id)], after)


def nothing_is_exposed(file: SiteFile, views: tuple[Live, Live, Live], lock: Lock, allowed: set[str]) -> None:
    """No variant that is gated in the file shows its content openly, unless it did so before, or a gate says so."""
    first, _, now = views
    ids = matched(file, now, lock)
    for item in file.of("variant"):
        thing = now.things.get(ids.get(item.ref, ""))
        if thing is None or thing.fields["space"] == file.holding or not gate(file, item):
            continue
        earlier = first.things.get(thing.id)
        was_open = earlier is not None and not live_gate(first, earlier)
        shows = earlier is None or earlier.fields["space"] != thing.fields["space"]
        if not live_gate(now, thing) and (shows or not was_open):
            assert {item.ref, item.parent} & allowed, f"{item.ref} is public"
    if first.site.get("visibility") in AUDIENCE and now.site.get("visibility") in AUDIENCE:
        wider = AUDIENCE.index(now.site["visibility"]) < AUDIENCE.index(first.site["visibility"])
        assert not wider or "site:" in allowed


def gate(file: SiteFile, item: Item) -> bool:
    section = file.items.get(item.parent)
    return bool(item.fields.get("condition") or (section is not None and section.fields.get("condition")))


def live_gate(live: Live, thing: Existing) -> bool:
    above = live.things.get(thing.parent)
    return bool(thing.fields.get("condition") or (above is not None and above.fields.get("condition")))


def no_two_are_equal(live: Live) -> None:
    seen: set[tuple[str, str, str]] = set()
    for thing in live.of("section", "variant"):
        place = ROOT if thing.kind == "section" else thing.parent
        key = (thing.kind, place, str(thing.fields["path"]).casefold())
        assert key not in seen, f"two {thing.kind}s have the path {key[2]}"
        seen.add(key)


def replaced(file: SiteFile, gone: Existing, after: Live) -> None:
    """A redirect goes only when the file declares none for its source, or that one stands."""
    key = source_key(gone.fields["source"])
    stands = {source_key(thing.fields["source"]) for thing in after.of("redirect")}
    assert f"redirect:{key}" not in file.items or key in stands, f"{gone.fields['source']} is gone, its heir is missing"


def deletes_are_owned(file: SiteFile, live: Live, lock: Lock, plan: SitePlan) -> None:
    """Everything that goes is syncd's, declared absent, or in an area of which all goes; and nothing goes with it."""
    owned = {entry.id for ref, entry in lock.items.items() if AREA[ref.partition(":")[0]]}  # type: ignore[index]
    absent = {source_key(source) for source in file.absent}
    gone: dict[str, Existing] = {}
    for step in plan.steps:
        if step.call.endswith(".delete") and step.kind != "override":
            thing = live.things[str(step.id)]
            gone[thing.id] = thing
            gone |= {id: live.things[id] for id in live.orders.get(thing.id, ()) if step.kind == "section"}
    for thing in gone.values():
        area = AREA[thing.kind]
        prune = file.policy.pruned(area)
        named = thing.kind == "redirect" and source_key(thing.fields["source"]) in absent
        assert named or prune == "all" or (prune == "owned" and thing.id in owned), f"{thing.id} is not syncd's"
    declared: Mapping[str, str] = matched(file, live, lock)
    assert not gone.keys() & set(declared.values())
