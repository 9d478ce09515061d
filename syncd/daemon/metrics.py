"""The metrics of the service in Prometheus' text or in OpenMetrics, computed from its health."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.openmetrics import exposition as openmetrics
from prometheus_client.registry import Collector

from syncd import __version__
from syncd.daemon.health import USEFUL, RepositoryHealth, ServiceHealth, find_repository_run, is_ready
from syncd.store.runs import RunRecord

LabelValues = TypeVar("LabelValues", bound=tuple[str, ...])


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


def render_metrics(health: ServiceHealth, now: float, content_type: str = TEXT_TYPE) -> str:
    """Return every metric of the service as text; a label is a name of the configuration, never an id or a path.

    Units: `now` in epoch seconds. Shape: Prometheus' text format 0.0.4, or OpenMetrics 1.0 for OPENMETRICS_TYPE, with
    the memory, CPU time and open files of the process where the system tells them.
    """
    return _render(_HealthCollector(health, now), content_type)


def _render(collector: Collector, content_type: str) -> str:
    # A registry for each question: what is collected is a value, and nothing is kept between two scrapes.
    registry = CollectorRegistry()
    registry.register(collector)
    ProcessCollector(registry=registry)
    if content_type == OPENMETRICS_TYPE:
        encoded: bytes = openmetrics.generate_latest(registry)  # type: ignore[no-untyped-call] # of the library
        return encoded.decode()
    return generate_latest(registry).decode()


@dataclass(frozen=True)
class Measure:
    """One metric: its name and help, the names of its labels, and its value for the values of these.

    Shape: one that only `grows` is a counter.
    """

    name: str
    help: str
    labels: tuple[str, ...]
    values: Mapping[tuple[str, ...], float]
    grows: bool = False


def render_measures(measures: Sequence[Measure], content_type: str = TEXT_TYPE) -> str:
    """Return metrics as text, with the memory, CPU time and open files of the process where the system tells them."""
    return _render(_MeasureCollector(measures), content_type)


@dataclass(frozen=True, eq=False)
class _MeasureCollector(Collector):
    measures: Sequence[Measure]

    def collect(self) -> Iterator[Metric]:
        """Yield each metric once."""
        for one in self.measures:
            build = _build_counter if one.grows else _build_gauge
            yield build(one.name, one.help, list(one.labels), one.values)


@dataclass(frozen=True, eq=False)
class _HealthCollector(Collector):
    health: ServiceHealth
    now: float

    def collect(self) -> Iterator[Metric]:
        """Yield each metric once, with the values of all its labels."""
        repositories = self.health.repositories
        counts = [repository.counts for repository in repositories if repository.counts is not None]
        yield _build_gauge("syncd_build_info", "Version of syncd.", ["version"], {(__version__,): 1})
        yield _build_gauge("syncd_up", "Whether the work of the service moves on.", [], {(): self.health.is_alive})
        ready = is_ready(self.health, self.now)
        yield _build_gauge("syncd_ready", "Whether the last run of everything is recent and good.", [], {(): ready})
        help = "Whether the configuration that was read last counts; else the former one does."
        yield _build_gauge("syncd_config_ok", help, [], {(): not self.health.refusal})
        paused = {(repository.name,): repository.pause is not None for repository in repositories}
        yield _build_gauge("syncd_paused", "Whether a person has paused the repository.", ["repository"], paused)
        yield from _list_run_gauges(repositories)
        held = {(name,): whole.held for name, whole in _list_whole_runs(repositories)}
        yield _build_gauge("syncd_held", "Flows of the last run that wait for a person.", ["repository"], held)
        conflicts = {(name,): whole.conflicts for name, whole in _list_whole_runs(repositories)}
        yield _build_gauge("syncd_conflicts", "Pages in conflict, as of the last run.", ["repository"], conflicts)
        readable = {(repository.name,): repository.counts is not None for repository in repositories}
        help = "Whether the state database of a repository can be read."
        yield _build_gauge("syncd_state_readable", help, ["repository"], readable)
        outcomes = _sum_counts(count.outcomes for count in counts)
        yield _build_gauge("syncd_outcomes", "Last outcomes, by flow and state.", ["flow", "state"], outcomes)
        pending = {(): sum(count.pending for count in counts)}
        yield _build_gauge("syncd_plan_pending", "Plans of sites that wait for approval.", [], pending)
        items = _sum_counts(count.items for count in counts)
        yield _build_gauge("syncd_site_items", "Items of sites, by area and state.", ["area", "state"], items)
        reads = [count.looked_at for count in counts if count.looked_at is not None]
        help = "When the site that was not read for the longest time was read."
        yield _build_gauge("syncd_site_look_timestamp_seconds", help, [], {(): min(reads)} if reads else {})
        answers = {(name, str(status)): count for (name, status), count in self.health.webhooks.items()}
        yield _build_counter("syncd_webhooks", "Webhooks, by sender and answer.", ["source", "status"], answers)
        help = "Notifications that were sent, failed, or were dropped for newer ones."
        yield _build_counter("syncd_notifications", help, ["target", "state"], self.health.notifications)
        waiting = {(name,): count for name, count in self.health.pending_notifications.items()}
        yield _build_gauge(
            "syncd_notifications_pending", "Notifications that wait for a receiver.", ["target"], waiting
        )


def _list_run_gauges(repositories: Sequence[RepositoryHealth]) -> Iterator[GaugeMetricFamily]:
    """Yield what the last run of each repository, space, site and upstream came to; time 0 is what never happened."""
    names = ["repository", "kind", "name"]
    records = {
        (repository.name, record.kind, record.name): record
        for repository in repositories
        for record in repository.runs or (RunRecord("repository", repository.name, "unknown"),)
    }
    ended = {labels: _parse_epoch(record.at) for labels, record in records.items()}
    yield _build_gauge("syncd_last_run_timestamp_seconds", "When the last run ended.", names, ended)
    succeeded = {labels: _parse_epoch(record.succeeded) for labels, record in records.items()}
    yield _build_gauge("syncd_last_success_timestamp_seconds", "When a run last did what it is for.", names, succeeded)
    useful = {labels: record.state in USEFUL for labels, record in records.items()}
    yield _build_gauge("syncd_last_run_ok", "Whether the last run did what it is for.", names, useful)
    states = {(*labels, record.state): 1 for labels, record in records.items()}
    yield _build_gauge("syncd_last_run_state", "1 for the state of the last run.", [*names, "state"], states)
    failures = {labels: record.failures for labels, record in records.items()}
    help = "Runs in a row that did not do what they are for."
    yield _build_gauge("syncd_consecutive_failures", help, names, failures)


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


def _build_gauge(name: str, help: str, labels: list[str], values: Mapping[LabelValues, float]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, help, labels=labels)
    for label_values, value in sorted(values.items()):
        family.add_metric(label_values, value)
    return family


def _build_counter(name: str, help: str, labels: list[str], values: Mapping[LabelValues, float]) -> CounterMetricFamily:
    family = CounterMetricFamily(name, help, labels=labels)
    for label_values, value in sorted(values.items()):
        family.add_metric(label_values, value)
    return family
