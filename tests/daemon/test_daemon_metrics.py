"""What the metrics say, and what is answered over HTTP."""

import json
import socket
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import httpx
import pytest
from prometheus_client.core import Metric
from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client.parser import text_string_to_metric_families

from syncd.daemon.health import RepositoryHealth, ServiceHealth, StateCounts
from syncd.daemon.http import serve_service_probes
from syncd.daemon.locks import STATE_FILE
from syncd.daemon.metrics import OPENMETRICS_TYPE, TEXT_TYPE, choose_type, render_metrics
from syncd.daemon.repositories import read_counts
from syncd.errors import ConfigInvalid, StoreError
from syncd.store.runs import RunRecord
from syncd.store.status import FlowOutcome, PendingPlan, SiteState
from syncd.store.store import Store

FACTS = {"owned": {"redirects": 3}, "unmanaged": {}, "drifted": {"structure": 1}, "blocked": {}}
AT, BEFORE = "2026-05-01T10:00:00+00:00", "2026-05-01T09:00:00+00:00"
EPOCH = datetime.fromisoformat(AT).timestamp()
GOOD = RepositoryHealth("docs", 60, (RunRecord("repository", "docs", "ok", at=AT, succeeded=AT),), has_run=True)
BAD = RepositoryHealth(
    "api",
    60,
    (
        RunRecord("repository", "api", "partial", 4, "mirror a: GET /spaces/SECRET", "", AT, BEFORE, AT, 2, 1, 3),
        RunRecord("space", "a", "failed", 78, "GET /spaces/SECRET", "", AT, "", AT, 2),
        RunRecord("site", "", "ok", at=AT, succeeded=AT),
    ),
    has_run=True,
)


@pytest.fixture
def git_dir(tmp_path: Path) -> Path:
    """A repository's git directory in which a site has a plan that waits and one part that drifted."""
    with Store(tmp_path / STATE_FILE) as store:
        store.plans.save_pending(PendingPlan("site_1", "3f9a0c12be77", "site.yaml", "{}", AT))
        store.plans.save_site_state(SiteState("site.yaml", "", json.dumps(FACTS), AT))
        store.record(
            [FlowOutcome("site", "site.yaml", "held", "", ""), FlowOutcome("mirror", "docs", "unchanged", "", "")]
        )
    return tmp_path


def samples_of(*repositories: RepositoryHealth) -> dict[str, float]:
    """Return the value of each sample by its name and labels, as the parser of Prometheus' client reads them."""
    families = text_string_to_metric_families(render_metrics(ServiceHealth(True, repositories), EPOCH))
    return {
        sample.name + "".join(f" {name}={value}" for name, value in sorted(sample.labels.items())): sample.value
        for family in families
        for sample in family.samples
    }


def test_a_plan_that_waits_drift_and_outcomes_are_counted_without_names(git_dir: Path) -> None:
    one = replace(GOOD, counts=read_counts(git_dir / STATE_FILE))
    samples = samples_of(one, replace(one, name="other"))
    assert samples["syncd_plan_pending"] == 2
    assert samples["syncd_site_items area=redirects state=owned"] == 6
    assert samples["syncd_site_items area=structure state=drifted"] == 2
    assert samples["syncd_outcomes flow=site state=held"] == 2
    assert samples["syncd_site_look_timestamp_seconds"] == 1777629600
    assert "site_1" not in "".join(samples)
    assert "site.yaml" not in "".join(samples)


def test_the_process_is_measured_too() -> None:
    samples = samples_of(GOOD)
    assert samples["process_resident_memory_bytes"] > 0
    assert samples["process_cpu_seconds_total"] > 0


def test_a_plan_that_was_approved_waits_no_more(git_dir: Path) -> None:
    with Store(git_dir / STATE_FILE) as store:
        (plan,) = store.plans.list_pending()
        store.plans.approve(plan, at="2026-05-01T11:00:00+00:00", comment="")
    assert read_counts(git_dir / STATE_FILE).pending == 0


