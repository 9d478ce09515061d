"""A branch that was rewritten (amend, rebase, squash, reset, force-push) is never in conflict with itself."""

import re
from typing import Any

import pytest

from syncd.sync.outcome import Unchanged
from syncd.sync.run.values import RunOptions
from tests.sync.conflicts import held, proposed, review

MINE = "# Options\n\n* first\n* second\n* mine\n"
AMENDED = "# Options\n\n* first\n* second\n* mine, amended\n"
SETUP = "---\ndescription: How to set up\n---\n\n# Setup\n\nOne.\n\nTwo.\n\nThree.\n"


def amend(world: Any, files: dict[str, str]) -> None:
    for path, text in files.items():
        (world.root / "clone" / path).write_text(text)
    world.git("commit", "--quiet", "--all", "--amend", "--no-edit")


def live(world: Any) -> list[int]:
    with world.client() as client:
        return [r.number for status in ("draft", "open") for r in client.change_requests.list(world.space, status)]


def commits(world: Any, ref: str) -> list[str]:
    return str(world.git("rev-list", ref)).splitlines()


@pytest.mark.parametrize("flow", ["sync", pytest.param("push", marks=pytest.mark.long)])
def test_an_amended_branch_updates_its_change_request(world: Any, fine: Any, flow: str) -> None:
    world.clone()
    former = world.commit("Mine", {"options.md": MINE})
    fine(world.sync())
    amend(world, {"options.md": AMENDED})
    tip = world.git("rev-parse", "main")
    fine(getattr(world, flow)())
    assert live(world) == [1]
    assert proposed(world, "1", "options") == AMENDED
    assert world.git("rev-parse", "main") == tip, "nothing of the old history comes back"
    assert world.git("rev-parse", "platform/changes/docs/1") == tip
    assert all(isinstance(result.outcome, Unchanged) for result in world.sync())
    world.merge(1)
    fine(world.sync())
    assert world.git("rev-parse", "main") == world.git("rev-parse", "platform/main")
    assert former not in commits(world, "main")


@pytest.mark.long
@pytest.mark.parametrize("flow", ["sync", "push"])
def test_an_amended_branch_keeps_what_reviewers_did(world: Any, fine: Any, flow: str) -> None:
    world.clone()
    former = world.commit("Mine", {"guide/setup.md": SETUP.replace("One.", "Mine."), "options.md": MINE})
    fine(world.sync())
    review(world, "1", "setup", SETUP.replace("One.", "Mine.").replace("Three.", "By a reviewer."))
    amend(world, {"guide/setup.md": SETUP.replace("One.", "Mine, amended."), "options.md": AMENDED})
    fine(getattr(world, flow)())
    fine(world.sync())
    both = SETUP.replace("One.", "Mine, amended.").replace("Three.", "By a reviewer.")
    assert live(world) == [1]
    assert proposed(world, "1", "setup") == both
    assert world.git("show", "main:guide/setup.md") == both
    assert world.git("show", "main:options.md") == AMENDED
    assert former not in commits(world, "main")
    assert all(isinstance(result.outcome, Unchanged) for result in world.sync())


@pytest.mark.long
def test_a_rebased_and_squashed_branch_updates_its_change_request(world: Any, fine: Any) -> None:
    world.clone()
    former = world.commit("One", {"options.md": MINE})
    world.commit("Two", {"options.md": AMENDED, "new.md": "# New\n"})
    fine(world.push())
    world.edit_on_platform({"guide/usage.md": "# Usage\n\nTheirs.\n"})
    fine(world.run(RunOptions(integrate=False, propose=False)))
    world.git("rebase", "--quiet", "platform/main")
    world.git("reset", "--quiet", "--soft", "platform/main")
    world.git("commit", "--quiet", "--message", "Squashed")
    fine(world.sync())
    assert live(world) == [1]
    assert proposed(world, "1", "options") == AMENDED
    assert former not in commits(world, "main")
    world.merge(1)
    fine(world.sync())
    assert world.git("rev-parse", "main") == world.git("rev-parse", "platform/main")


