"""What began and what ended with a run."""

import json
from pathlib import Path

from syncd.daemon.notifications.incidents import IncidentChanges, find_changes
from syncd.store.incidents import Incident, IncidentRecord, Notification, read_incidents, write_incidents
from syncd.sync.outcome import Held, Outcome, Unchanged, Waiting
from syncd.sync.run.values import RUN, Result

AT, LATER = "2026-05-01T10:00:00+00:00", "2026-05-01T10:15:00+00:00"
CONFLICT = Result("conflict", "use.md", Held("both sides changed it", "syncd resolve use.md", exit_code=6))
HELD = Result("mirror", "guides", Held("the space became empty", exit_code=5))
REFUSED = Result("mirror", "api", Held("the token is refused", exit_code=77))
DOWN = Result("mirror", "guides", Waiting("no answer"))


def note(before: IncidentChanges, *results: Result, at: str = AT) -> IncidentChanges:
    return find_changes(before.incidents, results, at, lambda result: f"https://platform.example/{result.key}")


def names(incidents: tuple[Incident, ...]) -> list[tuple[str, str]]:
    return [(one.event, one.key) for one in incidents]


NOTHING = IncidentChanges(())


def good(flow: str, key: str) -> Result:
    outcome: Outcome = Unchanged()
    return Result(flow, key, outcome)


def test_each_begins_once_and_ends_once() -> None:
    first = note(NOTHING, CONFLICT, HELD, REFUSED)
    assert names(first.opened) == [("conflict", "use.md"), ("held", "guides"), ("failed", "api")]
    assert first.opened[0].address == "https://platform.example/use.md"
    again = note(first, CONFLICT, HELD, REFUSED, at=LATER)
    assert (again.opened, again.closed) == ((), ())
    assert again.incidents[0].since == AT
    over = note(again, good("mirror", "guides"), good("mirror", "api"))
    assert names(over.closed) == [("conflict", "use.md"), ("held", "guides"), ("failed", "api")]
    assert note(over, good("mirror", "guides")) == NOTHING


def test_a_run_that_failed_ends_only_what_it_shows_to_be_well() -> None:
    first = note(NOTHING, CONFLICT, HELD)
    ended_early = note(first, Result(RUN, "", Waiting("no answer")))
    assert not ended_early.closed
    partly = note(ended_early, good("mirror", "guides"), REFUSED)
    assert names(partly.closed) == [("held", "guides")]
    assert ("conflict", "use.md") in names(partly.incidents)


def test_what_may_end_by_itself_counts_after_a_quarter_of_an_hour() -> None:
    first = note(NOTHING, DOWN)
    assert not first.opened
    assert note(first, good("mirror", "guides")) == NOTHING
    still = note(first, DOWN, at=LATER)
    assert names(still.opened) == [("failed", "guides")]
    assert not note(still, DOWN, at=LATER).opened
    assert names(note(still, good("mirror", "guides")).closed) == [("failed", "guides")]


def test_what_failed_is_not_over_because_the_next_try_gets_no_answer() -> None:
    first = note(NOTHING, HELD)
    then = note(first, DOWN)
    assert (then.opened, then.closed) == ((), ())
    assert names(then.incidents) == [("held", "guides")]


def test_what_turns_into_another_event_is_told_anew() -> None:
    first = note(NOTHING, HELD)
    then = note(first, Result("mirror", "guides", Held("the token is refused", exit_code=77)))
    assert names(then.opened) == [("failed", "guides")]
    assert not then.closed


def test_an_approval_and_a_manual_step_wait_for_a_person() -> None:
    waits = Result("site", "site.yaml", Held("approve it", exit_code=2, approval=True))
    assert names(note(NOTHING, waits).opened) == [("held", "site.yaml")]


def test_a_record_outlives_a_restart_and_a_damaged_one_holds_nothing(tmp_path: Path) -> None:
    record = IncidentRecord(
        (Incident("conflict", "use.md", "conflict", "why", "hint", AT, ""),),
        (Notification("1", "team", "conflict", "docs", "title", ("a", "b"), AT),),
    )
    file = tmp_path / "incidents.json"
    write_incidents(file, record)
    assert read_incidents(file) == record
    document = json.loads(file.read_text())
    for one in (document, *document["incidents"], *document["pending"]):
        one["from_later"] = 1
    file.write_text(json.dumps(document))
    assert read_incidents(file) == record, "what a newer syncd added is passed over"
    whole = file.read_text()
    for damaged in (whole[:-5], whole.replace('"a"', "7"), whole.replace('"format": 1', '"format": 2'), "[]"):
        file.write_text(damaged)
        assert read_incidents(file) == IncidentRecord()
    assert read_incidents(tmp_path / "none") == IncidentRecord()
