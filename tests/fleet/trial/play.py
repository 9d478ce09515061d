"""Play a trial: a fleet at work, people on both sides, and what befalls machines."""

import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from syncd.daemon.task import LONGEST_WAIT_SECONDS
from tests.fleet.trial.people import Diary, People
from tests.fleet.trial.processes import TrialDatabase, TrialPlatform, TrialWorkers, read_cpu, wait_until
from tests.fleet.trial.world import TrialWorld, make_world

_KINDS = ("kill", "stop", "kill", "stop", "kill", "stop", "database", "remote")
"""What befalls a fleet, as often as each does; in another order each time."""


@dataclass(frozen=True)
class TrialOptions:
    """How large a trial is and how long it takes.

    Units: seconds; `per_second` is what all people do together, `calm` the mean time between two disturbances, 0 for
    none. Shape: with `code`, another checkout of syncd, its workers are upgraded one after the other to this one.
    """

    repositories: int = 40
    spaces: int = 4
    workers: int = 4
    jobs: int = 2
    seconds: float = 300.0
    interval: float = 60.0
    lease: float = 6.0
    per_second: float = 1.0
    calm: float = 15.0
    seed: int = 1
    code: str = ""


@dataclass(frozen=True)
class Disturbance:
    """What befell the fleet, from when until when; `worker` is whom it befell, "" for all."""

    kind: str
    begun: float
    ended: float
    worker: str = ""


@dataclass
class Fleet:
    """A fleet that is at work. Shape: `cpu` is what workers, platform and PostgreSQL have used, in this order."""

    options: TrialOptions
    world: TrialWorld
    database: TrialDatabase
    platform: TrialPlatform
    workers: TrialWorkers
    diary: Diary = field(default_factory=Diary)
    disturbances: list[Disturbance] = field(default_factory=list)
    people_failures: list[str] = field(default_factory=list)
    is_reachable: threading.Event = field(default_factory=threading.Event)

    def read_cpu(self) -> tuple[float, float]:
        """Return the CPU seconds of the workers and of the platform."""
        return self.workers.read_cpu(), read_cpu(self.platform.process.pid)

    def run_syncd(self, *words: str) -> str:
        """Run a command of the fleet and return what it printed. Raises: AssertionError when it fails."""
        return _run_syncd(self.database.url, self.world.root, *words)


@contextmanager
def start_fleet(root: Path, options: TrialOptions) -> Iterator[Fleet]:
    """Make a world, start a fleet on it, and wait until each repository has run once."""
    names = [f"w{number}" for number in range(1, options.workers + 1)]
    world = make_world(root, repositories=options.repositories, spaces=options.spaces, workers=names)
    database = TrialDatabase()
    try:
        platform = TrialPlatform(world)
        try:
            _run_syncd(database.url, root, "fleet", "init")
            file = world.write_config(platform.url, interval=options.interval)
            _run_syncd(database.url, root, "fleet", "add", "--config", str(file))
            database.note_everything()
            workers = TrialWorkers(
                world, database.url, names, lease=options.lease, jobs=options.jobs, code=options.code
            )
            try:
                fleet = Fleet(options, world, database, platform, workers)
                fleet.is_reachable.set()
                wait_until(
                    lambda: all(one.has_page(space) for one in world.repositories for space in one.spaces),
                    "every repository has its pages",
                    seconds=60 + 10 * options.repositories,
                    pause=0.5,
                )
                yield fleet
            finally:
                workers.close()
        finally:
            platform.close()
    finally:
        database.close()


