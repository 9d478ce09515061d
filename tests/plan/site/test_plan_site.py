"""A site's plan: whose change it was, what is made in which order, what is deleted, and what stays."""

from dataclasses import replace

import pytest

from syncd.layout.site.read.declared import SiteFile
from syncd.model.ref import ROOT, Ref
from syncd.plan.site.live_state import Capabilities, ExistingItem, IdOf, LockEntry, SiteLock
from syncd.plan.site.steps import Wave
from tests.plan.site.cases import (
    GATE,
    HOLDING,
    HOME,
    SITE,
    bodies,
    calls,
    carried_out,
    edited,
    empty,
    find_item,
    group,
    lines,
    planned,
    policy,
    redirect,
    section,
    single,
    site_file,
    variant,
)

API = (section("api"), variant("api/v1", "sp_v1"), variant("api/v2", "sp_api", default=True))


def with_title(file: SiteFile, title: str) -> SiteFile:
    item = file.items[Ref("section:api")]
    return replace(file, items={**file.items, item.ref: replace(item, fields={**item.fields, "title": title})})


def test_what_was_carried_out_needs_nothing_more() -> None:
    file = site_file(*HOME, *API, redirect("/old", section="api"), redirect("/page", page="start", **{"in": "api/v2"}))
    live, lock = carried_out(file)
    plan = planned(file, live, lock)
    assert not plan
    assert not plan.lines
    assert planned(file, live, SiteLock(SITE)).counts() == {"adopt": 7}


@pytest.mark.parametrize(
    ("base", "file_says", "platform_says", "on_drift", "outcome"),
    [
        ("One", "Two", "One", "report", ("update", "change")),
        ("One", "One", "Two", "report", ("report", "drift")),
        ("One", "One", "Two", "accept", ("report", "drift")),
        ("One", "One", "Two", "revert", ("update", "drift")),
        ("One", "Two", "Three", "revert", ("blocked", "conflict")),
        ("One", "Two", "Two", "report", ("adopt", None)),
    ],
)
def test_a_field_belongs_to_who_changed_it(
    base: str, file_says: str, platform_says: str, on_drift: str, outcome: tuple[str, str | None]
) -> None:
    file = with_title(site_file(*HOME, *API, policy=policy(on_drift={"structure": on_drift})), base)
    live, lock = carried_out(file)
    plan = planned(with_title(file, file_says), edited(live, "api", title=platform_says), lock)
    (line,) = plan.lines
    assert (line.action, line.fields[0].cause if line.fields else None) == outcome
    assert bool(calls(plan)) is (outcome[0] == "update")


def test_a_conflict_goes_as_a_person_prefers() -> None:
    file = site_file(*HOME, *API)
    live, lock = carried_out(file)
    file, live = with_title(file, "Ours"), edited(live, "api", title="Theirs")
    assert bodies(planned(file, live, lock, prefer="file"), "section:api") == [{"title": "Ours"}]
    assert lines(planned(file, live, lock, prefer="live"))["section:api"].action == "report"


def test_an_ignored_field_and_one_that_is_not_declared_are_left_alone() -> None:
    file = site_file(*HOME, *API)
    live, lock = carried_out(file)
    live = edited(live, "api", title="Theirs", description="By hand")
    assert not planned(replace(file, policy=policy(ignore=frozenset({"section:api.title"}))), live, lock).select_lines(
        "report"
    )
    assert "description" not in [one.name for one in lines(planned(file, live, lock))["section:api"].fields]


@pytest.mark.parametrize("name", ["source", "destination"])
def test_a_redirect_of_which_a_field_is_ignored_is_made_whole(name: str) -> None:
    live, lock = carried_out(site_file(*HOME))
    file = site_file(
        *HOME, redirect("/old", section="home"), policy=policy(ignore=frozenset({f"redirect:/old.{name}"}))
    )
    (body,) = bodies(planned(file, live, lock), "redirect:/old")
    assert set(body) == {"source", "destination"}
    live, lock = carried_out(file)
    assert not planned(file, live, lock).steps


