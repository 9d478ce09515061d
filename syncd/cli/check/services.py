"""Findings as CI services show them: GitHub's annotations and job summary, and GitLab's code quality report."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from syncd.cli.check.findings import LocatedFinding, Report, format_finding
from syncd.cli.ci.annotations import escape_markdown, format_annotation, format_code
from syncd.cli.terminal.ci_job import read_ci_job
from syncd.cli.terminal.text import escape

ANNOTATIONS_SHOWN = 9
"""Up to so many annotations of each level: GitHub shows ten of a step, and the tenth says how many more there are."""
SUMMARY_MAX = 900_000
"""The most bytes of a job's summary; GitHub takes a mebibyte of a step."""
_LEVELS = {"error": "error", "warning": "warning", "info": "notice"}
_GRADES = {"error": "major", "warning": "minor", "info": "info"}


def write_annotations(report: Report, environ: Mapping[str, str]) -> None:
    """Print annotations for GitHub, and add all findings to the job's summary.

    Shape: findings beyond the annotations are printed as lines, so that the log has all of them.
    """
    rest: list[LocatedFinding] = []
    for severity, level in _LEVELS.items():
        found = [located for located in report.findings if located.finding.severity == severity]
        shown = len(found) if len(found) <= ANNOTATIONS_SHOWN + 1 else ANNOTATIONS_SHOWN
        for located in found[:shown]:
            print(format_annotation(level, escape(located.message), _build_location(located)))
        if omitted := found[shown:]:
            print(format_annotation(level, f"and {len(omitted):,} more; the log has all of them", {"title": "syncd"}))
        rest += omitted
    for located in rest:
        first, *more = format_finding(report, located)
        print("\n".join([f"- {first}", *more]))  # a path in the first column could be read as a command
    print(report.summary)
    summary = read_ci_job(environ).summary
    if summary is not None and report.findings:
        with summary.open("a", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in _format_table(report))


def build_code_quality(report: Report) -> list[dict[str, Any]]:
    """Return GitLab's code quality report; fingerprints outlive moved lines, so that GitLab shows only new findings."""
    return [
        {
            "description": located.message,
            "check_name": located.finding.code,
            "fingerprint": fingerprint,
            "severity": _GRADES[located.finding.severity],
            "location": {"path": located.path, "lines": {"begin": located.finding.line}},
        }
        for located, fingerprint in zip(report.findings, compute_fingerprints(report.findings), strict=True)
    ]


def compute_fingerprints(found: Sequence[LocatedFinding]) -> Iterator[str]:
    """Return a fingerprint of each finding that does not depend on its line."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for located in found:
        counts[key := (located.path, located.finding.code, located.finding.message)] += 1
        yield hashlib.sha256("\0".join((*key, str(counts[key]))).encode("utf-8", "replace")).hexdigest()


def _build_location(located: LocatedFinding) -> dict[str, str]:
    finding = located.finding
    location = {"file": located.path, "line": str(finding.line), "col": str(finding.column), "title": finding.code}
    return location | ({"endColumn": str(finding.column + finding.width)} if finding.width > 1 else {})


def _format_table(report: Report) -> Iterator[str]:
    yield f"## syncd {report.command}\n"
    yield f"{escape_markdown(report.summary)}\n"
    yield "| Where | What | |\n|---|---|---|"
    written = 0
    for number, located in enumerate(report.findings):
        finding = located.finding
        where = format_code(f"{located.path}:{finding.line}:{finding.column}")
        row = f"| {where} | {finding.severity} {finding.code} | {escape_markdown(located.message)} |"
        written += len(row.encode("utf-8", "replace"))
        if written > SUMMARY_MAX:
            yield f"| | | and {len(report.findings) - number:,} more |"
            return
        yield row
