"""Two first pushes of one branch at once, from clones of one commit, come to one change request wherever they cross."""

import threading
from typing import Literal

import httpx
import pytest

from syncd.sync.ci.base import CiResult
from tests.sync.ci.test_sync_ci import OPTIONS, Team, fine, team

__all__ = ["team"]

Job = Literal["first", "second"]


class Turns(threading.Condition):
    """Who sends requests: the first job a few, then the second one, then the first to its end, then the second."""

    def __init__(self, first: float, second: float) -> None:
        super().__init__()
        self.left: list[tuple[Job, float]] = [
            ("first", first), ("second", second), ("first", float("inf")), ("second", float("inf")),
        ]  # fmt: skip
        self.ended: set[Job] = set()

    def is_turn_of(self, job: Job) -> bool:
        while self.left and (self.left[0][1] <= 0 or self.left[0][0] in self.ended):
            del self.left[0]
        return not self.left or self.left[0][0] == job

    def take(self, job: Job) -> None:
        with self:
            assert self.wait_for(lambda: self.is_turn_of(job), timeout=60)

    def give_back(self, job: Job) -> None:
        with self:
            if self.left and self.left[0][0] == job:
                self.left[0] = (job, self.left[0][1] - 1)
            self.notify_all()

    def end(self, job: Job) -> None:
        with self:
            self.ended.add(job)
            self.notify_all()


class TurnTransport(httpx.HTTPTransport):
    """Sends one request at a time, when it is the job's turn."""

    def __init__(self, turns: Turns, job: Job) -> None:
        super().__init__()
        self.turns, self.job, self.lock = turns, job, threading.Lock()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        with self.lock:
            self.turns.take(self.job)
            try:
                return super().handle_request(request)
            finally:
                self.turns.give_back(self.job)


ALL = float("inf")
USUAL = [(4, ALL), (9, ALL), (8, 11)]
MORE = [(first, second) for first in range(4, 26) for second in (6, 11, 16, ALL) if (first, second) not in USUAL]


@pytest.mark.parametrize(("first", "second"), [*USUAL, *(pytest.param(*each, marks=pytest.mark.long) for each in MORE)])
def test_two_first_pushes_that_cross_leave_one_change_request(team: Team, first: float, second: float) -> None:
    summary = (team.origin / "SUMMARY.md").read_text()
    new = {"new.md": "# New\n\nOne line.\n", "SUMMARY.md": f"{summary}* [New](new.md)\n"}
    team.commit("Say more", {"options.md": f"{OPTIONS}* third\n", **new})
    turns, done = Turns(first, second), dict[Job, CiResult]()

    def run(job: Job, number: int) -> None:
        with TurnTransport(turns, job) as transport:
            try:
                done[job] = Team(team.world, team.origin, transport=transport, jobs=number).ci()
            finally:
                turns.end(job)

    jobs = [threading.Thread(target=run, args=("first", 100)), threading.Thread(target=run, args=("second", 200))]
    for each in jobs:
        each.start()
    for each in jobs:
        each.join()
    assert set(done) == {"first", "second"}
    for result in done.values():
        fine(result)
    assert team.requests("draft") == []
    (request,) = team.requests()
    assert team.page(request.number, "reference/new") == "# New\n\nOne line.\n"
    assert team.page(request.number, "reference/options") == f"{OPTIONS}* third\n"
