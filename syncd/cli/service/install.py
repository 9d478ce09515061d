"""`service install` and `uninstall`: the files that systemd needs for the service, written and taken away again.

Each file begins with a line that has the digest of the rest. So it is known without a record of its own which file this
command wrote and nobody has changed: no other is overwritten or removed, unless a person says so.
"""

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from syncd.cli.terminal.context import load_config_file
from syncd.cli.terminal.packaged_files import read_packaged_file
from syncd.cli.terminal.text import escape, print_text
from syncd.config import find_config
from syncd.config.register import find_base
from syncd.errors import ConfigInvalid, GuardRefused, ServiceUnavailable, SyncdError, Unauthorized
from syncd.repo.process.location import discover_repository
from syncd.store.small_files import write_public_file

UNIT = "syncd.service"
_MARK = re.compile(r"# Written by: syncd service install \(sha256 ([0-9a-f]{64})\); changes belong into drop-ins\n")
_PROGRAM = "/usr/bin/env syncd"
_COMMAND_SECONDS = 120
_HIDDEN = (Path("/home"), Path("/root"))
"""Directories that the hardened unit of the system cannot see."""


@dataclass(frozen=True)
class InstallOptions:
    """What a person typed. Shape: below `root`, such as the tree of an image, files are written and nothing is run."""

    is_user: bool = False
    is_dry_run: bool = False
    is_forced: bool = False
    should_start: bool = True
    root: Path = Path("/")


@dataclass(frozen=True)
class InstalledFile:
    """A file that systemd reads, where it is, and its text."""

    path: Path
    text: str

    @property
    def marked_text(self) -> str:
        """The text with the line before it that says who wrote it."""
        digest = hashlib.sha256(self.text.encode()).hexdigest()
        return f"# Written by: syncd service install (sha256 {digest}); changes belong into drop-ins\n{self.text}"


def install_service(options: InstallOptions) -> int:
    """Write the files of the service and start it, or say what would be written; return the exit code.

    Raises: ConfigInvalid when there is nothing that it could serve; GuardRefused when a file there was not written by
    this command; ServiceUnavailable without systemd; Unauthorized.
    """
    files = list_files(options)
    _check_place(options, [file.path for file in files if not is_ours(file.path)])
    if options.is_dry_run:
        for file in files:
            print_text(f"# {escape(str(file.path))}\n{file.marked_text}")
        print_text("\n".join(f"# would run: {shlex.join(words)}" for words in _list_starts(options, files)))
        return 0
    _check_rights(options)
    _check_configuration(options)
    for file in files:
        _change_file(file.path, partial(write_public_file, file.path, file.marked_text))
        print_text(f"written: {escape(str(file.path))}")
    for words in _list_starts(options, files):
        _run_program(words)
    if options.should_start and options.root == Path("/"):
        flag = " --user" if options.is_user else ""
        print_text(f"{UNIT} runs, now and from each start on; syncd status and systemctl{flag} status {UNIT} say how")
    if options.is_user:
        print_text("It ends when you log out; for a service that stays: loginctl enable-linger")
    return 0


def uninstall_service(options: InstallOptions) -> int:
    """Stop the service and remove exactly the files that were installed; return the exit code.

    Raises: GuardRefused when somebody has changed a file since; ServiceUnavailable; Unauthorized.
    """
    present = [file.path for file in list_files(options) if file.path.exists()]
    if not present:
        print_text("nothing is installed")
        return 0
    _check_place(options, [path for path in present if not is_ours(path)])
    manager = ["systemctl", "--user"] if options.is_user else ["systemctl"]
    commands = [[*manager, "disable", "--now", UNIT]] if any(path.name == UNIT for path in present) else []
    if options.is_dry_run:
        removals = (f"would remove: {escape(str(path))}" for path in present)
        print_text("\n".join([*(f"would run: {shlex.join(words)}" for words in commands), *removals]))
        return 0
    _check_rights(options)
    for words in commands if options.root == Path("/") else ():
        _run_program(words)
    for path in present:
        _change_file(path, path.unlink)
        print_text(f"removed: {escape(str(path))}")
    if options.root == Path("/"):
        _run_program([*manager, "daemon-reload"])
        _remove_runtime_directory(options)
    print_text("The repositories, the configuration, the records and the user syncd stay.")
    return 0


def list_files(options: InstallOptions) -> list[InstalledFile]:
    """Return what `install` writes, with the program of this installation in it."""
    if options.is_user:
        base = find_base(os.environ, "XDG_CONFIG_HOME", ".config")
        sources = {base / "systemd" / "user" / UNIT: f"systemd/user/{UNIT}"}
    else:
        etc = Path("/etc")
        sources = {
            etc / "systemd" / "system" / UNIT: f"systemd/{UNIT}",
            etc / "sysusers.d" / "syncd.conf": "systemd/sysusers.d/syncd.conf",
            etc / "tmpfiles.d" / "syncd.conf": "systemd/tmpfiles.d/syncd.conf",
        }
    program = _find_program()
    return [
        InstalledFile(options.root / path.relative_to("/"), read_packaged_file(source).replace(_PROGRAM, program))
        for path, source in sources.items()
    ]


