"""Makes a failing schedule short: fewer steps, fewer faults, a simpler world, as long as it fails in the same way."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise

from tests.faults.twoway.schedule import Schedule, Shape

TRIES = 120
"""Schedules that are played at most."""


def shrink(schedule: Schedule, fails: Callable[[Schedule], bool], tries: int = TRIES) -> Schedule:
    """Given a schedule for which `fails` is true, return a small one for which it is.

    Delta debugging: halves, quarters and so on of the steps are left out, at last each alone; then whatever else is
    simpler is tried.
    """
    left = tries
    best = schedule
    parts = 2
    while left > 0 and len(best.steps) > 1:
        for smaller in _without_parts(best, parts):
            left -= 1
            if fails(smaller):
                best, parts = smaller, max(parts - 1, 2)
                break
            if left <= 0:
                break
        else:
            if parts >= len(best.steps):
                break
            parts = min(parts * 2, len(best.steps))
    return _simplified(best, fails)


def _without_parts(schedule: Schedule, parts: int) -> Iterator[Schedule]:
    """The schedule without one of so many parts of its steps, the last first."""
    steps = schedule.steps
    bounds = [len(steps) * at // parts for at in range(parts + 1)]
    for start, end in reversed(list(pairwise(bounds))):
        if start < end:
            yield replace(schedule, steps=steps[:start] + steps[end:])


def _simplified(schedule: Schedule, fails: Callable[[Schedule], bool]) -> Schedule:
    for at, step in enumerate(schedule.steps):
        if step.fault:
            plain = replace(step, fault="")
            simpler = replace(schedule, steps=(*schedule.steps[:at], plain, *schedule.steps[at + 1 :]))
            schedule = simpler if fails(simpler) else schedule
    used = {step.actor for step in schedule.steps}
    shapes = [
        replace(schedule.shape, clones=2 if "c" not in used else 3),
        replace(schedule.shape, clones=1) if not used & {"b", "c"} else schedule.shape,
        *(replace(schedule.shape, **{key: getattr(Shape(), key)}) for key in ("server", "update", "merge", "status")),
    ]
    for shape in shapes:
        merged = _merged(schedule.shape, shape)
        if merged != schedule.shape and fails(simpler := replace(schedule, shape=merged)):
            schedule = simpler
    return schedule


def _merged(now: Shape, wanted: Shape) -> Shape:
    """The present shape with what the wanted one has as the default has it, and its clones."""
    usual = Shape()
    kept = {
        key: getattr(wanted, key) if getattr(wanted, key) == getattr(usual, key) else getattr(now, key)
        for key in ("server", "update", "merge", "status")
    }
    return replace(now, **kept, clones=min(now.clones, wanted.clones))
