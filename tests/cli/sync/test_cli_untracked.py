"""A branch that the configuration does not name: a run passes it over, and says so.

Run these stories: .venv/bin/python -m pytest -m story -n 2 tests/cli/sync/test_cli_untracked.py
"""

import json

import pytest

from tests.cli.sync.two_way import Web, Writer, text_of

pytestmark = pytest.mark.story

NOT_SENT = "! not sent: p1.md: topic is not one of the tracked branches; syncd push sends it"


@pytest.fixture
def topic(docs: Writer) -> Writer:
    """A clone in which the branch that is checked out is not tracked, and has a page changed."""
    docs.git("switch", "--quiet", "--create", "topic")
    docs.edit("p1.md", "P1 one.", "P1 one, says Ann.")
    return docs


def test_sync_says_that_it_sends_nothing_of_it(topic: Writer, web: Web) -> None:
    said = topic.run("sync")
    assert NOT_SENT in said
    assert "in step" not in said
    assert not web.requests()
    unsent = json.loads(topic.run("sync", "--json"))["unsent"]
    assert [(work["branch"], work["is_tracked"]) for work in unsent] == [("main", True), ("topic", False)]
    topic.run("push")
    assert "topic" not in topic.run("sync")


def test_edits_of_reviewers_are_named_until_they_are_merged(topic: Writer, web: Web) -> None:
    topic.run("push")
    web.edit("p1", "P1 two.", "P1 two, says Bea.", request=web.proposed())
    named = "to bring it there: git merge platform/changes/docs/1"
    for command in ("sync", "pull", "push", "status"):
        assert named in topic.run(command), command
    topic.git("merge", "--quiet", "platform/changes/docs/1")
    assert "P1 two, says Bea." in topic.read("p1.md")
    assert "topic" not in topic.run("pull")
    topic.run("push")
    web.merge()
    topic.run("sync")
    topic.git("switch", "--quiet", "main")
    assert "P1 one, says Ann.\n\nP1 two, says Bea." in topic.read("p1.md")


def test_nothing_is_said_of_one_without_work(docs: Writer) -> None:
    docs.git("switch", "--quiet", "--create", "topic")
    assert docs.run("sync") == docs.run("pull") == "Everything is in step.\n"


def test_a_branch_without_a_commit_in_common_is_told_why_it_deletes_nothing(docs: Writer, web: Web) -> None:
    docs.git("switch", "--quiet", "--orphan", "fresh")
    docs.write("README.md", text_of("Home"))
    docs.write("SUMMARY.md", "# Table of contents\n\n* [Home](README.md)\n")
    docs.commit()
    way_on = "git merge --strategy=ours --allow-unrelated-histories platform/main"
    assert (
        f"fresh has no commit in common with platform/main, so what it lacks is not deleted; if that is meant: {way_on}"
        in (docs.run("push"))
    )
    docs.git(*way_on.split()[1:], "--message", "Start anew")
    docs.run("push")
    assert web.slugs(request=web.merge()) == [""]
