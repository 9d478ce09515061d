"""syncd@.service: a repository with a service, a token and a fate of its own."""

from collections.abc import Iterator

import pytest

from tests.service.images import BOOKWORM
from tests.service.machine import wait_for
from tests.service.manual import find_commands, replace_names
from tests.service.server import PLATFORM, SERVICE_PAGE, Server

pytestmark = [
    pytest.mark.service,
    pytest.mark.timeout(1800),
    pytest.mark.parametrize("release", [BOOKWORM], indirect=True),
]
REPOSITORY, UNIT = "/srv/docs/second.git", "syncd@second.git"


@pytest.fixture
def instance(server: Server) -> Iterator[str]:
    """A second repository with a space of its own, served as the manual says; returns the space's id."""
    space = server.import_space("Second", {"README.md": "# Second\n\nTheirs.\n"})
    server.machine.run(
        f"""git init -q -b main second && cd second && mkdir guides
        printf '# Second\\n\\nOurs.\\n' > guides/README.md
        git add -A && git commit -q -m Begin && cp -r .git /srv/docs/second.git && cd .. && rm -r second
        git -C {REPOSITORY} config core.bare true && chown -R syncd: {REPOSITORY}
        cp /var/lib/syncd-platform/token token"""
    )
    names = {"https://api.gitbook.com": PLATFORM, "SPACE": space, "docs.git": "second.git"}
    text = "\n".join(find_commands(SERVICE_PAGE, "A service for each repository"))
    for line in replace_names(text, names).splitlines():
        server.machine.run(line, check="syncd init" not in line)  # which ends with 5 while nobody has chosen
    yield space
    server.machine.run(f"systemctl disable --now {UNIT} && rm -rf {REPOSITORY}")


def test_a_person_chooses_and_the_instance_goes_on(server: Server, instance: str) -> None:
    assert "undecided" in server.machine.run(f"cd {REPOSITORY} && sudo -u syncd syncd status", check=False)
    (choose,) = (line for line in find_commands(SERVICE_PAGE, "With systemd") if "--prefer" in line)
    names = {"/srv/docs/docs.git": REPOSITORY, "/etc/syncd/token": "/etc/syncd/second.git.token"}
    assert "Bound" in server.machine.run(replace_names(choose, names))
    server.machine.run(f"systemctl kill --signal=USR1 --kill-whom=main {UNIT}")
    found = f"/spaces/{instance}/change-requests?status=open"
    wait_for(lambda: server.api("GET", found)["items"], "change request")


def test_an_instance_writes_to_no_other_repository(server: Server, instance: str) -> None:
    pid = server.show(UNIT)["MainPID"]
    inside = f"nsenter --target {pid} --mount --"
    server.machine.run(f"{inside} touch {REPOSITORY}/x && rm {REPOSITORY}/x")
    assert "Read-only file system" in server.machine.run(f"{inside} touch /srv/docs/docs.git/x", check=False)
    assert server.machine.run(f"{inside} ls /run/credentials").split() == [f"{UNIT}.service"]
