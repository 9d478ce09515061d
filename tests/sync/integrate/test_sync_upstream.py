"""Upstream: tracked branches come from a Git remote and go back to it, and nothing is ever forced."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest

from syncd.api.transport.breaker import Breaker
from syncd.errors import Unreachable
from syncd.repo.remote.remote import Access
from syncd.repo.repository import Repository
from syncd.sync.integrate.resolve import resolve_pages
from syncd.sync.outcome import Applied, Held, Unchanged, Waiting
from syncd.sync.run.cycle import run_cycle
from syncd.sync.run.values import RunOptions
from syncd.sync.workspace import Upstream
from tests.checkouts import git
from tests.serving_git import TOKEN, GitServer, serve_git

SYNC, PULL, PUSH = RunOptions(), RunOptions(propose=False, should_publish=False), RunOptions(integrate=False)


class Team:
    """A hosted repository, somebody who works with it by Git alone, and a clone that syncd keeps in step."""

    def __init__(self, world: Any, server: GitServer) -> None:
        self.world, self.server, self.root = world, server, Path(world.root)
        self.hosted, self.other = server.root / "docs.git", self.root / "other"
        self.token = self.root / "git-token"
        self.token.write_text(TOKEN)
        self.token.chmod(0o600)
        self.push: Literal["branch", "side", "never"] = "branch"
        self.url = str(self.hosted)
        self.now = 0.0
        self.breaker = Breaker(60, clock=lambda: self.now)

    def run(self, wish: RunOptions = SYNC, clone: str = "clone") -> Any:
        access = Access(self.url, token_file=self.token)
        with self.world.workspace(clone) as workspace:
            upstream = Upstream("origin", access, push=self.push)
            return run_cycle(replace(workspace, upstream=upstream, upstream_guard=lambda _: self.breaker.guard()), wish)

    def resolve(self, choice: Literal["ours", "theirs"], path: str) -> None:
        with self.world.workspace("clone") as workspace:
            upstream = Upstream("origin", Access(self.url))
            _, still = resolve_pages(replace(workspace, upstream=upstream), "main", {path: choice})
            assert not still

    def commit(self, message: str, files: dict[str, str], *, branch: str = "main") -> str:
        """The other person commits and pushes."""
        if not self.other.exists():
            git(self.root, "clone", "--quiet", str(self.hosted), "other")
        git(self.other, "fetch", "--quiet")
        git(self.other, "checkout", "--quiet", "-B", branch, "origin/main" if branch != "main" else f"origin/{branch}")
        for path, text in files.items():
            (self.other / path).write_text(text)
        git(self.other, "add", "--all")
        git(self.other, "commit", "--quiet", "--message", message)
        git(self.other, "push", "--quiet", "origin", branch)
        return git(self.other, "rev-parse", "HEAD")

    def refuse(self) -> None:
        """Let the hosted repository take no push to main."""
        hook = self.hosted / "hooks/update"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text('#!/bin/sh\n[ "$1" != refs/heads/main ]\n')
        hook.chmod(0o755)

    def at(self, branch: str = "main") -> str:
        return git(self.hosted, "rev-parse", branch)


def upstream(results: Any) -> dict[str, Any]:
    return {result.key: result.outcome for result in results if result.flow == "upstream"}


@pytest.fixture
def team(world: Any, tmp_path: Path) -> Iterator[Team]:
    clone = world.clone()
    (tmp_path / "hosted").mkdir()
    git(tmp_path, "clone", "--quiet", "--bare", str(clone), "hosted/docs.git")
    git(tmp_path / "hosted/docs.git", "config", "http.receivepack", "true")
    with serve_git(tmp_path / "hosted") as server:
        yield Team(world, server)


def test_commits_come_from_the_remote_and_what_the_platform_has_goes_there(team: Team, world: Any, fine: Any) -> None:
    team.url = f"{team.server.url}/docs.git"
    theirs = team.commit("Code", {"code.txt": "code\n"})
    world.edit_on_platform({"options.md": "# Options\n\nFrom the platform.\n"})
    fine(team.run())
    clone = world.root / "clone"
    assert (clone / "code.txt").read_text() == "code\n"
    assert git(clone, "merge-base", "--is-ancestor", theirs, "main") == ""
    assert team.at() == git(clone, "rev-parse", "main")
    assert "From the platform" in git(team.hosted, "show", "main:options.md")
    assert git(clone, "status", "--porcelain") == ""
    results = team.run()
    fine(results)
    assert all(isinstance(result.outcome, Unchanged) for result in results)


@pytest.mark.long
def test_what_people_push_is_proposed(team: Team, world: Any, fine: Any) -> None:
    team.commit("Docs", {"options.md": "# Options\n\nBy Git alone.\n"})
    results = team.run()
    fine(results)
    assert any(result.flow == "propose" and isinstance(result.outcome, Applied) for result in results)


def test_both_sides_merge_page_by_page(team: Team, world: Any, fine: Any) -> None:
    team.commit("Theirs", {"options.md": "# Options\n\nTheirs.\n", "errors.md": "# Errors explained\n\nTheirs.\n"})
    world.commit("Ours", {"options.md": "# Options\n\nOurs.\n", "README.md": "# Home\n\nOurs.\n"})
    results = team.run()
    (conflict,) = [result for result in results if result.flow == "conflict"]
    assert conflict.key == "options.md"
    clone = world.root / "clone"
    assert (clone / "errors.md").read_text().endswith("Theirs.\n"), "other pages go on"
    assert (clone / "options.md").read_text().endswith("Ours.\n")
    assert "Theirs" in git(team.hosted, "show", "main:options.md")
    team.resolve("theirs", "options.md")
    fine(team.run())
    assert team.at() == git(clone, "rev-parse", "main")


def test_a_rewritten_branch_is_followed_when_nothing_is_lost(team: Team, world: Any, fine: Any) -> None:
    team.commit("A secret", {"secret.txt": "hunter2\n"})
    fine(team.run())
    git(team.other, "commit", "--quiet", "--amend", "--message", "No secret", "--allow-empty")
    git(team.other, "rm", "--quiet", "secret.txt")
    (team.other / "code.txt").write_text("code\n")
    git(team.other, "add", "--all")
    git(team.other, "commit", "--quiet", "--amend", "--message", "No secret")
    git(team.other, "push", "--quiet", "--force", "origin", "main")
    git(world.root / "clone", "fetch", "--quiet", str(team.hosted), "+refs/heads/*:refs/remotes/origin/*")
    results = team.run()
    fine(results)
    clone = world.root / "clone"
    assert not (clone / "secret.txt").exists()
    assert (clone / "code.txt").exists()
    assert team.at() == git(clone, "rev-parse", "main")


@pytest.mark.long
def test_a_branch_that_was_set_back_is_followed_too(team: Team, world: Any, fine: Any) -> None:
    before = team.at()
    team.commit("A mistake", {"mistake.txt": "x\n"})
    fine(team.run())
    git(team.hosted, "update-ref", "refs/heads/main", before)
    fine(team.run())
    assert team.at() == git(world.root / "clone", "rev-parse", "main") == before


@pytest.mark.long
@pytest.mark.parametrize("back", [True, False])
def test_a_rewritten_branch_and_own_commits_wait_for_a_person(team: Team, world: Any, fine: Any, back: bool) -> None:
    before = team.at()
    team.commit("A mistake", {"mistake.txt": "x\n"})
    fine(team.run())
    world.commit("Ours", {"ours.txt": "ours\n"})
    git(team.hosted, "update-ref", "refs/heads/main", before)
    if not back:
        git(team.other, "reset", "--quiet", "--hard", before)
        team.commit("Rewritten", {"other.txt": "y\n"})
    there = team.at()
    ours = git(world.root / "clone", "rev-parse", "main")
    for _ in range(2):
        held = upstream(team.run())["origin/main"]
        assert isinstance(held, Held)
        assert held.exit_code == 6
        assert "git rebase --onto origin/main" in held.hint
        assert team.at() == there, "what was given up is not pushed back"
        assert git(world.root / "clone", "rev-parse", "main") == ours
    words = held.hint.split(",")[0].split()
    git(world.root / "clone", *words[1:])
    fine(team.run())
    assert team.at() == git(world.root / "clone", "rev-parse", "main")
    assert "mistake.txt" not in git(team.hosted, "ls-tree", "--name-only", "main")


def test_a_protected_branch_is_left_alone_and_the_side_branch_is_pushed(team: Team, world: Any, fine: Any) -> None:
    team.refuse()
    there = team.at()
    world.edit_on_platform({"options.md": "# Options\n\nOne.\n"})
    results = team.run()
    fine(results)
    pushed = upstream(results)["push origin/main"]
    assert pushed.notes
    assert "open a pull request from syncd/main" in pushed.notes[0]
    assert team.at() == there
    assert team.at("syncd/main") == git(world.root / "clone", "rev-parse", "main")
    again = upstream(team.run())
    assert isinstance(again["push origin/main"], Unchanged), "it is not tried again"
    hint = "merge the pull request from syncd/main there, or open one"
    waits = Waiting("origin/main lacks what it has", hint, exit_code=0)
    assert again["origin/syncd/main"] == upstream(results)["origin/syncd/main"] == waits, "it is told in each run"
    world.edit_on_platform({"options.md": "# Options\n\nTwo.\n"})
    fine(team.run())
    assert team.at("syncd/main") == git(world.root / "clone", "rev-parse", "main")
    git(team.root, "clone", "--quiet", str(team.hosted), "merger")
    git(team.root / "merger", "merge", "--quiet", "--squash", "origin/syncd/main")
    git(team.root / "merger", "commit", "--quiet", "--message", "Squashed")
    (team.hosted / "hooks/update").unlink()
    git(team.root / "merger", "push", "--quiet", "origin", "main")
    team.refuse()
    side = team.at("syncd/main")
    results = team.run()
    fine(results)
    assert team.at("syncd/main") == side, "a pull request that would be empty is not asked for"
    assert "origin/syncd/main" not in upstream(results)


@pytest.mark.parametrize(("hook", "says"), [("pre-receive", "pre-receive hook declined"), ("", "checked out")])
def test_a_remote_that_takes_nothing_is_not_asked_again_and_again(team: Team, world: Any, hook: str, says: str) -> None:
    """The hint was to run syncd again, which could not help."""
    if hook:
        team.refuse()
        (team.hosted / "hooks/update").rename(team.hosted / f"hooks/{hook}")
        (team.hosted / f"hooks/{hook}").write_text("#!/bin/sh\nexit 1\n")
    else:
        git(team.hosted, "config", "core.bare", "false")
    world.edit_on_platform({"options.md": "# Options\n\nOne.\n"})
    held = upstream(team.run())["push origin/main"]
    assert isinstance(held, Held)
    assert says in held.why
    assert held.hint == 'allow it there, or set push = "never" under [repository.upstream]'


@pytest.mark.long
def test_the_side_branch_can_be_the_rule_and_pushing_can_be_off(team: Team, world: Any, fine: Any) -> None:
    there = team.at()
    world.edit_on_platform({"options.md": "# Options\n\nOne.\n"})
    team.push = "never"
    fine(team.run())
    assert "syncd" not in git(team.hosted, "for-each-ref")
    team.push = "side"
    fine(team.run())
    assert team.at() == there
    assert team.at("syncd/main") == git(world.root / "clone", "rev-parse", "main")


@pytest.mark.long
def test_a_side_branch_with_commits_of_others_is_not_replaced(team: Team, world: Any) -> None:
    team.push = "side"
    theirs = team.commit("On the side", {"side.txt": "side\n"}, branch="syncd/main")
    world.edit_on_platform({"options.md": "# Options\n\nOne.\n"})
    held = upstream(team.run())["push origin/main"]
    assert isinstance(held, Held)
    assert team.at("syncd/main") == theirs


@pytest.mark.long
def test_pull_pushes_nothing_and_push_moves_nothing(team: Team, world: Any, fine: Any) -> None:
    there = team.at()
    world.commit("Ours", {"ours.txt": "ours\n"})
    fine(team.run(PULL))
    assert team.at() == there
    fine(team.run(PUSH))
    assert team.at() == git(world.root / "clone", "rev-parse", "main") != there
    theirs = team.commit("Theirs", {"theirs.txt": "theirs\n"})
    world.commit("Ours again", {"ours.txt": "more\n"})
    tip = git(world.root / "clone", "rev-parse", "main")
    held = upstream(team.run(PUSH))["push origin/main"]
    assert (held.exit_code, held.hint) == (6, "syncd pull")
    assert (team.at(), git(world.root / "clone", "rev-parse", "main")) == (theirs, tip)


def test_a_remote_that_is_down_is_asked_now_and_then_whatever_else_works(team: Team, world: Any) -> None:
    with pytest.raises(Unreachable), team.breaker.guard():
        raise Unreachable("origin: no answer")
    world.edit_on_platform({"options.md": "# Options\n\nOne.\n"})
    (outcome,) = upstream(team.run()).values()
    assert outcome == Waiting("origin: no answer", exit_code=69), "it would answer, but is not asked"
    assert "One." in git(world.root / "clone", "show", "main:options.md")
    team.now += 60
    assert not any(each.exit_code for each in upstream(team.run()).values())


@pytest.mark.long
@pytest.mark.parametrize(("status", "kind", "code"), [(503, Waiting, 69), (403, Held, 77), (404, Held, 78)])
def test_a_remote_that_does_not_answer_stops_no_other_flow(
    team: Team, world: Any, status: int, kind: Any, code: int
) -> None:
    team.url, team.server.status = f"{team.server.url}/docs.git", status
    world.edit_on_platform({"options.md": "# Options\n\nOne.\n"})
    results = team.run()
    (outcome,) = upstream(results).values()
    assert isinstance(outcome, kind)
    assert outcome.exit_code == code
    assert "One." in git(world.root / "clone", "show", "main:options.md")
    assert TOKEN not in str(results)


@pytest.mark.long
def test_a_bare_repository_serves_a_team_without_a_work_tree(team: Team, world: Any, fine: Any) -> None:
    git(team.root, "clone", "--quiet", "--bare", str(team.hosted), "service/.git")
    fine(team.run(clone="service"))
    team.commit("Docs", {"options.md": "# Options\n\nBy Git alone.\n"})
    wish = replace(SYNC, patterns=("feature/*",))
    team.commit("A feature", {"errors.md": "# Errors explained\n\nBetter.\n"}, branch="feature/one")
    fine(team.run(wish, clone="service"))
    bare = team.root / "service/.git"
    assert git(bare, "rev-parse", "feature/one") == team.at("feature/one")
    requests = git(bare, "for-each-ref", "--format=%(refname)", "refs/syncd/proposed").split()
    assert [ref.split("/", 5)[-1] for ref in requests] == ["main", "feature/one"]
    world.merge(1)
    fine(team.run(wish, clone="service"))
    assert team.at() == git(bare, "rev-parse", "main")
    assert "Syncd-Revision" in git(team.hosted, "log", "-3", "--format=%B", "main")
    git(team.hosted, "update-ref", "-d", "refs/heads/feature/one")
    fine(team.run(wish, clone="service"))
    assert git(bare, "for-each-ref", "refs/heads/feature") == ""


def test_a_named_branch_that_is_nowhere_is_held_with_those_that_there_are(team: Team, fine: Any) -> None:
    git(team.root, "clone", "--quiet", "--bare", str(team.hosted), "service/.git")
    team.commit("Topic", {"topic.txt": "x\n"}, branch="topic")
    wish = RunOptions(branches=("mian",))
    held = Held(
        "there is no branch mian, here or at origin",
        'there is main, topic: in the configuration, name yours, as in branches = ["main"]',
    )
    for _ in range(2):
        results = team.run(wish, clone="service")
        assert [(one.key, one.outcome) for one in results if one.outcome.exit_code] == [("mian", held)]
    fine(team.run(replace(wish, patterns=("top*",)), clone="service"))
    fine(team.run(replace(wish, branches=("main", "later")), clone="service"))


def test_an_empty_repository_waits_for_its_host_whose_branch_has_another_name(team: Team, fine: Any) -> None:
    for path in ("host/docs.git", "service/.git"):
        git(team.root, "init", "--quiet", "--bare", "--initial-branch=main", path)
    team.url = str(team.root / "host" / "docs.git")
    fine(team.run(clone="service"))
    fine(team.run(clone="service"))
    git(team.hosted, "push", "--quiet", team.url, "main:master")
    (held,) = [one.outcome for one in team.run(clone="service") if one.outcome.exit_code]
    assert held.hint == 'there is master: in the configuration, name yours, as in branches = ["master"]'


def test_without_an_upstream_a_named_branch_that_is_not_here_is_held(world: Any, fine: Any) -> None:
    world.clone()
    with world.workspace("clone") as workspace:
        fine(run_cycle(workspace, RunOptions(branches=("main",))))
        (held,) = [one.outcome for one in run_cycle(workspace, RunOptions(branches=("mian",))) if one.outcome.exit_code]
        assert isinstance(held, Held)
        assert held.why == "there is no branch mian here"
        world.git("checkout", "--quiet", "--orphan", "mian")
        fine(run_cycle(workspace, RunOptions(branches=("mian",))))


@pytest.mark.long
def test_a_named_branch_that_the_remote_dropped_is_not_brought_back(team: Team, world: Any, fine: Any) -> None:
    wish = RunOptions(branches=("main", "second"))
    team.commit("Second", {"second.txt": "x\n"}, branch="second")
    fine(team.run(wish))
    git(team.hosted, "update-ref", "-d", "refs/heads/second")
    world.git("checkout", "--quiet", "second")
    world.commit("Ours", {"ours.txt": "ours\n"})
    held = upstream(team.run(wish))["push origin/second"]
    assert isinstance(held, Held)
    assert "second" not in git(team.hosted, "for-each-ref", "--format=%(refname)")
    world.git("remote", "add", "origin", str(team.hosted))
    world.git(*held.hint.removeprefix("to bring it back: git ").split())
    assert team.at("second") == git(world.root / "clone", "rev-parse", "second")


@pytest.mark.long
def test_a_remote_s_head_is_left_alone(team: Team, world: Any, fine: Any) -> None:
    clone = world.root / "clone"
    git(clone, "remote", "add", "origin", str(team.hosted))
    git(clone, "fetch", "--quiet")
    git(clone, "remote", "set-head", "origin", "main")
    fine(team.run(RunOptions(patterns=("*",))))
    assert git(clone, "symbolic-ref", "refs/remotes/origin/HEAD") == "refs/remotes/origin/main"
    assert git(clone, "rev-parse", "origin/main") == team.at()


@pytest.mark.long
def test_a_branch_takes_the_place_of_one_that_was_in_its_way(team: Team, fine: Any) -> None:
    wish = RunOptions(patterns=("feature*",))
    team.commit("One", {"one.txt": "x\n"}, branch="feature")
    fine(team.run(wish))
    git(team.hosted, "update-ref", "-d", "refs/heads/feature")
    git(Path(team.world.root) / "clone", "branch", "--quiet", "-D", "feature")
    git(team.other, "branch", "--quiet", "--move", "main", "kept")
    git(team.other, "checkout", "--quiet", "kept")
    git(team.other, "branch", "--quiet", "-D", "feature")
    git(team.other, "fetch", "--quiet", "--prune")
    team.commit("Two", {"two.txt": "x\n"}, branch="feature/two")
    fine(team.run(wish))
    with Repository.open(Path(team.world.root) / "clone") as repository:
        assert repository.resolve("refs/remotes/origin/feature/two") is not None


@pytest.mark.long
def test_another_repository_is_not_merged(team: Team, world: Any) -> None:
    git(team.root, "init", "--quiet", "--initial-branch=main", "stranger")
    git(team.root / "stranger", "commit", "--quiet", "--allow-empty", "--message", "Another")
    team.url = str(team.root / "stranger")
    tip = git(world.root / "clone", "rev-parse", "main")
    held = upstream(team.run(PULL))["origin/main"]
    assert "no commit in common" in held.why
    assert git(world.root / "clone", "rev-parse", "main") == tip
