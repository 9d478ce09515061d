"""What the platform does between two answers of one run: no answer that is out of date is acted upon, and where none
comes, the run says what it had done."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from syncd import fault_points
from syncd.api.client import Client
from syncd.api.options import ClientOptions
from syncd.errors import NotFound, Rejected, Stopped, Unreachable
from syncd.fault_points import FaultPoint
from syncd.model.change_request import ChangeRequest, ChangeRequestUpdate
from syncd.model.content_write import ContentWrite, ContentWritten, UpdatePage
from syncd.model.revision import Revision
from syncd.sync.outcome import Applied, Outcome, Waiting
from syncd.sync.policy import Policy
from syncd.sync.run.cycle import run_cycle
from syncd.sync.run.values import Result, RunOptions
from tests.sync.conflicts import Stand

MINE = {"options.md": "# Options\n\n* first\n* second\n* mine\n"}


def run(world: Any, stand: Callable[[Client], Any], wish: RunOptions = RunOptions(), **policy: Any) -> list[Result]:
    """Run once with something in front of the client."""
    with world.workspace() as workspace:
        return run_cycle(replace(workspace, client=stand(workspace.client), policy=Policy(**policy)), wish)


def find_outcome(results: list[Result], flow: str) -> Outcome:
    (found,) = [result.outcome for result in results if result.flow == flow]
    return found


def test_a_change_request_that_moves_before_its_merge_is_left_to_the_next_run(world: Any, fine: Any) -> None:
    world.clone()
    world.commit("Mine", MINE)
    fine(world.sync())

    def stand(client: Client) -> Any:
        def get(space: str, id: str) -> ChangeRequest:
            asked.append(id)
            found = client.change_requests.get(space, id)
            return found.amend(updated_at="later") if len(asked) > 1 else found

        asked: list[str] = []
        return Stand(client, change_requests=Stand(client.change_requests, get=get))

    outcome = find_outcome(run(world, stand, merge="auto"), "merge")
    assert isinstance(outcome, Waiting)
    assert "it changed just now; the next run looks at it again" in outcome.why
    with world.client() as client:
        assert client.change_requests.get(world.space, "1").status == "open"


def test_an_outdated_change_request_is_not_merged(world: Any, fine: Any) -> None:
    world.clone()
    world.commit("Mine", MINE)
    fine(world.sync())
    world.edit_on_platform({"guide/usage.md": "# Usage\n\nTheirs.\n"})
    outcome = find_outcome(run(world, lambda client: client, merge="auto", update="never"), "merge")
    assert isinstance(outcome, Waiting)
    assert "main content has moved on since" in outcome.why


def test_a_change_request_that_is_gone_is_forgotten_and_its_branch_proposed_anew(world: Any, fine: Any) -> None:
    world.clone()
    world.commit("Mine", MINE)
    fine(world.sync())

    def stand(client: Client) -> Any:
        def get(space: str, id: str) -> ChangeRequest:
            if id == "1":
                raise NotFound("GET …/change-requests/1: not found", status=404)
            return client.change_requests.get(space, id)

        def list_requests(space: str, status: str = "open") -> list[ChangeRequest]:
            return [each for each in client.change_requests.list(space, status) if each.number != 1]

        return Stand(client, change_requests=Stand(client.change_requests, get=get, list=list_requests))

    world.commit("More", {"options.md": MINE["options.md"] + "* more\n"})
    fine(run(world, stand))
    refs = world.git("for-each-ref", "--format=%(refname)", "refs/syncd").split()
    assert not [ref for ref in refs if "/1/" in ref], refs
    with world.client() as client:
        assert client.change_requests.get(world.space, "2").status == "open"


@pytest.mark.parametrize("is_over", [True, False])
def test_a_refused_write_says_whether_the_change_request_has_ended(world: Any, fine: Any, is_over: bool) -> None:
    world.clone()
    world.commit("Mine", MINE)
    fine(world.sync())
    world.commit("More", {"options.md": MINE["options.md"] + "* more\n"})

    def stand(client: Client) -> Any:
        def write_content(space: str, id: str, change: Any) -> None:
            if is_over:
                client.change_requests.update(space, id, ChangeRequestUpdate(status="archived"))
            raise Rejected("PUT …/content: refused", status=400)

        return Stand(client, change_requests=Stand(client.change_requests, write_content=write_content))

    outcome = find_outcome(run(world, stand, RunOptions(integrate=False)), "propose")
    assert outcome.exit_code
    told = f"{getattr(outcome, 'why', '')}"
    assert ("#1 was archived while syncd worked on it" in told) == is_over
    assert ("refused" in told) != is_over


class Killed(BaseException):
    """The run dies here."""


@pytest.mark.long
@pytest.mark.parametrize("others", [{}, {"guide/usage.md": "# Usage\n\nTheirs.\n"}], ids=["alone", "beside others"])
def test_what_a_killed_run_had_sent_and_somebody_merged_stays_taken_back(
    world: Any, small: Any, fine: Any, monkeypatch: pytest.MonkeyPatch, others: dict[str, str]
) -> None:
    def kill(point: FaultPoint) -> None:
        if point is FaultPoint.CONTENT_WRITTEN:
            raise Killed

    world.clone()
    world.commit("Mine", MINE)
    monkeypatch.setattr(fault_points, "on_reach", kill)
    with pytest.raises(Killed):
        world.sync()
    monkeypatch.setattr(fault_points, "on_reach", None)
    world.commit("Take it back", {"options.md": small["options.md"]})
    if others:
        world.edit_on_platform(others)
    assert world.merge(1) == "merge"
    fine(world.sync())
    assert world.git("show", "main:options.md") == small["options.md"]
    assert all(world.git("show", f"main:{path}") == text for path, text in others.items())
    assert world.merge(2) == "merge"
    fine(world.pull())
    assert world.git("show", "platform/main:options.md") == small["options.md"]


def test_a_space_that_moves_while_it_is_read_is_read_again(world: Any, fine: Any) -> None:
    world.clone()
    world.edit_on_platform({"guide/usage.md": "# Usage\n\nTheirs.\n"})
    asked: list[str] = []

    def stand(client: Client) -> Any:
        def get(space: str) -> Revision:
            found = client.content.get(space)
            asked.append(found.id)
            return found

        def get_space(id: str) -> Any:
            if len(asked) == 1:
                asked.append("")
                world.edit_on_platform({"guide/usage.md": "# Usage\n\nTheirs, later.\n"})
            return client.spaces.get(id)

        return Stand(client, content=Stand(client.content, get=get), spaces=Stand(client.spaces, get=get_space))

    fine(run(world, stand, RunOptions(propose=False)))
    assert world.git("show", "main:guide/usage.md") == "# Usage\n\nTheirs, later.\n"


@pytest.mark.parametrize(
    "has_request",
    [pytest.param(True, id="of-an-open-one"), pytest.param(False, id="of-a-new-one", marks=pytest.mark.long)],
)
def test_an_order_that_reviewers_make_just_before_a_write_is_kept(world: Any, fine: Any, has_request: bool) -> None:
    """`/changes` of a change request names no order: it is read with the next tree, and stays until then."""
    world.clone()
    if has_request:
        world.commit("Mine first", {"errors.md": "# Errors explained\n\nMine.\n"})
        fine(world.sync())
    world.commit("Mine", MINE)

    def stand(client: Client) -> Any:
        def write_content(space: str, id: str, body: ContentWrite) -> ContentWritten:
            pages = client.change_request_content.get(space, id).pages[1].pages
            if pages[0].slug == "setup":
                move = ContentWrite(changes=(UpdatePage(page=pages[1].id, at=0),))
                client.change_requests.write_content(space, id, move)
            return client.change_requests.write_content(space, id, body)

        return Stand(client, change_requests=Stand(client.change_requests, write_content=write_content))

    fine(run(world, stand))
    for files in ({"errors.md": "# Errors explained\n\nAgain.\n"}, {".gitbook/assets/new.png": b"A tree is read."}):
        world.commit("Mine again", files)
        fine(world.sync())
        with world.client() as client:
            pages = client.change_request_content.get(world.space, "1").pages[1].pages
            assert [page.slug for page in pages] == ["usage", "setup"]
    fine(world.sync())
    summary = (world.root / "clone" / "SUMMARY.md").read_text()
    assert summary.index("guide/usage.md") < summary.index("guide/setup.md")


def list_told(results: list[Result], flow: str) -> list[str]:
    """What a flow says that it has done, before the error that ends it."""
    *before, ended = [result.outcome for result in results if result.flow == flow]
    assert ended.exit_code == Unreachable.exit_code
    assert all(isinstance(outcome, Applied) for outcome in before)
    applied = [outcome for outcome in before if isinstance(outcome, Applied)]
    changes = [f"{change.verb} {change.noun} {change.key}" for outcome in applied for change in outcome.changes]
    return changes + [note for outcome in applied for note in outcome.notes]


def break_off(*_: Any, **__: Any) -> None:
    raise Unreachable("the line went dead")


def test_a_push_that_fails_after_its_writes_says_what_it_wrote(world: Any, fine: Any) -> None:
    world.clone()
    world.commit("Mine", MINE)

    def stand(client: Client) -> Any:
        return Stand(client, change_requests=Stand(client.change_requests, update=break_off))

    told = list_told(run(world, stand, RunOptions(integrate=False)), "propose")
    assert told == ["create change request #1", "update page options.md"]
    fine(world.sync())
    assert world.merge(1) == "merge"


@pytest.mark.parametrize("has_request", [True, False], ids=["of-an-open-one", "of-a-new-one"])
def test_a_push_that_fails_between_two_writes_says_that_it_wrote_a_part(
    world: Any, fine: Any, has_request: bool
) -> None:
    world.clone()
    if has_request:
        world.commit("Mine first", {"errors.md": "# Errors explained\n\nMine.\n"})
        fine(world.sync())
    shown = MINE["options.md"] + "\n![](.gitbook/assets/new.png)\n"
    world.commit("Mine", {"options.md": shown, ".gitbook/assets/new.png": b"It goes before its page."})

    def stand(client: Client) -> Any:
        def write_content(space: str, id: str, body: ContentWrite) -> ContentWritten:
            if any(isinstance(change, UpdatePage) for change in body.changes):
                break_off()
            return client.change_requests.write_content(space, id, body)

        return Stand(client, change_requests=Stand(client.change_requests, write_content=write_content))

    told = list_told(run(world, stand, RunOptions(integrate=False)), "propose")
    assert told == [f"{'update' if has_request else 'create'} change request #1", "#1 was written in part"]
    fine(world.sync())
    assert world.merge(1) == "merge"
    fine(world.pull())
    assert world.git("show", "platform/main:options.md") == shown


def test_a_run_that_fails_after_an_update_from_main_content_says_that_it_updated(world: Any, fine: Any) -> None:
    world.clone()
    world.commit("Mine", MINE)
    fine(world.sync())
    world.edit_on_platform({"guide/usage.md": "# Usage\n\nTheirs.\n"})

    def stand(client: Client) -> Any:
        def refresh(space: str, id: str) -> Any:
            updated.append(id)
            return client.change_requests.refresh(space, id)

        def get(space: str, id: str) -> ChangeRequest:
            if updated:
                break_off()
            return client.change_requests.get(space, id)

        updated: list[str] = []
        return Stand(client, change_requests=Stand(client.change_requests, refresh=refresh, get=get))

    assert list_told(run(world, stand), "review") == ["update change request #1"]
    fine(world.sync())
    assert world.merge(1) == "merge"
    fine(world.pull())
    assert world.git("show", "main:guide/usage.md") == "# Usage\n\nTheirs.\n"
    assert world.git("show", "main:options.md") == MINE["options.md"]


def test_a_run_that_is_stopped_leaves_what_the_last_one_came_to(world: Any, fine: Any) -> None:
    world.clone()
    fine(world.sync())
    with world.workspace() as workspace:
        before = list(workspace.store.list_outcomes())
        with Client(world.url, world.token, ClientOptions(cancelled=lambda: True)) as client:
            results = run_cycle(replace(workspace, client=client), RunOptions())
        assert results[-1].outcome.exit_code == Stopped.exit_code
        assert list(workspace.store.list_outcomes()) == before
