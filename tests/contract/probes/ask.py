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
