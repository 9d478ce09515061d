"""Backup and restore as the manual says, line by line: a repository, and a platform that serves meanwhile."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.checkouts import plant
from tests.cli.conftest import PAGES
from tests.manual.place import Place
from tests.postgres import Server, programs
from tests.service.manual import find_commands

pytestmark = [pytest.mark.story, pytest.mark.timeout(600)]
PAGE = "how-to/backup.md"


class BackupPlace(Place):
    """A place that reads the sections of the page."""

    def type_section(self, title: str, *, has_postgres: bool = False) -> None:
        """Type every line of a section of the page, and those of PostgreSQL's own tools where it holds the tables."""
        for line in dict.fromkeys(find_commands(PAGE, title)):
            if has_postgres or not line.startswith("pg_"):
                self.type(line)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[BackupPlace]:
    """A platform with a space, and a clone of it with a change that was proposed."""
    place = BackupPlace(tmp_path)
    plant(tmp_path / "source", PAGES)
    yield place
    if place.server.poll() is None:
        place.stop()


def begin(place: BackupPlace) -> str:
    """Fill the platform, clone its space, and propose a change; return the space's id."""
    said = place.type("syncd platform import source --data platform-data --title Guides")
    space = re.search(r"^space (\S+)$", said, re.MULTILINE)
    assert space
    place.serve()
    place.type(f"syncd clone {place.url} {space[1]} docs --token-file platform-data/token")
    place.type("cd docs && echo More >> use.md && git commit -qam 'Say more' && syncd push")
    return space[1]


def test_a_platform_is_restored_from_what_was_copied_while_it_served(place: BackupPlace) -> None:
    space = begin(place)
    place.type_section("Back up the embedded platform")
    place.type("cd docs && syncd cr merge 1 && syncd sync")
    place.stop()
    place.type_section("Restore the embedded platform")
    place.serve()
    assert "restored.guides: the space went back" in place.type("cd docs && syncd sync", code=5)
    token = f"--url {place.url} --token-file platform-data/token"
    assert place.type(f"syncd api GET /spaces/{space}/change-requests/1 --jq .status {token}").strip() == "open"
    place.type("cd docs && syncd sync --force restored.guides=1")
    assert "in step" in place.type("cd docs && syncd sync")


def test_a_repository_is_restored_with_all_that_both_sides_have_known(place: BackupPlace) -> None:
    begin(place)
    before = place.type("git -C docs for-each-ref --format='%(refname) %(objectname)'")
    place.type_section("Back up a repository")
    place.type("mv docs docs.lost; rm -rf ~/.local/state/syncd ~/.config/syncd")
    place.type_section("Restore a repository")
    assert place.type("git -C docs for-each-ref --format='%(refname) %(objectname)'") == before
    assert "in step" in place.type("cd docs && syncd sync"), "nothing is proposed twice"
    assert "#1 of main" in place.type("cd docs && syncd status")


def test_a_platform_on_postgresql_is_restored_into_a_new_database(place: BackupPlace, postgres_server: Server) -> None:
    place.environ["PATH"] = f"{programs()}{os.pathsep}{place.environ['PATH']}"
    place.environ["SYNCD_PLATFORM_DATABASE"] = postgres_server.empty()
    space = begin(place)
    place.type_section("Back up the embedded platform", has_postgres=True)
    place.stop()
    place.environ["SYNCD_PLATFORM_DATABASE"] = postgres_server.empty()
    place.type_section("Restore the embedded platform", has_postgres=True)
    place.serve()
    token = f"--url {place.url} --token-file platform-data/token"
    assert place.type(f"syncd api GET /spaces/{space}/change-requests/1 --jq .status {token}").strip() == "open"
    assert "in step" in place.type("cd docs && syncd sync")
