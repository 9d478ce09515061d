"""Each alert of the manual fires when what it is for happens to a service, and none while all is well."""

import shutil
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from syncd.daemon.health import RepositoryHealth, ServiceHealth
from syncd.daemon.metrics import render_metrics
from syncd.model.site import SiteSectionUpdate
from syncd.store.pauses import PauseRecord
from syncd.store.runs import RunRecord
from tests.checkouts import plant
from tests.cli.service.alerts import find_firing, read_alerts, read_waits
from tests.cli.service.service import Service, Two, serve_platform
from tests.cli.service.test_cli_daemon import soon
from tests.cli.sites.site_clone import SiteClone, create_sites
from tests.cli.sites.test_cli_site_daemon import BOTH, GUIDES, PRUNED

AT = "2026-05-01T10:00:00+00:00"
TESTED = {
    "SyncdDown",
    "SyncdDoesNothing",
    "SyncdNotReady",
    "SyncdNeedsAPerson",
    "SyncdPaused",
    "SyncdPlanWaits",
    "SyncdSiteDrifted",
}


def firing(service: Service, *, later: float = 0) -> dict[str, set[str]]:
    return find_firing(service.ask("/metrics").text, time.time() + later)


@pytest.fixture
def at(shell: Any, capsys: pytest.CaptureFixture[str]) -> Iterator[SiteClone]:
    with create_sites(shell, capsys) as each:
        yield each


def test_each_alert_of_the_manual_is_here() -> None:
    assert set(read_alerts()) == TESTED


def test_the_first_run_after_a_pause_gets_its_time() -> None:
    """Until it is over, the last success is as long ago as the pause was."""
    assert all(read_waits().values())


def test_a_service_that_ended_or_hangs_is_down() -> None:
    assert find_firing("", 0) == {"SyncdDown": set()}
    runs = (RunRecord("repository", "docs", "ok", at=AT, succeeded=AT),)
    hanging = ServiceHealth(False, (RepositoryHealth("docs", 60, runs, has_run=True),))
    assert {"SyncdDown", "SyncdNotReady"} <= find_firing(render_metrics(hanging, 0), 0).keys()


def test_a_pause_alone_fires_once_and_not_for_what_was_not_done_meanwhile() -> None:
    runs = (RunRecord("repository", "docs", "ok", at=AT, succeeded=AT),)
    paused = RepositoryHealth("docs", 60, runs, has_run=True, pause=PauseRecord(True, AT))
    late = datetime.fromisoformat(AT).timestamp() + 7200
    health = ServiceHealth(True, (paused, replace(paused, name="other", pause=None)))
    fired = find_firing(render_metrics(health, late), late)
    assert fired["SyncdPaused"] == {"docs"}
    assert fired["SyncdDoesNothing"] == {"other repository docs"}


def test_a_repository_in_which_nothing_works_does_nothing_and_makes_not_ready(two: Two) -> None:
    """It never worked; what worked once is named as soon as that is half an hour ago."""
    two.docs.rename(two.shell.root / "away")
    with serve_platform(two) as service:
        service.hear("^ready")
        broken = {"docs repository docs", "docs space main"}
        assert firing(service) == {"SyncdDoesNothing": broken, "SyncdNotReady": set()}
        others = {"other repository other", "other space main"}
        assert firing(service, later=1801)["SyncdDoesNothing"] == broken | others
        (two.shell.root / "away").rename(two.docs)
        service.run_again("^docs: works again")
        assert firing(service) == {}


def test_what_both_sides_changed_and_what_nobody_has_decided_needs_a_person(two: Two) -> None:
    (two.other / "use.md").write_text("# Use\n\nOurs.\n")
    two.shell.git("commit", "--quiet", "--all", "--message", "Edit", cwd=two.other)
    two.edit("other", "Theirs")
    shutil.rmtree(two.docs)
    two.shell.git("init", "--quiet", "--initial-branch=main", str(two.docs), cwd=two.shell.root)
    plant(two.docs, {"README.md": "# Home\n\nOurs.\n"})
    two.shell.git("add", "README.md", cwd=two.docs)
    two.shell.git("commit", "--quiet", "--message", "Begin", cwd=two.docs)
    with serve_platform(two) as service:
        service.hear("^ready")
        undecided = {"docs repository docs", "docs space main"}
        assert firing(service) == {
            "SyncdNeedsAPerson": {"docs", "other"},
            "SyncdDoesNothing": undecided,
            "SyncdNotReady": set(),
        }


def test_a_plan_that_waits_and_what_somebody_changed_on_a_site_are_named(at: SiteClone) -> None:
    at.write(BOTH)
    at("site", "apply", "--yes")
    here = at.organization, at.site
    (guides,) = [one.id for one in at.client.sections.list(*here) if one.path == "guides"]
    at.client.sections.update(*here, guides, SiteSectionUpdate(title="Theirs"))
    at.write(PRUNED + GUIDES)
    at.configure("every = 1\n")
    service = Service(at.shell, at.docs / ".git" / "syncd.toml", {})
    try:
        service.hear("^ready")
        assert soon(lambda: {"SyncdPlanWaits", "SyncdSiteDrifted"} <= firing(service).keys())
        assert firing(service)["SyncdSiteDrifted"] == {"structure"}
    finally:
        service.process.terminate()
        service.process.wait()