def _run_syncd(database: str, root: Path, *words: str) -> str:
    environ = {**os.environ, "SYNCD_FLEET_DATABASE": database}
    done = subprocess.run(
        [sys.executable, "-m", "syncd", *words], cwd=root, env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{words}: {done.stdout} {done.stderr}"
    return done.stdout


def play_trial(fleet: Fleet) -> None:
    """Let people work and disturb the fleet for the time of the trial, then wait until it is in step."""
    options = fleet.options
    chance = random.Random(options.seed)
    end = time.monotonic() + options.seconds
    with People(
        fleet.world,
        fleet.platform.url,
        fleet.diary,
        per_second=options.per_second,
        seed=options.seed,
        may_push=fleet.is_reachable.is_set,
    ) as people:
        kinds: list[str] = []
        if options.code:
            _upgrade_workers(fleet)
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(left, chance.expovariate(1 / options.calm) if options.calm else left))
            if options.calm and time.monotonic() < end:
                kinds = kinds or chance.sample(_KINDS, len(_KINDS))
                _disturb(fleet, chance, kinds.pop())
    fleet.people_failures = people.failures
    wait_for_rest(fleet)


def _upgrade_workers(fleet: Fleet) -> None:
    """Drain one worker after the other, and start it with the code of this checkout; both work side by side."""
    names = sorted(fleet.world.tokens)
    for count, name in enumerate(names):
        time.sleep(fleet.options.seconds / (len(names) + 1))
        fleet.workers.upgrade(name)
        fleet.run_syncd("fleet", "drain", name)
        wait_until(partial(_has_upgraded, fleet, count + 1), f"{name} is upgraded")


def _has_upgraded(fleet: Fleet, count: int) -> bool:
    """Whether so many workers of this checkout have said that they are there."""
    rows = fleet.database.query("SELECT count(*) FROM syncd_fleet_workers WHERE NOT is_draining")
    return fleet.workers.count_starts() == count and bool(rows[0][0] == len(fleet.world.tokens))


def wait_for_rest(fleet: Fleet) -> None:
    """Wait until each repository has begun a run after now, and ended one.

    Raises: AssertionError with what the database knows of those that have not, once none waits longer after a failure.
    """
    patience = LONGEST_WAIT_SECONDS + 4 * fleet.options.interval
    for _ in range(2):  # the first may bring what the second has to send on
        begun = time.time()
        deadline = time.monotonic() + patience
        while waiting := _list_waiting(fleet, begun):
            assert time.monotonic() < deadline, f"{len(waiting)} repositories did not run once more: {waiting[:5]}"
            time.sleep(1)


def _list_waiting(fleet: Fleet, begun: float) -> list[tuple[Any, ...]]:
    """What the database knows of the repositories that have not begun and ended a run since then."""
    return fleet.database.query(
        "SELECT name, failures, due_at - now(), last_worker, ended_at - now(), records FROM syncd_fleet_repositories"
        " WHERE name NOT IN (SELECT r.repository FROM trial_runs r JOIN trial_leases l"
        f" ON l.repository = r.repository AND l.fence = r.fence WHERE l.at > {begun}) ORDER BY name"
    )


def _disturb(fleet: Fleet, chance: random.Random, kind: str) -> None:
    name = chance.choice(sorted(fleet.world.tokens))
    begun = time.time()
    deeds: dict[str, Callable[[], None]] = {
        "kill": lambda: fleet.workers.kill(name),
        "stop": lambda: fleet.workers.stop_for(name, fleet.options.lease * chance.uniform(1.2, 2)),
        "database": fleet.database.restart,
        "remote": lambda: _take_remote_away(fleet, chance.uniform(3, 8)),
    }
    deeds[kind]()
    befallen = name if kind in ("kill", "stop") else ""
    fleet.disturbances.append(Disturbance(kind, begun, time.time(), befallen))


def _take_remote_away(fleet: Fleet, seconds: float) -> None:
    """Let no remote be found for a while; people are done with their pushes first."""
    fleet.is_reachable.clear()
    away = fleet.world.root / "hosted-away"
    for one in fleet.world.repositories:
        one.lock.acquire()
    try:
        fleet.world.hosted.rename(away)
        time.sleep(seconds)
        away.rename(fleet.world.hosted)
    finally:
        for one in fleet.world.repositories:
            one.lock.release()
        fleet.is_reachable.set()


def count_disturbances(fleet: Fleet) -> dict[str, int]:
    """Return how often each kind of disturbance befell the fleet."""
    return dict(Counter(one.kind for one in fleet.disturbances))
