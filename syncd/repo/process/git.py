"""The git runner: fixed commands, an environment built from nothing, and a deadline; GitPython starts every process.

| rule                                        | why                                                                    |
|---------------------------------------------|------------------------------------------------------------------------|
| the environment is built, never inherited   | GIT_*, a proxy or a token of the caller reaches no child process       |
| GIT_DIR and GIT_WORK_TREE are explicit      | git discovers nothing; `safe.bareRepository=explicit` is satisfied     |
| configuration is overridden from outside    | hooks, fsmonitor, filters, merge drivers, pagers and gc never run      |
| ids, refs and paths are checked, then last  | nothing from outside can become an option                              |
| every process leads a process group         | it can be ended with all that it started                               |

GitPython adds to the environment of its caller and cannot take away from it; `env -i` in front of git can.
Source: docs/decisions/0006-hostile-repositories.md.
"""

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from subprocess import PIPE
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, cast

from syncd.errors import GitFailed
from syncd.repo.failures import INSTALL_GIT, build_failure, translate_system_failures
from syncd.repo.process.location import RepositoryLocation
from syncd.repo.process.pipe import Holder, Pipe, ignore_pulse

if TYPE_CHECKING:
    from git.cmd import Git as Starter

OLDEST_GIT = (2, 38)
SECONDS = 600.0
"""How long one command, or one exchange with a long-lived one, may take."""

_ENVIRONMENT = {
    # Git reads no file of a home directory.
    "HOME": "/nonexistent",
    # Failures are told apart by git's words, which have to be English.
    "LC_ALL": "C.UTF-8" if sys.platform == "linux" else "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    # A replacement would show other content under the id that is checked, recorded and sent.
    "GIT_NO_REPLACE_OBJECTS": "1",
    # In a partial clone, git would fetch a missing object over the network, in the middle of reading.
    "GIT_NO_LAZY_FETCH": "1",
    # Reading takes no lock of the index: a `git add` of the user at that moment would fail.
    "GIT_OPTIONAL_LOCKS": "0",
    # A page's file may have `*` or a colon in its name, which would otherwise be a pattern.
    "GIT_LITERAL_PATHSPECS": "1",
    # Nobody answers a question: what lacks a credential fails at once.
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "/bin/false",
    # Git refuses to commit where it finds no name.
    "GIT_AUTHOR_NAME": "syncd",
    "GIT_AUTHOR_EMAIL": "syncd@localhost",
    "GIT_COMMITTER_NAME": "syncd",
    "GIT_COMMITTER_EMAIL": "syncd@localhost",
}

_HARDENING = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    # A ref must not outlive the loss of power that its objects do not.
    "core.fsync": "all",
    # Names that lead into .git on another system are refused here, too: the commit will be checked out there.
    "core.protectHFS": "true",
    "core.protectNTFS": "true",
    "core.quotePath": "false",
    "core.attributesFile": os.devnull,
    "core.excludesFile": os.devnull,
    "core.splitIndex": "false",
    "core.pager": "cat",
    # No command begins a collection of the whole repository by itself.
    "gc.auto": "0",
    "maintenance.auto": "0",
    # A remote process allows the one protocol of its address.
    "protocol.allow": "never",
    "submodule.recurse": "false",
    # It would check files out and in before it merges them, and so run filters.
    "merge.renormalize": "false",
    # A page that the platform adds stays where the platform has it, even when a writer renamed the folder.
    "merge.directoryRenames": "false",
}

_CONFIGURED: dict[tuple[bytes | None, ...], Sequence[tuple[str, str | None]]] = {}
"""What git has read from files of configuration, by what these hold."""
_CONFIGURED_MAX = 100
_IMPORTING = Lock()
_VERSION = re.compile(r"git version (\d+)\.(\d+)")
_FILTER = re.compile(r"filter\.(.*)\.(?:clean|smudge|process|required)", re.DOTALL)
_MERGE_DRIVER = re.compile(r"merge\.(.*)\.driver", re.DOTALL)


def describe_git() -> str:
    """Return the version of Git and where it is installed. Raises: GitFailed when it is missing or too old."""
    program = _find_programs().git
    said = Git().run("version").decode("utf-8", "replace").strip()
    found = _VERSION.match(said)
    if found is None or (int(found[1]), int(found[2])) < OLDEST_GIT:
        raise GitFailed(f"{program} is too old: it says {said[:80]!r}", hint=INSTALL_GIT)
    return f"{said.removeprefix('git version ')} ({program})"


class Programs(NamedTuple):
    """The absolute paths of env and git."""

    env: str
    git: str


@cache
def _find_programs() -> Programs:
    """The programs of this machine; a git that is too old fails at its first command. Raises: GitFailed without git."""
    env, git = shutil.which("env"), shutil.which("git")
    if env is None or git is None:
        raise GitFailed("git is not installed", hint=INSTALL_GIT)
    return Programs(env, git)


def _find_search_path() -> str:
    return os.environ.get("PATH", os.defpath)


def _build_command(env: str, environment: Mapping[str, str], *words: str) -> list[str]:
    """A command that has this environment and nothing of ours."""
    return [env, "-i", *(f"{name}={value}" for name, value in environment.items()), *words]


@cache
def _import_starter() -> "type[Starter]":
    # Imported here, because that takes long. GitPython runs a git when it is imported, with the environment of the
    # caller: it is given one that cannot be run, and told to say nothing about that.
    with _IMPORTING, _set_environment(GIT_PYTHON_REFRESH="quiet", GIT_PYTHON_GIT_EXECUTABLE=os.devnull):
        from git.cmd import Git as Starter
    return Starter


