"""syncd.service on a real machine: what it does, and what it says when it cannot."""

import pytest

from tests.service.machine import wait_for
from tests.service.manual import find_commands
from tests.service.server import CONFIG, REPOSITORY, SERVICE_PAGE, Server

pytestmark = [pytest.mark.service, pytest.mark.timeout(1800)]


def test_a_commit_becomes_a_change_request_and_its_merge_a_commit(server: Server) -> None:
    commit = server.edit_upstream("install.md", "# Install\n\nTurn the key twice.\n")
    server.run_now()
    (request,) = wait_for(server.list_change_requests, "change request")
    change_request = f"/spaces/{server.space}/change-requests/{request['id']}"
    page = server.api("GET", f"{change_request}/content/path/install?format=markdown")
    assert "Turn the key twice." in page["markdown"]
    server.api("POST", f"{change_request}/merge")
    server.run_now()
    subjects = wait_for(lambda: server.read_upstream_log(f"{commit}..main"), "merge on the Git host")
    assert "Edit install.md" in subjects


def test_whoever_works_in_the_repository_is_heard_at_once(server: Server) -> None:
    server.machine.run(
        f"""rm -rf /var/tmp/work && cd /var/tmp && sudo -u syncd git clone -q {REPOSITORY} work && cd work
        sudo -u syncd tee guides/more.md <<< '# More'
        sudo -u syncd tee -a guides/SUMMARY.md <<< '* [More](more.md)'
        sudo -u syncd git add -A && sudo -u syncd git -c user.name=A -c user.email=a@example.org commit -q -m More
        sudo -u syncd git push -q origin main"""
    )
    wait_for(lambda: "create page more.md" in server.read_journal(), "proposed page")
    assert "upstream push origin/main" in server.read_journal()


def test_people_ask_how_it_is_from_anywhere(server: Server) -> None:
    ask = f"sudo -u syncd syncd status --config {CONFIG}"
    assert "service running" in server.machine.run(f"cd {REPOSITORY} && {ask}")
    assert "service running" in server.machine.run(f"cd /root && {ask}")  # which the user may not read


def test_a_new_repository_is_taken_up_by_a_reload(server: Server) -> None:
    former = server.machine.run(f"cat {CONFIG}")
    second = f'[[repository]]\npath = "/srv/docs/second"\n[[repository.space]]\nid = "{server.space}"\n'
    pid = server.show()["MainPID"]
    server.machine.run(f"sudo -u syncd git init -q -b main /srv/docs/second && cat >> {CONFIG}", text=f"\n{second}")
    server.machine.run("systemctl reload syncd")
    mirror = "sudo -u syncd git -C /srv/docs/second cat-file -t platform/main"
    wait_for(lambda: server.machine.run(mirror, check=False) == "commit\n", "mirror of the second repository")
    server.machine.write(CONFIG, former)
    server.machine.run("systemctl reload syncd")
    assert server.show()["MainPID"] == pid
    wait_for(server.is_healthy, "good health")


def test_a_service_that_hangs_is_started_again(server: Server) -> None:
    server.add_drop_in("[Service]\nWatchdogSec=2\nTimeoutAbortSec=2\nRestartSec=1\n")
    server.machine.run("systemctl restart syncd")
    wait_for(server.is_healthy, "good health")
    pid = server.show()["MainPID"]
    server.machine.run(f"kill -STOP {pid}")
    wait_for(lambda: server.show()["NRestarts"] == "1", "new start")
    wait_for(server.is_healthy, "good health")
    assert server.show()["MainPID"] != pid
    assert "Watchdog timeout" in server.read_journal()
    server.remove_drop_in()


def test_a_stop_is_quick_and_a_start_goes_on(server: Server) -> None:
    server.run_now()
    server.machine.run("systemctl stop syncd")
    stopped = server.show()
    assert (stopped["ActiveState"], stopped["Result"], stopped["ExecMainStatus"]) == ("inactive", "success", "0")
    server.edit_upstream("install.md", "# Install\n\nTurn the key, at last.\n")
    server.machine.run("systemctl start syncd")
    wait_for(lambda: "update page install.md" in server.read_journal(), "proposed page")


def test_a_repository_that_is_shared_with_a_group_stays_shared(server: Server) -> None:
    server.machine.run(
        f"""sudo -u syncd git -C {REPOSITORY} config core.sharedRepository group
        cd {REPOSITORY} && chmod -R g+rwX . && find . -type d -exec chmod g+s {{}} +"""
    )
    server.edit_upstream("install.md", "# Install\n\nTurn the key together.\n")
    server.run_now()
    wait_for(lambda: "update page install.md" in server.read_journal(), "proposed page")
    closed = server.machine.run(f"cd {REPOSITORY} && find objects refs -type d ! -perm -g=rwx")
    assert closed == ""


def test_an_administrator_reads_the_journal_and_sends_signals_as_the_manual_says(server: Server) -> None:
    pid = server.show()["MainPID"]
    warnings, of_space = find_commands(SERVICE_PAGE, "When something is wrong")
    server.machine.run(f"{warnings} --no-pager")
    server.edit_upstream("install.md", "# Install\n\nTurn the key four times.\n")
    for line in find_commands(SERVICE_PAGE, "Signals"):
        server.machine.run(line)
    wait_for(lambda: "guides" in server.machine.run(f"{of_space} --no-pager"), "entry about the space")
    assert server.show()["MainPID"] == pid


def test_a_newer_syncd_beside_the_service_looks_and_changes_nothing(server: Server) -> None:
    *installs, check = find_commands("how-to/backup.md", "Upgrade")
    for line in installs:
        server.machine.run(line)
    said = server.machine.run(check, check=False)  # the unit was copied by hand, and that is said
    assert "fail" not in said
    assert "state.db: has schema" in said
    server.machine.run("rm -r /tmp/syncd-next")
