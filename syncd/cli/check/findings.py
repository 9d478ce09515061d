"""Findings of one run, and how people read them: where and what, the line with carets, the hint."""

import os
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from syncd.cli.check.excerpt import Source, excerpt
from syncd.cli.terminal.text import paint, safe
from syncd.errors import FileInvalid
from syncd.layout.lint.finding import Finding
from syncd.layout.lint.rules import Rule
from syncd.model.wording import format_count

_COLOURS = {"error": 31, "warning": 33, "info": 36}


@dataclass(frozen=True)
class Found:
    """A finding in its file: the top of the tree, the path from there, and the text."""

    top: Path
    path: str
    one: Finding
    source: Source

    @property
    def seen(self) -> str:
        """The path as it is seen from the current directory, where it lies below that."""
        seen = os.path.relpath(self.top / self.path)
        return str(self.top / self.path) if seen.startswith("..") else seen.replace(os.sep, "/")

    @property
    def message(self) -> str:
        """The message with its hint, as one sentence."""
        return f"{self.one.message} ({self.one.hint})" if self.one.hint else self.one.message


@dataclass(frozen=True)
class Report:
    """What one run of a command found.

    Shapes: `where` says in words what was looked at, `fine` what to say when nothing was found, `after` what to say
    behind the counts; `checked` has the facts of that for machines; `rules` are those that could have found something.
    """

    command: str
    found: Sequence[Found]
    exit_code: int
    rules: Mapping[str, Rule]
    where: str
    fine: str
    after: str = ""
    checked: Mapping[str, Any] = field(default_factory=dict)

    @property
    def counts(self) -> Counter[str]:
        """How many findings each severity has."""
        return Counter(each.one.severity for each in self.found)

    @property
    def summary(self) -> str:
        """One line that counts what was found."""
        counts = self.counts
        parts = [format_count(counts[name], name) for name in ("error", "warning") if counts[name]]
        parts += [format_count(counts["info"], "note")] if counts["info"] else []
        said = f"{', '.join(parts)} in {self.where}" if parts else self.fine
        return f"{said}{self.after}{' What a code means: syncd explain CODE' if parts else ''}"

    def is_whole(self, one: Finding) -> bool:
        """Given a finding, return whether it is about its file as a whole, so that no line of it is shown."""
        return self.rules[one.code].whole


def exit_code(found: Iterable[Found], *, strict: bool) -> int:
    """Given findings, return the exit code: 65 for errors, and when it is strict for warnings, too."""
    failing = {"error", "warning"} if strict else {"error"}
    return FileInvalid.exit_code if any(each.one.severity in failing for each in found) else 0


def finding_lines(report: Report, each: Found) -> list[str]:
    """Given a report and one of its findings, return it as lines for people: where and what, the line, the hint."""
    one = each.one
    word = paint(one.severity, _COLOURS[one.severity], sys.stdout)
    lines = [f"{safe(each.seen)}:{one.line}:{one.column}: {word} {one.code}: {safe(one.message)}"]
    if not report.is_whole(one) and (text := each.source.line(one.line)):
        shown, carets = excerpt(text, one.line, one.column, one.width)
        start = carets.index("^")
        lines += [shown, carets[:start] + paint(carets[start:], _COLOURS[one.severity], sys.stdout)]
    return [*lines, *(f"   hint: {safe(line)}" for line in one.hint.splitlines())]


def tell_warnings(found: Iterable[Finding]) -> None:
    """Given findings about a text that was just written, say them on stderr, one line each."""
    for one in found:
        where, word = f"{one.path}:{one.line}:{one.column}", paint(one.severity, _COLOURS[one.severity], sys.stderr)
        print(f"{safe(where)}: {word} {one.code}: {safe(one.message)}", file=sys.stderr)


def warning_documents(found: Iterable[Finding]) -> list[dict[str, Any]]:
    """Given findings, return them as short JSON objects."""
    return [
        {"code": one.code, "path": one.path, "line": one.line, "column": one.column, "message": one.message}
        for one in found
    ]