def test_something_gated_is_made_on_the_holding_space_and_shows_its_content_last() -> None:
    items = (*HOME, section("p", condition=GATE), variant("p/en", "sp_partners", default=True))
    live, lock = carried_out(site_file(*HOME))
    plan = planned(site_file(*items, policy=policy(allow_new_spaces=True)), live, lock)
    assert bodies(plan, "section:p")[:2] == [
        {"spaceId": HOLDING, "title": "PP"},
        {"condition": GATE, "path": "p"},
    ]
    assert bodies(plan, "variant:p/en") == [{"path": "en"}, {"spaceId": "sp_partners"}]
    assert not plan.gates


def test_without_a_holding_space_something_gated_waits_for_a_person() -> None:
    file = site_file(*HOME, section("p", condition=GATE), variant("p/en", "sp_partners", default=True), holding="")
    live, lock = carried_out(site_file(*HOME))
    assert [(gate.scope, gate.refs, gate.approval) for gate in planned(file, live, lock).gates] == [
        ("exposure", ("variant:p/en",), True)
    ]


def test_new_content_is_not_put_where_somebody_took_the_condition_away() -> None:
    file = site_file(*HOME, section("p", condition=GATE), variant("p/en", "sp_partners", default=True))
    live, lock = carried_out(file)
    other = site_file(
        *HOME, section("p", condition=GATE), variant("p/en", "sp_api", default=True), variant("p/fr", "sp_v1")
    )
    plan = planned(other, edited(live, "p", condition=None), lock)
    assert {line.ref for line in plan.select_lines("blocked")} == {"variant:p/en", "variant:p/fr"}
    assert not calls(plan)


def test_a_condition_on_a_new_claim_comes_after_the_claim_and_the_claim_goes_after_the_condition() -> None:
    with_claim = single("visitors", claims__partner={"type": "boolean"})
    before = site_file(*HOME, *API, single("visitors"))
    after = site_file(*HOME, section("api", condition=GATE), *API[1:], with_claim)
    live, lock = carried_out(before)
    assert calls(planned(after, live, lock)) == [("schema.put", "visitors:"), ("section.update", "section:api")]
    live, lock = carried_out(after)
    back = site_file(*HOME, section("api", condition=None), *API[1:], single("visitors"))
    plan = planned(back, live, lock)
    assert [(step.wave, step.body) for step in plan.steps if step.call != "adopt"] == [
        (Wave.WIDEN, {"condition": None}),
        (Wave.SCHEMA_SHRINK, {"claims.partner": None}),
    ]
    assert [gate.scope for gate in plan.gates] == ["exposure"]


def test_a_claim_that_something_still_reads_does_not_go() -> None:
    file = site_file(*HOME, single("visitors", claims__partner={"type": "boolean"}))
    live, lock = carried_out(file)
    by_hand = ExistingItem("section", "sx", {"title": "By hand", "path": "x", "condition": GATE})
    live = replace(live, items={**live.items, "sx": by_hand}, orders={**live.orders, "": (*live.orders[""], "sx")})
    plan = planned(site_file(*HOME, single("visitors")), live, lock)
    assert lines(plan)["visitors:"].action == "blocked"
    assert not calls(plan)


def test_a_section_with_another_key_and_path_is_the_same_when_it_says_so() -> None:
    live, lock = carried_out(site_file(*HOME, *API))
    file = site_file(
        *HOME, section("dev", was=("api",)), variant("dev/v1", "sp_v1"), variant("dev/v2", "sp_api", default=True)
    )
    plan = planned(file, live, lock)
    assert bodies(plan, "section:dev") == [{"title": "DevDev"}, {"path": "dev"}]
    assert [step.ref for step in plan.steps if step.call == "forget"] == [
        "section:api",
        "variant:api/v1",
        "variant:api/v2",
    ]
    assert not plan.select_lines("delete", "create")


def test_two_that_could_be_meant_are_named_and_nothing_is_guessed() -> None:
    file = site_file(*HOME, group("more"))
    live, _ = carried_out(site_file(*HOME))
    twins = {id: ExistingItem("group", id, {"title": "More"}) for id in ("g1", "g2")}
    live = replace(live, items={**live.items, **twins}, orders={**live.orders, "": (*live.orders[""], "g1", "g2")})
    line = lines(planned(file, live, SiteLock(SITE)))["group:more"]
    assert line.action == "blocked"
    assert "g1 or g2" in line.note
    pinned = site_file(*HOME, replace(group("more"), id="g2"))
    assert lines(planned(pinned, live, SiteLock(SITE)))["group:more"].action == "adopt"


