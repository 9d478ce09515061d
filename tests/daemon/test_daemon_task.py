"""When a job runs next, told by an injected clock."""

import math
from pathlib import Path

import pytest

from syncd.api.transport.rate_limit import NAMED_WAIT_MAX
from syncd.daemon.task import LONGEST_WAIT_SECONDS, REFUSED_TOKEN_SECONDS, SHORTEST_WAIT_SECONDS, Job, Task
from syncd.sync.outcome import Applied, Held, Outcome, Unchanged, Waiting

EPOCH = 1_800_000_000.0


class Watched:
    """A task and the time that it believes in."""

    def __init__(self, interval: float = 60, chance: float = 0) -> None:
        self.time = 1000.0
        path = Path("/srv/docs")
        job = Job("docs", path, lambda: path / ".git", interval, lambda cancelled: [])
        self.task = Task(job, clock=lambda: self.time, chance=lambda: chance)

    def run(self, outcome: Outcome, *, again: bool = False) -> float:
        """Run once, and return the wait for the next run."""
        self.time += max(self.task.find_wait(), 0)
        self.task.begin_run()
        assert self.task.find_wait() == math.inf
        self.task.end_run(outcome, now=EPOCH, again=again)
        return self.task.find_wait()


def test_the_first_run_is_at_once() -> None:
    assert Watched().task.find_wait() <= 0


@pytest.mark.parametrize("outcome", [Unchanged(), Applied(()), Held("a conflict", exit_code=6)])
def test_after_a_run_an_interval_or_a_wake_is_waited_for(outcome: Outcome) -> None:
    watched = Watched()
    assert watched.run(outcome) > 60
    watched.task.pass_interval()
    assert watched.task.find_wait() == 0
    assert watched.run(outcome) > 60
    watched.task.request_run()
    assert watched.task.find_wait() == 0


def test_an_interval_whose_tick_never_comes_is_made_up_for() -> None:
    watched = Watched(interval=60)
    assert watched.run(Unchanged()) == 150


def test_a_wake_during_a_run_asks_for_one_more_and_a_tick_does_not() -> None:
    watched = Watched()
    watched.task.begin_run()
    watched.task.pass_interval()
    watched.task.end_run(Unchanged(), now=EPOCH, again=False)
    assert watched.task.find_wait() > 60
    watched.task.begin_run()
    watched.task.request_run()
    watched.task.request_run()
    watched.task.end_run(Unchanged(), now=EPOCH, again=False)
    assert watched.task.find_wait() == 0
    assert watched.run(Unchanged()) > 60
    assert watched.run(Unchanged(), again=True) == 0


@pytest.mark.parametrize("outcome", [Waiting("no answer"), Held("a page to sign in", exit_code=69)])
def test_waiting_backs_off_from_the_interval_to_the_longest_and_starts_over(outcome: Outcome) -> None:
    watched = Watched(interval=60)
    assert [watched.run(outcome) for _ in range(6)] == [
        60,
        120,
        240,
        480,
        LONGEST_WAIT_SECONDS,
        LONGEST_WAIT_SECONDS,
    ]
    watched.run(Unchanged())
    watched.task.request_run()
    assert watched.run(outcome) == 60
    for _ in range(100):
        assert watched.run(outcome) <= LONGEST_WAIT_SECONDS


def test_backing_off_never_asks_more_often_than_the_interval_says() -> None:
    watched = Watched(interval=3600)
    assert [watched.run(Waiting("no answer")) for _ in range(3)] == [3600, 3600, 3600]


def test_many_daemons_that_failed_together_do_not_return_together() -> None:
    assert Watched(chance=0.999).run(Waiting("no answer")) == pytest.approx(48, abs=0.1)


def test_ticks_and_wakes_keep_to_the_back_off_and_a_person_does_not() -> None:
    watched = Watched()
    watched.run(Waiting("no answer"))
    watched.task.pass_interval()
    watched.task.request_run()
    assert watched.task.find_wait() == 60
    watched.task.request_now()
    assert watched.task.find_wait() <= 0


def test_a_named_time_is_waited_for_whoever_asks() -> None:
    watched = Watched()
    watched.run(Waiting("too many requests", until=EPOCH + 500))
    watched.task.pass_interval()
    watched.task.request_run()
    watched.task.request_now()
    assert watched.task.find_wait() == 500
    watched.time += 500
    assert watched.task.find_wait() <= 0


@pytest.mark.parametrize(
    ("until", "wait"),
    [
        (-10.0, SHORTEST_WAIT_SECONDS),
        (0.0, SHORTEST_WAIT_SECONDS),
        (1e9, NAMED_WAIT_MAX),
        (math.inf, NAMED_WAIT_MAX),
    ],
)
def test_a_senseless_time_neither_spins_nor_stalls(until: float, wait: float) -> None:
    assert Watched().run(Waiting("too many requests", until=EPOCH + until)) == wait


def test_a_refused_token_is_tried_every_five_minutes_at_most() -> None:
    watched = Watched()
    watched.run(Held("refused", exit_code=77))
    watched.task.pass_interval()
    assert watched.task.find_wait() == REFUSED_TOKEN_SECONDS
    watched.task.request_now()
    assert watched.task.find_wait() <= 0


def test_a_try_that_began_no_run_says_why_until_one_does() -> None:
    watched = Watched()
    watched.run(Waiting("another syncd works here", exit_code=7))
    assert watched.task.refusal == "another syncd works here"
    watched.run(Waiting("no answer"))
    assert watched.task.refusal == ""


def test_silence_is_counted_from_the_last_question() -> None:
    watched = Watched()
    watched.time += 500
    assert watched.task.find_silence() == 0
    watched.task.begin_run()
    watched.time += 40
    assert watched.task.find_silence() == 40
    assert not watched.task.is_cancelled()
    assert watched.task.find_silence() == 0
    watched.task.request_stop()
    assert watched.task.is_cancelled()
    watched.task.end_run(Unchanged(), now=EPOCH, again=True)
    assert watched.task.find_wait() == math.inf


def test_a_flood_from_outside_asks_for_one_run_in_its_interval() -> None:
    watched = Watched()
    watched.run(Unchanged())
    runs = []
    for second in range(100):
        watched.time += 0.25
        watched.task.request_spaced(10)
        if watched.task.find_wait() <= 0:
            runs.append(second / 4)
            watched.run(Unchanged())
    assert runs == [0, 10, 20]


def test_a_request_from_outside_is_answered_by_any_run_that_begins_after_it() -> None:
    watched = Watched()
    watched.run(Unchanged())
    watched.task.request_spaced(10)
    watched.run(Unchanged())
    watched.time += 1
    watched.task.request_spaced(10)
    assert watched.task.find_wait() == 9
    watched.task.request_run()
    assert watched.run(Unchanged()) > 60


def test_a_request_from_outside_waits_for_a_platform_that_named_a_time() -> None:
    watched = Watched()
    watched.run(Waiting("the limit is reached", until=EPOCH + 30))
    watched.task.request_spaced(10)
    assert watched.task.find_wait() == 30