@pytest.mark.parametrize("flow", ["sync", pytest.param("push", marks=pytest.mark.long)])
def test_after_the_merge_only_the_amendment_is_proposed(world: Any, fine: Any, flow: str) -> None:
    world.clone()
    world.commit("Mine", {"options.md": MINE, "guide/usage.md": "# Usage\n\nMine.\n"})
    fine(world.push())
    world.merge(1)
    amend(world, {"options.md": AMENDED})
    fine(getattr(world, flow)())
    assert live(world) == [2]
    with world.client() as client:
        changes = client.change_requests.get(world.space, "2")
        assert changes.subject.startswith("Mine")
    assert proposed(world, "2", "options") == AMENDED
    assert world.git("diff", "--name-only", "platform/main", "platform/changes/docs/2").split() == ["options.md"]
    fine(world.sync())
    world.merge(2)
    fine(world.sync())
    assert world.git("show", "main:options.md") == AMENDED
    assert world.git("for-each-ref", "refs/syncd") == "", "what was remembered is forgotten"


@pytest.mark.long
def test_a_branch_that_was_reset_does_not_come_back(world: Any, fine: Any) -> None:
    world.clone()
    world.commit("Mine", {"options.md": MINE})
    fine(world.sync())
    world.git("reset", "--quiet", "--hard", "platform/main")
    tip = world.git("rev-parse", "main")
    fine(world.sync())
    assert world.git("rev-parse", "main") == tip


@pytest.mark.long
def test_a_branch_that_was_reset_to_an_older_commit_of_its_own_proposes_that(world: Any, fine: Any) -> None:
    world.clone()
    world.commit("One", {"options.md": MINE})
    tip = world.git("rev-parse", "main")
    world.commit("Two", {"options.md": AMENDED, "guide/usage.md": "# Usage\n\nMine.\n"})
    fine(world.sync())
    world.git("reset", "--quiet", "--hard", "main~1")
    fine(world.sync())
    assert world.git("rev-parse", "main") == tip
    assert proposed(world, "1", "options") == MINE
    assert proposed(world, "1", "usage") == "# Usage\n\n![A picture](../.gitbook/assets/picture.png)\n"


@pytest.mark.long
def test_an_amendment_of_the_lines_that_a_reviewer_changed_is_held(world: Any, fine: Any) -> None:
    world.clone()
    world.commit("Mine", {"options.md": MINE, "errors.md": "# Errors explained\n\nMine.\n"})
    fine(world.sync())
    reviewed = MINE.replace("* mine", "* by a reviewer")
    review(world, "1", "options", reviewed)
    amend(world, {"options.md": AMENDED, "errors.md": "# Errors explained\n\nMine, amended.\n"})
    assert held(world.sync()) == ["options.md"]
    assert live(world) == [1]
    assert proposed(world, "1", "options") == reviewed
    assert proposed(world, "1", "errors") == "# Errors explained\n\nMine, amended.\n"
    assert world.git("show", "main:options.md") == AMENDED
    assert held(world.sync()) == ["options.md"]


@pytest.mark.long
def test_an_amended_branch_takes_in_main_content_as_ever(world: Any, fine: Any) -> None:
    world.clone()
    world.commit("Mine", {"options.md": MINE})
    world.edit_on_platform({"guide/usage.md": "# Usage\n\nTheirs.\n"})
    fine(world.push())
    amend(world, {"options.md": AMENDED})
    fine(world.sync())
    assert world.git("show", "main:guide/usage.md") == "# Usage\n\nTheirs.\n"
    assert proposed(world, "1", "options") == AMENDED
    assert proposed(world, "1", "usage") == "# Usage\n\nTheirs.\n"
    assert live(world) == [1]


@pytest.mark.long
@pytest.mark.parametrize("is_swap", [True, False])
def test_a_reset_of_a_merge_drops_no_words_for_a_page_that_the_branch_moved(
    world: Any, fine: Any, small: Any, is_swap: bool
) -> None:
    world.edit_on_platform({"options.md": SETUP})
    world.clone()
    moves = {"options.md": "errors.md", "errors.md": "options.md"} if is_swap else {"options.md": "choices.md"}
    root = world.root / "clone"
    texts = {new: (root / old).read_text() for old, new in moves.items()}
    table = re.sub(r"\b(options|errors)\.md", lambda name: moves.get(name[0], name[0]), small["SUMMARY.md"])
    world.commit("Move", texts | {"SUMMARY.md": table}, gone=[path for path in moves if path not in texts])
    here = world.git("rev-parse", "main").strip()
    edited = SETUP.replace("Two.", "Two, they say.")
    world.edit_on_platform({"options.md": edited})
    fine(world.pull())
    world.git("reset", "--quiet", "--hard", here)
    fine(world.sync())
    assert (root / moves["options.md"]).read_text() == edited
