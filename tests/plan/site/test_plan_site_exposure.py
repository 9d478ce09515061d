"""Who can read which content after a plan, and at every moment of it: whatever opens a space waits for a person."""

from dataclasses import replace

import pytest

from syncd.layout.site.read.declared import Item, SiteFile
from syncd.plan.site.live_state import LiveSite, SiteLock
from syncd.plan.site.steps import Gate, SitePlan
from tests.plan.site.cases import (
    GATE,
    HOLDING,
    HOME,
    bodies,
    calls,
    carried_out,
    empty,
    planned,
    policy,
    section,
    single,
    site_file,
    variant,
)

BETA = "visitor.claims.beta == true"
SECRET = (section("p", condition=GATE), variant("p/en", "sp_partners", default=True))
SITES = {
    "visitors": single("site", visibility="visitor-auth"),
    "links": single("site", visibility="share-link"),
    "unlisted": single("site", visibility="unlisted"),
    "public": single("site", visibility="public"),
}


def stands(*items: Item, **live: object) -> tuple[LiveSite, SiteLock]:
    """Return the site and the lock that a file with these things leaves; adaptive content is on."""
    start = empty()
    return carried_out(site_file(*items), replace(start, site={**start.site, "adaptive_content": True}, **live))  # type: ignore[arg-type]


def exposed(plan: SitePlan) -> tuple[str, tuple[str, ...]]:
    """Return what the one gate of a plan says, and what it is about; nothing when there is none."""
    assert {gate.scope for gate in plan.gates} <= {"exposure"}
    return next(((gate.why, gate.refs) for gate in plan.gates), ("", ()))


def test_a_public_variant_does_not_show_unasked_what_stood_behind_a_condition() -> None:
    plan = planned(
        site_file(HOME[0], variant("home/en", "sp_partners", default=True), *SECRET), *stands(*HOME, *SECRET)
    )
    assert calls(plan) == [("variant.update", "variant:home/en")]
    assert exposed(plan) == (
        f"space partners becomes readable for anyone; so far for anyone if {GATE}",
        ("variant:home/en",),
    )


def test_a_new_variant_does_not_show_unasked_what_stands_behind_a_condition() -> None:
    plan = planned(site_file(*HOME, variant("home/fr", "sp_partners"), *SECRET), *stands(*HOME, *SECRET))
    assert exposed(plan)[1] == ("variant:home/fr",)


def test_two_variants_do_not_exchange_their_spaces_unasked() -> None:
    former = (section("a"), variant("a/en", "sp_home", default=True), variant("a/fr", "sp_api", condition=GATE))
    latter = (section("a"), variant("a/en", "sp_api", default=True), variant("a/fr", "sp_home", condition=GATE))
    plan = planned(site_file(*latter), *stands(*former))
    assert exposed(plan) == (
        f"space api becomes readable for anyone; so far for anyone if {GATE}",
        ("variant:a/en",),
    )


def test_a_condition_may_move_to_where_it_keeps_the_same_people_out() -> None:
    above = (
        *HOME,
        section("p", condition=GATE),
        variant("p/en", "sp_partners", default=True),
        variant("p/fr", "sp_v1"),
    )
    below = (
        *HOME,
        section("p", condition=None),
        variant("p/en", "sp_partners", default=True, condition=GATE),
        variant("p/fr", "sp_v1", condition=GATE),
    )
    for former, latter in ((above, below), (below, (*HOME, above[2], *(with_none(one) for one in above[3:])))):
        plan = planned(site_file(*latter), *stands(*former))
        assert len(calls(plan)) == 3
        assert exposed(plan) == ("", ())


def with_none(item: Item) -> Item:
    return replace(item, fields={**item.fields, "condition": None})


def test_what_the_file_does_not_speak_of_counts_as_well() -> None:
    live, lock = stands(*HOME, *SECRET, variant("p/fr", "sp_v1"))
    known = {ref: entry for ref, entry in lock.items.items() if ref != "variant:p/fr"}
    file = site_file(*HOME, section("p", condition=None), variant("p/en", "sp_partners", default=True, condition=GATE))
    plan = planned(file, live, replace(lock, items=known))
    assert exposed(plan) == (f"space v1 becomes readable for anyone; so far for anyone if {GATE}", ("section:p",))


@pytest.mark.parametrize(
    ("former", "latter", "why"),
    [
        ("unlisted", "public", "spaces api, home become readable for anyone; so far for anyone who has the address"),
        (
            "visitors",
            "links",
            "spaces api, home become readable for anyone who has a share link; so far for anyone who",
        ),
        ("links", "visitors", "spaces api, home become readable for anyone who signs in; so far for anyone who has a"),
        ("public", "unlisted", ""),
        ("unlisted", "links", ""),
        ("unlisted", "visitors", ""),
    ],
)
def test_an_audience_is_not_widened_unasked(former: str, latter: str, why: str) -> None:
    parts = (section("home", default=True), variant("home/en", "sp_api", default=True), variant("home/fr", "sp_home"))
    plan = planned(site_file(*parts, SITES[latter]), *stands(*parts, SITES[former]))
    said, refs = exposed(plan)
    assert said.startswith(why) if why else not said
    assert refs == (("site:",) if why else ())


def test_adaptive_content_is_not_switched_off_unasked_while_a_condition_hides_something() -> None:
    off = single("site", adaptive_content=False)
    plan = planned(site_file(*HOME, *SECRET, off), *stands(*HOME, *SECRET))
    assert exposed(plan) == (
        "space partners becomes readable for anyone, as conditions may not hold while adaptive content is off; "
        f"so far for anyone if {GATE}",
        ("site:",),
    )
    assert exposed(planned(site_file(*HOME, off), *stands(*HOME))) == ("", ())


