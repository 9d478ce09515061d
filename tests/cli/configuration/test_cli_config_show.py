"""`syncd config show`: every value that counts, where it comes from, and no secret."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from syncd.cli.app import run
from tests.cli.command_runner import CommandRunner, make_runner
from tests.cli.terminal_session import TerminalSession

TEXT = '[[repository]]\nbranches = ["main", "docs/*"]\n[[repository.space]]\nid = "a"\n'


@pytest.fixture
def work(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "--quiet", "work"], cwd=tmp_path, check=True)
    (tmp_path / "work" / "syncd.toml").write_text(TEXT)
    return tmp_path / "work"


@pytest.fixture
def show(work: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandRunner:
    return make_runner("config show", work, monkeypatch, capsys)


def test_each_value_says_where_it_comes_from(work: Path, show: CommandRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYNCD_URL", "https://api.example.com")
    monkeypatch.setenv("SYNCD_TOKEN", "hunter2")
    said = show("--origin")
    assert said.code == 0
    file = work / "syncd.toml"
    assert 'platform.url = "https://api.example.com"  # variable SYNCD_URL' in said.out
    assert f'repository.0.branches = ["main", "docs/*"]  # {file}:2, which comes with the repository' in said.out
    assert 'platform.token = "***"  # variable SYNCD_TOKEN' in said.out
    assert "hunter2" not in said.out
    assert "repository.0.interval = 60.0  # default" in said.out
    assert 'repository.0.name = "work"  # default' in said.out
    assert "#" not in show().out.partition("\n")[2]


def test_the_operators_own_platform_is_named_with_its_line(
    tmp_path: Path, show: CommandRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "home" / "syncd" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text('[platform]\nurl = "https://api.example.com"\n')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    assert show().code == 78
    assert "syncd trust" in show().err
    make = ["--config", "syncd.toml"]
    document: Any = json.loads(show(*make, "--json").out)
    found = {one["key"]: one for one in document["settings"]}
    assert found["platform.url"]["origin"] == {
        "kind": "file",
        "file": str(own),
        "line": 2,
        "column": 1,
        "owner": "operator",
    }
    assert found["platform.insecure"]["origin"] == {"kind": "default"}
    assert found["repository.0.space.0.id"]["origin"]["line"] == 4


def test_a_file_of_the_repository_is_shown_as_trusted(
    work: Path, show: CommandRunner, capsys: pytest.CaptureFixture[str]
) -> None:
    (work / "syncd.toml").write_text('[platform]\nurl = "https://api.example.com"\n' + TEXT)
    assert run(["trust", "--yes"]) == 0
    capsys.readouterr()
    line = f"{work / 'syncd.toml'}:2, which comes with the repository and is trusted"
    assert f'platform.url = "https://api.example.com"  # {line}' in show("--origin").out


def test_a_repository_of_a_drop_in_has_its_lines(work: Path, show: CommandRunner) -> None:
    file = work / "config.toml"
    file.write_text('[platform]\nurl = "https://api.example.com"\n' + TEXT)
    (work / "conf.d").mkdir()
    (work / "conf.d" / "a.toml").write_text(TEXT.replace('"a"', '"b"'))
    said = show("--config", str(file), "--origin").out
    assert f'repository.0.space.0.id = "a"  # {file}:6\n' in said
    assert f'repository.1.space.0.id = "b"  # {work / "conf.d" / "a.toml"}:4\n' in said


def test_a_credential_in_an_address_is_never_shown(work: Path, show: CommandRunner) -> None:
    upstream = '[repository.upstream]\nurl = "https://me:hunter2@git.example.org/x"\n'
    file = work / "own.toml"
    file.write_text('[platform]\nurl = "https://api.example.com"\n' + TEXT + upstream)
    said = show("--config", str(file), "--origin")
    assert "https://***@git.example.org/x" in said.out
    assert "hunter2" not in said.out
    file.write_text('[platform]\nurl = "https://api.example.com/?token=hunter2#x"\n' + TEXT)
    assert 'platform.url = "https://api.example.com/?***"\n' in show("--config", str(file)).out


def test_on_a_narrow_terminal_an_origin_stands_below_its_value(work: Path) -> None:
    environ = {"SYNCD_URL": "https://api.example.com", "SYNCD_TOKEN": "hunter2", "NO_COLOR": "1", "CI": ""}
    with TerminalSession("config", "show", "--origin", cwd=work, environ=environ, columns=60) as session:
        assert session.finish() == 0
    lines = session.text.splitlines()
    at = lines.index('repository.0.branches = ["main", "docs/*"]')
    assert lines[at + 1].startswith(f"    # {work}")
    assert 'repository.0.name = "work"  # default' in lines
