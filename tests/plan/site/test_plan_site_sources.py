"""Sources of redirects change hands in an order in which none is wanted twice; what keeps its source blocks others."""

from dataclasses import replace
from typing import Any

import pytest

from syncd.layout.site.read.declared import Item, SiteFile
from syncd.model.ref import Ref
from syncd.plan.site.live_state import ExistingItem, LiveSite, SiteLock
from syncd.plan.site.steps import SitePlan, Wave
from tests.plan.site.cases import (
    HOME,
    SITE,
    bodies,
    calls,
    carried_out,
    edited,
    group,
    lines,
    planned,
    policy,
    redirect,
    section,
    site_file,
    variant,
)
from tests.plan.site.promises import carry_out
from tests.plan.site.simulator import Simulator

ALL = policy(prune={"redirects": "all"})


def renamed(source: str, *was: str, id: str = "") -> Item:
    return replace(redirect(source, section="home"), was=was, id=id)


def stands(*sources: str) -> tuple[LiveSite, SiteLock]:
    return carried_out(site_file(*HOME, *(redirect(source, section="home") for source in sources)))


def of_hand(live: LiveSite, source: str, id: str = "hand") -> LiveSite:
    """Return the platform once somebody made a redirect there."""
    fields: dict[str, Any] = {"source": source, "destination": {"kind": "external", "url": "https://example.com"}}
    return replace(live, items={**live.items, id: ExistingItem("redirect", id, fields)})


def id_of(live: LiveSite, source: str) -> str:
    return next(one.id for one in live.of("redirect") if one.fields["source"] == source)


def settles(plan: SitePlan, live: LiveSite, lock: SiteLock, *items: Item, **more: Any) -> dict[str, str]:
    """Carry a plan out, see that the next one is empty, and return the ids of the redirects by their source."""
    file = site_file(*items, **more)
    simulator = Simulator(live, lock, file)
    carry_out(simulator, plan)
    assert not planned(file, simulator.live(), simulator.lock).steps
    return {one.fields["source"]: one.id for one in simulator.live().of("redirect")}


def test_a_source_that_one_redirect_leaves_is_free_for_a_new_one() -> None:
    live, _ = stands("/a")
    parts = (*HOME, redirect("/a", section="home"), renamed("/b", id=id_of(live, "/a")))
    plan = planned(site_file(*parts), live, SiteLock(SITE))
    assert calls(plan) == [("redirect.update", "redirect:/b"), ("redirect.create", "redirect:/a")]
    there = settles(plan, live, SiteLock(SITE), *parts)
    assert there.keys() == {"/a", "/b"}
    assert there["/b"] == id_of(live, "/a")


def test_sources_change_hands_in_a_chain_and_in_a_circle() -> None:
    live, _ = stands("/a", "/b", "/c")
    ids = {source: id_of(live, source) for source in ("/a", "/b", "/c")}
    nothing = SiteLock(SITE)
    chain = (*HOME, renamed("/b", id=ids["/a"]), renamed("/c", id=ids["/b"]), renamed("/d", id=ids["/c"]))
    plan = planned(site_file(*chain), live, nothing)
    assert [ref for _, ref in calls(plan)] == ["redirect:/d", "redirect:/c", "redirect:/b"]
    assert settles(plan, live, nothing, *chain) == {"/b": ids["/a"], "/c": ids["/b"], "/d": ids["/c"]}
    circle = (*HOME, renamed("/b", id=ids["/a"]), renamed("/c", id=ids["/b"]), renamed("/a", id=ids["/c"]))
    plan = planned(site_file(*circle), live, nothing)
    assert [step.is_temporary for step in plan.steps if step.call == "redirect.update"] == [True, False, False, False]
    assert settles(plan, live, nothing, *circle) == {"/b": ids["/a"], "/c": ids["/b"], "/a": ids["/c"]}


def test_what_is_deleted_in_any_case_goes_before_what_takes_its_source() -> None:
    live, _ = stands("/a")
    live, known = of_hand(live, "/b"), id_of(live, "/a")
    parts = (*HOME, renamed("/b", id=known))
    plan = planned(site_file(*parts, policy=ALL), live, SiteLock(SITE))
    assert [(step.wave, step.call) for step in plan.steps if step.kind == "redirect" and step.call != "adopt"] == [
        (Wave.REDIRECTS, "redirect.delete"),
        (Wave.REDIRECTS, "redirect.update"),
    ]
    assert lines(plan, "delete").keys() == {"redirect:#hand"}
    assert settles(plan, live, SiteLock(SITE), *parts, policy=ALL) == {"/b": known}


def test_what_keeps_its_source_is_named_with_what_can_be_done() -> None:
    live, _ = stands("/a")
    live, known = of_hand(live, "/b"), id_of(live, "/a")
    plan = planned(site_file(*HOME, renamed("/b", id=known)), live, SiteLock(SITE))
    (line,) = plan.select_lines("blocked")
    assert (line.note, line.manual) == ("redirect hand has this source", "delete one of the two")


def test_a_redirect_that_has_the_source_is_rather_meant_than_a_former_one() -> None:
    live, lock = stands("/a")
    live = of_hand(live, "/b")
    plan = planned(site_file(*HOME, renamed("/b", "/a")), live, lock)
    assert calls(plan) == [("redirect.update", "redirect:/b"), ("redirect.delete", "redirect:/a")]
    assert settles(plan, live, lock, *HOME, renamed("/b", "/a")) == {"/b": "hand"}