def test_a_condition_counts_even_while_adaptive_content_is_off() -> None:
    live, lock = stands(*HOME, *SECRET)
    live = replace(live, site={**live.site, "adaptive_content": False})
    file = site_file(*HOME, section("p", condition=None), SECRET[1])
    assert exposed(planned(file, live, lock))[1] == ("section:p",)


def test_a_new_space_is_shown_unasked_only_where_nobody_can_read_or_the_policy_says_so() -> None:
    file = site_file(*HOME, section("api"), variant("api/en", "sp_api", default=True))
    live, lock = stands(*HOME)
    why = "space api becomes readable for anyone; so far on no part of the site"
    assert exposed(planned(file, live, lock)) == (why, ("variant:api/en",))
    assert exposed(planned(file, replace(live, published=False), lock)) == ("", ())
    free = replace(file, policy=policy(allow_new_spaces=True))
    assert exposed(planned(free, live, lock)) == ("", ())
    assert exposed(planned(free, live, lock, previous=free)) == ("", ())
    assert exposed(planned(free, live, lock, previous=file))[0] == why, "the policy is as new as what it lets through"


def test_a_policy_for_new_spaces_is_none_for_those_that_stood_behind_a_condition() -> None:
    file = site_file(*HOME, *SECRET, variant("home/fr", "sp_partners"), policy=policy(allow_new_spaces=True))
    live, lock = stands(*HOME, *SECRET)
    assert exposed(planned(file, live, lock))[1] == ("variant:home/fr",)
    assert exposed(planned(file, replace(live, published=False), lock))[1] == ("variant:home/fr",)


@pytest.mark.parametrize(
    "parts",
    [
        (section("p", condition=GATE), variant("p/en", "sp_partners", default=True)),
        (section("p"), variant("p/en", "sp_partners", default=True, condition=GATE)),
        (section("p"), variant("p/en", "sp_v1", default=True), variant("p/fr", "sp_partners", condition=GATE)),
    ],
)
def test_without_a_holding_space_the_condition_comes_at_once_and_the_moment_before_it_is_asked_for(
    parts: tuple[Item, ...],
) -> None:
    live, lock = stands(*HOME)
    for holding in ("", HOLDING):
        file = site_file(*HOME, *parts, holding=holding, policy=policy(allow_new_spaces=True))
        plan = planned(file, live, lock)
        passing = "space partners becomes readable for anyone, while the plan runs; so far on no part of the site"
        assert exposed(plan)[0] == ("" if holding else passing)
        sent = [step for step in plan.steps if step.call not in ("adopt", "forget")]
        shown = next(at for at, step in enumerate(sent) if step.body.get("spaceId") == "sp_partners")
        narrowed = next(at for at, step in enumerate(sent) if "condition" in step.body)
        assert narrowed < shown if holding else narrowed == shown + 1
        assert bodies(plan, "section:p")[0]["spaceId"] == (
            HOLDING if holding and "fr" not in parts[-1].key else parts[1].fields["space"]
        )


def test_a_condition_and_a_space_that_are_both_exchanged_go_in_one_request() -> None:
    former = (
        *HOME,
        section("p"),
        variant("p/en", "sp_api", default=True, condition=GATE),
        variant("p/fr", "sp_v1", condition=BETA),
    )
    latter = (
        *HOME,
        section("p"),
        variant("p/en", "sp_v1", default=True, condition=BETA),
        variant("p/fr", "sp_api", condition=GATE),
    )
    plan = planned(site_file(*latter), *stands(*former))
    assert bodies(plan, "variant:p/en") == [{"condition": BETA, "spaceId": "sp_v1"}]
    assert exposed(plan) == ("", ())


def test_what_only_shows_where_content_stands_exposes_nothing() -> None:
    former = (*HOME, variant("home/fr", "sp_api", hidden=True))
    latter = (
        HOME[0],
        variant("home/en", "sp_home", path="start"),
        variant("home/fr", "sp_api", hidden=False, default=True),
    )
    plan = planned(site_file(*latter), *stands(*former))
    assert [gate.scope for gate in plan.gates] == ["defaults"]


def test_an_approval_is_for_one_audience() -> None:
    file: SiteFile = site_file(HOME[0], variant("home/en", "sp_partners", default=True), *SECRET)
    live, lock = stands(*HOME, *SECRET, SITES["visitors"])
    before = planned(file, live, lock)
    after = planned(file, replace(live, site={**live.site, "visibility": "public"}), lock)
    assert [gate.refs for gate in before.gates] == [gate.refs for gate in after.gates]
    assert before.steps == after.steps
    assert before.digest != after.digest


def test_a_condition_in_the_reason_is_a_short_text() -> None:
    evil = "visitor.claims.x == '\x1b[2J\u202e" + "y" * 500 + "'"
    live, lock = stands(*HOME, section("p"), variant("p/en", "sp_partners", default=True, condition=GATE))
    thing = next(one for one in live.of("variant") if one.fields["space"] == "sp_partners")
    live = replace(live, items={**live.items, thing.id: replace(thing, fields={**thing.fields, "condition": evil})})
    (gate,) = planned(site_file(HOME[0], variant("home/en", "sp_partners", default=True)), live, lock).gates
    assert isinstance(gate, Gate)
    assert gate.why.isprintable()
    assert len(gate.why) < 300
