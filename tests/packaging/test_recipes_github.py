"""The recipes for GitHub Actions, carried out from their own files: checkouts, pull requests, forks, jobs at once."""

import hashlib
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.cli.conftest import Shell
from tests.packaging.conftest import Built
from tests.packaging.github_runner import Event, GitHubRunner
from tests.packaging.origins import (
    BROKEN,
    MORE,
    commit_files,
    count_change_requests,
    fill_recipe,
    make_origin,
    open_pull_request,
)

pytestmark = [pytest.mark.story, pytest.mark.timeout(600)]
MAIN = Event("main")
PULL, FORK = Event("try", "main"), Event("try", "main", is_fork=True)


@pytest.fixture
def host(shell: Shell, built: Built) -> GitHubRunner:
    """A repository on GitHub with both recipes, and the token as its secret."""
    names = {"github-action": ".github/actions/syncd/action.yml", "github-workflow": ".github/workflows/docs.yml"}
    origin = make_origin(shell, {path: fill_recipe(name, shell, built.bundle) for name, path in names.items()})
    (shell.root / "runners").mkdir()
    return GitHubRunner(origin, shell.root / "runners", {"SYNCD_TOKEN": shell.token.read_text().strip()})


def test_each_push_of_main_is_checked_and_proposed_once(host: GitHubRunner, shell: Shell) -> None:
    commit_files(host.origin, "Say more", {"docs/use.md": MORE})
    ends = host.run(MAIN)
    assert {name: end.code for name, end in ends.items()} == {"check": 0, "publish": 0}, ends
    assert "change request #1 http" in ends["publish"].output
    assert "| ~ update | page `use.md` |" in ends["publish"].summary
    assert host.run(MAIN, only="publish")["publish"].code == 0
    assert count_change_requests(shell) == 1


def test_a_pull_request_shows_what_it_would_change_and_writes_nothing(host: GitHubRunner, shell: Shell) -> None:
    open_pull_request(host.origin, {"docs/use.md": MORE})
    ends = host.run(PULL)
    assert {name: end.code for name, end in ends.items()} == {"check": 0, "plan": 0}, ends
    assert "| Would change | What |" in ends["plan"].summary
    assert "| ~ update | page `use.md` |" in ends["plan"].summary
    assert "install.md" not in ends["plan"].summary
    assert count_change_requests(shell) == 0


def test_a_fork_without_a_token_is_green_and_says_what_it_skipped(host: GitHubRunner) -> None:
    open_pull_request(host.origin, {"docs/use.md": MORE})
    ends = host.run(FORK)
    assert {name: end.code for name, end in ends.items()} == {"check": 0, "plan": 0}, ends
    assert "::notice::The plan was skipped" in ends["plan"].output
    assert "The plan was skipped" in ends["plan"].summary


def test_a_mistake_fails_the_check_at_its_line_and_nothing_is_proposed(host: GitHubRunner, shell: Shell) -> None:
    commit_files(host.origin, "Break it", {"docs/use.md": BROKEN})
    ends = host.run(MAIN)
    assert ends["check"].code == 65
    assert "::error file=docs/use.md,line=3,col=12,title=link-broken::" in ends["check"].output
    assert "publish" not in ends, "it needs the check"
    assert count_change_requests(shell) == 0


def test_two_jobs_at_once_leave_one_change_request(host: GitHubRunner, shell: Shell) -> None:
    commit_files(host.origin, "Say more", {"docs/use.md": MORE})
    with ThreadPoolExecutor(2) as both:
        ends = list(both.map(lambda _: host.run(MAIN, only="publish")["publish"], range(2)))
    assert 0 in {end.code for end in ends} <= {0, 75}, "\n".join(end.output for end in ends)
    assert count_change_requests(shell) == 1


def test_a_clone_of_one_commit_is_enough_for_the_next_push(host: GitHubRunner, shell: Shell) -> None:
    path = ".github/workflows/docs.yml"
    shallow = (host.origin / path).read_text().replace("fetch-depth: 0", "fetch-depth: 1")
    for text in (MORE, f"{MORE}\nAnd that.\n"):
        commit_files(host.origin, "Say more", {"docs/use.md": text, path: shallow})
        end = host.run(MAIN, only="publish")["publish"]
        assert end.code == 0, end.output
    assert count_change_requests(shell) == 1


def test_a_file_with_another_hash_is_not_run(host: GitHubRunner, shell: Shell, built: Built) -> None:
    path = ".github/actions/syncd/action.yml"
    action = (host.origin / path).read_text()
    right = hashlib.sha256(built.bundle.read_bytes()).hexdigest()
    commit_files(host.origin, "Exchange it", {path: action.replace(right, "0" * 64), "docs/use.md": BROKEN})
    end = host.run(MAIN)["check"]
    assert end.code == 1
    assert "did NOT match" in end.output
    assert "link-broken" not in end.output
