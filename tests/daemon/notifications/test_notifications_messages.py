"""The texts of notifications."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from syncd.daemon.notifications.messages import INCIDENTS_MAX, format_lines, format_title, render_slack
from syncd.model.text import join_lines
from syncd.store.incidents import Incident, Notification

AT = "2026-05-01T10:00:00+00:00"


def conflict(key: str = "use.md", why: str = "both sides changed it") -> Incident:
    return Incident("conflict", key, "conflict", why, "syncd resolve use.md\nor in Git", AT, "https://docs.example/use")


def render(event: str, *incidents: Incident) -> Any:
    title, lines = format_title(event, "docs", incidents), format_lines(event, incidents)
    return json.loads(render_slack(Notification("1", "team", event, "docs", title, lines, AT)))


def test_a_text_says_what_where_what_next_and_the_address() -> None:
    document = render("conflict", conflict())
    assert document["text"].split("\n") == [
        "docs: 1 page in conflict",
        "conflict use.md: both sides changed it",
        "next: syncd resolve use.md",
        "https://docs.example/use",
    ]
    assert [block["text"]["type"] for block in document["blocks"]] == ["mrkdwn", "mrkdwn"]
    assert document["blocks"][0]["text"]["text"] == "*docs: 1 page in conflict*"


def test_the_end_is_short() -> None:
    assert render("recovered", conflict())["text"].split("\n") == [
        "docs: 1 page in conflict settled",
        "conflict use.md",
        "https://docs.example/use",
    ]
    failed = Incident("mirror", "guides", "failed", "no answer", since=AT)
    assert render("recovered", failed)["text"] == "docs: works again\nmirror guides"
    assert render("failed", failed)["text"].endswith("next: syncd status")


def test_many_pages_are_counted() -> None:
    text = render("conflict", *(conflict(f"{number}.md") for number in range(INCIDENTS_MAX + 5)))["text"]
    assert text.startswith("docs: 15 pages in conflict")
    assert text.endswith("and 5 more: syncd status")


@given(st.text(st.characters(codec="utf-8"), max_size=2000), st.text(st.characters(codec="utf-8"), max_size=50))
def test_no_text_of_others_is_a_mention_a_link_or_a_line(why: str, key: str) -> None:
    document = render("conflict", conflict(f"<!channel>{key}", f"<https://evil.example|log in>\n{why}"))
    lines = document["text"].split("\n")
    assert len(lines) == 4
    assert "<" not in document["text"]
    assert ">" not in document["text"]
    assert all(join_lines(line) == line for line in lines)
    assert all(0 < len(block["text"]["text"]) <= 3000 for block in document["blocks"])
