"""The site goes where readers find it after each run that moved the branch; what fails or is killed harms nothing."""

import json
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from syncd import fault_points
from syncd.fault_points import FaultPoint
from syncd.layout.tree.built_sites import MANIFEST
from syncd.repo.remote.remote import Access
from syncd.sync.outcome import Applied, Held, Outcome, Unchanged, Waiting
from syncd.sync.publish.target.options import PublishOptions
from syncd.sync.run.cycle import run_cycle
from syncd.sync.run.values import RunOptions
from syncd.sync.workspace import Upstream

BRANCH = PublishOptions("site.yaml", branch="gh-pages", base_url="https://docs.example/x")


class Stopped(BaseException):
    """What a kill does to a run."""


def git(path: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


class Publisher:
    """A clone that is kept in step with a platform, and publishes to a directory or to a hosted repository."""

    def __init__(self, world: Any, top: Path) -> None:
        self.world, self.clone, self.public = world, world.clone(), top / "www/public"
        self.hosted = top / "hosted.git"
        self.cancelled = False
        git(top, "clone", "--quiet", "--bare", str(self.clone), "hosted.git")
        self.directory = PublishOptions("site.yaml", directory=self.public)

    def publish(self, options: PublishOptions) -> Outcome:
        """Let syncd run once, and return what became of the site."""
        with self.world.workspace("clone") as workspace:
            upstream = Upstream("origin", Access(str(self.hosted)))
            asked = replace(workspace, upstream=upstream, is_cancelled=lambda: self.cancelled)
            results = run_cycle(asked, RunOptions(publication=options))
        found: list[Outcome] = [result.outcome for result in results if result.flow == "publish"]
        assert len(found) == 1, results
        return found[0]

    def show(self, path: str) -> str:
        """A file of the published branch."""
        return git(self.hosted, "show", f"gh-pages:{path}")

    def list_branch(self) -> set[str]:
        return set(git(self.hosted, "ls-tree", "-r", "--name-only", "gh-pages").splitlines())

    def list_directory(self) -> set[str]:
        return {path.relative_to(self.public).as_posix() for path in self.public.rglob("*") if path.is_file()}

    def count(self) -> int:
        return int(git(self.hosted, "rev-list", "--count", "gh-pages"))


@pytest.fixture
def publisher(world: Any, tmp_path: Path) -> Publisher:
    return Publisher(world, tmp_path)


def test_a_directory_follows_what_the_platform_has(publisher: Publisher, world: Any) -> None:
    first = publisher.publish(publisher.directory)
    assert isinstance(first, Applied)
    assert first.changes[0].key == str(publisher.public)
    assert publisher.public.is_symlink()
    assert "Welcome" in (publisher.public / "index.html").read_text()
    assert publisher.publish(publisher.directory) == Unchanged()
    before = publisher.public.resolve()
    world.edit_on_platform({"options.md": "# Options\n\nFrom the platform.\n"})
    assert isinstance(publisher.publish(publisher.directory), Applied)
    assert "From the platform." in (publisher.public / "reference/options/index.html").read_text()
    assert "From the platform." not in (before / "reference/options/index.html").read_text()


def test_what_did_not_move_is_not_even_built(publisher: Publisher) -> None:
    publisher.publish(publisher.directory)
    page = publisher.public / "index.html"
    page.unlink()
    assert publisher.publish(publisher.directory) == Unchanged()
    assert not page.exists(), "nobody looked at the pages"
    publisher.public.unlink()
    assert isinstance(publisher.publish(publisher.directory), Applied)
    assert page.is_file(), "what is gone as a whole is built again"
    other = replace(publisher.directory, base_url="https://docs.example")
    assert isinstance(publisher.publish(other), Applied), "another address makes other pages"
    assert (publisher.public / "sitemap.xml").is_file()


def test_everybody_may_read_what_is_published(publisher: Publisher) -> None:
    former = os.umask(0o077)
    try:
        publisher.publish(publisher.directory)
    finally:
        os.umask(former)
    found = [publisher.public.resolve(), *publisher.public.resolve().rglob("*")]
    assert {path.stat().st_mode & 0o777 for path in found} == {0o644, 0o755}


def test_a_branch_of_the_remote_gets_a_commit_for_each_change(publisher: Publisher, world: Any) -> None:
    assert isinstance(publisher.publish(BRANCH), Applied)
    assert {"index.html", "guide/setup/index.html", ".nojekyll", "sitemap.xml", MANIFEST} <= publisher.list_branch()
    assert json.loads(publisher.show(MANIFEST))["pages"] == {}
    assert publisher.publish(BRANCH) == Unchanged()
    assert publisher.count() == 1
    (publisher.clone / "other.txt").write_text("no page\n")
    world.commit("No page", {"other.txt": "no page\n"})
    assert publisher.publish(BRANCH) == Unchanged()
    assert publisher.count() == 1, "a commit that changes no page publishes nothing"
    world.commit("Less", {"guide/setup.md": "# Setup\n\nFour.\n"}, gone=["errors.md"])
    world.commit("List", {"SUMMARY.md": (publisher.clone / "SUMMARY.md").read_text().replace("* [Errors]", "* [E]")})
    assert isinstance(publisher.publish(BRANCH), Applied)
    assert publisher.count() == 2
    assert "Four." in publisher.show("guide/setup/index.html")
    assert git(publisher.hosted, "log", "-1", "--format=%s", "gh-pages") == "Publish the site"
    assert "gh-pages" not in git(publisher.clone, "branch", "--format=%(refname:short)").split()


def test_what_others_put_on_the_branch_stays(publisher: Publisher, world: Any, tmp_path: Path) -> None:
    publisher.publish(BRANCH)
    git(tmp_path, "clone", "--quiet", "--branch", "gh-pages", str(publisher.hosted), "other")
    (tmp_path / "other/CNAME").write_text("docs.example\n")
    (tmp_path / "other/index.html").write_text("broken by hand")
    git(tmp_path / "other", "add", "--all")
    git(tmp_path / "other", "commit", "--quiet", "--message", "By hand")
    git(tmp_path / "other", "push", "--quiet")
    assert isinstance(publisher.publish(BRANCH), Applied), "a page that somebody broke is made again"
    assert publisher.show("CNAME") == "docs.example"
    assert "Welcome" in publisher.show("index.html")
    assert publisher.publish(BRANCH) == Unchanged()


def test_a_branch_of_somebody_else_is_left_alone(publisher: Publisher) -> None:
    git(publisher.hosted, "branch", "gh-pages", "main")
    before = git(publisher.hosted, "rev-parse", "gh-pages")
    outcome = publisher.publish(BRANCH)
    assert isinstance(outcome, Held)
    assert "origin/gh-pages has" in outcome.why
    assert "syncd did not make it" in outcome.why
    assert git(publisher.hosted, "rev-parse", "gh-pages") == before


@pytest.mark.long
def test_a_failed_build_keeps_what_is_published_and_says_why(publisher: Publisher, world: Any) -> None:
    for options in (publisher.directory, BRANCH):
        publisher.publish(options)
        before, there = publisher.list_directory(), git(publisher.hosted, "for-each-ref")
        world.commit("Broken", {"site.yaml": "version: 1\nsite: [\n", "README.md": f"# Home\n\n{options.target}\n"})
        outcome = publisher.publish(options)
        assert isinstance(outcome, Held)
        assert outcome.exit_code == 65
        assert "site.yaml" in outcome.why
        assert publisher.list_directory() == before
        kept = git(publisher.hosted, "for-each-ref", "refs/heads/gh-pages")
        assert not kept or kept in there
        assert isinstance(publisher.publish(options), Held), "it is tried again"
        world.commit("Mended", {}, gone=["site.yaml"])
        assert isinstance(publisher.publish(options), Applied)


def test_a_directory_that_cannot_be_written_is_named(publisher: Publisher) -> None:
    publisher.public.parent.mkdir()
    publisher.public.write_text("a file of somebody")
    outcome = publisher.publish(publisher.directory)
    assert isinstance(outcome, Held)
    assert str(publisher.public) in outcome.why
    assert publisher.public.read_text() == "a file of somebody"


def test_pages_that_are_left_out_are_said_until_they_are_mended(publisher: Publisher, world: Any) -> None:
    summary = (publisher.clone / "SUMMARY.md").read_text()
    listed = summary.replace("* [Guide]", "* [Own](~syncd.md)\n* [Guide]", 1)
    world.commit("Own", {"~syncd.md": "# Own\n", "SUMMARY.md": listed})
    for _ in range(2):
        outcome = publisher.publish(publisher.directory)
        assert isinstance(outcome, Held)
        assert outcome.exit_code == 4
        assert "is published without ~syncd.md: its address /~syncd" in outcome.why
        assert "Welcome" in (publisher.public / "index.html").read_text()
    world.commit("Mended", {"SUMMARY.md": summary}, gone=["~syncd.md"])
    assert isinstance(publisher.publish(publisher.directory), Applied | Unchanged)
    assert publisher.publish(publisher.directory) == Unchanged()


def test_a_remote_that_does_not_answer_is_asked_again(publisher: Publisher, tmp_path: Path) -> None:
    publisher.publish(BRANCH)
    publisher.hosted.rename(tmp_path / "away.git")
    outcome = publisher.publish(BRANCH)
    assert isinstance(outcome, Waiting)
    (tmp_path / "away.git").rename(publisher.hosted)
    assert publisher.publish(BRANCH) == Unchanged()


def test_a_run_that_is_to_end_leaves_the_build_to_the_next(publisher: Publisher) -> None:
    publisher.publish(publisher.directory)
    before = publisher.public.resolve()
    publisher.world.commit("More", {"options.md": "# Options\n\nMore.\n"})
    publisher.cancelled = True
    assert publisher.publish(publisher.directory).exit_code == 143
    assert publisher.public.resolve() == before
    publisher.cancelled = False
    assert isinstance(publisher.publish(publisher.directory), Applied)


@pytest.mark.long
@pytest.mark.parametrize(
    ("to", "point"),
    [
        ("directory", FaultPoint.SITE_PUBLISHED),
        ("branch", FaultPoint.SITE_BUILT),
        ("branch", FaultPoint.COMMIT_STREAMED),
        ("branch", FaultPoint.COMMIT_WRITTEN),
        ("branch", FaultPoint.REF_MOVED),
        ("branch", FaultPoint.BRANCH_PUSHED),
        ("branch", FaultPoint.SITE_PUBLISHED),
    ],
)
def test_after_a_kill_the_next_run_comes_to_the_same_end(
    publisher: Publisher, world: Any, monkeypatch: pytest.MonkeyPatch, to: str, point: FaultPoint
) -> None:
    options = publisher.directory if to == "directory" else BRANCH
    publisher.publish(options)
    world.commit("More", {"options.md": "# Options\n\nMore.\n", "new.md": "# New\n"})
    world.run(RunOptions())  # all but the site is done, so that the kill falls on it
    reached: list[FaultPoint] = []

    def kill(at: FaultPoint) -> None:
        reached.append(at)
        if at is point:
            raise Stopped

    monkeypatch.setattr(fault_points, "on_reach", kill)
    with pytest.raises(Stopped):
        publisher.publish(options)
    assert reached[-1] is point
    monkeypatch.setattr(fault_points, "on_reach", None)
    publisher.publish(options)
    assert publisher.publish(options) == Unchanged()
    if to == "directory":
        assert "More." in (publisher.public / "reference/options/index.html").read_text()
        fresh = publisher.public.with_name("fresh")
        publisher.publish(replace(options, directory=fresh))
        assert {path.relative_to(fresh).as_posix() for path in fresh.rglob("*")} == {
            path.relative_to(publisher.public).as_posix() for path in publisher.public.rglob("*")
        }
    else:
        assert "More." in publisher.show("reference/options/index.html")
        assert publisher.count() == 2, "no commit is made twice"


def test_without_its_own_memory_a_clone_publishes_nothing_twice(publisher: Publisher) -> None:
    publisher.publish(BRANCH)
    for ref in git(publisher.clone, "for-each-ref", "--format=%(refname)", "refs/syncd").splitlines():
        git(publisher.clone, "update-ref", "-d", ref)
    shutil.rmtree(publisher.clone / ".git/syncd")
    assert publisher.publish(BRANCH) == Unchanged()
    assert publisher.count() == 1
