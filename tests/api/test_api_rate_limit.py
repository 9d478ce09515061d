"""Pacing: what the rate limit headers make of the time between requests."""

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Semaphore
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncd.api.transport.rate_limit import SPREAD_MAX, WAIT_MAX, RateLimiter, compute_wait, read_retry_after

NOW = 1_700_000_000.0
amounts = st.integers(-10, 10_000)
moments = st.floats(NOW - 1e5, NOW + 1e5)


def limits(limit: object, remaining: object, reset: object, **more: str) -> httpx.Headers:
    names = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")
    return httpx.Headers({**dict(zip(names, map(str, (limit, remaining, reset)), strict=True)), **more})


def test_plenty_is_not_paced() -> None:
    assert compute_wait(60, 7, NOW + 60, NOW) == 0


def test_what_is_left_is_spread_until_the_reset() -> None:
    assert compute_wait(60, 5, NOW + 12, NOW) == pytest.approx(2)


def test_a_long_window_does_not_stall_a_short_run() -> None:
    assert compute_wait(1000, 50, NOW + 3600, NOW) == SPREAD_MAX


def test_nothing_left_waits_for_the_reset() -> None:
    assert compute_wait(60, 0, NOW + 600, NOW) == 600


@given(amounts, amounts, moments, moments)
@settings(deadline=None)
def test_a_wait_never_passes_the_reset(limit: int, remaining: int, reset: float, now: float) -> None:
    assert 0 <= compute_wait(limit, remaining, reset, now) <= max(reset - now, 0)


@given(st.integers(1, 10_000), st.integers(0, 10_000), st.floats(0, 1e5))
@settings(deadline=None)
def test_more_left_never_waits_longer(limit: int, remaining: int, left: float) -> None:
    assert compute_wait(limit, remaining + 1, NOW + left, NOW) <= compute_wait(limit, remaining, NOW + left, NOW)


@pytest.mark.parametrize(
    ("after", "seconds"),
    [
        ("5", 5.0),
        ("0.5", 0.5),
        ("1000000000", 1e9),
        ("0", None),
        ("-5", None),
        ("soon", None),
        ("nan", None),
        ("inf", None),
        ("1e999", None),
        ("", None),
    ],
)
def test_retry_after_in_seconds(after: str, seconds: float | None) -> None:
    assert read_retry_after(httpx.Headers({"Retry-After": after}), NOW) == seconds


def test_retry_after_as_a_date_is_read_against_the_servers_clock() -> None:
    headers = {"Date": "Tue, 01 Nov 2011 10:00:00 GMT", "Retry-After": "Tue, 01 Nov 2011 10:00:30 GMT"}
    assert read_retry_after(httpx.Headers(headers), NOW) == 30


@pytest.mark.parametrize(
    "date",
    [
        "Mon, 01 Jan 99999999999999999999 00:00:00 GMT",
        "Mon, 01 Jan 2001 00:00:00 +99999999999999",
        "Mon, 01 Jan 2001 00:00:00 +9999",
    ],
)
def test_a_date_that_no_calendar_has_is_passed_over(date: str) -> None:
    assert read_retry_after(httpx.Headers({"Retry-After": date}), NOW) is None
    assert read_retry_after(limits(60, 0, NOW + 5, Date=date), NOW) == 5


def test_retry_after_as_a_date_is_read_against_our_clock_when_there_is_no_other() -> None:
    assert read_retry_after(httpx.Headers({"Retry-After": "Tue, 14 Nov 2023 22:13:50 GMT"}), NOW) == 30


def test_the_reset_is_read_against_the_servers_clock() -> None:
    ten_years_off = NOW - 315_360_000
    headers = limits(60, 0, NOW + 20, Date="Tue, 14 Nov 2023 22:13:20 GMT")
    assert read_retry_after(headers, ten_years_off) == 20


def test_the_reset_says_nothing_while_requests_remain() -> None:
    assert read_retry_after(limits(60, 3, NOW + 20), NOW) is None


@pytest.mark.parametrize("reset", ["", "never", NOW - 5])
def test_a_reset_that_is_none_names_no_time(reset: object) -> None:
    assert read_retry_after(limits(60, 0, reset), NOW) is None


names = st.sampled_from([b"Retry-After", b"X-RateLimit-Reset", b"X-RateLimit-Remaining", b"X-RateLimit-Limit", b"Date"])
values = (
    st.binary() | st.floats().map(lambda number: str(number).encode()) | st.just(b"Tue, 14 Nov 2023 22:13:20 -0000")
)


@given(st.lists(st.tuples(names, values)))
@settings(deadline=None)
def test_no_header_value_breaks_the_reading(fields: list[tuple[bytes, bytes]]) -> None:
    headers = httpx.Headers(fields)
    wait = read_retry_after(headers, NOW)
    assert wait is None or wait > 0
    pacer = RateLimiter(lambda: NOW)
    pacer.record("GET", headers)
    assert pacer.reserve("GET") >= 0


