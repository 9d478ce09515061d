"""The log of the service: what has changed and nothing else, as text, as JSON and in the journal."""

import json
import os
import socket
from errno import ENOSPC
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import typer

from syncd.cli.service.log import LogEvent, LossyLog, choose_log, log_as_json, log_as_text, log_in_journal
from syncd.cli.service.run_log import RunLog
from syncd.daemon.service import SELF
from syncd.daemon.systemd import ERROR, INFO, NOTICE, WARNING, send_to_journal
from syncd.plan.change import Change
from syncd.sync.outcome import Applied, Held, Outcome, Unchanged, Waiting
from syncd.sync.run.values import RUN, Result

DOWN, REFUSED = Waiting("GET /spaces: no answer"), Held("the token is refused", "give another", exit_code=77)
PUBLISHED = Applied((Change("create", "commit", "main"),))
CONFLICT = Result("conflict", "use.md", Held("both sides changed it", exit_code=6))


def log_runs(*runs: list[Result] | Outcome, name: str = "docs") -> list[LogEvent]:
    events: list[LogEvent] = []
    log = RunLog(events.append)
    for run in runs:
        log.report(name, run if isinstance(run, list) else [Result("mirror", "guides", run)])
    return events


def first_lines(events: list[LogEvent]) -> list[str]:
    return [event.lines[0] for event in events]


def test_a_failure_is_logged_when_it_begins_when_it_changes_and_when_it_ends() -> None:
    events = log_runs(DOWN, DOWN, DOWN, REFUSED, REFUSED, Unchanged(), Unchanged(), DOWN)
    assert first_lines(events) == [
        "! mirror guides waiting: GET /spaces: no answer",
        "! mirror guides held: the token is refused",
        "works again, after 5 runs that failed",
        "! mirror guides waiting: GET /spaces: no answer",
    ]
    assert [event.priority for event in events] == [WARNING, ERROR, NOTICE, WARNING]
    assert events[1].lines[1:] == ("    give another",)
    assert events[1].fields == {"flow": "mirror", "state": "failed", "space": "guides"}


def test_runs_that_failed_under_a_former_service_count() -> None:
    events: list[LogEvent] = []
    recorded = iter((6, 0, 0))
    log = RunLog(events.append, count_failures=lambda name: next(recorded))
    for outcome in (DOWN, DOWN, Unchanged()):
        log.report("docs", [Result("mirror", "guides", outcome)])
    assert first_lines(events)[-1] == "works again, after 7 runs that failed", "another syncd kept one from beginning"


def test_how_often_it_was_tried_is_no_news() -> None:
    waits = (Waiting(f"no answer after {tries} tries in {tries} s", until=float(tries)) for tries in (5, 1, 2))
    assert len(log_runs(*waits)) == 1
    moments = (f"the rate limit is used up for 9 s, until 2026-05-01 10:00:{second} UTC" for second in (10, 19))
    assert len(log_runs(*map(Waiting, moments))) == 1
    assert len(log_runs(Waiting("503 from GET /spaces"), Waiting("500 from GET /spaces"))) == 2


def test_what_begins_while_something_else_fails_is_logged_alone() -> None:
    one, other = Result("mirror", "guides", DOWN), Result("mirror", "api", REFUSED)
    assert len(log_runs([one], [one, other], [other, one], [one])) == 2


def test_what_waits_for_a_person_is_not_forgotten_in_a_run_that_failed() -> None:
    failed = Result(RUN, "", DOWN)
    lines = first_lines(log_runs([CONFLICT], [failed], [CONFLICT], []))
    assert [line.partition(":")[0] for line in lines] == [
        "! conflict use.md held",
        "! run waiting",
        "works again, after 1 run that failed",
        "conflict use.md settled",
    ]


def test_what_is_done_is_logged_each_time() -> None:
    assert first_lines(log_runs(PUBLISHED, PUBLISHED)) == ["mirror guides", "mirror guides"]


def test_a_mistake_of_the_configuration_has_its_hint() -> None:
    (event,) = log_runs([Result(RUN, "", Held("config.toml: no", "mend it", 78))], name=SELF)
    assert (event.lines, event.repository) == (("error: config.toml: no", "  hint: mend it"), "")


EVENT = LogEvent(("\x1b[31m! mirror guides held: no\x1b[0m", "    try again"), ERROR, "docs", {"flow": "mirror"})


def test_as_text_each_line_names_its_repository(capsys: pytest.CaptureFixture[str]) -> None:
    log_as_text(EVENT)
    assert capsys.readouterr().err.splitlines()[1] == "docs:     try again"


def test_as_json_an_event_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    log_as_json(EVENT)
    log_as_json(LogEvent(("ready",), INFO))
    first, second = (json.loads(line) for line in capsys.readouterr().err.splitlines())
    assert first.pop("time").endswith("+00:00")
    assert first == {
        "level": "error",
        "message": "! mirror guides held: no",
        "details": ["try again"],
        "repository": "docs",
        "flow": "mirror",
    }
    assert (second["level"], second["message"]) == ("info", "ready")


def test_the_journal_gets_each_field_with_its_length() -> None:
    with TemporaryDirectory(dir="/tmp") as directory, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as journal:
        address = str(Path(directory) / "socket")
        journal.bind(address)
        assert send_to_journal({"MESSAGE": "a\nPRIORITY=0", "REPOSITORY": "docs"}, address)
        assert journal.recv(1 << 16) == (
            b"MESSAGE\n\x0c\0\0\0\0\0\0\0a\nPRIORITY=0\nREPOSITORY\n\x04\0\0\0\0\0\0\0docs\n"
        )
        assert send_to_journal({"MESSAGE": "long " * 100_000, "PRIORITY": "3"}, address)
        assert journal.recv(1 << 20).endswith(b"PRIORITY\n\x01\0\0\0\0\0\0\x003\n")
    assert not send_to_journal({"MESSAGE": "nobody is there"}, address)


def test_the_format_follows_where_standard_error_leads(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose_log("").write is log_as_text
    assert choose_log("json").write is log_as_json
    monkeypatch.setenv("JOURNAL_STREAM", "{0.st_dev}:{0.st_ino}".format(os.fstat(2)))
    assert choose_log("").write is log_in_journal
    assert choose_log("text").write is log_as_text
    with pytest.raises(typer.BadParameter, match="there are text, json, journal"):
        choose_log("xml")


def test_events_that_cannot_be_written_are_counted_and_end_nothing() -> None:
    written: list[LogEvent] = []
    answers = iter([OSError(ENOSPC, "No space left on device"), BrokenPipeError(), ValueError(), None, None, None])

    def write(event: LogEvent) -> None:
        if (wrong := next(answers)) is not None:
            raise wrong
        written.append(event)

    log = LossyLog(write)
    for _ in range(5):
        log(EVENT)
    dropped = LogEvent(("3 events could not be written to this log, and are not in it",), WARNING)
    assert written == [dropped, EVENT, EVENT]
