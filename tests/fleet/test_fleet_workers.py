"""Workers as processes: they share the work, and whatever befalls one of them, another goes on and nothing is twice."""

import asyncio
import random
import signal
import time
from contextlib import suppress

import httpx
import pytest

from syncd.fleet.queue import JobQueue
from tests.checkouts import git
from tests.fleet.conftest import Fleet, wait_until

pytestmark = [pytest.mark.story, pytest.mark.timeout(300)]
EDIT = {"options.md": "# Options\n\n* first\n* second\n* third\n"}
POINTS = ("change-request-opened", "content-written", "change-request-described")


def propose(fleet: Fleet) -> None:
    """Let a person commit, and the fleet look at it."""
    fleet.commit("Edit", EDIT)
    fleet.syncd("fleet", "wake", "docs")


def assert_proposed_once(fleet: Fleet, text: str = "third") -> None:
    (request,) = fleet.list_requests()
    assert request.status == "open"
    assert text in fleet.read_texts(request)


def list_hosted(fleet: Fleet) -> str:
    return git(fleet.hosted, "for-each-ref")


def test_two_workers_do_the_work_of_one(fleet: Fleet) -> None:
    fleet.make()
    first, second = fleet.start("a"), fleet.start("b")
    done = fleet.wait_for_run()
    propose(fleet)
    fleet.wait_for_run(done)
    assert_proposed_once(fleet)
    kept = list_hosted(fleet)
    done = fleet.count_runs()
    fleet.syncd("fleet", "wake", "docs")
    fleet.wait_for_run(done)
    assert list_hosted(fleet) == kept, "a run without news moves nothing"
    found = fleet.status()
    assert found["is_well"]
    assert found["sum"]["workers"] == 2
    assert (first.end(), second.end()) == (0, 0)
    assert fleet.status()["workers"] == []


@pytest.mark.parametrize("point", [*POINTS, "branch-pushed"])
def test_another_worker_goes_on_where_one_was_killed(fleet: Fleet, point: str) -> None:
    fleet.make()
    if point in POINTS:
        first = fleet.start("before")
        fleet.wait_for_run()
        assert first.end() == 0
    fleet.commit("Edit", EDIT)
    killed = fleet.start("a", environ={"SYNCD_STOP_AT": point})
    fleet.syncd("fleet", "wake", "docs")
    wait_until(killed.is_stopped, f"stopped at {point}")
    killed.kill()
    done = fleet.count_runs()
    fleet.start("b")
    fleet.wait_for_run(done)
    assert_proposed_once(fleet)
    done = fleet.count_runs()
    fleet.commit("Again", {"options.md": EDIT["options.md"] + "* fourth\n"})
    fleet.syncd("fleet", "wake", "docs")
    fleet.wait_for_run(done)
    assert_proposed_once(fleet, "fourth")


def test_a_page_in_conflict_is_told_with_what_settles_it_though_the_fleet_is_well(fleet: Fleet) -> None:
    fleet.make()
    fleet.start("a")
    done = fleet.wait_for_run()
    fleet.world.edit_on_platform({"options.md": "# Options\n\n* theirs\n* second\n"})
    fleet.commit("Edit", {"options.md": "# Options\n\n* ours\n* second\n"})
    fleet.syncd("fleet", "wake", "docs")
    fleet.wait_for_run(done)
    told = fleet.syncd("fleet", "status")
    lines = told.stdout.splitlines()
    place = lines.index("! docs conflict: 1 page waits for a person")
    assert "git merge" in lines[place + 1]
    assert told.returncode == 0
    found = fleet.status()
    assert (found["is_well"], found["waits_for_person"]) == (True, ["docs"])


def test_a_worker_that_dies_while_it_looks_what_is_due_stops_nobody(fleet: Fleet) -> None:
    fleet.make()
    fleet.run_sql(
        "CREATE TABLE seen (LIKE procrastinate_jobs)",
        "CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS"
        " 'BEGIN INSERT INTO seen SELECT NEW.*; RETURN NEW; END'",
        "CREATE TRIGGER keep AFTER UPDATE ON procrastinate_jobs FOR EACH ROW"
        " WHEN (NEW.status = 'doing' AND NEW.task_name = 'syncd.schedule') EXECUTE FUNCTION keep()",
    )
    first = fleet.start("a")
    done = fleet.wait_for_run()
    first.kill()
    fleet.run_sql(
        "DROP TRIGGER keep ON procrastinate_jobs",
        "DELETE FROM procrastinate_jobs",
        "UPDATE seen SET worker_id = NULL",
        "INSERT INTO procrastinate_jobs SELECT * FROM seen ORDER BY id LIMIT 1",  # as one leaves it that dies in it
    )
    fleet.start("b")
    propose(fleet)
    fleet.wait_for_run(done)
    assert_proposed_once(fleet)


