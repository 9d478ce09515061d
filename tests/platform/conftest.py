"""A real platform for each test: a data directory, a server on a free loopback port, and a client of its owner."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from syncd.platform.app import create_app
from syncd.platform.server import BackgroundServer
from syncd.platform.storage.storage import Storage
from tests.contract.in_process import InProcess
from tests.contract.world import Target, World
from tests.storages import new_storage


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[Storage]:
    """An empty platform; `server` bootstraps it, a test without a server may do so itself."""
    with new_storage(tmp_path / "platform") as opened:
        yield opened


@pytest.fixture
def server(storage: Storage) -> Iterator[tuple[str, str]]:
    """The base URL of a running server, and the owner's token; a test that needs the platform's jobs does them."""
    storage.bootstrap()
    with BackgroundServer(storage, works=False) as url:
        yield url, storage.token_file.read_text().strip()


@pytest.fixture
def http(server: tuple[str, str]) -> Iterator[httpx.Client]:
    """A client of the owner; paths are those of the API document, `/v1/…`."""
    url, token = server
    with httpx.Client(
        base_url=url, headers={"Authorization": f"Bearer {token}"}, trust_env=False, timeout=90
    ) as client:
        yield client


@pytest.fixture
def world(storage: Storage) -> Iterator[World]:
    """A new organization with an administrator, an outsider, and short ways to fill it, on a platform of its own."""
    app = create_app(storage)
    with httpx.Client(base_url="http://platform", transport=InProcess(app)) as client:
        yield Target(storage, app, client).world()


@pytest.fixture
def organization(http: httpx.Client) -> str:
    """The id of the owner's organization."""
    return str(http.get("/v1/orgs").json()["items"][0]["id"])
