"""What somebody deleted on the platform is drift: listed, and treated as its area's policy says."""

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncd.layout.site.read.declared import Item, SiteFile
from syncd.model.ref import AREAS, Ref
from syncd.plan.site.live_state import LiveSite, SiteLock
from syncd.plan.site.steps import SitePlan
from tests.plan.site.cases import (
    GATE,
    HOME,
    calls,
    carried_out,
    find_item,
    group,
    lines,
    planned,
    redirect,
    section,
    single,
    site_file,
    variant,
)
from tests.plan.site.promises import carry_out
from tests.plan.site.simulator import Simulator
from tests.sampling import sample_cases
from tests.sites.worlds import World, taken_away, world

API = (section("api"), variant("api/v1", "sp_v1", default=True), variant("api/v2", "sp_api"))
MORE = (
    redirect("/pay", section="home"),
    redirect("/api", section="api"),
    single("override", "api/v2", styling__theme="x"),
)


def deciding(file: SiteFile, on_drift: str) -> SiteFile:
    return replace(file, policy=replace(file.policy, on_drift=dict.fromkeys(AREAS, on_drift)))  # type: ignore[arg-type]


def without(live: LiveSite, *names: str) -> LiveSite:
    """The platform when somebody has deleted these there."""
    things, orders = dict(live.items), {id: list(children) for id, children in live.orders.items()}
    for name in names:
        assert taken_away(things, orders, find_item(live, name))
    return replace(live, items=things, orders={id: tuple(children) for id, children in orders.items()})


def with_field(file: SiteFile, ref: str, **fields: Any) -> SiteFile:
    item = file.items[Ref(ref)]
    return replace(file, items={**file.items, item.ref: replace(item, fields={**item.fields, **fields})})


def outcome(plan: SitePlan) -> list[tuple[str, str, str]]:
    return [(line.action, line.ref, line.gone) for line in plan.lines]


@pytest.mark.parametrize("on_drift", ["report", "accept"])
def test_what_was_deleted_on_the_platform_is_left_alone_and_told_once(on_drift: str) -> None:
    file = deciding(site_file(*HOME, *API, *MORE), on_drift)
    live, lock = carried_out(file)
    plan = planned(file, without(live, "/pay", "api"), lock)
    assert not plan
    assert outcome(plan) == [("report", "section:api", "drift"), ("report", "redirect:/pay", "drift")]
    assert plan.list_drift() == plan.lines
    assert lines(plan)["redirect:/pay"].note == f"was deleted outside syncd, left as it is: on_drift is {on_drift}"


def test_what_was_deleted_is_made_anew_where_drift_is_reverted_or_a_person_prefers_the_file() -> None:
    file = site_file(*HOME, *API, *MORE)
    live, lock = carried_out(file)
    live = without(live, "/pay", "api")
    for plan in (planned(deciding(file, "revert"), live, lock), planned(file, live, lock, prefer="file")):
        assert ("section.create", "section:api") in calls(plan)
        assert ("redirect.create", "redirect:/pay") in calls(plan)
        assert lines(plan)["section:api"].gone == "drift"
        assert lines(plan)["section:api"].note == "was deleted outside syncd, made anew"
    assert not planned(deciding(file, "revert"), live, lock, prefer="live")


def test_what_the_file_changed_and_somebody_deleted_waits_for_a_person() -> None:
    file = site_file(*HOME, *API, *MORE)
    live, lock = carried_out(file)
    live = without(live, "/pay", "api")
    file = with_field(with_field(file, "variant:api/v1", path="v9"), "redirect:/pay", to={"section": "api"})
    plan = planned(deciding(file, "revert"), live, lock)
    assert outcome(plan)[0] == ("blocked", "section:api", "conflict")
    assert all(line.is_conflict for line in plan.select_lines("blocked") if line.gone)
    assert not calls(plan)
    assert ("section.create", "section:api") in calls(planned(file, live, lock, prefer="file"))
    theirs = planned(file, live, lock, prefer="live")
    assert not theirs
    assert lines(theirs)["section:api"].action == "report"


def test_a_run_that_dies_while_it_makes_something_anew_is_finished_whatever_the_policy() -> None:
    file = site_file(
        *HOME, section("p", condition=GATE), variant("p/en", "sp_partners", default=True), variant("p/fr", "sp_api")
    )
    live, lock = carried_out(file)
    live = without(live, "p")
    plan = planned(file, live, lock, prefer="file")
    for until in range(1, len(plan.steps) + 1):
        simulator = Simulator(live, lock, file)
        carry_out(simulator, plan, until=until)
        again = planned(file, simulator.live(), simulator.lock)
        if until >= sum(step.call == "forget" for step in plan.steps):
            assert not again.list_drift()
            carry_out(simulator, again)
            assert not planned(file, simulator.live(), simulator.lock)


