"""Limits of single requests: rate headers on every answer, 429 beyond the rate, 413 and 415 for refused bodies."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

import sqlalchemy as sa
from fastapi.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from syncd.platform.http.failures import HEADERS_KEY, Failure, build_error_body

Headers = tuple[tuple[bytes, bytes], ...]

BODY_BYTES_MAX = 64 * 1024 * 1024
"""The largest request body; the document shows none. Fifty operations with twenty files of 1 MB each stay below."""

BODIES_BYTES_MAX = 256 * 1024 * 1024
"""Bytes of all bodies that are received at one time; parsed, they take several times as much memory."""
VALUES_MAX = 250_000
"""Values in one body: while Python creates them, no other request is answered. Honest large bodies are large because of
their texts and files, not because of the number of their values.
"""
ANONYMOUS_BYTES_MAX = 64 * 1024
"""The largest body that is read and parsed before the sender is known; for larger ones the token is checked first."""

FORM_BYTES_MAX = 512 * 1024
"""The largest form of a page for people: the longest comment, each letter as nine characters."""
FORM_PATHS = ("/app/", "/sites/")
_FORM, _JSON = b"application/x-www-form-urlencoded", b"application/json"

_TOO_LARGE = f"A request body may have at most {BODY_BYTES_MAX} bytes."
_UNLIMITED = 1_000_000
"""What the headers say when no limit is set."""
_WINDOW_S = 60


class RequestLimits:
    """ASGI middleware: counts requests for each token and minute, and refuses before anything else is done."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        clock: Callable[[], datetime],
        admit: Callable[[str], Awaitable[object]],
        per_minute: int | None = None,
    ) -> None:
        """Wrap the application; `admit` gets the header `Authorization` and raises Failure 401 for an unknown
        sender.
        """
        self._app = app
        self._admit = admit
        self._clock = clock
        self._per_minute = per_minute
        self._window = 0
        self._used: dict[int, int] = {}
        self._received = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request with rate headers, or refuse it before its body is read."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        left, headers = self._compute_rate_headers(scope)
        scope[HEADERS_KEY] = headers

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *headers]
            await send(message)

        refusal = _answer_too_many_requests() if left < 0 else None
        if not _has_body(scope):
            await (refusal or self._app)(scope, receive, with_headers)
            return
        refusal = refusal or _refuse_unreadable_body(scope)
        count = _BodyCounter(self)
        try:
            app = refusal or await self._refuse_unknown_sender(scope) or self._app
            await app(scope, count.wrap_receive(receive), with_headers)
        finally:
            self._received -= count.received

    def count_received(self, size: int) -> None:
        """Count bytes of a body. Raises: Failure 503 when all bodies together are too large."""
        self._received += size
        if self._received > BODIES_BYTES_MAX:
            raise Failure(503, "The platform receives too much at once. Try again in a minute.")

    async def _refuse_unknown_sender(self, scope: Scope) -> JSONResponse | None:
        """Refuse a large body without a valid token: FastAPI reads and parses bodies before it checks the token."""
        is_small = int(_find_header(scope, b"content-length") or 0) <= ANONYMOUS_BYTES_MAX
        if _is_form(scope) or (is_small and not _is_chunked(scope)):
            return None
        try:
            await self._admit((_find_header(scope, b"authorization") or b"").decode("latin-1"))
        except Failure as refused:
            return JSONResponse(
                build_error_body(refused.status, refused.message), refused.status, {"WWW-Authenticate": "Bearer"}
            )
        except sa.exc.SQLAlchemyError:
            # The operation itself will run into the same error, and reports it as all operations do.
            return None
        return None

    def _compute_rate_headers(self, scope: Scope) -> tuple[int, Headers]:
        window = int(self._clock().timestamp()) // _WINDOW_S
        limit = self._per_minute or _UNLIMITED
        left = limit if self._per_minute is None else limit - self._count_request(scope, window)
        return left, _format_rate_headers(limit, max(left, 0), (window + 1) * _WINDOW_S)

    def _count_request(self, scope: Scope, window: int) -> int:
        if window != self._window:
            self._window = window
            self._used.clear()
        who = identify_sender(scope)
        self._used[who] = self._used.get(who, 0) + 1
        return self._used[who]


