"""A small round of the trial that `python -m tests.fleet` plays, and whether its judge sees what must not be."""

from pathlib import Path

import pytest

from tests.fleet.trial.judge import judge_trial
from tests.fleet.trial.play import TrialOptions, count_disturbances, play_trial, start_fleet

pytestmark = [pytest.mark.story, pytest.mark.timeout(600)]
ROUND = TrialOptions(
    repositories=6, spaces=2, workers=3, jobs=2, seconds=40, interval=4, lease=4, per_second=1.5, calm=2.5
)


def test_nothing_is_lost_twice_or_at_once_whatever_befalls_a_fleet(tmp_path: Path) -> None:
    with start_fleet(tmp_path, ROUND) as fleet:
        play_trial(fleet)
        verdict = judge_trial(fleet)
        assert (verdict.lost, verdict.doubled, verdict.overlapping) == ([], [], [])
        assert fleet.people_failures == []
        assert {one.word[-1] for one in fleet.diary.written} == {"g", "w"}
        assert len(verdict.calm) + len(verdict.disturbed) == len(fleet.diary.written), "each has its time"
        assert {"kill", "stop", "database", "remote"} >= count_disturbances(fleet).keys() >= {"kill", "stop"}

        one = fleet.diary.written[0]
        repository = next(other for other in fleet.world.repositories if other.name == one.repository)
        space = next(other for other in repository.spaces if other.id == one.space)
        repository.push_text(space, lambda text: text.replace(f"* {one.word}\n", "", 1), "Lose a word")
        lease = fleet.database.query("SELECT min(at) FROM trial_leases")[0][0]
        fleet.database.query(f"UPDATE trial_leases SET worker = 'w0', at = {lease}")
        found = judge_trial(fleet)
        assert found.lost == [f"{one.word} of {repository.name}/{space.directory} is not in Git"]
        assert found.overlapping, "workers wrote that never had a lease"
