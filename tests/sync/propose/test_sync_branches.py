"""Several branches at once: patterns, one change request for each, and what becomes of it when its branch goes."""

import subprocess
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from syncd.api.change_requests import ChangeRequests
from syncd.errors import Conflict, Unreachable
from syncd.model.change_request import ChangeRequest, ChangeRequestCreate, ChangeRequestUpdate
from syncd.model.content_write import ContentWrite, Markdown, UpdatePage
from syncd.plan.message import add_marker, build_former_marker, build_marker
from syncd.sync.branches import Branch, match_branches, put_ancestors_first
from syncd.sync.outcome import Applied, Held, outcome_of
from syncd.sync.policy import Policy
from syncd.sync.review.close import close_proposals
from syncd.sync.review.decide import merge_request
from syncd.sync.review.requests import find_requests
from syncd.sync.run.cycle import run_cycle
from syncd.sync.run.values import Result, RunOptions
from syncd.sync.state.conflicts import list_conflict_paths
from syncd.sync.state.proposals import Proposal
from tests.plain_documents import make_document
from tests.sync.conftest import assert_fine

OPTIONS = "# Options\n\n* first\n* second\n"


def run(world: Any, wish: RunOptions, **policy: Any) -> list[Result]:
    with world.workspace() as workspace:
        return run_cycle(replace(workspace, policy=Policy(**policy)), wish)


def branch_with(world: Any, name: str, files: dict[str, str], start: str = "main") -> str:
    world.git("checkout", "--quiet", "-b", name, start)
    commit = world.commit(f"Work on {name}", files)
    world.git("checkout", "--quiet", "main")
    return str(commit)


def edit(world: Any, number: int, slug: str, text: str) -> None:
    """A reviewer rewrites a page of a change request."""
    with world.client() as client:
        pages = [
            page for top in client.change_request_content.get(world.space, str(number)).pages for page in top.pages
        ]
        id = next(page.id for page in pages if page.slug == slug)
        write = ContentWrite(changes=(UpdatePage(page=id, document=Markdown(markdown=text)),))
        client.change_requests.write_content(world.space, str(number), write)


def live(world: Any) -> list[str]:
    with world.client() as client:
        return [request.subject for request in client.change_requests.list(world.space, status="open")]


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("docs/*", ["docs/a", "docs/deep/b"]),
        ("doc?/a", ["docs/a"]),
        ("*", ["docs/a", "docs/deep/b", "main"]),
        ("[!d]*", ["main"]),
        ("syncd/*", ["syncd/site/drift"]),
        ("nothing/*", []),
        ("docs/" + "*" * 60 + "z", []),
    ],
)
def test_a_pattern_matches_names_that_can_be_shown(pattern: str, names: Sequence[str]) -> None:
    hostile = ["docs/\u202egnirts", "docs/\udcff", "docs/a\u2028b", "-docs/x", "docs/\x1b[2J"]
    assert list(match_branches(["docs/a", "docs/deep/b", "syncd/site/drift", "main", *hostile], [pattern])) == names


def test_a_branch_comes_after_those_that_it_begins_at_and_others_stay_in_their_order(world: Any) -> None:
    world.clone()
    branch_with(world, "e", {"errors.md": "# Errors explained\n\nBelow.\n"})
    branch_with(world, "b", {"options.md": "# Options\n\nIn the middle.\n"}, start="e")
    branch_with(world, "a", {"options.md": "# Options\n\nOn top.\n"}, start="b")
    branch_with(world, "d", {"guide/usage.md": "# Usage\n\nAlone.\n"})
    branches = [Branch(name) for name in ("a", "b", "none", "main", "d", "e")]
    with world.workspace() as workspace:
        main = workspace.repository.resolve("refs/heads/main")
        for exclude, order in ((None, "main e b a none d"), (main, "e b a none main d")):
            found = put_ancestors_first(workspace.repository, branches, exclude=exclude)
            assert " ".join(branch.name for branch in found) == order


