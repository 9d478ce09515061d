"""Conversations: which issues are found in them, what makes a cluster, and that both follow what is sent."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st

from syncd.platform.schema.conversations import frequencies, issues, postings, weeks
from syncd.platform.services.conversations.issue_finder import (
    ISSUES_MAX,
    SUMMARY_MAX,
    TERMS_MAX,
    TITLE_MAX,
    find_issues,
)
from syncd.platform.services.conversations.processing import HANDLERS, compute_week
from syncd.platform.services.conversations.similarity import Cluster, TermFrequencies, find_nearest_cluster
from syncd.platform.services.stems import find_stems
from syncd.platform.settings import PlatformSettings
from syncd.platform.storage import jobs
from syncd.platform.storage.storage import Storage
from tests.due_jobs import run_due_jobs
from tests.platform.clock import Clock
from tests.storages import new_storage


def titles(subject: str, *said: str) -> list[str]:
    return [issue.title for issue in find_issues(subject, said)]


def test_what_asks_or_complains_is_an_issue_and_courtesy_is_not() -> None:
    said = "Hello there! I love your product. How do I export a space? The export to PDF fails.\n\nMy invoice is wrong."
    assert titles("Help", said) == ["How do I export a space?", "My invoice is wrong."]
    assert titles("", "Please add dark mode to the editor. Thanks!") == ["Please add dark mode to the editor."]
    assert titles("Dark mode", "Hi") == ["Dark mode"]
    assert titles("", "Thanks", "```\nerror: cannot\n```\n> why?") == []
    assert titles("", "検索が動きません。どうすればいいですか？") == ["どうすればいいですか？"]


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=300), st.lists(st.text(alphabet="ab .?!\n-'’é的\0", max_size=2000), max_size=5))
def test_any_text_gives_few_and_short_issues(subject: str, said: list[str]) -> None:
    found = find_issues(subject, said)
    assert found == find_issues(subject, said)
    assert len(found) <= ISSUES_MAX
    for issue in found:
        assert 0 < len(issue.terms) <= TERMS_MAX
        assert len(issue.title) <= TITLE_MAX
        assert len(issue.summary) <= SUMMARY_MAX
        assert (issue.title + issue.summary).isprintable()


def test_forms_of_one_word_meet_and_words_without_meaning_go() -> None:
    assert len(set(find_stems("export exports exported exporting"))) == 1
    assert len(set(find_stems("stop stopped stopping"))) == 1
    assert find_stems("How do I get the logs of it?") == ["log"]
    assert find_stems("検索") == ["検索"]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sets(st.sampled_from("abcdefgh"), min_size=1), max_size=6), st.sets(st.sampled_from("abcdefgh")))
def test_an_issue_that_leaves_a_cluster_leaves_it_as_it_was(others: list[set[str]], terms: set[str]) -> None:
    cluster = Cluster("c")
    for other in others:
        cluster = cluster.add_issue({term: term for term in other})
    again = cluster.add_issue({term: term for term in terms}).remove_issue(terms)
    assert (again.issues, dict(again.terms)) == (cluster.issues, dict(cluster.terms))


def test_rare_words_decide_which_cluster_is_nearest() -> None:
    known = TermFrequencies(100, {"page": 90, "export": 3, "invoic": 4})
    clusters = [Cluster("a").add_issue({"page": "page", "export": "export"}), Cluster("b").add_issue({"invoic": "x"})]
    assert find_nearest_cluster(clusters, ["export"], known) == clusters[0]
    assert find_nearest_cluster(clusters, ["page", "invoic"], known) == clusters[1]
    assert find_nearest_cluster(clusters, ["domain"], known) is None
    assert find_nearest_cluster([], ["page"], known) is None


@pytest.fixture
def clock() -> Clock:
    return Clock(hour=8)


@pytest.fixture
def storage(tmp_path: Path, clock: Clock) -> Iterator[Storage]:
    """A platform that lives by the test's clock."""
    with new_storage(tmp_path / "platform", clock=clock) as opened:
        yield opened


@pytest.fixture
def support(http: httpx.Client, organization: str) -> httpx.Client:
    """The owner's client, whose paths are below the organization."""
    http.base_url = http.base_url.join(f"/v1/orgs/{organization}")
    return http


