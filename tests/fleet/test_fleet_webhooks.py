"""Webhooks of a fleet: any worker hears them, each is a job, and what was woken runs before what was not."""

import asyncio
import re
import socket
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import httpx
import procrastinate
import pytest
from procrastinate.testing import InMemoryConnector

from syncd.config import load
from syncd.daemon.hooks.listener import build_wakeable
from syncd.errors import ConfigInvalid, FleetUnreachable
from syncd.fleet.cache import Cache
from syncd.fleet.database import FleetDatabase
from syncd.fleet.repositories import add_repositories, list_repositories, read_repositories
from syncd.fleet.run import RunContext
from syncd.fleet.schedule import find_wake_time, list_due, wake_repositories
from syncd.fleet.worker import FleetWorker, WorkerOptions
from tests.daemon.hooks.payloads import SECRET, Signed, make_gitea, make_github, make_gitlab, make_platform
from tests.fleet.conftest import Fleet, wait_until

KINDS = ("github", "gitlab", "gitea", "platform")


def write_webhooks(fleet: Fleet, *, interval: int = 1, kinds: tuple[str, ...] = KINDS, secret: str = SECRET) -> str:
    file = fleet.root / f"webhook-secret-{secret[:4]}"
    file.write_text(secret)
    file.chmod(0o600)
    sources = "".join(
        f'[[webhooks.source]]\nname = "{kind}"\nkind = "{kind}"\nsecret_file = "{file}"\n' for kind in kinds
    )
    return f'\n[webhooks]\nlisten = "127.0.0.1:1"\ninterval = {interval}\n{sources}'


def add(fleet: Fleet, *, name: str = "docs", upstream: str = "", webhooks: str = "", interval: float = 600) -> Path:
    """Add one repository with these webhooks."""
    file = fleet.write_config(name=name, interval=interval)
    text = file.read_text()
    file.write_text((text.replace(str(fleet.hosted), upstream) if upstream else text) + webhooks)
    done = fleet.syncd("fleet", "add", "--config", file)
    assert done.returncode == 0, done.stderr
    return file


def find_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def post(port: int, source: str, signed: Signed) -> int:
    headers, body = signed
    return httpx.post(f"http://127.0.0.1:{port}/hooks/{source}", headers=headers, content=body, timeout=30).status_code


def count_wakes(fleet: Fleet, name: str) -> int:
    return int(fleet.query(f"SELECT count(*) FROM wakes WHERE name = '{name}'")[0][0])


def is_woken(fleet: Fleet, name: str) -> bool:
    return count_wakes(fleet, name) == 1


def is_ready(fleet: Fleet, name: str) -> bool:
    return "ready: worker" in (fleet.root / f"{name}.log").read_text()


def note_wakes(fleet: Fleet) -> None:
    """Let PostgreSQL note when each repository was woken."""
    fleet.run_sql(
        "CREATE TABLE wakes (name text, at timestamptz)",
        "CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS"
        " 'BEGIN INSERT INTO wakes VALUES (NEW.name, NEW.woken_at); RETURN NEW; END'",
        "CREATE TRIGGER note AFTER UPDATE ON syncd_fleet_repositories FOR EACH ROW"
        " WHEN (NEW.woken_at IS DISTINCT FROM OLD.woken_at) EXECUTE FUNCTION note()",
    )


