"""What the results of a run come to: one record for each subject, and the outcome that decides when the next run is."""

import ast
import inspect
from collections.abc import Sequence

import pytest

from syncd.daemon.records import Subject, is_complete_run, judge_run, summarize_run
from syncd.store.runs import RunRecord
from syncd.sync.outcome import Applied, Held, Outcome, Unchanged, Waiting
from syncd.sync.run import cycle
from syncd.sync.run.values import RUN, SUBJECTS_OF_FLOWS, Result

SUBJECTS = (Subject("space", "api"), Subject("space", "guides"), Subject("site"), Subject("upstream", "origin"))
EARLIER, NOW, LATER = "2026-05-01T10:00:00+00:00", "2026-05-01T11:00:00+00:00", "2026-05-01T12:00:00+00:00"
GOOD = [
    Result("upstream", "fetch origin", Unchanged()),
    Result("mirror", "api", Unchanged()),
    Result("mirror", "guides", Applied(())),
    Result("integrate", "main", Unchanged()),
    Result("propose", "api/main", Waiting("people take their time", exit_code=0)),
    Result("propose", "guides/main", Unchanged()),
    Result("site", "site.yaml", Unchanged()),
    Result("upstream", "push origin/main", Unchanged()),
    Result("import", "guides/main", Unchanged()),
]
NOT_FOUND = Held("GET /spaces/x: not found", "check the id", exit_code=78)
CONFLICT = Result("conflict", "guides/use.md", Held("both sides changed it", exit_code=6))


def judged(results: Sequence[Result], former: Sequence[RunRecord] = (), at: str = NOW) -> dict[str, RunRecord]:
    records = judge_run(results, former, SUBJECTS, name="docs", at=at)
    assert records[0].kind == "repository"
    return {f"{record.kind} {record.name}".strip(): record for record in records}


def with_result(flow: str, key: str, outcome: Outcome) -> list[Result]:
    """The results of a good run, one of them replaced."""
    return [Result(flow, key, outcome) if (one.flow, one.key) == (flow, key) else one for one in GOOD]


def test_a_good_run_is_a_success_of_everything() -> None:
    records = judged(GOOD)
    assert list(records) == ["repository docs", "space api", "space guides", "site", "upstream origin"]
    for record in records.values():
        assert (record.state, record.exit_code, record.at, record.succeeded) == ("ok", 0, NOW, NOW)
        assert (record.since, record.failures, record.why) == ("", 0, "")


@pytest.mark.parametrize(
    ("flow", "key", "subject"),
    [
        ("mirror", "api", "space api"),
        ("propose", "guides/main", "space guides"),
        ("import", "guides/main", "space guides"),
        ("site", "site.yaml", "site"),
        ("upstream", "push origin/main", "upstream origin"),
    ],
)
def test_what_is_wrong_with_one_is_a_failure_of_that_one_and_of_the_whole(flow: str, key: str, subject: str) -> None:
    former = judge_run(GOOD, (), SUBJECTS, name="docs", at=EARLIER)
    records = judged(with_result(flow, key, NOT_FOUND), former)
    whole, one = records.pop("repository docs"), records.pop(subject)
    assert (one.state, one.exit_code, one.why, one.hint) == ("failed", 78, NOT_FOUND.why, NOT_FOUND.hint)
    assert (one.at, one.succeeded, one.since, one.failures) == (NOW, EARLIER, NOW, 1)
    assert (whole.state, whole.exit_code, whole.succeeded, whole.failures) == ("partial", 4, EARLIER, 1)
    assert whole.why == f"{flow} {key}: {NOT_FOUND.why}"
    assert {(record.state, record.succeeded) for record in records.values()} == {("ok", NOW)}


def test_every_flow_of_a_run_has_a_subject() -> None:
    calls = [node for node in ast.walk(ast.parse(inspect.getsource(cycle))) if isinstance(node, ast.Call)]
    starts = ("Result", "self._run_flow", "self._run_steps", "self._run_on_main")
    words = [word for call in calls if ast.unparse(call.func) in starts for word in ast.walk(call.args[0])]
    flows = {word.value for word in words if isinstance(word, ast.Constant)}
    flows |= {getattr(cycle, word.id) for word in words if isinstance(word, ast.Name) and word.id.isupper()}
    assert flows == set(SUBJECTS_OF_FLOWS)


