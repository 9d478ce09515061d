"""The operations of the API for a person in a browser: called in the process, with all that they check and refuse.

A page neither shows nor does what the API would refuse, because it asks the API: the same route, the same roles, the
same limits; only how the person is known differs.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from fastapi import Request
from fastapi.routing import APIRoute
from starlette.types import Message

from syncd.platform.http.failures import Failure
from syncd.platform.people.auth import CALLER_KEY, Caller

_DROPPED = frozenset({b"cookie", b"content-length", b"content-type", b"transfer-encoding", b"authorization"})
_FIRST_ERROR = 400


@dataclass(frozen=True)
class OperationClient:
    """Calls operations for a person, within a request of a browser."""

    request: Request
    caller: Caller

    async def call(
        self, operation: str, path: Mapping[str, str], *, query: Mapping[str, object] | None = None, body: Any = None
    ) -> Any:
        """Return the JSON of an operation's answer, None for one without; `path` has its parameters by their names.

        Raises: Failure 400, 403, 404, 409, 412, 413 and 503 as the operation.
        """
        route: APIRoute = self.request.app.state.operations[operation]
        sent = b"" if body is None else json.dumps(body).encode()
        answer = _Answer(sent)
        await route.app(self._build_scope(route, path, query or {}, sent), answer.receive, answer.send)
        found = json.loads(answer.body) if answer.body else None
        if answer.status >= _FIRST_ERROR:
            message = found.get("error", {}).get("message") if isinstance(found, dict) else None
            raise Failure(answer.status, str(message or "The platform refused this."))
        return found

    def _build_scope(
        self, route: APIRoute, path: Mapping[str, str], query: Mapping[str, object], body: bytes
    ) -> dict[str, Any]:
        address = route.path_format
        for name, value in path.items():
            address = address.replace(f"{{{name}}}", quote(value, safe=""))
        headers = [(name, value) for name, value in self.request.scope["headers"] if name not in _DROPPED]
        if body:
            headers += [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
        return {
            **self.request.scope,
            "method": next(iter(route.methods or {"GET"})),
            "path": address,
            "raw_path": address.encode(),
            "query_string": urlencode(query, doseq=True).encode(),
            "headers": headers,
            "path_params": dict(path),
            "endpoint": route.endpoint,
            "route": route,
            CALLER_KEY: self.caller,
        }


class _Answer:
    """What one call sends and gets."""

    def __init__(self, sent: bytes) -> None:
        self.status, self.body = 500, b""
        self._sent = sent

    async def receive(self) -> Message:
        sent, self._sent = self._sent, b""
        return {"type": "http.request", "body": sent, "more_body": False}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        elif message["type"] == "http.response.body":
            self.body += message.get("body", b"")
