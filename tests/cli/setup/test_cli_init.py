"""`init`: an existing repository is bound by one command, and a choice is never made for a person."""

import json
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from syncd.cli.app import run

OURS = {"README.md": "# Home\n\nWelcome.\n", "install.md": "# Install\n\nOurs.\n", "code.py": "print()\n"}
Type = Callable[..., tuple[int, str, str]]


@pytest.fixture
def type_(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Type:
    """Run syncd in a directory, in this process, and return its exit code and what it printed."""

    def typed(*words: object, at: Path) -> tuple[int, str, str]:
        monkeypatch.chdir(at)
        capsys.readouterr()
        code = run([str(word) for word in words])
        return code, *capsys.readouterr()

    return typed


@pytest.fixture
def work(shell: Any) -> Path:
    """A repository that people made."""
    path = Path(shell.root) / "work"
    for name, text in OURS.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)
    subprocess.run(["git", "init", "--quiet", "--initial-branch=trunk", str(path)], check=True)
    shell.git("add", "--all", cwd=path)
    shell.git("commit", "--quiet", "--message", "Ours", cwd=path)
    return path


def test_a_repository_is_bound_after_a_person_has_chosen(shell: Any, work: Path, type_: Type) -> None:
    words = ("init", shell.url, shell.space, "--token-file", shell.token)
    code, shown, _ = type_(*words, at=work)
    assert code == 5
    assert "install.md" in shown
    assert "git diff trunk platform/undecided/docs" in shown
    assert "undecided" in type_("status", at=work)[1]
    assert json.loads(type_("status", "--json", at=work)[1])["repositories"][0]["spaces"][0]["undecided"] is True
    assert type_("sync", at=work)[0] == 5
    assert type_(*words, at=work)[0] == 5, "the same line takes it up again"
    code, _, why = type_("init", shell.url, f"{shell.space}=elsewhere", "--token-file", shell.token, at=work)
    assert code == 78
    assert "syncd.toml" in why
    assert type_("init", "--prefer", "both", at=work)[0] == 64
    assert type_("init", "--prefer", "nobody=git", at=work)[0] == 78
    (work / "sub").mkdir()
    code, done, _ = type_("init", "--prefer", "git", "--json", at=work / "sub")
    assert code == 0
    assert json.loads(done)["results"][0]["flow"] == "bind"
    assert (work / "install.md").read_text() == OURS["install.md"]
    pushed = type_("push", at=work)[1]
    assert "update page install.md" in pushed
    assert "create change request #1  (What trunk has in Git [trunk#" in pushed, (
        "the merge of init tells nobody what it is"
    )
    assert 'branches = ["trunk"]' in (work / ".git" / "syncd.toml").read_text()


