"""A page in conflict stops no other, stays as each side has it, and is settled by one command."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from syncd.errors import NotFound
from syncd.model.change_request import ChangeRequestCreate, MergeResult
from syncd.model.content_write import ContentWrite, UpdatePage
from syncd.plan.merge.hunks import join_hunks
from syncd.sync.integrate.resolve import find_conflicts, resolve_pages
from syncd.sync.merge.result import OwnText
from syncd.sync.outcome import Unchanged
from syncd.sync.review.comments import list_discussions
from syncd.sync.run.cycle import run_cycle
from syncd.sync.run.values import RunOptions
from tests.sampling import sample_cases
from tests.sync.conflicts import Stand, held, proposed, review

MINE = "# Options\n\n* mine\n* second\n"
THEIRS = "# Options\n\n* theirs\n* second\n"


Act = Callable[[], object]


def both_change(world: Any) -> None:
    """One page on the same lines, and another page on each side."""
    world.clone()
    world.commit("Mine", {"options.md": MINE, "errors.md": "# Errors explained\n\nMy errors.\n"})
    world.edit_on_platform({"options.md": THEIRS, "guide/usage.md": "# Usage\n\nTheir usage.\n"})


def decide(world: Any, choice: Any, path: str = "options.md", branch: str = "main") -> list[str]:
    with world.workspace() as workspace:
        chosen = OwnText(choice) if isinstance(choice, bytes) else choice
        _, still = resolve_pages(workspace, branch, {path: chosen})
        return [page.path for page in still]


def told(world: Any) -> tuple[str, ...]:
    """The conflicts that `syncd review` shows."""
    with world.workspace() as workspace:
        return tuple(path for discussion in list_discussions(workspace) for path in discussion.conflicts)


def test_a_page_in_conflict_stops_no_other(world: Any) -> None:
    both_change(world)
    assert held(world.sync()) == ["options.md"]
    assert world.git("show", "main:options.md") == MINE
    assert world.git("show", "main:guide/usage.md") == "# Usage\n\nTheir usage.\n"
    assert proposed(world, "1", "errors") == "# Errors explained\n\nMy errors.\n"
    assert proposed(world, "1", "options") == THEIRS, "nothing is written for a page that is held"
    assert "Syncd-Part: " in world.git("log", "-1", "--format=%B", "main^2"), "what came in is a part, and says so"
    assert world.git("rev-parse", "platform/main").strip() not in world.git("rev-list", "main").split(), "no merge yet"
    assert world.git("status", "--porcelain") == ""


def test_a_second_run_without_news_writes_nothing(world: Any) -> None:
    both_change(world)
    held(world.sync())
    held(world.sync())
    before = world.git("for-each-ref"), len(world.git("cat-file", "--batch-all-objects", "--batch-check").splitlines())
    results = world.sync()
    assert held(results) == ["options.md"]
    assert all(isinstance(r.outcome, Unchanged) for r in results if r.flow != "conflict")
    assert world.requests[-1].keys() == {"GET"}
    after = world.git("for-each-ref"), len(world.git("cat-file", "--batch-all-objects", "--batch-check").splitlines())
    assert after == before, "not even an object"


@pytest.mark.long
def test_while_a_page_is_held_the_others_go_on_both_ways(world: Any, fine: Any) -> None:
    both_change(world)
    held(world.sync())
    usage = "# Usage\n\nTheir usage, better.\n"
    world.edit_on_platform({"options.md": THEIRS, "guide/usage.md": usage})
    assert held(world.sync()) == ["options.md"]
    assert world.git("show", "main:guide/usage.md") == usage
    world.commit("More", {"guide/usage.md": "# Usage\n\nMy usage.\n"})
    assert held(world.sync()) == ["options.md"]
    assert proposed(world, "1", "usage") == "# Usage\n\nMy usage.\n"
    world.merge(1)
    assert held(world.sync()) == ["options.md"]
    assert world.git("show", "main:options.md") == MINE, "a merge elsewhere takes no words away"
    assert world.git("show", "platform/main:options.md") == THEIRS
    assert world.git("show", "platform/main:errors.md") == "# Errors explained\n\nMy errors.\n"
    world.commit("Again", {"errors.md": "# Errors explained\n\nMy errors, again.\n"})
    assert held(world.sync()) == ["options.md"], "what was merged is no conflict with oneself"
    assert decide(world, "ours") == []
    fine(world.sync())
    world.merge(2)
    fine(world.sync())
    assert world.git("rev-parse", "main") == world.git("rev-parse", "platform/main")
    assert world.git("show", "main:options.md") == MINE
    assert world.git("show", "main:errors.md") == "# Errors explained\n\nMy errors, again.\n"


@pytest.mark.parametrize(
    ("choice", "text"),
    [
        ("theirs", THEIRS),
        pytest.param("ours", MINE, marks=pytest.mark.long),
        pytest.param(b"# Options\n\n* both\n* second\n", "* both", marks=pytest.mark.long),
    ],
)
def test_a_decision_settles_the_page_on_both_sides(world: Any, fine: Any, choice: Any, text: str) -> None:
    both_change(world)
    held(world.sync())
    assert told(world) == ("options.md",)
    assert decide(world, choice) == []
    assert told(world) == (), "what is settled is no problem any more"
    assert len(world.git("rev-parse", "main^@").split()) == 2, "the last decision makes it a merge"
    fine(world.sync())
    assert text in world.git("show", "main:options.md")
    assert text in proposed(world, "1", "options")
    world.merge(1)
    fine(world.sync())
    assert world.git("rev-parse", "main") == world.git("rev-parse", "platform/main")
    assert text in world.git("show", "main:options.md")


@pytest.mark.long
def test_each_of_several_pages_is_settled_by_itself(world: Any, fine: Any, small: Any) -> None:
    setup = small["guide/setup.md"]
    world.clone()
    world.commit("Mine", {"options.md": MINE, "guide/setup.md": setup.replace("One.", "Mine.")})
    theirs = {"options.md": THEIRS, "guide/setup.md": setup.replace("One.", "Theirs.")}
    world.edit_on_platform(theirs)
    assert held(world.sync()) == ["guide/setup.md", "options.md"]
    assert decide(world, "ours", "guide/setup.md") == ["options.md"]
    assert held(world.sync()) == ["options.md"]
    world.edit_on_platform({**theirs, "guide/setup.md": theirs["guide/setup.md"].replace("Three.", "Their three.")})
    assert held(world.sync()) == ["options.md"], "what was decided stays decided"
    assert world.git("show", "main:guide/setup.md").endswith("Mine.\n\nTwo.\n\nTheir three.\n")
    assert decide(world, "theirs") == []
    fine(world.sync())
    assert world.git("show", "main:options.md") == THEIRS


@pytest.mark.long
def test_a_conflict_with_a_reviewer_is_settled_the_same_way(world: Any, fine: Any) -> None:
    world.clone()
    world.commit("Mine", {"options.md": MINE, "errors.md": "# Errors explained\n\nMy errors.\n"})
    fine(world.sync())
    review(world, "1", "options", "# Options\n\n* by a reviewer\n* second\n")
    world.commit("More", {"options.md": "# Options\n\n* mine too\n* second\n", "README.md": "# Home\n\nNew.\n"})
    assert held(world.sync()) == ["options.md"]
    assert proposed(world, "1", "options") == "# Options\n\n* by a reviewer\n* second\n"
    assert proposed(world, "1", "") == "# Home\n\nNew.\n"
    assert world.git("show", "main:options.md") == "# Options\n\n* mine too\n* second\n"
    with world.workspace() as workspace:
        (page,) = find_conflicts(workspace, "main")
        text = join_hunks(page.parts, page.labels).decode()
    assert (
        "<<<<<<< main\n* mine too\n||||||| base\n* mine\n=======\n* by a reviewer\n>>>>>>> platform/changes/docs/1"
        in text
    )
    assert decide(world, text.partition("<<<<<<<")[0].encode() + b"* both\n* second\n") == []
    fine(world.sync())
    assert proposed(world, "1", "options") == "# Options\n\n* both\n* second\n"


def run_in_which(world: Any, *, before: Act = bool, after: Act = bool, is_past_shown: bool = True) -> Any:
    """A run in which somebody acts right before or after an update from main content reaches the platform."""

    def hide(*_: object) -> None:
        raise NotFound("GET …/revisions/…: not found", status=404)

    def refreshed(space: str, id: str) -> MergeResult:
        before()
        with world.client() as client:
            result: MergeResult = client.change_requests.refresh(space, id)
        after()
        return result

    with world.workspace() as workspace:
        requests = Stand(workspace.client.change_requests, refresh=refreshed)
        shown = workspace.client.revisions
        revisions = shown if is_past_shown else Stand(shown, get=hide)
        client: Any = Stand(workspace.client, change_requests=requests, revisions=revisions)
        return run_cycle(replace(workspace, client=client), RunOptions())


@pytest.mark.parametrize(
    ("when", "is_past_shown"),
    sample_cases([("before the run", True), ("before the run", False), ("during the update", False)], kept=(2,)),
)
def test_a_reviewer_s_edit_that_nobody_had_seen_does_not_replace_main_content(
    world: Any, when: str, is_past_shown: bool
) -> None:
    """An update from main content lets the change request's lines stand, so they must not pass for a merge of both."""
    world.clone()
    world.commit("Mine", {"errors.md": "# Errors explained\n\nMy errors.\n"})
    assert held(world.sync()) == []
    world.edit_on_platform({"options.md": THEIRS})
    edit = partial(review, world, "1", "options", MINE)
    if when == "before the run":
        edit()
    results = run_in_which(world, before=edit if when == "during the update" else bool, is_past_shown=is_past_shown)
    assert held(results) == ["options.md"]
    assert world.git("show", "main:options.md") == THEIRS
    assert decide(world, b"# Options\n\n* mine\n* theirs\n* second\n") == []
    assert held(world.sync()) == []
    assert "* mine\n* theirs" in proposed(world, "1", "options")


