"""Discussions: who may say, change and remove what; reactions, order, targets; and nothing is lost in a race."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncd.platform.app import create_app
from syncd.platform.comments.reactions import DISTINCT_MAX, normalise_emoji
from syncd.platform.http.failures import Failure
from tests.contract.in_process import InProcess
from tests.contract.world import HOME, Target, World
from tests.storages import new_storage

SECOND = {"operation": "insert_page", "document": {"markdown": "# Second\n\nText.\n"}}


class Discussion:
    """The comments of one change request, and short words for what is done to them."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.space = world.space(changes=[HOME])["id"]
        request = world.change_request(self.space, changes=[SECOND])
        self.page = request["written"]["changes"][0]["page"]["id"]
        self.at = {"spaceId": self.space, "changeRequestId": request["id"]}

    def call(self, verb: str, comment: str | None = None, **rest: Any) -> httpx.Response:
        path = self.at | ({} if comment is None else {"commentId": comment})
        return self.world.call(f"{verb}InChangeRequest", path, **rest)

    def post(self, text: str = "Hm.", *, by: str | None = None, **members: Any) -> dict[str, Any]:
        answer = self.call("postComment", body={"body": {"markdown": text}, **members}, by=by)
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def put(self, comment: str, *, by: str | None = None, **members: Any) -> dict[str, Any]:
        answer = self.call("updateComment", comment, body=members, by=by)
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def reply(self, comment: str, *, by: str | None = None) -> httpx.Response:
        return self.call("postCommentReply", comment, body={"body": {"markdown": "So."}}, by=by)

    def get(self, comment: str, *, by: str | None = None, **query: str) -> dict[str, Any]:
        return dict(self.call("getComment", comment, by=by, query=query).json())

    def list(self, **query: Any) -> dict[str, Any]:
        answer = self.call("listComments", query=query)
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def open_ones(self) -> tuple[int, int]:
        request = self.world.made("getChangeRequestById", self.at)
        return request["comments"], self.world.made("getSpaceById", {"spaceId": self.space})["comments"]


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with new_storage(tmp_path_factory.mktemp("platform")) as storage:
        app = create_app(storage)
        with httpx.Client(base_url="http://platform", transport=InProcess(app)) as client:
            yield Target(storage, app, client)


@pytest.fixture
def discussion(target: Target) -> Discussion:
    return Discussion(target.world())


def test_each_caller_is_shown_what_he_may_do_and_can_do_just_that(discussion: Discussion) -> None:
    writer, commenter, reader = (discussion.world.person(role)[1] for role in ("comment", "comment", "read"))
    made = discussion.post(by=writer)
    seen = {by: discussion.get(made["id"], by=by)["permissions"] for by in (writer, commenter, reader)}
    assert seen[writer] == {"view": True, "edit": True, "reply": True, "delete": True}
    assert seen[commenter] == {"view": True, "edit": False, "reply": True, "delete": False}
    assert seen[reader] == {"view": True, "edit": False, "reply": False, "delete": False}
    assert discussion.get(made["id"])["permissions"]["delete"]
    for by in (commenter, reader):
        assert (
            discussion.call("updateComment", made["id"], body={"body": {"markdown": "No."}}, by=by).status_code == 403
        )
        assert discussion.call("deleteComment", made["id"], by=by).status_code == 403
    assert discussion.reply(made["id"], by=reader).status_code == 403
    edited = discussion.put(made["id"], by=writer, body={"markdown": "Yes."})
    assert (edited["body"], "editedAt" in made, "editedAt" in edited) == ({"markdown": "Yes."}, False, True)
    assert discussion.call("deleteComment", made["id"]).status_code == 204
    assert discussion.call("getComment", made["id"]).status_code == 404


def test_resolving_is_remembered_once_and_can_be_undone(discussion: Discussion) -> None:
    first, second = (discussion.world.person("comment") for _ in range(2))
    made = discussion.post()
    assert discussion.open_ones() == (1, 0)
    resolved = discussion.put(made["id"], by=first[1], resolved=True)
    assert (resolved["status"], resolved["resolvedBy"]["id"]) == ("resolved", first[0])
    assert discussion.put(made["id"], by=second[1], resolved=True) == resolved | {
        "permissions": {"view": True, "edit": False, "reply": True, "delete": False}
    }
    other = discussion.post()
    for status, ids in (("open", [other["id"]]), ("resolved", [made["id"]])):
        assert [item["id"] for item in discussion.list(status=status)["items"]] == ids
    assert discussion.open_ones() == (1, 0)
    reopened = discussion.put(made["id"], resolved=False)
    assert (reopened["status"], "resolvedAt" in reopened, "resolvedBy" in reopened) == ("open", False, False)
    assert discussion.open_ones() == (2, 0)


