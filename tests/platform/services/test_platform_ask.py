"""Ask: what a site's answers come from, in its own words or in a model's, and what they never come from."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import pairwise
from typing import Any

import httpx
import pytest

from syncd.platform.app import create_app
from syncd.platform.services.ask.endpoint import strip_markup
from syncd.platform.services.ask.retrieval import drop_conditions
from syncd.platform.settings import PlatformSettings, ServiceEndpoint
from syncd.platform.storage.storage import Storage
from tests.contract.in_process import InProcess
from tests.peers import answer_with, serve_peer

PAGES = {
    "Exports": "## Export a space\n\nOpen the menu. Choose PDF to export a space. It takes a minute.\n\n"
    "## Formats\n\nPDF and HTML are there.\n\n{% if visitor.claims.beta %}\nA zebra is for testers.\n{% endif %}\n",
    "Billing": "## Change the invoice address\n\nOpen *settings* and write the [address](https://a.example) there.\n",
    "Hidden": "## Secrets\n\nThe walrus is a secret.\n",
    "Draft": "## Draft\n\nThe okapi is only in a draft.\n",
}
Answer = dict[str, Any]


class Site:
    """A published site with a space of the pages above, of which `Hidden` is hidden."""

    def __init__(self, http: httpx.Client, organization: str) -> None:
        self.http = http
        self.base = f"/v1/orgs/{organization}"
        self.space = self.filled({name: PAGES[name] for name in ("Exports", "Billing", "Hidden")})
        made = http.post(f"{self.base}/sites", json={"title": "Docs", "spaces": [self.space]}).json()
        self.path = f"{self.base}/sites/{made['id']}"
        http.post(f"{self.path}/publish").raise_for_status()
        self.variant = http.get(f"{self.path}/site-spaces").json()["items"][0]["id"]

    def filled(self, pages: dict[str, str]) -> str:
        space = str(self.http.post(f"{self.base}/spaces", json={"title": "Guides", "empty": True}).json()["id"])
        self.write(space, pages)
        return space

    def write(self, space: str, pages: dict[str, str], *, merged: bool = True) -> None:
        request = f"/v1/spaces/{space}/change-requests/" + str(
            self.http.post(f"/v1/spaces/{space}/change-requests", json={"subject": "Words"}).json()["id"]
        )
        changes = [
            {"operation": "insert_page", "title": title, "hidden": title == "Hidden", "document": {"markdown": text}}
            for title, text in pages.items()
        ]
        self.http.post(f"{request}/content", params={"compat": "false"}, json={"changes": changes}).raise_for_status()
        if merged:
            self.http.post(f"{request}/merge").raise_for_status()

    def events(self, question: str, *, format: str = "markdown", **members: Any) -> list[Answer]:
        """Ask, and return the answers so far of all events."""
        body = {"question": question, **members}
        answer = self.http.post(f"{self.path}/ask", params={"format": format}, json=body)
        assert (answer.status_code, answer.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
        *lines, done, end = answer.text.split("\n\n")
        assert (done, end) == ("event: done\ndata: done", "")
        return [json.loads(line.removeprefix("data: "))["answer"] for line in lines]

    def answer(self, question: str, **members: Any) -> Answer:
        return self.events(question, **members)[-1]


@pytest.fixture
def site(http: httpx.Client, organization: str) -> Site:
    return Site(http, organization)


def test_an_answer_quotes_the_site_names_its_pages_and_suggests_what_is_beside(site: Site) -> None:
    answer = site.answer("How do I export a space?")
    assert "Choose PDF to export a space" in answer["answer"]["markdown"]
    assert "](<" + str(site.http.base_url) in answer["answer"]["markdown"]
    assert "/exports#export-a-space>)" in answer["answer"]["markdown"]
    source = answer["sources"][0]
    assert (source["type"], source["space"], source["reason"]) == ("page", site.space, "Export a space")
    page = site.http.get(f"/v1/spaces/{site.space}/content/page/{source['page']}").json()
    assert page["title"] == "Exports"
    assert "What about “Formats”?" in answer["followupQuestions"]
    assert "document" in site.answer("How do I export a space?", format="document")["answer"]


def test_a_table_is_quoted_by_whole_cells(site: Site) -> None:
    table = "| Code | Meaning |\n| --- | --- |\n| E17 | The capybara sleeps |\n| E18 | It swims |\n"
    site.write(site.space, {"Codes": f"# Codes\n\nOnly for keepers.\n\n{table}"})
    quoted = site.answer("Where does the capybara sleep?")["answer"]["markdown"]
    assert "> The capybara sleeps · E18 · It swims\n" in quoted


def test_each_event_says_what_the_one_before_said_and_more(site: Site) -> None:
    events = site.events("How do I export a space or change the invoice address?")
    texts = [one["answer"]["markdown"] for one in events]
    assert all(later.startswith(former.rstrip()) for former, later in pairwise(texts))


def test_what_the_site_does_not_tell_everybody_has_no_answer(site: Site) -> None:
    site.write(site.space, {"Draft": PAGES["Draft"]}, merged=False)
    for question in (
        "Where does the walrus live?",
        "What is an okapi?",
        "Who gets the zebra?",
        "Can I bake?",
        "How?",
        "?",
    ):
        assert site.events(question) == [{"followupQuestions": [], "sources": []}], question


def test_the_scope_says_where_to_look(site: Site) -> None:
    other = site.filled({"Animals": "## Quagga\n\nThe quagga is a kind of zebra with few stripes.\n"})
    made = site.http.post(f"{site.path}/site-spaces", json={"spaceId": other}).json()["id"]
    question, where = "What is a quagga?", f"{site.path}/site-spaces/{made}"

    def found(**scope: Any) -> bool:
        return "answer" in site.answer(question, scope=scope)

    assert not found(mode="default")
    assert found(mode="default", currentSiteSpace=made)
    assert "answer" in site.answer(question, scope={"mode": "default"}, context={"siteSpaceId": made})
    assert found(mode="all")
    assert found(mode="specific", siteSpaceIds=[made])
    assert not found(mode="specific", siteSpaceIds=[site.variant])
    site.http.patch(where, json={"hidden": True}).raise_for_status()
    assert not found(mode="all")
    site.http.patch(where, json={"hidden": False, "condition": "visitor.claims.isBetaUser"}).raise_for_status()
    assert not found(mode="specific", siteSpaceIds=[made])


def test_a_site_that_is_not_published_answers_nothing(site: Site) -> None:
    site.http.post(f"{site.path}/unpublish").raise_for_status()
    assert "answer" not in site.answer("How do I export a space?")


def test_conditional_text_is_left_out_however_it_nests() -> None:
    text = "a{% if x %}b{% if y %}c{% endif %}d{% endif %}e{% endif %}f{% if z %}g"
    assert drop_conditions(text) == "ae{% endif %}f"
    assert drop_conditions("{% if a % b %}x{% endif %}y") == "y"
    assert drop_conditions("{% if " * 50_000) == ""


def test_a_models_markdown_keeps_its_words_only() -> None:
    text = "See [this](https://a.example/?q=s3cret) ![x](https://a.example/s3cret) <img src='s3cret'>\n[a]: s3cret\n`b`"
    assert "s3cret" not in strip_markup(text)
    assert "See this x" in strip_markup(text)
    assert strip_markup("[" * 20_000) == "[" * 20_000


def chunks(*words: str, done: bool = True) -> bytes:
    lines = [f"data: {json.dumps({'choices': [{'delta': {'content': word}}]})}\n\n" for word in words]
    return "".join([*lines, "data: [DONE]\n\n" if done else ""]).encode()


def streamed(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + body


@pytest.fixture
def asking(storage: Storage) -> Iterator[Callable[[int], Site]]:
    """Given the port of an endpoint, a site on a platform whose operator chose that endpoint."""
    storage.bootstrap()
    token = storage.token_file.read_text().strip()
    with ExitStack() as stack:

        def build(port: int) -> Site:
            app = create_app(
                storage, PlatformSettings(ask=ServiceEndpoint(f"http://127.0.0.1:{port}/v1", "small", "s3cret-key"))
            )
            headers = {"Authorization": f"Bearer {token}"}
            client = httpx.Client(base_url="http://platform", headers=headers, transport=InProcess(app))
            return Site(stack.enter_context(client), client.get("/v1/orgs").json()["items"][0]["id"])

        yield build


def test_a_model_gets_the_passages_and_its_words_stream_through(asking: Callable[[int], Site]) -> None:
    said = chunks("Choose **PDF** in the menu, ", "then wait for [it](http://a.example/).")
    with serve_peer(answer_with(streamed(said))) as (port, requests):
        events = asking(port).events("How do I export a space?")
    assert events[-1]["answer"]["markdown"] == "Choose **PDF** in the menu, then wait for it."
    assert [source["type"] for source in events[-1]["sources"]] == ["page"]
    head, _, body = requests[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /v1/chat/completions ")
    assert b"authorization: Bearer s3cret-key" in head
    system, user = json.loads(body)["messages"]
    assert "Choose PDF to export a space" in user["content"]
    assert b"walrus" not in body
    mark = user["content"].splitlines()[0]
    assert mark in system["content"]


def test_a_model_that_fails_is_replaced_by_quotes(asking: Callable[[int], Site]) -> None:
    failures = [
        b"HTTP/1.1 500 Broken\r\nContent-Length: 6\r\n\r\ns3cret",
        b"HTTP/1.1 302 Moved\r\nLocation: /\r\nContent-Length: 0\r\n\r\n",
        streamed(b"data: s3cret\n\n"),
        streamed(b'data: {"choices": [{"delta": 7}]}\n\n'),
        streamed(b"data: [DONE]\n\n"),
        streamed(chunks("x" * 20_000)),
        streamed(chunks("Half of an answer, which is long enough to be shown.", done=False)),
    ]
    pending = iter(failures)
    with serve_peer(lambda peer: peer.sendall(next(pending))) as (port, heads):
        site = asking(port)
        for failure in failures:
            events = site.events("How do I export a space?")
            assert "Choose PDF to export a space" in events[-1]["answer"]["markdown"], failure[:100]
            assert "s3cret" not in json.dumps(events)
    assert len(heads) == len(failures)


def test_a_model_that_finds_no_answer_is_believed(asking: Callable[[int], Site]) -> None:
    with serve_peer(answer_with(streamed(chunks("NO_", "ANSWER")))) as (port, _):
        events = asking(port).events("How do I export a space?")
    assert [("answer" in one, one["sources"]) for one in events] == [(False, [])]
