"""What one run of a repository of a fleet costs: it follows what changed."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from syncd.daemon.locks import RUN_LOCK, FileLock
from syncd.fleet.cache import Cache
from syncd.fleet.database import FleetDatabase
from syncd.fleet.run import RunContext, run_repository
from syncd.fleet.schedule import wake_repositories
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


def test_a_worker_that_keeps_a_clone_starts_one_process_for_a_run_without_news(
    fleet: Fleet, started: list[str]
) -> None:
    fleet.make()

    def run_again(context: RunContext) -> list[str]:
        started.clear()
        wake_repositories(context.database, ["docs"])
        ended = run_repository(context, "docs")
        assert ended is not None
        assert not [one for one in ended.results if one.outcome.exit_code]
        return sorted(started)

    with FleetDatabase(fleet.url) as database, Cache(fleet.root / "cache-a", bytes_max=1 << 30) as cache:
        context = fleet.make_context(database, cache, "a")
        for _ in range(2):
            run_again(context)
        assert run_again(context) == ["ls-remote"], "what only the Git host knows"
        fleet.commit("Edit", {"options.md": "# Options\n\nedited\n"})
        assert "fetch" in run_again(context)
        (request,) = fleet.list_requests()
        assert "edited" in fleet.read_texts(request)
        run_again(context)
        assert run_again(context) == ["cat-file", "ls-remote"], "whether what was pushed is still there"
        fleet.run_here("b")
        fleet.commit("Edit", {"options.md": "# Options\n\nonce more\n"})
        fleet.run_here("b")
        run_again(context)
        assert "once more" in fleet.read_texts(fleet.list_requests()[0]), "what another worker did is taken over"
        run_again(context)
        assert run_again(context) == ["cat-file", "ls-remote"]


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


class BrokenCache(Cache):
    """One with a defect."""

    @contextmanager
    def hold_clone(self, name: str, branch: str) -> Iterator[Path]:
        raise ZeroDivisionError
        yield self.directory


def list_states(fleet: Fleet) -> list[tuple[str, str]]:
    (found,) = fleet.status()["repositories"]
    assert found["due_in"] > 60, "it is not run again and again"
    return [(record["kind"], record["state"]) for record in found["records"]]


def test_a_run_that_ends_in_a_defect_is_recorded_as_such(fleet: Fleet) -> None:
    fleet.make()
    fleet.run_here("a")
    with FleetDatabase(fleet.url) as database:
        wake_repositories(database, ["docs"])
    with pytest.raises(ZeroDivisionError):
        fleet.try_here("a", make_cache=BrokenCache)
    assert list_states(fleet) == [("repository", "waiting"), ("space", "waiting"), ("upstream", "waiting")]


def test_a_run_beside_another_one_is_none(fleet: Fleet) -> None:
    fleet.make()
    fleet.run_here("a")
    (before,) = fleet.status()["repositories"]
    with FileLock.acquire(fleet.root / "cache-a" / "docs.git" / RUN_LOCK):
        assert [result.outcome.exit_code for result in fleet.run_here("a")] == [7]
    (after,) = fleet.status()["repositories"]
    assert after["records"] == before["records"]
    assert {record["state"] for record in after["records"]} == {"ok"}


def test_a_repository_that_cannot_be_understood_here_is_not_good(fleet: Fleet) -> None:
    """A newer syncd has written a key that this worker does not know."""
    fleet.make()
    fleet.run_here("a")
    fleet.run_sql("UPDATE syncd_fleet_repositories SET document = document || '{\"from_later\": 1}'")
    assert [result.outcome.exit_code for result in fleet.run_here("a")] == [78]
    assert list_states(fleet) == [("repository", "failed"), ("space", "failed"), ("upstream", "failed")]
