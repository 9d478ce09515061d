"""A server for tests, booted once, and again from its first state after a test that left it ill."""

import os
import tempfile
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.service.images import BOOKWORM, TRIXIE, Release, build_wheels, check_tools, make_image
from tests.service.machine import Machine, wait_for
from tests.service.server import Server, install

KEPT = "SYNCD_TEST_SERVICE_IMAGES"
"""Environment variable that names where images and wheels are kept for the next run; by default they are removed."""

HAS_FAILED = pytest.StashKey[bool]()


@dataclass
class Installation:
    """The layers of a server that was installed and shut down, and one that runs on top of them."""

    layers: tuple[Path, ...]
    directory: Path
    space: str
    running: Server | None = None

    def take(self) -> Server:
        """Return a server in good health."""
        if self.running is not None and not self.running.is_healthy():
            self.give_back()
        if self.running is None:
            self.running = Server(Machine(self.layers, self.directory), self.space)
            self.running.machine.boot()
            wait_for(self.running.is_healthy, "healthy server after its boot")
        return self.running

    def give_back(self) -> None:
        """Forget the server that runs."""
        if self.running is not None:
            self.running.machine.remove()
        self.running = None


@pytest.fixture(scope="session")
def workshop() -> Iterator[Path]:
    """A directory on a real disk for images; temporary file systems in memory know no devices."""
    check_tools()
    if kept := os.environ.get(KEPT):
        Path(kept).mkdir(parents=True, exist_ok=True)
        yield Path(kept)
    else:
        with tempfile.TemporaryDirectory(prefix="syncd-service-", dir="/var/tmp") as made:
            yield Path(made)


@pytest.fixture(scope="session", params=[BOOKWORM, TRIXIE], ids=str)
def release(request: pytest.FixtureRequest) -> Release:
    """A release of Debian."""
    assert isinstance(request.param, Release)
    return request.param


@pytest.fixture(scope="session")
def images(request: pytest.FixtureRequest, workshop: Path) -> Iterator[dict[Release, Future[Path]]]:
    """The root file system of each release that is needed, which are made beside each other."""
    items = [item for item in request.session.items if isinstance(item, pytest.Function)]
    releases = {found for item in items if isinstance(found := item.callspec.params["release"], Release)}
    with ThreadPoolExecutor(len(releases)) as makers:
        yield {release: makers.submit(make_image, release, workshop) for release in releases}


@pytest.fixture(scope="session")
def installation(release: Release, workshop: Path, images: dict[Release, Future[Path]]) -> Iterator[Installation]:
    """A server on a release of Debian, installed as the manual says."""
    image = images[release].result()
    with tempfile.TemporaryDirectory(prefix=f"{release.name}-", dir=workshop) as directory:
        wheels = build_wheels(release, Path(directory))
        machine = Machine([image], Path(directory))
        try:
            machine.boot()
            space = install(machine, wheels)
        finally:
            machine.shut_down()
        installation = Installation((machine.written, image), Path(directory), space)
        yield installation
        installation.give_back()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Remember that a test failed, for the fixtures that it used."""
    report = yield
    item.stash[HAS_FAILED] = report.failed
    return report


@pytest.fixture
def server(installation: Installation, request: pytest.FixtureRequest) -> Iterator[Server]:
    """A server on which all is well; what its services said is shown when a test fails."""
    server = installation.take()
    server.machine.run("systemctl reset-failed syncd syncd-platform")  # which counts the starts of former tests, too
    server.mark_journal()
    yield server
    if request.node.stash.get(HAS_FAILED, True):
        print(server.read_journal("syncd"), server.read_journal("syncd-platform"))
        installation.give_back()
