"""What systemd hears, on real datagram sockets."""

import os
import re
import secrets
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from syncd.daemon.systemd import Notifier

UNIT = Path(__file__).parents[2] / "systemd" / "syncd.service"


@pytest.fixture(params=["path", "abstract"])
def heard(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, socket.socket]]:
    """An address as systemd writes it, and the socket that listens there."""
    address = str(tmp_path / "notify") if request.param == "path" else f"@syncd-test-{secrets.token_hex(8)}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(address.replace("@", "\0", 1) if request.param == "abstract" else address)
        listener.settimeout(5)
        yield address, listener


def test_every_message_arrives_as_the_protocol_says(heard: tuple[str, socket.socket]) -> None:
    address, listener = heard
    notify = Notifier({"NOTIFY_SOCKET": address}, clock=lambda: 12.5)
    notify.ready()
    notify.alive()
    notify.status("syncing é\nREADY=1\x1b[31m")
    notify.reloading()
    notify.extend(90)
    notify.stopping()
    assert [listener.recv(4096).decode() for _ in range(6)] == [
        "READY=1",
        "WATCHDOG=1",
        "STATUS=syncing é READY=1 [31m",
        "RELOADING=1\nMONOTONIC_USEC=12500000",
        "EXTEND_TIMEOUT_USEC=90000000",
        "STOPPING=1",
    ]


@pytest.mark.parametrize("environ", [{}, {"NOTIFY_SOCKET": ""}, {"NOTIFY_SOCKET": "/nonexistent/notify"}])
def test_where_nobody_listens_nothing_happens(environ: dict[str, str]) -> None:
    Notifier(environ).ready()


def test_a_listener_that_does_not_listen_holds_nobody_up(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(tmp_path / "notify"))
        notify = Notifier({"NOTIFY_SOCKET": str(tmp_path / "notify")})
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as other:
            other.setblocking(False)
            with suppress(BlockingIOError):
                for _ in range(100_000):
                    other.sendto(b"x" * 1000, str(tmp_path / "notify"))
        start = time.monotonic()
        notify.ready()
        assert time.monotonic() - start < 2


@pytest.mark.parametrize(
    ("environ", "seconds"),
    [
        ({}, None),
        ({"WATCHDOG_USEC": "30000000"}, 30.0),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": str(os.getpid())}, 30.0),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"}, None),
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "often"}, None),
        ({"WATCHDOG_USEC": "²"}, None),
    ],
)
def test_the_watchdog_is_meant_for_this_process(environ: dict[str, str], seconds: float | None) -> None:
    assert Notifier({"NOTIFY_SOCKET": "/run/x", **environ}).watchdog_seconds == seconds


def test_without_a_socket_there_is_no_watchdog() -> None:
    assert Notifier({"WATCHDOG_USEC": "30000000"}).watchdog_seconds is None


def test_the_unit_gives_a_run_its_time() -> None:
    unit = dict(re.findall(r"^(\w+)=(.*)$", UNIT.read_text(), re.MULTILINE))
    assert unit["Type"] == "notify"
    assert unit["ExecStart"] == "/usr/bin/env syncd run"
    assert unit["RestartPreventExitStatus"] == "64 65 77 78"
    assert 60 + int(unit["WatchdogSec"]) <= 90
    assert int(unit["TimeoutStopSec"]) > 10
    assert unit["LoadCredential"].startswith("token:")