def test_a_choice_is_made_for_this_repository_of_a_configuration_elsewhere(
    shell: Any, work: Path, type_: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    shell.git("clone", "--quiet", str(work), str(other), cwd=tmp_path)
    table = '[[repository]]\npath = "{}"\nbranches = ["trunk"]\n[[repository.space]]\nid = "{}"\n'
    named = tmp_path / "service.toml"
    text = f'[platform]\nurl = "{shell.url}"\ntoken_file = "{shell.token}"\n'
    named.write_text(text + table.format(work, shell.space) + table.format(other, shell.space))
    monkeypatch.setenv("SYNCD_CONFIG", str(named))
    assert type_("sync", at=tmp_path)[0] == 5
    code, done, why = type_("init", "--prefer", "git", at=work)
    assert (code, why) == (0, "")
    assert "Bound" in done
    assert not (work / ".git" / "syncd.toml").exists()
    undecided = {
        each["path"]: each["spaces"][0]["undecided"]
        for each in json.loads(type_("status", "--json", at=tmp_path)[1])["repositories"]
    }
    assert undecided == {str(work): False, str(other): True}
    shell.git("init", "--quiet", "third", cwd=tmp_path)
    code, _, why = type_("init", "--prefer", "git", at=tmp_path / "third")
    assert code == 78
    assert f"{named} names other repositories" in why


def test_commands_that_are_printed_work_as_printed_with_a_configuration_that_was_named(
    shell: Any, work: Path, type_: Type, tmp_path: Path
) -> None:
    other, outside = tmp_path / "other", tmp_path / "outside"
    outside.mkdir()
    shell.git("clone", "--quiet", str(work), str(other), cwd=tmp_path)
    named = tmp_path / "my service.toml"
    text = f'[platform]\nurl = "{shell.url}"\ntoken_file = "{shell.token}"\n'
    table = '[[repository]]\npath = "{}"\nbranches = ["trunk"]\n[[repository.space]]\nid = "{}"\nname = "{}"\n'
    named.write_text(text + table.format(work, shell.space, "here") + table.format(other, shell.space, "there"))
    code, shown, _ = type_("sync", "--config", named, at=outside)
    assert code == 5
    command = f"syncd init --prefer here=git --config '{named}'"
    assert f"propose it: {command}\n" in shown
    for words in ((), ("--json",)):
        status = type_("status", "--config", named, *words, at=outside)[1]
        assert command in status
        assert f"syncd init --config '{named}'" in status
    assert type_("init", "--config", named, at=outside)[0] == 5
    code, _, why = type_("init", "--config", named, "--prefer", "git", at=outside)
    assert code == 78
    assert f"cd {other}" in why
    code, done, why = type_(*shlex.split(command)[1:], at=outside)
    assert (code, why) == (0, "")
    assert f"Next: syncd status --config '{named}', then" in done
    states = json.loads(type_("status", "--json", "--config", named, at=outside)[1])["repositories"]
    assert [each["spaces"][0]["undecided"] for each in states] == [False, True]
    assert type_("init", "--config", named, "--prefer", "there=platform", at=other)[0] == 0
    assert type_("init", shell.url, shell.space, "--config", named, at=other)[0] == 64
    shell.git("init", "--quiet", "third", cwd=tmp_path)
    assert type_("init", "--config", named, at=tmp_path / "third")[0] == 78


def test_commands_that_are_printed_outside_of_repositories_work_there_with_the_variable(
    shell: Any, work: Path, type_: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (outside := tmp_path / "outside").mkdir()
    named = tmp_path / "service.toml"
    repository = f'[[repository]]\npath = "{work}"\nbranches = ["trunk"]\n'
    space = f'[[repository.space]]\nid = "{shell.space}"\nname = "here"\n'
    named.write_text(f'[platform]\nurl = "{shell.url}"\ntoken_file = "{shell.token}"\n{repository}{space}')
    assert type_("init", "--prefer", "git", at=outside)[0] == 78
    monkeypatch.setenv("SYNCD_CONFIG", str(named))
    assert type_("sync", at=outside)[0] == 5
    status = type_("status", at=outside)[1]
    assert "Next: syncd init\n" in status
    assert type_("init", at=outside)[0] == 5
    command = "syncd init --prefer here=git"
    assert f"propose it: {command}\n" in status
    code, done, why = type_(*command.split()[1:], at=outside)
    assert (code, why) == (0, "")
    assert "Bound. Next: syncd status, then" in done


@pytest.mark.long
def test_a_bare_repository_is_bound_and_kept_in_step(shell: Any, work: Path, type_: Type) -> None:
    shell.git("clone", "--quiet", "--bare", "work", "bare.git", cwd=shell.root)
    bare = shell.root / "bare.git"
    code, _, why = type_("init", shell.url, f"{shell.space}=docs", "--token-file", shell.token, at=bare)
    assert code == 0, why
    assert shell.git("show", "trunk:docs/use.md", cwd=bare) == "# Use\n\nLike this.\n"
    assert "in step" in type_("sync", at=bare)[1]
    assert "in step" in type_("status", at=bare)[1]


@pytest.mark.long
def test_a_work_tree_with_its_git_directory_elsewhere_is_found(shell: Any, work: Path, type_: Type) -> None:
    moved = shell.root / "elsewhere.git"
    shell.git("init", "--quiet", f"--separate-git-dir={moved}", cwd=work)
    code, _, why = type_("init", shell.url, f"{shell.space}=docs", "--token-file", shell.token, at=work)
    assert code == 0, why
    assert (work / "docs" / "use.md").read_text() == "# Use\n\nLike this.\n"
    assert "in step" in type_("sync", at=work / "docs")[1]


@pytest.mark.long
def test_a_space_that_is_configured_no_more_is_told(shell: Any, work: Path, type_: Type) -> None:
    type_("init", shell.url, f"{shell.space}=docs", "--token-file", shell.token, at=work)
    file = work / ".git" / "syncd.toml"
    former = shell.space
    file.write_text(file.read_text().replace(former, "another"))
    assert f"{former} is configured no more" in type_("status", at=work)[1]
    assert (work / "docs" / "use.md").exists()


def test_a_directory_that_the_branch_does_not_have_is_told(shell: Any, work: Path, type_: Type) -> None:
    (work / "docs").mkdir()
    (work / "docs" / "README.md").write_text("# Ours\n")
    shell.git("add", "--all", cwd=work)
    shell.git("commit", "--quiet", "--message", "Docs", cwd=work)
    code, shown, _ = type_("init", shell.url, f"{shell.space}=doc", "--token-file", shell.token, at=work)
    assert code == 0
    assert "trunk had no directory doc; it took what the platform has" in shown


def test_a_directory_that_is_no_repository_is_refused(shell: Any, type_: Type) -> None:
    code, _, why = type_("init", shell.url, shell.space, "--token-file", shell.token, at=shell.root)
    assert code == 78
    assert "no Git repository" in why


def test_a_bare_repository_with_an_upstream_needs_no_other_clone(shell: Any, work: Path, type_: Type) -> None:
    """What people push is proposed, what the platform has is pushed; a credential in an address is refused."""
    shell.git("clone", "--quiet", "--bare", "work", "hosted.git", cwd=shell.root)
    shell.git("clone", "--quiet", "--bare", str(shell.root / "hosted.git"), "service.git", cwd=shell.root)
    service, hosted = shell.root / "service.git", shell.root / "hosted.git"
    assert type_("init", shell.url, f"{shell.space}=docs", "--token-file", shell.token, at=service)[0] == 0
    config = service / "syncd.toml"
    plain = config.read_text()
    config.write_text(f"{plain}\n[repository.upstream]\n")
    assert f"origin is {hosted}, says Git" in type_("trust", "--yes", at=service)[1]
    assert type_("sync", at=service)[0] == 0
    assert shell.git("show", "trunk:docs/use.md", cwd=hosted) == "# Use\n\nLike this.\n"
    shell.git("pull", "--quiet", str(hosted), "trunk", cwd=work)
    (work / "docs/use.md").write_text("# Use\n\nLike that.\n")
    shell.git("commit", "--quiet", "--all", "--message", "Better", cwd=work)
    shell.git("push", "--quiet", str(hosted), "trunk", cwd=work)
    assert "create change request #1" in type_("sync", at=service)[1]

    shell.git("remote", "set-url", "origin", "https://me:hunter2@git.example.org/x", cwd=service)
    code, out, why = type_("sync", at=service)
    assert code == 78
    assert "hunter2" not in out + why
    shell.git("remote", "remove", "origin", cwd=service)
    assert "Git knows no remote origin" in type_("sync", at=service)[2]
    token = shell.root / "git-token"
    token.write_text("hunter2\n")
    token.chmod(0o644)
    config.write_text(f'{plain}\n[repository.upstream]\nurl = "{hosted}"\ntoken_file = "{token}"\n')
    assert type_("trust", "--yes", at=service)[0] == 0
    code, _, why = type_("sync", at=service)
    assert code == 78
    assert "others may read the token_file" in why
    token.chmod(0o600)
    token.write_text("https://me:hunter2@git.example.org\nhttps://me:another@git.example.com\n")
    code, _, why = type_("sync", at=service)
    assert code == 78
    assert "does not hold one token" in why
