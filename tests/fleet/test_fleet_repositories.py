"""What a fleet keeps in step: added from a configuration, exported as one, removed."""

import json
import re

import pytest

from syncd.config import load
from syncd.errors import ConfigInvalid
from syncd.fleet.database import FleetDatabase, describe_database, require_extra
from tests.fleet.conftest import Fleet


def test_a_fleet_is_made_once(fleet: Fleet) -> None:
    first, second = fleet.syncd("fleet", "init", "--state-ref", "refs/heads/state"), fleet.syncd("fleet", "init")
    assert (first.returncode, second.returncode) == (0, 0)
    assert "the fleet is made" in first.stdout
    assert "refs/heads/state/NAME" in second.stdout


@pytest.mark.story
def test_what_is_exported_is_what_was_added(fleet: Fleet) -> None:
    file = fleet.write_config(extra='push = "side"\nside = "sync/{branch}"\n', interval=30)
    fleet.syncd("fleet", "init")
    assert fleet.syncd("fleet", "add", "--config", file, "--priority", 3).stdout == "added docs\n"
    assert fleet.syncd("fleet", "add", "--config", file).stdout == "changed docs\n"
    copy = fleet.root / "copy.toml"
    copy.write_text(fleet.syncd("fleet", "export").stdout)
    one, other = load(file), load(copy)
    assert one.platform == other.platform
    here = one.repository[0].model_copy(update={"path": fleet.root})
    assert here == other.repository[0].model_copy(update={"path": fleet.root})


def test_a_repository_without_an_address_to_clone_is_refused(fleet: Fleet) -> None:
    file = fleet.write_config()
    file.write_text(re.sub(r"\[repository.upstream\]\n.*\n", "", file.read_text()))
    fleet.syncd("fleet", "init")
    done = fleet.syncd("fleet", "add", "--config", file)
    assert done.returncode == 78
    assert "[repository.upstream]" in done.stderr


def test_a_repository_that_may_not_be_pushed_is_refused(fleet: Fleet) -> None:
    done = fleet.syncd("fleet", "add", "--config", fleet.write_config(extra='push = "never"\n'))
    assert done.returncode == 78
    assert "push = never" in done.stderr


def test_nothing_is_removed_where_one_name_is_wrong(fleet: Fleet) -> None:
    fleet.make()
    done = fleet.syncd("fleet", "remove", "docs", "dcos")
    assert (done.returncode, "no repository dcos" in done.stderr) == (78, True)
    assert [one["name"] for one in fleet.status()["repositories"]] == ["docs"]
    assert fleet.syncd("fleet", "remove", "docs").returncode == 0
    assert fleet.status()["repositories"] == []


def test_status_says_that_nobody_works(fleet: Fleet) -> None:
    fleet.make()
    done = fleet.syncd("fleet", "status")
    assert done.returncode == 1
    assert "no worker runs" in done.stdout


def test_a_database_without_a_fleet_says_how_to_make_one(fleet: Fleet) -> None:
    done = fleet.syncd("fleet", "status")
    assert (done.returncode, "syncd fleet init" in done.stderr) == (78, True)


@pytest.mark.parametrize(
    "url", ["postgresql://me:canary-7f3a@127.0.0.1:1/docs", "mysql://me:canary-7f3a@127.0.0.1/docs", "canary-7f3a"]
)
def test_the_password_is_never_printed(fleet: Fleet, url: str) -> None:
    fleet.environ["SYNCD_FLEET_DATABASE"] = url
    done = fleet.syncd("fleet", "status")
    assert done.returncode in (69, 78)
    assert "canary" not in done.stdout + done.stderr
    assert done.stderr.count("error") == 1, "one clear error"


def test_the_url_is_taken_from_a_credential(fleet: Fleet) -> None:
    directory = fleet.root / "credentials"
    directory.mkdir()
    (directory / "fleet-database").write_text(fleet.environ.pop("SYNCD_FLEET_DATABASE") + "\n")
    fleet.environ["CREDENTIALS_DIRECTORY"] = str(directory)
    assert fleet.syncd("fleet", "init").returncode == 0


def test_no_database_is_an_error_that_names_the_variable(fleet: Fleet) -> None:
    del fleet.environ["SYNCD_FLEET_DATABASE"]
    done = fleet.syncd("fleet", "status", "--json")
    assert done.returncode == 78
    assert "SYNCD_FLEET_DATABASE" in json.dumps(done.stderr + done.stdout)


def test_what_is_not_installed_is_named() -> None:
    with pytest.raises(ConfigInvalid) as refused:
        require_extra(lambda name: None if name == "procrastinate" else name)
    assert "syncd[fleet]" in refused.value.hint


def test_a_database_is_described_without_who_uses_it() -> None:
    assert describe_database("postgresql://me:secret@db.example/docs") == "db.example/docs"


def test_tables_of_a_newer_syncd_are_left_alone(fleet: Fleet) -> None:
    fleet.make()
    fleet.query("UPDATE syncd_fleet SET version = 99 RETURNING version")
    with FleetDatabase(fleet.url) as database, pytest.raises(ConfigInvalid):
        database.read_settings()


def test_what_a_worker_would_run_is_not_taken_from_a_database(fleet: Fleet) -> None:
    file = fleet.write_config()
    file.write_text(file.read_text().replace("[platform]\n", '[platform]\ntoken_command = ["/bin/true"]\n'))
    done = fleet.syncd("fleet", "add", "--config", file)
    assert (done.returncode, "token_command" in done.stderr) == (78, True)


def test_a_site_goes_to_no_directory_of_one_machine(fleet: Fleet) -> None:
    site = '[repository.site]\n[repository.site.publish]\ndirectory = "/srv/site"\n'
    done = fleet.syncd("fleet", "add", "--config", fleet.write_config(extra=site))
    assert (done.returncode, "directory" in done.stderr) == (78, True)