def conversation(id: str, said: str, **metadata: Any) -> dict[str, Any]:
    return {"id": id, "parts": [{"type": "message", "role": "user", "body": said}], "metadata": metadata}


def ingest(client: httpx.Client, storage: Storage, *several: dict[str, Any]) -> int:
    assert client.post("/conversations", json=list(several)).status_code == 204
    return run_due_jobs(jobs.JobContext(storage, PlatformSettings()), HANDLERS)


def clusters(client: httpx.Client, **query: Any) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = client.get("/conversations-clusters", params=query).json()["items"]
    return listed


def test_issues_that_are_alike_are_one_cluster_with_its_pulse(
    support: httpx.Client, storage: Storage, clock: Clock
) -> None:
    last_week, long_ago = clock.now - timedelta(days=7), clock.now - timedelta(days=200)
    told = [
        conversation("a", "How do I export a space as PDF?"),
        conversation("b", "The PDF export fails with an error.", createdAt=last_week.isoformat()),
        conversation("c", "My PDF export is broken.", createdAt=long_ago.isoformat()),
        conversation("d", "What does the pro plan cost?"),
    ]
    ingest(support, storage, *told)
    pdf, plan = clusters(support, orderBy="issues")
    counts = [(one["stats"]["issues"], one["stats"]["conversations"]) for one in (pdf, plan)]
    assert counts == [(3, 3), (1, 1)]
    assert "PDF" in pdf["label"]
    assert pdf["weeklyPulse"] == [0] * 11 + [1, 1]
    assert list(pdf["sources"].values()) == [3]
    listed = support.get("/conversations-issues", params={"cluster": pdf["id"]}).json()["items"]
    assert [one["issue"]["conversation"] for one in listed] == ["a", "b", "c"]
    assert support.get(pdf["urls"]["location"]).json() == pdf
    assert support.get(listed[0]["conversation"]["urls"]["location"]).json()["conversation"]["processedAt"]
    assert [one["id"] for one in clusters(support, orderBy="issues", order="asc")] == [plan["id"], pdf["id"]]
    assert clusters(support, status="analysing") == []


def test_the_same_again_changes_nothing_and_other_words_move_the_issue(
    support: httpx.Client, storage: Storage, clock: Clock
) -> None:
    one, two = conversation("a", "How do I export a space?"), conversation("b", "Exporting a space is slow.")
    ingest(support, storage, one, two)
    before = clusters(support)
    assert ingest(support, storage, one, two) == 0
    assert clusters(support) == before
    clock.now += timedelta(minutes=1)
    ingest(support, storage, conversation("a", "first"), conversation("a", "The invoice has a wrong address."))
    assert [one["stats"]["issues"] for one in clusters(support)] == [1, 1]
    ingest(support, storage, conversation("a", "Thanks!"), conversation("b", "Thanks!"))
    assert clusters(support) == []
    assert support.get("/conversations/a").json()["conversation"]["processedAt"]
    with storage.read() as connection:
        for table in (issues, postings, weeks):
            assert connection.scalar(sa.select(sa.func.count()).select_from(table)) == 0
        assert connection.scalar(sa.select(sa.func.sum(frequencies.c.issues))) == 0


def test_a_long_queue_is_worked_off_and_costs_what_is_new(support: httpx.Client, storage: Storage) -> None:
    words = "domain invoice export search login webhook editor theme table image"
    many = [conversation(f"c{n}", f"The {words.split()[n % 10]} number {n} is broken.") for n in range(60)]
    assert ingest(support, storage, *many) >= 2
    listed = support.get("/conversations", params={"limit": 1000}).json()
    assert listed["count"] == 60
    assert all("processedAt" in one for one in listed["items"])
    assert sum(one["stats"]["issues"] for one in clusters(support)) == 60
    statements: list[str] = []

    def count(*call: Any) -> None:
        statements.append(call[2])

    sa.event.listen(sa.Engine, "before_cursor_execute", count)
    try:
        ingest(support, storage, conversation("new", "The export is broken again."))
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", count)
    assert 0 < len(statements) < 60


def test_weeks_begin_on_mondays() -> None:
    monday = datetime(2026, 2, 2, tzinfo=UTC)
    assert (
        compute_week(monday)
        == compute_week(monday + timedelta(days=6, hours=23))
        == compute_week(monday - timedelta(hours=1)) + 1
    )
