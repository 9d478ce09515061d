"""What began and what ended with a run, from its results and the incidents that were open before. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from syncd.daemon.health import USEFUL
from syncd.daemon.records import find_state
from syncd.store.incidents import Incident
from syncd.sync.outcome import Held, Waiting
from syncd.sync.run.values import Result

WAITING = "waiting"
"""The event of what may end by itself; nobody is told of it."""
PATIENCE_SECONDS = 900.0
"""How long no answer, the rate limit or a full disk may last before it counts as failed."""
_EVENTS = {
    "conflict": "conflict",
    "held": "held",
    "approval": "held",
    "manual": "held",
    "failed": "failed",
    "waiting": WAITING,
}


@dataclass(frozen=True)
class IncidentChanges:
    """What a run did to the incidents of its repository: those that are open now, those that began, and that ended."""

    incidents: tuple[Incident, ...]
    opened: tuple[Incident, ...] = ()
    closed: tuple[Incident, ...] = ()


def find_changes(
    before: Sequence[Incident], results: Sequence[Result], at: str, find_address: Callable[[Result], str]
) -> IncidentChanges:
    """Return what a run began and ended.

    Units: `at` in ISO 8601. Shape: `find_address` says where people see what a result is about. A run that failed did
    not get to everything: then only what it shows to be well has ended.
    """
    known = {(one.flow, one.key): one for one in before}
    now: dict[tuple[str, str], Incident] = {}
    for result in results:
        event = _EVENTS.get(find_state(result))
        place = (result.flow, result.key)
        if event is not None and place not in now and isinstance(result.outcome, Held | Waiting):
            now[place] = _build_incident(known.get(place), result, event, at, find_address)
    has_failed = any(find_state(result) not in USEFUL for result in results)
    shown = {(result.flow, result.key) for result in results}
    gone = {place: one for place, one in known.items() if place not in now}
    kept = {place: one for place, one in gone.items() if has_failed and place not in shown}
    ended = [one for place, one in gone.items() if place not in kept]
    opened = [one for place, one in now.items() if known.get(place) is None or known[place].event != one.event]
    return IncidentChanges(
        (*now.values(), *kept.values()),
        tuple(one for one in opened if one.event != WAITING),
        tuple(one for one in ended if one.event != WAITING),
    )


def _build_incident(
    former: Incident | None, result: Result, event: str, at: str, find_address: Callable[[Result], str]
) -> Incident:
    """Return the incident of a result: the former one where it goes on, with its beginning and in its latest words."""
    outcome = result.outcome
    assert isinstance(outcome, Held | Waiting)
    since = former.since if former is not None else at
    if event == WAITING:
        # What failed once does not become harmless because the next try got no answer.
        is_old = _count_seconds(since, at) >= PATIENCE_SECONDS
        event = former.event if former is not None and former.event != WAITING else "failed" if is_old else WAITING
    if former is not None and former.event == event:
        return replace(former, why=outcome.why, hint=outcome.hint)
    address = find_address(result) if event != WAITING else ""
    return Incident(result.flow, result.key, event, outcome.why, outcome.hint, since, address)


def _count_seconds(since: str, until: str) -> float:
    return (datetime.fromisoformat(until) - datetime.fromisoformat(since)).total_seconds()
