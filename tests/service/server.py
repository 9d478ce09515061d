"""A server that was installed as the manual says: a platform, a Git host, and the service between them."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.service.machine import Machine
from tests.service.manual import find_blocks, find_commands, replace_names
from tests.serving_git import TOKEN

SERVICE_PAGE, PLATFORM_PAGE = "how-to/service.md", "how-to/embedded-platform.md"
PLATFORM, HEALTH = "http://127.0.0.1:8470", "http://127.0.0.1:9470"
GIT_HOST = "http://127.0.0.1:3000/docs.git"
REPOSITORY, UPSTREAM = "/srv/docs/docs.git", "/srv/git/docs.git"
DROP_INS = "/etc/systemd/system/syncd.service.d"
CONFIG, TOKEN_FILE = "/etc/syncd/config.toml", "/etc/syncd/token"
PAGES = {
    "README.md": "# Home\n\nWelcome.\n",
    "SUMMARY.md": "# Table of contents\n\n* [Home](README.md)\n* [Install](install.md)\n",
    "install.md": "# Install\n\nTurn the key.\n",
}
_GIT_HOST_UNIT = """[Service]
ExecStart=/usr/bin/python3 /usr/local/lib/git-host/tests/service/git_host.py /srv/git
Environment=HOME=/root PYTHONPATH=/usr/local/lib/git-host
[Install]
WantedBy=multi-user.target
"""


@dataclass
class Server:
    """A running machine on which everything is installed, and what its people do."""

    machine: Machine
    space: str
    _since: str = ""

    def show(self, unit: str = "syncd") -> dict[str, str]:
        """What systemd knows about a unit."""
        lines = self.machine.run(f"systemctl show {unit}").splitlines()
        return dict(line.split("=", 1) for line in lines if "=" in line)

    def api(self, method: str, path: str) -> Any:
        """Ask the platform as its owner."""
        words = f"{method} {path} --url {PLATFORM} --token-file /var/lib/syncd-platform/token"
        return json.loads(self.machine.run(f"syncd api {words}"))

    def get_health(self, path: str) -> tuple[int, str]:
        """Ask the service's own address; status 0 means that nobody listens there."""
        said = self.machine.run(f"curl --silent --write-out '\\n%{{http_code}}' {HEALTH}{path}", check=False)
        text, _, status = said.rpartition("\n")
        return int(status), text

    def get_metric(self, name: str) -> list[float]:
        """The values of a metric, of every label."""
        found = re.findall(rf"^{re.escape(name)}(?:{{[^}}]*}})? (\S+)$", self.get_health("/metrics")[1], re.MULTILINE)
        return [float(value) for value in found]

    def is_healthy(self) -> bool:
        """Whether both services run, and what they do is good."""
        states = self.machine.run("systemctl is-active syncd syncd-platform", check=False).split()
        return states == ["active", "active"] and self.get_health("/readyz")[0] == 200

    def run_now(self) -> None:
        """Ask the service for a run, as the manual says."""
        self.machine.run(next(line for line in find_commands(SERVICE_PAGE, "Signals") if "USR1" in line))

    def edit_upstream(self, page: str, text: str) -> str:
        """Commit a page and push it to the Git host, as a writer does; return the commit."""
        return self.machine.run(
            f"""rm -rf work && git clone -q {UPSTREAM} work && cd work
            cat > guides/{page} && git add -A && git commit -q -m 'Edit {page}' && git push -q origin main
            git rev-parse HEAD""",
            text=text,
        ).strip()

    def import_space(self, title: str, pages: Mapping[str, str]) -> str:
        """Make a space of pages and return its id, as the manual says."""
        return import_space(self.machine, title, pages)

    def list_change_requests(self) -> list[dict[str, Any]]:
        """The open change requests of the space."""
        found = self.api("GET", f"/spaces/{self.space}/change-requests?status=open")["items"]
        assert isinstance(found, list)
        return found

    def read_upstream_log(self, commits: str) -> str:
        """The subjects of commits on the Git host."""
        return self.machine.run(f"git -C {UPSTREAM} log --format=%s {commits}")

    def mark_journal(self) -> None:
        """Let `read_journal` begin here."""
        # A cursor would not do: what follows it is skipped when it is of another unit.
        self._since = self.machine.run("date +@%s.%6N").strip()

    def read_journal(self, unit: str = "syncd", *, priority: str = "debug") -> str:
        """What a unit has said since the journal was marked, as urgent as that at least."""
        which = f"--since={self._since} --unit={unit} --priority={priority}"
        return self.machine.run(f"journalctl --quiet --no-pager --output=short-iso {which}")

    def add_drop_in(self, text: str) -> None:
        """Change the service's unit for one test."""
        self.machine.write(f"{DROP_INS}/test.conf", text)
        self.machine.run("systemctl daemon-reload")

    def remove_drop_in(self) -> None:
        """Give the service its own unit back."""
        self.machine.run(f"rm {DROP_INS}/test.conf && systemctl daemon-reload && systemctl restart syncd")


