"""Import: a branch becomes main content without a content write, and nothing that anybody wrote is lost."""

import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from syncd import fault_points
from syncd.api.client import Client
from syncd.api.options import ClientOptions
from syncd.cli.platform.git_host import RepositoryHost
from syncd.fault_points import FaultPoint
from syncd.model.git_sync import GitImport, GitInfo, GitOperation
from syncd.platform.settings import PlatformSettings
from syncd.repo.remote.remote import Access
from syncd.repo.repository import Repository
from syncd.sync.git_import.flow import finish_import
from syncd.sync.integrate.resolve import find_conflicts, resolve_pages
from syncd.sync.outcome import Applied, Held, Unchanged
from syncd.sync.run.cycle import Flows, run_cycle
from syncd.sync.run.spaces import SpaceReader
from syncd.sync.run.values import RunOptions
from syncd.sync.workspace import Upstream
from tests.serving_git import TOKEN, GitServer, serve_git
from tests.sync.conflicts import Stand

SYNC, PUSH = RunOptions(), RunOptions(integrate=False)
SETTINGS = PlatformSettings(content_write=False, private_addresses=True, git_host=RepositoryHost())


class Killed(BaseException):
    """The process ended at a fault point."""


class Desk:
    """A platform without content write, a hosted repository, and a clone that syncd imports from."""

    def __init__(self, world: Any, server: GitServer) -> None:
        self.world, self.server = world, server
        self.hosted = server.root / "docs.git"
        self.token = Path(world.root) / "git-token"
        self.token.write_text(TOKEN)
        self.token.chmod(0o600)
        self.clone = Path(world.root) / "clone"
        self.import_ref_url = f"{server.url}/docs.git".replace("//", f"//x-access-token:{quote(TOKEN)}@", 1)

    def run(self, wish: RunOptions = SYNC, *, directory: str = "", force: Any = None, dry: bool = False) -> Any:
        with self.world.workspace("clone", directory=directory, force=force) as workspace:
            access = Access(f"{self.server.url}/docs.git", token_file=self.token)
            upstream = Upstream("origin", access, read_import_url=lambda: self.import_ref_url)
            return run_cycle(replace(workspace, upstream=upstream, write="git-import", is_dry_run=dry), wish)

    def git(self, *words: str) -> str:
        return str(self.world.git(*words)).strip()

    def page(self, slug: str) -> str:
        """The text of a page of main content, by the end of its path."""
        with self.world.client() as client:
            pages = {page.path: page.id for page, _ in _walk(client.content.get(self.world.space).pages)}
            found = next(id for path, id in pages.items() if path and path.endswith(slug))
            return str(client.content.get_page(self.world.space, found).markdown)

    def revision(self) -> Any:
        with self.world.client() as client:
            return client.content.get(self.world.space)

    def settle(self) -> None:
        """Run until nothing changes; every run is in order."""
        for _ in range(4):
            results = self.run()
            wrong = [result for result in results if result.outcome.exit_code]
            assert not wrong, wrong
            if all(isinstance(result.outcome, Unchanged) for result in results):
                return
        raise AssertionError("it does not come to rest")


def _walk(pages: Any) -> Iterator[tuple[Any, int]]:
    for page in pages:
        yield page, 0
        yield from _walk(page.pages)


def imported(results: Any) -> list[Any]:
    return [result.outcome for result in results if result.flow == "import" and "/" in result.key]


@pytest.fixture
def desk(worlds: Any, tmp_path: Path) -> Iterator[Desk]:
    with worlds(tmp_path, SETTINGS) as world:
        clone = world.clone()
        (tmp_path / "hosted").mkdir()
        subprocess.run(["git", "clone", "--quiet", "--bare", str(clone), str(tmp_path / "hosted/docs.git")], check=True)
        subprocess.run(["git", "config", "http.receivepack", "true"], cwd=tmp_path / "hosted/docs.git", check=True)
        with serve_git(tmp_path / "hosted") as server:
            yield Desk(world, server)


@pytest.fixture
def at_point(monkeypatch: pytest.MonkeyPatch) -> Callable[[FaultPoint, Callable[[], None]], None]:
    """Lets something happen once, when a run comes to a point."""

    def arrange(wanted: FaultPoint, act: Callable[[], None]) -> None:
        pending = [act]

        def reached(point: FaultPoint) -> None:
            if point is wanted and pending:
                pending.pop()()

        monkeypatch.setattr(fault_points, "on_reach", reached)

    return arrange