def test_a_redirect_is_not_deleted_because_the_lock_has_its_id_under_another_name() -> None:
    live, lock = stands("/a")
    live = of_hand(live, "/theirs")
    wrong = replace(lock, items={**lock.items, Ref("redirect:/a"): replace(lock.items[Ref("redirect:/a")], id="hand")})
    plan = planned(site_file(*HOME, policy=policy(allow_empty=True)), live, wrong)
    assert not [step for step in plan.steps if step.call == "redirect.delete"]
    assert lines(plan, "report")["redirect:/a"].note == "kept: it is not redirect /a, as which the lock has its id"
    there = settles(plan, live, wrong, *HOME, policy=policy(allow_empty=True))
    assert there.keys() == {"/a", "/theirs"}, "and the lock has forgotten it"


def test_two_ids_that_were_exchanged_in_the_lock_are_told_by_their_sources() -> None:
    live, lock = stands("/a", "/b")
    a, b = (lock.items[ref] for ref in (Ref("redirect:/a"), Ref("redirect:/b")))
    crossed = {**lock.items, Ref("redirect:/a"): replace(a, id=b.id), Ref("redirect:/b"): replace(b, id=a.id)}
    file = site_file(*HOME, redirect("/a", section="home"), redirect("/b", section="home"))
    plan = planned(file, live, replace(lock, items=crossed))
    assert not calls(plan)
    simulator = Simulator(live, replace(lock, items=crossed), file)
    simulator.run_all(plan)
    assert {ref: entry.id for ref, entry in simulator.lock.items.items()} == {
        ref: entry.id for ref, entry in lock.items.items()
    }


def test_a_redirect_keeps_its_place_in_the_lock_while_its_new_name_leads_nowhere() -> None:
    live, lock = stands("/a")
    file = site_file(*HOME, replace(redirect("/b", section="nowhere"), was=("/a",)))
    plan = planned(file, live, lock)
    assert lines(plan, "blocked").keys() == {"redirect:/b"}
    simulator = Simulator(live, lock, file)
    simulator.run_all(plan)
    assert "redirect:/a" in simulator.lock.items


def test_another_declared_redirect_that_keeps_a_source_is_named() -> None:
    live, lock = stands("/a")
    thing = live.items[id_of(live, "/a")]
    live = replace(live, items={**live.items, thing.id: replace(thing, fields={**thing.fields, "source": "/b"})})
    plan = planned(site_file(*HOME, redirect("/a", section="home"), redirect("/b", section="home")), live, lock)
    (line,) = plan.select_lines("blocked")
    assert line.ref == "redirect:/b"
    assert line.note == f"redirect {thing.id}, which is redirect /a in site.yaml, has this source"
    assert line.manual == "give that one another source, or delete it"


@pytest.mark.parametrize("kind", ["group", "section", "variant"])
def test_no_part_goes_because_the_lock_has_its_id_under_another_name(kind: str) -> None:
    gone = {
        "group": group("old"),
        "section": section("old", path="former"),
        "variant": variant("home/old", "sp_v1", path="former"),
    }[kind]
    parts = (*HOME, *((variant("old/en", "sp_v1", default=True),) if kind == "section" else ()))
    live, lock = carried_out(site_file(*parts, gone))
    entry = lock.items[gone.ref]
    thing = live.items[entry.id]
    theirs = {**thing.fields, "title": "Theirs", "path": "theirs", "space": "sp_api"}
    mine = replace(live, items={**live.items, entry.id: replace(thing, fields=theirs)})
    owned = policy(prune={"structure": "owned"})
    assert (f"{kind}.delete", gone.ref) in calls(planned(site_file(*HOME, policy=owned), live, lock))
    plan = planned(site_file(*HOME, policy=owned), mine, lock)
    assert (f"{kind}.delete", gone.ref) not in calls(plan)
    assert lines(plan, "report")[gone.ref].note.startswith("kept: it is not")


def led_to(page: str) -> SiteFile:
    return site_file(*HOME, redirect("/p", page=page, **{"in": "home/en"}))


def test_a_redirect_that_was_to_lead_to_another_page_does_so_after_a_kill() -> None:
    live, lock = carried_out(led_to("start"))
    item = redirect("/q", page="guide", **{"in": "home/en"})
    file = site_file(*HOME, replace(item, was=("/p",)))
    plan = planned(file, live, lock)
    for until in range(len(plan.steps)):
        simulator = Simulator(live, lock, file)
        carry_out(simulator, plan, until=until)
        again = planned(file, simulator.live(), simulator.lock)
        assert bodies(again, "redirect:/q")[-1]["destination"]["pageId"] == "sp_home_p2"


def test_a_redirect_in_conflict_leads_to_the_page_that_the_file_names_once_it_is_settled() -> None:
    live, lock = carried_out(led_to("start"))
    elsewhere = edited(live, "/p", destination={"kind": "external", "url": "https://example.com/"})
    simulator = Simulator(elsewhere, lock, led_to("guide"))
    blocked = planned(led_to("guide"), elsewhere, lock)
    assert blocked.select_lines("blocked")
    carry_out(simulator, blocked)
    settled = planned(led_to("guide"), simulator.live(), simulator.lock, prefer="file")
    assert bodies(settled, "redirect:/p")[-1]["destination"]["pageId"] == "sp_home_p2"


def test_a_redirect_that_the_file_names_by_its_id_is_not_taken_for_one_with_its_source() -> None:
    live, lock = stands("/old")
    live = of_hand(live, "/new")
    file = site_file(*HOME, renamed("/other", id="hand"), renamed("/new", "/old"))
    plan = planned(file, live, lock)
    assert not [ref for call, ref in calls(plan) if call == "redirect.delete"], "/old is renamed, and not deleted"
