"""What the comments of spaces and of change requests have in common; each gets its own probes of it."""

from collections.abc import Callable
from typing import Any

from tests.contract.probe import Ask, probe
from tests.contract.world import World

Place = Callable[[World], tuple[dict[str, str], str]]
"""Given a world, the path parameters of a place with content and the id of one of its pages."""

_WRONG_BODIES: tuple[Any, ...] = (
    *({}, {"body": None}, {"body": "text"}, {"body": {"html": "x"}}, {"body": {"markdown": 7}}),
    *({"body": {"markdown": "x" * 50_001}}, {"body": {"markdown": "x", "document": {"object": "document"}}}),
    {"body": {"document": {"nodes": []}}},
)
_WRONG_CHANGES: tuple[Any, ...] = (
    *({"body": None}, {"addedReactions": None}, {"addedReactions": ["not an emoji"]}, {"addedReactions": ["a", ""]}),
    *({"addedReactions": ["up"] * 21}, {"removedReactions": ["😀😀"]}, {"body": {"markdown": None}}),
)


def add_probes(kind: str, place: Place) -> None:
    """Given `Space` or `ChangeRequest` and how to make one, add a probe for each operation on its comments."""

    def posted(world: World, path: dict[str, str], **members: Any) -> dict[str, str]:
        body = {"body": {"markdown": "Hm."}, **members}
        return path | {"commentId": world.made(f"postCommentIn{kind}", path, body=body)["id"]}

    def replied(world: World) -> dict[str, str]:
        path = posted(world, place(world)[0])
        reply = world.made(f"postCommentReplyIn{kind}", path, body={"body": {"markdown": "So."}})
        return path | {"commentReplyId": reply["id"]}

    @probe(f"listCommentsIn{kind}")
    def listed(world: World) -> Ask:
        path, page = place(world)
        for _ in range(3):
            posted(world, path, page=page)
        posted(world, path)
        query = {"targetPage": page, "authors": [world.user, "another"], "status": "open", "order": "asc"}
        wrong = ({"order": "up"}, {"status": "done"}, {"format": "html"}, {"authors": ["x"] * 101}, {"targetPage": ""})
        return Ask(path, query=query, items=3, invalid_query=wrong)

    @probe(f"postCommentIn{kind}")
    def made(world: World) -> Ask:
        path, page = place(world)
        misplaced = (
            {"node": "n"},
            {"page": page, "node": "no such node"},
            {"page": ""},
            {"page": "x" * 101},
            {"page": None},
        )
        wrong = (*_WRONG_BODIES, *({"body": {}, **members} for members in misplaced))

        def check(answer: Any) -> None:
            assert answer["body"] == {"markdown": "*Hm.*"}
            assert answer["target"]["page"] == {"id": page}
            assert answer["permissions"] == {"view": True, "edit": True, "reply": True, "delete": True}

        return Ask(path, body={"body": {"markdown": "*Hm.*"}, "page": page}, invalid=wrong, check=check)

    @probe(f"getCommentIn{kind}")
    def got(world: World) -> Ask:
        path = posted(world, place(world)[0])
        return Ask(path, query={"format": "document"}, invalid_query=({"format": ""},))

    @probe(f"updateCommentIn{kind}")
    def updated(world: World) -> Ask:
        body = {"resolved": True, "body": {"markdown": "Yes."}, "addedReactions": ["👍🏽", ":tada:"]}

        def check(answer: Any) -> None:
            assert (answer["status"], answer["body"]) == ("resolved", {"markdown": "Yes."})
            assert sorted(reaction["emoji"] for reaction in answer["reactions"]) == ["tada", "👍🏽"]

        wrong = (*_WRONG_CHANGES, {"resolved": None}, {"resolved": "soon"})
        return Ask(posted(world, place(world)[0]), body=body, invalid=wrong, check=check)

    @probe(f"deleteCommentIn{kind}")
    def deleted(world: World) -> Ask:
        return Ask(posted(world, place(world)[0]), status=204)

    @probe(f"listCommentRepliesIn{kind}")
    def replies_listed(world: World) -> Ask:
        path = posted(world, place(world)[0])
        for _ in range(3):
            world.made(f"postCommentReplyIn{kind}", path, body={"body": {"markdown": "So."}})
        return Ask(path, items=3, invalid_query=({"format": "html"},))

    @probe(f"postCommentReplyIn{kind}")
    def reply_made(world: World) -> Ask:
        return Ask(posted(world, place(world)[0]), body={"body": {"markdown": "So."}}, invalid=_WRONG_BODIES)

    @probe(f"getCommentReplyIn{kind}")
    def reply_got(world: World) -> Ask:
        return Ask(replied(world), query={"format": "document"}, invalid_query=({"format": "html"},))

    @probe(f"updateCommentReplyIn{kind}")
    def reply_updated(world: World) -> Ask:
        body = {"body": {"markdown": "Then so."}, "addedReactions": ["+1"], "removedReactions": ["tada"]}
        return Ask(replied(world), body=body, invalid=_WRONG_CHANGES)

    @probe(f"deleteCommentReplyIn{kind}")
    def reply_deleted(world: World) -> Ask:
        return Ask(replied(world), status=204)

    @probe(f"listCommentersIn{kind}")
    def commenters(world: World) -> Ask:
        path = place(world)[0]
        for _ in range(3):
            world.made(f"postCommentIn{kind}", path, body={"body": {}}, by=world.person("comment")[1])
        return Ask(path, items=3)