@pytest.mark.long
def test_a_reviewer_s_edit_just_before_an_update_stands_beside_main_content(world: Any, fine: Any) -> None:
    """Held, it could be merged on the platform before anybody settles it."""
    world.clone()
    world.commit("Mine", {"errors.md": "# Errors explained\n\nMy errors.\n"})
    fine(world.sync())
    world.edit_on_platform({"options.md": THEIRS})
    edit = partial(review, world, "1", "options", MINE)
    assert held(run_in_which(world, before=edit, is_past_shown=True)) == []
    both = proposed(world, "1", "options")
    assert both == world.git("show", "main:options.md")
    assert set(both.splitlines()) == {*MINE.splitlines(), *THEIRS.splitlines()}


@pytest.mark.parametrize("is_past_shown", [True, False])
def test_of_what_an_update_brought_a_reviewer_may_write_anew(world: Any, is_past_shown: bool) -> None:
    """Who writes after an update has seen what it brought; where the platform does not say when, a person decides."""
    world.clone()
    world.commit("Mine", {"errors.md": "# Errors explained\n\nMy errors.\n"})
    assert held(world.sync()) == []
    world.edit_on_platform({"options.md": THEIRS})
    edit = partial(review, world, "1", "options", MINE)
    results = run_in_which(world, after=edit, is_past_shown=is_past_shown)
    assert held(results) == ([] if is_past_shown else ["options.md"])
    assert world.git("show", "main:options.md") == (MINE if is_past_shown else THEIRS)
    assert proposed(world, "1", "options") == MINE


