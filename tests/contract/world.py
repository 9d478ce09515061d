"""A world for each probe: an organization of its own on a platform that many tests share."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import httpx
from fastapi import FastAPI
from fastapi.routing import APIRoute

from syncd.platform.schema import accounts
from syncd.platform.storage import jobs
from syncd.platform.storage.storage import Storage, hash_token
from syncd.platform.storage.times import format_time
from tests.due_jobs import run_due_jobs

HOME = {"operation": "insert_page", "title": "Home", "document": {"markdown": "# Home\n\nWelcome.\n"}}


class Target:
    """A platform as one kind of client reaches it; the tests of a process share it."""

    def __init__(self, storage: Storage, app: FastAPI, client: httpx.Client) -> None:
        self.storage = storage
        self.app = app
        self.client = client
        self.routes = routes_of(app)

    def world(self) -> "World":
        """Return a new organization with one administrator, and an outsider in another one."""
        return World(self)


def routes_of(app: FastAPI) -> dict[str, APIRoute]:
    """Given the application, return its operations by their ids."""
    return dict(app.state.operations)


class World:
    """One organization, its people, and short ways to fill it.

    Shape: `http`, `outsider` and `anonymous` stand for callers; each is what `call` takes as `by`.
    """

    def __init__(self, target: Target) -> None:
        self.target = target
        self.storage = target.storage
        self.organization = self._organization()
        self.user, self.http = self.person("admin")
        self.outsider = self.person("admin", organization=self._organization())[1]
        self.anonymous = ""

    def person(self, role: str | None, *, organization: str | None = None, email: str | None = None) -> tuple[str, str]:
        """Given a role, or None for a guest, return the id and the token of a new member."""
        user, token, now = self.storage.new_id(), f"syncd_{self.storage.new_id()}{self.storage.new_id()}", self._now()
        address = email or f"{user.lower()}@example.com"
        with self.storage.write() as connection:
            connection.execute(
                accounts.users.insert().values(id=user, display_name=f"A {role}", email=address, created_at=now)
            )
            here = organization or self.organization
            connection.execute(accounts.members.insert().values(organization=here, user=user, role=role, joined_at=now))
            row = {"hash": hash_token(token), "user": user, "label": "test", "created_at": now}
            connection.execute(accounts.tokens.insert().values(row))
        return user, token

    def call(
        self,
        operation: str,
        path: Mapping[str, str] | None = None,
        *,
        body: Any = None,
        query: Mapping[str, Any] | None = None,
        by: str | None = None,
    ) -> httpx.Response:
        """Given an operation's id and its parameters, return the answer; `body` None sends none."""
        token = self.http if by is None else by
        route = self.target.routes[operation]
        address = str(route.path_format)
        for name, value in {"organizationId": self.organization, **(path or {})}.items():
            address = address.replace("{" + _snake(name) + "}", value)
        assert "{" not in address, f"{operation} needs more path parameters: {address}"
        method = next(iter(route.methods or ()))
        return self.target.client.request(
            method,
            address,
            params=dict(query or {}),
            # Not httpx's own JSON, which cannot spell half a character; a hostile client can.
            content=None if body is None else json.dumps(body).encode(),
            headers={
                **({"Authorization": f"Bearer {token}"} if token else {}),
                **({} if body is None else {"Content-Type": "application/json"}),
            },
        )

    def made(self, operation: str, path: Mapping[str, str] | None = None, **rest: Any) -> Any:
        """Given an operation that must succeed, return the JSON of its answer, None when it has no body."""
        answer = self.call(operation, path, **rest)
        assert answer.is_success, f"{operation}: {answer.status_code} {answer.text}"
        return answer.json() if answer.content else None

    def space(self, title: str = "Guides", *, changes: Iterable[Mapping[str, Any]] = (HOME,)) -> dict[str, Any]:
        """Given operations of a content write, return a new space whose main content they made."""
        space: dict[str, Any] = self.made("createSpace", body={"title": title, "empty": True})
        written = list(changes)
        if written:
            self.write(space["id"], written)
        return dict(self.made("getSpaceById", {"spaceId": space["id"]}))

    def write(self, space_id: str, changes: list[Mapping[str, Any]]) -> dict[str, Any]:
        """Given operations of a content write, do them through a merged change request; return its answer."""
        request = self.change_request(space_id, changes=changes)
        self.made("mergeChangeRequest", {"spaceId": space_id, "changeRequestId": request["id"]})
        return request

    def change_request(
        self, space_id: str, subject: str = "Words", *, changes: Iterable[Mapping[str, Any]] = ()
    ) -> dict[str, Any]:
        """Given operations of a content write, return a new change request with them; `written` is their answer."""
        at = {"spaceId": space_id}
        request: dict[str, Any] = self.made("createChangeRequest", at, body={"subject": subject})
        listed = list(changes)
        if listed:
            at["changeRequestId"] = request["id"]
            body = {"changes": listed}
            request["written"] = self.made("updateChangeRequestContent", at, body=body, query={"compat": "false"})
        return request

    def site(self, *space_ids: str, title: str = "Docs", **members: Any) -> dict[str, Any]:
        """Given spaces, return a new site with them at its root."""
        body = {"title": title, "spaces": list(space_ids), **members}
        return dict(self.made("createSite", body=body))

    def run_jobs(self) -> int:
        """Do all work that is due, and return how many jobs it was."""
        state = self.target.app.state
        return run_due_jobs(jobs.JobContext(self.storage, state.settings), state.handlers)

    def _organization(self) -> str:
        id = self.storage.new_id()
        with self.storage.write() as connection:
            connection.execute(
                accounts.organizations.insert().values(id=id, title="Example", created_at=self._now(), details={})
            )
        return id

    def _now(self) -> str:
        return format_time(self.storage.now())


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
