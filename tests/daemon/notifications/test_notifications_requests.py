"""What becomes of change requests is told once, and nothing of what nobody knows to be new."""

import json
from pathlib import Path

from syncd.daemon.notifications.messages import format_lines, format_title
from syncd.daemon.notifications.news import Interest, note_requests, note_results
from syncd.daemon.notifications.request_news import describe_requests, find_news
from syncd.store.incidents import Incident, IncidentRecord, SeenRequest, read_incidents, write_incidents

AT = "2026-05-01T10:00:00+00:00"


def see(**more: object) -> tuple[SeenRequest, ...]:
    """One change request as a state database has it, with one review."""
    verdict = {"reviewer": "Ada", "status": "approved", "outdated": False, "at": "2026-05-01"}
    facts = {"address": "https://docs.example/~/changes/7", "status": "open", "subject": "Options", "revision": "r"}
    reviews = {"verdicts": [verdict], "requested": [], "revision": "r"}
    return describe_requests({("space", 7): json.dumps({**facts, "outdated": False, "reviews": reviews, **more})})


def find(before: tuple[SeenRequest, ...], now: tuple[SeenRequest, ...], *, merged: bool = False) -> list[Incident]:
    return list(find_news(before, now, lambda _: merged, AT))


def test_a_new_review_is_told_and_the_same_one_not_again() -> None:
    bare = see(reviews=None)
    (news,) = find(bare, see())
    assert (news.event, news.key, news.why) == ("reviewed", "#7", "Options: Ada approved it (2026-05-01)")
    assert find(see(), see()) == []
    verdict = {"reviewer": "Ada", "status": "changes-requested", "outdated": False, "at": "2026-05-02"}
    (news,) = find(see(), see(reviews={"verdicts": [verdict], "revision": "r"}))
    assert "Ada asks for changes" in news.why


def test_outdated_is_told_each_time_that_it_begins() -> None:
    (news,) = find(see(), see(outdated=True))
    assert news.event == "outdated"
    assert find(see(outdated=True), see(outdated=True)) == []
    assert find(see(outdated=True), see()) == []


def test_a_request_that_is_gone_was_merged_only_where_git_says_so() -> None:
    (news,) = find(see(), (), merged=True)
    assert (news.event, news.address) == ("merged", "https://docs.example/~/changes/7")
    assert find(see(), ()) == []
    assert find(see(), see(status="archived", outdated=True)) == [], "nobody waits for an archived one"


def test_what_came_while_nobody_wanted_to_hear_of_requests_is_not_told_later() -> None:
    team = Interest("team", frozenset({"merged"}))
    before = IncidentRecord(requests=see())
    kept, _ = note_results(before, [team], "docs", [], AT, lambda result: "")
    assert kept.requests == see()
    forgotten, _ = note_results(before, [Interest("team")], "docs", [], AT, lambda result: "")
    _, news = note_requests(forgotten, [team], "docs", (), lambda request: True, AT)
    assert not news


def test_the_messages_count_requests_and_not_reviews() -> None:
    news = find((), see())
    assert format_title("reviewed", "docs", [*news, *news]) == "docs: 1 change request reviewed"
    assert format_lines("reviewed", news)[1:] == ("next: syncd review", "https://docs.example/~/changes/7")
    merged = find(see(), (), merged=True)
    assert format_title("merged", "docs", merged) == "docs: 1 change request merged"
    assert "next:" not in "".join(format_lines("merged", merged))


def test_what_was_told_outlives_a_restart_and_an_older_record_knows_none(tmp_path: Path) -> None:
    file = tmp_path / "incidents.json"
    write_incidents(file, IncidentRecord(requests=see()))
    assert read_incidents(file).requests == see()
    document = json.loads(file.read_text())
    del document["requests"]
    file.write_text(json.dumps(document))
    assert read_incidents(file) == IncidentRecord()
    assert read_incidents(file).requests is None
    file.write_text(json.dumps({**document, "requests": [{"space": 1}]}))
    assert read_incidents(file) == IncidentRecord()
