"""Root file systems of Debian releases, and the wheels that are installed on them; made once for each run."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.service.manual import find_commands

SOURCE = Path(__file__).parents[2]
PACKAGES = ("systemd", "systemd-sysv", "dbus", "sudo", "git", "python3-venv", "ca-certificates", "curl")
"""What a server has."""
USER_PACKAGES = ("libpam-systemd", "dbus-user-session")
"""What it has for services of a person."""
TOOLS = ("debootstrap", "systemd-nspawn", "nsenter", "mount")
_FORMAT = "$(CODENAME) $(COMPONENT) $(SITE)"


@dataclass(frozen=True)
class Release:
    """A release of Debian, with the versions that a test of a service depends on."""

    name: str
    python: str
    git: str
    systemd: str

    def __str__(self) -> str:
        return self.name


BOOKWORM = Release("bookworm", "3.11", "2.39", "252")
TRIXIE = Release("trixie", "3.13", "2.47", "257")


def check_tools() -> None:
    """Make sure that this machine can boot another. Raises: AssertionError that says what it lacks."""
    assert os.geteuid() == 0, "only root can boot a machine"
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    assert not missing, f"install debootstrap and systemd-container: there is no {', '.join(missing)}"


def make_image(release: Release, directory: Path) -> Path:
    """Given a release and where images are kept, return its root file system, which nobody may change."""
    image = directory / release.name
    if image.is_dir():
        return image
    partial = directory / f"{release.name}.partial"
    shutil.rmtree(partial, ignore_errors=True)
    include = f"--include={','.join((*PACKAGES, *USER_PACKAGES))}"
    _run("debootstrap", "--variant=minbase", include, release.name, str(partial), *_find_mirror())
    shutil.rmtree(partial / "var/cache/apt/archives")
    (partial / "etc/hostname").write_text("server\n")
    (partial / "etc/hosts").write_text("127.0.0.1 localhost server\n")
    partial.rename(image)
    return image


def build_wheels(release: Release, directory: Path) -> Path:
    """Given a release and an empty directory, return wheels of this source and all that it needs."""
    (command,) = (line for line in find_commands("how-to/service.md", "Install it on a server") if " wheel " in line)
    assert command == "python3 -m pip wheel --wheel-dir wheels ."
    here = directory / f"{sys.version_info.major}.{sys.version_info.minor}"
    if not here.is_dir():
        _run(sys.executable, *command.split()[1:-2], str(here), ".")
    there = directory / release.python
    if not there.is_dir():
        (own,) = here.glob("syncd-*.whl")
        which = ("--only-binary=:all:", f"--python-version={release.python}", f"--dest={there}")
        _run(sys.executable, "-m", "pip", "download", *which, str(own))
    return there


def _find_mirror() -> list[str]:
    """The mirror that this machine's packages come from, when it is one of Debian; else debootstrap knows its own."""
    done = subprocess.run(
        ["apt-get", "indextargets", "--format", _FORMAT, "Created-By: Packages", "Origin: Debian"],
        capture_output=True,
        text=True,
        check=False,
    )
    rows = [line.split() for line in done.stdout.splitlines()]
    # A site of security updates has no releases, one of a release's updates has.
    return [site for codename, component, site in rows if component == "main" and codename.endswith("-updates")][:1]


def _run(*command: str) -> None:
    done = subprocess.run(command, cwd=SOURCE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command[:4])}: {done.stdout[-4000:]}"
