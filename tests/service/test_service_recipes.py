"""What CI jobs install: an archive of the team's own wheels, whose hash is checked before anything of it runs."""

import re

import pytest

from tests.service.images import BOOKWORM
from tests.service.manual import find_blocks, find_commands
from tests.service.server import Server

pytestmark = [
    pytest.mark.service,
    pytest.mark.timeout(1800),
    pytest.mark.parametrize("release", [BOOKWORM], indirect=True),
]
ARCHIVE = "syncd-wheels.tar.gz"


def find_script() -> str:
    """The script with which GitHub's recipes install syncd, which is the same in all."""
    scripts = {
        match[1]
        for block in _github_recipes()
        for match in re.finditer(r"^        run: \|\n((?: {10}.*\n)+)", block, re.M)
    }
    (script,) = scripts
    return script


def _github_recipes() -> list[str]:
    return [
        block
        for title in ("Check every pull request", "Show findings under code scanning", "Publish the main branch")
        for block in find_blocks("ci/github.md", title, "yaml")
    ]


def test_a_job_installs_the_archive_that_it_means_and_no_other(server: Server) -> None:
    build, pack, count = find_commands("ci/README.md", "Build the wheels once")
    assert " wheel " in build
    digest = server.machine.run(f"python3 -m venv job && {pack} && {count}").split()[0]
    environment = f"WHEELS=file:///root/{ARCHIVE} WHEELS_SHA256={digest} RUNNER_TEMP=/root/job"
    install = f"export PATH=/root/job/bin:$PATH {environment}\n{find_script()}"
    server.machine.run(f"mv {ARCHIVE} kept && tar -czf {ARCHIVE} --exclude='*.whl' wheels")
    assert "did NOT match" in server.machine.run(install, check=False)
    assert "syncd" not in server.machine.run("ls job/bin")
    server.machine.run(f"mv kept {ARCHIVE}\n{install}")
    assert server.machine.run("job/bin/syncd --version").startswith("syncd ")
    server.machine.run(f"rm -r job {ARCHIVE}")
