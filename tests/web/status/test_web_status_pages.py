"""The pages of the status page, rendered from values."""

import re
from dataclasses import replace

import pytest

from syncd.model.moment import format_moment
from syncd.web.status.graphs import build_graphs
from syncd.web.status.pages import (
    build_conflict_page,
    order_spaces,
    render_conflict,
    render_operations,
    render_overview,
    render_plan,
    render_repository,
    render_space,
)
from syncd.web.status.times import format_age, parse_moment
from syncd.web.status.values import Frame, RequestMinute
from tests.web.status.samples import DIGEST, NOW, OPERATIONS, make_conflict, make_overview, make_plan

FRAME = Frame("Overview", token="t0ken", version="v1")
EVIL = '<script>alert("x")</script>'


def read_text(html: str) -> str:
    """What a person reads of a page."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def test_problems_stand_first_each_with_its_next_command() -> None:
    text = read_text(render_overview(make_overview(), FRAME))
    assert "1 error, 2 to decide" in text
    assert text.index("space release-notes-03") < text.index("guide/install.md") < text.index("Change requests")
    for command in ("syncd doctor", "syncd resolve guide/install.md", f"syncd site approve {DIGEST}", "syncd pull"):
        assert command in text
    assert "3 days ago 2026-04-28 07:00:12 UTC" in text
    assert "Ada Lovelace: changes requested" in text
    assert "3 ahead, 1 behind" in text


def test_without_problems_it_says_so() -> None:
    overview = replace(make_overview(spaces=1), problems=(), repositories=(), minutes=())
    text = read_text(render_overview(overview, FRAME))
    assert "All in step" in text
    assert "Nothing yet." in text


def test_spaces_in_trouble_come_first() -> None:
    names = [space.state for space in order_spaces(make_overview().repositories[0].spaces)]
    assert set(names[:4]) == {"failed", "held", "conflict", "waiting"}
    assert set(names[4:]) == {"ok"}


def test_nothing_from_outside_becomes_html() -> None:
    overview = make_overview(spaces=2)
    row = overview.repositories[0]
    space = replace(row.spaces[0], name=EVIL, why=EVIL, hint=EVIL, revision=EVIL)
    request = replace(row.requests[0], subject=EVIL, reviews=(EVIL,), branch=EVIL, space=EVIL)
    row = replace(row, name=EVIL, why=EVIL, spaces=(space,), requests=(request,))
    problem = replace(overview.problems[0], what=EVIL, hint=EVIL, subject=EVIL, command=EVIL)
    overview = replace(overview, repositories=(row,), problems=(problem,), headline=EVIL)
    conflict = replace(make_conflict(), path=EVIL, actions=((EVIL, EVIL),))
    pages = [
        render_overview(overview, FRAME),
        render_repository(overview, row, FRAME),
        render_space(overview, row, space, FRAME),
        render_operations([replace(OPERATIONS[0], what=EVIL, author=EVIL, path=EVIL)], NOW, FRAME),
        render_conflict(conflict, NOW, FRAME),
        render_plan(replace(make_plan(), lines=((EVIL, EVIL),), comment=EVIL), NOW, FRAME),
    ]
    assert not [page for page in pages if EVIL in page or 'alert("x")' in page]


@pytest.mark.parametrize("has_session", [True, False])
def test_nothing_is_inline_and_nothing_comes_from_elsewhere(has_session: bool) -> None:
    page = render_overview(make_overview(), replace(FRAME, token="t" if has_session else ""))
    assert not re.search(r"\sstyle=|\son\w+=|<style|javascript:", page)
    assert re.findall(r'(?:src|href)="(/static[^"]+)"', page) == ["/static/status.css", "/static/status.js"]
    assert ("Sign out" in page) is has_session


def test_a_plan_is_approved_by_its_digest() -> None:
    waiting = render_plan(make_plan(), NOW, FRAME)
    assert f'name="digest" value="{DIGEST}"' in waiting
    assert 'name="token" value="t0ken"' in waiting
    approved = render_plan(make_plan("2026-05-01T09:58:00+00:00"), NOW, FRAME)
    assert "<form" not in approved.partition("<main")[2]
    assert "The next run applies it" in approved


def test_both_sides_of_a_conflict_are_there() -> None:
    text = read_text(render_conflict(make_conflict(), NOW, FRAME))
    assert "Open port 8443 first." in text
    assert "Open port 443 first, and &lt;b&gt;wait&lt;/b&gt;." in text
    assert build_conflict_page("docs", "a b&c.md", "x/y") == "/conflict?repository=docs&path=a+b%26c.md&branch=x%2Fy"


def test_a_page_of_a_hundred_spaces_is_small() -> None:
    assert len(render_overview(make_overview(), FRAME)) < 100_000


@pytest.mark.parametrize(
    ("age", "words"),
    [
        (3, "now"),
        (59, "59 s ago"),
        (60, "1 min ago"),
        (3700, "1 hour ago"),
        (7200, "2 hours ago"),
        (86400, "1 day ago"),
    ],
)
def test_an_age_has_one_unit(age: float, words: str) -> None:
    assert format_age(NOW - age, NOW) == words
    assert format_age(NOW + 7200, NOW) == "in 2 hours"


def test_moments_are_read_and_written_in_utc() -> None:
    assert parse_moment("2026-05-01T12:00:00+02:00") == parse_moment("2026-05-01T10:00:00") == NOW
    assert parse_moment("") is None
    assert format_moment(NOW) == "2026-05-01 10:00:00 UTC"


def test_graphs_are_of_the_last_hour() -> None:
    old = RequestMinute(NOW - 7200, 99, 0, 1.0, 1.0)
    one = RequestMinute(NOW - 60, 10, 2, 5.0, 2.0, 30.0, 40.0)
    requests, latency, budget = build_graphs([old, one], NOW)
    assert requests.summary == "10 in the last hour, 2 failed"
    assert (latency.summary, budget.summary) == ("mean 500 ms, longest 2000 ms", "75% left")
    assert [len(graph.bars) for graph in (requests, latency, budget)] == [1, 1, 1]
    assert requests.bars[0].is_bad
    assert budget.bars[0].height == 72
    assert requests.rows == (("2026-05-01 09:59", "10, 2 failed"),)
    assert build_graphs([], NOW)[0].bars == ()
