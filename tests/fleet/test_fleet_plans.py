"""Plans of sites that wait: approved from any machine, carried out by any worker; an approval counts once."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta

import pytest

from syncd.daemon.workspaces import read_time
from syncd.errors import StalePlan
from syncd.fleet.database import FleetDatabase
from syncd.fleet.people.plans import approve_plan, keep_plans, lend_plans, list_plans
from syncd.store.status import PendingPlan
from syncd.store.store import Store
from syncd.sync.site.approvals import is_approval_valid
from tests.fleet.conftest import Fleet, wait_until
from tests.fleet.fleet_site import PRUNED, FleetSite

PLAN = PendingPlan("site_1", "0123456789ab", "site.yaml", '{"plan": {"gates": []}, "text": []}', "2026-05-01T10:00:00")


@contextmanager
def open_clone(fleet: Fleet, name: str = "a") -> Iterator[tuple[FleetDatabase, Store]]:
    with FleetDatabase(fleet.url) as database, Store(fleet.root / f"{name}.db") as store:
        database.read_settings()
        yield database, store


def run(database: FleetDatabase, store: Store, *left: PendingPlan) -> Sequence[PendingPlan]:
    """A run that is lent what waits, and leaves these plans; return what it was lent."""
    lent = lend_plans(database, "docs", store.plans)
    was_lent = store.plans.list_pending()
    with database.transact() as cursor:
        keep_plans(cursor, "docs", lent, left)
    return was_lent


def test_a_plan_of_one_worker_is_approved_anywhere_and_lent_to_another_one(fleet: Fleet) -> None:
    fleet.make()
    with open_clone(fleet) as (database, store):
        assert run(database, store, PLAN) == []
    with open_clone(fleet, "b") as (database, store):
        (waiting,) = list_plans(database, beginning="0123")
        assert (waiting.repository, waiting.plan) == ("docs", PLAN)
        approve_plan(database, waiting, "read it")
        assert fleet.query("SELECT woken_at IS NOT NULL, due_at <= now() FROM syncd_fleet_repositories") == [
            (True, True)
        ]
        (lent,) = run(database, store)
        assert is_approval_valid(lent, read_time())
        assert (lent.digest, lent.comment) == (PLAN.digest, "read it")
        assert list_plans(database) == []
        assert run(database, store) == []
        with pytest.raises(StalePlan):
            approve_plan(database, waiting, "")


def test_an_approval_that_comes_while_a_run_holds_the_plan_stays(fleet: Fleet) -> None:
    fleet.make()
    with open_clone(fleet) as (database, store):
        run(database, store, PLAN)
        lent = lend_plans(database, "docs", store.plans)
        approve_plan(database, lent[0], "")
        with database.transact() as cursor:
            keep_plans(cursor, "docs", lent, [replace(PLAN, at="2026-05-01T11:00:00")])
        (waiting,) = list_plans(database)
        assert waiting.approved_at is not None
        assert waiting.plan.at == "2026-05-01T11:00:00"


def test_an_approval_is_as_old_as_the_database_says_and_goes_with_its_day(fleet: Fleet) -> None:
    fleet.make()
    with open_clone(fleet) as (database, store):
        run(database, store, PLAN)
        # As by the clock of a machine that is ahead of this one.
        fleet.run_sql("UPDATE syncd_fleet_plans SET approved_at = now() + interval '5 s'")
        assert is_approval_valid(list_plans(database)[0].plan, read_time())
        fleet.run_sql("UPDATE syncd_fleet_plans SET approved_at = now() - interval '25 h'")
        (lent,) = run(database, store, PLAN)
        assert not is_approval_valid(lent, read_time())
        assert not is_approval_valid(lent, read_time() + timedelta(seconds=-30))
        assert list_plans(database)[0].approved_at is None


def test_another_plan_takes_the_place_of_the_former_with_its_approval(fleet: Fleet) -> None:
    fleet.make()
    with open_clone(fleet) as (database, store):
        run(database, store, PLAN)
        approve_plan(database, list_plans(database)[0], "")
        run(database, store, replace(PLAN, digest="ffffffffffff"))
        (waiting,) = list_plans(database)
        assert (waiting.plan.digest, waiting.approved_at) == ("ffffffffffff", None)
        assert fleet.syncd("fleet", "remove", "docs").returncode == 0
        assert list_plans(database) == []


def test_what_waits_is_told_with_the_commands_of_the_fleet(fleet: Fleet) -> None:
    fleet.make()
    assert fleet.syncd("fleet", "pending").stdout == "No plan waits for approval.\n"
    document = '{"plan": {"gates": [{"scope": "delete", "why": "2 sections go"}]}, "text": [["delete", "- section"]]}'
    with open_clone(fleet) as (database, store):
        run(database, store, replace(PLAN, document=document))
    told = fleet.syncd("fleet", "pending").stdout
    assert "! 0123456789ab  docs: site.yaml (site site_1)  waiting since" in told
    assert "delete: 2 sections go" in told
    assert "syncd fleet approve 0123456789ab" in told
    assert "- section" in fleet.syncd("fleet", "pending", "0123").stdout
    done = fleet.syncd("fleet", "approve", "0123", "--comment", "read it")
    assert (done.returncode, "Approved plan 0123456789ab of docs" in done.stdout) == (0, True)
    assert "approved at" in fleet.syncd("fleet", "pending").stdout
    refused = fleet.syncd("fleet", "approve", "ffff")
    assert (refused.returncode, "0123456789ab" in refused.stderr) == (StalePlan.exit_code, True)


@pytest.mark.story
@pytest.mark.timeout(300)
@pytest.mark.parametrize("point", ["plan-begun", "plan-step-sent", "plan-done"])
def test_an_approved_plan_is_carried_out_once_whoever_dies_with_it(fleet: Fleet, point: str) -> None:
    site = FleetSite(fleet)
    fleet.commit("Site", {"site.yaml": site.render("guides", "api", "more")})
    fleet.make(extra="[repository.site]\n")
    first = fleet.start("before")
    fleet.wait_for_run()
    site.commit("guides", policy=PRUNED)
    wait_until(lambda: bool(site.pending()), "the deletion waits")
    assert site.sections() == {"guides", "api", "more"}
    wait_until(lambda: fleet.status()["waits_for_person"] == ["docs"], "it is told")
    assert "syncd fleet approve" in fleet.syncd("fleet", "status").stdout
    assert first.end() == 0
    site.approve()
    killed = fleet.start("a", environ={"SYNCD_STOP_AT": point})
    wait_until(killed.is_stopped, f"stopped at {point}")
    killed.kill()
    done = fleet.count_runs()
    fleet.start("b")
    fleet.wait_for_run(done)
    if point == "plan-step-sent":  # what is left is another plan, and nobody has read it
        assert len(site.sections()) == 2
        site.approve()
    wait_until(lambda: site.sections() == {"guides"}, "it is carried out")
    wait_until(lambda: not site.pending(), "the approval is used up")
    site.commit("guides", "api")
    wait_until(lambda: bool(site.pending()), "a person is asked again")
    assert site.sections() == {"guides"}