@pytest.mark.parametrize(("prune", "deleted"), [("never", False), ("owned", True), ("all", True)])
def test_only_what_is_syncds_is_deleted_unless_the_policy_says_all(prune: str, deleted: bool) -> None:
    file = site_file(*HOME, *API, policy=policy(prune={"structure": prune, "redirects": prune}))
    live, lock = carried_out(site_file(*HOME, *API, redirect("/mine", section="home")))
    by_hand = ExistingItem(
        "redirect", "rx", {"source": "/hand", "destination": {"kind": "external", "url": "https://x"}}
    )
    live = replace(live, items={**live.items, "rx": by_hand})
    plan = planned(file, live, lock)
    assert ("redirect.delete", "redirect:/mine") in calls(plan) if deleted else not calls(plan)
    assert (plan.unmanaged.get("redirects", 0) == 0) is (prune == "all")


def test_what_the_file_declares_absent_goes_whoever_made_it() -> None:
    live, lock = carried_out(site_file(*HOME))
    by_hand = ExistingItem(
        "redirect", "rx", {"source": "/Beta", "destination": {"kind": "external", "url": "https://x"}}
    )
    live = replace(live, items={**live.items, "rx": by_hand})
    (item,) = HOME[:1]
    plan = planned(site_file(*HOME, absent={"/beta": item.place}), live, lock)
    assert [(line.action, line.note) for line in plan.lines] == [("delete", "declared absent, made by hand")]


def test_a_section_that_holds_what_is_not_syncds_is_kept() -> None:
    live, lock = carried_out(site_file(*HOME, *API))
    api = find_item(live, "api")
    live = replace(
        live,
        items={**live.items, "vx": ExistingItem("variant", "vx", {"space": "sp_home", "path": "hand"}, api.id)},
        orders={**live.orders, api.id: (*live.orders[api.id], "vx")},
    )
    plan = planned(site_file(*HOME, policy=policy(prune={"structure": "owned"})), live, lock)
    assert ("section.delete", "section:api") not in calls(plan)
    assert "which would go with it" in lines(plan, "report")["section:api"].note


def test_the_default_goes_only_when_another_takes_its_place() -> None:
    live, lock = carried_out(site_file(*HOME, *API))
    owned = policy(prune={"structure": "owned"})
    (_, first, second) = API
    kept = planned(site_file(section("api"), first, second, policy=owned), live, lock)
    assert "section:home" not in lines(kept, "delete")
    gone = planned(site_file(section("api", default=True), first, second, policy=owned), live, lock)
    assert "section:home" in lines(gone, "delete")
    assert {gate.scope for gate in gone.gates} == {"defaults", "structure.delete"}


def test_the_path_of_something_doomed_is_free_for_another_without_deleting_early() -> None:
    live, lock = carried_out(site_file(*HOME, *API))
    file = site_file(
        *HOME, section("new", path="API"), variant("new/en", "sp_partners", default=True),
        policy=policy(prune={"structure": "owned"}),
    )  # fmt: skip
    plan = planned(file, live, replace(lock, items={**lock.items}))
    paths = [(step.ref, step.body["path"]) for step in plan.steps if "path" in step.body]
    assert lines(plan)["section:new"].action in ("update", "create")
    assert len({path.casefold() for _, path in paths}) == len(paths)


def test_redirects_lead_to_what_this_plan_makes_and_wait_when_it_cannot() -> None:
    file = site_file(*HOME, *API, redirect("/a", section="api"), redirect("/b", page="nowhere", **{"in": "api/v2"}))
    plan = planned(file, empty(), SiteLock(SITE))
    made = next(step for step in plan.steps if step.call == "redirect.create")
    assert made.body["destination"] == {"kind": "site-section", "siteSectionId": IdOf(Ref("section:api"))}
    assert lines(plan)["redirect:/b"].note == 'no page "nowhere" in variant "api/v2"'
    document = replace(empty(), abilities=Capabilities())
    other = planned(site_file(*HOME, redirect("/c", url="https://x")), document, SiteLock(SITE))
    assert "were not seen on this site" in lines(other)["redirect:/c"].note