@pytest.mark.long
def test_a_pattern_follows_branches_that_come_and_go(world: Any, fine: Any) -> None:
    world.clone()
    one = branch_with(world, "docs/one", {"options.md": f"{OPTIONS}* mine\n"})
    two = branch_with(world, "docs/deep/two", {"guide/usage.md": "# Usage\n\nBy two.\n"})
    branch_with(world, "docs/three", {"errors.md": "# Errors explained\n\nBy three.\n"})
    hostile = b"refs/heads/docs/\xff\xe2\x80\xae"
    subprocess.run([b"git", b"update-ref", hostile, two.encode()], cwd=world.root / "clone", check=True)
    wish = RunOptions(branches=("main",), patterns=("docs/*", "nothing/*"))
    fine(run(world, wish))
    names = ["docs/deep/two", "docs/one", "docs/three"]
    assert sorted(live(world)) == [f"Work on {name} [{name}#0a1b2c]" for name in names]

    fine(run(world, wish))
    assert world.requests[-1] == {"GET": 3}, "the space, and a listing of drafts and one of open change requests"

    world.edit_on_platform({"guide/setup.md": "# Setup\n\nNew in main content.\n"})
    edit(world, 2, "options", f"{OPTIONS}* mine, said better\n")
    fine(run(world, wish, update="never"))
    assert "New in main" in world.git("show", "main:guide/setup.md")
    assert world.git("rev-parse", "docs/deep/two").strip() == two, "main content is not merged into every branch"
    assert "said better" in world.git("show", "docs/one:options.md")
    assert "New in main" not in world.git("show", "docs/one:guide/setup.md")
    fine(run(world, wish))
    assert world.git("rev-parse", "docs/deep/two").strip() == two, "nor when its change request took it in"
    assert "New in main" in world.git("show", "platform/changes/docs/2:guide/setup.md")

    assert world.merge(1) == "merge"
    fine(run(world, wish))
    assert world.git("rev-parse", "docs/deep/two") == world.git("rev-parse", "platform/main"), "nothing of its own"
    assert world.git("rev-parse", "docs/one^{tree}") != world.git("rev-parse", "main^{tree}")
    assert one in world.git("rev-list", "docs/one")


def test_branches_with_the_same_end_have_a_change_request_each(world: Any, fine: Any) -> None:
    world.clone()
    end = "a-chapter-with-a-rather-long-name"
    with world.client() as client:
        subject = f"Begun {build_former_marker(f'ann/{end}', '0a1b2c')}"
        left = client.change_requests.create(world.space, ChangeRequestCreate(subject=subject))
        told = make_document(f"Proposed by syncd from branch ann/{end}.")
        client.change_requests.update(world.space, left.id, ChangeRequestUpdate(description=told))
    branch_with(world, f"ann/{end}", {"options.md": f"{OPTIONS}* ann\n"})
    branch_with(world, f"bob/{end}", {"guide/usage.md": "# Usage\n\nBy Bob.\n"})
    fine(run(world, RunOptions(branches=(f"bob/{end}", f"ann/{end}"), integrate=False)))
    refs = world.git("for-each-ref", "--format=%(refname)", "refs/syncd/proposed").split()
    assert refs == [f"refs/syncd/proposed/docs/1/ann/{end}", f"refs/syncd/proposed/docs/2/bob/{end}"]