def test_the_last_run_of_each_subject_is_told_with_its_last_success() -> None:
    samples = samples_of(GOOD, BAD)
    expected = {
        "syncd_last_success_timestamp_seconds kind=repository name=docs repository=docs": 1777629600,
        "syncd_last_success_timestamp_seconds kind=repository name=api repository=api": 1777626000,
        "syncd_last_success_timestamp_seconds kind=space name=a repository=api": 0,
        "syncd_last_success_timestamp_seconds kind=site name= repository=api": 1777629600,
        "syncd_last_run_timestamp_seconds kind=space name=a repository=api": 1777629600,
        "syncd_last_run_ok kind=repository name=docs repository=docs": 1,
        "syncd_last_run_ok kind=space name=a repository=api": 0,
        "syncd_last_run_state kind=repository name=api repository=api state=partial": 1,
        "syncd_last_run_state kind=space name=a repository=api state=failed": 1,
        "syncd_consecutive_failures kind=space name=a repository=api": 2,
        "syncd_consecutive_failures kind=repository name=docs repository=docs": 0,
        "syncd_held repository=api": 1,
        "syncd_conflicts repository=api": 3,
        "syncd_ready": 0,
    }
    assert {name: samples[name] for name in expected} == expected
    assert "SECRET" not in "".join(samples)


def test_a_repository_that_never_ran_and_one_that_cannot_be_read_are_there_too() -> None:
    samples = samples_of(RepositoryHealth("new", 60), replace(GOOD, counts=StateCounts()))
    assert samples["syncd_last_success_timestamp_seconds kind=repository name=new repository=new"] == 0
    assert samples["syncd_last_run_ok kind=repository name=new repository=new"] == 0
    assert samples["syncd_state_readable repository=new"] == 0
    assert samples["syncd_state_readable repository=docs"] == 1
    assert samples["syncd_last_run_ok kind=repository name=docs repository=docs"] == 1


