"""Conversations, their issues and the clusters of those."""

from typing import Any

from tests.contract.probe import Ask, probe
from tests.contract.world import World

SAID = ("How do I export a space as PDF?", "My invoice shows a wrong address.", "Search does not find any page.")


def conversation(id: str = "one", said: str = SAID[0], **members: Any) -> dict[str, Any]:
    return {"id": id, "parts": [{"type": "message", "role": "user", "body": said}], **members}


def _ingested(world: World) -> None:
    world.made("ingestConversation", body=[conversation(f"c {number}", said) for number, said in enumerate(SAID)])
    world.run_jobs()


@probe("ingestConversation")
def probe_ingest_conversation(world: World) -> Ask:
    part = {"type": "message", "role": "user", "body": "Hi"}
    wrong: tuple[Any, ...] = (
        *({"id": id, "parts": []} for id in ("", "x" * 256, "a\0b", "a\n", 7, None)),
        *({"id": "a"}, {"parts": []}, {"id": "a", "parts": None}, {"id": "a", "parts": [{**part, "type": "note"}]}),
        *({"id": "a", "parts": [{**part, "role": "system"}]}, {"id": "a", "parts": [{**part, "body": "x" * 50_001}]}),
        *({"id": "a", "parts": [part] * 501}, {"id": "a", "parts": [{**part, "body": "x" * 50_000}] * 11}),
        conversation(subject="x" * 513),
        *(conversation(metadata={"url": url}) for url in ("javascript:alert(1)", "", "https://" + "x" * 2048, None)),
        *(conversation(metadata={"createdAt": at}) for at in ("2026-01-01", "0001-01-01T00:00:00+23:59", None, "")),
        *(conversation(metadata={"attributes": one}) for one in ({"a": 1}, {"": "a"}, {str(n): "" for n in range(51)})),
        [conversation()] * 101,
    )
    metadata = {"url": "https://chat.example/1", "attributes": {"plan": "pro"}, "createdAt": "2026-01-31T08:15:00Z"}
    return Ask(body=conversation(subject="PDF", metadata=metadata), status=204, invalid=wrong)


@probe("listConversations")
def listed(world: World) -> Ask:
    _ingested(world)
    return Ask(items=3, invalid_query=({"source": "x" * 513},))


@probe("getConversationById")
def probe_get_conversation_by_id(world: World) -> Ask:
    metadata = {"url": "https://chat.example/1", "attributes": {"plan": "pro"}, "createdAt": "2026-01-31T08:15:00.000Z"}
    world.made("ingestConversation", body=conversation("chat/1?a", subject="PDF", metadata=metadata))

    def check(answer: Any) -> None:
        assert answer["metadata"] == metadata
        shown = answer["conversation"]
        assert (shown["id"], shown["subject"], shown["createdAt"]) == ("chat/1?a", "PDF", metadata["createdAt"])
        assert shown["urls"]["source"] == metadata["url"]
        assert shown["urls"]["location"].endswith("/conversations/chat%2F1%3Fa")
        assert "processedAt" not in shown
        assert answer["parts"][0]["role"] == "user"

    return Ask({"conversationId": "chat%2F1%3Fa"}, check=check)


@probe("listConversationsIssues")
def probe_list_conversations_issues(world: World) -> Ask:
    _ingested(world)
    return Ask(items=3, invalid_query=({"cluster": "x" * 513}, {"conversation": "x" * 513}))


@probe("getConversationIssueById")
def probe_get_conversation_issue_by_id(world: World) -> Ask:
    _ingested(world)
    listed = world.made("listConversationsIssues", query={"conversation": "c 1"})["items"]

    def check(answer: Any) -> None:
        assert answer["issue"]["title"] == SAID[1]
        assert answer["issue"]["conversation"] == answer["conversation"]["id"] == "c 1"
        assert answer["conversation"]["processedAt"]

    return Ask({"issueId": listed[0]["issue"]["id"]}, check=check)


@probe("listConversationsIssuesClusters")
def probe_list_conversations_issues_clusters(world: World) -> Ask:
    _ingested(world)

    def check(answer: Any) -> None:
        assert all(len(one["weeklyPulse"]) == 13 for one in answer["items"])
        assert {one["icon"] for one in answer["items"]} == {"file-export", "credit-card", "magnifying-glass"}

    wrong = ({"order": "up"}, {"orderBy": "label"}, {"status": "done"})
    return Ask(items=3, invalid_query=wrong, check=check)


@probe("getConversationsIssuesClusterById")
def probe_get_conversations_issues_cluster_by_id(world: World) -> Ask:
    _ingested(world)
    listed = world.made("listConversationsIssuesClusters")["items"]
    return Ask({"clusterId": listed[0]["id"]})
