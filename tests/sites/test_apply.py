"""Reading and writing a site, one promise at a time: requests, lost answers, refusals, and what others do meanwhile."""

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

import httpx
import pytest

from syncd.api.client import Client
from syncd.api.options import ClientOptions
from syncd.errors import Rejected, Stopped, Unreachable
from syncd.layout.site.read.declared import Item, Place, SiteFile, SitePolicy
from syncd.model.redirect import make_source_key
from syncd.model.ref import ROOT, Area, Ref
from syncd.model.site import SiteSectionUpdate, SiteUpdate
from syncd.model.space import SpaceCreate
from syncd.plan.site.call import Call
from syncd.plan.site.compose import plan_site
from syncd.plan.site.live_state import LiveSite, SiteLock
from syncd.plan.site.steps import SitePlan, Step, Wave
from syncd.platform.schema import site_tables
from syncd.platform.settings import PlatformSettings
from syncd.sync.site.apply import ApplyResult, apply_plan
from syncd.sync.site.backup import list_backups, save_backup
from syncd.sync.site.calls import CallSender, IdTable
from syncd.sync.site.lock import LockWriter
from syncd.sync.site.read.parts import SiteReader
from syncd.sync.site.read.site import read_live
from tests.sampling import sample_cases
from tests.sites.agreement import differences
from tests.sites.drawn import Drawn, Section, draw, file_of
from tests.sites.stage import KINDS, WRITES, Stage, Wire, create_stage

LONG = pytest.param(False, marks=pytest.mark.long)
Meddle = Callable[[httpx.Request], httpx.Response | None]
Lose = Callable[[httpx.Request], bool]


class Meddling(Wire):
    """A network in which some requests are answered by somebody else, and some answers are lost once."""

    def __init__(
        self, meddle: Meddle = lambda _: None, lose: Callable[[httpx.Request], bool] = lambda _: False
    ) -> None:
        super().__init__()
        self._meddle, self._lose = meddle, lose
        self._lost: set[tuple[str, str, bytes]] = set()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if (answer := self._meddle(request)) is not None:
            self.sent.append(f"{request.method} {request.url.path} {request.content.decode()}")
            return answer
        answer = super().handle_request(request)
        key = request.method, request.url.path, request.content
        if self._lose(request) and key not in self._lost:
            self._lost.add(key)
            raise httpx.ReadError("cut")
        return answer


