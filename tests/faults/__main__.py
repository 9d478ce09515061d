"""A search from outside for words that are lost between Git and the platform.

`python -m tests.faults simulate --schedules N --seed S` plays schedules in one process, `kill` with a platform in a
process of its own that is killed too, `replay` one schedule, or some of its steps, `known` all that ever failed.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from math import ceil
from multiprocessing import get_context
from pathlib import Path

from tests.faults.twoway.campaign import Played, Summary, keep, known, play, play_batch, play_list, shortened
from tests.faults.twoway.generate import generate
from tests.faults.twoway.profiles import PROFILES
from tests.faults.twoway.schedule import Schedule, load
from tests.faults.twoway.story import tell
from tests.faults.twoway.world import workshop

KNOWN = Path(__file__).with_name("known.json")
"""Every schedule that ever failed, shortened."""
BATCH = 50
"""Schedules that one process plays before it gives way to a fresh one, which makes all templates anew."""


def main(words: list[str]) -> int:
    """Given the words of the command, play, print, and return the exit code: 1 when anything failed."""
    asked = _parser().parse_args(words)
    if asked.keep:
        asked.keep = asked.keep.absolute()  # while schedules are played, another directory is the current one
    if asked.way == "replay":
        return _replay(asked)
    if asked.way == "known":
        return _play_known(asked)
    profile = asked.profile or ("kill" if asked.way == "kill" else "all")
    summary, began = Summary(), time.monotonic()
    schedules = [generate(seed, profile) for seed in range(asked.seed, asked.seed + asked.schedules)]
    for played in _play_all(schedules, asked):
        summary.add(played)
        if played.failures and asked.keep:
            keep(asked.keep, played)
        if played.failures:
            print(tell(played, profile) if asked.stories else _line(played), flush=True)
    print("\n".join(summary.lines()))
    print(f"{summary.counts['schedules'] / (time.monotonic() - began) * 3600:.0f} schedules an hour")
    return 1 if summary.failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.faults")
    parser.add_argument("way", choices=["simulate", "kill", "replay", "known"])
    parser.add_argument("--schedules", type=int, default=100, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="of the first schedule")
    parser.add_argument("--jobs", type=int, default=1, metavar="J", help="processes")
    parser.add_argument("--minutes", type=float, default=0, metavar="M", help="begin no other schedule after these")
    parser.add_argument("--profile", choices=sorted(PROFILES), help="which deeds there are")
    parser.add_argument("--shrink", action="store_true", help="make what fails short")
    parser.add_argument("--stories", action="store_true", help="tell what failed, as commands")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="add what failed to a file of known schedules")
    parser.add_argument("--steps", default="", metavar="1,2,...", help="with replay: these alone")
    parser.add_argument("--file", type=Path, help="with replay: a schedule as --save writes it")
    parser.add_argument("--save", type=Path, help="with replay: write the schedule there")
    return parser


def _line(played: Played) -> str:
    first = "; ".join(f"{failure.column}: {failure.text}" for failure in played.failures[:2])
    return f"seed {played.schedule.seed}: {', '.join(played.columns)}: {first[:400]}"


def _play_all(schedules: list[Schedule], asked: argparse.Namespace) -> Iterator[Played]:
    """Play schedules in as many processes as were asked for, and yield what came of each in their order."""
    end = time.monotonic() + asked.minutes * 60 if asked.minutes else float("inf")
    apart = asked.way == "kill"
    if asked.jobs == 1:
        yield from play_batch(schedules, end, apart=apart, shrinks=asked.shrink)
        return
    size = min(BATCH, ceil(len(schedules) / asked.jobs)) or 1
    batches = [schedules[at : at + size] for at in range(0, len(schedules), size)]
    with ProcessPoolExecutor(asked.jobs, mp_context=get_context("spawn")) as pool:
        for done in pool.map(partial(play_list, end=end, apart=apart, shrinks=asked.shrink), batches):
            yield from done


def _play_known(asked: argparse.Namespace) -> int:
    """Play every schedule that failed once, however long that takes."""
    asked.minutes = 0
    summary = Summary()
    rows = known(asked.file or KNOWN)
    for (about, _), played in zip(rows, _play_all([schedule for _, schedule in rows], asked), strict=True):
        summary.add(played)
        print(f"{'failed' if played.failures else 'fine'}: {about}", flush=True)
        if played.failures:
            print(tell(played, "all") if asked.stories else _line(played), flush=True)
    print("\n".join(summary.lines()))
    return 1 if summary.failed else 0


def _replay(asked: argparse.Namespace) -> int:
    profile = asked.profile or "all"
    schedule = load(asked.file.read_text()) if asked.file else generate(asked.seed, profile)
    if asked.steps:
        schedule = schedule.only(map(int, asked.steps.split(",")))
    if asked.save:
        asked.save.write_text(schedule.dump())
    with workshop(apart=profile == "kill") as place:
        played = play(place, schedule)
        if asked.shrink and played.failures:
            played = shortened(place, played)
    print(tell(played, profile))
    return 1 if played.failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
