"""`doctor` and `notify test` where the database of a fleet is named."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from syncd.cli.doctor.fleet import check_repositories, check_tables, check_workers
from syncd.fleet.database import FleetDatabase
from syncd.fleet.repositories import RepositoryState
from syncd.fleet.schema import STEP, VERSION
from syncd.fleet.workers import WorkerCounts, WorkerState, register_worker
from syncd.store.runs import RunRecord
from tests.fleet.conftest import Fleet

WORKER = WorkerState("a", "one", "1.0", 4, False, 1.0, WorkerCounts())
RECORD = RunRecord("repository", "", "ok", at="2026-05-01T10:00:00+00:00")
STATE = RepositoryState("docs", 30.0, 0, "", "a", 9.0, (RECORD,))


def diagnose(fleet: Fleet, code: int) -> dict[str, Any]:
    done = fleet.syncd("doctor", "--json")
    assert done.returncode == code, done.stdout
    return {one["subject"]: one for one in json.loads(done.stdout)["checks"]}


@pytest.mark.story
def test_doctor_looks_at_the_fleet_and_needs_no_configuration(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(fleet.environ, "HOME", str(fleet.root))
    fleet.make()
    found = diagnose(fleet, 1)
    assert (found["configuration"]["state"], found["fleet database"]["state"]) == ("skip", "ok")
    assert found["fleet workers"]["detail"] == "none is at work"
    assert found[f"fleet token of {fleet.world.url}"]["state"] == "ok"
    with FleetDatabase(fleet.url) as database:
        register_worker(database, "a", host="one", version="1.0", jobs=4)
    assert diagnose(fleet, 0)["fleet workers"]["detail"] == "1 at work"
    fleet.token.unlink()
    fleet.run_sql("UPDATE syncd_fleet SET step = 1")
    found = diagnose(fleet, 0)
    assert f"tables {VERSION}.1" in found["fleet database"]["detail"]
    assert "fleet workers" not in found, "its tables have no such columns"
    assert fleet.syncd("fleet", "status").returncode == 0
    assert diagnose(fleet, 78)[f"fleet token of {fleet.world.url}"]["state"] == "fail"
    fleet.environ["SYNCD_FLEET_DATABASE"] = "postgresql://127.0.0.1:1/gone"
    assert diagnose(fleet, 69)["fleet database"]["state"] == "fail"


def test_what_is_wrong_is_a_warning_with_who_and_what_mends_it() -> None:
    gone = replace(WORKER, name="b", seen_ago=400.0)
    (check,) = check_workers([WORKER, gone], has_work=True)
    assert (check.state, "b (400 s)" in check.detail) == ("warn", True)
    loser = replace(WORKER, counts=WorkerCounts(lost_leases=3))
    assert [(one.subject, one.state) for one in check_workers([loser], has_work=True)] == [
        ("fleet workers", "ok"),
        ("fleet leases", "warn"),
    ]
    late = replace(STATE, name="late", due_in=-90.0)
    failed = replace(STATE, name="failed", records=(replace(RECORD, state="failed"),))
    assert [one.state for one in check_repositories([])] == ["warn"]
    details = [one.detail for one in check_repositories([STATE, late, failed])]
    assert details == ["1 of 3 late, late for 90 s", "the last run of failed did not do its work"]
    assert check_tables("here", VERSION, STEP + 1).hint == "upgrade syncd here"


def test_notify_test_tries_the_receivers_of_the_fleet(fleet: Fleet) -> None:
    address: Path = fleet.root / "address"
    address.write_text("http://127.0.0.1:1/")
    address.chmod(0o600)
    file = fleet.write_config()
    file.write_text(f'{file.read_text()}\n[[notifications.target]]\nname = "team"\nurl_file = "{address}"\n')
    fleet.syncd("fleet", "init")
    assert fleet.syncd("notify", "test").returncode == 78, "nobody is notified yet"
    assert fleet.syncd("fleet", "add", "--config", file).returncode == 0
    done = fleet.syncd("notify", "test", "--json")
    assert done.returncode == 69
    assert json.loads(done.stdout)["targets"]["team"]["state"] != "sent"
    address.unlink()
    missing = fleet.syncd("notify", "test", "team")
    assert (missing.returncode, "url_file" in missing.stderr) == (78, True)
