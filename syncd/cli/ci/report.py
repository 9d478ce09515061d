"""What a CI job shows of a push: annotations, sections that fold, a summary, and a code quality report."""

import hashlib
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from syncd.cli.ci.annotations import annotation, code, prose
from syncd.cli.terminal.ci_service import Service
from syncd.cli.terminal.output import SIGNS, emit, result_document, result_lines
from syncd.cli.terminal.text import safe, safe_json
from syncd.errors import FileInvalid, SyncdError
from syncd.plan.change import Change
from syncd.sync.ci.base import Job
from syncd.sync.ci.flow import Done
from syncd.sync.outcome import Applied, Held, Waiting
from syncd.sync.run.values import Result, find_exit_code
from syncd.sync.workspace import Binding

ROWS_MAX = 200
"""Rows of a table in the summary; GitHub takes a megabyte."""
_WHERE = re.compile(r"(.+?):(\d+)(?::\d+)?")
_REFUSED = re.compile(r"([^\n]+?:\d+:\d+): ")


@dataclass(frozen=True)
class Problem:
    """One thing that a person should look at; `path` is from the repository's root, or empty."""

    level: str
    message: str
    path: str = ""
    line: int = 1


@dataclass(frozen=True)
class Reported:
    """What a run came to, with what is needed to say it; or the failure that ended it."""

    around: Service
    job: Job | None = None
    done: Done = field(default_factory=lambda: Done(()))
    bindings: tuple[Binding, ...] = ()
    requests: Mapping[str, int] = field(default_factory=dict)
    dry: bool = False
    failure: SyncdError | None = None

    @property
    def exit_code(self) -> int:
        """The exit code of the flows."""
        return self.failure.exit_code if self.failure is not None else find_exit_code(self.done.results)

    @property
    def changes(self) -> list[Change]:
        """What was proposed, or would be, page by page."""
        return [change for result in self.done.results if result.flow == "propose" for change in _changes(result)]

    @property
    def pending(self) -> bool:
        """Whether anything would be written."""
        return any(change.verb != "report" for change in self.changes)

    def problems(self) -> Iterator[Problem]:
        """What failed first, then what is left to do by hand, then what should be known."""
        if self.failure is not None:
            yield Problem("error", _sentence(self.failure.what, self.failure.hint))
        for result in self.done.results:
            if isinstance(result.outcome, Held | Waiting):
                yield from self._failed(result, result.outcome)
        for result in self.done.results:
            for change in _changes(result):
                if change.verb == "report" and result.flow == "propose":
                    yield self._by_hand(result, change)
            if isinstance(result.outcome, Applied):
                yield from (Problem("warning", note) for note in result.outcome.notes)
        yield from (Problem("warning", note) for note in self.done.notes)

    def _failed(self, result: Result, outcome: Held | Waiting) -> Iterator[Problem]:
        """Pages in conflict, or a file that cannot be read, where they are; all else without a place."""
        message = _sentence(outcome.why, outcome.hint)
        if outcome.exit_code == FileInvalid.exit_code and (found := _REFUSED.match(outcome.why)):
            yield Problem("error", message, *_path_and_line(found[1]))
            return
        for path in (outcome.paths if isinstance(outcome, Held) else ()) or ("",):
            yield Problem("error", message, path)

    def _by_hand(self, result: Result, change: Change) -> Problem:
        return Problem("warning", change.message or f"{change.noun} {change.key}", *self._place(result, change.where))

    def _place(self, result: Result, where: str) -> tuple[str, int]:
        """A place in a space's directory, `path:line`, as path from the repository's root and line."""
        binding = next((one for one in self.bindings if result.key.startswith(f"{one.name}/")), None)
        path, line = _path_and_line(where)
        return (binding.path(path) if binding is not None and path else path), line


def _path_and_line(where: str) -> tuple[str, int]:
    found = _WHERE.fullmatch(where)
    return (found[1], int(found[2])) if found else (where, 1)


