"""The three ways to a platform: in this process, over a socket, and with PostgreSQL behind it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from syncd.platform.app import create_app
from syncd.platform.server import Background
from syncd.platform.storage import Storage
from tests.contract.in_process import InProcess
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
    data: Path = tmp_path_factory.mktemp(request.param)
    with ExitStack() as stack:
        database = postgres_url() if request.param == "postgresql" else None
        storage = stack.enter_context(Storage(data, database=database))
        storage.bootstrap()
        app = create_app(storage)
        if request.param == "socket":
            url = stack.enter_context(Background(storage, works=False))
            client = stack.enter_context(httpx.Client(base_url=url, trust_env=False, timeout=30))
        else:
            client = stack.enter_context(httpx.Client(base_url="http://platform", transport=InProcess(app)))
        yield Target(storage, app, client)


@pytest.fixture
def world(target: Target) -> World:
    """A new organization on the shared platform."""
    return target.world()
