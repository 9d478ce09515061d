"""A trial of a fleet: many repositories, workers as processes, people on both sides, and what befalls machines.

`python -m tests.fleet play` plays one, judges it by what the remotes and the platform have logged, and ends with 1 when
something is lost, twice, at once or late. `throughput` counts what a run costs with one, two and four workers.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path

from tests.fleet.trial.judge import Verdict, judge_trial
from tests.fleet.trial.play import Fleet, TrialOptions, count_disturbances, play_trial, start_fleet

SHOWN = 20
"""Failures of a kind that are printed."""


def main(words: list[str]) -> int:
    """Given the words of the command, play, print, and return the exit code."""
    asked = _make_parser().parse_args(words)
    options = TrialOptions(**{one.name: getattr(asked, one.name) for one in fields(TrialOptions)})
    with tempfile.TemporaryDirectory(prefix="syncd-fleet-") as place:
        if asked.way == "throughput":
            return _measure_throughput(Path(place), options, asked.counts)
        return _play(Path(place, "trial"), options)


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.fleet")
    parser.add_argument("way", choices=["play", "throughput"])
    defaults = TrialOptions()
    for one in fields(TrialOptions):
        value = getattr(defaults, one.name)
        parser.add_argument(f"--{one.name.replace('_', '-')}", type=type(value), default=value, metavar="N")
    parser.add_argument("--counts", type=int, nargs="+", default=[1, 2, 4], help="with throughput: of workers")
    return parser


def _play(root: Path, options: TrialOptions) -> int:
    root.mkdir()
    begun = time.monotonic()
    with start_fleet(root, options) as fleet:
        print(f"{options.repositories} repositories with {options.spaces} spaces each, {options.workers} workers")
        print(f"first runs: {time.monotonic() - begun:.0f} s, {fleet.read_cpu()[0]:.1f} s of CPU", flush=True)
        runs, cpu = fleet.database.count_runs(), fleet.read_cpu()
        play_trial(fleet)
        runs = fleet.database.count_runs() - runs
        spent = [after - before for after, before in zip(fleet.read_cpu(), cpu, strict=True)]
        verdict = judge_trial(fleet)
        _print_verdict(fleet, verdict)
        print(f"{runs} runs, CPU of a run: workers {spent[0] / runs:.2f} s, platform {spent[1] / runs:.2f} s")
    return 1 if verdict.failures else 0


def _print_verdict(fleet: Fleet, verdict: Verdict) -> None:
    diary = fleet.diary
    print(f"people: {len(diary.written)} words, {len(diary.merged)} merges, {diary.refused} refused")
    for failure in fleet.people_failures[:SHOWN]:
        print(f"  a person's deed failed: {failure[:200]}")
    print(f"disturbances: {count_disturbances(fleet)}, workers ended with {dict(fleet.workers.ends)}")
    for name in ("lost", "doubled", "overlapping", "late"):
        found = getattr(verdict, name)
        print(f"{name}: {len(found)}")
        for line in found[:SHOWN]:
            print(f"  {line}")
    _print_records(fleet, verdict)
    print(f"requests of workers that had lost their lease: {verdict.requests_after_lease}")
    rows = fleet.database.query(
        "SELECT r.at - l.at FROM trial_runs r JOIN trial_leases l ON l.repository = r.repository AND l.fence = r.fence"
    )
    print(f"runs: {_describe_times([float(row[0]) for row in rows])}")
    for name in ("calm", "disturbed"):
        print(f"{name} changes in step: {_describe_times(getattr(verdict, name))}")


def _print_records(fleet: Fleet, verdict: Verdict) -> None:
    """Say what the runs of repositories came to last that are not in step, or have something twice."""
    status = json.loads(fleet.run_syncd("fleet", "status", "--json"))
    for one in status["repositories"]:
        if any(f" of {one['name']}/" in line for line in (*verdict.lost, *verdict.doubled)):
            print(f"  {one['name']}: {json.dumps(one)}")


def _describe_times(times: Sequence[float]) -> str:
    if len(times) < 2:
        return f"{len(times)}"
    hundredths = statistics.quantiles(times, n=100, method="inclusive")
    return f"{len(times)}, half in {hundredths[49]:.1f} s, 95 % in {hundredths[94]:.1f} s, all in {max(times):.1f} s"


def _measure_throughput(place: Path, options: TrialOptions, counts: Sequence[int]) -> int:
    """Let workers run as fast as they can, without people and disturbances."""
    for count in counts:
        given = replace(options, workers=count, interval=1.0, lease=30.0, calm=0)
        root = place / f"workers-{count}"
        root.mkdir()
        with start_fleet(root, given) as fleet:
            time.sleep(5)  # the first runs have ended by then
            runs, cpu, begun = fleet.database.count_runs(), fleet.read_cpu(), time.monotonic()
            time.sleep(options.seconds)
            runs, seconds = fleet.database.count_runs() - runs, time.monotonic() - begun
            spent = [after - before for after, before in zip(fleet.read_cpu(), cpu, strict=True)]
        print(
            f"{count} workers: {runs} runs without news in {seconds:.0f} s, {runs / seconds:.2f} a second;"
            f" CPU of a run: workers {spent[0] / runs * 1000:.0f} ms, platform {spent[1] / runs * 1000:.0f} ms",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
