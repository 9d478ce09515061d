"""The report of `push --ci` for CI services: annotations, folded sections, a summary, a code quality report."""

import hashlib
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from syncd.cli.ci.annotations import escape_markdown, format_annotation, format_code
from syncd.cli.terminal.ci_job import CiJob
from syncd.cli.terminal.output import IN_STEP, SIGNS, build_result_document, format_results, print_document
from syncd.cli.terminal.text import escape, format_json
from syncd.errors import ConfigInvalid, FileInvalid, SyncdError
from syncd.layout.tree.placement import SUMMARY
from syncd.model.wording import format_first
from syncd.plan.change import Change
from syncd.sync.binding import Binding
from syncd.sync.ci.base import CiResult, Job
from syncd.sync.outcome import CHANGES_PENDING, Applied, Held, Waiting
from syncd.sync.run.values import Result, find_exit_code

PATHS_SHOWN = 5
"""The most pages of a kind that a line names; the summary and the annotations name all."""
ROWS_MAX = 200
"""The most rows of a table in the summary; GitHub takes a mebibyte."""
_WHERE = re.compile(r"(.+?):(\d+)(?::\d+)?")
_REFUSED = re.compile(r"([^\n]+?:\d+:\d+): ")


@dataclass(frozen=True)
class Problem:
    """An error or warning for a person; `path` is from the repository's root, or empty."""

    level: str
    message: str
    path: str = ""
    line: int = 1


@dataclass(frozen=True)
class PushReport:
    """The outcome of a push and what describes it, or the failure that ended it.

    Shape: `requests` counts the requests that were sent by method.
    """

    ci_job: CiJob
    job: Job | None = None
    outcome: CiResult = field(default_factory=lambda: CiResult(()))
    bindings: tuple[Binding, ...] = ()
    requests: Mapping[str, int] = field(default_factory=dict)
    is_dry_run: bool = False
    failure: SyncdError | None = None

    @property
    def exit_code(self) -> int:
        """The exit code of the command: of what failed, else whether a dry run found changes."""
        code = self.failure.exit_code if self.failure is not None else find_exit_code(self.outcome.results)
        return CHANGES_PENDING if self.is_dry_run and not code and self.has_changes else code

    @property
    def changes(self) -> list[Change]:
        """The changes that were proposed, or would be, page by page."""
        return [
            change for result in self.outcome.results if result.flow == "propose" for change in _list_changes(result)
        ]

    @property
    def unsent(self) -> dict[str, tuple[str, ...]]:
        """The pages that no platform gets, by the reason."""
        unlisted = "not listed in SUMMARY.md; list what is to be a page, and commit"
        missing = "listed in SUMMARY.md, but not committed; add it, or take the entry out, and commit"
        found = {unlisted: self.outcome.unlisted, missing: self.outcome.missing}
        return {reason: paths for reason, paths in found.items() if paths}

    @property
    def has_changes(self) -> bool:
        """Whether anything would be written."""
        return any(change.verb != "report" for change in self.changes)

    def find_problems(self) -> Iterator[Problem]:
        """What failed first, then manual steps, then notes."""
        if self.failure is not None:
            yield Problem("error", _append_hint(self.failure.what, self.failure.hint))
        for result in self.outcome.results:
            if isinstance(result.outcome, Held | Waiting):
                yield from _find_failures(result.outcome)
        for result in self.outcome.results:
            for change in _list_changes(result):
                if change.verb == "report" and result.flow == "propose":
                    yield self._build_manual_step(result, change)
            if isinstance(result.outcome, Applied):
                yield from (Problem("warning", note) for note in result.outcome.notes)
        yield from (Problem("warning", note) for note in self.outcome.notes)
        for reason, paths in self.unsent.items():
            yield from (Problem("warning", f"not sent: it is {reason}", path) for path in paths)

    def _build_manual_step(self, result: Result, change: Change) -> Problem:
        return Problem(
            "warning", change.message or f"{change.noun} {change.key}", *self._find_path_and_line(result, change.where)
        )

    def _find_path_and_line(self, result: Result, where: str) -> tuple[str, int]:
        """The path from the repository's root, and the line, of `path:line` in a space's directory."""
        binding = next((one for one in self.bindings if result.key.startswith(f"{one.name}/")), None)
        path, line = _parse_location(where)
        return (binding.path(path) if binding is not None and path else path), line


def _find_failures(outcome: Held | Waiting) -> Iterator[Problem]:
    """The errors of an outcome: at each page in conflict, at the place in an invalid file, else without a place."""
    message = _append_hint(outcome.why, outcome.hint)
    if outcome.exit_code == FileInvalid.exit_code and (found := _REFUSED.match(outcome.why)):
        yield Problem("error", message, *_parse_location(found[1]))
        return
    for path in (outcome.paths if isinstance(outcome, Held) else ()) or ("",):
        yield Problem("error", message, path)


def _parse_location(where: str) -> tuple[str, int]:
    found = _WHERE.fullmatch(where)
    return (found[1], int(found[2])) if found else (where, 1)


def write_push_report(report: PushReport, *, quality: Path | None, as_json: bool) -> None:
    """Print the report, with annotations where GitHub reads them, and write the job summary and `quality`.

    Raises: ConfigInvalid when `quality` cannot be written, after all else was.
    """
    _print_report(report, as_json=as_json)
    if report.ci_job.summary is not None:
        with report.ci_job.summary.open("a", encoding="utf-8") as summary:
            summary.write("\n".join(_format_summary(report)) + "\n")
    if quality is not None:
        try:
            quality.write_text(format_json(_build_code_quality(report)), encoding="utf-8")
        except OSError as error:
            raise ConfigInvalid(f"{quality} cannot be written: {error.strerror}", hint="see --quality") from error


