"""Scheduling of requests: slots for each kind of work, and large bodies read outside the event loop.

One interpreter computes one thing at a time. Expensive requests therefore wait for their turn without occupying a
thread, so that a thread is always free for cheap ones: a request for the caller's own user is not delayed by requests
for documents.
"""

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable, Hashable
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

import anyio.to_thread
from fastapi import Request, Response
from fastapi.routing import APIRoute
from pydantic_core import from_json

from syncd.platform.http.limits import identify_sender
from syncd.platform.http.shared_results import SharedResults
from syncd.platform.http.slots import Slots
from syncd.platform.http.time_limits import LONG_S, USUAL_S, limit_time

T = TypeVar("T")

AT_ONCE = {"read": 3, "list": 2, "write": 2, "content": 2, "compute": 2, "open": 1, "large": 1, "pdf": 2}
"""By kind of work, how many requests run at the same time. Few, because more threads do not compute more in one
interpreter, and each of them makes the event loop wait longer.
"""
THREADS = 24
"""More than all slots together, so that a request with a slot never waits for a thread."""
LARGE_BYTES = 128 * 1024
"""Of a body that is read away from the event loop; parsing and checking a smaller one takes a few milliseconds."""

_REMEMBERED_BYTES = 64 * 1024 * 1024
_PATIENCE_S = 30.0
_WAITING = 256

_COMPUTE_OPERATIONS = frozenset(
    {
        *("searchSpaceContent", "searchOrganizationContent", "streamAskInSite"),
        *("listSpaceLinks", "listSpacePageLinks", "listSpacePageBacklinks", "listSpaceFileBacklinks"),
        *("listChangeRequestLinks", "listPageLinksInChangeRequest", "listChangeRequestPageBacklinks"),
        *("listChangeRequestFileBacklinks", "getReusableContentById"),
        *("getReusableContentInChangeRequestById", "getReusableContentInRevisionById"),
    }
)
"""Reads that may have to read whole spaces."""
_CONTENT_OPERATIONS = frozenset({"updateChangeRequestContent", "mergeChangeRequest", "updateChangeRequest"})
"""Writes that read and compare many texts first, or fetch files from other servers."""


class RequestScheduler:
    """The slots and the shared results of one application."""

    def __init__(self) -> None:
        self._slots = {
            name: Slots(at_once, waiting=_WAITING, patience_s=_PATIENCE_S) for name, at_once in AT_ONCE.items()
        }
        self._results: SharedResults[Hashable, bytes] = SharedResults(_REMEMBERED_BYTES, weigh=len)

    def acquire_slot(self, kind: str, request: Request) -> AbstractAsyncContextManager[None]:
        """Return a context that holds a slot of a kind of work for a request. Raises: Failure 503 as `Slots.hold`."""
        return self._slots[kind].hold(identify_sender(request.scope))

    async def compute(self, request: Request, work: Callable[[], T]) -> T:
        """Run `work` in a thread, within a slot for computing. Raises: Failure 503 as `Slots.hold`."""
        async with self.acquire_slot("compute", request):
            return await anyio.to_thread.run_sync(work)

    async def share_result(
        self, key: Hashable, make: Callable[[], Awaitable[bytes]], *, remember: bool = True
    ) -> bytes:
        """Return the result for a key; concurrent requests with the same key share one computation.

        Shape: `key` holds everything that the result depends on; without `remember` the result is not cached.
        """
        return await self._results.get(key, make, remember=remember)

    async def answer(self, kind: str, request: Request, handle: Callable[[Request], Awaitable[Response]]) -> Response:
        """Answer a request within a slot of its kind of work; "" needs none. Raises: as `Slots.hold` and `handle`."""

        async def handle_in_time(request: Request) -> Response:
            with limit_time(USUAL_S if request.method == "GET" else LONG_S):
                if not kind:
                    return await handle(request)
                async with self.acquire_slot(kind, request):
                    return await handle(request)

        # The body is read before a slot is taken: a client that sends slowly must not occupy one.
        body = b"" if request.method == "GET" else await request.body()
        if len(body) <= LARGE_BYTES:
            return await handle_in_time(request)
        async with self.acquire_slot("large", request):
            return await anyio.to_thread.run_sync(lambda: asyncio.run(handle_in_time(_LargeRequest(request, body))))


class _LargeRequest(Request):
    """A request with a large body, which is parsed by the parser that needs the least time and memory."""

    def __init__(self, request: Request, body: bytes) -> None:
        super().__init__(request.scope, request.receive)
        self._body = body

    async def json(self) -> Any:
        """Return the value of the body. Raises: JSONDecodeError, also for one that is nested 200 deep."""
        try:
            return from_json(self._body)
        except ValueError as invalid:
            raise json.JSONDecodeError(str(invalid), "", 0) from None


def classify_operation(route: APIRoute) -> str:
    """Return the kind of work of an operation; "" for one that runs on the event loop."""
    if inspect.iscoroutinefunction(route.endpoint):
        return ""
    if route.unique_id in _COMPUTE_OPERATIONS:
        return "compute"
    if route.unique_id in _CONTENT_OPERATIONS:
        return "content"
    if route.methods != {"GET"}:
        return "write"
    return "read" if route.path.endswith("}") else "list"