def test_reactions_are_one_set_for_each_person(discussion: Discussion) -> None:
    user, token = discussion.world.person("comment")
    made = discussion.post()
    discussion.put(made["id"], addedReactions=["tada", ":tada:", "👩‍👩‍👧‍👦"])
    both = discussion.put(made["id"], by=token, addedReactions=["tada"])["reactions"]
    assert {reaction["emoji"]: reaction["count"] for reaction in both} == {"tada": 2, "👩‍👩‍👧‍👦": 1}
    assert [each["user"]["id"] for each in both[0]["users"]] == [discussion.world.user, user]
    # Others' reactions are not one's own to remove.
    again = discussion.put(made["id"], by=token, removedReactions=["👩‍👩‍👧‍👦", "tada", "rocket"])["reactions"]
    assert {reaction["emoji"]: reaction["count"] for reaction in again} == {"tada": 1, "👩‍👩‍👧‍👦": 1}
    codes = [f"code{number}" for number in range(DISTINCT_MAX - 2)]
    for start in range(0, len(codes), 20):
        discussion.put(made["id"], addedReactions=codes[start : start + 20])
    assert discussion.call("updateComment", made["id"], body={"addedReactions": ["more"]}).status_code == 400
    assert discussion.put(made["id"], addedReactions=["code1"])["reactions"][-1]["count"] == 1


@pytest.mark.parametrize("emoji", ["👍", "👍🏽", "🇩🇪", "❤️", "1️⃣", "🏴󠁧󠁢󠁷󠁬󠁳󠁿", "👩‍🚀", "tada", ":+1:", "1f44d"])
def test_an_emoji_is_a_reaction(emoji: str) -> None:
    assert normalise_emoji(emoji) == emoji.strip(":")


@given(st.text(max_size=80))
@settings(max_examples=50, deadline=None)
def test_whatever_is_sent_as_a_reaction_is_named_or_refused(text: str) -> None:
    try:
        name = normalise_emoji(text)
    except Failure:
        return
    assert normalise_emoji(name) == name


@pytest.mark.parametrize("emoji", ["", " ", "👍👍", "two words", "<b>", "::", "Ä", "x" * 65, "👍" + "\u200d👍" * 40])
def test_what_is_no_single_emoji_is_refused(emoji: str) -> None:
    with pytest.raises(Failure, match="one emoji"):
        normalise_emoji(emoji)


def test_pages_of_a_list_hold_still_while_comments_come_and_go(discussion: Discussion) -> None:
    made = [discussion.post(f"{number}")["id"] for number in range(6)]
    whole = [item["id"] for item in discussion.list()["items"]]
    assert sorted(whole) == sorted(made)
    first = discussion.list(limit=3)
    discussion.post("later")
    assert discussion.call("deleteComment", first["items"][-1]["id"]).status_code == 204
    rest = discussion.list(limit=3, page=first["next"]["page"])
    assert [item["id"] for item in (*first["items"], *rest["items"])] == whole
    assert [item["id"] for item in discussion.list(order="asc", limit=5)["items"]] == [
        id for id in reversed(whole) if id != first["items"][-1]["id"]
    ]


def test_lists_are_filtered_by_page_and_by_any_of_several_authors(discussion: Discussion) -> None:
    (first, one), (second, two) = (discussion.world.person("comment") for _ in range(2))
    discussion.post(by=one)
    about = discussion.post(by=two, page=discussion.page)
    discussion.post()
    assert [item["id"] for item in discussion.list(targetPage=discussion.page)["items"]] == [about["id"]]
    assert discussion.list(authors=[first, second])["count"] == 2
    assert discussion.list(authors=[first], targetPage=discussion.page)["items"] == []


