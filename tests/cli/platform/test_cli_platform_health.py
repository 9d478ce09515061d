"""`syncd platform serve` while its database cannot be used: systemd, its log and /readyz say so, until it can."""

import os
import resource
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from syncd.api.client import Client
from syncd.errors import SyncdError
from syncd.model.space import SpaceCreate
from tests.daemon.conftest import Systemd
from tests.forked import Forked, start_syncd

PATIENT = 60.0
NOTHING_MORE = 4096
"""Bytes that a file may have: less than the files of the database have already."""


@dataclass
class Platform:
    """A running `syncd platform serve`, and what it tells systemd."""

    process: Forked
    systemd: Systemd
    data: Path
    url: str = ""

    def hear(self, line: str) -> None:
        """Wait for a line of the log."""
        assert self.process.stderr is not None
        assert any(line in said for said in self.process.stderr)

    def limit_files(self, size: int) -> None:
        """Let the process write no file beyond so many bytes, as where the disk is full."""
        resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    def change_tables(self, statement: str) -> None:
        """Change the database behind the platform's back."""
        with closing(sqlite3.connect(self.data / "platform.db", timeout=PATIENT)) as connection:
            connection.execute(statement)

    def is_ready(self) -> tuple[int, str]:
        answer = httpx.get(f"{self.url}/readyz")
        return answer.status_code, answer.text


@pytest.fixture
def platform(tmp_path: Path) -> Iterator[Platform]:
    systemd, data = Systemd(str(tmp_path / "notify")), tmp_path / "data"
    words = ("platform", "serve", "--port", "0", "--data", data)
    environ = {**os.environ, "NOTIFY_SOCKET": str(tmp_path / "notify")}
    with start_syncd(*words, environ=environ, pipes=["stdout", "stderr"]) as process:
        try:
            assert process.stdout is not None
            running = Platform(process, systemd, data, process.stdout.readline().strip())
            systemd.hear(f"STATUS=listens on {running.url}", within=PATIENT)
            yield running
        finally:
            process.terminate()
            systemd.channel.close()


def test_a_disk_that_takes_nothing_more_is_told_until_something_was_written(platform: Platform) -> None:
    token = (platform.data / "token").read_text().strip()
    with Client(platform.url, token) as client:
        (organization,) = [one.id for one in client.organizations.list()]
        assert platform.is_ready() == (200, "ready\n")
        platform.limit_files(NOTHING_MORE)
        with pytest.raises(SyncdError):
            client.spaces.create(organization, SpaceCreate(title="Lost"))
        assert platform.is_ready() == (503, "not ready\nthe database could not be changed\n")
        platform.systemd.hear("STATUS=the database could not be changed: ", within=PATIENT)
        platform.hear("the database could not be changed: ")
        assert platform.url in platform.systemd.told[-1]
        platform.limit_files(resource.RLIM_INFINITY)
        client.spaces.create(organization, SpaceCreate(title="Kept"))
        assert platform.is_ready() == (200, "ready\n")
        platform.systemd.hear(f"STATUS=listens on {platform.url}", within=PATIENT)
        platform.hear("the database can be used again")


def test_a_database_that_cannot_be_read_is_told_though_nobody_asks_for_anything(platform: Platform) -> None:
    platform.change_tables("ALTER TABLE jobs RENAME TO aside")
    platform.systemd.hear("STATUS=the database could not be read: no such table", within=PATIENT)
    assert platform.is_ready() == (503, "not ready\nthe database could not be read\n")
    platform.change_tables("ALTER TABLE aside RENAME TO jobs")
    platform.systemd.hear(f"STATUS=listens on {platform.url}", within=PATIENT)
    assert platform.is_ready() == (200, "ready\n")
