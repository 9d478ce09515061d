"""Carries out a workflow of GitHub Actions from its own file, as far as the recipes of syncd need it."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from syncd.layout.yaml import yaml


@dataclass(frozen=True)
class Event:
    """What started a workflow: a push of a branch, or a pull request with the branch that it comes from."""

    branch: str
    target: str = ""
    is_fork: bool = False

    @property
    def name(self) -> str:
        """As GITHUB_EVENT_NAME has it."""
        return "pull_request" if self.target else "push"


@dataclass
class JobEnd:
    """What a job came to: the exit code of the step that failed or 0, all that it printed, and its summary."""

    code: int = 0
    output: str = ""
    summary: str = ""


@dataclass
class GitHubRunner:
    """A repository on the host, with its secrets, and a directory for the runners."""

    origin: Path
    directory: Path
    secrets: Mapping[str, str] = field(default_factory=dict)

    def run(self, event: Event, *, only: str = "") -> dict[str, JobEnd]:
        """Given an event, carry out every job of every workflow that it starts, in order, and return their ends.

        Shape: a job whose `needs` failed is left out. `only` names the one job that is wanted.
        """
        ends: dict[str, JobEnd] = {}
        for name, job in self._find_jobs(event):
            if only in ("", name) and all(ends.get(one, JobEnd()).code == 0 for one in _list(job.get("needs"))):
                ends[name] = self.run_job(job, event)
        return ends

    def run_job(self, job: Mapping[str, Any], event: Event) -> JobEnd:
        """Given a job of a workflow, carry out its steps on a new machine."""
        machine = _Machine(self, Path(tempfile.mkdtemp(prefix="runner-", dir=self.directory)), event)
        end = machine.run(job["steps"])
        machine.remove()
        return end

    def _find_jobs(self, event: Event) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The jobs of the workflows in the commit that the event is about, as GitHub takes them."""
        for path in git(self.origin, "ls-tree", "-r", "--name-only", event.branch, ".github/workflows/").split():
            workflow = yaml.load(git(self.origin, "show", f"{event.branch}:{path}"), at=path)
            trigger = workflow["on"].get(event.name, ())
            if trigger == () or (trigger and event.branch not in trigger["branches"]):
                continue
            yield from (
                (name, job)
                for name, job in workflow["jobs"].items()
                if "if" not in job or _decide(job["if"], _describe(event, {}))
            )


