"""Runs of syncd in a clone, undisturbed, killed or raced, and the conflicts that the command line names."""

import json
import os
import re
import shlex
import shutil
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from tests.faults.twoway.hosting import Gate
from tests.faults.twoway.pages import MARK, TITLE, WORD, View, by_mark, tokens_of
from tests.faults.twoway.program import CRASHED, KILLED, Ran, run_apart, run_here
from tests.faults.twoway.schedule import THEN, Step
from tests.faults.twoway.web_deeds import WebDeeds
from tests.faults.twoway.world import git
from tests.faults.twoway.writer import Writer

_NOTHING_TO_UNDO = "nothing is known that can be undone"
_FORCE = re.compile(r"--force (\S+=\d+)")
_GONE = re.compile(r"what that said is gone: git (diff .+)")
_GONE_IN_JOB = "what that said is gone from "


@dataclass(frozen=True)
class Conflict:
    """A page that the command line names as in conflict. Shape: `marks` are those of either side's version; `branch` is
    "" for the one that is shown."""

    path: str
    why: str
    lane: str
    branch: str
    marks: frozenset[str]
    ours: frozenset[str]
    theirs: frozenset[str]

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it from others, whatever each side holds."""
        return self.branch, self.lane, self.path


def _name_branch(branch: str) -> list[str]:
    return ["--branch", branch] if branch else []


def _lose(process: int) -> bool:
    return False


def _terminate(process: int) -> bool:
    os.kill(process, signal.SIGTERM)
    return True


class Runs(WebDeeds):
    """Runs of syncd."""

    def run(self, writer: Writer, *words: str, fault: str = "") -> Ran:
        """Run a command in a clone, with what happens meanwhile, and again as long as it is killed."""
        first, *later = fault.split(THEN)
        ran = self._run_once(writer, words, first)
        for again in later:
            if ran.code == KILLED:
                ran = self._run_once(writer, words, again)
        return ran

    def _run_once(self, writer: Writer, words: tuple[str, ...], fault: str) -> Ran:
        what, _, when = fault.partition(":")
        if words == ("run",):
            ran = self._serve(writer, what, when)
        elif what == "kill":
            ran = run_apart(self.world.hosting, words, writer.path, when)
            self.counts["kills"] += ran.code == KILLED
        elif what == "server":
            ran = self._run_while_server_dies(writer, words, when)
        elif what == "term":
            ran = run_apart(self.world.hosting, words, writer.path, when, _terminate)
        elif what == "lost":
            with self.world.hosting.gated(Gate(when, lambda: False)):
                ran = run_here(words, writer.path)
        elif what:
            ran = self._run_beside(writer, words, what, when)
        else:
            ran = run_here(words, writer.path)
        self.counts["runs"] += 1
        note = f"   # {what} at {when}" if fault else ""
        self.story.append(f"{writer.name}$ syncd {' '.join(words)}{note}")
        self.story += [f"    {line}" for line in [*ran.text.splitlines(), f"exit code {ran.code}"]]
        self._hear_what_is_gone(writer, ran)
        if ran.code in (1, CRASHED) and not (words[0] == "undo" and _NOTHING_TO_UNDO in ran.text):
            self.fail("errors", f"{writer.name}: syncd {' '.join(words)} ended with {ran.code}: {ran.text[-1500:]}")
        return ran

    def _hear_what_is_gone(self, writer: Writer, ran: Ran) -> None:
        """What a run shows of words that a merge on the platform took; who was killed may have been about to say it."""
        told = "".join(writer.git(*shlex.split(command)) for command in _GONE.findall(ran.text))
        shown = {
            word
            for line in told.splitlines()
            if line.startswith("-")
            for kind in (WORD, TITLE, MARK)
            for word in kind.findall(line)
        }
        is_of_job = _GONE_IN_JOB in ran.text  # it names the pages alone, since its commits end with it
        for word, owner in list(self.untold.items()):
            if word in shown or is_of_job or (ran.code == KILLED and owner == writer.name):
                del self.untold[word]
        if ran.code != KILLED:
            requests = (one for space in self.world.spaces for one in self.web.requests(space.id))
            self.unread -= {one.id for one in requests if one.owner == writer.name}

    def _run_beside(self, writer: Writer, words: tuple[str, ...], what: str, when: str) -> Ran:
        with self.world.hosting.gated(Gate(when, partial(self._act_beside, self._list_races(what)))):
            return run_here(words, writer.path)

    def _list_races(self, what: str) -> list[Step]:
        """What others do while syncd runs, one after the other."""
        steps = []
        for who, _, action in (one.partition(".") for one in what.split("+")):
            number = self.counts["races"]
            self.counts["races"] += 1
            steps.append(Step(500 + number, who, action, number * 7 + 1, 3))
        return steps

    def _act_beside(self, steps: Sequence[Step], process: int = 0) -> bool:
        for step in steps:
            self.on_web(step)
        return True

    def _serve(self, writer: Writer, what: str, when: str) -> Ran:
        """Run the service until it has looked at everything."""
        act: Callable[[int], bool] | None = None
        if what == "term":
            act = _terminate
        elif what == "lost":
            act = _lose
        elif what not in ("kill", "server", ""):
            act = partial(self._act_beside, self._list_races(what))
        ran = run_apart(self.world.hosting, ("run",), writer.path, when or "before-request:0", act, serves=True)
        self.counts["kills"] += ran.code == KILLED
        return ran

    def _run_while_server_dies(self, writer: Writer, words: tuple[str, ...], when: str) -> Ran:
        process = self.world.hosting.process

        def act(child: int) -> bool:
            if process is not None:
                process.kill()
                self.counts["kills"] += 1
            return True

        return run_apart(self.world.hosting, words, writer.path, when, act)

    def sync(self, writer: Writer, command: str, fault: str = "") -> Ran:
        """Run a flow; approve what a guard holds, and note what is in conflict."""
        if self.world.shape.flow == "ci":
            pulled = ran = self.run(writer, "pull", fault=fault if command == "pull" else "")
            if command != "pull" and ran.code in (0, 6):
                ran = self._push_in_job(writer, fault)
                ran = ran if ran.code else pulled  # what the writer is asked to settle may be no matter of the job
            if ran.code not in (0, KILLED):
                self.conflicts(writer)
            return ran
        ran = self.run(writer, "run" if command == "serve" else command, fault=fault)
        if command == "serve":
            if ran.code != KILLED:
                self.conflicts(writer)
            command = "sync"
        while ran.code != KILLED and (forced := sorted(set(_FORCE.findall(ran.text)))):
            self.counts["guards"] += 1
            again = self.run(writer, command, *(word for one in forced for word in ("--force", one)))
            if sorted(set(_FORCE.findall(again.text))) == forced:
                return again
            ran = again
        if ran.code not in (0, KILLED):
            self.conflicts(writer)
        if ran.code in (0, 6):
            self._check_requests()
        return ran

    def _check_requests(self) -> None:
        """Nobody has decided anything yet of what is in a change request: no title is over another's text there."""
        for space in self.world.spaces:
            for request in self.web.requests(space.id):
                if request.is_ours:
                    view = self.web.view(space.id, request.id)
                    self.check_titles(f"change request {request.number}", view)

    def _push_in_job(self, writer: Writer, fault: str) -> Ran:
        """Propose the branch from a fresh clone without any state, as a job does."""
        job = self.world.root / "job"
        shutil.rmtree(job, ignore_errors=True)
        git(self.world.root, "clone", "--quiet", str(writer.path), str(job))
        spaces = [word for one in self.world.spaces for word in ("--space", f"{one.id}={one.directory or '.'}")]
        words = ["push", "--ci", "--url", self.world.hosting.url, *spaces]
        self.story.append(f"$ git clone {writer.name} job")
        ran = self.run(Writer("job", job, self.world.spaces), *words, fault=fault)
        if forced := sorted(set(_FORCE.findall(ran.text))):
            self.counts["guards"] += 1
            ran = self.run(
                Writer("job", job, self.world.spaces), *words, *(word for one in forced for word in ("--force", one))
            )
        return ran

    def conflicts(self, writer: Writer) -> list[Conflict]:
        """Return the pages that the command line names as in conflict; what was deleted of them may come back."""
        others = writer.other_branches() if self.world.shape.topics else []
        return [conflict for branch in ("", *others) for conflict in self._list_conflicts(writer, branch)]

    def _list_conflicts(self, writer: Writer, branch: str) -> list[Conflict]:
        ran = run_here(["resolve", "--json", *_name_branch(branch)], writer.path)
        try:
            data = json.loads(ran.text)
        except ValueError:
            return []
        found = []
        for repository in data.get("repositories", ()):
            for page in repository.get("held", ()):
                ours = self._versions(
                    writer, f"refs/heads/{branch}" if branch else "HEAD", [page["path"], *page["ours"]]
                )
                theirs = self._versions(writer, f"refs/remotes/{page['with']}", [page["path"], *page["theirs"]])
                marks = frozenset(by_mark(ours)) | frozenset(by_mark(theirs))
                sides = frozenset(tokens_of(ours)), frozenset(tokens_of(theirs))
                found.append(Conflict(page["path"], page["why"], page["with"], branch, marks, *sides))
                self.ledger.contest(marks, f"conflict in {writer.name}")
        return found

    def _versions(self, writer: Writer, ref: str, paths: list[str]) -> View:
        """The pages at some paths of a commit, and wherever else in it their marks are.

        A merge names the paths as the branch has them now, also of a side whose space has another root directory.
        """
        pages = writer.view_of(ref)
        found = {place: page for place, page in pages.items() if place in paths}
        if not found:
            below = tuple(f"/{path}" for path in paths)
            found = {place: page for place, page in pages.items() if place.endswith(below)}
        return {**found, **writer.pictures_of(ref, paths)}

    def _resolve(self, writer: Writer, step: Step) -> None:
        if found := self.conflicts(writer):
            self.settle_conflict(writer, found[step.n % len(found)], ["edit", "ours", "theirs"][step.m % 3])

    def settle_conflict(self, writer: Writer, conflict: Conflict, way: str) -> bool:
        """Decide about a page; where its lines cannot be edited, take the branch's. Return whether it was recorded."""
        self.counts["asked"] += 1
        if len(conflict.marks) > 1:  # two pages at one path
            self.mixed |= conflict.marks
        # Nobody makes one page of two, nor settings of the lines of both sides.
        if way == "edit" and (len(conflict.marks) > 1 or conflict.path.endswith(".gitbook.yaml")):
            way = "ours"
        # The branch's own version stays against every side that the page is in conflict with.
        same = [one for one in self.conflicts(writer) if (one.branch, one.path) == (conflict.branch, conflict.path)]
        named = _name_branch(conflict.branch)
        ran = self.run(writer, "resolve", conflict.path, f"--{way}", *named)
        if ran.code == 64 and way == "edit":
            way = "ours"
            ran = self.run(writer, "resolve", conflict.path, "--ours", *named)
        why = f"resolve --{way} in {writer.name}"
        titles = {token for token in conflict.ours | conflict.theirs if TITLE.fullmatch(token)}
        given_up = {
            "edit": titles,
            "ours": conflict.theirs.union(*(one.theirs for one in same)) - conflict.ours,
            "theirs": conflict.ours - conflict.theirs,
        }[way]
        self.ledger.free(given_up, why)
        return ran.code == 0