@pytest.mark.story
@pytest.mark.timeout(300)
def test_a_webhook_of_each_sender_wakes_what_it_names(fleet: Fleet) -> None:
    fleet.syncd("fleet", "init")
    note_wakes(fleet)
    webhooks = write_webhooks(fleet)
    upstreams = {
        "github": "https://github.com/acme/docs",
        "gitlab": "https://gitlab.example.com/acme/docs.git",
        "gitea": "https://git.example.com/acme/docs",
    }
    for kind, upstream in upstreams.items():
        add(fleet, name=kind, upstream=upstream, webhooks=webhooks)
    # Nothing is at these addresses, so nobody is to run them.
    fleet.run_sql(
        "INSERT INTO syncd_fleet_leases SELECT name, 'nobody', 1, now() + interval '1 h' FROM syncd_fleet_repositories"
    )
    add(fleet, webhooks=webhooks)
    port, path = find_port(), fleet.root / "metrics"
    fleet.start("a", "--webhooks", f"127.0.0.1:{port}", "--listen", f"unix:{path}")
    wait_until(partial(is_ready, fleet, "a"), "the worker listens")
    pushes = {"github": make_github(), "gitlab": make_gitlab(), "gitea": make_gitea()}
    for kind, push in pushes.items():
        assert post(port, kind, push) == 202
        wait_until(partial(is_woken, fleet, kind), f"{kind} is woken")
    assert fleet.query("SELECT name FROM syncd_fleet_repositories WHERE woken_at IS NULL") == [("docs",)]
    done = fleet.wait_for_run()
    fleet.world.edit_on_platform({"options.md": "# Options\n\n* from the platform\n"})
    assert post(port, "platform", make_platform(fleet.world.space, int(time.time()))) == 202
    fleet.wait_for_run(done)
    assert fleet.find_hosted("options.md", "from the platform")
    headers, body = make_github()
    assert post(port, "github", (headers, body + b" ")) == 401, "nobody signed this"
    assert post(port, "nobody", (headers, body)) == 404
    with httpx.Client(transport=httpx.HTTPTransport(uds=str(path)), base_url="http://localhost") as client:
        text = client.get("/metrics").text
    assert 'syncd_worker_webhooks_total{source="github",status="202",worker="a"} 1.0' in text
    assert 'syncd_worker_webhooks_total{source="github",status="401",worker="a"} 1.0' in text


@pytest.mark.story
@pytest.mark.timeout(300)
def test_many_webhooks_at_two_workers_are_few_wakes(fleet: Fleet) -> None:
    fleet.syncd("fleet", "init")
    note_wakes(fleet)
    add(fleet, webhooks=write_webhooks(fleet, interval=4))
    ports = [find_port(), find_port()]
    for name, port in zip("ab", ports, strict=True):
        fleet.start(name, "--webhooks", f"127.0.0.1:{port}")
        wait_until(partial(is_ready, fleet, name), "it listens")
    begun = time.monotonic()
    for number in range(20):
        assert post(ports[number % 2], "platform", make_platform(fleet.world.space, int(time.time()) - number)) == 202
    wait_until(lambda: count_wakes(fleet, "docs") >= 1, "it is woken")
    wait_until(lambda: not fleet.query("SELECT 1 FROM procrastinate_jobs WHERE task_name = 'syncd.wake'"), "all done")
    assert count_wakes(fleet, "docs") <= 2 + (time.monotonic() - begun) / 4


def test_a_webhook_is_answered_503_while_nobody_can_be_woken(fleet: Fleet) -> None:
    fleet.syncd("fleet", "init")
    add(fleet, webhooks=write_webhooks(fleet))
    port = find_port()
    fleet.start("a", "--webhooks", f"127.0.0.1:{port}")
    wait_until(partial(is_ready, fleet, "a"), "the worker listens")
    signed = make_platform(fleet.world.space, int(time.time()))
    fleet.run_sql(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION $$full$$; END'",
        "CREATE TRIGGER refuse BEFORE INSERT ON procrastinate_jobs FOR EACH ROW"
        " WHEN (NEW.task_name = 'syncd.wake') EXECUTE FUNCTION refuse()",
    )
    assert post(port, "platform", signed) == 503
    fleet.run_sql("DROP TRIGGER refuse ON procrastinate_jobs")
    assert post(port, "platform", signed) == 202, "it did not come before"


def test_a_worker_that_ends_or_has_not_begun_wakes_nobody_and_says_so(fleet: Fleet) -> None:
    fleet.make()
    with FleetDatabase(fleet.url) as database, Cache(fleet.root / "cache", bytes_max=1) as cache:
        context = RunContext(
            database=database,
            settings=database.read_settings(),
            worker="a",
            cache=cache,
            lease_seconds=30,
            environ=fleet.environ,
            is_stopping=lambda: False,
        )
        worker = FleetWorker(context, WorkerOptions(jobs=1, host="h", version="1", report=lambda ended: None))
        (docs,) = build_wakeable(list_repositories(database)[0].build_config())
        with pytest.raises(FleetUnreachable):
            worker._take_webhook(docs)
        worker._app = procrastinate.App(connector=InMemoryConnector())
        worker._loop = asyncio.new_event_loop()
        worker._loop.close()
        with pytest.raises(FleetUnreachable):
            worker._take_webhook(docs)
        worker._take_webhook(replace(docs, name="removed"))


