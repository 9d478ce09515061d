"""What a plan may not do unasked, and what it says about it: gates with their flags, lines, Markdown and JSON."""

import json
from dataclasses import replace

import pytest

from syncd.layout.site.read.declared import Limits, SiteFile
from syncd.layout.site.read.file import read_site_file
from syncd.model.ref import Ref
from syncd.plan.site.live_state import LiveSite, SiteLock
from syncd.plan.site.render.document import render_drift_document, render_plan_document
from syncd.plan.site.render.text import render_drift_text, render_plan_markdown, render_plan_text
from syncd.plan.site.rollback import build_inverse, list_concerned_refs, record_former_state
from syncd.plan.site.steps import FieldChange, Gate, Line, SitePlan
from tests.plan.site.cases import (
    HOME,
    carried_out,
    edited,
    lines,
    planned,
    policy,
    redirect,
    section,
    site_file,
    variant,
)
from tests.plan.site.simulator import Simulator

API = (section("api"), variant("api/en", "sp_api", default=True))


def many(count: int) -> tuple[SiteFile, LiveSite, SiteLock]:
    file = site_file(*HOME, *(redirect(f"/{number}", section="home") for number in range(count)))
    return file, *carried_out(file)


def without(file: SiteFile, count: int) -> SiteFile:
    gone = {f"redirect:/{number}" for number in range(count)}
    return replace(file, items={ref: item for ref, item in file.items.items() if ref not in gone})


@pytest.mark.parametrize(
    ("owned", "deleted", "limits", "why"),
    [
        (100, 10, None, ""),
        (100, 11, None, "11 of the 100 redirects that syncd owns would be deleted; the limit is 10"),
        (40, 9, None, "9 of the 40 redirects that syncd owns would be deleted; the limit is 20 %, and this is 22.5 %"),
        (9, 5, None, ""),
        (40, 12, Limits(max_delete=20), ""),
        (
            40,
            12,
            Limits(max_delete=20, max_delete_pct=10),
            "12 of the 40 redirects that syncd owns would be deleted; the limit is 10 %, and this is 30.0 %",
        ),
    ],
)
def test_too_many_redirects_do_not_go_unasked(owned: int, deleted: int, limits: Limits | None, why: str) -> None:
    file, live, lock = many(owned)
    given = {} if limits is None else {"redirects": limits}
    plan = planned(replace(without(file, deleted), policy=policy(limits=given)), live, lock)
    assert [(gate.why, gate.flag) for gate in plan.gates] == (
        [(why, f"--force redirects.delete={deleted}")] if why else []
    )


def test_too_many_redirects_are_not_led_elsewhere_unasked() -> None:
    file, live, lock = many(20)
    moved = {Ref(f"redirect:/{number}"): redirect(f"/{number}", variant="home/en") for number in range(7)}
    plan = planned(replace(file, items={**file.items, **moved}), live, lock)
    assert [gate.flag for gate in plan.gates] == ["--force redirects.update=7"]


def test_no_part_of_the_structure_goes_unasked() -> None:
    live, lock = carried_out(site_file(*HOME, *API))
    plan = planned(site_file(*HOME, policy=policy(prune={"structure": "owned"})), live, lock)
    assert [(gate.flag, gate.refs) for gate in plan.gates] == [
        ("--force structure.delete=2", ("section:api", "variant:api/en"))
    ]


def test_a_file_that_became_empty_empties_nothing_unasked() -> None:
    file, live, lock = many(3)
    none = without(file, 3)
    assert [gate.scope for gate in planned(none, live, lock).gates] == ["redirects.empty"]
    assert not planned(replace(none, policy=policy(allow_empty=True)), live, lock).gates


def test_limits_and_protection_that_were_loosened_with_the_change_wait_for_a_person() -> None:
    file, live, lock = many(30)
    loose = replace(without(file, 11), policy=policy(limits={"redirects": Limits(max_delete=50)}))
    assert [gate.scope for gate in planned(loose, live, lock, previous=file).gates] == ["redirects.limits"]
    assert not planned(loose, live, lock, previous=replace(loose, items=file.items)).gates
    guarded = replace(file.items[Ref("redirect:/0")], protect=True)
    former = replace(file, items={**file.items, guarded.ref: guarded})
    assert [gate.scope for gate in planned(without(file, 1), live, lock, previous=former).gates] == ["protect"]


def test_a_path_that_leads_nowhere_afterwards_is_told_or_refused() -> None:
    file = site_file(*HOME, *API)
    live, lock = carried_out(file)
    renamed = site_file(*HOME, section("api", path="dev"), API[1])
    assert "/api leads nowhere after this" in planned(renamed, live, lock).warnings[0]
    bridged = site_file(*renamed.items.values(), redirect("/API", section="api"))
    assert not planned(bridged, live, lock).warnings
    strict = replace(renamed, policy=policy(require_bridge=True))
    assert lines(planned(strict, live, lock))["section:api"].manual == "declare a redirect from /api"


