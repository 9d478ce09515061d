"""The one request loop: it waits for the rate limit, sends, reads the answer, and tries again where `retries` says so.

Before a 429, `rate_limit` spreads what is left of the limit. A stop is obeyed before every try and within 0.2 s of
every wait. Every try ends at its deadline, and all of them together at two deadlines.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from threading import Lock
from time import monotonic
from typing import Literal

import httpx

from syncd.api.options import ClientOptions
from syncd.api.transport.addresses import format_origin
from syncd.api.transport.answers import (
    CHECK_NETWORK,
    clean_message,
    is_foreign,
    make_error,
    make_unusable_error,
)
from syncd.api.transport.connections import Connections
from syncd.api.transport.credential import Credential
from syncd.api.transport.large_answers import SMALL_BYTES, LargeAnswerLock
from syncd.api.transport.limits import OBJECT, REFUSAL_BYTES, AnswerBuffer, Limit
from syncd.api.transport.outcomes import (
    NETWORK_ERRORS,
    Answer,
    FailedTry,
    Failure,
    StreamedAnswer,
    classify_failure,
    describe_failure,
)
from syncd.api.transport.rate_limit import WAIT_MAX, RateLimiter
from syncd.api.transport.retries import TOO_MANY_REQUESTS, Retries, RetryPolicy
from syncd.errors import Stopped, SyncdError, Unreachable

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]

UNAUTHORIZED = 401
SLEEP_SLICE = 0.2
"""Seconds of a wait in which a stop is not yet heeded."""
DEADLINES_MAX = 2
"""All tries of one request together may take this many deadlines, waits between them not counted."""


@dataclass(frozen=True)
class ApiRequest:
    """One request: `build` makes the HTTP request of a try; `label` names it in messages; `origin`, its connection.

    An operation carries the token and counts against the rate limit; what is no operation, a download, does neither.
    `sink` receives the pieces of an answer with status 200, from the start again at each try; its body is then empty.
    Units: `seconds` for one try, `total` for all of them; without it, `DEADLINES_MAX` times as much.
    """

    method: Method
    label: str
    origin: str
    build: Callable[[], httpx.Request]
    seconds: float
    limit: Limit = OBJECT
    total: float | None = None
    is_operation: bool = True
    sink: Callable[[Iterator[bytes]], object] | None = None


class RequestLoop:
    """Requests to one platform under one credential, each until its answer is final; threads share it.

    Shape: `base` is the address below which paths lie. Units: `deadline`, the seconds of one try.
    """

    def __init__(self, base: str, credential: Credential, options: ClientOptions) -> None:
        self.base, self.origin, self.deadline = base, format_origin(httpx.URL(base)), options.deadline
        self.credential, self.large_answers = credential, LargeAnswerLock()
        self._options, self._policy = options, RetryPolicy(base, credential, options)
        self._connections = Connections(options.transport)
        self._rate_limiter = RateLimiter(options.clock, options.share)
        self._sent, self._lock = Counter[str](), Lock()
        if options.breaker is not None:
            options.breaker.use_secret(credential.token)

    @property
    def requests_sent(self) -> Mapping[str, int]:
        """How many requests were sent so far, by method, every try counted."""
        with self._lock:
            return dict(self._sent)

    def close(self) -> None:
        """Close every connection."""
        self._connections.close()

    def perform(self, request: ApiRequest, stack: ExitStack | None = None) -> Answer:
        """Return the final answer to a request after all tries, whatever its status.

        Shape: with a stack, a success is a StreamedAnswer, open until the stack is closed. Raises: AnswerLost,
        NotThePlatform, RateLimited, Stopped, Unreachable; with a breaker also Unauthorized, and what the breaker knows
        the host by, without a request.
        """
        breaker = self._options.breaker
        if breaker is None or request.origin != self.origin:
            return self._perform_all_tries(request, stack)
        with breaker.guard():
            answer = self._perform_all_tries(request, stack)
            if request.is_operation and (answer.status == UNAUTHORIZED or is_foreign(answer)):
                raise make_error(answer, label=request.label, secret=self.credential.token)
            return answer

    def read_stream(self, label: str, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """Yield the pieces of a streamed answer until somebody asks to stop.

        Raises: AnswerTooLarge, NotThePlatform, Stopped, Unreachable.
        """
        try:
            for piece in pieces:
                if self._options.cancelled():
                    raise Stopped(f"stopped during {label}")
                yield piece
        except NETWORK_ERRORS as error:
            broken = self._describe_break(error)
            if broken.failure in (Failure.FOREIGN, Failure.TOO_LARGE):
                raise make_unusable_error(label, broken) from error
            raise Unreachable(f"{label}: the answer breaks off ({broken.reason})", hint=CHECK_NETWORK) from error

    def _perform_all_tries(self, request: ApiRequest, stack: ExitStack | None) -> Answer:
        tries = self._policy.start_tries(DEADLINES_MAX * request.seconds if request.total is None else request.total)
        with self.large_answers.hold_until_end():
            has_renewed = False
            while True:
                self._wait_for_limit(request)
                token = self.credential.token
                # The try gets no name: what it raised would stay here, and its connection with it, until a collection.
                settled = self._settle(request, self._try_once(request, tries, stack), tries)
                if isinstance(settled, Answer):
                    is_refused = settled.status == UNAUTHORIZED and request.is_operation
                    if not is_refused or has_renewed or not self.credential.replace_refused(token):
                        return settled
                    has_renewed, settled = True, 0.0
                self.large_answers.release()
                self._pause(settled, request)

    def _wait_for_limit(self, request: ApiRequest) -> None:
        self._check_stop(request)
        wait = self._rate_limiter.reserve(request.method) if request.is_operation else 0.0
        try:
            if wait > WAIT_MAX:
                raise self._policy.make_rate_limited(request.label, wait)
            if wait > 0:
                self._options.announce_wait(f"the platform's rate limit ({request.label})", wait)
            self._pause(wait, request)
            if request.method != "GET":
                self._options.permit()  # as late as can be
        except SyncdError:
            if request.is_operation:
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
            if request.is_operation:
                self._rate_limiter.release(request.method)
            self._options.observe(monotonic() - start, 0, {})
            return self._describe_break(error)
        finally:
            tries.add_try(monotonic() - start)
        self._options.observe(monotonic() - start, answer.status, answer.headers)
        if request.is_operation:
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
            if self._options.cancelled() and request.method == "GET":
                raise Stopped(f"stopped during {request.label}")
            yield piece

    def _describe_break(self, error: Exception) -> FailedTry:
        text = clean_message(describe_failure(error), self.credential.token)
        return FailedTry(classify_failure(type(error)), text, error)

    def _settle(self, request: ApiRequest, outcome: Answer | FailedTry, tries: Retries) -> Answer | float:
        """Return the answer of a try when it is final, else the seconds until the next try, for all threads."""
        settled = self._policy.decide(request.method, request.label, outcome, tries)
        if isinstance(settled, Answer):
            return settled
        if isinstance(outcome, Answer) and outcome.status == TOO_MANY_REQUESTS:
            if request.is_operation:
                self._rate_limiter.pause(request.method, settled)
            reason = f"the platform's rate limit ({request.label})"
        else:
            failure = outcome.reason if isinstance(outcome, FailedTry) else f"it answered {outcome.status}"
            reason = f"another try of {request.label}: {failure}"
        self._options.announce_wait(reason, settled)
        return settled

    def _pause(self, seconds: float, request: ApiRequest) -> None:
        while seconds > 0:
            self._check_stop(request)
            self._options.sleep(min(seconds, SLEEP_SLICE))
            seconds -= SLEEP_SLICE

    def _check_stop(self, request: ApiRequest) -> None:
        if self._options.cancelled():
            raise Stopped(f"stopped before {request.label}")