def test_a_deleted_branch_closes_its_change_request_and_keeps_what_reviewers_wrote(world: Any, fine: Any) -> None:
    world.clone()
    tip = branch_with(world, "docs/one", {"options.md": f"{OPTIONS}* mine\n"})
    wish = RunOptions(patterns=("docs/*",))
    fine(run(world, wish))
    edit(world, 1, "options", f"{OPTIONS}* mine, said better\n")
    world.git("branch", "--delete", "--force", "docs/one")
    fine(run(world, wish, deleted_branch="keep"))
    edit(world, 1, "errors", "# Errors\n\nSaid, too.\n")
    fine(run(world, replace(wish, propose=False)))
    assert len(live(world)) == 1, "kept, and never closed by a pull"

    results = run(world, wish)
    fine(results)
    (closed,) = [result.outcome for result in results if result.flow == "close"]
    assert isinstance(closed, Applied)
    ref = "refs/syncd/archived/docs/1/docs/one"
    (remark,) = closed.notes
    command = remark.partition(": git ")[2].split()
    shown = world.git(*command)
    assert "+* mine, said better" in shown
    assert "+Said, too." in shown, "each edit of every revision"
    assert command[-1] == ref
    assert "said better" in world.git("show", f"{ref}:options.md")
    assert not live(world)
    assert world.git("for-each-ref", "refs/syncd/proposed", "refs/remotes/platform/changes") == ""
    fine(run(world, wish))
    assert world.requests[-1] == {"GET": 1}

    world.git("branch", "docs/one", tip)
    fine(run(world, wish))
    assert live(world) == ["Work on docs/one [docs/one#0a1b2c]"], "a branch that comes back is proposed afresh"


