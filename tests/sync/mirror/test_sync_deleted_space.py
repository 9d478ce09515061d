"""A space that is deleted, or not there for a moment: a person is told what to do, and nothing of it is forgotten."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import httpx
import pytest

from syncd.api.client import Client
from syncd.api.options import ClientOptions
from syncd.sync.outcome import Held
from syncd.sync.run.cycle import run_cycle
from syncd.sync.run.values import Result, RunOptions
from tests.sync.conftest import assert_fine

SYNC = RunOptions()


class Hiding(httpx.BaseTransport):
    """The way to the platform, which answers 404 to the requests that `hides` names by path and number."""

    def __init__(self, hides: Callable[[str, int], bool]) -> None:
        self.hides, self.asked = hides, list[str]()
        self._real = httpx.HTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path.removeprefix("/v1")
        self.asked.append(path)
        if self.hides(path, self.asked.count(path)):
            return httpx.Response(404, json={"error": {"code": 404, "message": "No space."}})
        return self._real.handle_request(request)

    def close(self) -> None:
        self._real.close()


@pytest.fixture
def proposed(world: Any) -> Any:
    """A space with a change request that syncd opened."""
    world.clone()
    world.commit("Mine", {"guide/usage.md": "# Usage\n\nMine.\n"})
    assert_fine(world.sync())
    return world


def refs(world: Any) -> list[str]:
    found: list[str] = world.git("for-each-ref", "--format=%(refname)").splitlines()
    return [ref for ref in found if "/changes/" in ref or "proposed" in ref]


def run_through(world: Any, hides: Callable[[str, int], bool], wish: RunOptions = SYNC) -> list[Result]:
    with (
        world.workspace() as workspace,
        Client(world.url, world.token, ClientOptions(transport=Hiding(hides), sleep=lambda seconds: None)) as client,
    ):
        return run_cycle(replace(workspace, client=client), wish)


def assert_told(world: Any, results: list[Result]) -> None:
    (held,) = [result for result in results if result.outcome.exit_code]
    assert (held.flow, held.outcome.exit_code) == ("mirror", 78)
    assert isinstance(held.outcome, Held)
    assert "restore it there" in held.outcome.hint
    assert f'[[repository.space]] with id = "{world.space}"' in held.outcome.hint


def test_a_deleted_space_says_what_to_do_and_goes_on_once_it_is_restored(proposed: Any) -> None:
    before = refs(proposed)
    assert len(before) > 1
    with proposed.client() as client:
        client.spaces.delete(proposed.space)
    proposed.commit("More", {"guide/usage.md": "# Usage\n\nMore.\n"})
    assert_told(proposed, proposed.sync())
    assert refs(proposed) == before
    with proposed.client() as client:
        client.spaces.restore(proposed.space)
    assert_fine(proposed.sync())
    with proposed.client() as client:
        assert [each.number for each in client.change_requests.list(proposed.space, "open")] == [1]


@pytest.mark.parametrize("answers", [0, 1], ids=["from the start", "within the run"])
def test_a_space_that_is_not_there_for_a_moment_keeps_its_change_requests(proposed: Any, answers: int) -> None:
    before, start = refs(proposed), f"/spaces/{proposed.space}"
    assert_told(
        proposed, run_through(proposed, lambda path, n: path.startswith(start) and (path != start or n > answers))
    )
    assert refs(proposed) == before
    assert_fine(proposed.sync())
    assert set(proposed.requests[-1]) == {"GET"}


def test_a_change_request_that_is_not_there_for_a_moment_is_kept(proposed: Any) -> None:
    before = refs(proposed)
    assert_fine(run_through(proposed, lambda path, n: path.endswith("/change-requests/1") and n == 1))
    assert refs(proposed) == before


def test_a_change_request_that_is_gone_is_forgotten(proposed: Any) -> None:
    run_through(proposed, lambda path, n: path.endswith("/change-requests/1"), RunOptions(propose=False))
    assert not any("proposed" in ref for ref in refs(proposed))
