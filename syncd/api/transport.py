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
| 401, 403 · 404 · other 4xx                          | Unauthorized · NotFound (success for DELETE) · Rejected |
| 3xx, no JSON, JSON of another shape                 | NotThePlatform                                      |

"Again" is five tries in all, with full jitter: a random time up to 1, 2, 4, 8 seconds, never above 60; then
Unreachable. A wait of more than two minutes is not a run's to make: RateLimited says until when. Before 429 comes,
`pace` spreads what is left of the limit. A stop is heeded before every try and within 0.2 s of every wait; every try
ends at its deadline, and all of them together at two: who answers a byte a second is not asked five times.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from random import random as uniform
from threading import Lock
from time import monotonic, time
from time import sleep as sleep_for
from typing import Any, Literal

import httpx

from syncd import __version__
from syncd.api.addresses import Params, address, base_of, checked, origin_of
from syncd.api.answers import CHECK_NETWORK, CHECK_URL, IDEMPOTENT, LIMITS, Shape, refusal, shape_of, tidy
from syncd.api.failures import BROKEN, Broken, Failure, describe_failure, failure_of
from syncd.api.limits import OBJECT, REFUSAL_BYTES, STREAM, Arriving, Limit
from syncd.api.pace import LONGEST, Pacer, named_wait
from syncd.api.tries import PATIENCE, Tries
from syncd.api.turns import SHARE, Turns
from syncd.api.wire import Answer, Streamed, Wires
from syncd.errors import (
    AnswerLost,
    AnswerTooLarge,
    NotFound,
    NotThePlatform,
    PlatformError,
    RateLimited,
    Stopped,
    SyncdError,
    Unreachable,
)
from syncd.model.base import Observed

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Body = Mapping[str, Any] | Sequence[Any]

SLEEP_SLICE = 0.2
"""Seconds of a wait in which a stop is not yet heeded."""
DEADLINE = 60.0
"""Seconds that one try may take as a whole."""
STREAM_PATIENCE = 3
"""A streamed answer may take this many deadlines of an ordinary request."""
NOTICES_MAX = 100


