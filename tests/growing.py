"""How the cost of some work grows with its size: two runs in one process, compared with each other.

A bound in seconds says something of the machine: it fails where others run beside, and under a coverage tool. What a
test can hold is that eight times as much costs about eight times as much, and not sixty-four times.
"""

import gc
import sys
import time
from collections.abc import Callable
from math import inf
from types import FrameType

TIMES = 8
"""How much larger the second run is."""
WORST = 3 * TIMES
"""What it may cost, as a multiple; of work whose cost grows with the square of its size, it is 64."""
TRIES = 4
_FLOOR_SECONDS = 0.001
"""Less than this is measured as this: what is quick may vary."""


def assert_linear(work: Callable[[int], object], size: int) -> None:
    """Given work of any size, see that TIMES the size costs no more than WORST times as much, in one of some tries."""
    work(size)  # what is done once is done
    best = inf
    for _ in range(TRIES):
        small, large = _measure_cost(work, size), _measure_cost(work, size * TIMES)
        best = min(best, large / max(small, _FLOOR_SECONDS))
        if best <= WORST:
            return
    raise AssertionError(f"{TIMES} times the size costs {best:.0f} times as much")


def _measure_cost(work: Callable[[int], object], size: int) -> float:
    """The processor's time of one run, in seconds; what other tests have left is not looked through meanwhile."""
    gc.disable()
    try:
        start = time.thread_time()
        work(size)
        return time.thread_time() - start
    finally:
        gc.enable()


def count_calls(work: Callable[[], object]) -> int:
    """Do some work, and return how many functions it calls, of Python and of C."""
    count = 0

    def count_call(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count_call)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count
