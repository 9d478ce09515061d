"""syncd.service when something is wrong: its status, its health and its metrics say so, until it is right again."""

import pytest

from tests.service.machine import wait_for
from tests.service.server import REPOSITORY, TOKEN_FILE, Server

pytestmark = [pytest.mark.service, pytest.mark.timeout(1800)]
SMALL = "8m"


def assert_ill(server: Server, state: str, why: str) -> None:
    """Everybody who asks learns that the service achieves nothing, and systemd's status and the journal say why."""
    wait_for(lambda: why in server.show()["StatusText"].lower(), f"status with {why!r}")
    assert server.show()["ActiveState"] == "active"
    status, text = server.get_health("/readyz")
    assert (status, f": {state} since" in text) == (503, True), text
    assert server.get_health("/livez")[0] == 200
    assert server.get_metric("syncd_ready") == [0]
    assert 0 in server.get_metric("syncd_last_run_ok")
    assert max(server.get_metric("syncd_consecutive_failures")) >= 1
    assert why in server.read_journal(priority="warning").lower()


def test_a_token_that_is_refused_is_told_until_it_is_replaced(server: Server) -> None:
    # A platform that finds no token makes another, and knows the former no more.
    server.machine.run("rm /var/lib/syncd-platform/token && systemctl restart syncd-platform")
    server.run_now()
    assert_ill(server, "failed", "the token is not valid")
    server.machine.run("systemctl restart syncd")
    assert_ill(server, "failed", "the token is not valid")
    server.machine.run(f"install -m 0600 /var/lib/syncd-platform/token {TOKEN_FILE} && systemctl restart syncd")
    wait_for(server.is_healthy, "good health")


def test_a_repository_that_was_moved_away_is_told_until_it_is_back(server: Server) -> None:
    server.machine.run(f"mv {REPOSITORY} {REPOSITORY}.away")
    server.run_now()
    assert_ill(server, "failed", "docs.git")
    server.machine.run(f"mv {REPOSITORY}.away {REPOSITORY}")
    server.run_now()
    wait_for(server.is_healthy, "good health")


def test_a_full_disk_is_told_and_what_was_to_be_done_is_done_later(server: Server) -> None:
    server.machine.run(
        f"""systemctl stop syncd && cp -a /srv/docs /srv/kept
        mount -t tmpfs -o size={SMALL},mode=0755,uid=syncd,gid=syncd tmpfs /srv/docs && cp -a /srv/kept/. /srv/docs
        systemctl start syncd"""
    )
    wait_for(server.is_healthy, "good health")
    commit = server.edit_upstream("install.md", "# Install\n\nTurn the key on a full disk.\n")
    server.machine.run(f"head -c {SMALL.upper()} /dev/zero > /srv/docs/rubbish", check=False)
    server.run_now()
    assert_ill(server, "waiting", "no space")
    server.machine.run("rm /srv/docs/rubbish")
    server.run_now()
    wait_for(lambda: "update page install.md" in server.read_journal(), "proposed page")
    wait_for(server.is_healthy, "good health")
    git = f"sudo -u syncd git -C {REPOSITORY}"
    assert commit in server.machine.run(f"{git} fsck --full && {git} rev-parse main")
    server.machine.run(
        """systemctl stop syncd && rm -rf /srv/kept && cp -a /srv/docs /srv/kept && umount /srv/docs
        rm -rf /srv/docs && mv /srv/kept /srv/docs && systemctl start syncd"""
    )


def test_a_mistake_in_the_configuration_leaves_the_former_in_force(server: Server) -> None:
    former = server.machine.run("cat /etc/syncd/config.toml")
    server.machine.run("echo intervall = 5 >> /etc/syncd/config.toml && systemctl reload syncd")
    wait_for(lambda: "intervall" in server.read_journal(), "mistake in the journal")
    server.edit_upstream("install.md", "# Install\n\nTurn the key regardless.\n")
    server.run_now()
    wait_for(lambda: "update page install.md" in server.read_journal(), "proposed page")
    server.machine.write("/etc/syncd/config.toml", former)
    server.machine.run("systemctl reload syncd")
    wait_for(server.is_healthy, "good health")