def test_a_comment_is_about_what_is_in_the_content_and_only_of_its_place(discussion: Discussion) -> None:
    world, at = discussion.world, discussion.at
    made = discussion.post(page=discussion.page)
    space = {"spaceId": discussion.space}
    on_space = world.call("postCommentInSpace", space, body={"body": {}, "page": discussion.page})
    assert on_space.status_code == 404, "the page is not in main content yet"
    assert world.call("getCommentInSpace", space | {"commentId": made["id"]}).status_code == 404
    page = world.made("getPageInChangeRequestById", at | {"pageId": discussion.page}, query={"format": "document"})
    key = page["document"]["nodes"][-1]["key"]
    noted = discussion.post(page=discussion.page, node=key, tableCell={"record": "r", "definition": "d"})
    assert noted["target"] == {
        "page": {"id": discussion.page},
        "node": {"id": key},
        "tableCell": {"record": "r", "definition": "d"},
        "changeRequest": at["changeRequestId"],
        "space": discussion.space,
        "revision": world.made("getChangeRequestById", at)["revision"],
    }
    gone = {"operation": "delete_page", "page": discussion.page}
    world.made("updateChangeRequestContent", at, body={"changes": [gone]})
    late = {"body": {}, "page": discussion.page}
    assert discussion.call("postComment", body=late).status_code == 404
    assert discussion.get(noted["id"]) == noted, "what was said about it stays"


def test_a_body_is_given_back_as_it_was_sent_and_in_the_other_format(discussion: Discussion) -> None:
    made = discussion.post("*Hm.*\n\nYes.")
    asked = discussion.get(made["id"], format="document")["body"]
    assert asked["document"]["object"] == "document"
    assert len(asked["document"]["nodes"]) == 2
    sent = asked["document"]
    back = discussion.call("postComment", body={"body": {"document": sent}}).json()
    assert "Yes." in back["body"]["markdown"]
    assert discussion.get(back["id"], format="document")["body"] == {"document": sent}
    assert discussion.call("postComment", body={"body": {}}).json()["body"] == {}


@pytest.mark.parametrize(
    "nodes",
    [
        pytest.param(lambda: _nested(150), id="deep"),
        pytest.param(lambda: [{"object": "block"}] * 40_000, id="many"),
        pytest.param(lambda: [{"object": "block", "data": {"text": "x" * 600_000}}], id="long"),
    ],
)
def test_a_document_beyond_bounds_is_refused(discussion: Discussion, nodes: Any) -> None:
    body = {"body": {"document": {"object": "document", "data": {}, "nodes": nodes()}}}
    assert discussion.call("postComment", body=body).status_code == 400
    description = {"description": body["body"]["document"]}
    assert discussion.world.call("updateChangeRequestById", discussion.at, body=description).status_code == 400


def _nested(depth: int) -> list[dict[str, Any]]:
    node: dict[str, Any] = {"object": "block"}
    for _ in range(depth):
        node = {"object": "block", "nodes": [node]}
    return [node]


def test_repliers_are_counted_and_are_commenters_too(discussion: Discussion) -> None:
    user, token = discussion.world.person("comment")
    made = discussion.post()
    for by in (token, discussion.world.http, token):
        assert discussion.reply(made["id"], by=by).status_code == 200
    shown = discussion.get(made["id"])
    assert shown["replies"] == 3
    assert {each["user"]["id"]: each["count"] for each in shown["repliers"]} == {user: 2, discussion.world.user: 1}
    commenters = discussion.world.made("listCommentersInChangeRequest", discussion.at)["items"]
    assert {member["id"] for member in commenters} == {user, discussion.world.user}
    assert discussion.world.made("listCommentersInSpace", {"spaceId": discussion.space})["items"] == []


def test_a_reply_lands_before_its_comment_is_deleted_or_not_at_all(discussion: Discussion) -> None:
    made = discussion.post()["id"]
    with ThreadPoolExecutor(8) as pool:
        replies = [pool.submit(discussion.reply, made) for _ in range(6)]
        gone = pool.submit(discussion.call, "deleteComment", made)
        late = [pool.submit(discussion.reply, made) for _ in range(6)]
    assert gone.result().status_code == 204
    assert {future.result().status_code for future in (*replies, *late)} <= {200, 404}
    assert discussion.reply(made).status_code == 404
    assert discussion.list()["items"] == []
