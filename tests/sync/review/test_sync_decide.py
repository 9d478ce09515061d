"""Deciding on a change request: what is in the way is said before anything is written, and no answer is guessed."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from syncd.errors import AnswerLost, Conflict, GuardRefused, NotFound, Rejected, Unauthorized
from syncd.model.change_request import MergeResult
from syncd.sync.log.entries import LogQuery, list_mirrored, list_sent
from syncd.sync.review.decide import merge_request
from syncd.sync.review.requests import FoundRequest, find_requests, read_details
from syncd.sync.run.values import RunOptions
from syncd.sync.workspace import Workspace
from tests.sync.conflicts import Stand, review

OPTIONS = "# Options\n\n* first\n* second\n"


@pytest.fixture
def proposed(world: Any, fine: Any) -> Any:
    """A world in which a branch was proposed with an edit and a new page."""
    world.clone()
    table = "* [Options](options.md)\n* [New](new.md)"
    summary = (world.root / "clone" / "SUMMARY.md").read_text().replace("* [Options](options.md)", table)
    world.commit("Mine", {"options.md": f"{OPTIONS}* mine\n", "new.md": "# New\n\nOne.\n", "SUMMARY.md": summary})
    fine(world.sync())
    return world


@contextmanager
def open_found(world: Any, **instead: Any) -> Iterator[tuple[Workspace, FoundRequest]]:
    """Give the change request, and the workspace with answers in place of those of its platform.

    Shape: `instead` is by the part of the client, then by operation.
    """
    with world.workspace() as workspace:
        (found,) = find_requests(workspace, workspace.bindings, 1)
        parts = {part: Stand(getattr(workspace.client, part), **answers) for part, answers in instead.items()}
        yield replace(workspace, client=Stand(workspace.client, **parts)), found


def fail(error: Exception) -> Any:
    def answer(*_: object, **__: object) -> None:
        raise error

    return answer


def test_a_merge_whose_answer_is_lost_is_looked_into(proposed: Any) -> None:
    lost = fail(AnswerLost("POST …/merge: the answer was lost"))
    with open_found(proposed, change_requests={"merge": lost}) as (workspace, found), pytest.raises(AnswerLost):
        merge_request(workspace, found)
    assert proposed.merge(1) == "merge"
    with open_found(proposed, change_requests={"merge": lost}) as (workspace, found):
        live = replace(found, request=found.request.amend(status="open"))
        merged = merge_request(workspace, live)
        assert (merged.result, merged.revision) == ("merge", found.request.revision_merged)


def test_what_the_platform_refuses_or_could_not_merge_is_said(proposed: Any) -> None:
    refused = fail(Rejected("POST …/merge: no", status=412, hint="ask"))
    said = "does not merge #1: POST …/merge: no"
    parts = {"change_requests": {"merge": refused}}
    with open_found(proposed, **parts) as (workspace, found), pytest.raises(GuardRefused, match=said):
        merge_request(workspace, found)

    def conflicts(*_: object) -> MergeResult:
        return MergeResult(revision="r9", result="conflicts")

    parts = {"change_requests": {"merge": conflicts}}
    with open_found(proposed, **parts) as (workspace, found), pytest.raises(Conflict, match="may be wrong"):
        merge_request(workspace, found)


def test_who_may_not_merge_learns_so_before_anything_is_sent(proposed: Any) -> None:
    with proposed.client() as client:
        space = client.spaces.get(proposed.space)
    barred = space.amend(permissions={**space.permissions, "merge": False})
    merge = fail(AssertionError("nothing may be sent"))
    parts = {"spaces": {"get": lambda _: barred}, "change_requests": {"merge": merge}}
    with open_found(proposed, **parts) as (workspace, found), pytest.raises(Unauthorized, match="may not merge"):
        merge_request(workspace, found)


def test_what_changes_comes_from_git_where_the_platform_does_not_say(proposed: Any) -> None:
    silent = fail(NotFound("GET …/changes: not found", status=404))
    with open_found(proposed, change_request_content={"get_changes": silent}) as (workspace, found):
        changes = read_details(workspace, found).changes
        assert {(change.verb, change.key) for change in changes or ()} >= {
            ("update", "options.md"),
            ("create", "new.md"),
        }
        ref = workspace.change_ref(found.binding, 1)
        workspace.repository.delete_ref(ref, old=workspace.repository.resolve(ref) or "")
        assert read_details(workspace, found).changes is None
    with open_found(proposed) as (workspace, found):
        told = {(change.verb, change.noun, change.key) for change in read_details(workspace, found).changes or ()}
        assert {("update", "page", "options.md"), ("create", "page", "new.md")} <= told


def test_the_log_follows_a_file_from_a_reviewers_words_to_the_merge(proposed: Any, fine: Any) -> None:
    review(proposed, "1", "options", f"{OPTIONS}* mine\n* theirs\n")
    fine(proposed.sync())
    with proposed.workspace() as workspace:
        query = LogQuery(workspace.bindings, 20, path="options.md")
        sent = list(list_sent(workspace.repository, workspace.remote, query))
        assert {entry.kind for entry in sent} == {"sent", "fetched"}
        other = replace(query, path="errors.md")
        assert not [
            entry for entry in list_sent(workspace.repository, workspace.remote, other) if entry.kind == "fetched"
        ]
    proposed.merge(1)
    fine(proposed.run(RunOptions(propose=False)))
    with proposed.workspace() as workspace:
        kinds = [entry.kind for entry in list_mirrored(workspace.repository, workspace.main, query)]
        assert kinds[0] == "merged"
