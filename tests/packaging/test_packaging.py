"""What is handed on: the archive has all that builds it, the wheel runs alone, and so does the one file for CI."""

import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from syncd import __version__
from syncd.cli.reference.example import EXAMPLES
from tests.packaging.conftest import ROOT, Built, run_tool

pytestmark = [pytest.mark.story, pytest.mark.timeout(600)]


def run_program(*words: str | Path, cwd: Path, code: int = 0) -> str:
    """Run a program without anything of this environment, and return what it printed."""
    environ = {"PATH": os.defpath, "HOME": str(cwd), "LANG": "C.UTF-8", "SHIV_ROOT": str(cwd / "unpacked")}
    output, errors = subprocess.PIPE, subprocess.STDOUT
    done = subprocess.run(words, cwd=cwd, env=environ, stdout=output, stderr=errors, text=True, check=False)
    assert done.returncode == code, f"{words}: {done.stdout}"
    return done.stdout


def list_pages(directory: Path) -> dict[str, bytes]:
    """The content of every page below a directory."""
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in directory.rglob("*.md")}


def test_the_archive_has_all_that_git_has(built: Built) -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert not [name for name in tracked.splitlines() if not (built.source / name).is_file()]


def test_the_wheel_runs_alone(built: Built, tmp_path: Path) -> None:
    syncd = built.programs / "syncd"
    assert run_program(built.programs / "pip", "check", cwd=tmp_path) == "No broken requirements found.\n"
    assert "Usage: syncd" in run_program(syncd, "--help", cwd=tmp_path)
    assert run_program(syncd, "--version", cwd=tmp_path) == f"syncd {__version__}\n"
    for name, path in EXAMPLES.items():
        assert run_program(syncd, "example", name, cwd=tmp_path) == (ROOT / path).read_text(encoding="utf-8")
    (manual,) = built.programs.parent.glob("lib/python3*/site-packages/syncd/manual")
    assert list_pages(manual) == list_pages(ROOT / "syncd" / "manual")
    assert run_program(syncd, "check", manual, cwd=tmp_path).startswith("Nothing to mend")
    assert not list(manual.parents[1].glob("*pytest*")), "the test tools are not there"


@pytest.mark.parametrize("kind", ["wheel", "bundle"])
def test_the_demo_is_told(built: Built, tmp_path: Path, kind: str) -> None:
    words = [built.programs / "syncd"] if kind == "wheel" else [sys.executable, built.bundle]
    told = run_program(*words, "demo", cwd=tmp_path)
    assert "change request" in told
    assert "syncd push" not in told.rpartition("syncd status")[2], "all is published at the end"


def test_the_same_wheels_give_the_same_bytes(built: Built, tmp_path: Path) -> None:
    for name in ("noxfile.py", "pyproject.toml"):
        (tmp_path / name).write_bytes((built.source / name).read_bytes())
    printed = run_tool("nox", "-s", "bundle", "--", str(built.wheels), cwd=tmp_path)
    assert (tmp_path / "dist" / "syncd.pyz").read_bytes() == built.bundle.read_bytes()
    assert f"{hashlib.sha256(built.bundle.read_bytes()).hexdigest()}  dist/syncd.pyz" in printed


def test_the_bundle_refuses_another_python_before_it_loads_anything_native(built: Built, tmp_path: Path) -> None:
    with zipfile.ZipFile(built.bundle) as opened:
        check = opened.read("site-packages/bin/check_python.py").decode()
    assert run_program(sys.executable, "-c", check, cwd=tmp_path) == ""
    other = check.replace("built_for, found = 'cpython", "built_for, found = 'other")
    said = run_program(sys.executable, "-c", other, cwd=tmp_path, code=78)
    assert said.startswith("error: this file has native parts for Python other-")
    assert "\nhint: take that Python" in said


def test_the_bundle_is_no_home_for_a_service(built: Built, tmp_path: Path) -> None:
    said = run_program(sys.executable, built.bundle, "service", "install", "--user", "--dry-run", cwd=tmp_path, code=78)
    assert "hint: install syncd from its wheels, in" in said
