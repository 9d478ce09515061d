"""A platform without a socket: requests go straight into the application, in an event loop of their own."""

from contextlib import ExitStack
from typing import Self

import httpx
from anyio.from_thread import start_blocking_portal
from fastapi import FastAPI


class InProcess(httpx.BaseTransport):
    """A transport for httpx's synchronous client; a `with` block starts and stops the loop."""

    def __init__(self, app: FastAPI) -> None:
        self._app = httpx.ASGITransport(app, raise_app_exceptions=False)
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._portal = self._stack.enter_context(start_blocking_portal())
        return self

    def close(self) -> None:
        """Stop the loop."""
        self._stack.close()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Given a request, return the application's answer, read to its end."""
        return self._portal.call(self._answer, request)

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        sent = httpx.Request(
            request.method, request.url, headers=request.headers, content=request.read(), extensions=request.extensions
        )
        answer = await self._app.handle_async_request(sent)
        # As it was sent: the client of the test decompresses it.
        body = b"".join([part async for part in answer.aiter_raw()])
        return httpx.Response(answer.status_code, headers=answer.headers, content=body, request=request)
