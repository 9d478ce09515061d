"""What the commonest situations look like on terminals of several widths, with golden files; no platform is needed."""

import io
import os
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from syncd.cli.service.run_status import RunStatus, find_run
from syncd.cli.status.next_command import suggest_command
from syncd.cli.status.text import format_status
from syncd.cli.status.values import (
    BranchStatus,
    BrokenStatus,
    PlanStatus,
    RepositoryStatus,
    RequestStatus,
    SiteStatus,
    SpaceStatus,
)
from syncd.cli.sync.unsent import BranchWork
from syncd.cli.terminal.text import print_text
from syncd.store.runs import COMMAND_RUNS, RunRecord, write_runs
from syncd.store.status import FlowOutcome
from syncd.sync.binding import Binding
from syncd.sync.state.request_state import RequestState, Verdict
from syncd.sync.state.unsent import SentRequest, Unsent

GOLDEN = Path(__file__).parents[2] / "golden" / "status"
AT = "2026-11-21T14:02:11+00:00"
ADDRESS = "https://app.example.com/o/Tv2xHdz9SpCoCEPixh2x/s/pMY0G6Cg62sGw8hhtCqq/~/changes/12"
BINDING = Binding("pMY0G6Cg62sGw8hhtCqq", "guides", "guides")
GOOD = RunStatus("command", RunRecord("repository", "", "ok", at=AT, succeeded=AT), is_recent=True)
IN_STEP = RepositoryStatus(
    path="/home/ann/docs",
    daemon=None,
    branches=(BranchStatus("main", 0, 0),),
    spaces=(SpaceStatus("guides", BINDING.space, "guides", "dBPskkctAJsyBTAVcHyy", False, ()),),
    former=(),
    outcomes=(),
    works=(BranchWork("main", (Unsent(BINDING),)),),
    current="main",
    work_tree="/home/ann/docs",
    run=GOOD,
)
SENT = SentRequest(12, ADDRESS, "30b036b7c27d1d0353aea7ee040820d1641e5aaa")
ASKED = RequestState(ADDRESS, "open", "Say it better", has_reviews=True, requested=("Bob Brown", "Editors"))
PROPOSED = replace(
    IN_STEP,
    branches=(BranchStatus("main", 2, 0),),
    works=(BranchWork("main", (Unsent(BINDING, ("guides/use.md",), request=SENT, is_sent=True),)),),
    requests=(RequestStatus("guides", 12, "main", True, ASKED),),
)
APPROVED = replace(
    ASKED,
    comments=2,
    is_outdated=True,
    verdicts=(Verdict("Bob Brown", "approved", True, AT), Verdict("Cleo", "changes-requested", False, AT)),
)
WHY = "both sides changed the same lines (main and platform/main); it stays as each side has it"
CONFLICT = FlowOutcome(
    "conflict",
    "guides/getting-started/webhooks.md",
    "held",
    f"{WHY} (syncd resolve guides/getting-started/webhooks.md, with --ours, --theirs or --edit)",
    AT,
    WHY,
    "syncd resolve guides/getting-started/webhooks.md, with --ours, --theirs or --edit",
    "syncd resolve guides/getting-started/webhooks.md",
    "main",
    "platform/main",
)
REFUSED = RunRecord(
    "repository", "", "failed", 69, "mirror guides: https://api.example.com: connection refused", "syncd doctor",
    at=AT, succeeded="2026-11-20T09:00:00+00:00", since="2026-11-21T12:00:00+00:00", failures=7,
)  # fmt: skip
UNDECIDED = "init guides: 3 files are only in Git, 12 are only on the platform, and 5 differ"
HELD = RunRecord("repository", "", "held", 5, UNDECIDED, "syncd init", at=AT, since=AT, failures=1)
SITUATIONS: dict[str, RepositoryStatus | BrokenStatus] = {
    "in-step": IN_STEP,
    "edited": replace(
        IN_STEP,
        branches=(BranchStatus("main", 1, 0),),
        works=(
            BranchWork(
                "main",
                (Unsent(BINDING, ("guides/use.md",), ("guides/draft.md",)),),
                {"guides/a page with spaces.md": "edited", "guides/install.md": "edited"},
            ),
        ),
    ),
    "proposed": PROPOSED,
    "reviewed": replace(PROPOSED, requests=(RequestStatus("guides", 12, "main", True, APPROVED),)),
    "conflict": replace(PROPOSED, branches=(BranchStatus("main", 2, 1),), outcomes=(CONFLICT,)),
    "platform-down": replace(
        IN_STEP,
        daemon=812,
        run=RunStatus("service", REFUSED, is_recent=True, mirrored="2026-11-20T09:00:00+00:00"),
        outcomes=(FlowOutcome("mirror", "guides", "waiting", "https://api.example.com: connection refused", AT),),
    ),
    "site": replace(
        IN_STEP,
        daemon=812,
        plans=(PlanStatus("7f3a00c1d2e4", "site_kvXZm", "site.yaml", AT, "", ("redirects: 44 deletes of 214",)),),
        sites=(
            SiteStatus(
                "site.yaml",
                "site_kvXZm",
                AT,
                {
                    "owned": {"redirects": 214, "structure": 6},
                    "unmanaged": {},
                    "drifted": {"structure": 1},
                    "blocked": {},
                },
            ),
        ),
    ),
    "detached": replace(IN_STEP, current="", detached="30b036b7c2"),
    "rebase": replace(PROPOSED, current="", detached="30b036b7c2", operation="rebase"),
    "undecided": replace(
        IN_STEP,
        spaces=(SpaceStatus("guides", BINDING.space, "guides", "dBPskkctAJsyBTAVcHyy", True, ()),),
        run=RunStatus("command", HELD, is_recent=True),
    ),
    "job": replace(IN_STEP, current="", detached="30b036b7c2", run=RunStatus(), is_job=True),
    "broken": BrokenStatus("/home/ann/docs", "no such directory", "name the repository", 1, GOOD),
}


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def show(situation: str, width: int, monkeypatch: pytest.MonkeyPatch, *, has_colour: bool = False) -> str:
    """Return what a terminal of some width shows of a situation."""
    terminal = Terminal()
    for name in ("NO_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", str(width))
    if not has_colour:
        monkeypatch.setenv("NO_COLOR", "1")
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", terminal)
        print_text("\n".join(format_status(SITUATIONS[situation], start="/home/ann/docs")))
    return terminal.getvalue()


