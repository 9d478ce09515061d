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


def make_broken_drop_in(shell: Any) -> tuple[Path, Path, Path]:
    """A clone, a configuration that has it, and a file beside that in which a key is misspelled."""
    docs, _, named = make_both(shell)
    config, drop_in = shell.root / "config.toml", shell.root / "conf.d" / "bare.toml"
    drop_in.parent.mkdir()
    head, first, second = named.read_text().split("[[repository]]\n")
    config.write_text(f"{head}[[repository]]\n{first}")
    drop_in.write_text(f"[[repository]]\nintervall = 5\n{second}")
    return docs, config, drop_in


@pytest.mark.parametrize("words", [("sync",), ("pull",), ("push",), ("status",), ("cr", "list"), ("review",), ("log",)])
def test_a_file_with_a_mistake_is_a_problem_of_each_command_that_leaves_its_repositories_out(
    shell: Any, words: tuple[str, ...]
) -> None:
    docs, config, drop_in = make_broken_drop_in(shell)
    done = shell.syncd(*words, "--config", config, cwd=docs)
    assert done.returncode == 4, "the other repository was served, and this is not all"
    said = done.stdout + done.stderr
    assert said.count(f"{drop_in}: repository.0.intervall - there is no such key") == 1
    assert "Everything is in step." not in said
    if words[0] in ("sync", "pull", "push"):
        assert done.stdout.startswith("conf.d/bare.toml:\n! run conf.d/bare.toml held: ")
    if words[0] == "status":
        assert done.stdout.startswith(f"{drop_in}  cannot be read\n")
    done = shell.syncd(*words, "--json", "--config", config, cwd=docs)
    assert (done.returncode, json.loads(done.stdout).get("exit_code", 4)) == (4, 4)
    assert json.loads(done.stderr)["exit_code"] == 78
    drop_in.write_text(drop_in.read_text().replace("intervall", "interval"))
    shell.fine(*words, "--config", config, cwd=docs)


def test_the_other_repositories_run_beside_a_file_with_a_mistake(shell: Any) -> None:
    docs, config, drop_in = make_broken_drop_in(shell)
    write(shell, docs, "README.md")
    done = shell.syncd("sync", "--config", config)
    assert (done.returncode, "propose space/main" in done.stdout) == (4, True)
    results = json.loads(shell.syncd("sync", "--json", "--config", config).stdout)["results"]
    assert [one["exit_code"] for one in results if one["repository"] == "conf.d/bare.toml"] == [78]
    found = json.loads(shell.syncd("status", "--json", "--config", config).stdout)["repositories"]
    assert [one["path"] for one in found] == [str(drop_in), str(docs)]
    done = shell.syncd("status", "--porcelain=v1", "--config", config)
    assert done.stdout.splitlines()[1] == f"repository\t78\t-\t{drop_in}"
    done = shell.syncd("doctor", "--json", "--config", config)
    failed = [one["subject"] for one in json.loads(done.stdout)["checks"] if one["state"] == "fail"]
    assert (done.returncode, failed) == (78, ["conf.d/bare.toml"])
    done = shell.syncd("push", "elsewhere", "--config", config)
    assert (done.returncode, str(drop_in) in done.stderr) == (78, True), "a repository of it may have the branch"
    docs.rename(shell.root / "moved")
    assert shell.syncd("sync", "--config", config).returncode == 78, "all came to the same code"


def write(shell: Any, docs: Path, name: str) -> None:
    (docs / name).write_text("# New\n")
    shell.git("add", "--all", cwd=docs)
    shell.git("commit", "--quiet", "--message", "Write", cwd=docs)