@dataclass(frozen=True)
class Ask:
    """One thing to ask: `build` makes the request of a try; `origin` says whose connection it takes.

    `sink` takes the pieces of an answer with status 200, from the start again at each try; its body is then empty.
    Units: `seconds` for one try, `total` for all of them; without it, `PATIENCE` times as much.
    """

    method: Method
    what: str
    origin: str
    build: Callable[[], httpx.Request]
    limit: Limit = OBJECT
    seconds: float = DEADLINE
    total: float | None = None
    paced: bool = True
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
    ) -> None:
        self.base = base_of(url, insecure=insecure)
        self.origin = origin_of(httpx.URL(self.base))
        self.deadline = deadline
        self.plain_headers = httpx.Headers({"User-Agent": f"syncd/{__version__}", "Accept-Encoding": "gzip"})
        self._secret = checked(token)
        # httpx.Headers hides the token from its own repr.
        self._headers = httpx.Headers(
            {**self.plain_headers, "Accept": "application/json", "Authorization": f"Bearer {token}"}
        )
        self._json_headers = httpx.Headers({**self._headers, "Content-Type": "application/json"})
        self._wires = Wires(transport)
        self._pacer = Pacer(clock)
        self._sleep, self._clock, self._random, self._cancelled = sleep, clock, random, cancelled
        self._sent: Counter[str] = Counter()
        self._lock = Lock()
        self._notices: dict[str, None] = {}
        self.turns = Turns()

    def __repr__(self) -> str:
        return f"Transport({self.base!r})"

    @property
    def sent(self) -> Mapping[str, int]:
        """How many requests were sent so far, by method, every try counted."""
        with self._lock:
            return dict(self._sent)

    def close(self) -> None:
        """Close every connection."""
        self._wires.close()

    def take_notices(self) -> tuple[str, ...]:
        """Return, once, what a person should know of answers that were read all the same, the first hundred."""
        with self._lock:
            taken, self._notices = tuple(self._notices), {}
        return taken

    def notice(self, text: str) -> None:
        """Given what a person should know of an answer, remember it until it is taken."""
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
        """Given an operation, return its answer in the shape asked for.

        Shapes: `path` holds raw segments below `/v1`; `body` is a JSON object or array; `limit` is that of the answer.
        Raises: PlatformError, Stopped.
        """
        with self.turns.block():
            what, answer = self.exchange(method, path, params, body, limit)
            return shape_of(answer, into, method=method, what=what, notice=self.notice)

    def tell(self, method: Method, path: tuple[str, ...], *, body: Body | None = None) -> None:
        """Given an operation that answers nothing, have it done. Raises: PlatformError, Stopped."""
        what, answer = self.exchange(method, path, None, body)
        if answer.body:
            shape_of(answer, Observed, method=method, what=what, notice=self.notice)

    def exchange(
        self,
        method: Method,
        path: tuple[str, ...],
        params: Params | None,
        body: Body | None,
        limit: Limit = OBJECT,
    ) -> tuple[str, Answer]:
        """Given an operation, return its name for messages, and its answer, which is a success.

        Raises: PlatformError, Stopped.
        """
        ask = replace(self._json_ask(method, path, params, body), limit=limit)
        what, answer = ask.what, self.perform(ask)
        if not 200 <= answer.status < 300:
            raise refusal(answer, what=what, secret=self._secret)
        return what, answer

    @contextmanager
    def stream(
        self, method: Method, path: tuple[str, ...], *, params: Params | None = None, body: Body | None = None
    ) -> Iterator[tuple[str, Streamed]]:
        """Given an operation that answers bit by bit, open its name for messages, and its answer, which is a success.

        Only opening it is tried again; reading raises what `pieces` does. Raises: PlatformError, Stopped.
        """
        ask = self._json_ask(method, path, params, body, accept="text/event-stream")
        what = ask.what
        with ExitStack() as stack:
            answer = self.perform(replace(ask, seconds=STREAM_PATIENCE * self.deadline, limit=STREAM), stack)
            if not isinstance(answer, Streamed):
                raise refusal(answer, what=what, secret=self._secret)
            yield what, replace(answer, pieces=self._heard(what, answer.pieces))

    def delete(self, path: tuple[str, ...]) -> None:
        """Given the path of a thing, delete it; that it was not there is success too (204, 205 and 404).

        Raises: PlatformError, Stopped.
        """
        what, url = address(self.base, "DELETE", path, None)
        answer = self.perform(self._ask("DELETE", what, lambda: httpx.Request("DELETE", url, headers=self._headers)))
        if answer.status in (204, 205):
            return
        if 200 <= answer.status < 300:
            if answer.body:
                shape_of(answer, Observed, method="DELETE", what=what, notice=self.notice)
            return
        error = refusal(answer, what=what, secret=self._secret)
        if not isinstance(error, NotFound):
            raise error

    def perform(self, ask: Ask, stack: ExitStack | None = None) -> Answer:
        """Given something to ask, return the answer that settles it, whatever its status.

        Shapes: with a stack, a success is Streamed, open until the stack is closed.
        Raises: AnswerLost, NotThePlatform, RateLimited, Stopped, Unreachable.
        """
        tries = Tries(PATIENCE * ask.seconds if ask.total is None else ask.total, self._random)
        with self.turns.block():
            while True:
                self._hold(ask)
                # The try gets no name: what it raised would stay here, and its connection with it, until a collection.
                settled = self._settled(ask, self._try(ask, tries, stack), tries)
                if isinstance(settled, Answer):
                    return settled
                self.turns.give_back()
                self._pause(settled, ask)

    def _json_ask(
        self, method: Method, path: tuple[str, ...], params: Params | None, body: Body | None, accept: str = ""
    ) -> Ask:
        what, url = address(self.base, method, path, params)
        content = None if body is None else json.dumps(body).encode()
        headers = self._headers if body is None else self._json_headers
        if accept:
            headers = headers.copy()
            headers["Accept"] = accept
        return self._ask(method, what, lambda: httpx.Request(method, url, headers=headers, content=content))

    def _ask(self, method: Method, what: str, build: Callable[[], httpx.Request]) -> Ask:
        return Ask(method, what, self.origin, build, seconds=self.deadline)

    def _hold(self, ask: Ask) -> None:
        self._heed(ask)
        if not ask.paced:
            return
        wait = self._pacer.reserve(ask.method)
        try:
            if wait > LONGEST:
                raise self._limited(ask, wait)
            self._pause(wait, ask)
        except SyncdError:
            self._pacer.give_up(ask.method)
            raise

    def _try(self, ask: Ask, tries: Tries, stack: ExitStack | None) -> Answer | Broken:
        request = ask.build()
        with self._lock:
            self._sent[ask.method] += 1
        began = monotonic()
        try:
            answer = self._exchanged(request, ask, min(ask.seconds, tries.left), stack)
        except BROKEN as error:
            if ask.paced:
                self._pacer.give_up(ask.method)
            return self._broken(error)
        finally:
            tries.count(monotonic() - began)
        if ask.paced:
            self._pacer.learn(ask.method, answer.headers)
        return answer

    def _exchanged(self, request: httpx.Request, ask: Ask, seconds: float, stack: ExitStack | None) -> Answer:
        with ExitStack() as own:
            deadline = monotonic() + seconds
            opened = self._wires.streamed(request, origin=ask.origin, cap=ask.limit.size, seconds=seconds)
            answer = own.enter_context(opened)
            if stack is not None and 200 <= answer.status < 300:
                stack.push(own.pop_all())
                return answer
            if ask.sink is not None and answer.status == 200:
                ask.sink(self._heeding(ask, answer.pieces))
                return Answer(answer.status, answer.headers, b"")
            return Answer(answer.status, answer.headers, self._collected(ask, answer, deadline))

    def _collected(self, ask: Ask, answer: Streamed, deadline: float) -> bytes:
        """The body of an answer, of a refusal only its beginning."""
        succeeded = 200 <= answer.status < 300
        arriving = Arriving(ask.limit if succeeded else OBJECT)
        try:
            for piece in self._heeding(ask, answer.pieces):
                arriving.add(piece)
                if not succeeded and arriving.size >= REFUSAL_BYTES:
                    break
                if arriving.size > SHARE:
                    self.turns.take(deadline - monotonic())
            return arriving.whole()
        except BaseException:
            arriving.clear()
            raise

    def _heeding(self, ask: Ask, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """The pieces of an answer, for as long as nobody asks to stop; a write is heard out."""
        for piece in pieces:
            if self._cancelled() and ask.method == "GET":
                raise Stopped(f"stopped during {ask.what}")
            yield piece

    def _heard(self, what: str, pieces: Iterator[bytes]) -> Iterator[bytes]:
        try:
            for piece in pieces:
                if self._cancelled():
                    raise Stopped(f"stopped during {what}")
                yield piece
        except BROKEN as error:
            broken = self._broken(error)
            if broken.failure in (Failure.FOREIGN, Failure.TOO_LARGE):
                raise _unusable(what, broken) from error
            raise Unreachable(f"{what}: the answer breaks off ({broken.why})", hint=CHECK_NETWORK) from error

    def _broken(self, error: Exception) -> Broken:
        return Broken(failure_of(type(error)), tidy(describe_failure(error), self._secret), error)

    def _settled(self, ask: Ask, answer: Answer | Broken, tries: Tries) -> Answer | float:
        """The answer when it settles the matter, else the seconds until the next try."""
        if isinstance(answer, Broken):
            return self._after_break(ask, answer, tries)
        status = answer.status
        if status == 429:
            return self._after_limit(ask, answer, tries)
        if ask.method not in IDEMPOTENT:
            if status == 408 or (status >= 500 and status != 501):
                raise AnswerLost(f"{self._said(ask, answer)}; it may or may not have happened", status=status)
            return answer
        if status not in (408, 502, 503, 504) and not (status == 500 and ask.method == "GET"):
            return answer
        if tries.are_over:
            raise Unreachable(f"{self._said(ask, answer)}, {tries.made} times", status=status)
        return tries.backoff()

    def _after_break(self, ask: Ask, broken: Broken, tries: Tries) -> float:
        if broken.failure in (Failure.FOREIGN, Failure.TOO_LARGE):
            raise _unusable(ask.what, broken) from broken.cause
        if broken.failure is Failure.BROKEN and ask.method not in IDEMPOTENT:
            lost = f"{ask.what}: the answer was lost; it may or may not have happened ({broken.why})"
            raise AnswerLost(lost) from broken.cause
        if tries.are_over:
            tried = f"no answer after {tries.made} tries in {tries.spent:.0f} s"
            said = f"{self.base}: {ask.what}: {tried} ({broken.why})"
            raise Unreachable(said, hint=CHECK_NETWORK) from broken.cause
        return tries.backoff()

    def _after_limit(self, ask: Ask, answer: Answer, tries: Tries) -> float:
        named = named_wait(answer.headers, self._clock())
        wait = tries.backoff() if named is None else named
        if wait > LONGEST or tries.are_over:
            raise self._limited(ask, wait)
        if ask.paced:
            self._pacer.hold(ask.method, wait)
        return wait

    def _said(self, ask: Ask, answer: Answer) -> str:
        return refusal(answer, what=ask.what, secret=self._secret).what

    def _limited(self, ask: Ask, wait: float) -> RateLimited:
        return RateLimited(f"{ask.what}: the rate limit is used up for {wait:.0f} s", until=self._clock() + wait)

    def _pause(self, seconds: float, ask: Ask) -> None:
        while seconds > 0:
            self._heed(ask)
            self._sleep(min(seconds, SLEEP_SLICE))
            seconds -= SLEEP_SLICE

    def _heed(self, ask: Ask) -> None:
        if self._cancelled():
            raise Stopped(f"stopped before {ask.what}")


def _unusable(what: str, broken: Broken) -> PlatformError:
    if broken.failure is Failure.TOO_LARGE:
        return AnswerTooLarge(f"{what}: {broken.why}", hint=LIMITS)
    return NotThePlatform(f"{what}: {broken.why}", hint=CHECK_URL)
