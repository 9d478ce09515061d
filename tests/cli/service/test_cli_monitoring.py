"""The alerts and the dashboard that come with syncd name only metrics and labels that the service has."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator

import pytest
from prometheus_client.parser import text_string_to_metric_families

from syncd.cli.reference.example import read_example
from syncd.daemon.health import RepositoryHealth, ServiceHealth, StateCounts
from syncd.daemon.metrics import render_metrics
from syncd.store.runs import RunRecord
from tests.cli.service.alerts import FILE, read_alerts

AT = "2026-05-01T10:00:00+00:00"
METRIC = re.compile(r"\b(?:syncd|process)_\w+")
BY_PROMETHEUS = {"instance", "job"}


def list_queries() -> Iterator[tuple[str, str]]:
    """Every query of the alerts and of the dashboard, with what is written beside its labels."""
    yield from ((expression, "") for expression in read_alerts().values())
    for panel in json.loads(read_example("dashboard"))["panels"]:
        for target in panel["targets"]:
            yield target["expr"], target["legendFormat"]


def find_metrics() -> dict[str, set[str]]:
    """The labels of each metric of a service, by its name."""
    counts = StateCounts(items={("redirects", "drifted"): 1}, looked_at=1.0)
    runs = (RunRecord("repository", "docs", "ok", at=AT, succeeded=AT),)
    text = render_metrics(ServiceHealth(True, (RepositoryHealth("docs", 60, runs, counts=counts),)), 0)
    samples = (sample for family in text_string_to_metric_families(text) for sample in family.samples)
    return {sample.name: set(sample.labels) for sample in samples}


@pytest.mark.parametrize(("query", "legend"), list(list_queries()))
def test_a_query_names_metrics_and_labels_that_are_there(query: str, legend: str) -> None:
    known = find_metrics()
    names = METRIC.findall(query)
    assert names
    assert set(names) <= known.keys()
    labels = {*re.findall(r"(\w+)=~?\"", query), *re.findall(r"\{\{(\w+)\}\}", legend)}
    assert labels <= set.union(*(known[name] for name in names)) | BY_PROMETHEUS


def test_the_notes_of_an_alert_name_labels_that_its_metric_has() -> None:
    known = set.union(*find_metrics().values())
    assert set(re.findall(r"\$labels\.(\w+)", FILE.read_text())) <= known


def test_prometheus_takes_the_alerts() -> None:
    if (promtool := shutil.which("promtool")) is not None:
        done = subprocess.run([promtool, "check", "rules", FILE], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    assert len(read_alerts()) == 7
