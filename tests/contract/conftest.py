"""The three ways to a platform: in this process, over a socket, and with PostgreSQL behind it."""

from collections.abc import Callable, Iterator

import pytest

from tests.contract.targets import open_target
from tests.contract.world import Target, World

# The first is the quick one; `.ci/run` runs them all.
TARGETS = (
    "in-process",
    pytest.param("socket", marks=pytest.mark.long),
    pytest.param("postgresql", marks=pytest.mark.long),
)


@pytest.fixture(scope="session", params=TARGETS)
def target(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, postgres_url: Callable[[], str]
) -> Iterator[Target]:
    """One platform for the tests of this process."""
    database = postgres_url() if request.param == "postgresql" else None
    data = tmp_path_factory.mktemp(request.param)
    with open_target(data, over_socket=request.param == "socket", database=database) as target:
        yield target


@pytest.fixture
def world(target: Target) -> World:
    """A new organization on the shared platform."""
    return target.world()
