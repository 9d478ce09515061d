"""Findings as CI services show them: GitHub's annotations and job summary, and GitLab's code quality report."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from syncd.cli.check.findings import Found, Report, finding_lines
from syncd.cli.ci.annotations import annotation, code, prose
from syncd.cli.terminal.ci_service import service
from syncd.cli.terminal.text import safe

SHOWN = 9
"""Annotations of each level; GitHub shows ten of a step, and the tenth says how many more there are."""
SUMMARY_MAX = 900_000
"""Bytes of a job's summary; GitHub takes a mebibyte of a step."""
_LEVELS = {"error": "error", "warning": "warning", "info": "notice"}
_GRADES = {"error": "major", "warning": "minor", "info": "info"}


def write_annotations(report: Report, environ: Mapping[str, str]) -> None:
    """Given a report and the environment, print annotations, and add all findings to the job's summary.

    Shapes: findings beyond the annotations are printed as lines, so that the log has all of them.
    """
    rest: list[Found] = []
    for severity, level in _LEVELS.items():
        found = [each for each in report.found if each.one.severity == severity]
        shown = len(found) if len(found) <= SHOWN + 1 else SHOWN
        for each in found[:shown]:
            print(annotation(level, safe(each.message), _place(each)))
        if left := found[shown:]:
            print(annotation(level, f"and {len(left):,} more; the log has all of them", {"title": "syncd"}))
        rest += left
    for each in rest:
        first, *more = finding_lines(report, each)
        print("\n".join([f"- {first}", *more]))  # a path in the first column could be read as a command
    print(report.summary)
    summary = service(environ).summary
    if summary is not None and report.found:
        with summary.open("a", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in _table(report))


def quality(report: Report) -> list[dict[str, Any]]:
    """Given a report, return it in GitLab's form; a fingerprint stays when a line moves, so that only new is new."""
    return [
        {
            "description": each.message,
            "check_name": each.one.code,
            "fingerprint": print_,
            "severity": _GRADES[each.one.severity],
            "location": {"path": each.path, "lines": {"begin": each.one.line}},
        }
        for each, print_ in zip(report.found, fingerprints(report.found), strict=True)
    ]


def fingerprints(found: Sequence[Found]) -> Iterator[str]:
    """Given findings, return for each a name that does not depend on the line that it stands on."""
    times: Counter[tuple[str, str, str]] = Counter()
    for each in found:
        times[key := (each.path, each.one.code, each.one.message)] += 1
        yield hashlib.sha256("\0".join((*key, str(times[key]))).encode("utf-8", "replace")).hexdigest()


def _place(each: Found) -> dict[str, str]:
    one = each.one
    place = {"file": each.path, "line": str(one.line), "col": str(one.column), "title": one.code}
    return place | ({"endColumn": str(one.column + one.width)} if one.width > 1 else {})


def _table(report: Report) -> Iterator[str]:
    yield f"## syncd {report.command}\n"
    yield f"{prose(report.summary)}\n"
    yield "| Where | What | |\n|---|---|---|"
    written = 0
    for number, each in enumerate(report.found):
        one = each.one
        where = code(f"{each.path}:{one.line}:{one.column}")
        row = f"| {where} | {one.severity} {one.code} | {prose(each.message)} |"
        written += len(row.encode("utf-8", "replace"))
        if written > SUMMARY_MAX:
            yield f"| | | and {len(report.found) - number:,} more |"
            return
        yield row