def test_the_senders_of_a_fleet_have_names_of_their_own(fleet: Fleet) -> None:
    fleet.syncd("fleet", "init")
    add(fleet, webhooks=write_webhooks(fleet))
    other = fleet.write_config(name="other")
    other.write_text(other.read_text() + write_webhooks(fleet, secret="another secret of thirty-two chars"))
    done = fleet.syncd("fleet", "add", "--config", other)
    assert (done.returncode, "webhooks.source" in done.stderr) == (78, True)
    assert [one["name"] for one in fleet.status()["repositories"]] == ["docs"]


def test_webhooks_are_exported_as_they_were_added(fleet: Fleet) -> None:
    fleet.syncd("fleet", "init")
    file = add(fleet, webhooks=write_webhooks(fleet, kinds=("github",)))
    copy = fleet.root / "copy.toml"
    copy.write_text(fleet.syncd("fleet", "export").stdout)
    assert load(copy).webhooks == load(file).webhooks
    add(fleet, name="plain")
    done = fleet.syncd("fleet", "export")
    assert (done.returncode, "[webhooks]" in done.stderr) == (78, True)


def test_a_worker_without_a_secret_of_webhooks_does_not_start(fleet: Fleet) -> None:
    fleet.syncd("fleet", "init")
    add(fleet, webhooks=re.sub("secret_file.*\n", "", write_webhooks(fleet, kinds=("github",))))
    words = ("--cache", fleet.root / "cache", "--webhooks", f"127.0.0.1:{find_port()}")
    done = fleet.syncd("fleet", "worker", *words)
    assert (done.returncode, "SYNCD_WEBHOOK_SECRET_GITHUB" in done.stderr) == (78, True)


def test_what_was_woken_goes_first_then_what_changes_then_what_is_idle(fleet: Fleet) -> None:
    fleet.syncd("fleet", "init")
    with FleetDatabase(fleet.url) as database:
        database.read_settings()
        (one,) = read_repositories(load(fleet.write_config(interval=60)), priority=0)
        for name, priority in (("late", 0), ("idle", 0), ("active", 0), ("woken", 0), ("dear", 1)):
            own = one.config.model_copy(update={"name": name})
            add_repositories(database, [type(one)(name, one.platform, own, 60, priority)])
        fleet.run_sql(
            "UPDATE syncd_fleet_repositories SET ended_at = now() - interval '50 s',"
            " begun_at = now() - interval '55 s', due_at = now() - interval '20 s', is_active = (name = 'active')",
            "UPDATE syncd_fleet_repositories SET due_at = now() - interval '70 s' WHERE name = 'late'",
        )
        wake_repositories(database, ["woken"])
        assert [due.name for due in list_due(database, worker_seconds=9)] == ["dear", "woken", "late", "active", "idle"]
        assert [due.name for due in list_due(database, worker_seconds=9, names=["idle"])] == ["idle"]
        assert len(list_repositories(database)) == 5
        first, second = (find_wake_time(database, name, 30) for name in ("idle", "woken"))
        assert first is not None
        assert second is not None
        assert (second - first).total_seconds() == pytest.approx(30, abs=3)
        assert find_wake_time(database, "gone", 30) is None


def test_a_job_that_waits_already_is_brought_forward(fleet: Fleet) -> None:
    fleet.make()
    fleet.run_sql(
        "INSERT INTO procrastinate_jobs (task_name, queue_name, queueing_lock, args, priority)"
        " VALUES ('syncd.run', 'any', 'docs', '{}', 0)",
    )
    with FleetDatabase(fleet.url) as database:
        wake_repositories(database, ["docs"])
        assert database.query("SELECT priority FROM procrastinate_jobs") == [(2,)]


def test_tables_of_an_older_syncd_get_what_is_new(fleet: Fleet) -> None:
    fleet.make()
    fleet.run_sql(
        "ALTER TABLE syncd_fleet DROP COLUMN step",
        "ALTER TABLE syncd_fleet_repositories DROP COLUMN webhooks, DROP COLUMN begun_at, DROP COLUMN changed_at",
    )
    with FleetDatabase(fleet.url) as database:
        database.read_settings()
        assert [one.name for one in list_repositories(database)] == ["docs"]


def test_a_mistake_in_webhooks_of_the_database_is_an_error(fleet: Fleet) -> None:
    fleet.make()
    fleet.run_sql("UPDATE syncd_fleet_repositories SET webhooks = '{\"listen\": 7}'")
    with FleetDatabase(fleet.url) as database, pytest.raises(ConfigInvalid):
        list_repositories(database)