def install(machine: Machine, wheels: Path) -> str:
    """Given a booted machine and the wheels, install everything as the manual says, and return the space's id."""
    machine.copy(wheels, "/root/wheels")
    for line in find_commands(SERVICE_PAGE, "Install it on a server"):
        if " wheel " not in line:
            machine.run(line)
    start, *_ = find_blocks(PLATFORM_PAGE, "With systemd", "sh")
    machine.run(start)
    space = import_space(machine, "Guides", PAGES)
    _install_git_host(machine)
    _install_service(machine, space)
    return space


def import_space(machine: Machine, title: str, pages: Mapping[str, str]) -> str:
    """Given a machine with a platform, make a space of pages, as the manual says, and return its id."""
    (command,) = (line for line in find_commands(PLATFORM_PAGE, "With systemd") if " platform import " in line)
    machine.run("rm -rf /srv/import")
    for path, text in pages.items():
        machine.write(f"/srv/import/docs-of-ours/{path}", text)
    said = machine.run(f"cd /srv/import\n{replace_names(command, {'Guides': title})}")
    found = re.search(r"^space (\S+)$", said, re.MULTILINE)
    assert found, said
    return found[1]


def _install_git_host(machine: Machine) -> None:
    for path in ("serving_git.py", "service/git_host.py"):
        machine.copy(Path(__file__).parents[1] / path, f"/usr/local/lib/git-host/tests/{path}")
    machine.write("/etc/systemd/system/git-host.service", _GIT_HOST_UNIT)
    machine.run(
        f"""systemctl enable --now git-host
        git config --global user.name 'A. Writer' && git config --global user.email writer@example.org
        git init -q --bare -b main {UPSTREAM} && git init -q -b main work && cd work
        git config --system url.http://x-access-token:{TOKEN}@127.0.0.1:3000/.insteadOf https://git.example.org/team/
        cp -r /srv/import/docs-of-ours guides && git add -A && git commit -q -m Begin && git push -q {UPSTREAM} main"""
    )


def _install_service(machine: Machine, space: str) -> None:
    user, clone, *starts, choose = find_blocks(SERVICE_PAGE, "With systemd", "sh")
    (config,) = find_blocks(SERVICE_PAGE, "With systemd", "toml")
    machine.write("/root/git-token", TOKEN, mode="0600")
    machine.run(f"cp /var/lib/syncd-platform/token token\n{user}")
    machine.run(clone)
    names = {"https://api.gitbook.com": PLATFORM, "SPACE": space, "https://git.example.org/team/docs.git": GIT_HOST}
    machine.write(CONFIG, replace_names(config, names))
    (credential,) = find_blocks(SERVICE_PAGE, "With systemd", "ini")
    (listen,) = find_blocks(SERVICE_PAGE, "Metrics and health", "ini")
    for number, drop_in in enumerate([credential, listen]):
        machine.write(f"{DROP_INS}/{number}.conf", drop_in)
    for block in starts:
        machine.run(block)
    assert "--prefer" in choose