def test_a_branch_becomes_main_content_and_the_run_says_so(desk: Desk) -> None:
    before = desk.revision().id
    oid = desk.world.commit("Write", {"options.md": "# Options\n\n* first\n* third\n", "code.txt": "code\n"})
    results = desk.run()
    (outcome,) = imported(results)
    assert isinstance(outcome, Applied), outcome
    (change,) = outcome.changes
    after = desk.revision()
    assert (change.noun, change.before, change.after) == ("main content", before, after.id)
    assert after.id in change.where
    assert "without a change request" in change.message
    assert any("without a change request" in note for note in outcome.notes)
    assert "third" in desk.page("options")
    assert (after.git.oid, after.parents) == (oid, (before,))
    assert desk.git("rev-parse", "platform/main^2") == oid
    assert desk.git("rev-parse", "main") == desk.git("rev-parse", "platform/main")
    assert desk.git("status", "--porcelain") == ""
    with desk.world.client() as client:
        assert not list(client.change_requests.list(desk.world.space))
    assert all(isinstance(result.outcome, Unchanged) for result in desk.run())
    assert desk.revision().id == after.id


def test_a_dry_run_says_it_and_does_nothing(desk: Desk) -> None:
    desk.world.commit("Write", {"options.md": "# Options\n\nNew.\n"})
    before, at = desk.revision().id, desk.git("ls-remote", str(desk.hosted))
    (outcome,) = imported(desk.run(RunOptions(integrate=False, should_publish=False), dry=True))
    assert "would be written" in outcome.changes[0].message
    assert "without a change request" in outcome.changes[0].message
    assert (desk.revision().id, desk.git("ls-remote", str(desk.hosted))) == (before, at)


@pytest.mark.long
def test_what_an_editor_wrote_is_merged_before(desk: Desk) -> None:
    desk.world.commit("Write", {"options.md": "# Options\n\n* first\n* third\n"})
    desk.world.edit_on_platform({"guide/README.md": "# Guide\n\nFrom the web.\n"})
    (held,) = imported(desk.run(PUSH))
    assert isinstance(held, Held)
    assert "lacks" in held.why
    desk.settle()
    assert "third" in desk.page("options")
    assert "From the web." in desk.page("guide")


@pytest.mark.long
def test_what_an_editor_writes_between_the_last_look_and_the_import_is_brought_back(
    desk: Desk, at_point: Callable[..., None]
) -> None:
    desk.world.commit("Write", {"options.md": "# Options\n\n* first\n* third\n"})
    theirs = {"guide/README.md": "# Guide\n\nFrom the web, just then.\n"}
    at_point(FaultPoint.IMPORT_COMPARED, lambda: desk.world.edit_on_platform(theirs))
    results = desk.run()
    assert not [result for result in results if result.outcome.exit_code]
    first, second = imported(results)
    assert any("somebody wrote revision" in note for note in first.notes)
    assert isinstance(second, Applied)
    assert "third" in desk.page("options")
    assert "From the web, just then." in desk.page("guide")
    assert "From the web, just then." in (desk.clone / "guide/README.md").read_text()
    desk.settle()
    assert desk.git("for-each-ref", "refs/remotes/platform/overwritten") == ""
    assert "From the web, just then." in desk.page("guide")


@pytest.mark.long
def test_what_conflicts_with_it_waits_for_a_person_and_both_are_kept(desk: Desk, at_point: Callable[..., None]) -> None:
    desk.world.commit("Write", {"options.md": "# Options\n\n* first\n* from Git\n"})
    theirs = {"options.md": "# Options\n\n* first\n* from the web\n", "guide/README.md": "# Guide\n\nAlso.\n"}
    at_point(FaultPoint.IMPORT_COMPARED, lambda: desk.world.edit_on_platform(theirs))
    results = desk.run()
    (held,) = [result.outcome for result in results if result.flow == "conflict"]
    assert held.paths == ("options.md",)
    assert "from Git" in desk.page("options")
    assert "from the web" in desk.git("show", "platform/overwritten/docs/1:options.md")
    with desk.world.workspace("clone") as workspace:
        workspace = replace(workspace, write="git-import")
        (conflict,) = find_conflicts(workspace, "main")
        assert conflict.lane == "platform/overwritten/docs/1"
        _, still = resolve_pages(workspace, "main", {"options.md": "theirs"})
        assert not still
    desk.settle()
    assert "from the web" in desk.page("options")
    assert "Also." in desk.page("guide")
    assert desk.git("for-each-ref", "refs/remotes/platform/overwritten") == ""