@pytest.mark.parametrize(
    ("outcome", "state"),
    [
        (Waiting("no answer", exit_code=69), "waiting"),
        (Waiting("no space is left", exit_code=1), "waiting"),
        (Held("one side is empty"), "held"),
        (Held("the lines of main are in conflict", exit_code=6), "held"),
        (Held("the token is refused", exit_code=77), "failed"),
        (Held("git rev-list: fatal", exit_code=1), "failed"),
    ],
)
def test_a_run_that_ended_before_its_time_failed_for_all_that_it_did_not_get_to(outcome: Outcome, state: str) -> None:
    former = judge_run(GOOD, (), SUBJECTS, name="docs", at=EARLIER)
    for number, at in enumerate((NOW, LATER), start=1):
        records = judge_run([Result(RUN, "", outcome)], former, SUBJECTS, name="docs", at=at)
        for record in records:
            assert (record.state, record.exit_code, record.failures) == (state, outcome.exit_code, number)
            assert (record.at, record.succeeded, record.since) == (at, EARLIER, NOW)
        assert isinstance(outcome, Held | Waiting)
        assert records[0].why == outcome.why
        former = records


def test_pages_in_conflict_and_a_plan_that_waits_are_counted_and_are_no_failure() -> None:
    other = Result("conflict", "guides/other.md", Held("both sides changed it", exit_code=6))
    in_both_branches = [CONFLICT, CONFLICT, other]
    whole = judged([*GOOD, *in_both_branches])["repository docs"]
    assert (whole.state, whole.exit_code, whole.conflicts, whole.held) == ("conflict", 6, 2, 0)
    assert (whole.succeeded, whole.failures, whole.why) == (NOW, 0, "2 pages wait for a person")
    records = judged(with_result("site", "site.yaml", Held("plan 3f9a waits for approval", approval=True)))
    assert (records["site"].state, records["site"].exit_code, records["site"].succeeded) == ("approval", 5, NOW)
    assert (records["repository docs"].state, records["repository docs"].held) == ("approval", 0)
    by_hand = Held("group:more has to be dragged", exit_code=4, manual=True)
    record = judged(with_result("site", "site.yaml", by_hand))["site"]
    assert (record.state, record.exit_code, record.succeeded, record.why) == ("manual", 4, NOW, by_hand.why)


def test_a_held_flow_is_counted() -> None:
    results = [Result("integrate", "main", Held("an uncommitted edit")), *GOOD[4:], CONFLICT]
    whole = judged(results)["repository docs"]
    assert (whole.state, whole.held, whole.conflicts, whole.exit_code) == ("partial", 1, 1, 4)


def test_what_a_run_was_not_asked_for_keeps_its_record_and_what_is_configured_no_more_goes() -> None:
    former = judged(with_result("site", "site.yaml", NOT_FOUND), at=EARLIER)
    gone = RunRecord("space", "gone", "ok", at=EARLIER, succeeded=EARLIER)
    records = judged([one for one in GOOD if one.flow != "site"], [*former.values(), gone])
    assert records["site"] == former["site"]
    assert "space gone" not in records


def test_a_repository_that_got_another_name_keeps_its_history() -> None:
    former = judge_run(GOOD, (), SUBJECTS, name="former", at=EARLIER)
    whole = judged([Result(RUN, "", NOT_FOUND)], former)["repository docs"]
    assert (whole.succeeded, whole.since) == (EARLIER, NOW)


@pytest.mark.parametrize(
    ("results", "answer"),
    [
        ([Result(RUN, "", Waiting("another syncd works", exit_code=7))], False),
        ([*GOOD[:2], Result("mirror", "guides", Held("asked to stop", exit_code=143))], False),
        ([Result(RUN, "", NOT_FOUND)], True),
        (GOOD, True),
        ([], True),
    ],
)
def test_a_run_that_did_not_begin_or_was_stopped_is_none(results: list[Result], answer: bool) -> None:
    assert is_complete_run(results) is answer


def test_what_is_wrong_with_one_space_makes_no_other_wait() -> None:
    results = with_result("mirror", "api", Held("not allowed", exit_code=77))
    assert summarize_run(results) == Held("not allowed", exit_code=4)
    results = with_result("mirror", "api", Waiting("the platform failed", exit_code=69))
    assert summarize_run(results) == Held("the platform failed", exit_code=4)


def test_a_time_that_the_platform_named_is_kept_whatever_else_there_is() -> None:
    limited = Waiting("the limit is reached", until=5.0)
    assert summarize_run(with_result("mirror", "guides", limited)) == limited


def test_where_nothing_got_through_a_failure_that_passes_decides() -> None:
    waiting, held = Waiting("no answer", exit_code=69), Held("a mistake", exit_code=65)
    assert summarize_run([Result("mirror", "api", held), Result("mirror", "guides", waiting)]) == waiting
    assert summarize_run([Result("mirror", "api", held)]) == held
    assert isinstance(summarize_run(GOOD), Unchanged)
