"""Findings as people and machines read them: lines, JSON, annotations of GitHub, and GitLab's code quality report."""

import hashlib
import json
import os
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from syncd.cli.annotations import annotation
from syncd.cli.terminal import FORMAT_VERSION, paint, safe
from syncd.layout.lint.finding import Finding

FORMATS = ("text", "json", "github", "gitlab")
_COLOURS = {"error": 31, "warning": 33, "info": 36}
_LEVELS = {"error": "error", "warning": "warning", "info": "notice"}
_GRADES = {"error": "major", "warning": "minor", "info": "info"}


@dataclass(frozen=True)
class Report:
    """What one run found: each finding with the top of its tree and its path from there."""

    found: Sequence[tuple[Path, str, Finding]]
    spaces: int
    files: int
    exit_code: int

    @property
    def counts(self) -> Counter[str]:
        """How many findings each severity has."""
        return Counter(one.severity for _, _, one in self.found)


def write_report(report: Report, style: str) -> None:
    """Given a report and the name of a format, print it; where stdout is for a machine, the summary goes to stderr."""
    if style == "text":
        for top, path, one in report.found:
            print("\n".join(_lines(_from_here(top, path), one)))
        print(_summary(report))
    elif style == "json":
        print(json.dumps(_document(report), ensure_ascii=False, indent=2))
    elif style == "github":
        for _, path, one in report.found:
            message = f"{one.message} ({one.hint})" if one.hint else one.message
            place = {"file": path, "line": str(one.line), "col": str(one.column), "title": one.code}
            print(annotation(_LEVELS[one.severity], safe(message), place))
        print(_summary(report))
    else:
        print(json.dumps(_quality(report), ensure_ascii=False, indent=2))
        print(_summary(report), file=sys.stderr)


def _from_here(top: Path, path: str) -> str:
    """A path as it is seen from the current directory, where it lies below that."""
    seen = os.path.relpath(top / path)
    return str(top / path) if seen.startswith("..") else seen.replace(os.sep, "/")


def _lines(path: str, one: Finding) -> list[str]:
    word = paint(one.severity, _COLOURS[one.severity], sys.stdout)
    lines = [f"{safe(path)}:{one.line}:{one.column}: {word} {one.code}: {safe(one.message)}"]
    return [*lines, f"    {safe(one.hint)}"] if one.hint else lines


def _summary(report: Report) -> str:
    counts = report.counts
    parts = [_counted(counts[name], name) for name in ("error", "warning") if counts[name]]
    parts += [_counted(counts["info"], "note")] if counts["info"] else []
    where = f"{_counted(report.files, 'file')} of {_counted(report.spaces, 'space')}"
    if not parts:
        return f"Nothing to mend in {where}."
    return f"{', '.join(parts)} in {where}. What a code means: syncd check --explain CODE"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _document(report: Report) -> dict[str, Any]:
    findings = [asdict(one) | {"path": _from_here(top, path)} for top, path, one in report.found]
    counts = {name: report.counts[name] for name in ("error", "warning", "info")}
    checked = {"spaces": report.spaces, "files": report.files}
    facts = {"findings": findings, "counts": counts, "checked": checked, "exit_code": report.exit_code}
    return {"format_version": FORMAT_VERSION, "command": "check", **facts}


def _quality(report: Report) -> list[dict[str, Any]]:
    """GitLab's form; a fingerprint stays when a line moves, so that only new findings are shown as new."""
    times: Counter[tuple[str, str, str]] = Counter()
    entries = []
    for _, path, one in report.found:
        times[key := (path, one.code, one.message)] += 1
        entries.append(
            {
                "description": f"{one.message} ({one.hint})" if one.hint else one.message,
                "check_name": one.code,
                "fingerprint": hashlib.sha256("\0".join((*key, str(times[key]))).encode()).hexdigest(),
                "severity": _GRADES[one.severity],
                "location": {"path": path, "lines": {"begin": one.line}},
            }
        )
    return entries
