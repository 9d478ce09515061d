"""What commands say where a configuration has several repositories: whose each line is, and what cannot be read."""

import json
from pathlib import Path
from typing import Any

import pytest

from syncd.api.client import Client
from syncd.cli.history.log import list_newest
from syncd.config import RepositoryConfig
from syncd.model.comment import CommentBodyWrite, CommentCreate


def make_both(shell: Any) -> tuple[Path, Path, Path]:
    """A clone, a bare one, and a configuration that has both."""
    docs, bare = shell.clone(), shell.root / "bare.git"
    shell.git("clone", "--quiet", "--bare", str(docs), str(bare), cwd=shell.root)
    named = shell.root / "service.toml"
    repository = '[[repository]]\npath = "{}"\ninstance = "00000a"\n[[repository.space]]\nid = "{}"\n'
    text = f'[platform]\nurl = "{shell.url}"\ntoken_file = "{shell.token}"\n'
    named.write_text(text + "".join(repository.format(path, shell.space) for path in (docs, bare)))
    return docs, bare, named


def test_of_several_repositories_each_result_says_whose_it_is(shell: Any) -> None:
    docs, bare, named = make_both(shell)
    assert shell.fine("sync", "--config", named) == "Everything is in step.\n"
    write(shell, docs, "new.md")
    said = shell.fine("sync", "--config", named)
    assert said.startswith("docs:\n")
    assert "not sent: new.md is not listed in SUMMARY.md" in said
    bare.rename(shell.root / "moved.git")
    said = shell.syncd("sync", "--config", named)
    assert said.returncode == 4
    assert said.stdout.startswith("bare:\n! run bare held: ")
    assert "\n\ndocs:\n" in said.stdout
    document = json.loads(shell.syncd("sync", "--json", "--config", named).stdout)
    assert {one["repository"] for one in document["results"] if one["exit_code"]} == {"bare"}
    assert [one["repository"] for one in document["unsent"]] == ["docs"]


def test_what_happened_in_a_repository_is_shown_beside_one_that_cannot_be_read(shell: Any) -> None:
    docs, bare, named = make_both(shell)
    shell.fine("sync", "--config", named)
    said = shell.fine("log", "--config", named)
    assert "run         bare:  the last run, by command, ok" in said
    assert "run         docs:  the last run, by command, ok" in said
    bare.rename(shell.root / "moved.git")
    done = shell.syncd("log", "--config", named)
    assert done.returncode == 4
    assert "docs:  the last run" in done.stdout
    assert f"error: {bare} is no Git repository" in done.stderr
    table = {"space": [{"id": shell.space}]}
    both = [RepositoryConfig.model_validate({"path": path, **table}) for path in (docs, bare)]
    assert {path for path, _ in list_newest(both, 9)} == {docs}
    docs.rename(shell.root / "moved")
    assert shell.syncd("log", "--config", named).returncode == 78


@pytest.mark.parametrize(
    ("words", "member", "said"),
    [
        (("cr", "list"), "change_requests", "#1 space/main  Write  (open)"),
        (("review",), "change_requests", "#1 space/main  Write  (open)"),
        (("resolve",), "repositories", "No page is in conflict."),
    ],
)
def test_a_repository_that_cannot_be_read_keeps_no_command_from_the_others(
    shell: Any, words: tuple[str, ...], member: str, said: str
) -> None:
    docs, bare, named = make_both(shell)
    write(shell, docs, "README.md")
    shell.fine("push", "--config", named)
    bare.rename(shell.root / "moved.git")
    done = shell.syncd(*words, "--config", named)
    assert done.returncode == 4, "as sync and log, by the table of exit codes"
    assert said in done.stdout
    assert done.stderr.count("error: ") == 1
    assert f"error: {bare} is no Git repository" in done.stderr
    done = shell.syncd(*words, "--json", "--config", named)
    assert (done.returncode, len(json.loads(done.stdout)[member])) == (4, 1)
    assert json.loads(done.stderr)["exit_code"] == 78
    docs.rename(shell.root / "moved")
    done = shell.syncd(*words, "--config", named)
    assert (done.returncode, done.stdout) == (78, ""), "all came to the same code"
    assert done.stderr.count("is no Git repository") == 2


def test_a_comment_is_answered_beside_a_repository_that_cannot_be_read(shell: Any) -> None:
    docs, bare, named = make_both(shell)
    write(shell, docs, "README.md")
    shell.fine("push", "--config", named)
    with Client(shell.url, shell.token.read_text().strip()) as client:
        body = CommentCreate(body=CommentBodyWrite(markdown="Why?"))
        comment = client.change_request_comments.post(shell.space, "1", body)
    bare.rename(shell.root / "moved.git")
    assert shell.fine("review", "reply", comment.id, "So.", "--config", named).startswith("Replied to ")
    missing = shell.syncd("review", "reply", "nothing", "So.", "--config", named)
    assert missing.returncode == 78, "it may be of the repository that cannot be read"
    assert "is no Git repository" in missing.stderr


def write(shell: Any, docs: Path, name: str) -> None:
    (docs / name).write_text("# New\n")
    shell.git("add", "--all", cwd=docs)
    shell.git("commit", "--quiet", "--message", "Write", cwd=docs)
