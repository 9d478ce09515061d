"""The first sections of a site: what the platform makes of its root is expected, and read before the rest is done."""

from dataclasses import replace

from syncd.model.ref import Ref
from syncd.plan.site.live_state import SiteLock
from syncd.plan.site.match.first_sections import take_first_part
from syncd.plan.site.steps import SitePlan
from tests.plan.site.cases import HOME, SITE, calls, carried_out, empty, lines, planned, section, site_file, variant
from tests.plan.site.simulator import Simulator

API = (section("api"), variant("api/en", "sp_api", default=True))
FLAT = site_file(variant("en", "sp_home", default=True), variant("v1", "sp_v1"))
BOTH = (*HOME, variant("home/v1", "sp_v1"))
ADVICE = "declare one section with all of them, and a second section"


def manual_steps(plan: SitePlan) -> dict[str, str]:
    return {ref: line.manual for ref, line in lines(plan, "blocked").items() if ref.startswith("section:")}


def test_a_plan_says_all_that_happens_and_runs_until_the_first_section_is_made() -> None:
    live, lock = carried_out(FLAT)
    plan = planned(site_file(*BOTH, *API), live, lock)
    assert {ref: line.action for ref, line in lines(plan).items() if line.action != "move"} == {
        "section:home": "update",
        "variant:home/en": "adopt",
        "variant:home/v1": "adopt",
        "section:api": "create",
        "variant:api/en": "create",
    }
    assert "as soon as there is another section" in lines(plan)["section:home"].note
    first = take_first_part(plan)
    assert calls(first) == [("section.create", "section:api")]
    assert plan.expects not in str([(step.id, step.body, step.applied) for step in first.steps])
    assert take_first_part(replace(plan, expects="")).steps == plan.steps


def test_the_section_that_is_made_is_known_by_what_stands_in_it_and_else_by_nothing() -> None:
    live, lock = carried_out(FLAT)
    file = site_file(*BOTH, *API)
    simulator = Simulator(live, lock, file)
    for step in take_first_part(planned(file, live, lock)).steps:
        simulator.run(step)
    after = simulator.live()
    assert lines(planned(file, after, simulator.lock), "create") == {}
    assert "section:home" in lines(planned(file, after, SiteLock(SITE)), "create"), (
        "a likeness alone makes nothing syncd's"
    )


def test_without_one_section_for_all_of_the_root_or_a_second_section_nothing_is_made() -> None:
    live, lock = carried_out(FLAT)
    assert manual_steps(planned(site_file(*BOTH), live, lock)) == {"section:home": ADVICE}
    split = site_file(*HOME, section("old"), variant("old/v1", "sp_v1", default=True), *API)
    assert set(manual_steps(planned(split, live, lock))) == {"section:home", "section:old", "section:api"}
    strange = planned(site_file(*API), live, lock)
    assert manual_steps(strange) == {"section:api": ADVICE}
    assert not [call for call, _ in calls(strange) if call == "section.create"]


def test_what_the_file_leaves_out_stays_with_the_rest_of_the_root() -> None:
    live, lock = carried_out(site_file(*HOME, *API), carried_out(FLAT)[0])
    spaces = {thing.fields["space"]: thing.parent for thing in live.of("variant")}
    home = lock.items[Ref("section:home")].id
    assert spaces == {"sp_home": home, "sp_v1": home, "sp_api": lock.items[Ref("section:api")].id}


def test_a_plan_for_the_other_section_alone_waits_for_the_one_that_the_platform_makes() -> None:
    live, lock = carried_out(FLAT)
    file = site_file(*BOTH, *API)
    alone = planned(file, live, lock, target=frozenset({Ref("section:api")}))
    assert manual_steps(alone) == {"section:api": "plan it together with section:home"}
    assert not manual_steps(planned(file, live, lock, target=frozenset({Ref("section:api"), Ref("section:home")})))


def test_a_site_with_nothing_at_its_root_expects_nothing() -> None:
    plan = planned(site_file(*HOME, *API), empty(), SiteLock(SITE))
    assert (plan.expects, plan.select_lines("blocked")) == ("", ())
