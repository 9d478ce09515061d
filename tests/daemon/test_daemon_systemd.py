"""What systemd hears, on real datagram sockets."""

import os
import re
import secrets
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from syncd.daemon.systemd import Heartbeat, Notifier, is_journal, mark_priority
from syncd.errors import FleetUnreachable

UNITS = Path(__file__).parents[2] / "systemd"


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
    notify.send_ready()
    notify.send_alive()
    notify.send_status("syncing é\nREADY=1\x1b[31m")
    notify.send_reloading()
    notify.request_time(90)
    notify.send_stopping()
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
    Notifier(environ).send_ready()


def test_a_listener_that_does_not_listen_holds_nobody_up(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(tmp_path / "notify"))
        notify = Notifier({"NOTIFY_SOCKET": str(tmp_path / "notify")})
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as other:
            other.setblocking(False)
            with suppress(BlockingIOError):
                for _ in range(100_000):
                    other.sendto(b"x" * 1000, str(tmp_path / "notify"))
        notify.send_ready()  # or this test never ends


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


def test_a_heartbeat_is_heard_as_often_as_the_watchdog_needs_it(heard: tuple[str, socket.socket]) -> None:
    address, listener = heard
    moments = iter([0.0, 1.0, 15.9, 16.0, 20.0, 31.0])
    notify = Notifier({"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "30000000"})
    heartbeat = Heartbeat(notify, clock=lambda: next(moments))
    for _ in range(5):
        heartbeat.beat()
    listener.setblocking(False)
    assert [listener.recv(4096) for _ in range(3)] == [b"WATCHDOG=1"] * 3
    with pytest.raises(BlockingIOError):
        listener.recv(4096)


def test_where_there_is_no_watchdog_there_is_no_heartbeat(heard: tuple[str, socket.socket]) -> None:
    address, listener = heard
    Heartbeat(Notifier({"NOTIFY_SOCKET": address})).beat()
    listener.setblocking(False)
    with pytest.raises(BlockingIOError):
        listener.recv(4096)


def settings_of(unit: str) -> dict[str, str]:
    """Every setting of a unit that is given once, and the last value of all others."""
    return dict(re.findall(r"^(\w+)=(.*)$", (UNITS / unit).read_text(), re.MULTILINE))


def test_only_the_stream_that_systemd_names_is_the_journal(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w") as log:
        found = os.fstat(log.fileno())
        assert is_journal(log.fileno(), {"JOURNAL_STREAM": f"{found.st_dev}:{found.st_ino}"})
        assert not is_journal(log.fileno(), {"JOURNAL_STREAM": f"{found.st_dev}:{found.st_ino + 1}"})
        assert not is_journal(log.fileno(), {})
    assert not is_journal(-1, {"JOURNAL_STREAM": "1:2"})


def test_each_line_has_its_priority() -> None:
    assert mark_priority("docs: one\n<0>two", 3) == "<3>docs: one\n<3><0>two"


@pytest.mark.parametrize("unit", ["syncd.service", "syncd@.service"])
def test_the_unit_gives_a_run_its_time(unit: str) -> None:
    settings = settings_of(unit)
    assert settings["Type"] == "notify"
    assert settings["ExecStart"] == "/usr/bin/env syncd run"
    assert settings["RestartPreventExitStatus"] == "64 65 77 78"
    assert 60 + int(settings["WatchdogSec"]) <= 90
    assert int(settings["TimeoutStopSec"]) > 10
    assert settings["LoadCredential"].startswith("token:")


def test_a_worker_is_started_again_however_long_the_database_is_away() -> None:
    settings = settings_of("syncd-worker@.service")
    assert settings["StartLimitIntervalSec"] == "0", "else systemd gives it up after some starts"
    assert settings["Restart"] == "on-failure"
    assert str(FleetUnreachable.exit_code) not in settings["RestartPreventExitStatus"].split()


def test_a_setting_that_protects_one_service_protects_all() -> None:
    own = {"ExecStart", "ExecReload", "Description", "After", "User", "StateDirectory", "StateDirectoryMode"}
    own |= {"RuntimeDirectory", "RuntimeDirectoryMode", "CacheDirectory", "CacheDirectoryMode"}
    own |= {"WorkingDirectory", "LoadCredential", "ReadWritePaths", "MemoryMax", "SystemCallFilter"}
    own |= {"StartLimitIntervalSec", "StartLimitBurst"}
    own |= {"TimeoutStartSec", "RestartPreventExitStatus", "RestrictSUIDSGID"}
    first, *others = (
        {name: value for name, value in settings_of(unit.name).items() if name not in own}
        for unit in UNITS.glob("*.service")
    )
    assert all(other == first for other in others)
