"""Metrics and health: what a monitoring system reads of the service, over HTTP."""

import json
import socket
from pathlib import Path

import httpx
import pytest

from syncd.daemon.locks import STATE
from syncd.daemon.metrics import Health, exposition, listening
from syncd.errors import ConfigInvalid
from syncd.store.glance import Look, Outcome, Pending
from syncd.store.store import Store

FACTS = {"owned": {"redirects": 3}, "unmanaged": {}, "drifted": {"structure": 1}, "blocked": {}}


@pytest.fixture
def git_dir(tmp_path: Path) -> Path:
    """A repository's git directory in which a site has a plan that waits and one part that drifted."""
    with Store(tmp_path / STATE) as store:
        store.plans.hold(Pending("site_1", "3f9a0c12be77", "site.yaml", "{}", "2026-05-01T10:00:00+00:00"))
        store.plans.looked(Look("site.yaml", "", json.dumps(FACTS), "2026-05-01T10:00:00+00:00"))
        store.record([Outcome("site", "site.yaml", "held", "", ""), Outcome("mirror", "docs", "unchanged", "", "")])
    return tmp_path


def free() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"127.0.0.1:{server.getsockname()[1]}"


def test_a_plan_that_waits_drift_and_outcomes_are_counted_without_names(git_dir: Path) -> None:
    text = exposition(Health(True, True, (git_dir, git_dir)))
    lines = text.splitlines()
    assert "syncd_plan_pending 2" in lines
    assert 'syncd_site_items{area="redirects",state="owned"} 6' in lines
    assert 'syncd_site_items{area="structure",state="drifted"} 2' in lines
    assert 'syncd_outcomes{flow="site",state="held"} 2' in lines
    assert "syncd_site_look_timestamp_seconds 1777629600.0" in lines
    assert "site_1" not in text
    assert "site.yaml" not in text
    kinds = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert len(kinds) == len(set(kinds)), "a metric is declared once"


def test_a_plan_that_was_approved_waits_no_more(git_dir: Path) -> None:
    with Store(git_dir / STATE) as store:
        (plan,) = store.plans.held()
        store.plans.approve(plan, at="2026-05-01T11:00:00+00:00", comment="")
    assert "syncd_plan_pending 0" in exposition(Health(True, True, (git_dir,))).splitlines()


def test_the_three_questions_are_answered_and_no_other(git_dir: Path) -> None:
    now = Health(alive=True, ready=False, repositories=(git_dir,))
    address = free()
    with listening(address, lambda: now), httpx.Client(base_url=f"http://{address}") as client:
        assert client.get("/livez").status_code == 200
        assert client.get("/readyz").status_code == 503
        assert "syncd_ready 0\n" in client.get("/metrics?now").text
        assert client.get("/").status_code == 404
        now = Health(alive=False, ready=True, repositories=())
        assert (client.get("/livez").status_code, client.get("/readyz").status_code) == (503, 200)
        assert "syncd_up 0\n" in client.get("/metrics").text
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"http://{address}/livez")


@pytest.mark.parametrize("address", ["9470", "somewhere:9470", "127.0.0.1:high", "127.0.0.1:99999"])
def test_an_address_that_is_none_is_a_mistake_of_the_configuration(address: str) -> None:
    with pytest.raises(ConfigInvalid), listening(address, lambda: Health(True, True, ())):
        raise AssertionError("nothing listens")
