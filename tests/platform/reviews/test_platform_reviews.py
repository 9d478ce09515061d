"""Reviews and merge rules: whose word counts, for which content, and what a refused merge says."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from syncd.platform.app import create_app
from tests.contract.in_process import InProcess
from tests.contract.world import HOME, Target, World
from tests.storages import new_storage

EDIT = {"operation": "insert_page", "document": {"markdown": "# New\n"}}
SAID = {
    "object": "document",
    "data": {},
    "nodes": [{"object": "block", "type": "paragraph", "isVoid": False, "data": {}, "nodes": []}],
}


class Request:
    """A change request by an editor, who may not merge, with two reviewers around it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.space = world.space(changes=[HOME])["id"]
        self.reviewers = [world.person("review") for _ in range(2)]
        self.at = {"spaceId": self.space, "changeRequestId": world.change_request(self.space, "", changes=[EDIT])["id"]}

    def rules(self, *rules: dict[str, Any] | str, type: str = "rules") -> None:
        listed = [{"rule": rule} if isinstance(rule, str) else rule for rule in rules]
        body = {"mergeRules": {"type": type, **({"rules": listed} if type == "rules" else {})}}
        self.world.made("updateSpaceById", {"spaceId": self.space}, body=body)

    def review(self, status: str = "approved", *, by: str | None = None) -> dict[str, Any]:
        made = self.world.made("submitChangeRequestReview", self.at, body={"status": status}, by=by)
        return dict(made)

    def patch(self, **members: Any) -> None:
        self.world.made("updateChangeRequestById", self.at, body=members)

    def edit(self) -> None:
        self.world.made("updateChangeRequestContent", self.at, body={"changes": [EDIT | {"slug": "another"}]})

    def merge(self, *, by: str | None = None) -> httpx.Response:
        return self.world.call("mergeChangeRequest", self.at, by=by)

    def refused(self, rule: str, *, by: str | None = None) -> None:
        answer = self.merge(by=by)
        assert answer.status_code == 412, answer.text
        assert rule in answer.json()["error"]["message"]


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with new_storage(tmp_path_factory.mktemp("platform")) as storage:
        app = create_app(storage)
        with httpx.Client(base_url="http://platform", transport=InProcess(app)) as client:
            yield Target(storage, app, client)


@pytest.fixture
def request_(target: Target) -> Request:
    return Request(target.world())


def _update(request: Request) -> None:
    request.world.made("updateChangeRequest", request.at)


RULES: list[tuple[str, Callable[[Request], object] | None, Callable[[Request], object]]] = [
    ("require_change_request_subject", None, lambda it: it.patch(subject="Words")),
    ("require_change_request_description", None, lambda it: it.patch(description=SAID)),
    (
        "require_up_to_date_change_request",
        lambda it: it.world.write(it.space, [EDIT | {"document": {"markdown": "# Other\n"}}]),
        _update,
    ),
    (
        "require_at_least_one_review",
        lambda it: it.review(),
        lambda it: it.review("changes-requested", by=it.reviewers[0][1]),
    ),
    (
        "require_at_least_one_approved_review",
        lambda it: it.review("changes-requested", by=it.reviewers[0][1]),
        lambda it: it.review(by=it.reviewers[1][1]),
    ),
    (
        "require_all_reviews_approved",
        lambda it: (it.review(by=it.reviewers[1][1]), it.review("changes-requested", by=it.reviewers[0][1])),
        lambda it: it.review(by=it.reviewers[0][1]),
    ),
]


@pytest.mark.parametrize(("rule", "before", "then"), RULES, ids=[rule for rule, _, _ in RULES])
def test_a_rule_forbids_a_merge_until_it_is_met(
    request_: Request, rule: str, before: Callable[[Request], object] | None, then: Callable[[Request], object]
) -> None:
    request_.rules(rule)
    if before is not None:
        before(request_)
    request_.refused(rule)
    then(request_)
    assert request_.merge().status_code == 200


def test_named_reviewers_must_approve_all_or_one_of_them(request_: Request) -> None:
    (first, one), (second, two) = request_.reviewers
    request_.rules({"rule": "require_specific_reviewers", "users": [first, second]})
    request_.review(by=one)
    request_.refused("require_specific_reviewers")
    request_.rules({"rule": "require_one_of_specific_reviewers", "users": [second]})
    request_.refused("require_one_of_specific_reviewers")
    request_.review(by=two)
    request_.rules({"rule": "require_specific_reviewers", "users": [first, second]})
    assert request_.merge().status_code == 200


