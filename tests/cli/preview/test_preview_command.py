"""What `syncd preview` refuses before it serves anything."""

import subprocess
from pathlib import Path

import pytest

from syncd.cli.preview.command import format_news
from syncd.cli.preview.gather import find_source
from tests.cli.command_runner import CommandRunner, make_runner


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandRunner:
    return make_runner("preview", tmp_path, monkeypatch, capsys)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nowhere"], "there is no directory"),
        (["."], "there are no pages in"),
        ([".", "--branch", "main"], "is in no Git repository"),
        ([".", "--branch", "a", "--change-request", "1"], "exclude each other"),
    ],
)
def test_what_cannot_be_shown_is_refused_with_a_hint(typed: CommandRunner, words: list[str], told: str) -> None:
    refused = typed(*words)
    assert refused.code == 78
    assert told in refused.err
    assert "hint:" in refused.err


def test_a_branch_or_change_request_that_is_not_there_is_refused(typed: CommandRunner, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main"], cwd=tmp_path, check=True)
    (tmp_path / "README.md").write_text("# Home\n")
    subprocess.run(["git", "add", "--all"], cwd=tmp_path, check=True)
    subprocess.run(["git", "commit", "--quiet", "--message", "Begin"], cwd=tmp_path, check=True)
    for name in ("guides", "api"):
        subprocess.run(
            ["git", "update-ref", f"refs/remotes/platform/changes/{name}/3", "HEAD"], cwd=tmp_path, check=True
        )
    assert "there is no branch" in typed("--branch", "gone").err
    assert "there is no branch" in typed("--branch", "../../HEAD").err
    assert "there is no change request" in typed("--change-request", "12").err
    assert "api/3, guides/3" in typed("--change-request", "3").err


def test_an_address_names_the_change_request_of_its_space(
    typed: CommandRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs, address = tmp_path / "docs", "https://app.example.com/o/O/s/S1/~/changes/3/page"
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main", str(docs)], check=True)
    subprocess.run(["git", "commit", "--quiet", "--allow-empty", "--message", "Begin"], cwd=docs, check=True)
    for name in ("guides", "api"):
        ref = f"refs/remotes/platform/changes/{name}/3"
        subprocess.run(["git", "update-ref", ref, "HEAD"], cwd=docs, check=True)
    assert "api/3, guides/3" in typed("docs", "--change-request", address).err
    own = tmp_path / "own.toml"
    space = '[[repository.space]]\nid = "{}"\nname = "{}"\ndirectory = "{}"\n'
    spaces = space.format("S1", "guides", "guides") + space.format("S2", "api", "api")
    own.write_text(f'[platform]\nurl = "https://api.example.com"\n[[repository]]\npath = "docs"\n{spaces}')
    monkeypatch.setenv("SYNCD_CONFIG", str(own))
    assert find_source(docs, change_request=address).ref == "refs/remotes/platform/changes/guides/3"
    assert find_source(docs, change_request="api/3").ref == "refs/remotes/platform/changes/api/3"
    refused = typed("docs", "--change-request", address.replace("/S1/", "/S9/"))
    assert refused.code == 78
    assert "the address is of space S9, which is not bound here" in refused.err
    assert "guides (S1), api (S2)" in refused.err


def test_what_is_saved_is_shown_of_the_work_tree_alone(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main"], cwd=tmp_path, check=True)
    subprocess.run(["git", "commit", "--quiet", "--allow-empty", "--message", "Begin"], cwd=tmp_path, check=True)
    assert format_news(find_source(tmp_path)) == "What is saved is shown at once."
    assert format_news(find_source(tmp_path, branch="main")) == "It follows branch main as it is in Git."
