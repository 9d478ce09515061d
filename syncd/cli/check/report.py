"""Findings as people and machines read them: lines with carets, JSON, and what CI services and code scanners take."""

import os
import sys
from typing import Any

from syncd.cli.check.findings import Found, Report, finding_lines
from syncd.cli.check.sarif import sarif
from syncd.cli.check.services import quality, write_annotations
from syncd.cli.terminal.text import FORMAT_VERSION, print_text, safe_json

FORMATS = ("text", "json", "github", "gitlab", "sarif")
"""Of every report of findings."""


def write_report(report: Report, style: str) -> None:
    """Given a report and the name of a format, print it; where stdout is for a machine, the summary goes to stderr."""
    if style == "text":
        for each in report.found:
            print_text("\n".join(finding_lines(report, each)))
        print(report.summary)
    elif style == "github":
        write_annotations(report, os.environ)
    else:
        print(safe_json(_document(report, style)))
        if style != "json":
            print(report.summary, file=sys.stderr)


def _document(report: Report, style: str) -> Any:
    return {"json": _json, "gitlab": quality, "sarif": sarif}[style](report)


def _json(report: Report) -> dict[str, Any]:
    counts = report.counts
    return {
        "format_version": FORMAT_VERSION,
        "command": report.command,
        "valid": not counts["error"],
        "error_count": counts["error"],
        "warning_count": counts["warning"],
        "diagnostics": [_diagnostic(report, each) for each in report.found],
        "checked": dict(report.checked),
        "exit_code": report.exit_code,
    }


def _diagnostic(report: Report, each: Found) -> dict[str, Any]:
    one = each.one
    places = ((one.line, one.column), (one.line, one.column + one.width))
    whole = report.is_whole(one)
    start, end = ({"line": a, "column": b, "byte": 0 if whole else each.source.byte(a, b)} for a, b in places)
    place = {"filename": each.seen, "start": start, "end": start if whole else end}
    said = {"severity": one.severity, "code": one.code, "summary": one.message, "detail": one.hint, "range": place}
    if one.fix is None:
        return said
    return said | {"fix": {"description": one.fix.what, "field": one.fix.field, "value": one.fix.value}}
