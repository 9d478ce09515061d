"""The metrics of the service in Prometheus' text or in OpenMetrics, computed from its health."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.openmetrics import exposition as openmetrics
from prometheus_client.registry import Collector

from syncd import __version__
from syncd.daemon.health import USEFUL, RepositoryHealth, ServiceHealth, StateCounts, find_repository_run, is_ready
from syncd.store.runs import RunRecord

TEXT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
OPENMETRICS_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"


def choose_type(accept: str) -> str:
    """Return the content type of the metrics for an `Accept` header: OpenMetrics 1.0 where it is named first.

    Shape: a range with another version, with q=0 or one that makes no sense is passed over; without any, it is
    Prometheus' text, which everything reads.
    """
    ranked = []
    for place, part in enumerate(accept.split(",")):
        name, *pairs = [word.strip() for word in part.split(";")]
        parameters = {key.strip().lower(): value.strip() for key, _, value in (pair.partition("=") for pair in pairs)}
        quality = _parse_quality(parameters.get("q", "1"))
        version = parameters.get("version", "")
        if name.lower() == "application/openmetrics-text" and version in ("", "1.0.0") and quality:
            ranked.append((-quality, place, OPENMETRICS_TYPE))
        elif name.lower() in ("text/plain", "text/*", "*/*") and version in ("", "0.0.4") and quality:
            ranked.append((-quality, place, TEXT_TYPE))
    return min(ranked, default=(0.0, 0, TEXT_TYPE))[2]


def _parse_quality(text: str) -> float:
    """Return a weight from 0 to 1; 0 for one that makes no sense."""
    return float(text) if re.fullmatch(r"0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?", text) else 0.0


@dataclass(frozen=True)
class Measure:
    """One metric: its name and help, the names of its labels, and its value for the values of these.

    Shape: the keys of `values` are tuples with a text for each label.
    """

    name: str
    help: str
    labels: tuple[str, ...]
    values: Mapping[Any, float]
    is_counter: bool = False


def render_metrics(health: ServiceHealth, now: float, content_type: str = TEXT_TYPE) -> str:
    """Return every metric of the service as text; a label is a name of the configuration, never an id or a path.

    Units: `now` in epoch seconds. Shape: as `render_measures`.
    """
    return render_measures([*_list_measures(health, now)], content_type)


def render_measures(measures: Sequence[Measure], content_type: str = TEXT_TYPE) -> str:
    """Return metrics as text, with the memory, CPU time and open files of the process where the system tells them.

    Shape: Prometheus' text format 0.0.4, or OpenMetrics 1.0 for OPENMETRICS_TYPE.
    """
    # A registry for each question: what is collected is a value, and nothing is kept between two scrapes.
    registry = CollectorRegistry()
    registry.register(_MeasureCollector(measures))
    ProcessCollector(registry=registry)
    if content_type == OPENMETRICS_TYPE:
        encoded: bytes = openmetrics.generate_latest(registry)  # type: ignore[no-untyped-call] # of the library
        return encoded.decode()
    return generate_latest(registry).decode()


@dataclass(frozen=True, eq=False)
class _MeasureCollector(Collector):
    measures: Sequence[Measure]

    def collect(self) -> Iterator[Metric]:
        """Yield each metric once, with the values of all its labels."""
        for one in self.measures:
            kind = CounterMetricFamily if one.is_counter else GaugeMetricFamily
            family = kind(one.name, one.help, labels=one.labels)
            for label_values, value in sorted(one.values.items()):
                family.add_metric(label_values, value)
            yield family


def _list_measures(health: ServiceHealth, now: float) -> Iterator[Measure]:
    by_repository, repositories = ("repository",), health.repositories
    yield Measure("syncd_build_info", "Version of syncd.", ("version",), {(__version__,): 1})
    yield Measure("syncd_up", "Whether the work of the service moves on.", (), {(): health.is_alive})
    help = "Whether the last run of everything is recent and good."
    yield Measure("syncd_ready", help, (), {(): is_ready(health, now)})
    help = "Whether the configuration that was read last counts; else the former one does."
    yield Measure("syncd_config_ok", help, (), {(): not health.refusal})
    help = "Whether a person has paused the repository."
    yield Measure("syncd_paused", help, by_repository, {(one.name,): one.pause is not None for one in repositories})
    yield from _list_run_measures(repositories)
    runs = [*_list_whole_runs(repositories)]
    help = "Flows of the last run that wait for a person."
    yield Measure("syncd_held", help, by_repository, {(name,): whole.held for name, whole in runs})
    help = "Pages in conflict, as of the last run."
    yield Measure("syncd_conflicts", help, by_repository, {(name,): whole.conflicts for name, whole in runs})
    help = "Whether the state database of a repository can be read."
    readable = {(one.name,): one.counts is not None for one in repositories}
    yield Measure("syncd_state_readable", help, by_repository, readable)
    yield from _list_state_measures([one.counts for one in repositories if one.counts is not None])
    answers = {(name, str(status)): count for (name, status), count in health.webhooks.items()}
    yield Measure("syncd_webhooks", "Webhooks, by sender and answer.", ("source", "status"), answers, is_counter=True)
    help = "Notifications that were sent, failed, or were dropped for newer ones."
    yield Measure("syncd_notifications", help, ("target", "state"), health.notifications, is_counter=True)
    help = "Notifications that wait for a receiver."
    waiting = {(name,): count for name, count in health.pending_notifications.items()}
    yield Measure("syncd_notifications_pending", help, ("target",), waiting)


def _list_state_measures(counts: Sequence[StateCounts]) -> Iterator[Measure]:
    """Yield what the state databases hold, all of them together."""
    outcomes = _sum_counts(count.outcomes for count in counts)
    yield Measure("syncd_outcomes", "Last outcomes, by flow and state.", ("flow", "state"), outcomes)
    pending = sum(count.pending for count in counts)
    yield Measure("syncd_plan_pending", "Plans of sites that wait for approval.", (), {(): pending})
    items = _sum_counts(count.items for count in counts)
    yield Measure("syncd_site_items", "Items of sites, by area and state.", ("area", "state"), items)
    reads = [count.looked_at for count in counts if count.looked_at is not None]
    help = "When the site that was not read for the longest time was read."
    yield Measure("syncd_site_look_timestamp_seconds", help, (), {(): min(reads)} if reads else {})


def _list_run_measures(repositories: Sequence[RepositoryHealth]) -> Iterator[Measure]:
    """Yield what the last run of each repository, space, site and upstream came to; time 0 is what never happened."""
    names = ("repository", "kind", "name")
    records = {
        (repository.name, record.kind, record.name): record
        for repository in repositories
        for record in repository.runs or (RunRecord("repository", repository.name, "unknown"),)
    }
    ended = {labels: _parse_epoch(record.at) for labels, record in records.items()}
    yield Measure("syncd_last_run_timestamp_seconds", "When the last run ended.", names, ended)
    succeeded = {labels: _parse_epoch(record.succeeded) for labels, record in records.items()}
    yield Measure("syncd_last_success_timestamp_seconds", "When a run last did what it is for.", names, succeeded)
    useful = {labels: record.state in USEFUL for labels, record in records.items()}
    yield Measure("syncd_last_run_ok", "Whether the last run did what it is for.", names, useful)
    states = {(*labels, record.state): 1 for labels, record in records.items()}
    yield Measure("syncd_last_run_state", "1 for the state of the last run.", (*names, "state"), states)
    failures = {labels: record.failures for labels, record in records.items()}
    help = "Runs in a row that did not do what they are for."
    yield Measure("syncd_consecutive_failures", help, names, failures)


def _list_whole_runs(repositories: Sequence[RepositoryHealth]) -> Iterator[tuple[str, RunRecord]]:
    """Yield the name of each repository that has run, and the record of its last run as a whole."""
    for repository in repositories:
        if (whole := find_repository_run(repository.runs)) is not None:
            yield repository.name, whole


def _sum_counts(counts: Iterable[Mapping[tuple[str, str], int]]) -> Mapping[tuple[str, str], int]:
    total: Counter[tuple[str, str]] = Counter()
    for each in counts:
        total.update(each)
    return total


def _parse_epoch(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp() if moment else 0