class _Machine:
    """One new machine: a checkout, and the files by which steps speak to the runner."""

    def __init__(self, runner: GitHubRunner, home: Path, event: Event) -> None:
        self.runner, self.home, self.event = runner, home, event
        self.workspace, self.end = home / "work", JobEnd()
        self.paths = [str(make_python(home / "python")), "/usr/local/bin", "/usr/bin", "/bin"]
        for folder in (self.workspace, home / "temp", home / "home"):
            folder.mkdir(parents=True)
        for name in ("output", "path", "env", "summary"):
            (home / name).touch()
        repository = {"full_name": "evil/docs" if event.is_fork else "team/docs"}
        document = {"repository": {"default_branch": "main"}, "pull_request": {"head": {"repo": repository}}}
        (home / "event.json").write_text(json.dumps(document))
        self.environ = {
            "HOME": str(home / "home"), "LANG": "C.UTF-8", "CI": "true", "GITHUB_ACTIONS": "true",
            "GITHUB_REPOSITORY": "team/docs", "GITHUB_EVENT_NAME": event.name, "GITHUB_REF_TYPE": "branch",
            "GITHUB_REF_NAME": "7/merge" if event.target else event.branch, "GITHUB_WORKSPACE": str(self.workspace),
            "GITHUB_HEAD_REF": event.branch if event.target else "", "GITHUB_BASE_REF": event.target,
            "GITHUB_EVENT_PATH": str(home / "event.json"), "RUNNER_TEMP": str(home / "temp"),
            "GITHUB_PATH": str(home / "path"), "GITHUB_ENV": str(home / "env"),
            "GITHUB_OUTPUT": str(home / "output"), "GITHUB_STEP_SUMMARY": str(home / "summary"),
        }  # fmt: skip

    def run(self, steps: list[dict[str, Any]]) -> JobEnd:
        for step in steps:
            if self.end.code == 0 or "always()" in step.get("if", ""):
                self._take_step(step)
        self.end.summary = (self.home / "summary").read_text()
        return self.end

    def remove(self) -> None:
        """Forget the machine, as the host does; what is unpacked on one takes a hundred megabytes."""
        shutil.rmtree(self.home)

    def _take_step(self, step: Mapping[str, Any]) -> None:
        uses = step.get("uses", "")
        if uses.startswith("./"):
            action = yaml.load((self.workspace / uses / "action.yml").read_text(), at=uses)
            assert all("shell" in one for one in action["runs"]["steps"] if "run" in one), "GitHub asks for it there"
            self.run(action["runs"]["steps"])
        elif uses.startswith("actions/checkout@"):
            self._check_out(step.get("with", {}))
        elif uses.startswith("actions/setup-python@"):
            assert step["with"]["python-version"] == f"3.{sys.version_info.minor}", "the test writes its own there"
        else:
            assert not uses, f"{uses}: this runner has no such action"
            self._run_script(step["run"], step.get("env", {}))

    def _check_out(self, settings: Mapping[str, Any]) -> None:
        """As actions/checkout does: on no branch for a pull request, and without history unless `fetch-depth` is 0."""
        assert settings.get("persist-credentials") is False, "no step of a recipe needs Git's token"
        git(self.workspace, "init", "--quiet")
        git(self.workspace, "remote", "add", "origin", f"file://{self.runner.origin}")
        ref = "refs/pull/7/merge" if self.event.target else f"refs/heads/{self.event.branch}"
        here = "refs/remotes/pull/7/merge" if self.event.target else f"refs/remotes/origin/{self.event.branch}"
        if settings.get("fetch-depth", 1) == 0:
            everything = ("+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*")
            git(self.workspace, "fetch", "--quiet", "origin", *everything, f"+{ref}:{here}")
        else:
            git(self.workspace, "fetch", "--quiet", "--no-tags", "--depth=1", "origin", f"+{ref}:{here}")
        where = ("--detach", here) if self.event.target else ("-B", self.event.branch, here)
        git(self.workspace, "checkout", "--quiet", "--force", *where)

    def _run_script(self, script: str, environ: Mapping[str, str]) -> None:
        """In the shell that GitHub starts, with what earlier steps wrote into the files of the runner."""
        for line in (self.home / "env").read_text().splitlines():
            name, _, value = line.partition("=")
            self.environ[name] = value
        added = (self.home / "path").read_text().splitlines()
        known = _describe(self.event, self.runner.secrets)
        own = {name: _fill(value, known) for name, value in environ.items()}
        path = {"PATH": os.pathsep.join([*reversed(added), *self.paths])}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", _fill(script, known)],
            cwd=self.workspace, env={**self.environ, **path, **own}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        )  # fmt: skip
        self.end.code, self.end.output = done.returncode, self.end.output + done.stdout


def git(directory: Path, *words: str) -> str:
    """Given a repository and the words of a command of Git, run it, and return what it printed."""
    done = subprocess.run(["git", *words], cwd=directory, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"git {' '.join(words)}: {done.stderr}"
    return done.stdout


def make_python(directory: Path) -> Path:
    """A directory with this Python by the names that a runner has, and without anything of this environment."""
    directory.mkdir(parents=True)
    for name in ("python3", f"python3.{sys.version_info.minor}"):
        (directory / name).symlink_to(Path(sys.executable).resolve())
    return directory


def _describe(event: Event, secrets: Mapping[str, str]) -> dict[str, str]:
    """What expressions may name; a fork's pull request gets no secrets."""
    given = {} if event.is_fork else secrets
    ref = "refs/pull/7/merge" if event.target else f"refs/heads/{event.branch}"
    facts = {"github.event_name": event.name, "github.ref": ref, "secrets.SYNCD_TOKEN": ""}
    return {**facts, **{f"secrets.{name}": value for name, value in given.items()}}


def _fill(text: str, known: Mapping[str, str]) -> str:
    return re.sub(r"\$\{\{ *([\w.]+) *\}\}", lambda match: known[match[1]], text)


def _decide(condition: str, known: Mapping[str, str]) -> bool:
    found = re.fullmatch(r"([\w.]+) == '([^']*)'", condition)
    assert found, f"{condition}: this runner cannot tell"
    return known[found[1]] == found[2]


def _list(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value or ())