def test_a_redirect_stays_with_its_page_when_the_page_gets_another_path() -> None:
    file = site_file(*HOME, redirect("/p", page="start", **{"in": "home/en"}))
    live, lock = carried_out(file)
    moved = replace(live, pages={**live.pages, "sp_home": {"begin": "sp_home_p1", "start": "sp_home_p2"}})
    plan = planned(file, moved, lock)
    assert not plan
    assert "has another path now" in plan.warnings[0]
    gone = replace(moved, page_ids={**live.page_ids, "sp_home": frozenset({"sp_home_p2"})})
    assert bodies(planned(file, gone, lock), "redirect:/p")[0]["destination"]["pageId"] == "sp_home_p2"


def test_somebodys_order_on_the_platform_is_theirs_and_something_new_finds_its_place_in_it() -> None:
    file = site_file(*HOME, *API, section("c"), variant("c/en", "sp_home", default=True))
    live, lock = carried_out(file)
    home, api, last = live.orders[""]
    live = replace(live, orders={**live.orders, "": (last, home, api)})
    plan = planned(file, live, lock)
    assert not plan
    assert [one.name for one in plan.list_drift()[0].fields] == ["order"]
    more = site_file(
        *HOME, section("b"), variant("b/en", "sp_home", default=True), *API, *list(file.items.values())[-2:]
    )
    assert [step.body for step in planned(more, live, lock).steps if step.call == "section.move"] == [
        {"after": IdOf(Ref("section:home"))}
    ]
    reverting = replace(file, policy=policy(on_drift={"structure": "revert"}))
    assert [step.ref for step in planned(reverting, live, lock).steps if step.call == "section.move"] == ["section:c"]


def test_sort_moves_groups_and_the_document_alone_says_what_a_person_can_do() -> None:
    live, lock = carried_out(site_file(*HOME, group("g1"), group("g2")))
    file = site_file(group("g2"), *HOME, group("g1"))
    blocked = planned(file, live, lock)
    assert "drag it in the site's structure" in blocked.select_lines("blocked")[0].manual
    able = replace(live, abilities=replace(live.abilities, sort=True))
    first = next(step for step in planned(file, able, lock).steps if step.wave is Wave.ORDER and step.call != "adopt")
    assert (first.call, first.ref, first.body) == (
        "structure.sort",
        Ref("group:g1"),
        {"after": IdOf(Ref("section:home"))},
    )


def test_a_group_elsewhere_is_made_anew_only_when_that_is_allowed() -> None:
    inner = (section("home", Ref("group:inner"), default=True), HOME[1])
    live, lock = carried_out(site_file(group("outer"), group("inner"), *inner))
    file = site_file(group("outer"), group("inner", Ref("group:outer")), *inner)
    assert planned(file, live, lock).select_lines("blocked")
    plan = planned(file, live, lock, allow_replace={"group"})
    assert [call for call, _ in calls(plan) if call.startswith("group.")] == [
        "group.create",
        "group.add",
        "group.delete",
    ]
    assert not plan.select_lines("blocked")
    able = replace(live, abilities=replace(live.abilities, reparent=True))
    assert bodies(planned(file, able, lock), "group:inner") == [{"parentSectionGroupId": find_item(live, "Outer").id}]


def test_a_group_does_not_move_into_one_that_somebody_dragged_into_it() -> None:
    inner = (section("home", Ref("group:b"), default=True), HOME[1])
    live, lock = carried_out(site_file(group("a"), group("b"), *inner))
    live = replace(live, abilities=replace(live.abilities, reparent=True))
    a, b = find_item(live, "A"), find_item(live, "B")
    orders = {**live.orders, ROOT: (a.id,), a.id: (b.id,)}
    dragged = replace(live, items={**live.items, b.id: replace(b, parent=a.id)}, orders=orders)
    file = site_file(group("b"), group("a", Ref("group:b")), *inner)
    plan = planned(file, dragged, lock)
    assert not [body for body in bodies(plan, "group:a") if "parentSectionGroupId" in body]
    assert "is within it and stays there" in plan.select_lines("blocked")[0].note
    reverted = planned(replace(file, policy=policy(on_drift={"structure": "revert"})), dragged, lock)
    moved = [step.ref for step in reverted.steps if "parentSectionGroupId" in step.body]
    assert moved == ["group:b", "group:a"], "the one that it moves into has left it before"


