"""What people install: the source archive, the wheel and the one file for CI, built once for all tests of a run."""

import fcntl
import os
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.conftest import shell
from tests.service.manual import find_commands, replace_names

__all__ = ["built", "shell"]
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Built:
    """A directory with the source archive unpacked, and what was built from that alone."""

    source: Path

    @property
    def wheels(self) -> Path:
        """Wheels of syncd and all that it needs."""
        return self.source / "build" / "bundle" / "wheels"

    @property
    def bundle(self) -> Path:
        """The one file."""
        return self.source / "dist" / "syncd.pyz"

    @property
    def programs(self) -> Path:
        """The programs of an environment that has the wheels and nothing else."""
        return self.source / "build" / "venv" / "bin"


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The archive, built from this source, and the bundle, built from the archive."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with (shared / "built.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (shared / "done").exists():
            build_all(shared)
            (shared / "done").touch()
    return Built(shared / "built")


def build_all(directory: Path) -> None:
    """Given an empty directory, build the archive there, all else from what it holds, and install the wheels."""
    run_tool("hatchling", "build", "--target", "sdist", "--directory", str(directory / "archive"), cwd=ROOT)
    (archive,) = (directory / "archive").iterdir()
    with tarfile.open(archive) as opened:
        opened.extractall(directory / "unpacked", filter="data")
    (source,) = (directory / "unpacked").iterdir()
    source = source.rename(directory / "built")
    run_tool("nox", "-s", "bundle", cwd=source)
    environment = source / "build" / "venv"
    run_tool("venv", str(environment), cwd=source)
    # The command of the manual, which takes nothing from an index.
    lines = find_commands("how-to/service.md", "Install it on a server")
    (install,) = (line for line in lines if "--no-index" in line)
    names = {"sudo /opt/syncd/bin/pip": f"{environment}/bin/pip --quiet", " wheels ": f" {source}/build/bundle/wheels "}
    subprocess.run(replace_names(install, names).split(), cwd=source, check=True)


def run_tool(*words: str, cwd: Path) -> str:
    """Given a module of this environment and its words, run it, and return what it printed."""
    environ = {**os.environ, "SOURCE_DATE_EPOCH": "1767225600"}
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=cwd, env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout + done.stderr
