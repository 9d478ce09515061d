"""The rate limit of a token, counted by all workers of a fleet together."""

from collections.abc import Callable, Iterator

import httpx
import pytest

from syncd.api.client import Client
from syncd.api.options import ClientOptions
from syncd.api.transport.rate_limit import NAMED_WAIT_MAX, RateLimiter, Share, keep_own_count
from syncd.errors import RateLimited
from syncd.fleet.database import FleetDatabase
from syncd.fleet.limits import note_limit, share_windows
from syncd.sync.outcome import Waiting
from tests.fleet.conftest import Fleet

NOW = 1_800_000_000.0


@pytest.fixture
def database(fleet: Fleet) -> Iterator[FleetDatabase]:
    fleet.make()
    with FleetDatabase(fleet.url) as database:
        yield database


def make_limiter(share: Share, remaining: int, *, clock: Callable[[], float] = lambda: NOW) -> RateLimiter:
    """One that was told so many of 60 are left for ten seconds."""
    limiter = RateLimiter(clock, share)
    reset = f"{clock() + 10:.0f}"
    headers = {"X-RateLimit-Limit": "60", "X-RateLimit-Remaining": str(remaining), "X-RateLimit-Reset": reset}
    limiter.record("GET", httpx.Headers(headers))
    return limiter


def test_two_workers_spread_what_is_left_as_one_would(database: FleetDatabase) -> None:
    share = share_windows(database, "key")
    first, second = make_limiter(share, 4), make_limiter(share, 4)
    waits = [one.reserve("GET") for one in (first, second, first, second, second, first)]
    assert waits == pytest.approx([2, 2.5, 10 / 3, 5, 10, 10])


def test_who_was_told_of_fewer_counts(database: FleetDatabase) -> None:
    share = share_windows(database, "key")
    first, second = make_limiter(share, 4), make_limiter(share, 1)
    assert second.reserve("GET") == pytest.approx(5)
    assert first.reserve("GET") == pytest.approx(10)


def test_another_token_another_method_and_a_new_window_have_counts_of_their_own(database: FleetDatabase) -> None:
    share = share_windows(database, "key")
    assert share("GET", 0, 10) == 0
    assert share("POST", 4, 10) == 4
    assert share_windows(database, "other")("GET", 4, 10) == 4
    assert share("GET", 4, 70) == 4, "another window"


def test_without_a_database_each_worker_counts_alone() -> None:
    gone = FleetDatabase("postgresql://nobody@127.0.0.1:1/none?connect_timeout=1")
    with gone._pool:
        gone._pool.timeout = 0.2
        limiter = make_limiter(share_windows(gone, "key"), 4)
        assert limiter.reserve("GET") == pytest.approx(2)


def spend(share: Share) -> float:
    """Let the clients of two workers send three requests each, and return the seconds that they waited in all."""
    waits: list[float] = []
    limit = {"X-RateLimit-Limit": "60", "X-RateLimit-Remaining": "4", "X-RateLimit-Reset": f"{NOW + 10:.0f}"}
    user = {"object": "user", "id": "u1", "displayName": "Somebody", "urls": {"location": "https://api.example/u1"}}
    transport = httpx.MockTransport(lambda request: httpx.Response(200, json=user, headers=limit))

    def make() -> Client:
        address = "http://127.0.0.1"
        return Client(
            address, "token", ClientOptions(transport=transport, share=share, sleep=waits.append, clock=lambda: NOW)
        )

    with make() as first, make() as second:
        for client in (first, second) * 3:
            client.users.get_current()
    return sum(waits)


def test_clients_of_two_workers_wait_as_one_would(database: FleetDatabase) -> None:
    assert spend(keep_own_count) == pytest.approx(2 + 2 + 2.5 + 2.5, abs=0.8)
    assert spend(share_windows(database, "clients")) == pytest.approx(2 + 2.5 + 10 / 3 + 5, abs=0.8)


@pytest.mark.parametrize(
    ("until", "seconds"), [(NOW + 600, 600), (NOW + 1e12, NAMED_WAIT_MAX), (1e308, NAMED_WAIT_MAX)]
)
def test_a_token_is_left_alone_for_a_day_at_most(database: FleetDatabase, until: float, seconds: float) -> None:
    """Clocks of workers differ: what counts is how long it is by the clock of the worker that was refused."""
    refused = Waiting("too many requests", until=until, exit_code=RateLimited.exit_code)
    with database.transact() as cursor:
        note_limit(cursor, "k", refused, now=NOW)
    ((left,),) = database.query("SELECT extract(epoch FROM until - clock_timestamp())::float8 FROM syncd_fleet_limits")
    assert left == pytest.approx(seconds, abs=5)
