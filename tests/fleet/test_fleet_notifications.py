"""Notifications of a fleet: each once, whichever worker runs a repository or ends."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from syncd.config import load
from syncd.daemon.notifications.http_target import HttpTarget
from syncd.daemon.notifications.outbox import PENDING_MAX, Delivery
from syncd.fleet.database import FleetDatabase
from syncd.fleet.people.notifications import WaitingReceiver, count_waiting, deliver_waiting, list_waiting, note_run
from syncd.fleet.repositories import find_repository
from syncd.store.incidents import Notification
from syncd.sync.outcome import Held, Unchanged
from syncd.sync.run.values import Result
from tests.daemon.notifications.receiver import NotifiedServer, serve_receiver
from tests.fleet.conftest import Fleet, wait_until

AT = "2026-03-01T12:00:00+00:00"
HELD = Result("mirror", "docs", Held("the space became empty", "syncd pull --force", 5))
WELL = Result("mirror", "docs", Unchanged())
TEAM = WaitingReceiver("docs", "team")


@pytest.fixture
def receiver() -> Iterator[NotifiedServer]:
    with serve_receiver() as server:
        yield server


def write(fleet: Fleet, url: str, events: str = '["conflict", "held", "failed", "recovered"]') -> Path:
    """A configuration whose notifications go to an address that is in a file."""
    address = fleet.root / "address"
    address.write_text(url)
    address.chmod(0o600)
    file = fleet.write_config(interval=2)
    target = f'name = "team"\nurl_file = "{address}"\nprivate = true\nevents = {events}\n'
    file.write_text(f"{file.read_text()}\n[[notifications.target]]\n{target}")
    return file


def make(fleet: Fleet, url: str, **wish: str) -> None:
    for words in (("init",), ("add", "--config", write(fleet, url, **wish))):
        done = fleet.syncd("fleet", *words)
        assert done.returncode == 0, done.stderr


def note(database: FleetDatabase, *results: Result) -> None:
    repository = find_repository(database, "docs")
    assert repository is not None
    with database.transact() as cursor:
        note_run(cursor, repository, None, results, AT)


def deliver(fleet: Fleet, database: FleetDatabase, said: list[str]) -> list[str]:
    counted: list[str] = []
    deliver_waiting(database, fleet.environ, TEAM, is_stopping=lambda: False, count=counted.append, warn=said.append)
    return counted


@pytest.mark.story
@pytest.mark.timeout(300)
def test_a_conflict_is_told_once_over_workers_and_restarts(fleet: Fleet, receiver: NotifiedServer) -> None:
    make(fleet, receiver.url)
    first = fleet.start("a")
    fleet.wait_for_run()
    fleet.world.edit_on_platform({"options.md": "# Options\n\n* theirs\n* second\n"})
    fleet.commit("Edit", {"options.md": "# Options\n\n* ours\n* second\n"})
    headers, document = receiver.take()
    assert (headers["x-syncd-event"], headers["x-syncd-repository"]) == ("conflict", "docs")
    assert "options.md" in document["text"]
    wait_until(lambda: fleet.status()["sum"]["waiting_notifications"] == 0, "the worker has noted that it arrived")
    first.kill()
    fleet.start("b")
    fleet.start("c")
    done = fleet.count_runs()
    fleet.wait_for_run(done + 2)
    fleet.commit("Settle", {"options.md": "# Options\n\n* theirs\n* second\n"})
    headers, _ = receiver.take()
    assert headers["x-syncd-event"] == "recovered"
    fleet.wait_for_run(fleet.count_runs())
    assert receiver.came.empty(), "each was told once"


def test_what_did_not_arrive_is_tried_again_by_any_worker(fleet: Fleet, receiver: NotifiedServer) -> None:
    make(fleet, receiver.url)
    receiver.answers += [503, 503]
    said: list[str] = []
    with FleetDatabase(fleet.url) as database:
        note(database, HELD)
        note(database, HELD)
        assert count_waiting(database) == 1
        assert deliver(fleet, database, said) == []
        assert list_waiting(database) == []
        fleet.run_sql("UPDATE syncd_fleet_notifications SET not_before = now()")
        assert list_waiting(database) == [TEAM]
        assert deliver(fleet, database, said) == []
        fleet.run_sql("UPDATE syncd_fleet_notifications SET not_before = now()")
        assert deliver(fleet, database, said) == ["sent"]
        assert count_waiting(database) == 0
    ids = {receiver.take()[0]["x-syncd-delivery"] for _ in range(3)}
    assert len(ids) == 1, "it is one notification"
    assert [line.rpartition("; ")[2] for line in said] == ["tried again", "docs: notifications to team: arrive again"]


def test_all_that_waits_is_told_in_its_order(fleet: Fleet, receiver: NotifiedServer) -> None:
    make(fleet, receiver.url)
    with FleetDatabase(fleet.url) as database:
        note(database, HELD)
        note(database, WELL)
        assert deliver(fleet, database, []) == ["sent", "sent"]
    assert [receiver.take()[0]["x-syncd-event"] for _ in range(2)] == ["held", "recovered"]


@pytest.mark.parametrize("name", ["caf\udce9.md", "a\0b.md"])
def test_a_name_that_the_database_takes_for_no_text_is_told_all_the_same(
    fleet: Fleet, receiver: NotifiedServer, name: str
) -> None:
    make(fleet, receiver.url)
    with FleetDatabase(fleet.url) as database:
        note(database, Result("conflict", name, Held(f"both sides changed {name}", exit_code=6)))
        assert deliver(fleet, database, []) == ["sent"]


def test_a_refused_notification_is_given_up(fleet: Fleet, receiver: NotifiedServer) -> None:
    make(fleet, receiver.url)
    receiver.answers += [404]
    said: list[str] = []
    with FleetDatabase(fleet.url) as database:
        note(database, HELD)
        assert deliver(fleet, database, said) == ["failed"]
        assert count_waiting(database) == 0
    assert "given up: docs: waits for a person" in said[0]


def test_a_defect_loses_one_notification_and_not_its_receiver(
    fleet: Fleet, receiver: NotifiedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_down(target: HttpTarget, notification: Notification) -> Delivery:
        monkeypatch.setattr(HttpTarget, "deliver", whole)
        raise ZeroDivisionError

    whole = HttpTarget.deliver
    make(fleet, receiver.url)
    said: list[str] = []
    with FleetDatabase(fleet.url) as database:
        note(database, HELD)
        note(database, WELL)
        monkeypatch.setattr(HttpTarget, "deliver", break_down)
        assert deliver(fleet, database, said) == ["failed", "sent"]
    assert "ZeroDivisionError" in said[0]
    assert receiver.take()[0]["x-syncd-event"] == "recovered"


def test_of_very_many_the_oldest_but_the_first_are_given_up(fleet: Fleet) -> None:
    make(fleet, "http://127.0.0.1:1/")
    with FleetDatabase(fleet.url) as database:
        for number in range(PENDING_MAX + 20):
            note(database, replace(HELD, key=f"docs {number}"), replace(WELL, key=f"docs {number - 1}"))
        rows = [
            row[0]["lines"] for row in fleet.query("SELECT document FROM syncd_fleet_notifications ORDER BY number")
        ]
        assert len(rows) == PENDING_MAX
        assert "docs 0" in rows[0][0], "the first may be under way"
        assert f"docs {PENDING_MAX + 1}" in json.dumps(rows[-2:]) or "docs 11" in json.dumps(rows[-2:])


def test_a_secret_that_is_missing_here_is_for_another_worker(fleet: Fleet, receiver: NotifiedServer) -> None:
    make(fleet, receiver.url)
    (fleet.root / "address").unlink()
    said: list[str] = []
    with FleetDatabase(fleet.url) as database:
        note(database, HELD)
        assert deliver(fleet, database, said) == []
        assert count_waiting(database) == 1
    assert "url_file" in said[0]


@pytest.mark.story
def test_a_receiver_that_is_gone_is_told_nothing_more(fleet: Fleet, receiver: NotifiedServer) -> None:
    make(fleet, receiver.url)
    with FleetDatabase(fleet.url) as database:
        note(database, HELD)
        fleet.syncd("fleet", "add", "--config", fleet.write_config())
        assert deliver(fleet, database, []) == ["failed"]
    assert receiver.came.empty()


@pytest.mark.story
def test_notifications_are_exported_and_a_desktop_is_refused(fleet: Fleet, receiver: NotifiedServer) -> None:
    make(fleet, receiver.url)
    copy = fleet.root / "copy.toml"
    copy.write_text(fleet.syncd("fleet", "export").stdout)
    assert load(copy).notifications == load(fleet.root / "fleet.toml").notifications
    file = fleet.write_config()
    file.write_text(file.read_text() + "\n[notifications]\ndesktop = true\n")
    done = fleet.syncd("fleet", "add", "--config", file)
    assert (done.returncode, "desktop" in done.stderr) == (78, True)


@pytest.mark.story
@pytest.mark.timeout(300)
def test_a_merged_change_request_is_told_to_who_asks_for_it(fleet: Fleet, receiver: NotifiedServer) -> None:
    make(fleet, receiver.url, events='["merged"]')
    fleet.start("a")
    fleet.wait_for_run()
    fleet.commit("Edit", {"options.md": "# Options\n\n* first\n* second\n* third\n"})
    wait_until(lambda: len(fleet.list_requests()) == 1, "it is proposed")
    done = fleet.count_runs()
    fleet.wait_for_run(done + 1)
    (request,) = fleet.list_requests()
    with fleet.world.client() as client:
        client.change_requests.merge(fleet.world.space, request.id)
    headers, _ = receiver.take()
    assert headers["x-syncd-event"] == "merged"
