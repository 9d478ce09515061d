"""What a worker tells monitoring systems of itself."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from syncd.errors import ConfigInvalid
from syncd.fleet.metrics import WorkerHealth, list_measures, serve_worker_probes
from syncd.fleet.workers import WorkerCounts

COUNTS = WorkerCounts(running=2, runs=7, failed_runs=1, lost_leases=3, cached=4, cache_bytes=5000)
WELL = WorkerHealth(
    "w1",
    4,
    1.0,
    60.0,
    is_stopping=False,
    run_seconds=12.5,
    counts=COUNTS,
    outages=2,
    webhooks={("gitea", 202): 6},
    notifications={("team", "sent"): 8},
)


def ask(path: Path, read: Callable[[], WorkerHealth], at: str) -> httpx.Response:
    def fail(line: str) -> None:
        raise AssertionError(line)

    with (
        serve_worker_probes(f"unix:{path}", read, fail),
        httpx.Client(transport=httpx.HTTPTransport(uds=str(path)), base_url="http://localhost") as client,
    ):
        return client.get(at)


@pytest.mark.parametrize(
    ("health", "live", "ready"),
    [
        (WELL, (200, "alive\n"), (200, "ready\n")),
        (replace(WELL, is_stopping=True), (200, "alive\n"), (503, "not ready\nit ends\n")),
        (
            replace(WELL, is_cut_off=True),
            (200, "alive\n"),
            (503, "not ready\nthe database of the fleet does not answer\n"),
        ),
        (
            replace(WELL, noted_ago=61.0),
            (503, "no answer of the database for 61 s\n"),
            (503, "not ready\nno answer of the database for 61 s\n"),
        ),
    ],
)
def test_whether_it_is_alive_and_takes_work(
    tmp_path: Path, health: WorkerHealth, live: tuple[int, str], ready: tuple[int, str]
) -> None:
    for at, expected in (("/livez", live), ("/readyz", ready)):
        answer = ask(tmp_path / "socket", lambda: health, at)
        assert (answer.status_code, answer.text) == expected


def test_every_count_is_a_metric_with_the_name_of_the_worker(tmp_path: Path) -> None:
    lines = ask(tmp_path / "socket", lambda: WELL, "/metrics").text.splitlines()
    found = dict(line.rsplit(" ", 1) for line in lines if line.startswith("syncd_worker_"))
    values = {name.partition("{")[0].removeprefix("syncd_worker_"): float(value) for name, value in found.items()}
    assert found.pop('syncd_worker_webhooks_total{source="gitea",status="202",worker="w1"}') == "6.0"
    assert found.pop('syncd_worker_notifications_total{state="sent",target="team",worker="w1"}') == "8.0"
    del values["webhooks_total"], values["notifications_total"]
    assert all(name.endswith('{worker="w1"}') for name in found)
    assert values == {
        "up": 1,
        "ready": 1,
        "jobs": 4,
        "running": 2,
        "runs_total": 7,
        "failed_runs_total": 1,
        "outages_total": 2,
        "lost_leases_total": 3,
        "run_seconds_total": 12.5,
        "clones": 4,
        "clone_bytes": 5000,
    }
    assert len(list_measures(WELL)) == len(values) + 3


def test_another_path_is_not_found_and_no_address_listens_nowhere(tmp_path: Path) -> None:
    assert ask(tmp_path / "socket", lambda: WELL, "/").status_code == 404
    with serve_worker_probes("", lambda: WELL, lambda line: None):
        assert list(tmp_path.iterdir()) == []
    with pytest.raises(ConfigInvalid), serve_worker_probes("nowhere", lambda: WELL, lambda line: None):
        pass