@pytest.fixture(scope="module", params=[True, LONG], ids=["sorting", "documented"])
def platform(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with create_stage(tmp_path_factory.mktemp("site"), PlatformSettings(site_write=request.param)) as stage:
        yield stage


@pytest.fixture
def stage(platform: Stage) -> Stage:
    return platform.emptied()


def site_of(stage: Stage, *, redirects: int = 0) -> tuple[Drawn, SiteFile]:
    """A site of two sections, the second one gated, and some redirects."""
    home, more = stage.spaces[:2]
    drawn = Drawn(stage.spaces[:2])
    for key, space, gate in (("home", home, None), ("more", more, "visitor.claims.partner == true")):
        fields = {"title": key.title(), "path": key, "default": key == "home", "condition": gate}
        variant = {"key": "en", "space": space, "path": "en", "default": True}
        drawn.sections[key] = Section(key, fields, [variant])
        drawn.places[ROOT].append(key)
    drawn.redirects = {f"/r{number}": {"section": "home"} for number in range(redirects)}
    return drawn, declared(stage, drawn)


def declared(stage: Stage, drawn: Drawn) -> SiteFile:
    return file_of(drawn, stage.organization, stage.site, stage.holding)


def only_redirects(stage: Stage, count: int) -> SiteFile:
    items = [
        Item("redirect", f"/old/{n}", {"source": f"/old/{n}", "to": {"url": "https://example.com"}}, Place("s", n + 1))
        for n in range(count)
    ]
    managed: frozenset[Area] = frozenset({"redirects"})
    path = f"{stage.site}/site.yaml"
    return SiteFile(path, stage.organization, stage.site, {item.ref: item for item in items}, managed=managed)


def planned(
    stage: Stage, file: SiteFile, wire: httpx.BaseTransport | None = None
) -> tuple[SitePlan, LiveSite, SiteLock]:
    with stage.workspace(wire) as workspace:
        lock = LockWriter(workspace, file).load()
        live = read_live(workspace, file, lock, kinds=KINDS)
        return plan_site(file, live, lock), live, lock


def applied(stage: Stage, file: SiteFile, plan: SitePlan, live: LiveSite, **options: Any) -> ApplyResult:
    with stage.workspace(options.pop("wire", None)) as workspace:
        return apply_plan(workspace, file, plan, live, LockWriter(workspace, file), **options)


def requests(wire: Wire, *methods: str) -> list[str]:
    return [line for line in wire.sent if line.split()[0] in methods]


def plant(stage: Stage, count: int) -> None:
    """Put redirects right into the platform's storage: asking for each would take most of the test."""
    rows = [
        {
            "id": f"{stage.site}{number}",
            "site": stage.site,
            "source": f"/old/{number}",
            "source_key": f"/old/{number}",
            "destination": {"kind": "external", "url": "https://example.com"},
            "created_at": "2026-05-01T00:00:00Z",
        }
        for number in range(count)
    ]
    with stage.storage.write() as connection:
        connection.execute(site_tables.redirects.insert(), rows)


@pytest.mark.parametrize("count", [1100, pytest.param(10_000, marks=pytest.mark.long)])
def test_no_change_costs_twelve_requests_and_one_for_a_thousand_redirects(stage: Stage, count: int) -> None:
    file, first, again = only_redirects(stage, count), Wire(), Wire()
    plant(stage, count)
    assert stage.apply(file, first).exit_code == 0
    assert not requests(first, *WRITES)
    plan, live, lock = planned(stage, file, again)
    assert not plan
    assert len(live.of("redirect")) == len(lock.items) == count
    assert len(again.sent) <= 12 + -(-count // 1000)


def test_many_redirects_go_together_where_the_platform_takes_that(stage: Stage) -> None:
    file, wire = only_redirects(stage, 501 if stage.sorts else 20), Wire()
    assert stage.apply(file, wire).exit_code == 0
    assert (len(requests(wire, "PUT")), len(requests(wire, "POST"))) == ((2, 0) if stage.sorts else (1, 20))
    del wire.sent[:]
    assert stage.apply(replace(only_redirects(stage, 0), policy=SitePolicy(allow_empty=True)), wire).exit_code == 0
    assert len(requests(wire, "PUT")) == (2 if stage.sorts else 1)


def test_a_list_that_fails_on_its_second_page_is_never_a_short_one(stage: Stage) -> None:
    file = only_redirects(stage, 1)
    first = {"items": [{"object": "site-redirect", "id": "a", "source": "/a", "destination": {"kind": "external"}}]}

    def meddle(request: httpx.Request) -> httpx.Response | None:
        if not request.url.path.endswith("/redirects"):
            return None
        if "page" in request.url.params:
            return httpx.Response(500, json={"error": {"code": 500, "message": "no"}})
        return httpx.Response(200, json=first | {"next": {"page": "2"}})

    with pytest.raises(Unreachable):
        planned(stage, file, Meddling(meddle))


def test_only_what_the_file_speaks_of_is_read(stage: Stage) -> None:
    wire = Wire()
    file = replace(only_redirects(stage, 0), managed=frozenset({"settings"}))
    planned(stage, file, wire)
    assert wire.sent == [f"GET /v1/orgs/{stage.organization}/sites/{stage.site} "]


def test_spaces_that_cannot_be_used_are_told_apart(stage: Stage) -> None:
    with Client(stage.url, stage.token) as client:
        gone = client.spaces.create(stage.organization, SpaceCreate()).id
        client.spaces.delete(gone)
    _, file = site_of(stage)
    file = replace(file, spaces={**file.spaces, "gone": gone, "never": "never"})
    live = planned(stage, file)[1]
    assert live.spaces[stage.spaces[0]] == ""
    assert live.spaces[gone].startswith("was deleted on ")
    assert live.spaces["never"] == "is not there, or this token may not see it"


@pytest.mark.parametrize("seed", sample_cases(range(40), kept=(1,)))
def test_an_answer_that_is_lost_makes_nothing_twice(stage: Stage, seed: int) -> None:
    drawn = draw(Random(seed), stage.spaces)
    file = declared(stage, drawn)
    done = stage.apply(file, Meddling(lose=lambda request: request.method in WRITES))
    assert (done.exit_code, done.failed) == (0, ())
    plan, live, lock = planned(stage, file)
    assert not plan.steps
    assert not list(differences(file, live, lock))


def test_a_refusal_stops_what_depends_on_it_and_every_deletion_but_nothing_else(stage: Stage) -> None:
    drawn, file = site_of(stage, redirects=2)
    stage.apply(file)
    del drawn.redirects["/r0"]
    drawn.redirects["/new"] = {"section": "home"}
    third = {"key": "en", "space": stage.spaces[2], "path": "en", "default": True}
    gate = "visitor.claims.partner == true"
    fields = {"title": "Third", "path": "third", "default": False, "condition": gate}
    drawn.sections["third"] = Section("third", fields, [third])
    drawn.places[ROOT].append("third")
    file = declared(stage, drawn)

    def meddle(request: httpx.Request) -> httpx.Response | None:
        if request.method == "PATCH" and "condition" in json.loads(request.content):
            return httpx.Response(400, json={"error": {"code": 400, "message": "no gates today"}})
        return None

    done = stage.apply(file, Meddling(meddle))
    assert done.exit_code == 4
    assert ["no gates today" in failed.why for failed in done.failed] == [True]
    assert {step.call for step in done.skipped} >= {"redirect.delete"}
    live = planned(stage, file)[1]
    assert {one.fields["source"] for one in live.of("redirect")} == {"/r0", "/r1", "/new"}
    assert stage.spaces[2] not in {one.fields["space"] for one in live.of("variant")}
    assert stage.apply(file).exit_code == 0
    live = planned(stage, file)[1]
    assert {one.fields["source"] for one in live.of("redirect")} == {"/r1", "/new"}


def test_nothing_is_put_behind_conditions_while_adaptive_content_cannot_be_switched_on(stage: Stage) -> None:
    _, file = site_of(stage)
    site = Item("site", "", {"adaptive_content": True}, Place("s"))
    file = replace(file, items={**file.items, site.ref: site}, managed=file.managed | {"settings"})

    def meddle(request: httpx.Request) -> httpx.Response | None:
        if request.method == "PATCH" and "adaptiveContent" in json.loads(request.content):
            return httpx.Response(400, json={"error": {"code": 400, "message": "not in your plan"}})
        return None

    done = stage.apply(file, Meddling(meddle))
    assert done.exit_code == 4
    assert [failed.step.ref for failed in done.failed] == ["site:"]
    assert stage.spaces[1] not in {one.fields["space"] for one in planned(stage, file)[1].of("variant")}
    assert stage.apply(file).exit_code == 0


def test_an_area_that_somebody_changed_since_the_plan_is_left_alone(stage: Stage) -> None:
    drawn, file = site_of(stage)
    stage.apply(file)
    drawn.sections["more"].fields["title"] = "Mine"
    drawn.redirects["/new"] = {"section": "home"}
    file = declared(stage, drawn)
    plan, live, lock = planned(stage, file)
    with Client(stage.url, stage.token) as client:
        section = lock.items[Ref("section:more")].id
        client.sections.update(stage.organization, stage.site, section, SiteSectionUpdate(title="Theirs"))
    done = applied(stage, file, plan, live)
    assert (done.exit_code, done.stale) == (6, ("structure",))
    live = planned(stage, file)[1]
    assert live.items[section].fields["title"] == "Theirs"
    assert [one.fields["source"] for one in live.of("redirect")] == ["/new"]


def test_what_nobody_declared_may_change_without_any_harm(stage: Stage) -> None:
    _, file = site_of(stage, redirects=1)
    plan, live, _ = planned(stage, file)
    with Client(stage.url, stage.token) as client:
        client.sites.update(stage.organization, stage.site, SiteUpdate(agents_context="included"))
    assert applied(stage, file, plan, live).exit_code == 0


def test_a_stop_between_two_steps_leaves_a_lock_that_says_what_was_done(stage: Stage) -> None:
    _, file = site_of(stage)
    plan, live, _ = planned(stage, file)
    questions = iter(range(100))
    wire = Wire()

    def cancelled() -> bool:
        return len(requests(wire, *WRITES)) >= 4 and next(questions) >= 0

    with stage.workspace() as workspace:
        client = Client(stage.url, stage.token, ClientOptions(transport=wire, cancelled=cancelled))
        with client, pytest.raises(Stopped):
            apply_plan(replace(workspace, client=client), file, plan, live, LockWriter(workspace, file))
    lock = planned(stage, file)[2]
    assert lock.serial == 1
    assert lock.items
    assert stage.apply(file).exit_code == 0


@pytest.mark.long
def test_redirects_that_are_under_way_when_a_run_is_stopped_are_in_the_lock(stage: Stage) -> None:
    file = only_redirects(stage, 12)
    plan, live, _ = planned(stage, file)

    def meddle(request: httpx.Request) -> httpx.Response | None:
        return httpx.Response(405, json={"error": {"code": 405, "message": "no"}}) if request.method == "PUT" else None

    wire = Meddling(meddle)
    with stage.workspace() as workspace:
        client = Client(
            stage.url, stage.token, ClientOptions(transport=wire, cancelled=lambda: len(requests(wire, "POST")) >= 3)
        )
        with client, pytest.raises(Stopped) as stopped:
            apply_plan(replace(workspace, client=client), file, plan, live, LockWriter(workspace, file))
    _, live, lock = planned(stage, file)
    assert 3 <= len(live.of("redirect")) < 12
    assert {entry.id for entry in lock.items.values()} == {one.id for one in live.of("redirect")}
    assert stopped.value.hint.startswith(f"{len(lock.items)} of 12 steps are done and written down; the next run does ")


def test_before_anything_is_written_the_caller_may_keep_what_is_there(stage: Stage) -> None:
    _, file = site_of(stage)
    plan, live, _ = planned(stage, file)
    wire, kept = Wire(), []

    def keep(which: SitePlan, before: LiveSite, _: Collection[Ref]) -> None:
        assert not requests(wire, *WRITES)
        kept.append((which, before))

    assert applied(stage, file, plan, live, wire=wire, keep_before=keep).exit_code == 0
    assert kept == [(plan, live)]


def test_of_a_plan_that_got_through_in_part_only_that_is_kept(stage: Stage) -> None:
    file = only_redirects(stage, 3)
    plan, live, lock = planned(stage, file)
    refusals = {"/old/1": (400, "no"), "/old/2": (500, "boom")}

    def meddle(request: httpx.Request) -> httpx.Response | None:
        if request.method == "PUT":
            return httpx.Response(404, json={})  # it takes one redirect after the other
        source = json.loads(request.content).get("source") if request.method == "POST" else None
        if source not in refusals:
            return None
        status, message = refusals[source]
        return httpx.Response(status, json={"error": {"code": status, "message": message}})

    with stage.workspace(Meddling(meddle)) as workspace:
        keep = partial(save_backup, workspace, file.path, lock=lock)
        done = apply_plan(workspace, file, plan, live, LockWriter(workspace, file), keep_before=keep)
        ((_, kept),) = list_backups(workspace, stage.site)
        assert (len(done.steps), len(done.failed)) == (1, 2)
        assert kept.actions == {"redirect:/old/0": "create", "redirect:/old/2": "unanswered"}
        assert kept.things.keys() == kept.actions.keys()
        refusals |= dict.fromkeys(("/old/0", "/old/1", "/old/2"), (400, "no"))
        apply_plan(workspace, file, plan, live, LockWriter(workspace, file), keep_before=keep)
        assert list_backups(workspace, stage.site) == [], "nothing was changed"


def test_of_a_plan_that_an_outage_ended_only_what_got_through_is_kept(stage: Stage) -> None:
    file = site_of(stage)[1]
    plan, live, lock = planned(stage, file)
    made: list[httpx.Request] = []

    def meddle(request: httpx.Request) -> httpx.Response | None:
        if request.method == "POST" and request.url.path.endswith("/sections"):
            made.append(request)
        return httpx.Response(503, json={}) if len(made) > 1 else None

    with stage.workspace(Meddling(meddle)) as workspace:
        keep = partial(save_backup, workspace, file.path, lock=lock)
        with pytest.raises(Unreachable):
            apply_plan(workspace, file, plan, live, LockWriter(workspace, file), keep_before=keep)
        ((_, kept),) = list_backups(workspace, stage.site)
    assert kept.actions == {"visitors:": "update", "section:home": "create", "section:more": "unanswered"}


def test_a_source_that_is_written_in_another_way_is_the_same_redirect(stage: Stage) -> None:
    ways = ("/%C3%89cole", "/%c3%a9cole", "/%C3%A9COLE")
    for source in ways:
        item = Item(
            "redirect", make_source_key(source), {"source": source, "to": {"url": "https://example.com"}}, Place("s")
        )
        file = replace(only_redirects(stage, 0), items={item.ref: item})
        assert stage.apply(file).exit_code == 0
        plan, live, _ = planned(stage, file)
        assert not plan.steps
        assert [one.fields["source"] for one in live.of("redirect")] == [source]


def test_redirects_that_take_each_others_sources_get_them_whoever_goes_for_it(stage: Stage) -> None:
    """Six at once: a chain, a circle, and one whose source somebody's redirect has, which goes."""
    plant(stage, 6)
    ids = [f"{stage.site}{number}" for number in range(6)]
    wanted = {"/old/1": ids[0], "/old/2": ids[1], "/new": ids[2], "/old/4": ids[3], "/old/3": ids[4], "/old/0": ""}
    place, to = Place("s"), {"url": "https://example.com/new"}
    items = [Item("redirect", source, {"source": source, "to": to}, place, id=id) for source, id in wanted.items()]
    file = replace(only_redirects(stage, 0), items={item.ref: item for item in items})
    file = replace(file, policy=SitePolicy(prune={"redirects": "all"}))
    done = stage.apply(file)
    assert (done.exit_code, done.failed) == (0, ())
    live = planned(stage, file)[1]
    there = {one.fields["source"]: one.id for one in live.of("redirect")}
    assert there == {**wanted, "/old/0": there["/old/0"]}


def test_of_many_redirects_only_the_refused_one_fails(stage: Stage) -> None:
    file = only_redirects(stage, 5)
    wrong = Item("redirect", "/x", {"source": "/x", "to": {"raw": {"kind": "external", "url": "ftp://x"}}}, Place("s"))
    file = replace(file, items={**file.items, wrong.ref: wrong})
    done = stage.apply(file)
    assert [failed.step.ref for failed in done.failed] == ["redirect:/x"]
    assert done.exit_code == 4
    assert len(planned(stage, file)[1].of("redirect")) == 5


def test_a_redirect_that_leads_nowhere_is_told(stage: Stage) -> None:
    def meddle(request: httpx.Request) -> httpx.Response | None:
        if request.url.path.endswith("/redirect"):
            return httpx.Response(404, json={"error": {"code": 404, "message": "nothing there"}})
        return None

    done = stage.apply(only_redirects(stage, 1), Meddling(meddle))
    assert (done.exit_code, done.notes) == (0, ("written, but the site does not redirect yet: /old/0",))


def test_the_policy_of_a_section_that_is_taken_out_and_not_owned_stays(stage: Stage) -> None:
    drawn, file = site_of(stage)
    stage.apply(file)
    del drawn.sections["more"]
    drawn.places[ROOT].remove("more")
    file = replace(declared(stage, drawn), policy=SitePolicy())
    wire = Wire()
    assert stage.apply(file, wire).exit_code == 0
    assert not requests(wire, "DELETE")


# One call at a time, against a platform that is somebody else's.


def calls_on(
    answer: Callable[[httpx.Request], httpx.Response], ids: IdTable | None = None, *, sorts: bool = True
) -> CallSender:
    client = Client(
        "http://127.0.0.1", "token", ClientOptions(transport=httpx.MockTransport(answer), sleep=lambda _: None)
    )
    return CallSender(SiteReader(client, "o", "s"), ids or IdTable({}, {}), sorts)


def test_members_that_nobody_knows_survive_a_put_byte_for_byte() -> None:
    glow = {"x_y": [1, None, {"aB": "ü"}]}
    there: dict[str, Any] = {"styling": {"theme": "clean", "glow": glow}, "header": {}, "novel": {"a": None}}
    sent: list[Any] = []

    def answer(request: httpx.Request) -> httpx.Response:
        if request.method == "PUT":
            sent.append(json.loads(request.content))
        return httpx.Response(200, json=there)

    step = Step(Wave.CUSTOMIZATION, Call.CUSTOMIZATION_PUT, Ref("customization:"), "s", {"styling.theme": "bold"})
    calls_on(answer).carry_out(step)
    assert sent == [{**there, "styling": {**there["styling"], "theme": "bold"}}]
    calls_on(answer).carry_out(replace(step, body={"styling.theme": "clean"}))
    assert len(sent) == 1


def structure(*ids: str) -> Mapping[str, Any]:
    parts = [{"object": "site-section", "id": id, "title": "Title", "path": id, "siteSpaces": []} for id in ids]
    return {"type": "sections", "structure": parts}


@pytest.mark.parametrize(("there", "fine"), [(("a", "b", "c"), True), (("a", "c", "b"), False)])
def test_a_refused_move_is_done_when_everything_stands_in_order(there: tuple[str, ...], fine: bool) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            return httpx.Response(200, json=structure(*there))
        return httpx.Response(409, json={"error": {"code": 409, "message": "would not change anything"}})

    calls = calls_on(answer, IdTable({}, {"a": "section", "b": "section", "c": "section"}))
    for call in (Call.SECTION_MOVE, Call.STRUCTURE_SORT):
        step = Step(Wave.ORDER, call, Ref("section:b"), "b", {"after": "a"})
        if fine:
            calls.carry_out(step)
        else:
            with pytest.raises(Rejected):
                calls.carry_out(step)


def test_a_body_that_the_api_does_not_take_is_refused_before_it_is_sent() -> None:
    calls = calls_on(lambda _: httpx.Response(500))
    with pytest.raises(Rejected, match="title"):
        calls.carry_out(Step(Wave.SECTIONS, Call.SECTION_UPDATE, Ref("section:a"), "a", {"title": "x"}))
