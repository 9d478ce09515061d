"""The recipe for GitLab CI, carried out from its own file: merge requests, forks, the default branch, jobs at once."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.cli.conftest import Shell
from tests.packaging.conftest import Built
from tests.packaging.gitlab_runner import GitLabRunner, Pipeline
from tests.packaging.origins import BROKEN, MORE, commit_files, count_change_requests, fill_recipe, make_origin

pytestmark = [pytest.mark.story, pytest.mark.timeout(600)]
MAIN = Pipeline("main")
MERGE_REQUEST, FORK = Pipeline("try", "main"), Pipeline("try", "main", is_fork=True)
RECIPE = ".gitlab/docs.yml"


@pytest.fixture
def host(shell: Shell, built: Built) -> GitLabRunner:
    """A repository on GitLab that includes the recipe, and the token as a variable of its project."""
    include = "include:\n  - local: .gitlab/docs.yml\n"
    recipe = fill_recipe("gitlab", shell, built.bundle)
    origin = make_origin(shell, {".gitlab-ci.yml": include, RECIPE: recipe})
    (shell.root / "jobs").mkdir()
    return GitLabRunner(origin, shell.root / "jobs", {"SYNCD_TOKEN": shell.token.read_text().strip()})


def test_each_push_of_the_default_branch_is_checked_and_proposed_once(host: GitLabRunner, shell: Shell) -> None:
    commit_files(host.origin, "Say more", {"docs/use.md": MORE})
    ends = host.run(MAIN)
    assert {name: end.code for name, end in ends.items()} == {"docs-check": 0, "docs-publish": 0}, ends
    assert "change request #1 http" in ends["docs-publish"].output
    assert json.loads(ends["docs-check"].summary) == []
    assert host.run(MAIN, only="docs-publish")["docs-publish"].code == 0
    assert count_change_requests(shell) == 1


@pytest.mark.parametrize("pipeline", [MERGE_REQUEST, FORK], ids=["own", "fork"])
def test_a_merge_request_is_checked_and_only_one_of_the_project_has_a_plan(
    host: GitLabRunner, shell: Shell, pipeline: Pipeline
) -> None:
    commit_files(host.origin, "Try it", {"docs/use.md": MORE}, branch="try")
    commit_files(host.origin, "Go on", {"docs/install.md": "# Install\n\nMeanwhile.\n"})
    ends = host.run(pipeline)
    assert {name: end.code for name, end in ends.items()} == {"docs-check": 0, "docs-plan": 0}, ends
    plan = ends["docs-plan"].output
    assert ("The plan was skipped" in plan) is pipeline.is_fork
    assert ("update page use.md" in plan) is not pipeline.is_fork
    assert "install.md" not in plan, "what main has since is not the branch's"
    assert count_change_requests(shell) == 0


def test_a_mistake_fails_the_check_with_a_report_and_nothing_is_proposed(host: GitLabRunner, shell: Shell) -> None:
    commit_files(host.origin, "Break it", {"docs/use.md": BROKEN})
    ends = host.run(MAIN)
    assert {name: end.code for name, end in ends.items()} == {"docs-check": 65}
    (finding,) = json.loads(ends["docs-check"].summary)
    assert finding["location"]["path"] == "docs/use.md"
    assert count_change_requests(shell) == 0


def test_two_jobs_at_once_leave_one_change_request(host: GitLabRunner, shell: Shell) -> None:
    commit_files(host.origin, "Say more", {"docs/use.md": MORE})
    with ThreadPoolExecutor(2) as both:
        ends = list(both.map(lambda _: host.run(MAIN, only="docs-publish")["docs-publish"], range(2)))
    assert 0 in {end.code for end in ends} <= {0, 75}, "\n".join(end.output for end in ends)
    assert count_change_requests(shell) == 1