@pytest.mark.long
@pytest.mark.parametrize(
    "point",
    [
        FaultPoint.BRANCH_PUSHED,
        FaultPoint.IMPORT_COMPARED,
        FaultPoint.IMPORT_REQUESTED,
        FaultPoint.IMPORT_DONE,
        FaultPoint.MIRROR_WRITTEN,
        FaultPoint.COMMIT_WRITTEN,
    ],
    ids=str,
)
def test_after_a_kill_the_next_run_comes_to_the_same_end(
    desk: Desk, at_point: Callable[..., None], point: FaultPoint
) -> None:
    desk.world.commit("Write", {"options.md": "# Options\n\n* first\n* third\n"})

    def kill() -> None:
        # The editor is there at the worst moment, too.
        if point is FaultPoint.IMPORT_COMPARED:
            desk.world.edit_on_platform({"guide/README.md": "# Guide\n\nFrom the web.\n"})
        raise Killed

    at_point(point, kill)
    with pytest.raises(Killed):
        desk.run()
    desk.settle()
    assert "third" in desk.page("options")
    assert ("From the web." in desk.page("guide")) == (point is FaultPoint.IMPORT_COMPARED)


@pytest.mark.long
@pytest.mark.parametrize(
    "point", [FaultPoint.IMPORT_REQUESTED, FaultPoint.IMPORT_DONE, FaultPoint.MIRROR_WRITTEN], ids=str
)
def test_what_was_overwritten_is_brought_back_after_a_kill(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, point: FaultPoint
) -> None:
    desk.world.commit("Write", {"options.md": "# Options\n\n* first\n* third\n"})

    def reached(here: FaultPoint) -> None:
        if here is FaultPoint.IMPORT_COMPARED:
            desk.world.edit_on_platform({"guide/README.md": "# Guide\n\nFrom the web.\n"})
        if here is point:
            raise Killed

    monkeypatch.setattr(fault_points, "on_reach", reached)
    with pytest.raises(Killed):
        desk.run()
    monkeypatch.setattr(fault_points, "on_reach", None)
    desk.settle()
    assert "third" in desk.page("options")
    assert "From the web." in desk.page("guide")
    assert desk.git("for-each-ref", "refs/remotes/platform/overwritten") == ""