@contextmanager
def _set_environment(**values: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


class Git:
    """Runs git for one repository (or, without a git directory, for none yet); not shared between threads."""

    def __init__(
        self,
        place: RepositoryLocation | None = None,
        *,
        seconds: float | None = None,
        pulse: Callable[[], None] = ignore_pulse,
    ) -> None:
        self._place = place
        self._seconds, self._pulse = seconds, pulse
        self._programs = _find_programs()
        self._starter = _import_starter()(str(place.work_tree or place.git_dir) if place else "/")
        self._environment = dict(_ENVIRONMENT, PATH=_find_search_path())
        self._config = dict(_HARDENING)
        self.inherited: tuple[int, ...] = ()
        """Descriptors that processes share: a lock that is held until the last of them is gone."""
        self.has_started = False
        """Whether a process has been started."""
        if place is not None:
            self._environment["GIT_DIR"] = str(place.git_dir)
        if place is not None and place.work_tree is not None:
            self._environment["GIT_WORK_TREE"] = str(place.work_tree)

    @property
    def location(self) -> RepositoryLocation:
        """Where the repository is. Given a runner for none, this is a mistake of the caller."""
        assert self._place is not None
        return self._place

    def override_programs(self) -> None:
        """Override what the repository's own configuration would run: filters do nothing, merge drivers fail.

        Shape: a merge driver that fails is a conflict, never a wrong merge. Commands of an empty name are no commands.
        A repository that says it is bare has no work tree, whatever its directory is called; only linked ones have.
        """
        for key, value in self.read_configuration():
            if key == "core.bare" and value in ("true", "yes", "on", "1", None) and not self.location.is_linked:
                self._place = replace(self.location, work_tree=None)
                self._environment.pop("GIT_WORK_TREE", None)
            elif found := _FILTER.fullmatch(key):
                for part, value in (("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")):
                    self._config[f"filter.{found[1]}.{part}"] = value
            elif found := _MERGE_DRIVER.fullmatch(key):
                self._config[f"merge.{found[1]}.driver"] = "false"

    def read_configuration(self) -> Sequence[tuple[str, str | None]]:
        """What the repository's configuration says; the same files say the same, unless they include others."""
        files = self._read_config_files()
        if files in _CONFIGURED:
            return _CONFIGURED[files]
        listed = self.run("config", "--list", "-z").decode("utf-8", "surrogateescape")
        items = (item.partition("\n") for item in listed.split("\0")[:-1])
        found = [(key, value if is_set else None) for key, is_set, value in items]
        if files == self._read_config_files() and not any(
            key.startswith(("include.", "includeif.")) for key, _ in found
        ):
            if len(_CONFIGURED) >= _CONFIGURED_MAX:
                _CONFIGURED.clear()
            _CONFIGURED[files] = found
        return found

    def _read_config_files(self) -> tuple[bytes | None, ...]:
        """The files that the configuration is read from, as they are. Source: git-config(1), FILES."""
        found: list[bytes | None] = []
        for path in (self.location.common_dir / "config", self.location.git_dir / "config.worktree"):
            with translate_system_failures("reading the configuration"):
                found.append(path.read_bytes() if path.exists() else None)
        return tuple(found)

    def run(
        self,
        verb: str,
        *arguments: str,
        data: bytes = b"",
        extra: Mapping[str, str] | None = None,
        disk: Path | None = None,
    ) -> bytes:
        """Run a git command and return its output.

        Shape: `data` is its input, `extra` adds to its environment, `disk` is where it writes if not to this
        repository.
        Raises: what `failures.build_failure` makes of its failure.
        """
        status, output, complaint = self.attempt(verb, *arguments, data=data, extra=extra)
        if status:
            here = self._place.common_dir if self._place is not None else None
            raise build_failure(verb, status, complaint, disk=disk or here)
        return output

    def attempt(
        self,
        verb: str,
        *arguments: str,
        data: bytes = b"",
        extra: Mapping[str, str] | None = None,
        config: Mapping[str, str] | None = None,
    ) -> tuple[int, bytes, str]:
        """Run a git command that may fail, and return its exit status, output and error output."""
        pipe = self.start(verb, *arguments, extra=extra, config=config)
        pipe.send(data)
        return pipe.finish()

    def start(
        self,
        verb: str,
        *arguments: str,
        extra: Mapping[str, str] | None = None,
        config: Mapping[str, str] | None = None,
    ) -> Pipe:
        """Start a git command, and return the pipe to it."""
        env, git = self._programs
        environment = self._environment | _build_config_variables(self._config | dict(config or {})) | dict(extra or {})
        command = _build_command(env, environment, git, verb, *arguments)
        self.has_started = True
        with translate_system_failures(f"git {verb}"):
            process = self._starter.execute(
                command, istream=PIPE, as_process=True, shell=False, process_group=0, pass_fds=self.inherited
            )
        return Pipe(verb, cast(Holder, process), seconds=self._seconds or SECONDS, pulse=self._pulse)


def _build_config_variables(config: Mapping[str, str]) -> dict[str, str]:
    variables = {"GIT_CONFIG_COUNT": str(len(config))}
    for number, (key, value) in enumerate(config.items()):
        variables[f"GIT_CONFIG_KEY_{number}"] = key
        variables[f"GIT_CONFIG_VALUE_{number}"] = value
    return variables