def report(told: Reported, *, quality: Path | None, as_json: bool) -> None:
    """Given what a run came to, say it to people, to the CI service, and into the files that it reads."""
    if quality is not None:
        quality.write_text(safe_json(_quality(list(told.problems()))), encoding="utf-8")
    if told.around.summary is not None:
        with told.around.summary.open("a", encoding="utf-8") as summary:
            summary.write("\n".join(_summary(told)) + "\n")
    if as_json:
        if told.failure is None:
            emit(_document(told))
        return
    if told.around.name == "github":
        for problem in told.problems():
            place = {"file": problem.path, "line": str(problem.line)} if problem.path else {}
            print(annotation(problem.level, safe(problem.message), place))
    if told.failure is None:
        print("\n".join(_folded(told, list(_lines(told)))))


def _lines(told: Reported) -> Iterator[str]:
    yield from result_lines(told.done.results)
    yield from (f"note: {safe(note)}" for note in told.done.notes)
    for binding, request in told.done.requests.items():
        yield f"{binding.name}: change request #{request.number} {request.address}".rstrip()
    if told.dry:
        yield "Nothing was written: this was a rehearsal." if told.pending else "Nothing would be written."


def _folded(told: Reported, lines: list[str]) -> list[str]:
    """GitLab folds what stands between two marks. Source: GitLab, CI job logs, custom collapsible sections."""
    if told.around.name != "gitlab":
        return lines
    at, shut = int(time.time()), "" if told.exit_code else "[collapsed=true]"
    opening = f"\x1b[0Ksection_start:{at}:syncd_push{shut}\r\x1b[0Ksyncd push --ci"
    return [opening, *lines, f"\x1b[0Ksection_end:{at}:syncd_push\r\x1b[0K"]


def _document(told: Reported) -> dict[str, Any]:
    requests = [
        {"space": binding.name, "number": request.number, "status": request.status, "url": request.address}
        for binding, request in told.done.requests.items()
    ]
    return {
        "command": "push",
        "results": [result_document(result) for result in told.done.results],
        "change_requests": requests,
        "notes": list(told.done.notes),
        "requests": dict(told.requests),
        "exit_code": told.exit_code,
    }


def _summary(told: Reported) -> Iterator[str]:
    """The job's summary as Markdown; names from outside stand in code, where they mean nothing."""
    yield f"## syncd: {code(told.job.branch) if told.job is not None else 'nothing was proposed'}"
    problems = list(told.problems())
    yield from _list("Failed", [problem for problem in problems if problem.level == "error"])
    for binding, request in told.done.requests.items():
        link = request.address
        name = f"[#{request.number}]({link})" if link else f"#{request.number}"
        yield f"\nChange request of {code(binding.name)}: {name} {code(request.subject)}"
    pages = [change for change in told.changes if change.verb != "report" and change.noun != "change request"]
    if pages:
        yield f"\n| {'Would change' if told.dry else 'Change'} | What |\n|---|---|"
        yield from (
            f"| {SIGNS[change.verb]} {change.verb} | {change.noun} {code(change.key)} |" for change in pages[:ROWS_MAX]
        )
        if len(pages) > ROWS_MAX:
            yield f"| | and {len(pages) - ROWS_MAX} more |"
    elif told.failure is None and any(result.flow == "mirror" for result in told.done.results):
        yield "\nThe platform says what the branch says." if not told.exit_code else ""
    yield from _list("To do by hand, and to know", [problem for problem in problems if problem.level != "error"])


def _list(title: str, problems: Sequence[Problem]) -> Iterator[str]:
    if problems:
        yield f"\n### {title}\n"
    for problem in problems[:ROWS_MAX]:
        where = f"{code(f'{problem.path}:{problem.line}')}: " if problem.path else ""
        yield f"* {where}{prose(problem.message)}"


def _quality(problems: Sequence[Problem]) -> list[dict[str, Any]]:
    """GitLab shows these in the merge request; each needs a place, so what has none is said of the first file."""
    return [
        {
            "description": problem.message,
            "check_name": "syncd-push",
            "fingerprint": hashlib.sha256(f"{number}\0{problem.path}\0{problem.message}".encode()).hexdigest(),
            "severity": "major" if problem.level == "error" else "minor",
            "location": {"path": problem.path or "SUMMARY.md", "lines": {"begin": problem.line}},
        }
        for number, problem in enumerate(problems)
    ]


def _changes(result: Result) -> tuple[Change, ...]:
    return result.outcome.changes if isinstance(result.outcome, Applied) else ()


def _sentence(what: str, hint: str) -> str:
    return f"{what} ({hint})" if hint else what
