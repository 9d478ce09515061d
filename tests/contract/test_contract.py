"""Every operation keeps the API's promises, whichever way it is reached.

In one world, from what must change nothing to what must succeed: invalid requests, limits, callers who may not, things
that do not exist; then the request itself, its answer held against the shape that the server's own document gives.
"""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest
from fastapi.routing import APIRoute
from jsonschema import Draft202012Validator
from pydantic import BaseModel

from syncd.model.listing import Listing
from syncd.platform.people.auth import ROLES, read_needed_role
from tests.contract.expected import find_lacking
from tests.contract.probe import ABSENT, PROBES, Ask, collect
from tests.contract.world import World

collect()

NOWHERE = "Nowhere0000000000000"


@pytest.mark.parametrize("operation", sorted(PROBES))
def test_operation(world: World, operation: str) -> None:
    route = world.target.routes[operation]
    ask = PROBES[operation](world)
    refuses_what_is_invalid(world, route, ask)
    refuses_what_is_beyond_limits(world, route, ask)
    refuses_who_may_not(world, route, ask)
    finds_only_what_exists(world, route, ask)
    if ask.items is not None:
        pages_through_all(world, route, ask)
    succeeds(world, route, ask)


def send(world: World, route: APIRoute, ask: Ask, **other: Any) -> Any:
    body = None if ask.body is ABSENT else ask.body
    return world.call(route.unique_id, **{"path": ask.path, "query": ask.query, "body": body, **other})


def refused(answer: Any, *statuses: int) -> None:
    assert answer.status_code in statuses, f"{answer.status_code}, not {statuses}: {answer.text[:500]}"
    error = answer.json()["error"]
    assert error["code"] == answer.status_code
    assert error["message"]


def refuses_what_is_invalid(world: World, route: APIRoute, ask: Ask) -> None:
    for body in ask.invalid:
        refused(send(world, route, ask, body=body), 400)
    for query in ask.invalid_query:
        refused(send(world, route, ask, query={**ask.query, **query}), 400)
    if ask.body is ABSENT:
        return
    for body in ([], "text", 7, ["\ud800"]) if isinstance(ask.body, dict) else ("text", 7):
        refused(send(world, route, ask, body=body), 400)
    if isinstance(ask.body, dict) and not ask.open_body:
        refused(send(world, route, ask, body={"surelyNotAMember": 1}), 400)
    client, address = world.target.client, str(send(world, route, ask, by="nobody").request.url)
    headers = {"Authorization": f"Bearer {world.http}"}
    method = next(iter(route.methods or ()))
    for content, kind, status in ((b"{", "application/json", 400), (b"a=1", "text/plain", 415)):
        refused(client.request(method, address, content=content, headers={**headers, "Content-Type": kind}), status)


def refuses_what_is_beyond_limits(world: World, route: APIRoute, ask: Ask) -> None:
    if ask.items is None:
        return
    for query in ({"limit": 1001}, {"limit": -1}, {"limit": "many"}, {"page": "not a cursor"}, {"page": "x" * 5000}):
        refused(send(world, route, ask, query={**ask.query, **query}), 400)


def refuses_who_may_not(world: World, route: APIRoute, ask: Ask) -> None:
    anonymous = send(world, route, ask, by=world.anonymous)
    assert anonymous.status_code == (ask.status if ask.is_open else 401), anonymous.text[:300]
    refused(send(world, route, ask, by="syncd_not_a_token_at_all"), 401)
    if ask.outsider is None:
        return
    outside = send(world, route, ask, by=world.outsider)
    assert outside.status_code == ask.outsider, f"an outsider got {outside.status_code}: {outside.text[:300]}"
    weaker = ROLES.index(read_needed_role(route.openapi_extra)) - 1
    refused(send(world, route, ask, by=world.person(None if weaker < 0 else ROLES[weaker])[1]), 403)


def finds_only_what_exists(world: World, route: APIRoute, ask: Ask) -> None:
    deletes = "DELETE" in (route.methods or ())
    owner = ["organizationId"] if "{organization_id}" in (route.path_format or "") else []
    names = list(dict.fromkeys([*owner, *ask.path]))
    unknown = ask.unknown if ask.unknown is not None else tuple(names[:-1] if deletes else names)
    for name in unknown:
        refused(send(world, route, ask, path={**ask.path, name: NOWHERE}), 404)
    if deletes and names:
        assert send(world, route, ask, path={**ask.path, names[-1]: NOWHERE}).status_code == 204


def pages_through_all(world: World, route: APIRoute, ask: Ask) -> None:
    whole = send(world, route, ask, query={**ask.query, "limit": 1000}).json()
    assert len(whole["items"]) == ask.items
    assert "next" not in whole
    met: list[Any] = []
    page: Mapping[str, Any] = {}
    while len(met) <= len(whole["items"]):
        answer = send(world, route, ask, query={**ask.query, **page, "limit": 1}).json()
        assert answer.get("count", ask.items) == ask.items
        met += answer["items"]
        if "next" not in answer:
            break
        page = {"page": answer["next"]["page"]}
    assert _stable(met) == _stable(whole["items"])


def succeeds(world: World, route: APIRoute, ask: Ask) -> None:
    newer = isinstance(ask.body, dict) and not ask.open_body
    # What a client of a newer release sends besides is passed over.
    answer = send(world, route, ask, **({"body": {**ask.body, "surelyNotAMember": {"of": 1}}} if newer else {}))
    assert answer.status_code == ask.status, answer.text[:1000]
    if ask.status >= 400:
        refused(answer, ask.status)
        return
    assert route.status_code in (None, ask.status) or ask.status in route.responses
    if ask.status == 204:
        assert answer.content == b""
        assert send(world, route, ask).status_code in (204, 404, 409)
        return
    if answer.headers.get("content-type", "").startswith("application/json"):
        assert route.response_model is not None, "the route does not declare what it answers"
        shaped = answer.json()
        validator = schema_of(route.response_model)
        problems = [f"{error.json_path}: {error.message}" for error in validator.iter_errors(shaped)]
        assert not problems, problems[:5]
        unknown = sorted(unnamed(route.response_model.model_validate(shaped)))
        assert not unknown, f"members that no document names: {unknown}"
        assert sorted(set(find_lacking(shaped))) == []
    else:
        shaped = answer.text
    if ask.check is not None:
        ask.check(shaped)


@cache
def schema_of(model: type[BaseModel]) -> Draft202012Validator:
    return Draft202012Validator(model.model_json_schema(mode="serialization", by_alias=True))


def unnamed(value: Any, at: str = "") -> set[str]:
    """Given a parsed answer, return the places of the members that its shape does not name."""
    if isinstance(value, BaseModel):
        found = {f"{at}.{name}" for name in value.model_extra or {}}
        return found.union(*(unnamed(getattr(value, name), f"{at}.{name}") for name in type(value).model_fields))
    if isinstance(value, tuple | list):
        return set().union(*(unnamed(item, f"{at}[]") for item in value))
    return set()


def _stable(items: list[Any]) -> list[str]:
    # Downloads have addresses that change with time.
    drop = {"downloadURL"}
    return [json.dumps({k: v for k, v in item.items() if k not in drop}, sort_keys=True) for item in items]


def test_the_list_envelope_is_what_lists_answer_with() -> None:
    assert set(Listing.model_fields) == {"items", "next", "count"}
