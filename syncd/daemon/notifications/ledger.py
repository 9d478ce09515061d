"""Keeps the incidents of every repository, and hands what is to be told of them to the outbox."""

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock

from syncd.daemon.control.run_files import find_service_file
from syncd.daemon.notifications.incidents import find_changes
from syncd.daemon.notifications.messages import format_lines, format_title
from syncd.daemon.notifications.outbox import Outbox, Target
from syncd.daemon.notifications.request_news import find_news
from syncd.errors import SyncdError
from syncd.store.incidents import Incident, IncidentRecord, Notification, SeenRequest, read_incidents, write_incidents
from syncd.sync.run.values import Result

PROBLEM_EVENTS = ("conflict", "held", "failed", "recovered")
REQUEST_EVENTS = ("merged", "outdated", "reviewed")
"""Events of own change requests; whoever wants to hear of them says so."""
EVENTS = (*PROBLEM_EVENTS, *REQUEST_EVENTS)


@dataclass(frozen=True)
class Subscription:
    """A receiver, what it wants to hear of, and of which repositories; none is all of them."""

    target: Target
    events: frozenset[str] = frozenset(PROBLEM_EVENTS)
    repositories: frozenset[str] = field(default=frozenset())

    def should_hear(self, event: str, repository: str) -> bool:
        """Return whether it is told of an event of a repository."""
        return event in self.events and (not self.repositories or repository in self.repositories)


class IncidentLedger:
    """The incidents of every repository; safe in any thread."""

    def __init__(self, directory: Path, notice: Callable[[str], None]) -> None:
        """Keep them in a directory; `notice` gets what cannot be written or told."""
        self._directory, self._notice = directory, notice
        self._records: dict[Path, IncidentRecord] = {}
        self._former: dict[str, tuple[Incident, ...]] = {}
        self._subscriptions: Sequence[Subscription] = ()
        self._complaints: set[str] = set()
        self._lock = Lock()
        self.outbox = Outbox(self._remove_notification, notice)

    def configure(self, subscriptions: Sequence[Subscription], repositories: Mapping[str, Path]) -> None:
        """Tell these receivers of these repositories, by name, from now on, and what was still to be told before."""
        self._subscriptions = tuple(subscriptions)
        self.outbox.configure({one.target.name: one.target for one in subscriptions})
        for name, path in repositories.items():
            with self._lock:
                is_new = path not in self._records
                record = self._read_record(path)
            if is_new:
                self._former[name] = record.incidents
                for notification in record.pending:
                    self.outbox.add(notification)

    def should_read_requests(self, name: str) -> bool:
        """Return whether anybody wants to hear of the change requests of a repository."""
        return any(one.should_hear(event, name) for one in self._subscriptions for event in REQUEST_EVENTS)

    def note_requests(
        self, path: Path, name: str, now: Sequence[SeenRequest], is_merged: Callable[[SeenRequest], bool], at: str
    ) -> None:
        """Note how the change requests of a repository are after a run, and tell what is new. Units: as `note_run`.

        Shape: the first time tells nothing, since nobody knows what of it is new.
        """
        with self._lock:
            before = self._read_record(path)
            news = find_news(before.requests, now, is_merged, at) if before.requests is not None else ()
            new = self._write_notifications(name, news, at)
            after = replace(before, pending=(*before.pending, *new), requests=tuple(now))
            if after != before:
                self._save_record(path, after)
        for notification in new:
            self.outbox.add(notification)

    def list_former(self, name: str) -> tuple[Incident, ...]:
        """Return the incidents of a repository that were open when the service started."""
        return self._former.get(name, ())

    def note_run(
        self, path: Path, name: str, results: Sequence[Result], at: str, find_address: Callable[[Result], str]
    ) -> None:
        """Note what a run of a repository began and ended, and tell it. Units: `at` in ISO 8601."""
        with self._lock:
            before = self._read_record(path)
            changes = find_changes(before.incidents, results, at, find_address)
            new = self._write_notifications(name, changes.opened, at)
            new += self._write_notifications(name, changes.closed, at, event="recovered")
            after = IncidentRecord(changes.incidents, (*before.pending, *new), before.requests)
            if after != before:
                self._save_record(path, after)
        for notification in new:
            self.outbox.add(notification)

    def _write_notifications(
        self, name: str, incidents: Sequence[Incident], at: str, *, event: str = ""
    ) -> list[Notification]:
        """One notification for each receiver and event, about all incidents of it."""
        found = []
        for subscription in self._subscriptions:
            wanted = [one for one in incidents if subscription.should_hear(one.event, name)]
            if event and not subscription.should_hear(event, name):
                continue
            for kind in EVENTS:
                told = [one for one in wanted if (event or one.event) == kind]
                if told:
                    title, lines = format_title(kind, name, told), format_lines(kind, told)
                    id, target = str(uuid.uuid4()), subscription.target.name
                    found.append(Notification(id, target, kind, name, title, lines, at))
        return found

    def _remove_notification(self, notification: Notification) -> None:
        """Take a notification that is over out of the files."""
        with self._lock:
            for path, record in list(self._records.items()):
                rest = tuple(one for one in record.pending if one.id != notification.id)
                if rest != record.pending:
                    self._save_record(path, replace(record, pending=rest))

    def _read_record(self, path: Path) -> IncidentRecord:
        if path not in self._records:
            self._records[path] = read_incidents(self._find_file(path))
        return self._records[path]

    def _save_record(self, path: Path, record: IncidentRecord) -> None:
        self._records[path] = record
        try:
            write_incidents(self._find_file(path), record)
        except SyncdError as error:
            if error.what not in self._complaints:
                self._complaints.add(error.what)
                self._notice(f"{error.what}; a restart may tell again what was told")

    def _find_file(self, path: Path) -> Path:
        return self._directory / "incidents" / find_service_file(self._directory, path).name
