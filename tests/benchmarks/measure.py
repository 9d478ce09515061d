"""What work costs in wall and CPU time, and one line that holds it against its goal."""

import gc
import resource
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Cost:
    """Seconds of wall time, and of CPU time with that of children that ended meanwhile."""

    wall: float
    cpu: float

    def __str__(self) -> str:
        return f"{_seconds(self.wall)} wall {_seconds(self.cpu)} CPU"


@dataclass(frozen=True)
class Line:
    """One result: `value` should not exceed `aim` and must not exceed `limit`; `facts` are what it comes from."""

    name: str
    value: float
    unit: str = "×"
    aim: float | None = None
    limit: float | None = None
    facts: str = ""

    @property
    def breaks(self) -> bool:
        """Whether the limit is exceeded."""
        return self.limit is not None and self.value > self.limit

    @property
    def verdict(self) -> str:
        """PASS, or what is exceeded; a dash for what is only shown."""
        if self.breaks:
            return "OVER"
        if self.aim is not None and self.value > self.aim:
            return "over aim"
        return "PASS" if self.aim is not None or self.limit is not None else "-"

    def __str__(self) -> str:
        goals = [f"{word} {goal:g}" for word, goal in (("aim", self.aim), ("limit", self.limit)) if goal is not None]
        figure = f"{self.name:<24} {self.value:>8.2f} {self.unit:<9}"
        return f"{figure} {', '.join(goals):<18} {self.verdict:<8} {self.facts}".rstrip()


def cost_of(work: Callable[[], object]) -> Cost:
    """Given work, do it and return what it cost."""
    gc.collect()
    cpu, wall = cpu_seconds(), time.perf_counter()
    work()
    return Cost(time.perf_counter() - wall, cpu_seconds() - cpu)


def over(cost: Cost, base: Cost) -> Cost:
    """Given what a command cost, and what it costs when it finds nothing to do, return what the work alone cost.

    Shape: at least a millisecond, so that what is lost in the noise is small and no division fails.
    """
    return Cost(max(cost.wall - base.wall, 0.001), max(cost.cpu - base.cpu, 0.001))


@dataclass(frozen=True)
class Duel:
    """Costs of two contestants, round by round."""

    base: tuple[Cost, ...]
    ours: tuple[Cost, ...]

    @property
    def wall(self) -> float:
        """How many times the wall time of the baseline ours takes: the median of the rounds' own ratios."""
        return statistics.median(ours.wall / base.wall for base, ours in self._rounds())

    @property
    def cpu(self) -> float:
        """The same of CPU time."""
        return statistics.median(ours.cpu / base.cpu for base, ours in self._rounds())

    def _rounds(self) -> Iterator[tuple[Cost, Cost]]:
        # Both sides of a round meet the same load of the machine; the next round may meet another.
        return zip(self.base, self.ours, strict=True)


def duel(base: Callable[[int], Cost], ours: Callable[[int], Cost], *, rounds: int) -> Duel:
    """Given two contestants, run them in turns, the other one first in each round, and return what they cost.

    A contestant gets the number of the round, prepares what it needs, and returns only the cost of what counts.
    """
    spent: tuple[list[Cost], list[Cost]] = ([], [])
    contestants = list(zip((base, ours), spent, strict=True))
    for number in range(rounds):
        for contestant, costs in contestants if number % 2 == 0 else reversed(contestants):
            costs.append(contestant(number))
    return Duel(tuple(spent[0]), tuple(spent[1]))


def both(name: str, result: Duel, facts: str, *, aim: float | None = None, limit: float | None = None) -> list[Line]:
    """Given a duel, return its lines: wall time, and CPU time, which other work of the machine hardly changes."""
    return [
        Line(f"{name} wall", result.wall, aim=aim, limit=limit, facts=facts),
        Line(f"{name} CPU", result.cpu, aim=aim, limit=limit, facts=facts),
    ]


def median(costs: Sequence[Cost]) -> Cost:
    """Given costs, return the median of each kind of time."""
    return Cost(statistics.median(cost.wall for cost in costs), statistics.median(cost.cpu for cost in costs))


def memory_mb(field: str) -> float:
    """Given VmHWM (the most so far) or VmRSS (now), return the resident memory of this process alone.

    Elsewhere than on Linux it is the most so far, which may be that of the process's parent.
    """
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    fields = dict(line.split(":", 1) for line in status.read_text(encoding="ascii").splitlines())
    return int(fields[field].removesuffix("kB")) * 1024 / 1e6


def cpu_seconds() -> float:
    """Return the CPU time that this process and its ended children have taken."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def _seconds(value: float) -> str:
    return f"{value:.2f} s" if value >= 1 else f"{value * 1000:.0f} ms"
