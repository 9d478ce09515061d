"""Count the requests to the platform by the minute, for the graphs of the status page."""

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from threading import Lock

from syncd.api.transport.rate_limit import parse_number
from syncd.web.status.values import RequestMinute

MINUTES_MAX = 60
_FIRST_ERROR = 400


class RequestLog:
    """The last hour in which there were requests, a record for each minute; safe in any thread."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        """Begin without requests. Units: `now` in epoch seconds."""
        self._now = now
        self._lock = Lock()
        self._minutes: deque[RequestMinute] = deque(maxlen=MINUTES_MAX)

    def add(self, seconds: float, status: int, headers: Mapping[str, str]) -> None:
        """Count one request. Shape: `status` is 0 where no answer came; the headers may name the rate limit."""
        begin = self._now() // 60 * 60
        remaining, limit = (parse_number(headers.get(name)) for name in ("X-RateLimit-Remaining", "X-RateLimit-Limit"))
        with self._lock:
            if not self._minutes or self._minutes[-1].at != begin:
                self._minutes.append(RequestMinute(begin, 0, 0, 0.0, 0.0))
            last = self._minutes[-1]
            has_limit = remaining is not None and limit is not None and limit > 0
            self._minutes[-1] = replace(
                last,
                count=last.count + 1,
                failures=last.failures + (status == 0 or status >= _FIRST_ERROR),
                seconds=last.seconds + seconds,
                longest=max(last.longest, seconds),
                remaining=remaining if has_limit else last.remaining,
                limit=limit if has_limit else last.limit,
            )

    def list_minutes(self) -> tuple[RequestMinute, ...]:
        """Return the minutes with requests, oldest first."""
        with self._lock:
            return tuple(self._minutes)