def is_ours(path: Path) -> bool:
    """Return whether a file is not there, or is as `install` wrote it."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return not path.is_symlink()
    except (OSError, UnicodeDecodeError):
        return False
    found = _MARK.match(text)
    return found is not None and hashlib.sha256(text[found.end() :].encode()).hexdigest() == found[1]


def _find_program() -> str:
    """How systemd starts the syncd that runs now: by its name where systemd finds it, else by its path.

    Raises: ConfigInvalid for the one file that is made for CI jobs: it unpacks itself into a home.
    """
    if zipfile.is_zipfile(sys.argv[0]):
        raise ConfigInvalid("a service needs an installed syncd", hint="install syncd from its wheels, in /opt/syncd")
    path = shutil.which(sys.argv[0] if "/" in sys.argv[0] else "syncd")
    if path is None or Path(path).name != "syncd":
        return f"{sys.executable} -m syncd"
    is_found = Path(path).parent in (Path("/usr/local/bin"), Path("/usr/bin"))
    return _PROGRAM if is_found else os.path.abspath(path)


def _check_place(options: InstallOptions, foreign: Sequence[Path]) -> None:
    if foreign and not options.is_forced:
        names = ", ".join(map(str, foreign))
        hint = "changes of your own belong into drop-ins: systemctl edit syncd\nto replace or remove it: --force"
        raise GuardRefused(f"not as syncd service install wrote it: {names}", hint=hint)


def _check_rights(options: InstallOptions) -> None:
    if options.root != Path("/"):
        return
    if not options.is_user and os.geteuid() != 0:
        raise Unauthorized("only root installs a service of the system", hint="sudo syncd service install, or --user")
    if shutil.which("systemctl") is None:
        raise ServiceUnavailable("systemd is not here", hint="syncd run keeps everything in step in the foreground")


def _check_configuration(options: InstallOptions) -> None:
    """A service that cannot start is not installed as one that runs."""
    if options.root != Path("/") or not options.should_start:
        return
    home = Path(os.environ.get("XDG_CONFIG_HOME") or Path(os.environ.get("HOME", "/")) / ".config")
    system = [Path("/etc/syncd/config.toml"), Path("/etc/syncd/token")]
    needed = [home / "syncd" / "config.toml"] if options.is_user else system
    for path in needed:
        if not path.is_file():
            raise ConfigInvalid(f"there is no {path}, and the service needs it", hint="write it first, or: --no-start")
    _check_repositories(needed[0])
    program = Path(_find_program().split()[0])
    if not options.is_user and any(program.is_relative_to(hidden) for hidden in _HIDDEN):
        hint = "install syncd in /opt/syncd, as the manual says, or the service with --user"
        raise ConfigInvalid(f"{program} is in a home, which the hardened unit cannot see", hint=hint)


def _check_repositories(path: Path) -> None:
    """Refuse a configuration of which nothing can be served; name what else the service will leave out.

    Raises: ConfigInvalid.
    """
    file = find_config(os.environ, given=path)
    configured = load_config_file(file).repository if file is not None else ()
    missing = [one.path for one in configured if not _has_repository(one.path)]
    hint = f'write path = "/where/it/is" below [[repository]] in {path}'
    if missing and len(missing) == len(configured):
        raise ConfigInvalid(f"there is no Git repository in {missing[0]}, so nothing can be served", hint=hint)
    for one in missing:
        print_text(f"! there is no Git repository in {escape(str(one))}, which the service leaves out; {escape(hint)}")


def _has_repository(path: Path) -> bool:
    """Whether a repository is at a path; it belongs to the service's user, who is not the one that installs it."""
    try:
        place = discover_repository(path)
    except SyncdError:
        return False
    return place is not None and path.resolve() in (place.git_dir, place.work_tree)


def _list_starts(options: InstallOptions, files: Sequence[InstalledFile]) -> Iterator[list[str]]:
    """The commands after the files are written."""
    if options.root != Path("/"):
        return
    manager = ["systemctl", "--user"] if options.is_user else ["systemctl"]
    for file in files:
        if file.path.parent.name == "sysusers.d":
            yield ["systemd-sysusers", str(file.path)]
        if file.path.parent.name == "tmpfiles.d":
            yield ["systemd-tmpfiles", "--create", str(file.path)]
    yield [*manager, "daemon-reload"]
    if options.should_start:
        yield [*manager, "enable", UNIT]
        yield [*manager, "restart", UNIT]


def _remove_runtime_directory(options: InstallOptions) -> None:
    """systemd removes the unit's own directory, and leaves the one above it, which other units may use."""
    with suppress(OSError):
        Path(os.environ.get("XDG_RUNTIME_DIR", "/run") if options.is_user else "/run", "syncd").rmdir()


def _change_file(path: Path, change: Callable[[], object]) -> None:
    try:
        change()
    except OSError as error:
        raise ConfigInvalid(f"{path} cannot be changed: {error.strerror}") from error


def _run_program(words: Sequence[str]) -> None:
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=_COMMAND_SECONDS, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise SyncdError(f"{shlex.join(words)}: {error}") from error
    if done.returncode:
        complaint = done.stderr.strip() or f"exit code {done.returncode}"
        raise SyncdError(f"{shlex.join(words)}: {complaint}", hint="the files are written; mend it, and install again")