@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize("width", [60, 80, 200])
def test_a_situation_looks_as_agreed(situation: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    file, text = GOLDEN / f"{situation}-{width}.txt", show(situation, width, monkeypatch)
    if os.environ.get("GOLDEN") == "write":
        file.write_text(text)
    assert text == file.read_text()


@pytest.mark.parametrize("situation", SITUATIONS)
def test_every_width_shows_the_same_words_and_breaks_none(situation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = show(situation, 1000, monkeypatch).split()
    for width in range(60, 201, 7):
        text = show(situation, width, monkeypatch)
        assert text.split() == whole
        for line in text.splitlines():
            assert len(line) <= width or len(line.split()) == 1, line


@pytest.mark.parametrize("situation", SITUATIONS)
def test_colour_says_nothing_that_words_do_not(situation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    coloured = show(situation, 80, monkeypatch, has_colour=True)
    assert "\x1b[" in coloured or situation == "broken"
    assert re.sub(r"\x1b\[\d*m", "", coloured) == show(situation, 80, monkeypatch)


def test_each_situation_has_one_next_command() -> None:
    found = {
        name: suggest_command(status, start="/home/ann/docs/guides")
        for name, status in SITUATIONS.items()
        if isinstance(status, RepositoryStatus)
    }
    assert found == {
        "in-step": "",
        "edited": "syncd push",
        "proposed": "syncd review",
        "reviewed": "syncd push",
        "conflict": "syncd resolve guides/getting-started/webhooks.md",
        "platform-down": "syncd doctor",
        "site": "syncd site pending 7f3a00c1d2e4",
        "detached": "git switch main",
        "rebase": "git status",
        "undecided": "syncd init",
        "job": "syncd push --ci --dry-run",
    }


def test_the_mirror_is_as_old_as_its_spaces_whatever_else_failed(tmp_path: Path) -> None:
    early, late = "2026-11-21T11:00:00+00:00", "2026-11-21T14:00:00+00:00"
    spaces = [RunRecord("space", name, "ok", at=AT, succeeded=at) for name, at in (("guides", late), ("api", early))]
    write_runs(tmp_path / COMMAND_RUNS, [REFUSED, *spaces, RunRecord("site", "site.yaml", "failed", 78, at=AT)])
    run = find_run(tmp_path, tmp_path, interval=60, has_service=False, now=0)
    text = "\n".join(format_status(replace(IN_STEP, run=run), start="."))
    assert "the same as main content of 2026-11-21 11:00:00 UTC" in text
    assert "last success 2026-11-20 09:00:00 UTC" in text


def test_a_file_that_ended_the_last_run_is_looked_at_unless_a_hint_says_more() -> None:
    why = "propose guides/main: SUMMARY.md:5:3: is not of the form `[title](address)`"
    record = RunRecord("repository", "", "failed", 65, why, at=AT, since=AT, failures=1)
    failed = replace(IN_STEP, run=replace(GOOD, record=record))
    assert suggest_command(failed, start="/") == "syncd check"
    site = replace(record, hint="all of them: syncd site validate")
    assert suggest_command(replace(failed, run=replace(GOOD, record=site)), start="/") == ""


def test_paths_of_a_command_are_relative_and_quoted() -> None:
    work = BranchWork("main", (Unsent(BINDING),), {"guides/a page with spaces.md": "edited", "guides/use.md": "edited"})
    status = replace(IN_STEP, works=(work,))
    assert (
        suggest_command(status, start="/home/ann/docs/guides") == "git add 'a page with spaces.md' use.md && git commit"
    )


def test_git_is_asked_to_add_nothing_that_is_gone() -> None:
    """`git add` refuses a path whose deletion is staged already, as of a page that was moved."""
    moved = BranchWork("main", (), {"new.md": "edited", "old.md": "deleted"})
    assert suggest_command(replace(IN_STEP, works=(moved,)), start="/home/ann/docs") == "git add new.md && git commit"


def test_the_way_out_of_what_git_is_in_the_middle_of() -> None:
    for operation, way_out in (("rebase", "git rebase --abort"), ("bisect", "git bisect reset")):
        lines = format_status(replace(IN_STEP, operation=operation), start="/")
        assert any(line.endswith(f"finish it, or {way_out}") for line in lines)


def test_the_next_command_uses_the_configuration_that_was_named() -> None:
    behind = replace(IN_STEP, branches=(BranchStatus("main", 0, 1),), config="team docs/config.toml")
    assert suggest_command(behind, start="/") == "syncd pull --config 'team docs/config.toml'"
    edited = replace(behind, branches=(), works=(BranchWork("main", uncommitted={"use.md": "edited"}),))
    assert suggest_command(edited, start="/home/ann/docs").startswith("git add "), "which knows no such option"


def test_a_job_in_ci_is_not_told_to_move_branches() -> None:
    checkout = replace(IN_STEP, current="", detached="37677d2709", run=RunStatus(), is_job=True)
    assert suggest_command(checkout, start=".") == "syncd push --ci --dry-run"
    assert "git switch" not in "\n".join(format_status(checkout, start="."))
    assert suggest_command(replace(checkout, is_job=False), start=".") == "syncd pull"


def test_a_conflict_of_another_branch_is_resolved_there() -> None:
    command = "syncd resolve 'a b.md' --branch topic"
    outcome = FlowOutcome("conflict", "a b.md", "held", WHY, AT, WHY, command=command, branch="topic")
    assert suggest_command(replace(IN_STEP, outcomes=(outcome,)), start="/") == command
    of_older_version = FlowOutcome("conflict", "a b.md", "held", WHY, AT)
    assert suggest_command(replace(IN_STEP, outcomes=(of_older_version,)), start="/") == "syncd resolve 'a b.md'"


def test_what_an_archived_change_request_holds_is_not_told() -> None:
    archived = RequestStatus("guides", 12, "main", False, replace(ASKED, status="archived"))
    said = "\n".join(format_status(replace(IN_STEP, requests=(archived,)), start="/"))
    assert "archived" in said
    assert "lacks" not in said


def test_a_push_is_suggested_for_the_newest_change_request_of_a_branch_alone() -> None:
    outdated = replace(ASKED, is_outdated=True)
    older, newer = (
        RequestStatus("guides", 12, "main", False, outdated),
        RequestStatus("guides", 13, "main", True, ASKED),
    )
    assert suggest_command(replace(IN_STEP, requests=(older, newer)), start="/") == "syncd review"
    both = (older, replace(newer, state=outdated))
    assert suggest_command(replace(IN_STEP, requests=both), start="/") == "syncd push"


@pytest.mark.parametrize(
    ("state", "has_all", "awaited"),
    [
        (RequestState(), True, ""),
        (ASKED, True, "review"),
        (ASKED, False, "author"),
        (replace(ASKED, comments=1), True, "author"),
        (replace(ASKED, is_outdated=True), True, "author"),
        (replace(ASKED, verdicts=(Verdict("Bob", "approved", False, AT),)), True, "merge"),
        (replace(ASKED, verdicts=(Verdict("Bob", "approved", True, AT),)), True, "review"),
        (replace(ASKED, verdicts=(Verdict("Bob", "changes-requested", False, AT),)), True, "author"),
        (replace(ASKED, status="archived"), True, "reopening"),
        (replace(ASKED, status="merged"), True, "pull"),
    ],
)
def test_a_change_request_waits_for_somebody(state: RequestState, has_all: bool, awaited: str) -> None:
    request = RequestStatus("guides", 12, "main", has_all, state)
    assert request.next_step == awaited
    is_for_hands = has_all and state.status == "open" and not (state.is_outdated or request.objections)
    assert replace(request, is_commented=True).next_step == ("text" if is_for_hands else awaited)
