"""syncd-platform.service on a real machine."""

import pytest

from tests.service.images import BOOKWORM
from tests.service.machine import wait_for
from tests.service.server import PLATFORM, Server

pytestmark = [
    pytest.mark.service,
    pytest.mark.timeout(1800),
    pytest.mark.parametrize("release", [BOOKWORM], indirect=True),
]


def test_it_accepts_connections_once_systemd_says_that_it_runs(server: Server) -> None:
    server.machine.run(f"systemctl restart syncd-platform && curl --fail --silent --show-error {PLATFORM}/openapi.json")
    assert server.show("syncd-platform")["StatusText"] == f"listens on {PLATFORM}"


def test_a_stop_is_quick_and_what_it_holds_is_there_again(server: Server) -> None:
    server.machine.run("systemctl stop syncd-platform")
    stopped = server.show("syncd-platform")
    assert (stopped["ActiveState"], stopped["Result"], stopped["ExecMainStatus"]) == ("inactive", "success", "0")
    server.machine.run("systemctl start syncd-platform")
    assert server.api("GET", f"/spaces/{server.space}")["title"] == "Guides"
    server.run_now()
    wait_for(server.is_healthy, "good health")


def test_a_page_is_laid_out_as_pdf_within_the_limits_of_the_unit(server: Server) -> None:
    url = server.api("GET", f"/spaces/{server.space}/pdf")["url"]
    assert server.machine.run(f"curl --fail --silent '{url}' | head -c 5") == "%PDF-"


def test_a_server_that_hangs_is_started_again(server: Server) -> None:
    limits = "[Service]\nWatchdogSec=2\nTimeoutAbortSec=2\nRestartSec=1\n"
    server.machine.write("/run/systemd/system/syncd-platform.service.d/test.conf", limits)
    server.machine.run("systemctl daemon-reload && systemctl restart syncd-platform")
    server.machine.run(f"kill -STOP {server.show('syncd-platform')['MainPID']}")
    wait_for(lambda: server.show("syncd-platform")["NRestarts"] == "1", "new start")
    wait_for(lambda: server.show("syncd-platform")["ActiveState"] == "active", "running platform")
    server.machine.run("rm -r /run/systemd/system/syncd-platform.service.d && systemctl daemon-reload")
    server.machine.run("systemctl restart syncd-platform && systemctl kill --signal=USR1 --kill-whom=main syncd")
    wait_for(server.is_healthy, "good health")


def test_it_keeps_what_it_holds_to_itself(server: Server) -> None:
    kept = "/var/lib/syncd-platform"
    assert server.machine.run(f"stat --format='%a %U' {kept} {kept}/token").splitlines() == [
        "700 syncd-platform",
        "600 syncd-platform",
    ]
    assert "ermission denied" in server.machine.run(f"sudo -u syncd cat {kept}/token", check=False)
