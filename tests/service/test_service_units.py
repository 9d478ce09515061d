"""The units as systemd sees them: what they leave open, and that they name nothing that systemd does not know."""

import pytest

from tests.service.images import Release
from tests.service.server import Server

pytestmark = [pytest.mark.service, pytest.mark.timeout(1800)]
UNITS = ("syncd.service", "syncd@.service", "syncd-worker@.service", "syncd-platform.service")
EXPOSURE_MAX = 13
"""In tenths, from 0 to 100: what systemd-analyze says of a service by its settings."""


def test_the_machine_is_the_one_that_it_is_meant_to_be(server: Server, release: Release) -> None:
    assert server.machine.run("git --version").startswith(f"git version {release.git}.")
    assert server.machine.run("systemctl --version").startswith(f"systemd {release.systemd} ")
    assert server.machine.run("/opt/syncd/bin/python --version").startswith(f"Python {release.python}.")


@pytest.mark.parametrize("unit", UNITS)
def test_a_unit_leaves_little_open(server: Server, unit: str) -> None:
    server.machine.run(
        f"""cd $(mktemp -d) && syncd example {unit} > {unit}
        systemd-analyze verify --man=no ./{unit.replace("@.", "@docs.git.")}
        systemd-analyze security --offline=true --threshold={EXPOSURE_MAX} ./{unit}"""
    )


def test_a_service_sees_no_more_than_it_needs(server: Server) -> None:
    pid = server.show()["MainPID"]
    inside = f"nsenter --target {pid} --mount --"
    assert server.machine.run(f"{inside} ls /home /root", check=False).count("ermission denied") in (0, 2)
    for path in ("/etc/x", "/usr/x", "/var/lib/x", "/srv/x"):
        assert "Read-only file system" in server.machine.run(f"{inside} touch {path}", check=False)
    status = dict(line.split(":\t", 1) for line in server.machine.run(f"cat /proc/{pid}/status").splitlines())
    assert status["CapEff"].strip("0") == ""
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
