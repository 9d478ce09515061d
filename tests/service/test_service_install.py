"""`syncd service install` under systemd, as an administrator types it, and as a person without root does."""

from collections.abc import Iterator

import pytest

from tests.service.conftest import Installation
from tests.service.images import BOOKWORM
from tests.service.machine import Machine, wait_for
from tests.service.manual import find_blocks, find_commands, replace_names
from tests.service.server import CONFIG, DROP_INS, GIT_HOST, PLATFORM, REPOSITORY, SERVICE_PAGE, Server
from tests.serving_git import TOKEN

pytestmark = [
    pytest.mark.service,
    pytest.mark.timeout(1800),
    pytest.mark.parametrize("release", [BOOKWORM], indirect=True),
]
UNIT = "/etc/systemd/system/syncd.service"
WRITER = "writer"
LIST_FILES = "find /etc /usr /var/lib/systemd /home -xdev ! -type d"


@pytest.fixture
def bare(installation: Installation) -> Iterator[Server]:
    """A server with a platform, a Git host and the program, on which no service of syncd was ever installed."""
    installation.give_back()
    server = Server(Machine(installation.layers, installation.directory), installation.space)
    server.machine.boot()
    server.machine.run(
        f"""systemctl disable --now syncd
        rm -r {UNIT} {DROP_INS} /srv/docs /etc/syncd /var/lib/syncd
        userdel syncd && systemctl daemon-reload
        systemctl is-active --quiet syncd-platform git-host"""
    )
    yield server
    server.machine.remove()


def run_as_writer(server: Server, script: str) -> str:
    """Run a script in a login of the person, as ssh gives one, and return what it printed."""
    return server.machine.run(f"su - {WRITER} -s /bin/bash -c 'set -euo pipefail; {script}'")


def test_an_administrator_installs_the_service_and_takes_it_away(bare: Server) -> None:
    machine = bare.machine
    before = set(machine.run(LIST_FILES).splitlines())
    first, tokens, second = find_commands(SERVICE_PAGE, "In one step")
    assert f"written: {UNIT}" in machine.run(first)
    machine.run("cp /var/lib/syncd-platform/token token")
    machine.write("/root/git-token", TOKEN, mode="0600")
    machine.run(tokens)
    _, clone, *_ = find_blocks(SERVICE_PAGE, "With systemd", "sh")
    machine.run(clone)
    (config,) = find_blocks(SERVICE_PAGE, "With systemd", "toml")
    names = {
        "https://api.gitbook.com": PLATFORM,
        "SPACE": bare.space,
        "https://git.example.org/team/docs.git": GIT_HOST,
    }
    machine.write(CONFIG, replace_names(config, names))
    (credential,) = find_blocks(SERVICE_PAGE, "With systemd", "ini")
    machine.write(f"{DROP_INS}/git.conf", credential)
    said = machine.run(second)
    assert "syncd.service runs, now and from each start on" in said
    assert bare.show()["ActiveState"] == "active"
    assert machine.run("systemctl is-enabled syncd").strip() == "enabled"
    bare.edit_upstream("install.md", "# Install\n\nTurn the key twice.\n")
    bare.run_now()
    wait_for(bare.list_change_requests, "change request")
    assert second in find_commands(SERVICE_PAGE, "In one step")
    machine.run(second)  # once more is no mistake
    machine.run("syncd service uninstall")
    assert bare.show()["LoadState"] == "not-found"
    assert machine.run("systemctl --failed --no-legend").strip() == ""
    assert machine.run("ls -d /run/syncd /run/credentials/syncd.service", check=False).count("No such file") == 2
    left = set(machine.run(LIST_FILES).splitlines()) - before
    kept = ("/etc/syncd", DROP_INS)
    assert not [path for path in left if not path.startswith(kept)]
    assert machine.run(f"sudo -u syncd git -C {REPOSITORY} rev-parse main"), "repository and user stay"


def test_a_person_without_root_has_a_service_that_stays_after_the_log_out(bare: Server) -> None:
    machine = bare.machine
    machine.run(
        f"""useradd --create-home {WRITER} && loginctl enable-linger {WRITER}
        install -o {WRITER} -m 0600 /var/lib/syncd-platform/token /home/{WRITER}/token"""
    )
    wait_for(lambda: "yes" in machine.run(f"test -S /run/user/$(id -u {WRITER})/bus && echo yes", check=False), "bus")
    before = set(machine.run(LIST_FILES).splitlines())
    identity = 'git config --global user.name "A. Writer"; git config --global user.email writer@example.org'
    run_as_writer(bare, f"{identity}; syncd clone {PLATFORM} {bare.space} docs --token-file token")
    config = machine.run(f"cat /home/{WRITER}/docs/.git/syncd.toml")
    text = replace_names(config, {"[[repository]]\n": f'[[repository]]\npath = "/home/{WRITER}/docs"\n'})
    run_as_writer(bare, "mkdir -p .config/syncd")
    machine.write(f"/home/{WRITER}/.config/syncd/config.toml", text)
    said = run_as_writer(bare, "syncd service install --user")
    assert "loginctl enable-linger" in said
    assert run_as_writer(bare, "systemctl --user is-active syncd").strip() == "active"
    assert run_as_writer(bare, "systemctl --user is-enabled syncd").strip() == "enabled"
    run_as_writer(bare, 'cd docs; echo "One more." >> install.md; git commit -qam "Say one thing more"')
    wait_for(bare.list_change_requests, "change request")
    assert "paused" in run_as_writer(bare, "syncd pause")
    run_as_writer(bare, "syncd resume; syncd service uninstall --user")
    assert run_as_writer(bare, "systemctl --user show -P LoadState syncd").strip() == "not-found"
    left = set(machine.run(LIST_FILES).splitlines()) - before
    home = f"/home/{WRITER}"
    kept = (f"{home}/docs", f"{home}/.config/syncd", f"{home}/.local/state/syncd", f"{home}/.gitconfig")
    assert not [path for path in left if not path.startswith(kept)]
