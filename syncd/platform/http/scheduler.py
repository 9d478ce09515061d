"""What requests may cost the server together: slots for each kind of work, and large bodies away from the event loop.

One interpreter computes one thing at a time. What is dear therefore waits for its turn without a thread, so that there
is always one for what is cheap, and who asks who they are is not kept waiting by those who ask for documents.
"""

import asyncio
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
"""By kind of work, how many requests do it at the same time. Few: more threads compute nothing more in one interpreter,
and each makes the event loop wait longer for its turn.
"""
THREADS = 24
"""More than all of them together: what has a slot never waits for a thread."""
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
"""Writes that read and compare many texts before they write, or fetch files from elsewhere."""


class RequestScheduler:
    """The work of one application."""

    def __init__(self) -> None:
        self._slots = {
            name: Slots(at_once, waiting=_WAITING, patience_s=_PATIENCE_S) for name, at_once in AT_ONCE.items()
        }
        self._results: SharedResults[Hashable, bytes] = SharedResults(_REMEMBERED_BYTES, weigh=len)

    def acquire_slot(self, kind: str, request: Request) -> AbstractAsyncContextManager[None]:
        """Given a kind of work and the request that it is for, return a slot to hold meanwhile. Raises: as `Slots`."""
        return self._slots[kind].hold(identify_sender(request.scope))

    async def compute(self, request: Request, work: Callable[[], T]) -> T:
        """Given a request and what has to be computed for it, do that in a thread. Raises: as `Slots`."""
        async with self.acquire_slot("compute", request):
            return await anyio.to_thread.run_sync(work)

    async def share_result(
        self, key: Hashable, make: Callable[[], Awaitable[bytes]], *, remember: bool = True
    ) -> bytes:
        """Given all that a result depends on and how it is made, return it: made once for all who ask meanwhile.

        Shapes: without `remember` it is made anew for whoever asks when it is made.
        """
        return await self._results.get(key, make, remember=remember)

    async def answer(self, kind: str, request: Request, handle: Callable[[Request], Awaitable[Response]]) -> Response:
        """Given a kind of work, "" for none, and a request, answer it. Raises: as `Slots` and `handle`."""

        async def handled(request: Request) -> Response:
            with limit_time(USUAL_S if request.method == "GET" else LONG_S):
                if not kind:
                    return await handle(request)
                async with self.acquire_slot(kind, request):
                    return await handle(request)

        # Before there is a slot: a body that trickles keeps none.
        body = b"" if request.method == "GET" else await request.body()
        if len(body) <= LARGE_BYTES:
            return await handled(request)
        async with self.acquire_slot("large", request):
            return await anyio.to_thread.run_sync(lambda: asyncio.run(handled(_LargeRequest(request, body))))


class _LargeRequest(Request):
    """A request with a body that costs time and memory to read, read with as little of both as can be."""

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
    """Given an operation, return its kind of work; "" for one that is done on the event loop."""
    if asyncio.iscoroutinefunction(route.endpoint):
        return ""
    if route.unique_id in _COMPUTE_OPERATIONS:
        return "compute"
    if route.unique_id in _CONTENT_OPERATIONS:
        return "content"
    if route.methods != {"GET"}:
        return "write"
    return "read" if route.path.endswith("}") else "list"
