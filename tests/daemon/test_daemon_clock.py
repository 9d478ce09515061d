"""The clock ticks, survives a tick that fails, and counts it."""

import time
from collections import Counter
from collections.abc import Callable

import pytest

from syncd.daemon.clock import Clock
from tests.daemon.conftest import PATIENT


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENT
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_each_name_ticks_at_its_own_interval_until_it_is_cleared() -> None:
    ticks: Counter[str] = Counter()
    clock = Clock()
    clock.schedule("often", 0.2, lambda: ticks.update(["former"]))
    clock.schedule("often", 0.2, lambda: ticks.update(["often"]))
    clock.schedule("seldom", 3600, lambda: ticks.update(["seldom"]))
    clock.start()
    until(lambda: ticks["often"] >= 3)
    clock.clear()
    time.sleep(0.1)
    before = ticks.copy()
    time.sleep(0.6)
    clock.stop()
    clock.stop()
    assert ticks == before
    assert set(ticks) == {"often"}
    assert clock.errors == 0


def test_a_tick_that_fails_is_counted_and_the_clock_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> None:
        raise RuntimeError("tick")

    clock = Clock()
    clock.schedule("docs", 0.1, fail)
    clock.start()
    until(lambda: clock.errors >= 2)
    clock.stop()
    assert "tick" in caplog.text