def test_threads_that_ask_at_once_are_staggered(clock: Any) -> None:
    pacer = RateLimiter(clock)
    pacer.record("GET", limits(60, 4, clock.now + 10))
    waits = [pacer.reserve("GET") for _ in range(6)]
    assert waits == pytest.approx([2, 2.5, 10 / 3, 5, 10, 10])


def test_methods_have_limits_of_their_own(clock: Any) -> None:
    pacer = RateLimiter(clock)
    pacer.record("POST", limits(60, 0, clock.now + 10))
    assert pacer.reserve("GET") == 0
    assert pacer.reserve("POST") == 10


def test_a_late_answer_does_not_give_back_what_was_counted(clock: Any) -> None:
    pacer = RateLimiter(clock)
    pacer.record("GET", limits(60, 2, clock.now + 10))
    pacer.reserve("GET")
    pacer.reserve("GET")
    pacer.record("GET", limits(60, 1, clock.now + 10))
    assert pacer.reserve("GET") == 10


def test_a_new_window_begins_afresh(clock: Any) -> None:
    pacer = RateLimiter(clock)
    pacer.record("GET", limits(60, 0, clock.now + 10))
    clock.sleep(10)
    assert pacer.reserve("GET") == 0


def test_plenty_in_an_answer_ends_the_pacing(clock: Any) -> None:
    pacer = RateLimiter(clock)
    pacer.record("GET", limits(60, 0, clock.now + 10))
    pacer.record("GET", limits(60, 60, clock.now + 10))
    assert pacer.reserve("GET") == 0


def test_one_refused_thread_holds_the_others(clock: Any) -> None:
    pacer = RateLimiter(clock)
    pacer.pause("GET", 30)
    assert pacer.reserve("GET") == 30
    clock.sleep(30)
    assert pacer.reserve("GET") == 0


@pytest.mark.parametrize("jump", [-315_360_000, 315_360_000])
def test_a_clock_that_is_set_never_stops_the_requests(clock: Any, jump: float) -> None:
    pacer = RateLimiter(clock)
    pacer.record("GET", limits(60, 0, clock.now + 100))
    pacer.pause("GET", 100)
    clock.now += jump
    assert pacer.reserve("GET") <= WAIT_MAX


@pytest.mark.parametrize("headers", [{}, {"X-RateLimit-Remaining": "x"}, {"X-RateLimit-Remaining": "0"}])
def test_incomplete_headers_say_nothing(clock: Any, headers: dict[str, str]) -> None:
    pacer = RateLimiter(clock)
    pacer.record("GET", httpx.Headers(headers))
    assert pacer.reserve("GET") == 0


@pytest.mark.parametrize(("limit", "asked"), [(20, 90), (60, 200), (1000, 2500)])
def test_threads_do_not_run_into_a_limit_that_is_announced(limit: int, asked: int) -> None:
    """A platform that counts, and threads that have eight requests under way, each in its own order."""
    now, refused = NOW, 0
    used = Counter({NOW // 60: 1})
    pacer = RateLimiter(lambda: now)
    pacer.record("GET", limits(limit, limit - 1, (NOW // 60 + 1) * 60))
    chance = random.Random(limit)
    ready: list[float] = [NOW] * 8
    answers: list[tuple[float, httpx.Headers]] = []
    for _ in range(asked):
        ready.sort()
        now = max(now, ready.pop(0))
        for done, headers in sorted(answers, key=lambda answer: answer[0]):
            if done <= now:
                pacer.record("GET", headers)
        answers = [answer for answer in answers if answer[0] > now]
        sent = now + pacer.reserve("GET")
        used[sent // 60] += 1
        refused += used[sent // 60] > limit
        done = sent + chance.uniform(0.01, 0.05)
        answers.append((done, limits(limit, max(limit - used[sent // 60], 0), (sent // 60 + 1) * 60)))
        ready.append(done)
    assert refused == 0
    assert now - NOW < 60 * (2 + asked / limit)


def test_a_share_that_is_slow_keeps_no_other_request() -> None:
    asked, answers = Semaphore(0), Event()

    def share(method: str, remaining: float, seconds: float) -> float:
        asked.release()
        assert answers.wait(60)
        return remaining - 1

    limiter = RateLimiter(lambda: NOW, share)
    limiter.record("GET", limits(60, 4, NOW + 10))
    with ThreadPoolExecutor() as threads:
        waits = [threads.submit(limiter.reserve, "GET") for _ in range(2)]
        assert asked.acquire(timeout=60)
        assert asked.acquire(timeout=60)
        try:
            assert threads.submit(limiter.reserve, "POST").result(10) == 0
        finally:
            answers.set()
        # Of four left here, others have used up one: three for the first request, and two for the second.
        assert sorted(wait.result(10) for wait in waits) == pytest.approx([10 / 4, 10 / 3])
    assert limiter.reserve("GET") == pytest.approx(10), "none is left when others use up one more"