@pytest.mark.long
def test_a_page_that_both_sides_moved_and_rewrote_during_an_update_waits_for_a_person(world: Any, fine: Any) -> None:
    def move(request: str, into: str, text: str) -> None:
        with world.client() as client:
            pages = client.change_request_content.get(world.space, request).pages
            ids = {page.slug: page.id for top in pages for page in (top, *top.pages)}
            document = {"markdown": text}
            update = UpdatePage.model_validate({"page": ids["options"], "into": ids[into], "document": document})
            client.change_requests.write_content(world.space, request, ContentWrite(changes=(update,)))

    world.clone()
    world.commit("Mine", {"README.md": "# Home\n\nMine.\n"})
    fine(world.sync())
    with world.client() as client:
        other = client.change_requests.create(world.space, ChangeRequestCreate(subject="Theirs"))
    move(other.id, "guide", THEIRS)
    world.merge(other.number)
    assert held(run_in_which(world, before=partial(move, "1", "errors", MINE))) == ["guide/options.md"]


@pytest.mark.long
def test_what_was_proposed_around_a_held_page_is_in_no_conflict_with_the_next_edit(world: Any, fine: Any) -> None:
    """What a reviewer took out, and the branch took in, is in what was proposed then."""
    head = "---\ndescription: How to set up\n---\n\n# Setup\n\nOne.\n"
    world.clone()
    world.commit("Mine", {"options.md": MINE})
    fine(world.sync())
    review(world, "1", "setup", head + "\nTwo.\n")
    fine(world.sync())
    world.commit("More", {"guide/setup.md": head})
    world.edit_on_platform({"options.md": THEIRS})
    review(world, "1", "errors", "# Errors explained\n\nReviewed.\n")
    assert held(world.sync()) == ["options.md"]
    world.commit("New", {"guide/setup.md": head + "\nFour.\n"})
    assert held(world.sync()) == ["options.md"]
    assert proposed(world, "1", "setup") == head + "\nFour.\n"