@pytest.mark.parametrize("point", POINTS)
def test_a_worker_that_wakes_up_too_late_writes_nothing(fleet: Fleet, point: str) -> None:
    fleet.make()
    first = fleet.start("before")
    fleet.wait_for_run()
    assert first.end() == 0
    fleet.commit("Edit", EDIT)
    stopped = fleet.start("a", environ={"SYNCD_STOP_AT": point})
    fleet.syncd("fleet", "wake", "docs")
    wait_until(stopped.is_stopped, f"stopped at {point}")
    done = fleet.count_runs()
    fleet.start("b")
    fleet.wait_for_run(done)
    assert_proposed_once(fleet)
    kept, requests = list_hosted(fleet), fleet.list_requests()
    stopped.signal(signal.SIGCONT)
    # It has no job any more, and says so, or its connections were given up and it ends.
    lost = "SELECT coalesce(sum(lost_leases), 0) FROM syncd_fleet_workers WHERE name = 'a'"
    wait_until(lambda: fleet.query(lost)[0][0] == 1 or stopped.process.poll() is not None, "the lease is lost")
    assert (list_hosted(fleet), fleet.list_requests()) == (kept, requests)
    assert_proposed_once(fleet)


def test_a_worker_that_drains_leaves_its_work_to_others(fleet: Fleet) -> None:
    fleet.make()
    first = fleet.start("a")
    done = fleet.wait_for_run()
    assert fleet.syncd("fleet", "drain", "a").returncode == 0
    assert first.process.wait(60) == 0
    assert fleet.syncd("fleet", "drain", "a").returncode == 78
    fleet.start("b")
    propose(fleet)
    fleet.wait_for_run(done)
    assert_proposed_once(fleet)
    assert fleet.status()["repositories"][0]["last_worker"] == "b"


def test_a_worker_that_is_stopped_as_it_begins_ends(fleet: Fleet) -> None:
    fleet.make()

    async def begin_late(queue: JobQueue) -> None:
        with suppress(asyncio.CancelledError):  # so does `asyncio.wait_for` of Python 3.11 now and then
            await asyncio.sleep(60)
        await queue.app.run_worker_async(queues=["none"], install_signal_handlers=False)

    async def end_at_once() -> None:
        queue, ending = JobQueue(fleet.url, connections=3), asyncio.Event()
        ending.set()
        async with queue.app.open_async():
            await asyncio.wait_for(queue.run([begin_late(queue)], ending), 30)

    asyncio.run(end_at_once())
    assert fleet.query("SELECT count(*) FROM procrastinate_workers") == [(0,)]


def test_a_worker_tells_monitoring_systems_how_it_is(fleet: Fleet) -> None:
    fleet.make()
    path = fleet.root / "metrics"
    worker = fleet.start("a", "--listen", f"unix:{path}")
    fleet.wait_for_run()
    transport = httpx.HTTPTransport(uds=str(path))
    with httpx.Client(transport=transport, base_url="http://localhost") as client:
        wait_until(lambda: 'syncd_worker_runs_total{worker="a"} 1.0' in client.get("/metrics").text, "a run is counted")
        text = client.get("/metrics").text
        assert 'syncd_worker_failed_runs_total{worker="a"} 0.0' in text
        assert 'syncd_worker_clones{worker="a"}' in text
        assert "process_cpu_seconds_total" in text
        assert client.get("/metrics", headers={"Accept": "application/openmetrics-text"}).text.endswith("# EOF\n")
        wait_until(lambda: client.get("/readyz").text == "ready\n", "it takes work")
    assert worker.end() == 0
    assert not path.exists()


def test_a_cache_belongs_to_one_worker(fleet: Fleet) -> None:
    fleet.make()
    fleet.start("a")
    fleet.wait_for_run()
    done = fleet.syncd("fleet", "worker", "--cache", fleet.root / "cache-a", "--name", "other")
    assert done.returncode == 7


@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_is_lost_or_twice_whoever_is_killed_or_stopped_when(fleet: Fleet, seed: int) -> None:
    """Two workers, edits one after the other, and now and then one of the workers is killed or stopped for longer than
    its lease."""
    chance = random.Random(seed)
    fleet.make(interval=1)
    workers = {name: fleet.start(name) for name in ("a", "b")}
    fleet.wait_for_run()
    text = EDIT["options.md"]
    for number in range(5):
        text += f"* edit {number}\n"
        fleet.commit(f"Edit {number}", {"options.md": text})
        fleet.syncd("fleet", "wake", "docs")
        time.sleep(chance.uniform(0.2, 3))  # the moment is what chance decides
        name = chance.choice(sorted(workers))
        if chance.random() < 0.5:
            workers[name].kill()
            workers[name] = fleet.start(name)
        else:
            workers[name].signal(signal.SIGSTOP)
            time.sleep(4.5)  # longer than a lease
            workers[name].signal(signal.SIGCONT)

    def is_proposed() -> bool:
        for name, worker in workers.items():
            if worker.process.poll() is not None:  # it was given up while it slept: systemd starts it again
                workers[name] = fleet.start(name)
        found = [one for one in fleet.list_requests() if one.status == "open"]
        return len(found) == 1 and all(f"edit {number}" in fleet.read_texts(found[0]) for number in range(5))

    wait_until(is_proposed, "every edit is in the change request")
    assert len(fleet.list_requests()) == 1