@pytest.mark.long
def test_of_several_revisions_that_were_overwritten_every_one_is_brought_back(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two revisions before the import and one after it, all of them between two looks at the space."""
    desk.world.commit("Write", {"options.md": "# Options\n\n* first\n* third\n"})
    guide, setup = (
        {"guide/README.md": "# Guide\n\nFrom the web.\n"},
        {"guide/setup.md": "# Setup\n\nFrom the web, too.\n"},
    )
    after = {"options.md": "# Options\n\n* first\n* third\n", "errors.md": "# Errors explained\n\nAfter the import.\n"}
    edits = {FaultPoint.IMPORT_COMPARED: [guide, guide | setup], FaultPoint.IMPORT_DONE: [after]}

    def reached(here: FaultPoint) -> None:
        for edit in edits.pop(here, ()):
            desk.world.edit_on_platform(edit)

    monkeypatch.setattr(fault_points, "on_reach", reached)
    assert not [result for result in desk.run() if result.outcome.exit_code]
    desk.settle()
    assert not edits
    assert "third" in desk.page("options")
    assert "From the web." in desk.page("guide")
    assert "From the web, too." in desk.page("setup")
    assert "After the import." in desk.page("errors")
    assert desk.git("for-each-ref", "refs/remotes/platform/overwritten") == ""


@pytest.mark.long
def test_an_import_that_fails_is_held_with_the_platforms_reason(desk: Desk) -> None:
    desk.world.commit("Write", {"options.md": "# Options\n\nNew.\n"})
    before, right = desk.revision().id, desk.import_ref_url
    desk.import_ref_url = right.replace("/docs.git", "/other.git")
    (held,) = imported(desk.run())
    assert isinstance(held, Held)
    assert "not found" in held.why
    assert TOKEN not in held.why
    desk.import_ref_url = "https://169.254.169.254/docs.git"
    (refused,) = imported(desk.run())
    assert isinstance(refused, Held)
    assert "not a public one" in refused.why
    assert desk.revision().id == before
    desk.import_ref_url = right
    desk.settle()
    assert "New." in desk.page("options")


def test_a_space_that_cannot_be_read_any_more_ends_its_own_import_alone(desk: Desk) -> None:
    desk.world.commit("Write", {"options.md": "# Options\n\nNew.\n"})

    def refuse(request: httpx.Request) -> httpx.Response:
        return httpx.Response(403, json={"error": {"code": 403, "message": "no"}})

    with (
        desk.world.workspace() as workspace,
        Client(desk.world.url, "token", ClientOptions(transport=httpx.MockTransport(refuse))) as no,
    ):
        access = Access(f"{desk.server.url}/docs.git", token_file=desk.token)
        upstream = Upstream("origin", access, read_import_url=lambda: desk.import_ref_url)
        flows = Flows(replace(workspace, upstream=upstream, write="git-import"), SYNC)
        results = []
        for result in flows.run():
            results.append(result)
            if result.flow == "integrate":  # what a review does that finds newer main content, which is not read then
                flows._spaces = SpaceReader(no, [desk.world.space])
    (refused,) = imported(results)
    assert isinstance(refused, Held)
    assert results[-1].flow == "upstream", "the run goes on"


def test_an_import_may_begin_late_also_where_the_platform_names_a_timeout(desk: Desk) -> None:
    absent = GitInfo(operation_timeout=30_000)
    done = GitOperation(direction="import", state="success", started_at="2026-05-01T10:00:00Z")
    answers = [absent, absent, absent, absent.model_copy(update={"operation": done})]
    desk.git("update-ref", "refs/syncd/importing/docs", "main")
    with desk.world.workspace() as workspace:
        spaces = Stand(workspace.client.spaces, get_git_info=lambda _: answers.pop(0))
        stood = replace(workspace, client=Stand(workspace.client, spaces=spaces))
        assert finish_import(stood, *workspace.bindings) == Unchanged()
    assert not answers


def test_a_platform_that_imports_nothing_is_told_apart(worlds: Any, tmp_path: Path, desk: Desk) -> None:
    with worlds(tmp_path / "other", replace(SETTINGS, git_host=None)) as world:
        world.clone()
        subprocess.run(
            ["git", "clone", "--quiet", "--bare", str(world.root / "clone"), str(desk.server.root / "second.git")],
            check=True,
        )
        subprocess.run(["git", "config", "http.receivepack", "true"], cwd=desk.server.root / "second.git", check=True)
        world.commit("Write", {"options.md": "# Options\n\nNew.\n"})
        other = Desk(world, desk.server)
        with world.workspace("clone") as workspace:
            access = Access(f"{desk.server.url}/second.git", token_file=other.token)
            upstream = Upstream("origin", access, read_import_url=lambda: "https://example.com/docs.git")
            results = run_cycle(replace(workspace, upstream=upstream, write="git-import"), SYNC)
        (held,) = imported(results)
        assert isinstance(held, Held)
        assert "import from Git" in held.hint


def test_a_branch_that_lost_its_pages_is_held_by_a_guard(desk: Desk) -> None:
    before = desk.revision().id
    gone = ["guide/setup.md", "guide/usage.md", "guide/README.md", "errors.md", "options.md"]
    desk.world.commit("Empty", {"SUMMARY.md": "# Table of contents\n"}, gone=[*gone, "README.md"])
    (held,) = imported(desk.run())
    assert isinstance(held, Held)
    assert held.exit_code == 5
    assert desk.revision().id == before


@pytest.mark.long
def test_a_commit_of_a_stranger_named_by_the_platform_is_no_parent(desk: Desk) -> None:
    """Only a commit that is in the branch counts as imported."""
    desk.world.commit("Write", {"options.md": "# Options\n\nNew.\n"})
    desk.settle()
    tip = desk.git("rev-parse", "main")
    desk.git("checkout", "--quiet", "-b", "side")
    desk.world.commit("Aside", {"errors.md": "# Errors explained\n\nAside.\n"})
    desk.git("push", "--quiet", str(desk.hosted), "side")
    desk.git("checkout", "--quiet", "main")
    with desk.world.client() as client:
        client.spaces.import_git(desk.world.space, GitImport(url=desk.import_ref_url, ref="refs/heads/side"))
        until = time.monotonic() + 60
        while (found := client.spaces.get_git_info(desk.world.space).operation) and found.state == "running":
            assert time.monotonic() < until
            time.sleep(0.05)
    desk.settle()
    assert "Aside." in desk.page("errors")
    assert desk.git("log", "--format=%P", "-1", "platform/main") == tip
    with Repository.open(desk.clone) as repository:
        assert repository.resolve("refs/heads/main") == repository.resolve("refs/remotes/platform/main")
