"""Jobs beside a Git host that merges, squashes and deletes topic branches, or gets them rewritten.

Run these stories: .venv/bin/python -m pytest -n 2 tests/cli/sync/test_cli_two_way_ci_hosted.py
"""

from collections.abc import Callable

import pytest

from tests.cli.sync.test_cli_two_way_ci import plant, run_job_at
from tests.cli.sync.two_way import HOME, Team, Web, Writer, pages_of

pytestmark = pytest.mark.story

TITLES = ("P1", "P2", "P3", "P4")
Job = Callable[..., str]


@pytest.fixture
def origin(team: Team) -> Writer:
    """The hosted repository, on a topic branch."""
    origin = team.repository("origin")
    plant(origin, pages_of(*TITLES))
    origin.git("switch", "--quiet", "--create", "topic")
    return origin


@pytest.fixture
def job(team: Team, origin: Writer, web: Web) -> Job:
    """Runs a job of a branch's newest commit, in a clone of all branches, and returns what it says."""

    def run(branch: str, commit: str = "", *, base: str = "") -> str:
        tip = commit or origin.tip(branch)
        return run_job_at(team, origin, tip, space=web.space, depth=0, branch=branch, base=base)

    return run


def land(origin: Writer, *words: str) -> None:
    """Merge the topic branch into main."""
    origin.git("switch", "--quiet", "main")
    origin.git("merge", "--quiet", *words, "topic")


def squash(origin: Writer) -> None:
    """Merge the topic branch into main as one commit, and delete it."""
    land(origin, "--squash")
    origin.commit("Squash")
    origin.git("branch", "--quiet", "-D", "topic")


def test_a_commit_that_a_rewritten_branch_gave_up_is_not_sent_again(origin: Writer, web: Web, job: Job) -> None:
    origin.replace("p1.md", "P1 one.", "P1 one, says B.")
    origin.edit("p2.md", "P2 one.", "P2 one, says B.")
    job("topic")
    former = origin.tip()
    origin.git("reset", "--quiet", "--hard", "main")
    origin.edit("p1.md", "P1 one.", "P1 one, says B now.")
    job("topic")
    said = job("topic", former)
    assert f"holds {origin.tip()[:10]}, which came after {former[:10]}; nothing was sent" in said
    job("topic")
    assert "P1 one, says B now." in web.text("p1", request=web.proposed())
    assert "P2 one.\n" in web.text("p2", request=web.proposed())


def test_a_branch_that_its_target_has_taken_in_stays_proposed(origin: Writer, web: Web, job: Job) -> None:
    origin.add("new.md", "New")
    origin.edit("p1.md", "P1 one.", "P1 one, says B.")
    job("topic", base="main")
    web.edit("new", "New two.", "New two, says R.", request=web.proposed())
    land(origin, "--no-ff", "--no-edit")
    job("topic", base="main")
    assert "New two, says R." in web.text("new", request=web.proposed())
    assert "P1 one, says B." in web.text("p1", request=web.proposed())


def test_what_others_wrote_after_a_branch_was_merged_stays_when_git_squashes_it(
    origin: Writer, web: Web, job: Job
) -> None:
    origin.edit("p1.md", "P1 one.", "P1 one, says B.")
    job("topic", base="main")
    number = web.merge()
    web.edit("p1", "P1 three.", "P1 three, says the web.")
    web.edit("p2", "P2 one.", "P2 one, says the web.")
    squash(origin)
    assert f"all that differs from what #{number} said is proposed" in job("main")
    assert web.requests() == []
    origin.git("revert", "--no-edit", "HEAD")
    job("main")
    web.merge()
    assert "P1 one.\n" in web.text("p1")
    assert "P1 three, says the web." in web.text("p1")
    assert "P2 one, says the web." in web.text("p2")


def test_a_new_page_that_git_squashes_before_it_is_merged_is_one_page(origin: Writer, web: Web, job: Job) -> None:
    origin.add("new.md", "New")
    job("topic", base="main")
    number = web.proposed()
    squash(origin)
    origin.edit("p1.md", "P1 one.", "P1 one, says B.")
    assert f"#{number} adds new.md already; sent from here once #{number} is merged or archived" in job("main")
    for request in web.requests():
        web.merge(request.number)
    job("main")
    assert web.requests() == []
    assert web.slugs() == [HOME, "p1", "p2", "p3", "p4", "new"]
