"""What a request may cost: rate headers on every answer, 429 beyond a limit, 413 and 415 for bodies we do not read."""

from collections.abc import Awaitable, Callable
from datetime import datetime

import sqlalchemy as sa
from fastapi.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from syncd.platform.failures import HEADERS_KEY, Failure, body

BODY_BYTES_MAX = 64 * 1024 * 1024
"""The largest request body; the document shows none. Fifty operations with twenty files of 1 MB each stay below."""

OPENED_MAX = 500_000
SEPARATED_MAX = 5_000_000
"""Signs that begin a list or object, and commas, in one body: while Python makes them, nobody else is answered. A large
body is large by its texts and files, and fifty pages of a megabyte each have fewer.
"""
STRANGERS_BYTES_MAX = 64 * 1024
"""The largest body that is read, and understood, before it is known who sent it; then comes the token first."""

_TOO_LARGE = f"A request body may have at most {BODY_BYTES_MAX} bytes."
_UNLIMITED = 1_000_000
"""What the headers say when no limit is set."""
_WINDOW_S = 60


class Limits:
    """ASGI middleware: counts requests a token and minute, and refuses before anything else is done."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        clock: Callable[[], datetime],
        admit: Callable[[str], Awaitable[object]],
        per_minute: int | None = None,
    ) -> None:
        """Given the application, wrap it; `admit` gets the header `Authorization`. Raises: what `admit` raises, 401."""
        self._app = app
        self._admit = admit
        self._clock = clock
        self._per_minute = per_minute
        self._window = 0
        self._used: dict[int, int] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Given a connection, answer it with the rate headers, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        left, headers = self._count(scope)
        scope[HEADERS_KEY] = {name.decode(): value.decode() for name, value in headers}

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *headers]
            await send(message)

        refusal = _too_many() if left < 0 else _unreadable(scope)
        await (refusal or await self._stranger(scope) or self._app)(scope, _counted(scope, receive), with_headers)

    async def _stranger(self, scope: Scope) -> JSONResponse | None:
        """Refuse a large body of somebody unknown: FastAPI reads and parses bodies before it asks who sends them."""
        if not _is_chunked(scope) and int(_header(scope, b"content-length") or 0) <= STRANGERS_BYTES_MAX:
            return None
        try:
            await self._admit((_header(scope, b"authorization") or b"").decode("latin-1"))
        except Failure as refused:
            return JSONResponse(body(refused.status, refused.message), refused.status, {"WWW-Authenticate": "Bearer"})
        except sa.exc.SQLAlchemyError:
            # The operation itself meets the same, and says it as all operations do.
            return None
        return None

    def _count(self, scope: Scope) -> tuple[int, list[tuple[bytes, bytes]]]:
        now = int(self._clock().timestamp())
        limit = self._per_minute or _UNLIMITED
        left = limit if self._per_minute is None else limit - self._used_now(scope, now // _WINDOW_S)
        reset = (now // _WINDOW_S + 1) * _WINDOW_S
        return left, [
            (b"x-ratelimit-limit", b"%d" % limit),
            (b"x-ratelimit-remaining", b"%d" % max(left, 0)),
            (b"x-ratelimit-reset", b"%d" % reset),
        ]

    def _used_now(self, scope: Scope, window: int) -> int:
        if window != self._window:
            self._window = window
            self._used.clear()
        # A hash, so that no token is kept in memory and no header, however long, costs more than a number.
        who = hash(_header(scope, b"authorization") or (scope.get("client") or ("",))[0])
        self._used[who] = self._used.get(who, 0) + 1
        return self._used[who]


def _too_many() -> JSONResponse:
    return JSONResponse(body(429, "Too many requests. Wait until the time in X-RateLimit-Reset."), 429)


def _unreadable(scope: Scope) -> JSONResponse | None:
    length = int(_header(scope, b"content-length") or 0)
    media = (_header(scope, b"content-type") or b"").split(b";")[0].strip().lower()
    if length > BODY_BYTES_MAX:
        return JSONResponse(body(413, _TOO_LARGE), 413)
    if (length or _is_chunked(scope)) and media != b"application/json":
        return JSONResponse(body(415, "A request body must have the Content-Type application/json."), 415)
    return None


def _counted(scope: Scope, receive: Receive) -> Receive:
    """Given a request with a body, return a `receive` that stops reading it beyond the limits."""
    if not _is_chunked(scope) and _header(scope, b"content-length") in (None, b"0"):
        return receive
    received = opened = separated = 0

    async def receive_counted() -> Message:
        nonlocal received, opened, separated
        message = await receive()
        piece: bytes = message.get("body", b"")
        received += len(piece)
        # Those in texts count as well: what it costs to tell them apart is what is to be saved.
        opened += piece.count(b"[") + piece.count(b"{")
        separated += piece.count(b",")
        if received > BODY_BYTES_MAX:
            raise Failure(413, _TOO_LARGE)
        if opened > OPENED_MAX or separated > SEPARATED_MAX:
            raise Failure(413, "The request body has too many lists, objects or values. Send less at once.")
        return message

    return receive_counted


def _is_chunked(scope: Scope) -> bool:
    return _header(scope, b"transfer-encoding") is not None


def _header(scope: Scope, name: bytes) -> bytes | None:
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    return next((value for key, value in headers if key == name), None)
