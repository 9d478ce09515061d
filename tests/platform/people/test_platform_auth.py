"""Who may come in: the owner's token and nothing else; roles are named in one place and gaps never let in."""

import asyncio

import httpx
import pytest

from syncd.platform.app import create_app
from syncd.platform.people.auth import (
    REMEMBERED_S,
    ROLE_KEY,
    ROLES,
    Callers,
    declare_role,
    is_role_at_least,
    read_needed_role,
)
from syncd.platform.schema import accounts
from syncd.platform.storage.storage import Storage, hash_token

UNSIGNED = ("/v1/downloads/", "/v1/published/")
"""Downloads carry a signature of their own in place of a token; what is published is for everybody."""
ANONYMOUS = {"/v1/urls/published", "/v1/orgs/{organization_id}/sites/{site_id}/insights/events"}
"""What renderers ask without a token."""


@pytest.mark.parametrize(
    "header",
    [None, "", "Bearer", "Bearer wrong", "Basic {token}", "{token}", "Bearer {token}x", "Bearer \u00e9"],
)
def test_without_the_right_token_nothing_is_answered(server: tuple[str, str], header: str | None) -> None:
    url, token = server
    headers = {} if header is None else {b"Authorization": header.format(token=token).encode()}
    with httpx.Client(base_url=url, headers=headers, trust_env=False, timeout=30) as client:
        for path in ("/v1/user", "/v1/orgs", "/v1/orgs/o/sites/s/redirects"):
            answer = client.get(path)
            assert answer.status_code == 401
            assert answer.json()["error"]["code"] == 401
            assert answer.headers["www-authenticate"] == "Bearer"


def test_the_owner_is_answered_and_the_scheme_has_no_letter_case(server: tuple[str, str]) -> None:
    url, token = server
    with httpx.Client(
        base_url=url, headers={"Authorization": f"bearer {token}"}, trust_env=False, timeout=30
    ) as client:
        user = client.get("/v1/user").json()
    assert user["object"] == "user"
    assert user["displayName"] == "Owner"
    assert user["urls"]["location"] == f"{url}/v1/users/{user['id']}"


def test_every_operation_asks_who_calls(storage: Storage) -> None:
    app = create_app(storage)
    paths = app.openapi()["paths"]

    async def unsigned() -> set[int]:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://platform") as client:
            signed = [path for path in paths if not path.startswith(UNSIGNED)]
            operations = [(method, path) for path in signed for method in paths[path]]
            open_ones = {path for method, path in operations if {} in paths[path][method]["security"]}
            assert open_ones == ANONYMOUS
            operations = [(method, path) for method, path in operations if path not in open_ones]
            answers = [await client.request(method, path, json={}) for method, path in operations]
            return {answer.status_code for answer in answers}

    assert asyncio.run(unsigned()) == {401}


def test_a_known_caller_costs_no_transaction_and_is_looked_up_again_after_a_while(storage: Storage) -> None:
    made = storage.bootstrap()
    assert made is not None
    now = [0.0]
    callers = Callers(storage, clock=lambda: now[0])
    assert asyncio.run(callers.find_by_token(made.token)) is not None
    with storage.write() as connection:
        connection.execute(accounts.tokens.delete())

    now[0] = REMEMBERED_S - 0.1
    assert asyncio.run(callers.find_by_token(made.token)) is not None
    now[0] = REMEMBERED_S + 0.1
    assert asyncio.run(callers.find_by_token(made.token)) is None


def test_a_revoked_token_ends_at_once_when_callers_are_forgotten(storage: Storage) -> None:
    made = storage.bootstrap()
    assert made is not None
    callers = Callers(storage)
    assert asyncio.run(callers.find_by_token(made.token)) is not None
    with storage.write() as connection:
        connection.execute(accounts.tokens.delete())
    callers.clear()
    assert asyncio.run(callers.find_by_token(made.token)) is None


def test_a_reader_may_read_and_not_write(storage: Storage, http: httpx.Client, organization: str) -> None:
    with storage.write() as connection:
        connection.execute(accounts.users.insert().values(id="reader", display_name="Reader", created_at="2026"))
        row = {"organization": organization, "user": "reader", "role": "read", "joined_at": "2026"}
        connection.execute(accounts.members.insert().values(row))
        row = {"hash": hash_token("a-token-of-the-reader"), "user": "reader", "label": "test", "created_at": "2026"}
        connection.execute(accounts.tokens.insert().values(row))

    http.headers["Authorization"] = "Bearer a-token-of-the-reader"
    assert http.get(f"/v1/orgs/{organization}/sites").status_code == 200
    assert http.get(f"/v1/orgs/{organization}").json()["permissions"]["admin"] is False
    refused = http.post(f"/v1/orgs/{organization}/sites", json={"title": "Mine"})
    assert refused.status_code == 403
    assert refused.json()["error"]["code"] == 403


def test_a_stranger_sees_no_organization(storage: Storage, http: httpx.Client, organization: str) -> None:
    with storage.write() as connection:
        connection.execute(accounts.users.insert().values(id="guest", display_name="Guest", created_at="2026"))
        row = {"hash": hash_token("a-token-of-the-guest"), "user": "guest", "label": "test", "created_at": "2026"}
        connection.execute(accounts.tokens.insert().values(row))
    http.headers["Authorization"] = "Bearer a-token-of-the-guest"
    assert http.get("/v1/orgs").json() == {"items": [], "count": 0}
    assert http.get(f"/v1/orgs/{organization}").status_code == 404


def test_every_operation_declares_its_role(storage: Storage) -> None:
    paths = create_app(storage).openapi()["paths"]
    silent = [
        f"{method} {path}"
        for path, operations in paths.items()
        for method, operation in operations.items()
        if operation.get(ROLE_KEY) not in ROLES and not path.startswith(UNSIGNED)
    ]
    assert silent == []


def test_an_operation_that_declares_no_role_is_for_administrators() -> None:
    assert read_needed_role(None) == read_needed_role({}) == "admin"
    assert [read_needed_role(declare_role(role)) for role in ROLES] == list(ROLES)


def test_a_role_may_do_what_the_weaker_ones_may_and_a_guest_nothing() -> None:
    assert [[is_role_at_least(role, needed) for needed in ROLES] for role in (None, "read", "edit", "admin")] == [
        [False] * 6,
        [True] + [False] * 5,
        [True] * 3 + [False] * 3,
        [True] * 6,
    ]