@pytest.mark.long
def test_a_line_that_the_platform_doubles_in_a_merge_of_its_own_stands_once(world: Any, fine: Any) -> None:
    """It merges from an older base than Git knows of, so what syncd had sent it before may seem new on both sides."""
    doubled = "# Errors explained\n\nOne.\n\nOne.\n"
    world.clone()
    world.commit("Mine", {"options.md": MINE})
    fine(world.sync())
    world.edit_on_platform({"errors.md": "# Errors explained\n\nOne.\n"})
    fine(run_in_which(world, after=partial(review, world, "1", "errors", doubled), is_past_shown=False))
    fine(world.sync())
    assert world.git("show", "main:errors.md") == "# Errors explained\n\nOne.\n"
    assert proposed(world, "1", "errors") == "# Errors explained\n\nOne.\n"


@pytest.mark.long
def test_a_merge_of_the_change_request_takes_no_held_words_away(world: Any, fine: Any) -> None:
    world.clone()
    world.commit("Mine", {"options.md": MINE, "errors.md": "# Errors explained\n\nMy errors.\n"})
    fine(world.sync())
    review(world, "1", "options", "# Options\n\n* by a reviewer\n* second\n")
    world.commit("More", {"options.md": "# Options\n\n* mine too\n* second\n"})
    assert held(world.sync()) == ["options.md"]
    world.merge(1)
    assert held(world.sync()) == ["options.md"]
    assert world.git("show", "main:options.md") == "# Options\n\n* mine too\n* second\n"
    assert decide(world, "ours") == []
    fine(world.sync())
    world.merge(2)
    fine(world.sync())
    assert world.git("show", "platform/main:options.md") == "# Options\n\n* mine too\n* second\n"


@pytest.mark.long
def test_unsaved_edits_elsewhere_are_not_in_the_way(world: Any) -> None:
    both_change(world)
    held(world.sync())
    clone = world.root / "clone"
    (clone / "README.md").write_text("unsaved\n")
    assert decide(world, "theirs") == []
    assert (clone / "options.md").read_text() == THEIRS
    assert (clone / "README.md").read_text() == "unsaved\n"


@pytest.mark.long
def test_a_branch_that_is_not_checked_out_is_settled_too(world: Any) -> None:
    both_change(world)
    held(world.sync())
    world.git("checkout", "--quiet", "-b", "other", "main~1")
    assert decide(world, "theirs") == []
    assert world.git("show", "main:options.md") == THEIRS
    assert (world.root / "clone" / "options.md").read_text() == MINE
