"""`syncd service install` and `uninstall`, below a directory that stands for the machine."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.command_runner import CommandRunner, make_runner

FILES = {"etc/systemd/system/syncd.service", "etc/sysusers.d/syncd.conf", "etc/tmpfiles.d/syncd.conf"}


@pytest.fixture
def image(tmp_path: Path) -> Path:
    (tmp_path / "image").mkdir()
    return tmp_path / "image"


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandRunner:
    return make_runner("service", tmp_path, monkeypatch, capsys)


def list_files(directory: Path) -> set[str]:
    return {str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file()}


def test_what_is_installed_is_taken_away_again_and_nothing_else(service: CommandRunner, image: Path) -> None:
    (image / "etc/systemd/system").mkdir(parents=True)
    (image / "etc/systemd/system/other.service").write_text("mine")
    assert service("install", "--root", str(image)).code == 0
    assert list_files(image) == FILES | {"etc/systemd/system/other.service"}
    assert service("install", "--root", str(image)).code == 0, "once more changes nothing"
    assert "User=syncd\n" in (image / "etc/systemd/system/syncd.service").read_text()
    assert service("uninstall", "--root", str(image)).code == 0
    assert list_files(image) == {"etc/systemd/system/other.service"}
    assert service("uninstall", "--root", str(image)).out == "nothing is installed\n"


@pytest.mark.parametrize("text", ["[Service]\nExecStart=mine\n", ""])
def test_a_file_that_it_did_not_write_stays(service: CommandRunner, image: Path, text: str) -> None:
    unit = image / "etc/systemd/system/syncd.service"
    unit.parent.mkdir(parents=True)
    unit.write_text(text)
    done = service("install", "--root", str(image))
    assert done.code == 5
    assert str(unit) in done.err
    assert list_files(image) == {"etc/systemd/system/syncd.service"}, "nothing is written where one file is in the way"
    assert service("uninstall", "--root", str(image)).code == 5
    assert unit.read_text() == text
    assert service("install", "--root", str(image), "--force").code == 0
    assert service("uninstall", "--root", str(image)).code == 0
    assert list_files(image) == set()


def test_a_file_that_somebody_changed_stays(service: CommandRunner, image: Path) -> None:
    service("install", "--root", str(image))
    unit = image / "etc/systemd/system/syncd.service"
    unit.write_text(unit.read_text() + "# mine\n")
    for command in ("install", "uninstall"):
        assert service(command, "--root", str(image)).code == 5
    assert list_files(image) == FILES
    assert unit.read_text().endswith("# mine\n")


def test_a_link_is_a_file_of_somebody_else(service: CommandRunner, image: Path) -> None:
    unit = image / "etc/systemd/system/syncd.service"
    unit.parent.mkdir(parents=True)
    unit.symlink_to(image / "nowhere")
    assert service("install", "--root", str(image)).code == 5
    assert unit.is_symlink()


def test_a_dry_run_shows_all_and_writes_nothing(service: CommandRunner, image: Path) -> None:
    done = service("install", "--dry-run", "--root", str(image))
    assert done.code == 0
    for file in FILES:
        assert f"# {image / file}\n# Written by: syncd service install" in done.out
    assert list_files(image) == set()
    done = service("install", "--dry-run", "--user")
    assert "# would run: systemctl --user daemon-reload\n" in done.out
    assert "[Install]\nWantedBy=default.target" in done.out
    assert "User=" not in done.out
    assert not (Path(os.environ["HOME"]) / ".config").exists()


def test_without_a_configuration_no_service_is_begun(
    service: CommandRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    systemctl = tmp_path / "bin" / "systemctl"
    systemctl.parent.mkdir()
    systemctl.write_text(f'#!/bin/sh\necho "$*" >> {tmp_path}/ran\n')
    systemctl.chmod(0o755)
    monkeypatch.setenv("PATH", f"{systemctl.parent}{os.pathsep}{os.environ['PATH']}")
    done = service("install", "--user")
    assert done.code == 78
    assert "--no-start" in done.err
    home = Path(os.environ["HOME"]) / ".config"
    assert not home.exists()
    (home / "syncd").mkdir(parents=True)
    configuration = home / "syncd" / "config.toml"
    lines = (
        '[platform]\nurl = "https://docs.example"\n\n[[repository]]\n%s[[repository.space]]\nid = "S"\nname = "docs"\n'
    )
    configuration.write_text(lines % "")
    done = service("install", "--user")
    assert done.code == 78
    assert f"there is no Git repository in {home / 'syncd'}" in done.err
    assert 'path = "/where/it/is"' in done.err
    assert list_files(home) == {"syncd/config.toml"}
    subprocess.run(["git", "init", "--quiet", tmp_path / "docs"], check=True)
    (tmp_path / "docs" / "guides").mkdir()
    configuration.write_text(lines % f'path = "{tmp_path}/docs/guides"\n')
    assert service("install", "--user").code == 78, "the service opens a repository at its top alone"
    configuration.write_text(lines % f'path = "{tmp_path}/docs"\n')
    with monkeypatch.context() as other_user:
        # root installs the service, and the repositories belong to the service's user.
        other_user.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
        assert service("install", "--user").code == 0
    (tmp_path / "ran").unlink()
    assert service("install", "--user").code == 0
    assert (tmp_path / "ran").read_text().splitlines() == [
        "--user daemon-reload",
        "--user enable syncd.service",
        "--user restart syncd.service",
    ]
    assert service("uninstall", "--user").code == 0
    assert (tmp_path / "ran").read_text().splitlines()[3:] == [
        "--user disable --now syncd.service",
        "--user daemon-reload",
    ]
    assert list_files(home) == {"syncd/config.toml"}
    systemctl.write_text("#!/bin/sh\necho no bus >&2\nexit 1\n")
    done = service("install", "--user")
    assert done.code == 1
    assert "systemctl --user daemon-reload: no bus" in done.err
