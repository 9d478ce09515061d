"""A report in each of its formats: text, JSON, and the formats of CI services and code scanners."""

import os
import sys
from typing import Any

from syncd.cli.check.findings import LocatedFinding, Report, format_finding
from syncd.cli.check.sarif import build_sarif
from syncd.cli.check.services import build_code_quality, write_annotations
from syncd.cli.terminal.text import FORMAT_VERSION, format_json, print_text

FORMATS = ("text", "json", "github", "gitlab", "sarif")
"""The formats of every report of findings."""


def write_report(report: Report, style: str) -> None:
    """Print a report in a format of `FORMATS`; where stdout is for a program, the summary goes to stderr."""
    if style == "text":
        for located in report.findings:
            print_text("\n".join(format_finding(report, located)))
        print_text(report.summary)
    elif style == "github":
        write_annotations(report, os.environ)
    else:
        build = {"json": _build_json, "gitlab": build_code_quality, "sarif": build_sarif}[style]
        print(format_json(build(report)))
        if style != "json":
            print(report.summary, file=sys.stderr)


def _build_json(report: Report) -> dict[str, Any]:
    counts = report.counts
    return {
        "format_version": FORMAT_VERSION,
        "command": report.command,
        "valid": not counts["error"],
        "error_count": counts["error"],
        "warning_count": counts["warning"],
        "diagnostics": build_diagnostics(report),
        "checked": dict(report.facts),
        "exit_code": report.exit_code,
    }


def build_diagnostics(report: Report) -> list[dict[str, Any]]:
    """Return the findings of a report as JSON objects."""
    return [_build_diagnostic(report, located) for located in report.findings]


def _build_diagnostic(report: Report, located: LocatedFinding) -> dict[str, Any]:
    finding = located.finding
    places = ((finding.line, finding.column), (finding.line, finding.column + finding.width))
    whole = report.is_about_whole_file(finding)
    start, end = (
        {"line": a, "column": b, "byte": 0 if whole else located.source.count_bytes_before(a, b)} for a, b in places
    )
    range_ = {"filename": located.display_path, "start": start, "end": start if whole else end}
    document = {
        "severity": finding.severity,
        "code": finding.code,
        "summary": finding.message,
        "detail": finding.hint,
        "range": range_,
    }
    if finding.fix is None:
        return document
    return document | {"fix": {"description": finding.fix.what, "field": finding.fix.field, "value": finding.fix.value}}