@lru_cache(maxsize=64)
def _format_rate_headers(limit: int, left: int, reset: int) -> Headers:
    """The headers of an answer; without a limit they are the same for a minute."""
    return (
        (b"x-ratelimit-limit", b"%d" % limit),
        (b"x-ratelimit-remaining", b"%d" % left),
        (b"x-ratelimit-reset", b"%d" % reset),
    )


def _answer_too_many_requests() -> JSONResponse:
    return JSONResponse(build_error_body(429, "Too many requests. Wait until the time in X-RateLimit-Reset."), 429)


def _refuse_unreadable_body(scope: Scope) -> JSONResponse | None:
    length = int(_find_header(scope, b"content-length") or 0)
    if length > BODY_BYTES_MAX or (_is_form(scope) and (length > FORM_BYTES_MAX or _is_chunked(scope))):
        return JSONResponse(build_error_body(413, _TOO_LARGE), 413)
    if (length or _is_chunked(scope)) and _find_media(scope) != _JSON and not _is_form(scope):
        return JSONResponse(build_error_body(415, "A request body must have the Content-Type application/json."), 415)
    return None


@dataclass
class _BodyCounter:
    """Counts the body of one request as it arrives: its bytes, and its JSON values, estimated by their punctuation."""

    limits: RequestLimits
    received: int = 0
    _values: int = 0
    _is_in_text: bool = False
    _cut: bytes = b""
    """A backslash at the end of the last piece, which may escape the first character of the next one."""

    def wrap_receive(self, receive: Receive) -> Receive:
        """Return a `receive` that counts the bytes of the body, and stops reading it beyond the limits."""

        async def receive_counted() -> Message:
            message = await receive()
            self._count_piece(message.get("body", b""))
            return message

        return receive_counted

    def _count_piece(self, piece: bytes) -> None:
        self.received += len(piece)
        self.limits.count_received(len(piece))
        if self.received > BODY_BYTES_MAX:
            raise Failure(413, _TOO_LARGE)
        # Once escaped characters are removed, every quote begins or ends a string.
        plain = (self._cut + piece).replace(rb"\\", b"").replace(rb"\"", b"")
        self._cut = plain[len(plain.removesuffix(b"\\")) :]
        pieces = plain.split(b'"')
        outside = b"".join(pieces[self._is_in_text :: 2])
        self._is_in_text ^= len(pieces) % 2 == 0
        self._values += outside.count(b",") + outside.count(b"[") + outside.count(b"{") + len(pieces) // 8
        if self._values > VALUES_MAX:
            raise Failure(413, f"A request body may have at most {VALUES_MAX} values. Send less at once.")


def identify_sender(scope: Scope) -> int:
    """Return a number that identifies the sender of a request.

    It is a hash: no token is kept in memory, and a long header costs no more memory than a short one.
    """
    return hash(_find_header(scope, b"authorization") or (scope.get("client") or ("",))[0])


def _has_body(scope: Scope) -> bool:
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    return any(name == b"transfer-encoding" or (name == b"content-length" and value != b"0") for name, value in headers)


def _is_form(scope: Scope) -> bool:
    return scope["path"].startswith(FORM_PATHS) and _find_media(scope) == _FORM


def _find_media(scope: Scope) -> bytes:
    return (_find_header(scope, b"content-type") or b"").split(b";")[0].strip().lower()


def _is_chunked(scope: Scope) -> bool:
    return _find_header(scope, b"transfer-encoding") is not None


def _find_header(scope: Scope, name: bytes) -> bytes | None:
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    return next((value for key, value in headers if key == name), None)
