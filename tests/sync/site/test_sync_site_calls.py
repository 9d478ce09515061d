"""Each step of a site's plan becomes its request; a lost answer is looked into before anything is sent again."""

import json
from typing import Any

import httpx
import pytest

from syncd.api.client import Client
from syncd.api.options import ClientOptions
from syncd.errors import AnswerLost, Rejected
from syncd.model.ref import Ref
from syncd.plan.site.call import Call
from syncd.plan.site.steps import Step, Wave
from syncd.sync.site.calls import TRIES, CallSender, IdTable
from syncd.sync.site.read.parts import SiteReader

SITE = "/v1/orgs/o/sites/s"
GROUP, SECTION, VARIANT, REDIRECT = (
    Ref.of("group", "more"),
    Ref.of("section", "api"),
    Ref.of("variant", "api/v1"),
    Ref.of("redirect", "/old"),
)
IDS = {GROUP: "g0", SECTION: "s1", VARIANT: "v1", REDIRECT: "r1"}


class Server:
    """A site's server that keeps what it was asked, and loses the first answers to writes, arrived or not."""

    def __init__(self, *, lost: int = 0, arrives: bool = False, groups: tuple[str, ...] = ()) -> None:
        self.asked: list[tuple[str, str, Any]] = []
        self.lost, self.arrives = lost, arrives
        self.groups = list(groups)

    def answer(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path.removeprefix(SITE)
        body: Any = json.loads(request.content) if request.content else None
        if request.method == "GET":
            return self.show(path)
        self.asked.append((request.method, path, body))
        if self.lost:
            self.lost -= 1
            if self.arrives:
                self.groups.append(body["title"])
            raise httpx.ReadError("the connection broke")
        if request.method == "POST" and path == "/section-groups":
            self.groups.append(body["title"])
            return httpx.Response(201, json=self.list_groups()[-1])
        part = {
            "id": "x1",
            "title": "T",
            "path": "p",
            "source": "/old",
            "destination": {"kind": "external", "url": "/"},
        }
        return httpx.Response(
            204 if request.method == "DELETE" else 200, json=None if request.method == "DELETE" else part
        )

    def show(self, path: str) -> httpx.Response:
        if path == "/section-groups":
            return httpx.Response(200, json={"items": self.list_groups()})
        return httpx.Response(200, json={"items": []})

    def list_groups(self) -> list[dict[str, Any]]:
        return [
            {"object": "site-section-group", "id": f"g{number}", "title": title}
            for number, title in enumerate(self.groups, start=1)
        ]

    def make_sender(self) -> CallSender:
        client = Client(
            "https://api.example.com", "token", ClientOptions(transport=httpx.MockTransport(self.answer), tries=1)
        )
        kinds: dict[str, str] = {id: ref.kind for ref, id in IDS.items()}
        return CallSender(SiteReader(client, "o", "s"), IdTable(dict(IDS), kinds), sorts=False)


STEPS: list[tuple[Call, Ref, dict[str, Any], tuple[str, str]]] = [
    (Call.GROUP_UPDATE, GROUP, {"title": "More"}, ("PATCH", "/section-groups/g0")),
    (Call.GROUP_DELETE, GROUP, {}, ("DELETE", "/section-groups/g0")),
    (Call.GROUP_ADD, GROUP, {"section": "s1"}, ("POST", "/section-groups/g0/sections")),
    (Call.OVERRIDE_DELETE, VARIANT, {}, ("DELETE", "/site-spaces/v1/customization")),
    (Call.REDIRECT_DELETE, REDIRECT, {}, ("DELETE", "/redirects/r1")),
]


@pytest.mark.parametrize(("call", "ref", "body", "wanted"), STEPS, ids=lambda value: str(value)[:20])
def test_a_step_is_one_request(call: Call, ref: Ref, body: dict[str, Any], wanted: tuple[str, str]) -> None:
    server = Server()
    server.make_sender().carry_out(Step(Wave.SECTIONS, call, ref, id=IDS[ref], body=body))
    ((method, path, _),) = server.asked
    assert (method, path) == wanted


@pytest.mark.parametrize("call", [Call.ADOPT, Call.FORGET])
def test_what_only_the_lock_learns_asks_nothing(call: Call) -> None:
    server = Server()
    server.make_sender().carry_out(Step(Wave.SECTIONS, call, GROUP, id="g0"))
    assert not server.asked


@pytest.mark.parametrize("lost", range(TRIES + 1))
def test_what_can_be_done_twice_is_sent_again_when_its_answer_is_lost(lost: int) -> None:
    server = Server(lost=lost)
    step = Step(Wave.SECTIONS, Call.GROUP_UPDATE, GROUP, id="g0", body={"title": "More"})
    if lost < TRIES:
        server.make_sender().carry_out(step)
    else:
        with pytest.raises(AnswerLost):
            server.make_sender().carry_out(step)
    assert len(server.asked) == min(lost + 1, TRIES)


@pytest.mark.parametrize(
    ("lost", "arrived", "sent"), [(0, False, 1), (1, True, 1), (1, False, 2), (TRIES, False, TRIES)]
)
def test_a_group_is_created_once_whatever_answer_is_lost(lost: int, arrived: bool, sent: int) -> None:
    server = Server(lost=lost, arrives=arrived)
    sender, new = server.make_sender(), Ref.of("group", "new")
    step = Step(Wave.GROUPS, Call.GROUP_CREATE, new, body={"title": "New"})
    if lost < TRIES:
        sender.carry_out(step)
        assert sender.ids.by_ref[new] == "g1"
    else:
        with pytest.raises(AnswerLost):
            sender.carry_out(step)
    assert len(server.asked) == sent


def test_of_two_groups_that_are_the_same_the_younger_goes() -> None:
    server = Server(groups=("New",))
    sender, new = server.make_sender(), Ref.of("group", "new")
    sender.carry_out(Step(Wave.GROUPS, Call.GROUP_CREATE, new, body={"title": "New"}))
    assert [(method, path) for method, path, _ in server.asked] == [
        ("POST", "/section-groups"),
        ("DELETE", "/section-groups/g2"),
    ]
    assert sender.ids.by_ref[new] == "g1"


def test_a_body_that_the_api_does_not_take_is_refused_with_its_place() -> None:
    server = Server()
    with pytest.raises(Rejected, match=r"group:more: title"):
        server.make_sender().carry_out(Step(Wave.GROUPS, Call.GROUP_UPDATE, GROUP, id="g0", body={"title": 3}))
    assert not server.asked
