"""What a renderer's assistant asks with a content token: questions, answers, integrations, and the words of agents."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.contract.probes.integrations import published
from tests.platform.visitors.published_site import CLAIM, PublishedSiteMaker, open_published_site, page

CLOSED = f"{{% if {CLAIM} %}}\n\n## Where is the vault?\n\nBehind the clock.\n\n{{% endif %}}"


def add_pages(made: PublishedSiteMaker) -> None:
    staff = page("How is staff paid?", "The canteen pays.")
    staff["document"]["markdown"] = f"---\nif: {CLAIM}\n---\n\n" + staff["document"]["markdown"]
    open_page = page("Sails", f"## How do I set a sail?\n\nPull the halyard.\n\n{CLOSED}")
    made.world.write(made.guides, [open_page, staff])


@pytest.fixture
def made(tmp_path: Path) -> Iterator[PublishedSiteMaker]:
    with open_published_site(tmp_path / "platform", add_pages) as made:
        yield made


def get_token(made: PublishedSiteMaker, **visitor: Any) -> str:
    """Given what a visitor shows, return the content token for the site's first page."""
    return str(made.look_up("/", **visitor).json()["apiToken"])


def stream(made: PublishedSiteMaker, operation: str, by: str, **rest: Any) -> list[dict[str, Any]]:
    """Given an operation that streams, return its events without the last one, which ends the stream."""
    answer = made.world.call(operation, made.path, by=by, **rest)
    assert answer.status_code == 200, answer.text
    *events, done = [event.removeprefix("data: ") for event in answer.text.split("\n\n") if event]
    assert done == "event: done\ndata: done"
    return [json.loads(event) for event in events]


def ask(made: PublishedSiteMaker, by: str, question: Any) -> str:
    """Given a question, return the assistant's blocks as text."""
    body = {"input": [{"role": "user", "content": question}], "tools": [], "session": {"visitorId": "v"}}
    events = stream(made, "streamAiResponseInSite", by, body=body)
    return "".join(json.dumps(event["blocks"]) for event in events if event["type"] == "response_document")


def test_questions_are_those_that_the_visitors_pages_answer(made: PublishedSiteMaker) -> None:
    for token in (get_token(made), get_token(made, jwtToken=made.sign(isStaff=True))):
        found = [event["question"] for event in stream(made, "streamRecommendedQuestionsInSite", token)]
        assert found[0] == "How do I set a sail?"
        assert not [words for words in ("vault", "paid", "Secrets") if words in str(found)]
    variant = {"siteSpaceId": made.variant}
    found = [event["question"] for event in stream(made, "streamRecommendedQuestionsInSite", token, query=variant)]
    assert found == ["What about “Welcome”?"]
    for wrong in ("", "s" * 256, "elsewhere"):
        answer = made.world.call("streamRecommendedQuestionsInSite", made.path, by=token, query={"siteSpaceId": wrong})
        assert answer.status_code == 400, answer.text
        # The caller has no `scope`: the member that is named is the one that was sent.
        assert "siteSpaceId" in answer.text
        assert "scope" not in answer.text


def test_the_assistant_answers_from_what_its_visitor_may_read(made: PublishedSiteMaker) -> None:
    token = get_token(made)
    assert "halyard" in ask(made, token, "How do I set a sail?")
    document = {"object": "document", "nodes": [{"object": "text", "leaves": [{"text": "How do I set a sail?"}]}]}
    assert "halyard" in ask(made, token, document)
    for question in ("Where is the vault?", "Who pays the canteen?"):
        shown = ask(made, token, question)
        assert "clock" not in shown
        assert "canteen pays" not in shown
    assert "No page of this site" in ask(made, token, "What is the price of tea?")
    [first, last] = stream(made, "streamAiResponseInSite", token, body={"input": []})
    assert (first["type"], last["type"]) == ("response_start", "response_finish")


def test_only_members_and_visitors_of_a_site_ask_its_assistant(made: PublishedSiteMaker) -> None:
    world, token = made.world, get_token(made)
    other = PublishedSiteMaker(world).path
    body = {"input": [{"role": "user", "content": "How do I set a sail?"}]}
    for operation, sent in (("streamAiResponseInSite", body), ("streamRecommendedQuestionsInSite", None)):
        assert world.call(operation, other, by=token, body=sent).status_code == 404
        assert world.call(operation, made.path, by=world.outsider, body=sent).status_code == 404
        assert world.call(operation, made.path, by=world.anonymous, body=sent).status_code == 401
    world.made("unpublishSite", made.path)
    assert "halyard" not in ask(made, token, "How do I set a sail?")


def test_an_agent_speaks_of_pages_that_it_may_read(made: PublishedSiteMaker) -> None:
    world, token = made.world, get_token(made)
    pages = {one["title"]: one["id"] for one in world.made("listPages", {"spaceId": made.guides})["pages"]}
    body = {"feedback": "It says\n halyard twice.", "url": f"{made.origin}{made.base}/sails", "spaceId": made.guides}
    sent = body | {"pageId": pages["Sails"], "source": "assistant", "goal": "To sail"}
    assert world.call("submitSiteAgentFeedback", made.path, body=sent, by=token).status_code == 204
    [secret] = world.made("listPages", {"spaceId": made.internal})["pages"]
    closed = (
        body | {"pageId": pages["How is staff paid?"]},
        body | {"pageId": "none"},
        body | {"spaceId": made.internal, "pageId": secret["id"]},
    )
    for one in closed:
        assert world.call("submitSiteAgentFeedback", made.path, body=one, by=token).status_code == 404
    assert world.call("submitSiteAgentFeedback", made.path, body=sent, by=world.outsider).status_code == 404
    [count] = world.made("listSiteEventCounts", made.path)["items"]
    assert (count["type"], count["page"]) == ("agent_feedback", pages["Sails"])
    assert count["detail"] == "It says halyard twice."


def test_an_integration_is_a_card_to_who_may_know_of_it(made: PublishedSiteMaker) -> None:
    world, token = made.world, get_token(made)
    body = {"componentId": "c", "props": {"url": "javascript:alert(1)"}, "context": {"type": "document"}}
    shown = published(world, visibility="public")
    card = world.made("renderIntegrationUiWithPost", shown, body=body, by=token)["element"]["children"][0]
    assert set(card) == {"type", "title"}
    private = published(world)
    assert world.call("renderIntegrationUiWithPost", private, body=body).status_code == 200
    for by, path in ((token, private), (token, {"integrationName": "none"}), (world.outsider, private)):
        assert world.call("renderIntegrationUiWithPost", path, body=body, by=by).status_code == 404
