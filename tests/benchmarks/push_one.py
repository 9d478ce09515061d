"""`syncd push` of one page of a large space, edited, new or renamed, over a push that finds nothing to do."""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.bare import Bare
from tests.benchmarks.measure import Cost, Line, both, cost_of, duel, median, over
from tests.benchmarks.push import PERSON, bare_push, commit_edits, forget_requests
from tests.benchmarks.relay import Traffic, counted
from tests.benchmarks.stage import Ran, Stage, git, run_syncd, syncd

ROUNDS = 5
CPU_AIM, READ_AIM, MEMORY_AIM, PROCESSES_AIM = 0.4, 0.5, 110, 25
_SUMMARY = "SUMMARY.md"


def measure(stage: Stage) -> Iterator[Line]:
    """Given a stage, measure and return the lines."""
    path, space, token = stage.fresh("clone"), stage.large, str(stage.data / "token")
    with counted(stage.url) as (url, traffic), Bare(stage.url, stage.token) as bare:
        syncd("clone", url, space, str(path), "--token-file", token)
        ids = {page["git"]["path"]: str(page["id"]) for page in bare.documents(space)}
        clone = _Clone(path, stage.fresh("programs"), traffic)

        def baseline(number: int) -> Cost:
            branch = commit_edits(path, ids, f"bare-one-{number}", count=1)
            return cost_of(lambda: bare_push(bare, path, branch, space, ids))

        pushes: list[Push] = []

        def edited(number: int) -> Cost:
            pushes.append(clone.push(commit_edits(path, ids, f"one-{number}", count=1)))
            return pushes[-1].work

        name = f"push one in {stage.pages}"
        result = duel(baseline, edited, rounds=ROUNDS)
        facts = f"over a push that finds nothing {median(result.ours)}; bare {median(result.base)}"
        yield from both(name, result, facts)
        yield from _list_lines(name, pushes, clone.count_processes(commit_edits(path, ids, "counted-one", count=1)))
        for kind, commit in (("new", _commit_new), ("renamed", _commit_renamed)):
            name = f"push {kind} in {stage.pages}"
            pushes = [clone.push(commit(path, ids, f"{kind}-{number}")) for number in range(ROUNDS)]
            yield from _list_lines(name, pushes, clone.count_processes(commit(path, ids, f"counted-{kind}")))


@dataclass(frozen=True)
class Push:
    """What one push took over one that finds nothing to do. Units: `read_mb` and `peak_mb` in MB."""

    work: Cost
    read_mb: float
    peak_mb: float


@dataclass(frozen=True)
class _Clone:
    path: Path
    programs: Path
    traffic: Traffic

    def push(self, branch: str) -> Push:
        """Push a branch, and once more, when there is nothing left to do; then forget its change request."""
        before = self.traffic.received
        ran = self._run(branch)
        read = self.traffic.received - before
        again = self._run(branch)
        forget_requests(self.path)
        return Push(over(ran.cost, again.cost), read / 1e6, ran.peak_mb)

    def count_processes(self, branch: str) -> int:
        """Push a branch, and return how many processes that took: syncd, and each Git that it started."""
        with _log_git(self.programs) as log:
            self._run(branch)
        forget_requests(self.path)
        return 1 + log.read_text(encoding="ascii").count("\n")

    def _run(self, branch: str) -> Ran:
        return run_syncd("push", branch, "--config", str(self.path / ".git" / "syncd.toml"))


@contextmanager
def _log_git(directory: Path) -> Iterator[Path]:
    """Put a `git` first in the path of programs that writes a line to a file before it becomes the real one."""
    log, wrapper, path = directory / "log", directory / "git", os.environ["PATH"]
    directory.mkdir(exist_ok=True)
    log.write_bytes(b"")
    wrapper.write_text(f"#!/bin/sh\necho >> '{log}'\nexec '{shutil.which('git')}' \"$@\"\n", encoding="utf-8")
    wrapper.chmod(0o700)
    os.environ["PATH"] = f"{directory}{os.pathsep}{path}"
    try:
        yield log
    finally:
        os.environ["PATH"] = path


def _list_lines(name: str, pushes: list[Push], processes: int) -> Iterator[Line]:
    work = median([push.work for push in pushes])
    yield Line(f"{name} work", work.cpu, unit="s CPU", aim=CPU_AIM, facts=f"{work} over a push that finds nothing")
    yield Line(f"{name} read", max(push.read_mb for push in pushes), unit="MB", aim=READ_AIM)
    yield Line(f"{name} memory", max(push.peak_mb for push in pushes), unit="MB", aim=MEMORY_AIM)
    yield Line(f"{name} processes", processes, unit="processes", aim=PROCESSES_AIM)


def _commit_new(directory: Path, ids: Mapping[str, str], branch: str) -> str:
    """Commit a new page at the end of the table of contents on a new branch, and return the branch."""
    text = f"# Page {branch}\n\nWritten on {branch}.\n".encode()
    change = f"M 100644 inline {branch}.md\ndata {len(text)}\n".encode() + text + b"\n"
    return _commit(directory, branch, change, lambda summary: summary + f"* [Page {branch}]({branch}.md)\n".encode())


def _commit_renamed(directory: Path, ids: Mapping[str, str], branch: str) -> str:
    """Commit the last page under another name on a new branch, and return the branch."""
    page = list(ids)[-1]
    moved = f"{page.removesuffix('.md')}-{branch}.md"
    change = f"R {page} {moved}\n".encode()
    return _commit(
        directory, branch, change, lambda summary: summary.replace(f"({page})".encode(), f"({moved})".encode())
    )


def _commit(directory: Path, branch: str, change: bytes, edit: Callable[[bytes], bytes]) -> str:
    main = git(directory, "rev-parse", "refs/remotes/platform/main").decode().strip()
    summary = edit(git(directory, "cat-file", "blob", f"{main}:{_SUMMARY}"))
    head = f"commit refs/heads/{branch}\ncommitter {PERSON}\ndata 5\nEdit\nfrom {main}\n".encode()
    table = f"M 100644 inline {_SUMMARY}\ndata {len(summary)}\n".encode() + summary + b"\n"
    git(directory, "fast-import", "--quiet", data=head + change + table)
    return branch
