"""Discussions: comments on a space, or on one of its change requests; both work alike."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import sqlalchemy as sa
from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel

from syncd.platform.change_requests import change_requests
from syncd.platform.http.failures import Failure
from syncd.platform.people.auth import Caller, CurrentCaller, declare_role, is_role_at_least
from syncd.platform.schema.comments import comments
from syncd.platform.spaces.spaces import require_space
from syncd.platform.storage.storage import CurrentStorage, Storage


@dataclass(frozen=True)
class Discussion:
    """A discussion that the caller may read, with the caller's `role` in its space."""

    space: sa.Row[Any]
    change_request: sa.Row[Any] | None
    role: str | None

    @property
    def path(self) -> str:
        """The address, below `/v1`, of what is discussed."""
        here = f"/spaces/{self.space.id}"
        return here if self.change_request is None else f"{here}/change-requests/{self.change_request.id}"

    @property
    def revision(self) -> str:
        """The revision that a reader sees here."""
        return str(self.space.revision if self.change_request is None else self.change_request.revision)

    @property
    def condition(self) -> sa.ColumnElement[bool]:
        """The condition for a comment to belong to this discussion."""
        column = comments.c.change_request
        is_of_request = column.is_(None) if self.change_request is None else column == self.change_request.id
        return sa.and_(comments.c.space == self.space.id, is_of_request)

    def has_role(self, role: str) -> bool:
        """Return whether the caller's role in this discussion is at least `role`."""
        return is_role_at_least(self.role, role)


@dataclass(frozen=True)
class DiscussionRequest:
    """A request about a discussion: who asks, in which storage, and where."""

    request: Request
    storage: Storage
    caller: Caller
    space_id: str
    change_request_id: str | None

    def require_discussion(self, connection: sa.Connection) -> Discussion:
        """Return the discussion. Raises: Failure 404 where there is none, 403 when the caller's role is too weak."""
        space = require_space(connection, self.caller, self.space_id)
        row = None
        if self.change_request_id is not None:
            row = change_requests.require_change_request(connection, self.space_id, self.change_request_id)
        return Discussion(space, row, space.level)


async def _read_discussion_request(
    request: Request, storage: CurrentStorage, caller: CurrentCaller
) -> DiscussionRequest:
    path = request.path_params
    return DiscussionRequest(request, storage, caller, path["space_id"], path.get("change_request_id"))


AtDiscussion = Annotated[DiscussionRequest, Depends(_read_discussion_request)]
"""A handler's parameter for an operation on a discussion, whichever place its path names."""


def require_comment(connection: sa.Connection, discussion: Discussion, comment_id: str) -> sa.Row[Any]:
    """Return a comment's row. Raises: Failure 404 when the discussion has no such comment."""
    row = connection.execute(sa.select(comments).where(comments.c.id == comment_id, discussion.condition)).one_or_none()
    if row is None:
        raise Failure(404, f"No comment {comment_id} here.")
    return row


async def _declare_space_parameters(space_id: str) -> None:
    """Name the parameters of a path, for the platform's OpenAPI document."""


async def _declare_change_request_parameters(space_id: str, change_request_id: str) -> None:
    """Name the parameters of a path, for the platform's OpenAPI document."""


_PREFIXES: Mapping[str, tuple[str, Callable[..., Any]]] = {
    "Space": ("/spaces/{space_id}", _declare_space_parameters),
    "ChangeRequest": ("/spaces/{space_id}/change-requests/{change_request_id}", _declare_change_request_parameters),
}


@dataclass(frozen=True)
class DiscussionOperation:
    """An operation on discussions of both kinds: its name up to `InSpace` or `InChangeRequest`, path, role and answer.

    Shape: `extension_in` has `Space` or `ChangeRequest` where the API document does not have it.
    """

    name: str
    method: str
    path: str
    role: str
    answer: type[BaseModel] | None
    extension_in: tuple[str, ...] = ()


def add_operations(router: APIRouter, handlers: Mapping[DiscussionOperation, Callable[..., Any]]) -> None:
    """Add the routes of operations to a router, each once for spaces and once for change requests."""
    for discussion, (prefix, parameters) in _PREFIXES.items():
        for operation, handler in handlers.items():
            router.add_api_route(
                prefix + operation.path,
                handler,
                methods=[operation.method],
                operation_id=f"{operation.name}In{discussion}",
                status_code=204 if operation.answer is None else 200,
                response_model=operation.answer,
                openapi_extra=declare_role(operation.role, extension=discussion in operation.extension_in),
                dependencies=[Depends(parameters)],
            )
