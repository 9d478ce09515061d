"""The one request loop: which failures are tried again, when, and what becomes of the rest.

| what happened                                       | GET             | PUT, DELETE     | POST, PATCH     |
|-----------------------------------------------------|-----------------|-----------------|-----------------|
| no connection could be made                         | again           | again           | again           |
| the connection broke, timed out, or the body is cut | again           | again           | AnswerLost      |
| 408, 502, 503, 504                                  | again           | again           | AnswerLost      |
| 500                                                 | again           | Unreachable     | AnswerLost      |
| 501 (surely not done)                               | Unreachable     | Unreachable     | Unreachable     |
| any other 5xx                                       | Unreachable     | Unreachable     | AnswerLost      |
| 429                                                 | at the time that the platform names, else again       |
| 401 where the token can be renewed                  | again, once, with the new one                         |
| 401, 403 · 404 · other 4xx                          | Unauthorized · NotFound (success for DELETE) · Rejected |
| 3xx, no JSON, JSON of another shape                 | NotThePlatform                                      |

"Again" is five tries in all, with full jitter: a random time up to 1, 2, 4, 8 seconds, and not before a `Retry-After`;
then Unreachable. A longer wait than two minutes is the next run's: RateLimited says until when, at most a day later.
Before a 429, `rate_limit` spreads what is left of the limit. A stop is obeyed before every try and within 0.2 s of
every wait. Every try ends at its deadline, and all of them together at two deadlines.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from random import random as uniform
from threading import Lock
from time import monotonic, time
from time import sleep as sleep_for
from typing import Any, Literal

import httpx

from syncd import __version__
from syncd.api.transport.addresses import Params, build_url, format_origin, parse_base_url
from syncd.api.transport.answers import (
    CHECK_NETWORK,
    IDEMPOTENT,
    Shape,
    clean_message,
    make_error,
    make_unusable_error,
    parse_answer,
)
from syncd.api.transport.connections import Answer, Connections, StreamedAnswer
from syncd.api.transport.credential import Credential
from syncd.api.transport.failures import NETWORK_ERRORS, FailedTry, Failure, classify_failure, describe_failure
from syncd.api.transport.large_answers import SMALL_BYTES, LargeAnswerLock
from syncd.api.transport.limits import OBJECT, REFUSAL_BYTES, STREAM, AnswerBuffer, Limit
from syncd.api.transport.rate_limit import NAMED_WAIT_MAX, WAIT_MAX, Observe, RateLimiter, Share, read_retry_after
from syncd.api.transport.retries import DEADLINES_MAX, TRIES, Retries
from syncd.errors import AnswerLost, NotFound, RateLimited, Stopped, SyncdError, Unreachable
from syncd.model.base import Observed
from syncd.model.wording import format_count

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Body = Mapping[str, Any] | Sequence[Any]

JSON, UNAUTHORIZED = "application/json", 401
SLEEP_SLICE = 0.2
"""Seconds of a wait in which a stop is not yet heeded."""
DEADLINE = 60.0
"""Seconds that one try may take as a whole."""
STREAM_PATIENCE = 3
"""A streamed answer may take this many deadlines of an ordinary request."""
NOTICES_MAX = 100


@dataclass(frozen=True)
class ApiRequest:
    """One request: `build` makes the HTTP request of a try; `label` names it in messages; `origin`, its connection.

    `sink` receives the pieces of an answer with status 200, from the start again at each try; its body is then empty.
    Units: `seconds` for one try, `total` for all of them; without it, `DEADLINES_MAX` times as much.
    """

    method: Method
    label: str
    origin: str
    build: Callable[[], httpx.Request]
    limit: Limit = OBJECT
    seconds: float = DEADLINE
    total: float | None = None
    is_limited: bool = True
    sink: Callable[[Iterator[bytes]], object] | None = None


class Transport:
    """Requests to one platform under one token; threads share it."""

    def __init__(
        self,
        url: str,
        token: str,
        *,
        transport: httpx.BaseTransport | None = None,
        insecure: bool = False,
        sleep: Callable[[float], object] = sleep_for,
        clock: Callable[[], float] = time,
        random: Callable[[], float] = uniform,
        cancelled: Callable[[], bool] = lambda: False,
        deadline: float = DEADLINE,
        tries: int = TRIES,
        observe: Observe,
        renew: Callable[[str], str] | None = None,
        permit: Callable[[], object],
        share: Share,
    ) -> None:
        self.base = parse_base_url(url, insecure=insecure)
        self.origin = format_origin(httpx.URL(self.base))
        self.deadline = deadline
        self.plain_headers = httpx.Headers({"User-Agent": f"syncd/{__version__}", "Accept-Encoding": "gzip"})
        self._login = Credential(token, self.plain_headers, renew)
        self._connections, self._rate_limiter = Connections(transport), RateLimiter(clock, share)
        self._sleep, self._clock, self._cancelled = sleep, clock, cancelled
        self._start_tries: Callable[[float], Retries] = partial(Retries, random=random, tries=tries)
        self._sent: Counter[str] = Counter()
        self._observe, self._permit = observe, permit
        self._notices: dict[str, None] = {}
        self._lock, self.large_answers = Lock(), LargeAnswerLock()

    def __repr__(self) -> str:
        return f"Transport({self.base!r})"

    @property
    def requests_sent(self) -> Mapping[str, int]:
        """How many requests were sent so far, by method, every try counted."""
        with self._lock:
            return dict(self._sent)

    def close(self) -> None:
        """Close every connection."""
        self._connections.close()

    def take_notices(self) -> tuple[str, ...]:
        """Return once what a person should know of answers that were readable all the same, the first hundred."""
        with self._lock:
            notices, self._notices = tuple(self._notices), {}
        return notices

    def add_notice(self, text: str) -> None:
        """Remember what a person should know of an answer until it is taken."""
        with self._lock:
            if len(self._notices) < NOTICES_MAX:
                self._notices[text] = None

    def call(
        self,
        method: Method,
        path: tuple[str, ...],
        into: type[Shape],
        *,
        params: Params | None = None,
        body: Body | None = None,
        limit: Limit = OBJECT,
    ) -> Shape:
        """Return the answer of an operation in the shape asked for.

        Shape: `path` holds raw segments below `/v1`; `body` is a JSON object or array; `limit` is that of the answer.
        Raises: PlatformError, Stopped.
        """
        with self.large_answers.hold_until_end():
            label, answer = self.exchange(method, path, params, body, limit)
            return parse_answer(answer, into, method=method, label=label, add_notice=self.add_notice)

    def send(self, method: Method, path: tuple[str, ...], *, body: Body | None = None) -> None:
        """Call an operation that answers nothing. Raises: PlatformError, Stopped."""
        label, answer = self.exchange(method, path, None, body)
        if answer.body:
            parse_answer(answer, Observed, method=method, label=label, add_notice=self.add_notice)

    def exchange(
        self, method: Method, path: tuple[str, ...], params: Params | None, body: Body | None, limit: Limit = OBJECT
    ) -> tuple[str, Answer]:
        """Return the label of an operation for messages, and its answer, which is a success.

        Raises: PlatformError, Stopped.
        """
        request = replace(self._make_json_request(method, path, params, body), limit=limit)
        label, answer = request.label, self.perform(request)
        if not 200 <= answer.status < 300:
            raise make_error(answer, label=label, secret=self._login.token)
        return label, answer

    @contextmanager
    def stream(
        self, method: Method, path: tuple[str, ...], *, params: Params | None = None, body: Body | None = None
    ) -> Iterator[tuple[str, StreamedAnswer]]:
        """Open the answer of an operation that streams it; yields its label for messages and the answer, which is a
        success.

        Only opening it is tried again; reading raises what `pieces` does. Raises: PlatformError, Stopped.
        """
        request = self._make_json_request(method, path, params, body, accept="text/event-stream")
        label = request.label
        with ExitStack() as stack:
            answer = self.perform(replace(request, seconds=STREAM_PATIENCE * self.deadline, limit=STREAM), stack)
            if not isinstance(answer, StreamedAnswer):
                raise make_error(answer, label=label, secret=self._login.token)
            yield label, replace(answer, pieces=self._read_stream(label, answer.pieces))

    def delete(self, path: tuple[str, ...]) -> None:
        """Delete what a path names; that it did not exist is success too (204, 205 and 404).

        Raises: PlatformError, Stopped.
        """
        (label, url), build = build_url(self.base, "DELETE", path, None), self._login.build_headers
        request = self._make_request("DELETE", label, lambda: httpx.Request("DELETE", url, headers=build()))
        answer = self.perform(request)
        if answer.status in (204, 205):
            return
        if 200 <= answer.status < 300:
            if answer.body:
                parse_answer(answer, Observed, method="DELETE", label=label, add_notice=self.add_notice)
            return
        error = make_error(answer, label=label, secret=self._login.token)
        if not isinstance(error, NotFound):
            raise error

    def perform(self, request: ApiRequest, stack: ExitStack | None = None) -> Answer:
        """Return the final answer to a request after all tries, whatever its status.

        Shape: with a stack, a success is a StreamedAnswer, open until the stack is closed. Raises: AnswerLost,
        NotThePlatform, RateLimited, Stopped, Unreachable.
        """
        tries = self._start_tries(DEADLINES_MAX * request.seconds if request.total is None else request.total)
        with self.large_answers.hold_until_end():
            has_renewed = False
            while True:
                self._wait_for_limit(request)
                token = self._login.token
                # The try gets no name: what it raised would stay here, and its connection with it, until a collection.
                settled = self._decide(request, self._try_once(request, tries, stack), tries)
                if isinstance(settled, Answer):
                    is_refused = settled.status == UNAUTHORIZED and request.origin == self.origin
                    if not is_refused or has_renewed or not self._login.replace_refused(token):
                        return settled
                    has_renewed, settled = True, 0.0
                self.large_answers.release()
                self._pause(settled, request)

    def _make_json_request(
        self, method: Method, path: tuple[str, ...], params: Params | None, body: Body | None, accept: str = JSON
    ) -> ApiRequest:
        label, url = build_url(self.base, method, path, params)
        content = None if body is None else json.dumps(body).encode()
        build = partial(self._login.build_headers, accept=accept, has_body=body is not None)
        return self._make_request(method, label, lambda: httpx.Request(method, url, headers=build(), content=content))

    def _make_request(self, method: Method, label: str, build: Callable[[], httpx.Request]) -> ApiRequest:
        return ApiRequest(method, label, self.origin, build, seconds=self.deadline)

    def _wait_for_limit(self, request: ApiRequest) -> None:
        self._check_stop(request)
        wait = self._rate_limiter.reserve(request.method) if request.is_limited else 0.0
        try:
            if wait > WAIT_MAX:
                raise self._make_rate_limited(request, wait)
            self._pause(wait, request)
            if request.method != "GET":
                self._permit()  # as late as can be
        except SyncdError:
            if request.is_limited:
                self._rate_limiter.release(request.method)
            raise

    def _try_once(self, request: ApiRequest, tries: Retries, stack: ExitStack | None) -> Answer | FailedTry:
        http_request = request.build()
        with self._lock:
            self._sent[request.method] += 1
        start = monotonic()
        try:
            answer = self._send(http_request, request, min(request.seconds, tries.left), stack)
        except NETWORK_ERRORS as error:
            if request.is_limited:
                self._rate_limiter.release(request.method)
            self._observe(monotonic() - start, 0, {})
            return self._describe_break(error)
        finally:
            tries.add_try(monotonic() - start)
        self._observe(monotonic() - start, answer.status, answer.headers)
        if request.is_limited:
            self._rate_limiter.record(request.method, answer.headers)
        return answer

    def _send(
        self, http_request: httpx.Request, request: ApiRequest, seconds: float, stack: ExitStack | None
    ) -> Answer:
        with ExitStack() as stack_of_try:
            deadline = monotonic() + seconds
            opened = self._connections.open_stream(
                http_request, origin=request.origin, cap=request.limit.size, seconds=seconds
            )
            answer = stack_of_try.enter_context(opened)
            if stack is not None and 200 <= answer.status < 300:
                stack.push(stack_of_try.pop_all())
                return answer
            if request.sink is not None and answer.status == 200:
                request.sink(self._check_between(request, answer.pieces))
                return Answer(answer.status, answer.headers, b"")
            return Answer(answer.status, answer.headers, self._read_body(request, answer, deadline))

    def _read_body(self, request: ApiRequest, answer: StreamedAnswer, deadline: float) -> bytes:
        """Return the body of an answer, of a refusal only its beginning."""
        succeeded = 200 <= answer.status < 300
        buffer = AnswerBuffer(request.limit if succeeded else OBJECT)
        try:
            for piece in self._check_between(request, answer.pieces):
                buffer.add(piece)
                if not succeeded and buffer.size >= REFUSAL_BYTES:
                    break
                if buffer.size > SMALL_BYTES:
                    self.large_answers.acquire(deadline - monotonic())
            return buffer.read_all()
        except BaseException:
            buffer.discard()
            raise

    def _check_between(self, request: ApiRequest, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """Yield the pieces of an answer until somebody asks to stop; a write is read to its end."""
        for piece in pieces:
            if self._cancelled() and request.method == "GET":
                raise Stopped(f"stopped during {request.label}")
            yield piece

    def _read_stream(self, label: str, pieces: Iterator[bytes]) -> Iterator[bytes]:
        try:
            for piece in pieces:
                if self._cancelled():
                    raise Stopped(f"stopped during {label}")
                yield piece
        except NETWORK_ERRORS as error:
            broken = self._describe_break(error)
            if broken.failure in (Failure.FOREIGN, Failure.TOO_LARGE):
                raise make_unusable_error(label, broken) from error
            raise Unreachable(f"{label}: the answer breaks off ({broken.reason})", hint=CHECK_NETWORK) from error

    def _describe_break(self, error: Exception) -> FailedTry:
        text = clean_message(describe_failure(error), self._login.token)
        return FailedTry(classify_failure(type(error)), text, error)

    def _decide(self, request: ApiRequest, answer: Answer | FailedTry, tries: Retries) -> Answer | float:
        """Return the answer when it is final, else the seconds until the next try."""
        if isinstance(answer, FailedTry):
            return self._decide_after_break(request, answer, tries)
        status = answer.status
        if status == 429:
            return self._decide_after_limit(request, answer, tries)
        if request.method not in IDEMPOTENT:
            if status == 408 or (status >= 500 and status != 501):
                raise AnswerLost(
                    f"{self._describe_refusal(request, answer)}; it may or may not have happened", status=status
                )
            return answer
        if status not in (408, 502, 503, 504) and not (status == 500 and request.method == "GET"):
            return answer
        wait = read_retry_after(answer.headers, self._clock()) or 0.0
        if tries.is_over or wait > WAIT_MAX:
            made = format_count(tries.made, "time") + (f"; it asks to wait {wait:.0f} s" if wait else "")
            raise Unreachable(f"{self._describe_refusal(request, answer)}, {made}", status=status)
        return max(wait, tries.compute_backoff())

    def _decide_after_break(self, request: ApiRequest, broken: FailedTry, tries: Retries) -> float:
        if broken.failure in (Failure.FOREIGN, Failure.TOO_LARGE):
            raise make_unusable_error(request.label, broken) from broken.cause
        if broken.failure is Failure.BROKEN and request.method not in IDEMPOTENT:
            lost = f"{request.label}: the answer was lost; it may or may not have happened ({broken.reason})"
            raise AnswerLost(lost) from broken.cause
        if tries.is_over:
            said = f"{self.base}: {request.label}: no answer after {tries.format_made()} ({broken.reason})"
            raise Unreachable(said, hint=CHECK_NETWORK) from broken.cause
        return tries.compute_backoff()

    def _decide_after_limit(self, request: ApiRequest, answer: Answer, tries: Retries) -> float:
        stated_wait = read_retry_after(answer.headers, self._clock())
        wait = tries.compute_backoff() if stated_wait is None else stated_wait
        if wait > WAIT_MAX or tries.is_over:
            raise self._make_rate_limited(request, wait)
        if request.is_limited:
            self._rate_limiter.pause(request.method, wait)
        return wait

    def _describe_refusal(self, request: ApiRequest, answer: Answer) -> str:
        return make_error(answer, label=request.label, secret=self._login.token).what

    def _make_rate_limited(self, request: ApiRequest, wait: float) -> RateLimited:
        wait = min(wait, NAMED_WAIT_MAX)
        return RateLimited(f"{request.label}: the rate limit is used up for {wait:.0f} s", until=self._clock() + wait)

    def _pause(self, seconds: float, request: ApiRequest) -> None:
        while seconds > 0:
            self._check_stop(request)
            self._sleep(min(seconds, SLEEP_SLICE))
            seconds -= SLEEP_SLICE

    def _check_stop(self, request: ApiRequest) -> None:
        if self._cancelled():
            raise Stopped(f"stopped before {request.label}")
