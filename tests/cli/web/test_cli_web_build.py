"""What the status page is told of repositories: problems in their order, rows, plans, and what an approval does."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from syncd.cli.service.run_status import RunStatus
from syncd.cli.status.values import (
    BranchStatus,
    BrokenStatus,
    PlanStatus,
    RepositoryStatus,
    RequestStatus,
    SiteStatus,
    SpaceStatus,
)
from syncd.cli.web.build import build_row, list_problems
from syncd.cli.web.reader import PageReader
from syncd.config import Config
from syncd.daemon.health import RepositoryHealth, ServiceHealth
from syncd.daemon.locks import STATE_FILE, WAKE_FILE
from syncd.daemon.page.request_log import RequestLog
from syncd.errors import StalePlan
from syncd.store.pauses import PauseRecord
from syncd.store.runs import RunRecord
from syncd.store.status import FlowOutcome, PendingPlan
from syncd.store.store import Store
from syncd.sync.outcome import CONFLICT, PAGE
from syncd.sync.state.request_state import RequestState, Verdict
from tests.web.status.samples import AT, NOW

GOOD = RepositoryHealth("docs", 60, (RunRecord("repository", "docs", "ok", at=AT, succeeded=AT),), has_run=True)
BAD = RepositoryHealth(
    "docs",
    60,
    (
        RunRecord("repository", "docs", "partial", 4, "mirror a: it answered 403", "", AT, "", AT, 2),
        RunRecord("space", "a", "failed", 77, "it answered 403", "syncd doctor says more", AT, "", AT, 2),
    ),
    has_run=True,
)
PLAN = PlanStatus("3f9a0c12be77", "site_1", "site.yaml", AT, "", ("redirects: 12 would be deleted",))
OBJECTION = Verdict("Ada", "changes-requested", True, AT)
REQUEST = RequestState("https://example.org/12", "open", "Explain", True, 2, True, (OBJECTION,), ("Bo",))
CHECK = "syncd check a/odd.md"
BOTH = "both changed it (main and platform/main) (syncd resolve a/use.md)"
COUNTS = {"owned": {"redirects": 3}, "unmanaged": {}, "drifted": {"redirects": 1}, "blocked": {}}
STATUS = RepositoryStatus(
    path="/srv/docs",
    daemon=1,
    branches=(BranchStatus("main", 3, 1),),
    spaces=(SpaceStatus("a", "space1", "a", "r7", False, ("#12 main",)), SpaceStatus("b", "space2", "b", "", True, ())),
    former=(),
    outcomes=(
        FlowOutcome(CONFLICT, "a/use.md", "held", BOTH, AT, "both changed it", "syncd resolve a/use.md", branch="main"),
        FlowOutcome(PAGE, "a/odd.md", "held", f"no title ({CHECK})", AT, "no title", CHECK),
        FlowOutcome("mirror", "a", "waiting", "it answered 403", AT),
    ),
    plans=(PLAN,),
    sites=(SiteStatus("site.yaml", "site_1", AT, COUNTS),),
    requests=(RequestStatus("a", 12, "main", False, REQUEST),),
)


def list_words(health: RepositoryHealth, status: RepositoryStatus | BrokenStatus) -> list[tuple[str, str, str]]:
    service = ServiceHealth(True, (health,))
    found = list_problems(service, {"docs": status}, NOW)
    return [(problem.severity, problem.subject, problem.command) for problem in found]


def test_errors_come_first_then_what_waits_for_a_person() -> None:
    assert list_words(BAD, STATUS) == [
        ("error", "space a", "syncd doctor"),
        ("error", "a/odd.md", "syncd check a/odd.md"),
        ("decide", "a/use.md", "syncd resolve a/use.md"),
        ("decide", "plan 3f9a0c12be77 of site.yaml", "syncd site approve 3f9a0c12be77"),
        ("decide", "drift of site.yaml", "syncd site drift"),
        ("decide", "a #12", "syncd review"),
        ("decide", "space b", "syncd init"),
    ]


def test_a_plan_that_waits_is_told_once() -> None:
    for commands in ("syncd site", "syncd fleet"):
        plan = replace(PLAN, commands=commands)
        waits = FlowOutcome("site", "site.yaml", "held", "it waits", AT, command=plan.command)
        status = replace(STATUS, outcomes=(waits,), plans=(plan,), sites=(), requests=(), spaces=())
        assert list_words(GOOD, status) == [
            ("decide", "plan 3f9a0c12be77 of site.yaml", f"{commands} approve 3f9a0c12be77")
        ]


def test_a_space_with_a_page_in_conflict_is_not_ok() -> None:
    ran = replace(GOOD, runs=(*GOOD.runs, RunRecord("space", "a", "ok", at=AT, succeeded=AT)))
    assert [space.state for space in build_row(ran, STATUS).spaces] == ["conflict", "none yet"]
    assert build_row(ran, replace(STATUS, outcomes=())).spaces[0].state == "ok"


def test_what_the_service_alone_knows_is_a_problem_too() -> None:
    broken = BrokenStatus("/srv/docs", "it is gone", "clone it", 78, RunStatus())
    assert list_words(GOOD, broken) == [("error", "repository", "syncd doctor")]
    paused = RepositoryHealth("docs", 60, GOOD.runs, pause=PauseRecord(True, AT, ""), refusal="another runs")
    found = list_problems(ServiceHealth(False, (paused,)), {}, NOW)
    assert [problem.severity for problem in found] == ["error", "error", "notice"]
    late = list_problems(ServiceHealth(True, (GOOD,)), {}, NOW + 10_000)
    assert [problem.what for problem in late] == ["No run has ended for too long."]


def test_a_row_has_everything_of_its_repository() -> None:
    row = build_row(BAD, STATUS)
    first, second = row.spaces
    assert (row.state, row.branches[0].ahead, row.next_command) == ("partial", 3, "syncd resolve a/use.md")
    assert (first.state, first.hint, first.conflicts, first.requests, first.outdated) == (
        *("failed", "syncd doctor says more"),
        *(1, 1, 1),
    )
    assert (second.state, second.revision) == ("none yet", "")
    assert row.conflicts[0].page == "/conflict?repository=docs&path=a%2Fuse.md&branch=main"
    assert row.requests[0].reviews == ("Ada: changes requested before the last change", "Bo: was asked")
    assert (row.requests[0].awaits, row.requests[0].comments) == ("you", 2)
    assert (row.sites[0].drifted, row.sites[0].areas[0].owned) == (1, 3)
    assert build_row(RepositoryHealth("new", 60), None).state == "none yet"


@pytest.fixture
def reader(tmp_path: Path) -> PageReader:
    """Of a repository in which a plan waits."""
    subprocess.run(["git", "init", "-q", "-b", "main", tmp_path / "docs"], check=True)
    document = {
        "plan": {"gates": [{"scope": "redirects", "why": "12 would be deleted"}]},
        "text": [["title", "redirects"], ["delete", "- /old\u202e"], ["hint", "syncd site apply"]],
    }
    with Store(tmp_path / "docs" / ".git" / STATE_FILE) as store:
        store.plans.save_pending(PendingPlan("site_1", "3f9a0c12be77", "site.yaml", json.dumps(document), AT))
    repository = {
        "path": str(tmp_path / "docs"),
        "instance": "00000a",
        "space": [{"id": "space1", "name": "a", "directory": "a"}],
    }
    config = Config.model_validate({"platform": {"url": "https://example.org"}, "repository": [repository]})
    return PageReader(lambda: config, lambda: ServiceHealth(True, (GOOD,)), RequestLog())


def test_a_plan_is_shown_and_approved_by_its_whole_digest(reader: PageReader, tmp_path: Path) -> None:
    assert reader.read_plan("3f9a") is None
    plan = reader.read_plan("3f9a0c12be77")
    assert plan is not None
    assert plan.lines == (("title", "redirects"), ("delete", "- /old\\u202e"))
    assert plan.gates == (("redirects", "12 would be deleted"),)
    assert not plan.is_approved
    with pytest.raises(StalePlan):
        reader.approve_plan("3f9a", "")
    reader.approve_plan("3f9a0c12be77", "read it")
    assert (tmp_path / "docs" / ".git" / WAKE_FILE).exists()
    approved = reader.read_plan("3f9a0c12be77")
    assert approved is not None
    assert (approved.is_approved, approved.comment) == (True, "read it")


def test_a_repository_without_content_is_read_all_the_same(reader: PageReader) -> None:
    overview = reader.read_overview("v1")
    assert [row.name for row in overview.repositories] == ["docs"]
    assert [problem.subject for problem in overview.problems if problem.severity == "decide"] == [
        "plan 3f9a0c12be77 of site.yaml"
    ]
    assert reader.read_operations() == []
    assert reader.read_conflict("other", "a.md", "main") is None
