"""The metrics of the service in Prometheus' text, computed from its health."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from syncd import __version__
from syncd.daemon.health import USEFUL, RepositoryHealth, ServiceHealth, find_whole, is_ready
from syncd.store.runs import RunRecord


def render_metrics(health: ServiceHealth, now: float) -> str:
    """Given the health and the time, return every metric; a label is a name of the configuration, never an id or path.

    Units: `now` in epoch seconds.
    """
    each = health.repositories
    counts = [repository.counts for repository in each if repository.counts is not None]
    looks = [count.looked_at for count in counts if count.looked_at is not None]
    lines = [
        *_gauge("syncd_build_info", "Version of syncd.", {_labels(version=__version__): 1}),
        *_gauge("syncd_up", "Whether the work of the service moves on.", {"": int(health.is_alive)}),
        *_gauge("syncd_ready", "Whether the last run of everything is recent and good.", {"": is_ready(health, now)}),
        *_run_gauges(each),
        *_gauge("syncd_held", "Flows of the last run that wait for a person.", _of_runs(each, "held")),
        *_gauge("syncd_conflicts", "Pages in conflict, as of the last run.", _of_runs(each, "conflicts")),
        *_gauge(
            "syncd_state_readable",
            "Whether the state database of a repository can be read.",
            {_labels(repository=repository.name): repository.counts is not None for repository in each},
        ),
        *_gauge("syncd_outcomes", "Last outcomes, by flow and state.", _sums("flow", [c.outcomes for c in counts])),
        *_gauge("syncd_plan_pending", "Plans of sites that wait for approval.", {"": sum(c.pending for c in counts)}),
        *_gauge("syncd_site_items", "Things of sites, by area and state.", _sums("area", [c.items for c in counts])),
        *_gauge(
            "syncd_site_look_timestamp_seconds",
            "When the site longest unseen was looked at.",
            {"": min(looks)} if looks else {},
        ),
    ]
    return "\n".join(lines) + "\n"


def _run_gauges(repositories: Sequence[RepositoryHealth]) -> Iterator[str]:
    """What the last run of each repository, space, site and upstream came to; 0 is the time of what never happened."""
    records = {
        _labels(repository=repository.name, kind=record.kind, name=record.name): record
        for repository in repositories
        for record in repository.runs or (RunRecord("repository", repository.name, "unknown"),)
    }
    yield from _gauge(
        "syncd_last_run_timestamp_seconds",
        "When the last run ended.",
        {labels: _epoch(record.at) for labels, record in records.items()},
    )
    yield from _gauge(
        "syncd_last_success_timestamp_seconds",
        "When a run last did what it is for.",
        {labels: _epoch(record.succeeded) for labels, record in records.items()},
    )
    yield from _gauge(
        "syncd_last_run_ok",
        "Whether the last run did what it is for.",
        {labels: record.state in USEFUL for labels, record in records.items()},
    )
    yield from _gauge(
        "syncd_last_run_state",
        "1 for the state of the last run.",
        {f"{labels},{_labels(state=record.state)}": 1 for labels, record in records.items()},
    )
    yield from _gauge(
        "syncd_consecutive_failures",
        "Runs in a row that did not do what they are for.",
        {labels: record.failures for labels, record in records.items()},
    )


def _of_runs(repositories: Sequence[RepositoryHealth], field: str) -> Mapping[str, float]:
    wholes = ((repository.name, find_whole(repository.runs)) for repository in repositories)
    return {_labels(repository=name): getattr(whole, field) for name, whole in wholes if whole is not None}


def _sums(first: str, counts: Sequence[Mapping[tuple[str, str], int]]) -> Mapping[str, float]:
    total: Counter[str] = Counter()
    for each in counts:
        for (key, state), count in each.items():
            total[_labels(**{first: key, "state": state})] += count
    return total


def _labels(**values: str) -> str:
    return ",".join(f'{name}="{value}"' for name, value in values.items())


def _epoch(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp() if moment else 0


def _gauge(name: str, help: str, values: Mapping[str, float]) -> Iterator[str]:
    yield f"# HELP {name} {help}"
    yield f"# TYPE {name} gauge"
    for labels, value in sorted(values.items()):
        yield f"{name}{{{labels}}} {float(value):.15g}" if labels else f"{name} {float(value):.15g}"