def test_a_state_that_cannot_be_read_is_an_error_and_not_an_end(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for unreadable in (tmp_path / "file" / "state.db", tmp_path):
        with pytest.raises(StoreError, match="cannot be read"):
            read_counts(unreadable)
    assert read_counts(tmp_path / "none.db") == StateCounts()


@pytest.mark.parametrize("facts", ["{", "[]", "{}", '{"owned": 3}'])
def test_a_look_that_makes_no_sense_is_an_error_of_that_state(tmp_path: Path, facts: str) -> None:
    with Store(tmp_path / "state.db") as store:
        store.plans.save_site_state(SiteState("site.yaml", "", facts, AT))
    with pytest.raises(StoreError, match="makes no sense"):
        read_counts(tmp_path / "state.db")


@pytest.fixture
def address() -> str:
    """Where nobody listens yet."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"127.0.0.1:{server.getsockname()[1]}"


def test_the_three_questions_are_answered_and_no_other(address: str) -> None:
    now = ServiceHealth(True, (GOOD, BAD))
    with (
        serve_service_probes(address, lambda: now, lambda: EPOCH, print),
        httpx.Client(base_url=f"http://{address}") as client,
    ):
        assert client.get("/livez").status_code == 200
        unready = client.get("/readyz")
        assert (unready.status_code, unready.text) == (503, f"not ready\napi space a: failed since {AT} (2 runs)\n")
        assert "syncd_ready 0.0\n" in client.get("/metrics?now").text
        assert client.get("/").status_code == 404
        now = ServiceHealth(True, (GOOD,))
        assert (client.get("/livez").status_code, client.get("/readyz").status_code) == (200, 200)
        assert "syncd_ready 1.0\n" in client.get("/metrics").text
        now = ServiceHealth(False, (GOOD,))
        assert (client.get("/livez").status_code, client.get("/readyz").status_code) == (503, 503)
        assert "syncd_up 0.0\n" in client.get("/metrics").text
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"http://{address}/livez")


def test_a_defect_is_answered_and_told(address: str) -> None:
    told: list[str] = []

    def health() -> ServiceHealth:
        raise ZeroDivisionError

    with (
        serve_service_probes(address, health, lambda: EPOCH, told.append),
        httpx.Client(base_url=f"http://{address}") as client,
    ):
        assert client.get("/metrics").status_code == 500
        assert client.get("/readyz").status_code == 500
    assert ["ZeroDivisionError" in text for text in told] == [True, True]


PROMETHEUS = (
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
    "application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
    "text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
)
"""What Prometheus 3 sends."""


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("", TEXT_TYPE),
        ("*/*", TEXT_TYPE),
        (PROMETHEUS, OPENMETRICS_TYPE),
        ("application/openmetrics-text", OPENMETRICS_TYPE),
        ("text/plain, application/openmetrics-text;q=0.5", TEXT_TYPE),
        ("text/plain;q=0.5, Application/OpenMetrics-Text ; Version=1.0.0 ; q=0.9", OPENMETRICS_TYPE),
        ("application/openmetrics-text;q=0", TEXT_TYPE),
        ("application/openmetrics-text;version=0.0.1", TEXT_TYPE),
        ("application/openmetrics-text;version=9.9.9", TEXT_TYPE),
        ("application/openmetrics-text;version=abc;q=nan", TEXT_TYPE),
        ("application/openmetrics-text;q=1e5", TEXT_TYPE),
        (";;;=,,;q=,\x00", TEXT_TYPE),
    ],
)
def test_a_reader_gets_the_format_that_it_asks_for(accept: str, kind: str) -> None:
    assert choose_type(accept) == kind


def test_openmetrics_says_the_same_as_the_text(git_dir: Path) -> None:
    health = ServiceHealth(
        True,
        (replace(GOOD, counts=read_counts(git_dir / STATE_FILE)), BAD),
        webhooks={("forge", 202): 3},
        notifications={("team", "sent"): 2},
        pending_notifications={"team": 1},
    )
    text = render_metrics(health, EPOCH, OPENMETRICS_TYPE)
    assert text.endswith("# EOF\n")

    def read(families: Iterable[Metric]) -> dict[tuple[str, str], float]:
        return {
            (sample.name, str(sorted(sample.labels.items()))): sample.value
            for family in families
            for sample in family.samples
            if sample.name.startswith("syncd_")
        }

    found = read(openmetrics.text_string_to_metric_families(text))  # type: ignore[no-untyped-call]
    assert found == read(text_string_to_metric_families(render_metrics(health, EPOCH)))
    assert found[("syncd_webhooks_total", "[('source', 'forge'), ('status', '202')]")] == 3


def test_the_format_is_chosen_over_http(address: str) -> None:
    health = ServiceHealth(True, (GOOD,))
    with (
        serve_service_probes(address, lambda: health, lambda: EPOCH, print),
        httpx.Client(base_url=f"http://{address}") as client,
    ):
        answer = client.get("/metrics", headers={"Accept": PROMETHEUS})
        assert answer.headers["content-type"] == OPENMETRICS_TYPE
        assert answer.headers["vary"] == "Accept"
        assert answer.text.endswith("# EOF\n")
        plain = client.get("/metrics")
        assert plain.headers["content-type"] == TEXT_TYPE
        assert "# EOF" not in plain.text


@pytest.mark.parametrize("address", ["9470", "somewhere:9470", "127.0.0.1:high", "127.0.0.1:99999"])
def test_an_address_that_is_none_is_a_mistake_of_the_configuration(address: str) -> None:
    with (
        pytest.raises(ConfigInvalid),
        serve_service_probes(address, lambda: ServiceHealth(True, ()), lambda: EPOCH, print),
    ):
        raise AssertionError("nothing listens")
