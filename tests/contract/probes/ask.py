"""Ask."""

import json
from typing import Any

from tests.contract.probe import Ask, probe
from tests.contract.world import World

PAGE = {
    "operation": "insert_page",
    "title": "Exports",
    "document": {"markdown": "# Exports\n\n## Export a space\n\nOpen the menu and choose PDF to export a space.\n"},
}


@probe("streamAskInSite")
def probe_stream_ask_in_site(world: World) -> Ask:
    site = world.site(world.space(changes=[PAGE])["id"])
    path = {"siteId": site["id"]}
    world.made("publishSite", path)
    variant = world.made("listSiteSpaces", path)["items"][0]["id"]
    body = {"question": "How do I export a space?", "scope": {"mode": "default", "currentSiteSpace": variant}}
    scopes: tuple[Any, ...] = (
        *(None, {}, {"mode": "none"}, {"mode": "specific"}),
        *({"mode": "specific", "siteSpaceIds": ids} for ids in ([], ["nothing"], [variant] * 101, variant)),
        {"mode": "default", "currentSiteSpace": "nothing"},
    )
    questions = tuple({**body, "question": question} for question in ("", "x" * 513, 7, None))
    contexts = tuple({**body, "context": context} for context in (None, {"siteSpaceId": 7}, {"goal": "x"}))

    def check(answer: str) -> None:
        *events, done = [event.removeprefix("data: ") for event in answer.split("\n\n") if event]
        assert done == "event: done\ndata: done"
        last = json.loads(events[-1])
        assert last["type"] == "answer"
        assert "choose PDF to export a space" in json.dumps(last["answer"]["answer"]["document"])
        assert [source["type"] for source in last["answer"]["sources"]] == ["page"]

    invalid = (*({**body, "scope": scope} for scope in scopes), *questions, *contexts)
    return Ask(path, body=body, invalid=invalid, invalid_query=({"format": "html"},), check=check)


def _read_events(answer: str) -> list[Any]:
    *events, done = [event.removeprefix("data: ") for event in answer.split("\n\n") if event]
    assert done == "event: done\ndata: done"
    return [json.loads(event) for event in events]


def _publish(world: World) -> tuple[dict[str, str], str]:
    """Return a published site, and the space that it shows."""
    space = world.space(changes=[PAGE])["id"]
    path = {"siteId": world.site(space)["id"]}
    world.made("publishSite", path)
    return path, space


@probe("streamRecommendedQuestionsInSite")
def probe_stream_recommended_questions_in_site(world: World) -> Ask:
    path, _ = _publish(world)
    variant = world.made("listSiteSpaces", path)["items"][0]["id"]

    def check(answer: str) -> None:
        assert [event["question"] for event in _read_events(answer)] == ["What about “Exports”?"]

    wrong = ({"siteSpaceId": "nothing"}, {"siteSpaceId": "x" * 256})
    return Ask(path, query={"siteSpaceId": variant}, invalid_query=wrong, check=check)


@probe("streamAiResponseInSite")
def probe_stream_ai_response_in_site(world: World) -> Ask:
    path, _ = _publish(world)
    said = {"role": "user", "content": "How do I export a space?"}
    messages: tuple[Any, ...] = (None, {}, [7], [{"role": "user"}], [said | {"role": "x"}], [said] * 101)

    def check(answer: str) -> None:
        events = _read_events(answer)
        assert [event["type"] for event in events][:3] == ["response_start", "response_step_start", "response_document"]
        assert "choose PDF to export a space" in json.dumps(events[2]["blocks"])
        assert events[-1]["type"] == "response_finish"
        assert events[-1]["response"]["previous"] == "r1"
        assert len({event["messageId"] for event in events}) == 1

    body = {"input": [said], "previousResponseId": "r1", "model": "fast", "tools": []}
    invalid = tuple({**body, "input": one} for one in messages)
    return Ask(path, body=body, invalid=invalid, open_body=True, check=check)


@probe("submitSiteAgentFeedback")
def probe_submit_site_agent_feedback(world: World) -> Ask:
    path, space = _publish(world)
    page = world.made("listPages", {"spaceId": space})["pages"][0]["id"]
    body = {"feedback": "Old.", "url": "https://x.test/", "spaceId": space, "pageId": page, "source": "mcp"}
    wrong: tuple[dict[str, Any], ...] = ({"feedback": ""}, {"feedback": None}, {"source": "x"}, {"pageId": ""})
    return Ask(path, body=body, status=204, invalid=tuple(body | one for one in wrong))
