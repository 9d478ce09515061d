"""Keeps the incidents of every repository, and hands what is to be told of them to the outbox."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock

from syncd.daemon.control.run_files import find_service_file
from syncd.daemon.notifications.news import Interest, has_interest_in_requests, note_requests, note_results
from syncd.daemon.notifications.outbox import Outbox, Target
from syncd.errors import SyncdError
from syncd.store.incidents import Incident, IncidentRecord, Notification, SeenRequest, read_incidents, write_incidents
from syncd.sync.run.values import Result


@dataclass(frozen=True)
class Subscription:
    """A receiver, and what it wants to hear of."""

    target: Target
    interest: Interest


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
        return has_interest_in_requests(self._list_interests(), name)

    def note_requests(
        self, path: Path, name: str, now: Sequence[SeenRequest], is_merged: Callable[[SeenRequest], bool], at: str
    ) -> None:
        """Note how the change requests of a repository are after a run, and tell what is new. Units: as `note_run`.

        Shape: the first time tells nothing, since nobody knows what of it is new.
        """
        with self._lock:
            before = self._read_record(path)
            after, new = note_requests(before, self._list_interests(), name, now, is_merged, at)
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
            after, new = note_results(before, self._list_interests(), name, results, at, find_address)
            if after != before:
                self._save_record(path, after)
        for notification in new:
            self.outbox.add(notification)

    def _list_interests(self) -> list[Interest]:
        return [one.interest for one in self._subscriptions]

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
