"""The log of a service tells of what waits for a person when it begins and when it ends, and not at every run."""

import re

import pytest

from tests.checkouts import plant
from tests.cli.conftest import PAGES
from tests.cli.service.service import Service, Two, serve_platform

pytestmark = pytest.mark.story

CONFLICT = "docs: ! conflict use.md held"


def heard(service: Service, pattern: str) -> int:
    return sum(bool(re.search(pattern, line)) for line in service.said)


def commit(two: Two, files: dict[str, str]) -> None:
    plant(two.docs, files)
    two.shell.git("add", "--all", cwd=two.docs)
    two.shell.git("commit", "--quiet", "--message", "By Git", cwd=two.docs)


def run_twice(two: Two, service: Service) -> None:
    """Let something happen in two more runs: with the first lines of the second, the first has said all."""
    for text in ("Web again", "Web once more"):
        two.edit("docs", text)
        service.run_again("docs: mirror main")


def test_a_conflict_is_told_once_and_once_more_when_it_is_settled(two: Two) -> None:
    with serve_platform(two) as service:
        service.hear("ready")
        two.edit("docs", "Web")
        commit(two, {"use.md": "# Use\n\nGit.\n"})
        service.hear(CONFLICT)
        service.hear("docs:     syncd resolve use.md")
        run_twice(two, service)
        assert heard(service, CONFLICT) == 1
        assert heard(service, "syncd resolve") == 1
        _, text, document = service.status()
        assert document["repositories"][0]["exit_code"] == 6
        assert "! conflict use.md held" in text
        assert service.metric("syncd_conflicts", repository="docs") == 1
        two.shell.fine("resolve", "use.md", "--ours", cwd=two.docs)
        service.hear("docs: conflict use.md settled")


def test_what_only_a_person_can_do_is_told_once(two: Two) -> None:
    with serve_platform(two) as service:
        service.hear("ready")
        commit(two, {"SUMMARY.md": PAGES["SUMMARY.md"].replace("* [Use]", "\n## New group\n\n* [Use]")})
        service.hear("docs: .*New group")
        run_twice(two, service)
        assert heard(service, "New group") == 1
