"""Plays many seeds and sums them up."""

import json
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults.twoway.participants import Failure
from tests.faults.twoway.play import Player
from tests.faults.twoway.schedule import Schedule, load
from tests.faults.twoway.shrink import shrink
from tests.faults.twoway.verdict import COLUMNS, judge
from tests.faults.twoway.world import Workshop, workshop


@dataclass
class Played:
    """What came of a schedule."""

    schedule: Schedule
    failures: list[Failure]
    story: list[str]
    counts: Counter[str]

    @property
    def columns(self) -> list[str]:
        """The columns in which it failed."""
        return [name for name in (*COLUMNS, "oracle") if any(one.column == name for one in self.failures)]


Saboteur = Callable[[Player], None]
"""Somebody who spoils a world when all steps are played, for tests of the oracle itself."""


def play(workshop: Workshop, schedule: Schedule, spoil: Saboteur | None = None) -> Played:
    """Given a schedule, play it to the end in a fresh world."""
    with workshop.world(schedule.shape) as world:
        player = Player(world, schedule)
        try:
            player.play()
            if spoil is not None:
                spoil(player)
            judge(player)
        except Exception:  # noqa: BLE001  (a mistake of the oracle must not end a campaign)
            player.fail("oracle", traceback.format_exc())
        finally:
            player.web.close()
        player.counts["edits"] = player.ledger.edits
        return Played(schedule, player.failures, player.story, player.counts)


@dataclass
class Summary:
    """What came of many schedules: a number for each column, and the seeds that failed."""

    counts: Counter[str] = field(default_factory=Counter)
    failed: list[tuple[int, list[str]]] = field(default_factory=list)

    def add(self, played: Played) -> None:
        """Count one more."""
        self.counts["schedules"] += 1
        self.counts.update({name: played.counts[name] for name in ("edits", "runs", "kills", "asked")})
        self.counts.update(played.columns)
        if played.failures:
            self.failed.append((played.schedule.seed, played.columns))

    def lines(self) -> list[str]:
        """Return one line per column, and the seeds that failed."""
        counted = ("schedules", "edits", "runs", "kills", *COLUMNS, "oracle")
        lines = [f"{name:<28}{self.counts[name]:>8}" for name in counted]
        lines.append(f"{'conflicts for a person':<28}{self.counts['asked']:>8}")
        return lines + [f"failed: seed {seed}: {', '.join(columns)}" for seed, columns in self.failed]


def play_batch(schedules: Iterable[Schedule], end: float, *, apart: bool, shrinks: bool) -> Iterator[Played]:
    """Given schedules, play them until a time of the monotonic clock; with `shrinks`, shorten what fails."""
    if time.monotonic() > end:
        return
    with workshop(apart=apart) as place:
        for schedule in schedules:
            if time.monotonic() > end:
                return
            played = play(place, schedule)
            yield shortened(place, played) if shrinks and played.failures else played


def play_list(schedules: list[Schedule], end: float, apart: bool, shrinks: bool) -> list[Played]:
    """Do the same for a process of a pool."""
    return list(play_batch(schedules, end, apart=apart, shrinks=shrinks))


def keep(file: Path, played: Played) -> None:
    """Add a schedule to a file of those that failed once, which `known` reads."""
    rows = json.loads(file.read_text()) if file.exists() else []
    about = f"{', '.join(played.columns)}: {played.failures[0].text[:100]}"
    rows.append({"about": about, "schedule": json.loads(played.schedule.dump())})
    file.write_text(json.dumps(rows, indent=1) + "\n")


def known(file: Path) -> list[tuple[str, Schedule]]:
    """Return the schedules that failed once, each with what it is about."""
    return [(row["about"], load(json.dumps(row["schedule"]))) for row in json.loads(file.read_text())]


def shortened(workshop: Workshop, played: Played) -> Played:
    """Given what failed, play smaller schedules, and return the smallest that fails in one of the same columns."""
    wanted = set(played.columns)
    best = [played]

    def fails(schedule: Schedule) -> bool:
        now = play(workshop, schedule)
        if wanted & set(now.columns):
            best.append(now)
            return True
        return False

    shrink(played.schedule, fails)
    return best[-1]
