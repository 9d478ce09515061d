"""The life of a change request: draft, open, outdated, updated, merged or archived; and nothing is lost on the way."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest


class Space:
    """A space with a home page, and short words for what is done to it."""

    def __init__(self, http: httpx.Client, organization: str) -> None:
        made = http.post(f"/v1/orgs/{organization}/spaces", json={"title": "Guide"}).json()
        self.http, self.organization, self.path = http, organization, f"/v1/spaces/{made['id']}"

    def get(self, below: str = "", **query: Any) -> dict[str, Any]:
        answer = self.http.get(f"{self.path}{below}", params=query)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def open(self, subject: str = "Edit") -> dict[str, Any]:
        made: dict[str, Any] = self.http.post(f"{self.path}/change-requests", json={"subject": subject}).json()
        return made

    def request(self, number: int) -> dict[str, Any]:
        return self.get(f"/change-requests/{number}")

    def patch(self, number: int, **members: Any) -> httpx.Response:
        return self.http.patch(f"{self.path}/change-requests/{number}", json=members)

    def write(self, number: int, *changes: dict[str, Any]) -> dict[str, Any]:
        answer = self.http.post(
            f"{self.path}/change-requests/{number}/content", params={"compat": False}, json={"changes": changes}
        )
        assert answer.status_code == 200, answer.text
        written: dict[str, Any] = answer.json()
        return written

    def insert(self, number: int, text: str, **members: Any) -> str:
        change = {"operation": "insert_page", "document": {"markdown": text}, **members}
        return str(self.write(number, change)["changes"][0]["page"]["id"])

    def edit(self, number: int, page: str, text: str) -> None:
        self.write(number, {"operation": "update_page", "page": page, "document": {"markdown": text}})

    def act(self, number: int, verb: str) -> dict[str, Any]:
        answer = self.http.post(f"{self.path}/change-requests/{number}/{verb}")
        assert answer.status_code == 200, answer.text
        result: dict[str, Any] = answer.json()
        return result

    def text(self, page: str, below: str = "/content") -> str:
        return str(self.get(f"{below}/page/{page}", format="markdown")["markdown"])

    def titles(self) -> list[str]:
        return [page["title"] for page in self.get("/content/pages")["pages"]]


@pytest.fixture
def space(http: httpx.Client, organization: str) -> Space:
    return Space(http, organization)


@pytest.fixture
def page(space: Space) -> str:
    """A page of the main content with three lines."""
    made = space.insert(space.open()["number"], "one\n\ntwo\n\nthree\n", title="Page")
    space.act(1, "merge")
    return made


def test_a_new_change_request_is_a_draft_of_the_main_content(space: Space) -> None:
    answer = space.http.post(f"{space.path}/change-requests", json={"subject": "First", "anything": ["else"]})
    made = answer.json()
    assert answer.status_code == 201
    assert space.http.get(answer.headers["location"]).json() == made
    assert {key: made[key] for key in ("object", "number", "status", "subject", "comments", "outdated")} == {
        "object": "change-request",
        "number": 1,
        "status": "draft",
        "subject": "First",
        "comments": 0,
        "outdated": False,
    }
    assert made["revision"] == made["revisionInitial"] == space.get()["revision"]
    assert made["createdBy"]["object"] == "user"
    assert space.http.post(f"{space.path}/change-requests").status_code == 201
    assert space.request(2)["subject"] == ""


def test_numbers_count_up_in_each_space_whoever_creates_at_once(space: Space) -> None:
    with ThreadPoolExecutor(8) as pool:
        numbers = list(pool.map(lambda _: space.open()["number"], range(24)))
    assert sorted(numbers) == list(range(1, 25))
    assert Space(space.http, space.organization).open()["number"] == 1


def test_an_id_and_a_number_mean_the_same_change_request(space: Space) -> None:
    made = space.open()
    assert space.get(f"/change-requests/{made['id']}") == space.request(1) == made
    for unknown in ("2", "nothing", "99999999999999999999"):
        assert space.http.get(f"{space.path}/change-requests/{unknown}").status_code == 404
    other = Space(space.http, space.organization)
    assert other.http.get(f"{other.path}/change-requests/{made['id']}").status_code == 404


def test_lists_show_one_status_open_by_default_and_the_space_counts(space: Space) -> None:
    for status in ("draft", "open", "open", "archived", "draft"):
        assert space.patch(space.open()["number"], status=status).status_code == 200
    space.act(5, "merge")
    listed = {
        status: [item["number"] for item in space.get("/change-requests", **query)["items"]]
        for status, query in {"": {}, **{name: {"status": name} for name in ("draft", "archived", "merged")}}.items()
    }
    assert listed == {"": [2, 3], "draft": [1], "archived": [4], "merged": [5]}
    counts = ("changeRequests", "changeRequestsOpen", "changeRequestsDraft")
    assert [space.get()[name] for name in counts] == [5, 2, 1]
    assert space.http.get(f"{space.path}/change-requests?status=all").status_code == 400
    everywhere = space.http.get(f"/v1/orgs/{space.organization}/change-requests").json()
    assert sorted(item["number"] for item in everywhere["items"]) == [2, 3]


def test_lists_are_paged_and_filtered_by_person(space: Space) -> None:
    me = space.open()["createdBy"]["id"]
    for _ in range(4):
        space.open()
    first = space.get("/change-requests", status="draft", limit=2)
    rest = space.get("/change-requests", status="draft", limit=9, page=first["next"]["page"])
    assert [item["number"] for item in (*first["items"], *rest["items"])] == [1, 2, 3, 4, 5]
    assert "next" not in rest
    for query, count in (({"creator": me}, 5), ({"creator": "x"}, 0), ({"requestedReviewer": me}, 0)):
        assert len(space.get("/change-requests", status="draft", **query)["items"]) == count


def test_members_change_one_by_one_and_limits_hold(space: Space) -> None:
    space.open("Before")
    description = {"object": "document", "data": {}, "nodes": []}
    assert space.patch(1, description=description).json()["description"] == description
    assert space.patch(1, subject="x" * 100, status="open").json()["status"] == "open"
    assert space.request(1)["description"] == description
    for wrong in ({"subject": "x" * 101}, {"status": "merged"}, {"status": "closed"}, {"outdated": True}):
        assert space.patch(1, **wrong).status_code == 400
    assert "description" not in space.patch(1, description=None).json()
    json = {"Content-Type": "application/json"}
    half = space.http.post(f"{space.path}/change-requests", content=rb'{"subject": "\ud800"}', headers=json)
    assert half.status_code == 400


def test_merging_makes_the_content_main_and_says_where_it_came_from(space: Space) -> None:
    before = space.get()["revision"]
    number = space.open("Add a page")["number"]
    page = space.insert(number, "# New\n")
    assert space.titles() == ["Guide"]
    result = space.act(number, "merge")
    merged = space.request(number)
    assert result == {"revision": space.get()["revision"], "result": "merge"}
    assert (merged["status"], merged["revisionMerged"], merged["outdated"]) == ("merged", result["revision"], False)
    assert merged["mergedBy"]["id"] == merged["createdBy"]["id"]
    assert (space.titles(), space.text(page)) == (["Guide", "New"], "# New\n")
    revision = space.get("/content")
    assert (revision["type"], revision["parents"]) == ("merge", [before, merged["revision"]])
    assert (revision["mergedFrom"]["id"], revision["mergedFrom"]["subject"]) == (merged["id"], "Add a page")


@pytest.mark.parametrize("verb", ["merge", "update"])
@pytest.mark.parametrize("status", ["merged", "archived"])
def test_what_is_merged_or_archived_can_be_neither_merged_nor_updated(space: Space, verb: str, status: str) -> None:
    space.open()
    assert space.act(1, "merge") if status == "merged" else space.patch(1, status="archived").json()
    assert space.http.post(f"{space.path}/change-requests/1/{verb}").status_code == 409


def test_an_archived_change_request_can_be_opened_again_and_a_merged_one_cannot(space: Space) -> None:
    space.open()
    space.patch(1, status="archived")
    assert space.patch(1, status="open").json()["status"] == "open"
    space.act(1, "merge")
    assert space.patch(1, status="open").status_code == 409
    assert space.patch(1, subject="Renamed").json()["subject"] == "Renamed"


def test_an_outdated_change_request_is_updated_with_the_main_content(space: Space, page: str) -> None:
    mine, other = space.open()["number"], space.open()["number"]
    space.edit(mine, page, "one\n\ntwo\n\nTHREE\n")
    space.edit(other, page, "ONE\n\ntwo\n\nthree\n")
    assert not space.request(mine)["outdated"]
    main = space.act(other, "merge")["revision"]
    assert space.request(mine)["outdated"]
    result = space.act(mine, "update")
    updated = space.request(mine)
    assert result == {"revision": updated["revision"], "result": "update"}
    assert (updated["outdated"], updated["revisionMergedAncestor"], updated["status"]) == (False, main, "draft")
    assert space.text(page, f"/change-requests/{mine}/content") == "ONE\n\ntwo\n\nTHREE\n"
    assert space.get(f"/revisions/{result['revision']}")["type"] == "update"
    assert space.act(mine, "update") == result
    assert space.act(mine, "merge")["result"] == "merge"
    assert space.text(page) == "ONE\n\ntwo\n\nTHREE\n"


def test_a_conflict_keeps_the_version_of_the_change_request_and_is_told(space: Space, page: str) -> None:
    mine, other, third = (space.open()["number"] for _ in range(3))
    for number, word in ((mine, "mine"), (other, "other"), (third, "third")):
        space.edit(number, page, f"one\n\n{word}\n\nthree\n")
    space.act(other, "merge")
    assert space.act(mine, "update")["result"] == "conflicts"
    assert space.text(page, f"/change-requests/{mine}/content") == "one\n\nmine\n\nthree\n"
    assert space.act(mine, "merge")["result"] == "merge"
    assert space.act(third, "merge")["result"] == "conflicts"
    assert space.text(page) == "one\n\nthird\n\nthree\n"
    assert space.request(third)["status"] == "merged"


def test_a_page_deleted_in_main_content_does_not_come_back_with_an_untouched_change_request(
    space: Space, page: str
) -> None:
    mine, other = space.open()["number"], space.open()["number"]
    space.insert(mine, "# Added\n")
    space.write(other, {"operation": "delete_page", "page": page})
    space.act(other, "merge")
    assert space.act(mine, "merge")["result"] == "merge"
    assert space.titles() == ["Guide", "Added"]


def test_writers_and_mergers_at_once_lose_nothing(space: Space) -> None:
    def propose(name: int) -> None:
        number = space.open(f"Page {name}")["number"]
        for part in range(3):
            space.insert(number, f"# Page {name} {part}\n")
        space.act(number, "update")
        space.act(number, "merge")

    shared = space.open("Shared")["number"]
    with ThreadPoolExecutor(6) as pool:
        together = [pool.submit(space.insert, shared, f"# Shared {number}\n") for number in range(12)]
        list(pool.map(propose, range(6)))
        assert len({future.result() for future in together}) == 12
    space.act(shared, "merge")
    wanted = {f"Page {name} {part}" for name in range(6) for part in range(3)}
    wanted |= {f"Shared {number}" for number in range(12)} | {"Guide"}
    assert sorted(space.titles()) == sorted(wanted)
    assert space.get()["changeRequestsOpen"] == space.get()["changeRequestsDraft"] == 0
