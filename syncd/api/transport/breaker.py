"""Whether a host is asked at all: after an outage or a refused token, only now and then, by a single request.

It lives as long as the service, beside runs that come and go: the host of the platform may be down while that of the
upstream works, and runs go on for the sake of the other.
"""

import copy
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from time import monotonic

from syncd.errors import NotThePlatform, PlatformError, SyncdError, Unauthorized, Unreachable

LONGEST = 900.0
"""Seconds between two requests to a host that does not answer, unless runs are further apart."""
REFUSED = 300.0
"""Seconds between two requests with a token that was refused."""
EARLY = 0.75
"""Share of a wait for an answer after which a request is let through: runs are spread, and come early by a fifth."""
_NO_SUCH_CALLER = 401
_OUTAGES = frozenset({502, 503, 504})
"""Answers of what stands before a server. One alone may be about one request, two in a row are about the host, as are
two answers in a row that are none of the API, such as a page that asks to sign in."""


class Breaker:
    """Keeps requests from one host while it is known to refuse all of them; threads share it."""

    def __init__(self, interval: float, *, clock: Callable[[], float] = monotonic) -> None:
        """Begin with a host of which nothing is known.

        Units: `interval`, the time between two runs, and `clock` in seconds.
        """
        self._interval, self._clock = interval, clock
        self._lock = Lock()
        self._secret = ""
        self._error: SyncdError | None = None
        self._failures, self._not_before = 0, -math.inf
        self._suspicions = 0
        """Requests in a row that failed in a way that may be the host's, however often each was sent."""

    @property
    def is_failing(self) -> bool:
        """Whether the last request failed in a way that others would share: then one try is enough to know more."""
        return self._error is not None

    def use_secret(self, secret: str) -> None:
        """Take note of the token of the next requests: another one than before may be right at once."""
        with self._lock:
            if secret != self._secret and isinstance(self._error, Unauthorized):
                self._close()
            self._secret = secret

    def allow(self) -> None:
        """Let the next request through, because a person wants it."""
        self._not_before = -math.inf

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Do the request in the block, or raise what the last one came to without doing it.

        Raises: SyncdError, the one that the host is known by.
        """
        with self._lock:
            if self._error is not None and self._clock() < self._not_before:
                raise copy.copy(self._error)
        try:
            yield
        except SyncdError as error:
            self._record_failure(error)
            raise
        with self._lock:
            self._close()

    def _record_failure(self, error: SyncdError) -> None:
        status = error.status if isinstance(error, PlatformError) else None
        with self._lock:
            if isinstance(error, Unauthorized):
                if status in (None, _NO_SUCH_CALLER):
                    self._open(error, REFUSED)
                else:
                    self._close()  # it answers, and knows who asks
            elif isinstance(error, Unreachable | NotThePlatform):
                self._suspicions += 1
                is_alone_enough = isinstance(error, Unreachable) and status is None
                may_be_alone = isinstance(error, NotThePlatform) or status in _OUTAGES
                if is_alone_enough or (may_be_alone and (self._error is not None or self._suspicions > 1)):
                    wait = self._interval * 2.0 ** min(self._failures, 32)
                    self._open(error, EARLY * min(wait, max(LONGEST, self._interval)))

    def _open(self, error: SyncdError, seconds: float) -> None:
        self._error, self._failures = error, self._failures + 1
        self._not_before = self._clock() + seconds

    def _close(self) -> None:
        self._error, self._failures, self._not_before = None, 0, -math.inf
        self._suspicions = 0
