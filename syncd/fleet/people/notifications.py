"""Notifications of a fleet: written down in the transaction that records a run, and delivered by whichever worker.

So what a worker tells that has lost its lease is never written down, and what is written down outlives every worker.
Where one dies between the receiver's answer and its own note, a notification is sent twice, under the same id.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from syncd.daemon.notifications.news import build_interest, has_interest_in_requests, note_requests, note_results
from syncd.daemon.notifications.outbox import PENDING_MAX, TRIES_MAX, Delivery, find_retry_delay, try_delivery
from syncd.daemon.notifications.read_requests import build_merge_finder, has_read_all, read_requests
from syncd.daemon.notifications.targets import build_address_finder, build_target
from syncd.errors import ConfigInvalid
from syncd.fleet.database import FleetDatabase, Row, render_json
from syncd.fleet.repositories import FleetRepository, find_repository
from syncd.store.incidents import Notification, parse_incidents, parse_notification
from syncd.sync.run.values import Result

if TYPE_CHECKING:
    import psycopg


@dataclass(frozen=True)
class WaitingReceiver:
    """A receiver that has something to hear of a repository now."""

    repository: str
    target: str


def note_run(
    cursor: "psycopg.Cursor[Row]", repository: FleetRepository, git_dir: Path | None, results: Sequence[Result], at: str
) -> None:
    """Note in a transaction what a run began and ended, and what is to be told of it.

    Units: `at` in ISO 8601. Shape: `git_dir` is None where there is no clone.
    """
    interests = [build_interest(target) for target in repository.notifications.target]
    name = repository.name
    cursor.execute("SELECT incidents FROM syncd_fleet_repositories WHERE name = %(name)s", {"name": name})
    before = parse_incidents((cursor.fetchone() or (None,))[0])
    find_address = build_address_finder(repository.config, git_dir)
    after, new = note_results(before, interests, name, results, at, find_address)
    if git_dir is not None and has_interest_in_requests(interests, name) and has_read_all(results):
        now = read_requests(git_dir)
        if now is not None:
            is_merged = build_merge_finder(repository.config, git_dir)
            after, more = note_requests(after, interests, name, now, is_merged, at)
            new = [*new, *more]
    # What waits has rows of its own.
    cursor.execute(
        "UPDATE syncd_fleet_repositories SET incidents = %(record)s WHERE name = %(name)s",
        {"name": name, "record": render_json(asdict(replace(after, pending=())))},
    )
    for notification in new:
        _add_notification(cursor, notification)


def _add_notification(cursor: "psycopg.Cursor[Row]", notification: Notification) -> None:
    """Let a notification wait; beyond so many the oldest is given up, but for the first, which may be under way."""
    values = {
        "repository": notification.repository,
        "target": notification.target,
        "document": render_json(asdict(notification)),
        "keep": PENDING_MAX - 1,
    }
    cursor.execute(
        "INSERT INTO syncd_fleet_notifications (repository, target, document)"
        " VALUES (%(repository)s, %(target)s, %(document)s)",
        values,
    )
    cursor.execute(
        "DELETE FROM syncd_fleet_notifications WHERE number IN (SELECT number FROM syncd_fleet_notifications"
        " WHERE repository = %(repository)s AND target = %(target)s AND number > (SELECT min(number)"
        " FROM syncd_fleet_notifications WHERE repository = %(repository)s AND target = %(target)s)"
        " ORDER BY number DESC OFFSET %(keep)s)",
        values,
    )


def list_waiting(database: FleetDatabase) -> list[WaitingReceiver]:
    """Return the receivers that have something to hear now. Raises: FleetUnreachable."""
    rows = database.query(
        "SELECT repository, target FROM (SELECT DISTINCT ON (repository, target) repository, target, not_before"
        " FROM syncd_fleet_notifications ORDER BY repository, target, number) f WHERE not_before <= now()"
    )
    return [WaitingReceiver(*row) for row in rows]


def count_waiting(database: FleetDatabase) -> int:
    """Return how many notifications have not arrived. Raises: FleetUnreachable."""
    return int(database.query("SELECT count(*) FROM syncd_fleet_notifications")[0][0])


def deliver_waiting(
    database: FleetDatabase,
    environ: Mapping[str, str],
    receiver: WaitingReceiver,
    *,
    is_stopping: Callable[[], bool],
    count: Callable[[str], object],
    warn: Callable[[str], None],
) -> None:
    """Tell a receiver what waits for it of a repository, in its order, until one has to be tried again later.

    Shape: `count` hears of each that was `sent` or `failed`; `warn` of what cannot be told, once until it works again.
    Raises: FleetUnreachable.
    """
    while not is_stopping() and (found := _find_first(database, receiver)) is not None:
        number, tries, notification = found
        delivery = _deliver(database, environ, receiver, notification)
        if delivery.state == "later" and tries + 1 < TRIES_MAX:
            _put_off(database, number, tries)
            if tries == 0:
                warn(f"{receiver.repository}: notifications to {receiver.target}: {delivery.why}; tried again")
            return
        database.query("DELETE FROM syncd_fleet_notifications WHERE number = %(number)s", {"number": number})
        count("sent" if delivery.state == "sent" else "failed")
        if delivery.state != "sent":
            line = f"{delivery.why}; given up: {notification.title}"
            warn(f"{receiver.repository}: notifications to {receiver.target}: {line}")
        elif tries:
            warn(f"{receiver.repository}: notifications to {receiver.target}: arrive again")


def _find_first(database: FleetDatabase, receiver: WaitingReceiver) -> tuple[int, int, Notification] | None:
    """The number of the oldest notification that waits, how often it was tried, and itself; None before its time."""
    rows = database.query(
        "SELECT number, tries, document FROM (SELECT * FROM syncd_fleet_notifications WHERE repository = %(repository)s"
        " AND target = %(target)s ORDER BY number LIMIT 1) f WHERE not_before <= now()",
        asdict(receiver),
    )
    return (rows[0][0], rows[0][1], parse_notification(rows[0][2])) if rows else None


def _deliver(
    database: FleetDatabase, environ: Mapping[str, str], receiver: WaitingReceiver, notification: Notification
) -> Delivery:
    try:
        repository = find_repository(database, receiver.repository)
        targets = repository.notifications.target if repository is not None else ()
        target = next((one for one in targets if one.name == receiver.target), None)
        if target is None:
            return Delivery("refused", "the configuration has it no more")
        return try_delivery(build_target(target, environ), notification)
    except ConfigInvalid as error:  # another worker may have what is missing here
        return Delivery("later", error.what)


def _put_off(database: FleetDatabase, number: int, tries: int) -> None:
    database.query(
        "UPDATE syncd_fleet_notifications SET tries = tries + 1,"
        " not_before = clock_timestamp() + make_interval(secs => %(delay)s) WHERE number = %(number)s",
        {"number": number, "delay": find_retry_delay(tries, random.random())},  # noqa: S311
    )
