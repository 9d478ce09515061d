"""What of a run people are to be told, and what was known before: values in, values out. Pure but for new ids."""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from syncd.config.shapes import NotificationTargetConfig
from syncd.daemon.notifications.incidents import find_changes
from syncd.daemon.notifications.messages import format_lines, format_title
from syncd.daemon.notifications.request_news import find_news
from syncd.store.incidents import Incident, IncidentRecord, Notification, SeenRequest
from syncd.sync.run.values import Result

PROBLEM_EVENTS = ("conflict", "held", "failed", "recovered")
REQUEST_EVENTS = ("merged", "outdated", "reviewed")
"""Events of own change requests; whoever wants to hear of them says so."""
EVENTS = (*PROBLEM_EVENTS, *REQUEST_EVENTS)


@dataclass(frozen=True)
class Interest:
    """What a receiver, by its name, wants to hear of, and of which repositories; none is all of them."""

    receiver: str
    events: frozenset[str] = frozenset(PROBLEM_EVENTS)
    repositories: frozenset[str] = field(default=frozenset())

    def should_hear(self, event: str, repository: str) -> bool:
        """Return whether the receiver is told of an event of a repository."""
        return event in self.events and (not self.repositories or repository in self.repositories)


def build_interest(target: NotificationTargetConfig) -> Interest:
    """Return what a receiver of a configuration wants to hear of."""
    return Interest(target.name, frozenset(target.events), frozenset(target.repositories))


def has_interest_in_requests(interests: Sequence[Interest], repository: str) -> bool:
    """Return whether anybody wants to hear of the change requests of a repository."""
    return any(one.should_hear(event, repository) for one in interests for event in REQUEST_EVENTS)


def note_results(
    before: IncidentRecord,
    interests: Sequence[Interest],
    name: str,
    results: Sequence[Result],
    at: str,
    find_address: Callable[[Result], str],
) -> tuple[IncidentRecord, Sequence[Notification]]:
    """Return what is known of a repository after a run, and what is to be told of it.

    Units: `at` in ISO 8601. Shape: `find_address` as for `find_changes`; the notifications wait in the record, too.
    """
    changes = find_changes(before.incidents, results, at, find_address)
    new = _write_notifications(interests, name, changes.opened, at)
    new += _write_notifications(interests, name, changes.closed, at, event="recovered")
    # Where nobody wants to hear of change requests any more, whoever does later is not told of what is long over.
    requests = before.requests if has_interest_in_requests(interests, name) else None
    return IncidentRecord(changes.incidents, (*before.pending, *new), requests), new


def note_requests(
    before: IncidentRecord,
    interests: Sequence[Interest],
    name: str,
    now: Sequence[SeenRequest],
    is_merged: Callable[[SeenRequest], bool],
    at: str,
) -> tuple[IncidentRecord, Sequence[Notification]]:
    """Return what is known of the change requests of a repository after a run, and what is to be told of them.

    Units: `at` in ISO 8601. Shape: the first time tells nothing, since nobody knows what of it is new.
    """
    news = find_news(before.requests, now, is_merged, at) if before.requests is not None else ()
    new = _write_notifications(interests, name, news, at)
    return replace(before, pending=(*before.pending, *new), requests=tuple(now)), new


def _write_notifications(
    interests: Sequence[Interest], name: str, incidents: Sequence[Incident], at: str, *, event: str = ""
) -> list[Notification]:
    """One notification for each receiver and event, about all incidents of it."""
    found = []
    for interest in interests:
        wanted = [one for one in incidents if interest.should_hear(one.event, name)]
        if event and not interest.should_hear(event, name):
            continue
        for kind in EVENTS:
            told = [one for one in wanted if (event or one.event) == kind]
            if told:
                title, lines = format_title(kind, name, told), format_lines(kind, told)
                found.append(Notification(str(uuid.uuid4()), interest.receiver, kind, name, title, lines, at))
    return found
