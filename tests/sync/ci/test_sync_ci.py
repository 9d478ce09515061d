"""A push from a place without memory: it finds what the branch grew from, keeps what others did, and repeats safely."""

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from syncd.api.client import Client
from syncd.api.options import ClientOptions
from syncd.errors import GuardRefused
from syncd.model.change_request import ChangeRequest, ChangeRequestCreate, ChangeRequestUpdate
from syncd.model.comment import CommentBodyWrite, CommentCreate
from syncd.model.content_write import ContentWrite, Markdown, UpdatePage
from syncd.model.review import ReviewCreate
from syncd.repo.repository import Repository
from syncd.store.store import Store
from syncd.sync.binding import Binding
from syncd.sync.ci.base import CiResult, Job
from syncd.sync.ci.flow import run_ci
from syncd.sync.outcome import Held, Unchanged
from syncd.sync.workspace import Workspace

OPTIONS = "# Options\n\n* first\n* second\n"
THEIRS = "# Usage\n\nTheirs.\n"


@dataclass
class Team:
    """A team that keeps its docs in Git, and only its CI talks to the platform; `origin` is the shared repository."""

    world: Any
    origin: Path
    jobs: int = 0
    writes: list[int] = field(default_factory=list)
    transport: httpx.BaseTransport | None = None

    def git(self, *words: str, cwd: Path | None = None) -> str:
        done = subprocess.run(["git", *words], cwd=cwd or self.origin, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def commit(self, message: str, files: dict[str, str], *, branch: str = "main") -> str:
        if branch not in self.git("branch", "--list", "--format=%(refname:short)").split():
            self.git("branch", branch)
        self.git("checkout", "--quiet", branch)
        for path, text in files.items():
            (self.origin / path).parent.mkdir(parents=True, exist_ok=True)
            (self.origin / path).write_text(text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)
        return self.git("rev-parse", "HEAD")

    def ci(self, branch: str = "main", *, depth: int = 1, target: str = "", rehearse: bool = False) -> CiResult:
        """One job: a fresh clone of one branch, and a push from it."""
        self.jobs += 1
        place = self.world.root / f"job{self.jobs}"
        cut = [f"--depth={depth}", "--single-branch"] if depth else []
        self.git("clone", "--quiet", *cut, f"--branch={branch}", f"file://{self.origin}", str(place / "clone"))
        tip = self.git("rev-parse", "HEAD", cwd=place / "clone")
        with Repository.open(place / "clone") as clone:
            there = clone.resolve(f"refs/remotes/origin/{target}") if target else None
            job = Job(branch, tip, target, there or "")
            before = self.git("for-each-ref", cwd=place / "clone")
            done = run_ci(lambda: self.fresh(clone, place, rehearse), job)
        assert self.git("for-each-ref", cwd=place / "clone") == before
        assert self.git("status", "--porcelain", "--ignored", cwd=place / "clone") == ""
        return done

    @contextmanager
    def fresh(self, clone: Repository, place: Path, rehearse: bool) -> Iterator[Workspace]:
        with ExitStack() as held:
            here = place / f"work{len(self.writes)}"
            repository = held.enter_context(clone.create_borrower(here / "git"))
            store = held.enter_context(Store(here / "state.db"))
            client = held.enter_context(
                Client(self.world.url, self.world.token, ClientOptions(transport=self.transport))
            )
            yield Workspace(
                client=client,
                repository=repository,
                store=store,
                now=lambda: datetime.now(UTC),
                bindings=(Binding(self.world.space, "", "docs"),),
                instance="c1c1c1",
                is_dry_run=rehearse,
            )
            self.writes.append(sum(n for method, n in client.requests_sent.items() if method != "GET"))

    def requests(self, status: str = "open") -> list[ChangeRequest]:
        with self.world.client() as client:
            return sorted(client.change_requests.list(self.world.space, status=status), key=lambda one: one.number)

    def page(self, number: int, slug: str) -> str:
        """A page's text in a change request."""
        with self.world.client() as client:
            return str(client.change_request_content.get_page_by_path(self.world.space, str(number), slug).markdown)

    def main(self, slug: str) -> str:
        """A page's text in main content."""
        with self.world.client() as client:
            return str(client.content.get_page_by_path(self.world.space, slug).markdown)

    def review(self, number: int, slug: str, text: str) -> None:
        """A reviewer edits a page of a change request."""
        with self.world.client() as client:
            page = client.change_request_content.get_page_by_path(self.world.space, str(number), slug)
            edit = UpdatePage(page=page.id, document=Markdown(markdown=text))
            client.change_requests.write_content(self.world.space, str(number), ContentWrite(changes=(edit,)))


@pytest.fixture
def team(world: Any, small: dict[str, str | bytes]) -> Team:
    """Git and the platform begin with the same content, and neither knows of the other."""
    origin = world.root / "origin"
    origin.mkdir()
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main"], cwd=origin, check=True)
    for path, content in small.items():
        (origin / path).parent.mkdir(parents=True, exist_ok=True)
        (origin / path).write_bytes(content if isinstance(content, bytes) else content.encode())
    made = Team(world, origin)
    made.git("add", "--all")
    made.git("commit", "--quiet", "--message", "Begin")
    return made


def fine(done: CiResult) -> CiResult:
    wrong = [result for result in done.results if result.outcome.exit_code]
    assert not wrong, wrong
    return done


def proposed(done: CiResult) -> Any:
    (outcome,) = [result.outcome for result in done.results if result.flow == "propose"]
    return outcome


@pytest.mark.long
def test_equal_sides_need_no_change_request(team: Team) -> None:
    assert isinstance(proposed(fine(team.ci())), Unchanged)
    assert team.writes == [0]
    assert team.requests() == []


@pytest.mark.long
def test_two_way_proposes_the_whole_difference_and_says_so(team: Team) -> None:
    tip = team.commit("Say more", {"options.md": OPTIONS + "* third\n"})
    done = fine(team.ci())
    assert "* third" in team.page(1, "reference/options")
    assert any("nothing says what the branch grew from" in note for note in done.notes)
    (request,) = team.requests()
    assert request.subject == "Say more [main#c1c1c1]"
    assert request.description is not None
    assert tip in request.description.text()


@pytest.mark.long
def test_the_same_commit_twice_writes_nothing(team: Team) -> None:
    team.commit("Say more", {"options.md": OPTIONS + "* third\n"})
    fine(team.ci())
    fine(team.ci())
    assert team.writes[0] > 0
    assert team.writes[1] == 0
    assert len(team.requests()) == 1


@pytest.mark.long
def test_a_second_push_edits_its_own_page_in_a_clone_of_one_commit(team: Team) -> None:
    summary = (team.origin / "SUMMARY.md").read_text()
    team.commit("Add", {"new.md": "# New\n\nOne line.\n", "SUMMARY.md": summary + "* [New](new.md)\n"})
    fine(team.ci())
    team.commit("Mend", {"new.md": "# New\n\nOne better line.\n"})
    fine(team.ci())
    assert len(team.requests()) == 1
    assert team.page(1, "reference/new") == "# New\n\nOne better line.\n"


@pytest.mark.long
def test_what_a_reviewer_wrote_is_kept_by_later_pushes(team: Team) -> None:
    team.commit("Say more", {"options.md": OPTIONS + "* third\n", "errors.md": "# Errors explained\n\nMine.\n"})
    fine(team.ci())
    team.review(1, "reference/errors", "# Errors explained\n\nMine, said a reviewer.\n")
    team.commit("Again", {"options.md": OPTIONS + "* third\n* and 1\n"})
    fine(team.ci())
    assert "said a reviewer" in team.page(1, "reference/errors")
    assert "* and 1" in team.page(1, "reference/options")
    fine(team.ci())
    assert team.writes[-1] == 0


@pytest.mark.long
def test_a_clone_of_one_commit_may_hold_a_page_that_the_whole_history_settles(team: Team) -> None:
    team.commit("Say more", {"options.md": OPTIONS + "* third\n"})
    fine(team.ci())
    team.review(1, "reference/errors", "# Errors explained\n\nA reviewer.\n")
    team.commit("Again", {"options.md": OPTIONS + "* third\n* and 1\n"})
    fine(team.ci())
    team.commit("Again", {"options.md": OPTIONS + "* third\n* and 2\n"})
    done = team.ci()
    assert [r.key for r in done.results if r.outcome.exit_code == 6] == ["options.md"]
    assert any("fetch the whole history" in note for note in done.notes)
    assert "* and 1" in team.page(1, "reference/options")
    fine(team.ci(depth=0))
    assert "* and 2" in team.page(1, "reference/options")
    assert "A reviewer" in team.page(1, "reference/errors")


@pytest.mark.long
def test_platform_edits_since_a_two_way_push_are_not_reverted(team: Team) -> None:
    team.commit("Say more", {"options.md": OPTIONS + "* third\n"})
    fine(team.ci())
    team.world.edit_on_platform({"guide/usage.md": THEIRS})
    team.commit("Say yet more", {"options.md": OPTIONS + "* third\n* fourth\n"})
    fine(team.ci())
    assert team.page(1, "guide/usage") == THEIRS
    assert "* fourth" in team.page(1, "reference/options")


@pytest.mark.parametrize("depth", [pytest.param(0, marks=pytest.mark.long), 1])
def test_platform_edits_since_a_merge_are_not_reverted(team: Team, depth: int) -> None:
    team.commit("Say more", {"options.md": OPTIONS + "* third\n"})
    fine(team.ci(depth=depth))
    team.world.merge(1)
    with_third = {"options.md": OPTIONS + "* third\n"}
    team.world.edit_on_platform({"guide/usage.md": THEIRS, **with_third})
    team.commit("Say yet more", {"options.md": OPTIONS + "* third\n* fourth\n"})
    fine(team.ci(depth=depth))
    (request,) = team.requests()
    assert request.number == 2
    assert team.page(2, "guide/usage") == THEIRS
    assert "* fourth" in team.page(2, "reference/options")


def test_a_proxy_that_hides_past_revisions_ends_no_job(team: Team) -> None:
    """It answers in the platform's place, and nobody's words are undone for it."""
    team.commit("Say more", {"options.md": OPTIONS + "* third\n"})
    fine(team.ci())
    team.review(1, "reference/errors", "# Errors explained\n\nA reviewer.\n")
    team.commit("Say yet more", {"options.md": OPTIONS + "* third\n* fourth\n"})

    def hide(request: httpx.Request) -> httpx.Response:
        if "/revisions/" in request.url.path:
            hidden.append(request.url.path)
            return httpx.Response(404, html="<h1>Not here</h1>")
        return network.handle_request(request)

    hidden: list[str] = []
    with httpx.HTTPTransport() as network:
        team.transport = httpx.MockTransport(hide)
        fine(team.ci(depth=0))
    assert hidden
    assert "* fourth" in team.page(1, "reference/options")
    assert "A reviewer" in team.page(1, "reference/errors")


def test_a_branch_is_compared_with_where_it_left_its_target(team: Team) -> None:
    team.world.edit_on_platform({"guide/usage.md": THEIRS})
    team.commit("Try", {"options.md": OPTIONS + "* third\n"}, branch="try")
    done = fine(team.ci("try", depth=0, target="main"))
    assert done.notes == ()
    (request,) = team.requests()
    assert request.subject == "Try [try#c1c1c1]"
    assert team.page(1, "guide/usage") == THEIRS
    outcome = proposed(done)
    assert [(change.verb, change.key) for change in outcome.changes if change.noun == "page"] == [
        ("update", "options.md")
    ]


@pytest.mark.long
def test_a_branch_in_a_clone_of_one_commit_is_compared_with_what_its_target_published(team: Team) -> None:
    team.commit("Say more", {"options.md": OPTIONS + "* third\n"})
    fine(team.ci())
    team.world.merge(1)
    team.world.edit_on_platform({"guide/usage.md": THEIRS, "options.md": OPTIONS + "* third\n"})
    team.commit("Try", {"errors.md": "# Errors explained\n\nTried.\n"}, branch="try")
    done = fine(team.ci("try", target="main"))
    assert [(change.verb, change.key) for change in proposed(done).changes if change.noun == "page"] == [
        ("update", "errors.md")
    ]


@pytest.mark.long
def test_mirror_commits_in_the_history_are_the_base(team: Team) -> None:
    clone = team.world.clone()
    team.world.commit("Mine", {"options.md": OPTIONS + "* third\n"})
    team.world.edit_on_platform({"guide/usage.md": THEIRS})
    done = fine(Team(team.world, clone).ci(depth=0))
    assert team.page(1, "guide/usage") == THEIRS
    assert [change.key for change in proposed(done).changes if change.noun == "page"] == ["options.md"]


@pytest.mark.long
def test_what_came_to_main_after_a_partial_push_is_not_taken_for_deleted(team: Team) -> None:
    """The branch took it in, and the change request not yet: nothing there was deleted by a reviewer."""
    clone = team.world.clone()
    in_git = Team(team.world, clone)
    team.world.commit("Mine", {"options.md": "# Options\n\n* mine\n", "errors.md": "# Errors explained\n\nMine.\n"})
    team.world.edit_on_platform({"options.md": "# Options\n\n* theirs\n"})
    assert [result.key for result in in_git.ci(depth=0).results if isinstance(result.outcome, Held)] == ["options.md"]
    team.world.edit_on_platform({"options.md": "# Options\n\n* theirs\n", "guide/usage.md": THEIRS})
    team.world.pull()
    in_git.ci(depth=0)
    assert team.page(1, "guide/usage") == THEIRS
    assert team.page(1, "reference/errors") == "# Errors explained\n\nMine.\n"


@pytest.mark.long
def test_a_rewritten_branch_keeps_reviewers_words(team: Team) -> None:
    team.commit("Try", {"options.md": OPTIONS + "* third\n"}, branch="try")
    fine(team.ci("try", depth=0, target="main"))
    team.review(1, "reference/errors", "# Errors explained\n\nA reviewer.\n")
    team.git("reset", "--quiet", "--hard", "main")
    team.commit("Try again", {"options.md": OPTIONS + "* 3\n"}, branch="try")
    fine(team.ci("try", depth=0, target="main"))
    assert "A reviewer" in team.page(1, "reference/errors")
    assert team.page(1, "reference/options") == OPTIONS + "* 3\n"


@pytest.mark.long
def test_the_same_lines_on_both_sides_are_held(team: Team) -> None:
    team.commit("Try", {"options.md": "# Options\n\n* first, I say\n* second\n"}, branch="try")
    team.world.edit_on_platform({"options.md": "# Options\n\n* first, they say\n* second\n"})
    done = team.ci("try", depth=0, target="main")
    held = [result.outcome for result in done.results if isinstance(result.outcome, Held)]
    assert held
    assert all(outcome.exit_code == 6 for outcome in held)
    assert team.requests() == []


@pytest.mark.long
def test_a_shallow_clone_undoes_nothing_that_others_published(team: Team) -> None:
    fine(team.ci())
    team.commit("One", {"options.md": OPTIONS + "* third\n"})
    fine(team.ci())
    team.world.edit_on_platform({"guide/usage.md": THEIRS})
    team.commit("Two", {"errors.md": "# Errors explained\n\nMine.\n"})
    fine(team.ci())
    team.world.merge(1)
    team.commit("Three", {"guide/setup.md": "# Setup\n\nMine.\n"})
    with pytest.raises(GuardRefused, match="this shallow clone"):
        team.ci()
    assert team.requests() == []
    fine(team.ci(depth=0))
    assert team.page(2, "guide/usage") == THEIRS
    assert "Mine." in team.page(2, "guide/setup")


@pytest.mark.parametrize("depth", [1, pytest.param(2, marks=pytest.mark.long)])
def test_a_shallow_clone_undoes_nothing_that_main_content_had_before_its_request_began(team: Team, depth: int) -> None:
    team.world.edit_on_platform({"guide/usage.md": THEIRS})
    team.commit("Try", {"options.md": OPTIONS + "* third\n"}, branch="try")
    fine(team.ci("try", depth=0, target="main"))
    team.commit("Try more", {"errors.md": "# Errors explained\n\nMine.\n"}, branch="try")
    with pytest.raises(GuardRefused, match="this shallow clone") as refused:
        team.ci("try", depth=depth, target="main")
    assert "fetch-depth: 0" in refused.value.hint
    fine(team.ci("try", depth=0))  # the request names where the branch left the other one
    assert team.page(1, "guide/usage") == THEIRS
    assert "Mine." in team.page(1, "reference/errors")
    fine(team.ci("try", depth=0, target="main"))
    assert team.writes[-1] == 0


@pytest.mark.parametrize("is_amended", [False, pytest.param(True, marks=pytest.mark.long)])
def test_a_later_job_undoes_nothing_that_was_published_after_its_branch_began(team: Team, is_amended: bool) -> None:
    team.git("branch", "try")
    team.commit("Say more", {"guide/usage.md": THEIRS})
    fine(team.ci(depth=0))
    team.world.merge(1)
    team.commit("Try", {"errors.md": "# Errors explained\n\nTried.\n"}, branch="try")
    fine(team.ci("try", depth=0))
    if is_amended:
        team.git("reset", "--quiet", "--soft", "HEAD~1")
    team.commit("Try more", {"options.md": OPTIONS + "* third\n"}, branch="try")
    for target in ("", "main"):
        fine(team.ci("try", depth=0, target=target))
        assert team.page(2, "guide/usage") == THEIRS
        assert "Tried." in team.page(2, "reference/errors")
        assert "* third" in team.page(2, "reference/options")


@pytest.mark.parametrize("published", ["main", pytest.param("try", marks=pytest.mark.long)])
def test_a_shallow_clone_takes_no_other_commit_for_what_its_branch_grew_from(team: Team, published: str) -> None:
    """What was published is that of the branch's target, or of another branch that had the same name."""
    team.git("branch", "begin")
    team.commit("Say more", {"guide/usage.md": THEIRS}, branch=published)
    fine(team.ci(published, depth=0, target="main" if published == "try" else ""))
    team.world.merge(1)
    team.git("checkout", "--quiet", "begin")
    team.git("branch", "--force", "try")
    team.commit("Try", {"errors.md": "# Errors explained\n\nTried.\n"}, branch="try")
    with pytest.raises(GuardRefused, match="this shallow clone"):
        team.ci("try", target="main")
    assert team.requests() == []
    fine(team.ci("try", depth=0, target="main"))
    assert team.page(2, "guide/usage") == THEIRS


@pytest.mark.long
def test_a_shallow_clone_takes_back_what_its_parent_said_and_nothing_that_others_did(team: Team) -> None:
    """What the parent became has what others wrote before it, too."""
    team.commit("One", {"options.md": OPTIONS + "* third\n"})
    fine(team.ci())
    team.world.merge(1)
    team.world.edit_on_platform({"guide/usage.md": THEIRS, "options.md": OPTIONS + "* third\n"})
    team.commit("Two", {"options.md": OPTIONS + "* third\n* fourth\n"})
    fine(team.ci())
    team.world.merge(max(request.number for request in team.requests()))
    assert team.main("guide/usage") == THEIRS
    team.commit("Three", {"options.md": OPTIONS + "* third\n"})
    fine(team.ci())
    (request,) = team.requests()
    assert team.page(request.number, "reference/options") == OPTIONS + "* third\n"
    assert team.page(request.number, "guide/usage") == THEIRS


@pytest.mark.long
def test_a_job_that_died_before_it_described_its_request_is_run_again_in_a_shallow_clone(team: Team) -> None:
    team.commit("Say more", {"options.md": OPTIONS + "* third\n"})
    with team.world.client() as client:
        client.change_requests.create(team.world.space, ChangeRequestCreate(subject="Say more [main#c1c1c1]"))
    team.world.edit_on_platform({"guide/usage.md": THEIRS})
    fine(team.ci())
    assert team.page(1, "guide/usage") == THEIRS
    assert "* third" in team.page(1, "reference/options")


@pytest.mark.long
def test_an_archived_change_request_waits_for_a_new_commit(team: Team) -> None:
    team.commit("Say more", {"options.md": OPTIONS + "* third\n"})
    fine(team.ci())
    with team.world.client() as client:
        client.change_requests.update(team.world.space, "1", ChangeRequestUpdate(status="archived"))
    done = fine(team.ci())
    assert "#1 was archived" in done.notes[0]
    assert team.writes[-1] == 0
    team.commit("Once more", {"options.md": OPTIONS + "* third\n* fourth\n"})
    fine(team.ci())
    assert [request.number for request in team.requests()] == [2]


@pytest.mark.long
def test_mass_deletion_is_held_also_without_a_base(team: Team) -> None:
    for path in ("guide/setup.md", "guide/usage.md", "guide/README.md", "options.md", "errors.md"):
        (team.origin / path).unlink()
    team.commit("Empty", {"SUMMARY.md": "# Table of contents\n", "README.md": "# Home\n"})
    done = team.ci()
    (held,) = [result.outcome for result in done.results if isinstance(result.outcome, Held)]
    assert held.exit_code == 5
    assert team.requests() == []


def test_two_jobs_at_once_leave_one_change_request(team: Team) -> None:
    team.commit("Say more", {"options.md": OPTIONS + "* third\n"})
    other: list[int] = []

    def racing(request: httpx.Request) -> httpx.Response:
        """The other job opens its change request just before ours is made."""
        if request.method == "POST" and request.url.path.endswith("/change-requests") and not other:
            with team.world.client() as client:
                body = ChangeRequestCreate(subject="Say more [main#c1c1c1]")
                other.append(client.change_requests.create(team.world.space, body).number)
        return network.handle_request(request)

    with httpx.HTTPTransport() as network:
        team.transport = httpx.MockTransport(racing)
        fine(team.ci())
    assert other == [1]
    assert [request.number for request in (*team.requests("draft"), *team.requests("open"))] == [1]
    assert [request.number for request in team.requests("archived")] == [2]
    assert "* third" in team.page(1, "reference/options")


@pytest.mark.parametrize(
    ("deed", "is_described"),
    [("edit", True), ("edit", False), pytest.param("comment", True, marks=pytest.mark.long), ("review", True)],
)
def test_of_two_change_requests_that_counts_in_which_somebody_wrote(team: Team, deed: str, is_described: bool) -> None:
    team.commit("Say more", {"options.md": OPTIONS + "* third\n"})
    fine(team.ci())
    subject, space = team.requests()[0].subject, team.world.space
    with team.world.client() as client:
        client.change_requests.update(space, "1", ChangeRequestUpdate(status="archived"))
        if is_described:
            team.commit("Say it", {"errors.md": "# Errors explained\n\nMine.\n"})
            fine(team.ci())
        else:
            client.change_requests.create(space, ChangeRequestCreate(subject=subject))
        client.change_requests.update(space, "1", ChangeRequestUpdate(status="open"))
        if deed == "comment":
            client.change_request_comments.post(space, "2", CommentCreate(body=CommentBodyWrite(markdown="Well said.")))
        elif deed == "review":
            client.reviews.create(space, "2", ReviewCreate(status="approved"))
        else:
            team.review(2, "guide/usage", THEIRS)
    team.commit("Say it again", {"errors.md": "# Errors explained\n\nMine again.\n"})
    fine(team.ci(depth=0))
    assert [request.number for request in (*team.requests("draft"), *team.requests("open"))] == [2]
    assert "Mine again." in team.page(2, "reference/errors")
    assert "* third" in team.page(2, "reference/options")
    assert (team.page(2, "guide/usage") == THEIRS) is (deed == "edit")


def test_a_second_change_request_with_what_jobs_wrote_is_archived(team: Team) -> None:
    """One job died before it had described what it opened."""
    team.commit("Say more", {"options.md": OPTIONS + "* third\n", "errors.md": "# Errors explained\n\nMine.\n"})
    fine(team.ci())
    subject = team.requests()[0].subject
    with team.world.client() as client:
        client.change_requests.create(team.world.space, ChangeRequestCreate(subject=subject))
    team.review(2, "reference/options", OPTIONS + "* third\n")
    fine(team.ci())
    assert [request.number for request in (*team.requests("draft"), *team.requests("open"))] == [1]


@pytest.mark.long
def test_two_change_requests_in_which_people_wrote_stay(team: Team) -> None:
    team.commit("Say more", {"options.md": OPTIONS + "* third\n"})
    fine(team.ci())
    with team.world.client() as client:
        client.change_requests.create(team.world.space, ChangeRequestCreate(subject=team.requests()[0].subject))
    team.review(1, "guide/usage", THEIRS)
    team.review(2, "reference/errors", "# Errors explained\n\nA reviewer.\n")
    for _ in range(2):
        done = fine(team.ci(depth=0))
        live = [request.number for request in (*team.requests("draft"), *team.requests("open"))]
        assert sorted(live) == [1, 2]
        assert any("#1 and #2 are both for main, and people wrote in both: #2 counts" in note for note in done.notes)
    assert team.page(1, "guide/usage") == THEIRS
    assert "A reviewer." in team.page(2, "reference/errors")
    assert "* third" in team.page(2, "reference/options")


@pytest.mark.long
def test_words_that_come_while_a_change_request_is_archived_bring_it_back(team: Team) -> None:
    team.commit("Say more", {"options.md": OPTIONS + "* third\n"})
    fine(team.ci())
    with team.world.client() as client:
        client.change_requests.create(team.world.space, ChangeRequestCreate(subject=team.requests()[0].subject))
    said: list[int] = []

    def comment(request: httpx.Request) -> httpx.Response:
        if request.method == "PATCH" and b"archived" in request.content and not said:
            with team.world.client() as client:
                body = CommentCreate(body=CommentBodyWrite(markdown="Well said."))
                said.append(1)
                client.change_request_comments.post(team.world.space, "2", body)
        return network.handle_request(request)

    with httpx.HTTPTransport() as network:
        team.transport = httpx.MockTransport(comment)
        fine(team.ci())
        assert said
        assert 2 in {request.number for request in (*team.requests("draft"), *team.requests("open"))}
        fine(team.ci())
    assert [request.number for request in (*team.requests("draft"), *team.requests("open"))] == [2]


@pytest.mark.long
def test_a_rehearsal_writes_nothing(team: Team) -> None:
    team.commit("Say more", {"options.md": OPTIONS + "* third\n"})
    done = fine(team.ci(rehearse=True))
    assert [(change.verb, change.key) for change in proposed(done).changes] == [("update", "options.md")]
    assert team.writes == [0]
    fine(team.ci())
    team.commit("Say more", {"options.md": OPTIONS + "* 3\n"})
    done = fine(team.ci(rehearse=True))
    assert [(change.verb, change.key) for change in proposed(done).changes] == [("update", "options.md")]
    assert team.writes[-1] == 0
