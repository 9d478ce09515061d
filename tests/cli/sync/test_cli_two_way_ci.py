"""`push --ci` remembers nothing of the run before: what it does and says is the same as if it did.

Run these stories: .venv/bin/python -m pytest -n 2 tests/cli/sync/test_cli_two_way_ci.py
"""

import re
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from syncd.model.space import SpaceCreate
from tests.cli.sync.two_way import FOUR, HOME, Team, Web, Writer, pages_of, text_of
from tests.sampling import sample_cases

pytestmark = pytest.mark.story

FIVE = ("P1", "P2", "P3", "P4", "P5")
Job = Callable[..., str]


@pytest.fixture
def origin(team: Team) -> Writer:
    """The shared repository of a team that keeps its docs in Git."""
    return team.repository("origin")


@pytest.fixture
def job(team: Team, origin: Writer, web: Web) -> Job:
    """Runs a job in a clone of the origin, and returns what it says."""
    return partial(run_job, team, origin, space=web.space)


def run_job(team: Team, source: Writer, *words: str, space: str, code: int = 0, depth: int = 1) -> str:
    """Run `push --ci` in a fresh clone of the newest commit of main, on no branch, and return what it says."""
    clone = Writer(Path(tempfile.mkdtemp(dir=team.root)) / "job")
    cut = (f"--depth={depth}",) if depth else ()
    source.git("clone", "--quiet", *cut, f"file://{source.path}", str(clone.path))
    clone.git("checkout", "--quiet", "--detach")
    service = {"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "team/docs", "GITHUB_REF_NAME": "main"}
    token = team.token.read_text().strip()
    done = clone.syncd("push", "--ci", "--url", team.url, "--space", space, *words, **service, SYNCD_TOKEN=token)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def run_job_at(
    team: Team, source: Writer, commit: str, *, space: str, depth: int, branch: str, base: str = "", code: int = 0
) -> str:
    """Run `push --ci` at a commit as GitHub checks it out: of a pull request into a base, or of a branch."""
    clone = Writer(Path(tempfile.mkdtemp(dir=team.root)))
    source.git("config", "uploadpack.allowAnySHA1InWant", "true")
    clone.git("init", "--quiet")
    clone.git("remote", "add", "origin", f"file://{source.path}")
    if not depth:
        clone.git("fetch", "--quiet", "origin", "+refs/heads/*:refs/remotes/origin/*")
    clone.git("fetch", "--quiet", *((f"--depth={depth}",) if depth else ()), "origin", commit)
    clone.git("checkout", "--quiet", "--detach", commit)
    service = {"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "team/docs", "GITHUB_REF_NAME": branch}
    service |= {"GITHUB_REF_NAME": "7/merge", "GITHUB_HEAD_REF": branch, "GITHUB_BASE_REF": base} if base else {}
    token = team.token.read_text().strip()
    done = clone.syncd("push", "--ci", "--url", team.url, "--space", space, **service, SYNCD_TOKEN=token)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def plant(origin: Writer, files: dict[str, str]) -> None:
    for path, text in files.items():
        origin.write(path, text)
    origin.commit()


@pytest.mark.parametrize(
    ("what", "depth"), sample_cases([("text", 1), ("picture", 0), ("picture", 1), ("pages below", 0)], kept=(0, 3))
)
def test_every_job_of_one_commit_tells_the_same_manual_steps(
    team: Team, origin: Writer, job: Job, what: str, depth: int
) -> None:
    web = team.space("five", pages_of(*FIVE) if what == "pages below" else pages_of())
    groups, files = "", pages_of(*FIVE)
    for number in range(1, 6):
        groups += f"\n## Group {number}\n\n* [P{number}](p{number}.md)\n"
        if what == "pages below":
            groups += f"  * [Q{number}](q/q{number}.md)\n"
            files[f"q/q{number}.md"] = text_of(f"Q{number}")
    if what == "picture":
        files["p1.md"] += "\n![A picture](picture.png)\n"
        files["picture.png"] = "Not quite a picture."
    plant(origin, {**files, "SUMMARY.md": f"# Table of contents\n\n* [Home](README.md)\n{groups}"})
    for _ in range(3):
        said = job(space=web.space, depth=depth)
        assert len(re.findall(r"report group Group \d", said)) == 5, said
        (request,) = web.requests()
        assert request.description is not None
        assert len(re.findall(r"Create the group 'Group \d'", request.description.text())) == 5


@pytest.mark.parametrize("depth", sample_cases([0, 1], kept=(1,)))
def test_manual_steps_are_told_beside_a_reviewers_words(team: Team, origin: Writer, job: Job, depth: int) -> None:
    web = team.space("five", pages_of("P1", "P2"))
    table = "# Table of contents\n\n* [Home](README.md)\n\n## Group\n\n* [P1](p1.md)\n* [P2](p2.md)\n"
    plant(origin, {**pages_of("P1", "P2"), "SUMMARY.md": table})
    origin.edit("p1.md", "P1 one.", "P1 one, says B.")
    job(space=web.space)
    for number in range(3):
        (request,) = (each.number for each in web.requests())
        web.edit("p2", "P2 one", "P2 one, says R", request=request)
        if number:
            origin.edit("p1.md", "P1 one, says B", "P1 one, says B" + " more" * number)
        for _ in range(2):
            assert "report group Group" in job(space=web.space, depth=0 if number else depth)
        assert "P1 one, says B" + " more" * sum(range(number + 1)) in web.text("p1", request=request)
        assert "P2 one" + ", says R" * (number + 1) in web.text("p2", request=request)


def test_the_first_job_fills_a_fresh_space(team: Team, origin: Writer, job: Job) -> None:
    (organization,) = team.client.organizations.list()
    web = Web(team.client, team.client.spaces.create(organization.id, SpaceCreate(title="Fresh")).id)
    table = "# Table of contents\n\n* [Start](start.md)\n* [P1](p1.md)\n"
    plant(origin, {"start.md": text_of("Start"), "p1.md": text_of("P1"), "SUMMARY.md": table})
    job(space=web.space)
    web.merge()
    assert [page.title for page in web.pages()] == ["Start", "P1"]
    assert web.text("p1") == text_of("P1")


def write_sentence(web: Web) -> None:
    web.edit("p2", "P2 one.", "P2 one, says the web.")


def add_page(web: Web) -> None:
    web.add("extra", text_of("Extra"))


def delete_page(web: Web) -> None:
    web.delete("p3")


def move_page(web: Web) -> None:
    web.rename("p3", "better")
    web.retitle("better", "Better")


@pytest.mark.parametrize("depth", sample_cases([0, 1], kept=(1,)))
@pytest.mark.parametrize("deed", [write_sentence, add_page, delete_page, move_page])
def test_what_main_content_got_since_a_job_opened_a_change_request_stays(
    origin: Writer, web: Web, job: Job, deed: Callable[[Web], None], depth: int
) -> None:
    plant(origin, pages_of("P1", "P2", "P3", "P4"))
    origin.edit("p1.md", "P1 one.", "P1 one, says B.")
    job(depth=depth)
    request = web.proposed()
    deed(web)
    slugs, text = web.slugs(), web.text("p2")
    origin.edit("p1.md", "P1 two.", "P1 two, says B.")
    for _ in range(3):
        job(depth=depth)
        assert (web.slugs(request=request), web.text("p2", request=request)) == (slugs, text)
    origin.edit("p4.md", "P4 two.", "P4 two, says B.")
    job(depth=depth)
    web.merge(request)
    assert (web.slugs(), web.text("p2")) == (slugs, text)
    assert "P1 two, says B." in web.text("p1")
    assert "P4 two, says B." in web.text("p4")


def test_a_job_keeps_what_a_reviewer_wrote_after_the_one_before(origin: Writer, web: Web, job: Job) -> None:
    plant(origin, pages_of("P1", "P2", "P3", "P4"))
    origin.edit("p1.md", "P1 one.", "P1 one, says B.")
    job()
    request = web.proposed()
    web.edit("p1", "P1 one, says B.", "P1 one, says B, better.", request=request)
    web.edit("p2", "P2 one.", "P2 one, says R.", request=request)
    origin.edit("p1.md", "P1 three.", "P1 three, says B.")
    for _ in range(2):
        job()
        assert [each.number for each in web.requests()] == [request]
        assert "P1 one, says B, better." in web.text("p1", request=request)
        assert "P1 three, says B." in web.text("p1", request=request)
        assert "P2 one, says R." in web.text("p2", request=request)


def test_a_job_is_in_conflict_where_a_reviewer_changed_the_same_line(origin: Writer, web: Web, job: Job) -> None:
    plant(origin, pages_of("P1", "P2", "P3", "P4"))
    origin.edit("p1.md", "P1 one.", "P1 one, says B.")
    job()
    request = web.proposed()
    web.edit("p1", "P1 one, says B.", "P1 one, says R.", request=request)
    origin.edit("p1.md", "P1 one, says B.", "P1 one, says B now.")
    origin.edit("p2.md", "P2 one.", "P2 one, says B.")
    described = set[str]()
    for _ in range(2):
        assert "::error file=p1.md" in job(code=6, depth=0)
        found = web.requests()[-1]
        assert found.description is not None
        described.add(f"{found.updated_at} {found.description.text()}")
        assert "P1 one, says R." in web.text("p1", request=request)
        assert "P2 one, says B." in web.text("p2", request=request)
    (once,) = described
    assert "In this change request (p1.md):" in once


def test_a_job_of_an_amended_commit_takes_back_what_it_dropped_and_nothing_else(
    origin: Writer, web: Web, job: Job
) -> None:
    plant(origin, pages_of("P1", "P2", "P3", "P4"))
    origin.replace("p1.md", "P1 one.", "P1 one, says B.")
    origin.edit("p2.md", "P2 one.", "P2 one, says B.")
    job()
    request = web.proposed()
    web.edit("p3", "P3 one.", "P3 one, says R.", request=request)
    web.edit(HOME, "Home one.", "Home one, says the web.")
    origin.replace("p1.md", "P1 one, says B.", "P1 one.")
    origin.git("commit", "--quiet", "--all", "--amend", "--message", "Say less")
    job()
    request = web.proposed()
    assert "P1 one.\n" in web.text("p1", request=request)
    assert "P2 one, says B." in web.text("p2", request=request)
    assert "P3 one, says R." in web.text("p3", request=request)
    web.merge()
    assert "Home one, says the web." in web.text(HOME)


@pytest.mark.parametrize("depth", sample_cases([0, 1, 2], kept=(0, 1)))
def test_jobs_of_a_pull_request_and_of_its_branch_undo_nothing(
    team: Team, origin: Writer, web: Web, depth: int
) -> None:
    job = partial(run_job_at, team, origin, space=web.space)
    plant(origin, pages_of("P1", "P2", "P3", "P4"))
    origin.git("switch", "--quiet", "--create", "topic")
    origin.edit("p1.md", "P1 one.", "P1 one, says the topic.")
    origin.git("switch", "--quiet", "main")
    origin.edit("p3.md", "P3 one.", "P3 one, says main.")
    job(origin.tip(), depth=0, branch="main")
    web.merge()
    web.edit("p4", "P4 one.", "P4 one, says the web.")
    origin.git("switch", "--quiet", "--detach", "main")
    origin.git("merge", "--quiet", "--no-edit", "topic")
    job(origin.tip(), depth=depth, branch="topic", base="main")
    request = web.proposed()
    origin.git("switch", "--quiet", "topic")
    origin.edit("p1.md", "P1 two.", "P1 two, says the topic.")
    # The commit of the pull request had more of main than the branch has, which no shallow clone can tell.
    said = job(origin.tip(), depth=depth, branch="topic", code=5 if depth else 0)
    assert ("fetch the whole history" in said) is bool(depth)
    assert ("P1 two, says the topic." in web.text("p1", request=request)) is (depth == 0)
    assert "P1 one, says the topic." in web.text("p1", request=request)
    assert "P3 one, says main." in web.text("p3", request=request)
    assert "P4 one, says the web." in web.text("p4", request=request)


def test_line_ends_alone_are_never_proposed(team: Team, origin: Writer, job: Job, web: Web) -> None:
    docs = team.clone(web.space)
    docs.write("p1.md", text_of("P1").replace("\n", "\r\n"))
    docs.commit()
    origin.git("pull", "--quiet", str(docs.path), "main")
    job(depth=0)
    assert not web.requests()
    docs.edit("p2.md", "P2 one.", "P2 one, says B.")
    origin.git("pull", "--quiet", str(docs.path), "main")
    job(depth=0)
    web.merge()
    docs.run("pull")
    origin.git("pull", "--quiet", str(docs.path), "main")
    job(depth=0)
    assert not web.requests()
    assert "P2 one, says B." in web.text("p2")


def test_a_line_deleted_after_a_job_proposed_the_page_stays_deleted(
    team: Team, origin: Writer, job: Job, web: Web
) -> None:
    docs = team.clone(web.space)
    docs.add("new.md", "New")
    origin.git("pull", "--quiet", str(docs.path), "main")
    job(depth=0)
    web.merge()
    docs.edit("new.md", "New two.\n\n", "")
    docs.run("pull")
    assert "New two." not in docs.read("new.md")
    origin.git("pull", "--quiet", str(docs.path), "main")
    job(depth=0)
    web.merge()
    assert "New two." not in web.text("new")


def test_a_picture_that_a_job_uploaded_stays_where_git_has_it(team: Team, origin: Writer, job: Job, web: Web) -> None:
    docs = team.clone(web.space)
    docs.write("images/pic.png", "Not quite a picture.")
    docs.edit("p1.md", "P1 one.", "![A](images/pic.png)")
    origin.git("pull", "--quiet", str(docs.path), "main")
    job(depth=0)
    web.merge()
    docs.run("pull")
    assert "![A](images/pic.png)" in docs.read("p1.md")
    assert docs.git("ls-files", "*.png").split() == ["images/pic.png"]
    assert docs.run("push").startswith("Nothing to propose")


def test_a_page_that_a_reviewer_gives_another_slug_leaves_the_path_of_the_job(
    team: Team, origin: Writer, job: Job, web: Web
) -> None:
    docs = team.clone(web.space)
    docs.add("new.md", "New")
    origin.git("pull", "--quiet", str(docs.path), "main")
    job(depth=0)
    web.rename("new", "better", request=web.proposed())
    web.merge()
    docs.run("pull")
    assert docs.read("better.md") == web.text("better")
    assert not (docs.path / "new.md").exists()


@pytest.mark.parametrize("deed", ["rename", "edit", "both"])
@pytest.mark.parametrize("pulls", [True, False])
def test_a_page_that_a_job_sent_beside_a_conflict_is_the_branchs_whatever_reviewers_do(
    team: Team, web: Web, deed: str, pulls: bool
) -> None:
    docs = team.clone(web.space)
    job = partial(run_job, team, docs, space=web.space, depth=0)
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    job()
    request = web.proposed()
    web.edit("p1", "P1 one.", "P1 one, says the web.")
    docs.add("new.md", "New")
    docs.run("pull", code=6)
    job(code=6)
    if deed != "rename":
        web.edit("new", "New two.", "New two, says R.", request=request)
    if deed != "edit":
        web.rename("new", "better", request=request)
    job(code=6)
    web.edit("p1", "P1 one, says the web.", "P1 one, says B.")
    web.update(request)
    web.merge(request)
    if pulls:
        docs.run("pull")
    job()
    assert web.requests() == []
    docs.run("pull")
    place = "new.md" if deed == "edit" else "better.md"
    assert [name for name in docs.files() if name in ("new.md", "better.md")] == [place]
    assert ("New two, says R." in docs.read(place)) == (deed != "rename")
    assert docs.read(place) == web.text(place.removesuffix(".md"))


@pytest.mark.parametrize("is_edited", [False, True])
def test_what_reviewers_delete_after_an_update_brought_it_stays_deleted(team: Team, web: Web, is_edited: bool) -> None:
    docs = team.clone(web.space)
    job = partial(run_job, team, docs, space=web.space, depth=0)
    docs.edit("p1.md", "P1 one.", "P1 one, says B.")
    job()
    request = web.proposed()
    web.add("extra", "# Extra\n\nExtra.\n", below="p2")
    docs.run("pull")
    web.delete("p3", request=request)
    job()
    web.delete("extra", request=request)
    for _ in range(2):
        docs.run("pull")
        if is_edited:
            docs.edit("p1.md", "P1 two", "P1 two, says B")
        job()
        assert web.slugs(request=request) == ["", "p1", "p2", "p4"]
    web.merge()
    docs.settle()
    assert not docs.has("p2/extra.md")
    assert "P1 one, says B." in web.text("p1")


def test_a_branch_that_was_amended_after_the_merge_undoes_nothing_that_others_wrote(
    origin: Writer, web: Web, job: Job
) -> None:
    plant(origin, pages_of("P1", "P2", "P3", "P4"))
    origin.edit("p2.md", "P2 one.", "P2 one, says B.")
    job(depth=0)
    web.merge()
    web.edit("p4", "P4 one.", "P4 one, says the web.")
    origin.replace("p2.md", "P2 one, says B.", "P2 one, amended.")
    origin.git("commit", "--quiet", "--all", "--amend", "--no-edit")
    assert "main was rewritten after #1: it is compared with what that published" in job(depth=0)
    assert "P4 one, says the web." in web.text("p4", request=web.proposed())
    assert "P2 one, amended." in web.text("p2", request=web.proposed())
    web.merge()
    assert "propose" not in job(depth=0)


@pytest.mark.parametrize("is_cloned", [False, True])
@pytest.mark.parametrize("way", ["edit", "rename", "delete", "retitle"])
def test_a_branch_takes_nothing_of_another_out_that_was_merged_since_it_began(
    team: Team, web: Web, origin: Writer, way: str, is_cloned: bool
) -> None:
    docs = team.clone(web.space) if is_cloned else origin
    if not is_cloned:
        for name, text in FOUR.items():
            docs.write(name, text)
        docs.edit("p4.md", "P4 one.", "P4 one, says main.")
        run_job_of(team, docs, web, "main")
        web.merge()
    docs.git("switch", "--quiet", "--create", "one")
    docs.edit("p1.md", "P1 one.", "P1 one, says the first.")
    run_job_of(team, docs, web, "one")
    docs.git("switch", "--quiet", "--create", "two", "main")
    docs.edit("p2.md", "P2 one.", "P2 one, says the second.")
    match way:
        case "edit":
            docs.edit("p1.md", "P1 three.", "P1 three, says the second.")
        case "rename":
            docs.rename("p1.md", "first.md")
        case "delete":
            docs.delete("p1.md")
        case "retitle":
            docs.retitle("P1", "First")
    web.merge()
    run_job_of(team, docs, web, "two")
    web.merge()
    assert "P1 one, says the first." in web.everything()
    assert "P2 one, says the second." in web.text("p2")


@pytest.mark.parametrize("is_later", [False, True])
def test_main_goes_on_with_what_was_squashed_into_it(team: Team, web: Web, is_later: bool) -> None:
    docs = team.clone(web.space)
    docs.git("switch", "--quiet", "--create", "one")
    docs.edit("p1.md", "P1 one.", "P1 one, says the first.")
    docs.edit("p1.md", "says the first.", "says the first, twice.")
    run_job_of(team, docs, web, "one")
    web.merge()
    docs.git("switch", "--quiet", "main")
    docs.git("merge", "--quiet", "--squash", "one")
    docs.commit("One")
    if is_later:
        docs.edit("p1.md", "twice.", "thrice.")
    run_job_of(team, docs, web, "main")
    if is_later:
        web.merge()
    assert not web.requests()
    assert web.text("p1") == docs.read("p1.md")


def run_job_of(team: Team, docs: Writer, web: Web, branch: str) -> None:
    """Run `push --ci` in a whole clone of a clone, at one of its branches."""
    job = Writer(Path(tempfile.mkdtemp(dir=team.root)) / "job")
    docs.git("clone", "--quiet", "--branch", branch, f"file://{docs.path}", str(job.path))
    done = job.syncd(
        "push", "--ci", "--url", team.url, "--space", web.space, SYNCD_TOKEN=team.token.read_text().strip()
    )
    assert done.returncode == 0, done.stdout + done.stderr