def test_only_the_author_merges_where_a_rule_says_so_and_who_may_bypass_needs_no_rule(request_: Request) -> None:
    reviewer, token = request_.reviewers[0]
    request_.rules("require_author_to_merge")
    request_.refused("require_author_to_merge", by=token)
    request_.rules("require_author_to_merge", {"rule": "allow_bypass", "users": [reviewer]})
    assert request_.merge(by=token).status_code == 200


@pytest.mark.parametrize("rule", ["require_agent_review", {"rule": "custom", "expression": "true"}])
def test_a_rule_that_cannot_be_evaluated_is_not_taken_as_met(request_: Request, rule: Any) -> None:
    request_.rules(rule)
    request_.refused("cannot evaluate")


def test_a_space_inherits_its_organizations_rules_unless_it_has_its_own_or_none(request_: Request) -> None:
    rules = {"type": "rules", "rules": [{"rule": "require_change_request_subject"}]}
    request_.world.made("updateOrganizationById", body={"mergeRules": rules})
    request_.refused("require_change_request_subject")
    request_.rules("require_at_least_one_review")
    request_.refused("require_at_least_one_review")
    request_.rules(type="none")
    assert request_.merge().status_code == 200


def test_an_approval_is_of_the_content_that_was_reviewed(request_: Request) -> None:
    request_.rules("require_at_least_one_approved_review")
    review = request_.review(by=request_.reviewers[0][1])
    request_.edit()
    request_.refused("require_at_least_one_approved_review")
    path = request_.at | {"reviewId": review["id"]}
    assert request_.world.made("getChangeRequestReviewById", path)["outdated"]
    for outdated, count in (("true", 1), ("false", 0)):
        found = request_.world.made("getReviewsByChangeRequestId", request_.at, query={"outdated": outdated})
        assert found["count"] == count


def test_a_review_is_for_reviewers_and_for_whoever_is_asked(request_: Request) -> None:
    world, at = request_.world, request_.at
    (first, one), (second, two), (third, three) = (world.person("comment") for _ in range(3))
    team = world.made("createOrganizationTeam", body={"title": "Readers", "members": [second]})
    asked = world.made("requestReviewersForChangeRequest", at, body={"users": [first, first], "teams": [team["id"]]})
    assert [request["user"]["id"] for request in asked["users"]] == [first]
    assert [request["team"]["title"] for request in asked["teams"]] == ["Readers"]
    for by, status in ((one, 201), (two, 201), (three, 403)):
        answer = world.call("submitChangeRequestReview", at, body={"status": "approved"}, by=by)
        assert answer.status_code == status
        if status == 201:
            assert answer.json()["requestedBy"]["id"] == world.user
            assert answer.headers["location"] == answer.json()["urls"]["location"]
    space = {"spaceId": request_.space}
    for user, count in ((first, 1), (second, 1), (third, 0)):
        query = {"status": "draft", "requestedReviewer": user}
        assert world.made("listChangeRequestsForSpace", space, query=query)["count"] == count
    world.made("removeRequestedReviewerFromChangeRequest", at | {"userId": first})
    assert world.made("getRequestedReviewersByChangeRequestId", at)["count"] == 1


def test_who_wrote_is_a_contributor_and_who_only_opened_it_is_not(request_: Request) -> None:
    world = request_.world
    editor, token = world.person("edit")
    space = {"spaceId": request_.space}
    made = world.made("createChangeRequest", space, by=token)
    at = space | {"changeRequestId": made["id"]}
    query = {"status": "draft", "contributor": editor}
    assert world.made("listChangeRequestsForSpace", space, query=query)["count"] == 0
    world.made("updateChangeRequestContent", request_.at, body={"changes": [EDIT | {"slug": "more"}]}, by=token)
    found = world.made("listChangeRequestsForOrganization", query=query)["items"]
    assert [request["id"] for request in found] == [request_.at["changeRequestId"]]
    assert world.made("getContributorsByChangeRequestId", at)["items"] == []


def test_of_merges_at_once_one_wins_and_the_others_are_told(request_: Request) -> None:
    with ThreadPoolExecutor(4) as pool:
        answers = [future.result() for future in [pool.submit(request_.merge) for _ in range(4)]]
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409]
    assert {"merged" in answer.text for answer in answers if answer.status_code == 409} == {True}
