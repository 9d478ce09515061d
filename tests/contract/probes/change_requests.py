"""Change requests, the writing of their content, and their reviews."""

from typing import Any

from tests.contract.probe import Ask, probe
from tests.contract.world import World

PAGE = {"operation": "insert_page", "title": "Page", "document": {"markdown": "# Page\n\nText.\n"}}
DOCUMENT = {"object": "document", "data": {"schemaVersion": 1}, "nodes": []}


def _made(world: World, *, status: str = "draft", **members: Any) -> dict[str, str]:
    space = world.space()
    request = world.change_request(space["id"], changes=[PAGE])
    path = {"spaceId": space["id"], "changeRequestId": request["id"]}
    world.made("updateChangeRequestById", path, body={"status": status, **members})
    return path


@probe("listChangeRequestsForSpace")
def probe_list_change_requests_for_space(world: World) -> Ask:
    space = world.space()["id"]
    for number in range(3):
        world.change_request(space, f"Words {number}", changes=[PAGE])
    query = {"status": "draft", "creator": world.user, "contributor": world.user}
    wrong = ({"status": "all"}, {"creator": ""}, {"contributor": "x" * 101})
    return Ask({"spaceId": space}, query=query, items=3, invalid_query=wrong)


@probe("listChangeRequestsForOrganization")
def probe_list_change_requests_for_organization(world: World) -> Ask:
    for _ in range(3):
        world.change_request(world.space(changes=())["id"])
    return Ask(query={"status": "draft"}, items=3, invalid_query=({"status": ""},))


@probe("createChangeRequest")
def probe_create_change_request(world: World) -> Ask:
    template = world.space("Template")
    body = {"subject": "Words", "template": {"id": template["id"]}, "anything": ["else"]}
    wrong = ({"subject": "x" * 101}, {"subject": None}, {"template": {"id": 7}}, {"template": {"id": ""}})

    def check(answer: Any) -> None:
        assert (answer["status"], answer["subject"], answer["number"]) == ("draft", "Words", 2)
        assert answer["revision"] != answer["revisionInitial"]

    return Ask({"spaceId": world.space()["id"]}, body=body, status=201, invalid=wrong, open_body=True, check=check)


@probe("getChangeRequestById")
def probe_get_change_request_by_id(world: World) -> Ask:
    return Ask(_made(world, description=DOCUMENT))


@probe("updateChangeRequestById")
def probe_update_change_request_by_id(world: World) -> Ask:
    link = {"ref": {"kind": "url", "url": "https://example.com/1"}, "title": "Why"}
    body = {"subject": "Other words", "description": DOCUMENT, "status": "open", "links": [link]}
    wrong: tuple[Any, ...] = (
        *({"subject": "x" * 101}, {"subject": None}, {"status": "merged"}, {"status": None}, {"description": "text"}),
        *({"description": {}}, {"description": {"object": "page"}}, {"links": [link] * 11}, {"links": None}),
        *({"links": [link | {"id": "unknown"}]}, {"links": [link | {"ref": {"kind": "url", "url": "file:///x"}}]}),
    )

    def check(answer: Any) -> None:
        assert (answer["subject"], answer["status"], answer["description"]) == ("Other words", "open", DOCUMENT)
        assert answer["links"][0]["title"] == "Why"

    return Ask(_made(world), body=body, invalid=wrong, check=check)


@probe("mergeChangeRequest")
def probe_merge_change_request(world: World) -> Ask:
    return Ask(_made(world, status="open"), check=lambda answer: _is(answer["result"], "merge"))


@probe("updateChangeRequest")
def probe_update_change_request(world: World) -> Ask:
    path = _made(world)
    world.write(path["spaceId"], [PAGE | {"document": {"markdown": "# Other\n"}}])
    return Ask(path, check=lambda answer: _is(answer["result"], "update"))


@probe("updateChangeRequestContent")
def probe_update_change_request_content(world: World) -> Ask:
    body = {"changes": [PAGE | {"title": "Other", "ref": "one"}]}
    wrong: tuple[Any, ...] = ({}, {"changes": []}, {"changes": [PAGE] * 51}, {"changes": [{"operation": "elsewhere"}]})

    def check(answer: Any) -> None:
        assert [(change["object"], change["ref"]) for change in answer["changes"]] == [("created_page", "one")]

    return Ask(_made(world), query={"compat": "false"}, body=body, invalid=wrong, check=check)


@probe("requestReviewersForChangeRequest")
def probe_request_reviewers_for_change_request(world: World) -> Ask:
    body = {"users": [world.user], "subject": "Please read"}
    wrong = ({"users": ["nobody"]}, {"users": [world.user] * 51}, {"users": None}, {"teams": ["nobody"]})
    return Ask(_made(world), body=body, invalid=wrong, check=lambda answer: _is(len(answer["users"]), 1))


@probe("getRequestedReviewersByChangeRequestId")
def probe_get_requested_reviewers_by_change_request_id(world: World) -> Ask:
    path = _made(world)
    people = [world.person("review")[0] for _ in range(3)]
    world.made("requestReviewersForChangeRequest", path, body={"users": people})
    return Ask(path, items=3)


@probe("removeRequestedReviewerFromChangeRequest")
def probe_remove_requested_reviewer_from_change_request(world: World) -> Ask:
    path = _made(world)
    world.made("requestReviewersForChangeRequest", path, body={"users": [world.user]})
    return Ask(path | {"userId": world.user}, status=204)


@probe("submitChangeRequestReview")
def probe_submit_change_request_review(world: World) -> Ask:
    body = {"status": "approved", "comment": DOCUMENT}
    wrong: tuple[Any, ...] = ({}, {"status": "rejected"}, {"status": None}, body | {"comment": {"markdown": "Good."}})

    def check(answer: Any) -> None:
        assert (answer["status"], answer["outdated"], answer["reviewer"]["id"]) == ("approved", False, world.user)
        assert answer["comment"]["target"]["review"] == answer["id"]

    return Ask(_made(world), body=body, status=201, invalid=wrong, check=check)


@probe("getReviewsByChangeRequestId")
def probe_get_reviews_by_change_request_id(world: World) -> Ask:
    path = _made(world)
    for status in ("approved", "changes-requested", "approved"):
        world.made("submitChangeRequestReview", path, body={"status": status})
    return Ask(path, query={"outdated": "false"}, items=3, invalid_query=({"outdated": "perhaps"},))


@probe("getChangeRequestReviewById")
def probe_get_change_request_review_by_id(world: World) -> Ask:
    path = _made(world)
    review = world.made("submitChangeRequestReview", path, body={"status": "approved"})
    return Ask(path | {"reviewId": review["id"]}, invalid_query=({"format": "html"},))


@probe("getContributorsByChangeRequestId")
def probe_get_contributors_by_change_request_id(world: World) -> Ask:
    path = _made(world)
    for _ in range(2):
        token = world.person("comment")[1]
        world.made("postCommentInChangeRequest", path, body={"body": {"markdown": "Hm."}}, by=token)

    def check(answer: Any) -> None:
        assert sorted(item["actionType"] for item in answer["items"]) == ["comment", "comment", "edit"]

    return Ask(path, items=3, check=check)


def _is(found: object, wanted: object) -> None:
    assert found == wanted
