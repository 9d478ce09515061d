"""Request rate: what the platform's rate limit headers say, shared by all threads."""

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from threading import Lock

import httpx

SPREAD_SHARE = 0.1
"""Share of the limit from which on the remaining requests are spread."""
SPREAD_COUNT = 32
"""Requests left from which on each is counted here too: more than are ever under way, which no answer has counted."""
SPREAD_MAX = 10.0
"""Seconds between two spread requests at most: a window of an hour must not stall a run that needs three requests."""
WAIT_MAX = 120.0
"""Seconds that a run waits for the platform; what would take longer is the next run's."""
NAMED_WAIT_MAX = 86400.0
"""Seconds that a platform can ask to wait; one that names a later time is asked again after a day."""
Observe = Callable[[float, int, Mapping[str, str]], object]
"""Is called after each try with its seconds, its status or 0 where no answer came, and its headers."""
AnnounceWait = Callable[[str, float], object]
"""Is called before each wait with what is waited for, such as `the platform's rate limit (GET /spaces/x)`, and its
seconds.
"""
Share = Callable[[str, float, float], float]
"""Counts a request of a method, of which so many are left for so many seconds, and returns how many are left for all
who have this token; it is asked only when a limit is nearly used up.
"""


def keep_own_count(method: str, remaining: float, seconds: float) -> float:
    """Share a limit with nobody."""
    return remaining


def ignore_try(seconds: float, status: int, headers: Mapping[str, str]) -> None:
    """Do nothing about a try."""


def ignore_wait(reason: str, seconds: float) -> None:
    """Say nothing about a wait."""


def permit_all() -> None:
    """Let every request be sent."""


def compute_wait(limit: float, remaining: float, reset: float, now: float) -> float:
    """Return how long the next request should wait, from the state of a rate limit.

    Units: seconds; `reset` and `now` on one clock.
    """
    left = reset - now
    if left <= 0 or remaining > limit * SPREAD_SHARE:
        return 0.0
    if remaining <= 0:
        return left
    return min(left / (remaining + 1), SPREAD_MAX)


def read_retry_after(headers: httpx.Headers, now: float) -> float | None:
    """Return the seconds that a refusal asks to wait, by its headers; None when it names no time.

    A date is read against the answer's own `Date`, so that a wrong clock on either side does not matter.
    """
    after = headers.get("Retry-After")
    if after is not None:
        seconds = parse_number(after)
        if seconds is None and (date := parse_date(after)) is not None:
            seconds = date.timestamp() - _read_server_time(headers, now)
        return _keep_positive(seconds)
    if parse_number(headers.get("X-RateLimit-Remaining", "0")) != 0:
        return None
    reset = parse_number(headers.get("X-RateLimit-Reset"))
    return None if reset is None else _keep_positive(reset - _read_server_time(headers, now))


@dataclass
class _Window:
    limit: float
    remaining: float
    reset: float
    length: float


class RateLimiter:
    """The rate limits as last seen, one for each method since they differ by method; threads may share it."""

    def __init__(self, clock: Callable[[], float], share: Share = keep_own_count) -> None:
        self._clock, self._share = clock, share
        self._lock = Lock()
        self._windows: dict[str, _Window] = {}
        self._paused_until: dict[str, float] = {}
        self._under_way: Counter[str] = Counter()

    def reserve(self, method: str) -> float:
        """Count the next request of a method, and return how long it has to wait first, in seconds."""
        with self._lock:
            now = self._clock()
            self._under_way[method] += 1
            held = min(max(self._paused_until.get(method, now) - now, 0.0), WAIT_MAX)
            window = self._find_current_window(method, now)
            if window is None:
                return held
            own = window.remaining
            window.remaining -= 1
        # Others are asked over the network, which may take seconds: no thread waits for the request of another.
        left = self._share(method, own, window.reset - now)
        with self._lock:
            window.remaining = min(window.remaining, left - 1)
        wait = compute_wait(window.limit, left, window.reset, now)
        # Who waits for the next window is counted in it, and what does not fit there waits for the one after.
        later = -left // window.limit * window.length if left <= 0 else 0.0
        return max(held, wait + later)

    def _find_current_window(self, method: str, now: float) -> _Window | None:
        """The window that a request falls into now; when the last one is over, one like it, until an answer tells."""
        window = self._windows.get(method)
        if window is not None and window.reset <= now:
            left = window.limit + min(window.remaining, 0.0)
            window = self._windows[method] = _Window(window.limit, left, now + window.length, window.length)
        if window is not None and window.reset - now > window.length:  # the clock was set back
            del self._windows[method]
            return None
        return window

    def pause(self, method: str, seconds: float) -> None:
        """Make every thread wait that long before its next request of a method that was refused with 429."""
        with self._lock:
            self._paused_until[method] = max(
                self._paused_until.get(method, 0.0), self._clock() + min(seconds, WAIT_MAX)
            )

    def release(self, method: str) -> None:
        """Stop counting a request that is not sent after all, or gets no answer."""
        with self._lock:
            self._under_way[method] = max(self._under_way[method] - 1, 0)

    def record(self, method: str, headers: httpx.Headers) -> None:
        """Remember the limit that the headers of an answer name while it is nearly used up."""
        self.release(method)
        remaining = parse_number(headers.get("X-RateLimit-Remaining"))
        limit, reset = parse_number(headers.get("X-RateLimit-Limit")), parse_number(headers.get("X-RateLimit-Reset"))
        if remaining is None or limit is None or reset is None:
            return
        with self._lock:
            if remaining > max(limit * SPREAD_SHARE, SPREAD_COUNT) or limit < 1:
                self._windows.pop(method, None)
                return
            now = self._clock()
            length = reset - _read_server_time(headers, now)
            before = self._windows.get(method)
            # The platform has not yet counted all that is under way, and answers arrive in any order.
            remaining -= self._under_way[method]
            if before is not None and abs(before.reset - now - length) < 2:
                remaining = min(remaining, before.remaining)
            self._windows[method] = _Window(limit, remaining, now + length, length + 2)


def parse_number(text: str | None) -> float | None:
    """Return the number in a header about the rate limit; None when it is none, or without end."""
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def parse_date(text: str) -> datetime | None:
    """Return the moment in a header such as `Date`; None when it is none."""
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, OverflowError):  # the latter for numbers that no date has
        return None
    return date if date.tzinfo is not None else date.replace(tzinfo=UTC)


def _keep_positive(seconds: float | None) -> float | None:
    return seconds if seconds is not None and seconds > 0 else None


def _read_server_time(headers: httpx.Headers, now: float) -> float:
    date = parse_date(headers.get("Date", ""))
    return now if date is None else date.timestamp()
