"""What an outage costs a host in an hour, and that runs go on by themselves: by a clock that the test sets."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path

import httpx
import pytest

from syncd.api.client import Client
from syncd.api.options import ClientOptions
from syncd.api.transport.breaker import LONGEST, REFUSED, Breaker
from syncd.daemon.records import summarize_run
from syncd.daemon.task import Job, Task
from syncd.errors import SyncdError, Unauthorized, Unreachable
from syncd.sync.outcome import Outcome, Unchanged, outcome_of
from syncd.sync.run.values import Result

HOUR = 3600.0
PAGE = "<!doctype html><title>Sign in</title>"
REQUESTS_MAX = 40
SPACES = ("a", "b", "c", "d")
SPACE = {"object": "space", "id": "a", "title": "A", "revision": "r"}


class Host:
    """A platform that answers as it is told, and what it was asked, each with the time."""

    def __init__(self) -> None:
        self.now, self.status, self.asked = 1000.0, 200, list[tuple[float, str]]()
        self.page = ""
        """What is answered in place of the API, if anything."""

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.asked.append((self.now, request.headers["Authorization"].removeprefix("Bearer ")))
        if not self.status:
            raise httpx.ConnectError("connection refused")
        if self.page:
            return httpx.Response(self.status, html=self.page)
        return httpx.Response(self.status, json=SPACE if self.status == 200 else {"error": {"message": "no"}})

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class Runs:
    """A service that runs one repository, each of its spaces asked for twice, beside an upstream that works or not."""

    def __init__(self, host: Host, interval: float, *, has_upstream: bool, spaces: Sequence[str] = SPACES * 2) -> None:
        self.host, self.token, self.has_upstream, self.outcomes = host, "one", has_upstream, list[Outcome]()
        self.spaces = spaces
        self.breaker = Breaker(interval, clock=lambda: host.now)
        job = Job("docs", Path("/docs"), Path, interval, self.run, allow_requests=self.breaker.allow)
        self.task = Task(job, clock=lambda: host.now, chance=lambda: 0.999)

    def run(self, cancelled: Callable[[], bool]) -> Sequence[Result]:
        transport = httpx.MockTransport(self.host.answer)
        with Client(
            "http://127.0.0.1:1",
            self.token,
            ClientOptions(transport=transport, sleep=self.host.sleep, random=lambda: 0.5, breaker=self.breaker),
        ) as client:

            def mirror(space: str) -> Outcome:
                client.spaces.get(space)
                return Unchanged()

            results = [Result("mirror", space, outcome_of(partial(mirror, space))) for space in self.spaces]
        return [*results, Result("upstream", "fetch origin", Unchanged())] if self.has_upstream else results

    def serve(self, seconds: float) -> None:
        """Let so much time pass, with a tick at each interval."""
        end, tick = self.host.now + seconds, self.host.now
        while self.host.now < end:
            if self.host.now >= tick:
                self.task.pass_interval()
                tick += self.task.job.interval
            if self.task.find_wait() <= 0:
                self.task.begin_run()
                self.outcomes.append(summarize_run(self.task.job.run(lambda: False)))
                self.task.end_run(self.outcomes[-1], now=self.host.now, again=False)
            self.host.now += 1


@pytest.fixture
def host() -> Host:
    return Host()


@pytest.mark.parametrize("has_upstream", [False, True], ids=["alone", "beside an upstream that works"])
@pytest.mark.parametrize("interval", [pytest.param(1.0, marks=pytest.mark.long), 5.0, 60.0])
@pytest.mark.parametrize("status", [0, 502, 503])
def test_an_outage_costs_few_requests_and_ends_by_itself(
    host: Host, status: int, interval: float, has_upstream: bool
) -> None:
    runs = Runs(host, interval, has_upstream=has_upstream)
    runs.serve(interval + 1)
    host.asked.clear()
    host.status = status
    runs.serve(HOUR)
    assert 5 <= len(host.asked) <= REQUESTS_MAX
    host.asked.clear()
    runs.serve(HOUR)
    assert 3 <= len(host.asked) <= 6, "a request in a quarter of an hour"
    host.status = 200
    runs.serve(LONGEST + interval)
    assert runs.outcomes[-1] == Unchanged()


@pytest.mark.parametrize("has_upstream", [False, True], ids=["alone", "beside an upstream that works"])
@pytest.mark.parametrize("spaces", [SPACES * 2, SPACES[:1]], ids=["four spaces", "one space"])
@pytest.mark.parametrize(("status", "page"), [(200, PAGE), (404, PAGE), (302, ""), (503, "")])
def test_what_is_none_of_the_api_is_asked_ever_more_seldom(
    host: Host, status: int, page: str, spaces: Sequence[str], has_upstream: bool
) -> None:
    runs = Runs(host, 2.0, has_upstream=has_upstream, spaces=spaces)
    runs.serve(3)
    host.asked.clear()
    host.status, host.page = status, page
    runs.serve(HOUR)
    assert 5 <= len(host.asked) <= REQUESTS_MAX
    host.status, host.page = 200, ""
    runs.serve(LONGEST + 2)
    assert runs.outcomes[-1] == Unchanged()


@pytest.mark.parametrize("has_upstream", [False, True], ids=["alone", "beside an upstream that works"])
def test_a_refused_token_costs_one_request_in_five_minutes(host: Host, has_upstream: bool) -> None:
    host.status = 401
    runs = Runs(host, 60, has_upstream=has_upstream)
    runs.serve(HOUR)
    times = [at for at, _ in host.asked]
    assert 11 <= len(times) <= 12
    assert min(later - one for one, later in pairwise(times)) >= REFUSED
    host.status = 200
    runs.serve(REFUSED + 60)
    assert runs.outcomes[-1] == Unchanged()


def test_another_token_is_tried_at_the_next_run(host: Host) -> None:
    host.status = 401
    runs = Runs(host, 60, has_upstream=True)
    runs.serve(30)
    assert [token for _, token in host.asked] == ["one"]
    runs.token = "two"
    host.status = 200
    runs.serve(60)
    assert host.asked[1][1] == "two"
    assert runs.outcomes[-1] == Unchanged()


def test_who_wants_a_run_now_gets_a_request_now(host: Host) -> None:
    host.status = 0
    runs = Runs(host, 3600, has_upstream=False)
    runs.serve(100)
    before = len(host.asked)
    host.status = 200
    runs.task.request_now()
    runs.serve(2)
    assert len(host.asked) == before + 2 * len(SPACES)


def test_one_space_that_fails_alone_stops_no_other() -> None:
    breaker = Breaker(60)

    @contextmanager
    def fail(error: SyncdError) -> Iterator[None]:
        with pytest.raises(type(error)), breaker.guard():
            raise error
        yield

    for _ in range(3):
        with (
            fail(Unreachable("no", status=503)),
            fail(Unauthorized("no", status=403)),
        ):
            assert not breaker.is_failing
    with breaker.guard():
        pass
    with fail(Unreachable("no", status=503)), fail(Unreachable("no", status=500)):
        assert not breaker.is_failing