def _print_report(report: PushReport, *, as_json: bool) -> None:
    if as_json:
        if report.failure is None:
            print_document(_build_document(report))
        return
    if report.ci_job.name == "github":
        for problem in report.find_problems():
            place = {"file": problem.path, "line": str(problem.line)} if problem.path else {}
            print(format_annotation(problem.level, escape(problem.message), place))
    if report.failure is None:
        print("\n".join(_fold_lines(report, list(_format_report(report)))))


def _format_report(report: PushReport) -> Iterator[str]:
    is_idle = not (report.outcome.notes or report.unsent)
    yield from format_results(report.outcome.results, idle=(IN_STEP,) if is_idle else ())
    yield from (f"note: {escape(note)}" for note in report.outcome.notes)
    for reason, paths in report.unsent.items():
        named = format_first([escape(path) for path in paths], PATHS_SHOWN)
        yield f"! not sent: {named} {'is' if len(paths) == 1 else 'are'} {reason}"
    for binding, request in report.outcome.requests.items():
        yield f"{binding.name}: change request #{request.number} {request.address}".rstrip()
    if report.is_dry_run:
        yield "Nothing was written: this was a dry run." if report.has_changes else "Nothing would be written."


def _fold_lines(report: PushReport, lines: list[str]) -> list[str]:
    """Put lines into a section that GitLab folds. Source: GitLab, CI job logs, custom collapsible sections."""
    if report.ci_job.name != "gitlab":
        return lines
    started_at, collapsed = int(time.time()), "" if report.exit_code else "[collapsed=true]"
    opening = f"\x1b[0Ksection_start:{started_at}:syncd_push{collapsed}\r\x1b[0Ksyncd push --ci"
    return [opening, *lines, f"\x1b[0Ksection_end:{started_at}:syncd_push\r\x1b[0K"]


def _build_document(report: PushReport) -> dict[str, Any]:
    requests = [
        {"space": binding.name, "number": request.number, "status": request.status, "url": request.address}
        for binding, request in report.outcome.requests.items()
    ]
    return {
        "command": "push",
        "results": [build_result_document(result) for result in report.outcome.results],
        "change_requests": requests,
        "notes": list(report.outcome.notes),
        "unlisted": list(report.outcome.unlisted),
        "missing": list(report.outcome.missing),
        "requests": dict(report.requests),
        "exit_code": report.exit_code,
    }


def _format_summary(report: PushReport) -> Iterator[str]:
    """The job's summary as Markdown; names from outside are formatted as code, so that they are no markup."""
    yield f"## syncd: {format_code(report.job.branch) if report.job is not None else 'nothing was proposed'}"
    problems = list(report.find_problems())
    yield from _format_problems("Failed", [problem for problem in problems if problem.level == "error"])
    for binding, request in report.outcome.requests.items():
        address = request.address
        name = f"[#{request.number}]({address})" if address else f"#{request.number}"
        yield f"\nChange request of {format_code(binding.name)}: {name} {format_code(request.subject)}"
    pages = [change for change in report.changes if change.verb != "report" and change.noun != "change request"]
    if pages:
        yield f"\n| {'Would change' if report.is_dry_run else 'Change'} | What |\n|---|---|"
        yield from (
            f"| {SIGNS[change.verb]} {change.verb} | {change.noun} {format_code(change.key)} |"
            for change in pages[:ROWS_MAX]
        )
        if len(pages) > ROWS_MAX:
            yield f"| | and {len(pages) - ROWS_MAX} more |"
    elif not report.exit_code and any(result.flow == "mirror" for result in report.outcome.results):
        # What is left, a person has to do; the steps are named below.
        is_same = not report.unsent and all(change.verb != "report" for change in report.changes)
        yield f"\n{'The platform says what the branch says.' if is_same else 'syncd has nothing more to send.'}"
    yield from _format_problems("Manual steps and notes", [problem for problem in problems if problem.level != "error"])


def _format_problems(title: str, problems: Sequence[Problem]) -> Iterator[str]:
    if problems:
        yield f"\n### {title}\n"
    for problem in problems[:ROWS_MAX]:
        where = f"{format_code(f'{problem.path}:{problem.line}')}: " if problem.path else ""
        yield f"* {where}{escape_markdown(problem.message)}"


def _build_code_quality(report: PushReport) -> list[dict[str, Any]]:
    """GitLab's code quality report; each entry needs a place there, so one without a place gets the first space's
    table of contents."""
    summary = report.bindings[0].path(SUMMARY) if report.bindings else SUMMARY
    return [
        {
            "description": problem.message,
            "check_name": "syncd-push",
            "fingerprint": hashlib.sha256(f"{number}\0{problem.path}\0{problem.message}".encode()).hexdigest(),
            "severity": "major" if problem.level == "error" else "minor",
            "location": {"path": problem.path or summary, "lines": {"begin": problem.line}},
        }
        for number, problem in enumerate(report.find_problems())
    ]


def _list_changes(result: Result) -> tuple[Change, ...]:
    return result.outcome.changes if isinstance(result.outcome, Applied) else ()


def _append_hint(what: str, hint: str) -> str:
    return f"{what} ({'; '.join(hint.splitlines())})" if hint else what