def test_a_plan_for_one_target_makes_what_it_needs_and_leaves_the_rest() -> None:
    file = site_file(*HOME, *API, redirect("/a", section="api"), redirect("/b", section="home"))
    plan = planned(file, empty(), SiteLock(SITE), target={Ref("variant:api/v1")})
    assert {step.ref for step in plan.steps} == {"section:api", "variant:api/v1"}
    only = planned(file, *carried_out(site_file(*HOME)), areas={"redirects"})
    assert [ref for _, ref in calls(only)] == ["redirect:/b"]
    assert lines(only)["redirect:/a"].action == "blocked"


def test_the_site_narrows_first_and_widens_last_with_a_persons_word() -> None:
    file = site_file(*HOME, single("site", visibility="visitor-auth", title="New"))
    plan = planned(file, *carried_out(site_file(*HOME)))
    assert [(step.wave, step.body) for step in plan.steps if step.call == "site.update"] == [
        (Wave.NARROW, {"visibility": "visitor-auth"}),
        (Wave.WIDEN, {"title": "New"}),
    ]
    assert not plan.gates
    live, lock = carried_out(file)
    wider = site_file(*HOME, single("site", visibility="public"))
    assert [gate.scope for gate in planned(wider, live, lock).gates] == ["exposure"]


def test_an_override_is_kept_when_the_site_changes_below_it_and_reset_when_it_says_so() -> None:
    bold = single("customization", styling__theme="bold")
    own = single("override", "home/en", styling__theme="clean")
    live, lock = carried_out(site_file(*HOME))
    plan = planned(site_file(*HOME, bold, own), live, lock)
    assert calls(plan) == [("override.patch", "override:home/en"), ("customization.put", "customization:")]
    live, lock = carried_out(site_file(*HOME, bold, own))
    assert live.overrides[find_item(live, "en").id]["styling"]["theme"] == "clean"
    reset = site_file(*HOME, bold, single("override", "home/en", reset=True))
    # The simulator reads overrides from what it was given, so the effective settings are told here.
    assert calls(planned(reset, live, lock)) == [("override.delete", "override:home/en")]


def test_an_interrupted_creation_is_recognised_and_finished() -> None:
    file = site_file(*HOME, section("p", condition=GATE), variant("p/en", "sp_partners", default=True))
    live, lock = carried_out(site_file(*HOME))
    half: dict[str, ExistingItem] = {
        "sx": ExistingItem("section", "sx", {"title": "PP", "path": "pp-1", "condition": None}),
        "vx": ExistingItem("variant", "vx", {"space": HOLDING, "path": "holding", "default": True}, "sx"),
    }
    live = replace(
        live, items={**live.items, **half}, orders={**live.orders, "": (*live.orders[""], "sx"), "sx": ("vx",)}
    )
    plan = planned(file, live, lock)
    assert not plan.select_lines("create")
    assert bodies(plan, "section:p")[0] == {"condition": GATE}
    assert {step.by for step in plan.steps if step.ref == "section:p"} == {"created"}


def test_a_lock_of_things_that_are_gone_is_tidied_without_a_request() -> None:
    file = site_file(*HOME)
    live, lock = carried_out(file)
    lock = replace(lock, items={**lock.items, Ref("redirect:/gone"): LockEntry("rx", "created", {})})
    plan = planned(file, live, lock)
    assert [(step.call, step.ref) for step in plan.steps] == [("forget", "redirect:/gone")]


def test_areas_that_the_file_does_not_speak_of_are_never_touched() -> None:
    live, lock = carried_out(site_file(*HOME, redirect("/a", section="home")))
    file = site_file(*HOME, managed=frozenset({"structure"}), policy=policy(prune={"redirects": "all"}))
    plan = planned(file, live, lock)
    assert not plan
    assert set(plan.snapshot) == {"structure"}
