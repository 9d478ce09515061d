"""The alerts that come with syncd, evaluated as Prometheus does, for as much of its language as they use."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

FILE = Path(__file__).parents[3] / "monitoring" / "alerts.yaml"
_METRIC = r"(?P<metric>\w+)(?:\{(?P<labels>[^}]*)\})?"
_ABSENT = re.compile(rf"absent\({_METRIC}\)")
_COMPARISON = re.compile(rf"(?P<age>time\(\) - )?{_METRIC} (?P<operator>==|>) (?P<number>\d+)")
_LABEL = re.compile(r'(\w+)="([^"]*)"')


@dataclass(frozen=True)
class Series:
    """One line of metrics."""

    metric: str
    labels: frozenset[tuple[str, str]]
    value: float

    def is_meant(self, metric: str, labels: str | None) -> bool:
        """Whether a selector chooses it."""
        return self.metric == metric and self.labels >= set(_LABEL.findall(labels or ""))


def read_alerts() -> dict[str, str]:
    """Return the expression of each alert that comes with syncd, by its name."""
    (group,) = yaml.safe_load(FILE.read_text())["groups"]
    return {rule["alert"]: rule["expr"] for rule in group["rules"]}


def read_waits() -> dict[str, str]:
    """Return how long each alert has to be true before it fires, as Prometheus writes it, or "" for not at all."""
    (group,) = yaml.safe_load(FILE.read_text())["groups"]
    return {rule["alert"]: rule.get("for", "") for rule in group["rules"]}


def find_firing(metrics: str, now: float) -> dict[str, set[str]]:
    """Given metrics, and when they are looked at, return the alerts that fire, however long they are to wait.

    Shape: with each the repositories, spaces and so on that it names, or nothing where it names none. Units: epoch
    seconds.
    """
    series = [_read(line) for line in metrics.splitlines() if not line.startswith("#")]
    found = {name: list(_evaluate(expression, series, now)) for name, expression in read_alerts().items()}
    return {name: set(filter(None, map(_name, each))) for name, each in found.items() if each}


def _evaluate(expression: str, series: list[Series], now: float) -> Iterator[frozenset[tuple[str, str]]]:
    """Labels of what an expression is true of."""
    expression, _, rest = expression.partition(" unless on (instance, repository) ")
    but = {dict(labels).get("repository") for labels in _evaluate(rest, series, now)} if rest else set()
    for term in expression.split(" or "):
        if match := _ABSENT.fullmatch(term):
            if not any(one.is_meant(match["metric"], match["labels"]) for one in series):
                yield frozenset()
            continue
        match = _COMPARISON.fullmatch(term)
        assert match, f"learn to evaluate {term!r}"
        number = float(match["number"])
        for one in series:
            value = now - one.value if match["age"] else one.value
            is_left_out = dict(one.labels).get("repository", "") in but
            if (
                one.is_meant(match["metric"], match["labels"])
                and not is_left_out
                and (value > number if match["operator"] == ">" else value == number)
            ):
                yield one.labels


def _read(line: str) -> Series:
    head, _, value = line.rpartition(" ")
    metric, _, labels = head.partition("{")
    return Series(metric, frozenset(_LABEL.findall(labels)), float(value))


def _name(labels: frozenset[tuple[str, str]]) -> str:
    known = dict(labels)
    parts = [known.get(label, "") for label in ("repository", "kind", "name", "area")]
    return " ".join(filter(None, parts))
