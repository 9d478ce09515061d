"""What one run of a repository of a fleet costs: it follows what changed."""

from typing import Any

import pytest

from syncd.repo.process.git import Git
from syncd.repo.process.pipe import Pipe
from tests.fleet.conftest import Fleet


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The verbs of all Git processes that are started in this process."""
    verbs: list[str] = []
    start = Git.start

    def note_and_start(git: Git, verb: str, *words: str, **more: Any) -> Pipe:
        verbs.append(verb)
        return start(git, verb, *words, **more)

    monkeypatch.setattr(Git, "start", note_and_start)
    return verbs


def test_a_run_without_news_asks_the_git_host_once_and_starts_five_processes(fleet: Fleet, started: list[str]) -> None:
    fleet.make()
    for _ in range(2):
        fleet.run_here("a")
    started.clear()
    fleet.run_here("a")
    assert sorted(started) == ["cat-file", "cat-file", "for-each-ref", "for-each-ref", "ls-remote"]


def test_a_worker_that_takes_over_lists_the_branches_after_the_state(fleet: Fleet, started: list[str]) -> None:
    fleet.make()
    fleet.run_here("a")
    fleet.run_here("b")
    fleet.commit("Edit", {"options.md": "# Options\n\nedited\n"})
    fleet.run_here("a")
    started.clear()
    fleet.run_here("b")
    assert started.count("ls-remote") == 2
    (request,) = fleet.list_requests()
    assert "edited" in fleet.read_texts(request)
