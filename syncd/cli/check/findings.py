"""Findings of one run, and their lines for people: place and message, the line with carets, the hint."""

import os
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from syncd.cli.check.excerpt import SourceText, format_excerpt
from syncd.cli.terminal.text import escape, find_width, style_text
from syncd.errors import FileInvalid
from syncd.layout.lint.finding import Finding
from syncd.layout.lint.rules import Rule
from syncd.model.wording import format_count

_COLOURS = {"error": 31, "warning": 33, "info": 36}


def find_display_path(path: Path) -> str:
    """Return a path relative to the current directory where it lies below that, else the whole path."""
    relative = os.path.relpath(path)
    return os.path.abspath(path) if relative.startswith("..") else relative.replace(os.sep, "/")


@dataclass(frozen=True)
class LocatedFinding:
    """A finding with the top of its tree, the path of its file from there, and the text of the file."""

    top: Path
    path: str
    finding: Finding
    source: SourceText

    @property
    def display_path(self) -> str:
        """The path as people are shown it, see `find_display_path`."""
        return find_display_path(self.top / self.path)

    @property
    def message(self) -> str:
        """The message with its hint, as one sentence."""
        return f"{self.finding.message} ({self.finding.hint})" if self.finding.hint else self.finding.message


@dataclass(frozen=True)
class Report:
    """What one run of a command found.

    Shape: `subject` says in words what was checked, `success_message` is the summary without findings, and
    `summary_suffix` follows it; `facts` say for programs what was checked; `rules` are those that were applied.
    """

    command: str
    findings: Sequence[LocatedFinding]
    exit_code: int
    rules: Mapping[str, Rule]
    subject: str
    success_message: str
    summary_suffix: str = "."
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def counts(self) -> Counter[str]:
        """How many findings each severity has."""
        return Counter(located.finding.severity for located in self.findings)

    @property
    def summary(self) -> str:
        """One line that counts what was found."""
        counts = self.counts
        parts = [format_count(counts[name], name) for name in ("error", "warning") if counts[name]]
        parts += [format_count(counts["info"], "note")] if counts["info"] else []
        text = f"{', '.join(parts)} in {self.subject}" if parts else self.success_message
        return f"{text}{self.summary_suffix}{' What a code means: syncd explain CODE' if parts else ''}"

    def is_about_whole_file(self, finding: Finding) -> bool:
        """Return whether a finding is about its file as a whole, so that no line of the file is shown."""
        return self.rules[finding.code].is_whole_file


def choose_exit_code(findings: Iterable[LocatedFinding], *, strict: bool) -> int:
    """Return the exit code of findings: 65 for errors, with `strict` also for warnings, else 0."""
    failing = {"error", "warning"} if strict else {"error"}
    return FileInvalid.exit_code if any(located.finding.severity in failing for located in findings) else 0


def format_finding(report: Report, located: LocatedFinding) -> list[str]:
    """Return a finding of a report as lines for people: place and message, the line with carets, the hint."""
    finding = located.finding
    word = style_text(finding.severity, _COLOURS[finding.severity], sys.stdout)
    place = f"{escape(located.display_path)}:{finding.line}:{finding.column}"
    lines = [f"{place}: {word} {finding.code}: {escape(finding.message)}"]
    if not report.is_about_whole_file(finding) and (text := located.source.get_line(finding.line)):
        columns = find_width(sys.stdout)
        shown, carets = format_excerpt(text, finding.line, finding.column, finding.width, columns=columns)
        start = carets.index("^")
        lines += [shown, carets[:start] + style_text(carets[start:], _COLOURS[finding.severity], sys.stdout)]
    return [*lines, *(f"   hint: {escape(line)}" for line in finding.hint.splitlines())]


def print_warnings(findings: Iterable[Finding]) -> None:
    """Print findings on stderr, one line each."""
    for finding in findings:
        word = style_text(finding.severity, _COLOURS[finding.severity], sys.stderr)
        where = escape(f"{finding.path}:{finding.line}:{finding.column}")
        print(f"{where}: {word} {finding.code}: {escape(finding.message)}", file=sys.stderr)


def build_warning_documents(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    """Return findings as short JSON objects."""
    return [
        {
            "code": finding.code,
            "path": finding.path,
            "line": finding.line,
            "column": finding.column,
            "message": finding.message,
        }
        for finding in findings
    ]