def test_a_plan_is_told_with_signs_words_places_and_the_next_command() -> None:
    former = site_file(*HOME, *API, redirect("/old", section="home"), redirect("/gone", section="api"))
    live, lock = carried_out(former)
    file = site_file(
        *HOME, section("api", path="dev"), API[1], redirect("/old", section="api"), redirect("/api", section="api")
    )
    plan = planned(file, edited(live, "home", title="Welcome"), lock)
    text = "\n".join(f"{style:<8}{line}".rstrip() for style, line in render_plan_text(plan))
    assert (
        text
        == f"""\
title   structure
update    ~ change  section api                       path  api -> dev  [site.yaml:3]
plain
title   redirects
update    ~ change  redirect /old                     to  section home -> section api  [site.yaml:5]
create    + add     redirect /api                     -> section api  [site.yaml:6]
delete    - delete  redirect /gone                    -> section api  (no longer declared)
plain
title   left as it is
report    ? leave   section home                      title  is Welcome; the file says HomeHome  [site.yaml:1]
report                                                changed outside syncd, left as it is: on_drift is report
plain
plain   Plan {plan.digest}: 1 to add, 2 to change, 1 to delete, 1 left as it is.
plain   At most 4 requests that change the site.
hint    Apply with: syncd site apply"""
    )


def test_drift_is_told_alone() -> None:
    file = site_file(*HOME)
    live, lock = carried_out(file)
    plan = planned(file, edited(live, "home", title="Wel\x1bcome"), lock)
    assert render_drift_text(plan)[0] == (
        "report",
        "? section home title                            is Wel\\u001bcome; the file says HomeHome  [site.yaml:1]",
    )
    assert render_drift_document(plan)["drift"] == [
        {
            "ref": "section:home",
            "path": "title",
            "before": "Wel\x1bcome",
            "after": "HomeHome",
            "class": "drift",
            "source": {"file": "site.yaml", "line": 1, "column": 5},
        }
    ]
    assert render_drift_text(planned(file, live, lock)) == [("plain", "No drift: nothing was changed outside syncd.")]


def test_a_gate_names_its_flag_and_the_first_of_what_it_holds() -> None:
    gate = Gate("redirects.delete", tuple(Ref(f"redirect:/{number}") for number in range(7)), "7 deletes")
    lines = [text for style, text in render_plan_text(SitePlan("s", gates=(gate,))) if style in ("gate", "hint")]
    assert lines[:3] == [
        "held: 7 deletes",
        "  redirect /0, redirect /1, redirect /2, redirect /3, redirect /4, and 2 more",
        "  if this is intended: --force redirects.delete=7",
    ]


def test_what_a_platform_says_is_text_in_markdown_and_in_json() -> None:
    evil = "a|b`c\n@team <img> [x](y) *z*\u202e"
    line = Line("update", Ref("section:home"), (FieldChange("title", evil, "ok"),), evil, "a:b.yaml:3:4")
    plan = SitePlan("s", (line,), warnings=(evil,))
    text = render_plan_markdown(plan)
    assert "\n@" not in text
    assert "<img>" not in text.replace("\\<", "<\\")
    assert all(row.count(" | ") == 3 for row in text.splitlines() if "section home" in row)
    document = render_plan_document(plan)
    assert json.loads(json.dumps(document)) == document
    assert document["operations"][0]["source"] == {"file": "a:b.yaml", "line": 3, "column": 4}


def test_values_that_differ_late_are_shown_where_they_differ() -> None:
    long = "x" * 300
    (_, (_, text), *_) = render_plan_text(
        SitePlan("s", (Line("update", Ref("site:"), (FieldChange("title", f"{long}a", f"{long}b"),)),))
    )
    assert "a -> …" in text
    assert text.endswith("b")
    assert len(text) < 250


def test_ten_thousand_moves_of_nothing_say_nothing() -> None:
    file, live, lock = many(50)
    assert [text for _, text in render_plan_text(planned(file, live, lock))] == [
        "Nothing to do: the site is as the file declares."
    ]


def test_limits_given_in_part_keep_the_other_numbers_and_null_is_no_limit() -> None:
    head = "version: 1\nsite: { org: o, id: s }\n"
    limits = "{ redirects: { max_delete: 3, max_update_pct: null }, structure: { max_delete: null }, visitors: {} }"
    file, findings = read_site_file(f"{head}policy: {{ limits: {limits} }}\n", path="site.yaml", others={})
    assert file is not None
    assert findings == ()
    assert file.policy.limits == {"redirects": Limits(3, 20, None), "structure": Limits(), "visitors": Limits()}


def test_the_way_back_names_no_place_of_what_the_file_does_not_say() -> None:
    whole, less = site_file(*HOME, redirect("/a", section="home")), site_file(*HOME)
    live, lock = carried_out(whole)
    plan = planned(less, live, lock)
    kept = record_former_state("site.yaml", plan, live, lock)
    simulator = Simulator(live, lock, less)
    simulator.run_all(plan)
    back = planned(
        build_inverse(less, kept, simulator.lock), simulator.live(), simulator.lock, target=list_concerned_refs(kept)
    )
    assert [(line.action, line.ref, line.where) for line in back.lines] == [("create", "redirect:/a", "")]
