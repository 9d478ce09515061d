"""How the service is doing, computed from the records of the last runs; metrics, health, status and systemd ask here.

Pure: time is an argument, in epoch seconds.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from syncd.model.wording import format_count
from syncd.store.pauses import PauseRecord
from syncd.store.runs import RunRecord
from syncd.sync.outcome import PARTLY_DONE

USEFUL = frozenset({"ok", "conflict", "approval", "manual"})
"""States of a run that did what it is for; `daemon/records.py` explains each state."""
OVERDUE_INTERVALS = 3
OVERDUE_SECONDS = 900.0
"""A run that ended longer ago than both says nothing of now."""


@dataclass(frozen=True)
class StateCounts:
    """What a repository's state database holds, in numbers.

    Shape: `outcomes` by flow and state, `items` of sites by area and state; `looked_at` is when the site longest unseen
    was looked at, in epoch seconds.
    """

    outcomes: Mapping[tuple[str, str], int] = field(default_factory=dict)
    pending: int = 0
    items: Mapping[tuple[str, str], int] = field(default_factory=dict)
    looked_at: float | None = None


@dataclass(frozen=True)
class RepositoryHealth:
    """One repository as the service knows it.

    Shape: `runs` are the records of the last run, also one before the service started; `has_run` says whether one has
    ended since. `refusal` is why the last try began no run. `counts` is None while the state cannot be read. `pause` is
    set while a person wants no runs.
    Units: `interval` in seconds.
    """

    name: str
    interval: float
    runs: tuple[RunRecord, ...] = ()
    has_run: bool = False
    is_running: bool = False
    is_stuck: bool = False
    refusal: str = ""
    counts: StateCounts | None = None
    pause: PauseRecord | None = None


@dataclass(frozen=True)
class ServiceHealth:
    """The service as it knows itself: whether its work moves on, every repository, and what it hears and tells.

    Shape: `refusal` is why the configuration that was read last does not count, and the former one does. `webhooks`
    counts answers by sender and status, `notifications` those that are over by receiver and state,
    `pending_notifications` those that wait.
    """

    is_alive: bool
    repositories: tuple[RepositoryHealth, ...]
    refusal: str = ""
    webhooks: Mapping[tuple[str, int], int] = field(default_factory=dict)
    notifications: Mapping[tuple[str, str], int] = field(default_factory=dict)
    pending_notifications: Mapping[str, int] = field(default_factory=dict)


def find_repository_run(runs: Sequence[RunRecord]) -> RunRecord | None:
    """Return the record about all of a repository, or None when nothing has run yet."""
    return next((record for record in runs if record.kind == "repository"), None)


def count_failures(health: ServiceHealth, name: str) -> int:
    """Return how many runs of a repository failed since its last success, also under a former service."""
    records = [find_repository_run(one.runs) for one in health.repositories if one.name == name]
    return max((record.failures for record in records if record is not None), default=0)


def choose_runs(
    service: tuple[RunRecord, ...], command: tuple[RunRecord, ...], *, has_service: bool
) -> tuple[str, tuple[RunRecord, ...]]:
    """Return the records that count, the service's last run or the last command's, and whose they are.

    Shape: "service", "command", or "" for nobody's. A command that works proves nothing of a service that serves the
    repository now: only the later run of the service does. Without a service, the later of the two counts.
    """
    whole, other = find_repository_run(service), find_repository_run(command)
    if whole is not None and (has_service or other is None or whole.at > other.at):
        return "service", service
    return ("command", command) if other is not None else ("", ())


def combine_codes(codes: Sequence[int]) -> int:
    """Return the exit code of several repositories: their own when all agree, else 4.

    Source: syncd/manual/reference/exit-codes.md, "Several repositories".
    """
    different = set(codes)
    return different.pop() if len(different) == 1 else PARTLY_DONE if different else 0


def is_overdue(record: RunRecord, interval: float, now: float) -> bool:
    """Return whether the run of a record ended too long ago to say anything of now, or that late from now: a clock was
    set back since. Units: seconds."""
    age = now - datetime.fromisoformat(record.at).timestamp()
    return abs(age) > max(OVERDUE_INTERVALS * interval, OVERDUE_SECONDS)


def is_ready(health: ServiceHealth, now: float) -> bool:
    """Return whether the last run of everything is recent and did what it is for."""
    return not find_faults(health, now)


def find_faults(health: ServiceHealth, now: float) -> list[str]:
    """Return a line for each thing that makes a service not ready; no id, path or title is in it."""
    faults = ["the configuration has a mistake, and the former one counts"] if health.refusal else []
    faults += [line for repository in health.repositories for line in _list_faults(repository, now)]
    return faults if health.is_alive or faults else ["the service shows no progress"]


def list_pauses(health: ServiceHealth) -> list[str]:
    """Return a line for each repository that is paused, which is no fault."""
    return [
        f"{repository.name}: paused {describe_pause(repository.pause)}"
        for repository in health.repositories
        if repository.pause is not None
    ]


def describe_pause(pause: PauseRecord) -> str:
    """Return since when and until when a pause lasts."""
    return f"since {pause.at[:19]}Z until {f'{pause.until[:19]}Z' if pause.until else 'it is resumed'}"


def _list_faults(repository: RepositoryHealth, now: float) -> Iterator[str]:
    whole = find_repository_run(repository.runs)
    if repository.is_stuck:
        yield f"{repository.name}: the run shows no progress"
    if repository.pause is not None:
        return
    if not repository.has_run or whole is None:
        yield f"{repository.name}: no run has ended since the service started"
        return
    if is_overdue(whole, repository.interval, now):
        yield f"{repository.name}: no run has ended since {whole.at}"
    if whole.state in USEFUL:
        return
    parts = [record for record in repository.runs if record.kind != "repository" and record.state not in USEFUL]
    for record in parts or [whole]:
        subject = "" if record is whole else f" {record.kind} {record.name}".rstrip()
        runs = format_count(record.failures, "run")
        yield f"{repository.name}{subject}: {record.state} since {record.since} ({runs})"


def render_status(health: ServiceHealth) -> str:
    """Return the line that systemd shows: what runs now, and what is wrong, with the reason."""
    stuck = [repository.name for repository in health.repositories if repository.is_stuck]
    running = [repository.name for repository in health.repositories if repository.is_running]
    if stuck:
        return f"no progress in {', '.join(stuck)}"
    known = [(repository.name, _find_trouble(repository)) for repository in health.repositories]
    troubles = [f"{name}: {trouble}" for name, trouble in known if trouble]
    of_all = f"{len(troubles)} of {len(known)} repositories: " if troubles and len(known) > 1 else ""
    parts = [f"syncing {', '.join(running)}"] if running else []
    paused = [repository.name for repository in health.repositories if repository.pause is not None]
    if paused:
        parts.append(f"paused: {', '.join(paused)}")
    if health.refusal:
        parts.append(f"the former configuration counts: {health.refusal.splitlines()[0]}")
    if troubles:
        parts.append(of_all + "; ".join(troubles))
    return "; ".join(parts) or ("in step" if all(r.has_run for r in health.repositories) else "no run has ended yet")


def _find_trouble(repository: RepositoryHealth) -> str:
    whole = find_repository_run(repository.runs)
    if repository.pause is not None:
        return ""
    if repository.refusal:
        return repository.refusal
    return whole.why if whole is not None and whole.state != "ok" else ""