def test_what_was_archived_is_told_where_the_next_one_fails(
    world: Any, fine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.clone()
    for number in (1, 2):
        branch_with(world, f"docs/{number}", {"options.md": f"{OPTIONS}* {number}\n"})
    wish = RunOptions(patterns=("docs/*",))
    fine(run(world, wish))
    world.git("branch", "--delete", "--force", "docs/1", "docs/2")
    update, archived = ChangeRequests.update, []

    def fail_second(self: ChangeRequests, space: str, id: str, change: ChangeRequestUpdate) -> ChangeRequest:
        archived.append(id)
        if len(archived) == 2:
            raise Unreachable("the platform is away")
        return update(self, space, id, change)

    monkeypatch.setattr(ChangeRequests, "update", fail_second)
    done, failed = [one.outcome for one in run(world, wish) if one.flow == "close"]
    assert isinstance(done, Applied)
    assert [change.message for change in done.changes] == ["archived: branch docs/1 was deleted"]
    assert failed.exit_code == Unreachable.exit_code
    with world.workspace() as workspace:
        (close,) = [one for one in workspace.store.list_outcomes() if one.flow == "close"]
    assert close.state == "waiting"
    monkeypatch.undo()
    fine(run(world, wish))
    assert not live(world)


def test_many_deleted_branches_at_once_wait_for_a_person(world: Any) -> None:
    clone = world.root / "clone"
    subprocess.run(["git", "init", "--quiet", str(clone)], check=True)
    requests = [ChangeRequest(id=f"c{n}", number=n, status="open") for n in range(11)]
    gone = [Proposal(f"docs/{request.number}", "1" * 40, request) for request in requests]
    with world.workspace() as workspace:
        binding = workspace.bindings[0]
        held = outcome_of(lambda: close_proposals(workspace, binding, gone, existing=11, done=[]))
        assert isinstance(held, Held)
        assert "--force archive.docs=11" in held.hint
        assert not workspace.client.requests_sent


@pytest.mark.long
def test_a_pattern_that_matches_too_much_opens_no_crowd_of_change_requests(world: Any, fine: Any) -> None:
    world.clone()
    fine(run(world, RunOptions()))
    for number in range(11):
        branch_with(world, f"old/{number}", {"options.md": f"{OPTIONS}* {number}\n"})
    branch_with(world, "old/code", {"src/code.py": "pass\n"})
    branch_with(world, "mine", {"errors.md": "# Errors explained\n\nMine.\n"})
    wish = RunOptions(branches=("main", "mine"), patterns=("old/*",))
    held = [(one.flow, one.key, one.outcome) for one in run(world, wish) if one.outcome.exit_code]
    [(flow, key, outcome)] = held
    assert (flow, key) == ("propose", "docs")
    assert isinstance(outcome, Held)
    assert "11 branches would each get a change request" in outcome.why
    assert "--force open.docs=11" in outcome.hint
    assert len(live(world)) == 1  # the branch that was named goes on
    with world.workspace() as workspace:
        fine(run_cycle(replace(workspace, force={"open.docs": 11}), wish))
    assert len(live(world)) == 12
    branch_with(world, "old/late", {"options.md": f"{OPTIONS}* late\n"})
    fine(run(world, wish))
    assert len(live(world)) == 13


def test_pages_in_conflict_are_told_of_each_branch_that_they_are_in(world: Any) -> None:
    world.clone()
    mine = {"options.md": "# Options\n\nMine.\n", "errors.md": "# Errors explained\n\nMine.\n"}
    branch_with(world, "docs/one", mine)
    branch_with(world, "docs/two", {"options.md": mine["options.md"], "README.md": "# Home\n\nMine.\n"})
    assert_fine(run(world, wish := RunOptions(branches=("main",), patterns=("docs/*",))))
    theirs = {"options.md": "# Options\n\nTheirs.\n", "errors.md": "# Errors explained\n\nTheirs.\n"}
    world.edit_on_platform(theirs)
    held = [one.outcome for one in run(world, wish) if one.flow == "conflict"]
    found = [(one.branch, *one.paths) for one in held if isinstance(one, Held)]
    assert found == [("docs/one", "errors.md"), ("docs/one", "options.md"), ("docs/two", "options.md")]
    with world.workspace() as workspace:
        (binding,) = workspace.bindings
        assert list_conflict_paths(workspace, binding, "docs/one") == ("errors.md", "options.md")
        assert list_conflict_paths(workspace, binding, "docs/two") == ("options.md",)
        for number, is_there in ((1, True), (2, False)):
            (request,) = find_requests(workspace, workspace.bindings, number)
            with pytest.raises(Conflict) as refusal:
                merge_request(workspace, request)
            assert ("errors.md" in refusal.value.what) == is_there


@pytest.fixture
def archived(world: Any, fine: Any) -> Any:
    """A world whose clone has proposed a branch with a change request that was archived since."""
    world.clone()
    branch_with(world, "docs/one", {"errors.md": "# Errors explained\n\nMine.\n"})
    fine(run(world, RunOptions(branches=("main",), patterns=("docs/*",))))
    with world.client() as client:
        client.change_requests.update(world.space, "1", ChangeRequestUpdate(status="archived"))
    return world


def test_an_archived_change_request_hides_no_newer_one_of_another_job(archived: Any, fine: Any) -> None:
    archived.commit("Mine", {"options.md": f"{OPTIONS}* mine\n"})
    fine(archived.sync())
    with archived.client() as client:
        subject = add_marker("By a job", build_marker("main", "0a1b2c"))
        client.change_requests.create(archived.space, ChangeRequestCreate(subject=subject))
    archived.commit("More", {"options.md": f"{OPTIONS}* mine\n* more\n"})
    (proposed,) = [one.outcome for one in archived.sync() if one.flow == "propose"]
    assert proposed.changes[0].key == "#3"


def test_an_archived_change_request_hides_no_new_page_of_another_clone(archived: Any, fine: Any) -> None:
    table = (archived.root / "clone" / "SUMMARY.md").read_text()
    files = {"new.md": "# New\n\nOne.\n", "SUMMARY.md": f"{table}* [New](new.md)\n"}
    archived.git("clone", "--quiet", ".", str(archived.root / "two"))
    archived.commit("New page", files, clone="two")
    with archived.workspace("two") as workspace:
        fine(run_cycle(replace(workspace, instance="0a1b2d"), RunOptions()))
    archived.git("pull", "--quiet", "--ff-only", str(archived.root / "two"), "main")
    fine(archived.sync())
    assert live(archived) == ["New page [main#0a1b2d]"]