def test_what_stood_in_a_deleted_group_stays_and_follows_when_it_is_made_anew() -> None:
    inner = (section("home", Ref("group:inner"), default=True), HOME[1])
    file = site_file(group("inner"), *inner)
    live, lock = carried_out(file)
    home, gone = find_item(live, "home"), find_item(live, "Inner")
    things = {id: thing for id, thing in live.items.items() if id != gone.id}
    live = replace(live, items=things | {home.id: replace(home, parent="")}, orders={**live.orders, "": (home.id,)})
    plan = planned(file, live, lock)
    assert not plan
    assert outcome(plan) == [("report", "group:inner", "drift")]
    back = planned(deciding(file, "revert"), live, lock)
    assert [call for call in calls(back) if call[1] == "group:inner"] == [
        ("group.create", "group:inner"),
        ("group.add", "group:inner"),
    ]


def test_what_has_no_lock_entry_or_stands_in_something_new_is_just_made() -> None:
    file = site_file(*HOME, *API)
    live, lock = carried_out(file)
    live = without(live, "api")
    lock = replace(lock, items={ref: entry for ref, entry in lock.items.items() if ref != "section:api"})
    plan = planned(file, live, lock)
    assert not plan.list_drift()
    assert ("section.create", "section:api") in calls(plan)
    assert planned(file, live, replace(lock, items={})).select_lines("create")


def test_something_deleted_that_has_another_key_now_is_still_known() -> None:
    live, lock = carried_out(site_file(*HOME, *API))
    renamed = (section("api2", was=("api",), title="ApiApi", path="api"), variant("api2/v1", "sp_v1", default=True))
    plan = planned(site_file(*HOME, *renamed, variant("api2/v2", "sp_api")), without(live, "api"), lock)
    assert not plan
    assert outcome(plan) == [("report", "section:api2", "drift")]


def carried(seed: int) -> tuple[World, LiveSite, SiteLock] | None:
    """A world's file once it has been carried out, with nobody else there."""
    case = world(seed)
    simulator = Simulator(case.live, SiteLock(case.file.site), case.file)
    for _ in range(3):
        simulator.run_all(planned(case.file, simulator.live(), simulator.lock))
    if planned(case.file, simulator.live(), simulator.lock).lines:
        return None
    return case, simulator.live(), simulator.lock


def is_covered(file: SiteFile, item: Item) -> bool:
    return {"redirect": "redirects"}.get(item.kind, "structure") in file.managed


def deletions_are_drift(seed: int) -> None:
    found = carried(seed)
    if found is None or "structure" not in found[0].file.managed:
        return
    case, live, lock = found
    dice = random.Random(seed)
    things, orders = dict(live.items), {id: list(children) for id, children in live.orders.items()}
    gone = [thing for thing in live.items.values() if dice.random() < 0.3 and taken_away(things, orders, thing)]
    now = replace(live, items=things, orders={id: tuple(children) for id, children in orders.items()})
    refs = {
        entry.id: ref
        for ref, entry in lock.items.items()
        if ref.startswith(("group", "section", "variant", "redirect"))
    }
    listed = {refs[thing.id] for thing in gone if thing.id in refs and refs[thing.id] in case.file.items}
    left = Simulator(now, lock, deciding(case.file, "report"))
    plan = planned(left.file, left.live(), lock)
    assert not plan.steps, f"{seed}: {plan.steps[0]}"
    told = {line.ref for line in plan.lines if line.gone == "drift"}
    with_sections = {ref for ref in listed if case.file.items[ref].parent in listed and ref.startswith("variant")}
    assert told == {ref for ref in listed - with_sections if is_covered(case.file, case.file.items[ref])}, seed
    back = Simulator(now, lock, deciding(case.file, "revert"))
    for _ in range(3):
        carry_out(back, planned(back.file, back.live(), back.lock))
    again = planned(back.file, back.live(), back.lock)
    assert not again.steps, seed
    assert not again.list_drift(), seed


@given(st.integers(0, 2**32))
@settings(deadline=None, max_examples=25)
def test_a_deletion_is_drift_of_just_what_was_deleted_and_reverting_it_ends(seed: int) -> None:
    deletions_are_drift(seed)


@pytest.mark.parametrize("start", sample_cases(range(0, 4000, 500), long=(0, 1, 2)))
def test_many_deletions(start: int) -> None:
    for seed in range(start, start + 500):
        deletions_are_drift(seed)
