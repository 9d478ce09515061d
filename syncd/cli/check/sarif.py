"""Findings in SARIF 2.1.0, the format of code scanning."""

from typing import Any
from urllib.parse import quote

from syncd import __version__
from syncd.cli.check.findings import LocatedFinding, Report
from syncd.cli.check.services import compute_fingerprints
from syncd.layout.lint.rules import Rule

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}


def build_sarif(report: Report) -> dict[str, Any]:
    """Return the SARIF log of a report: the rules that found something, with their help, and a result per finding.

    Source: OASIS, SARIF 2.1.0, §3.14 to §3.49; columns count Unicode code points.
    """
    codes = list(dict.fromkeys(located.finding.code for located in report.findings))
    driver = {"name": "syncd", "version": __version__, "rules": [_build_rule(report.rules[code]) for code in codes]}
    results = [
        _build_result(report, located, codes.index(located.finding.code), fingerprint)
        for located, fingerprint in zip(report.findings, compute_fingerprints(report.findings), strict=True)
    ]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _build_rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.code,
        "shortDescription": {"text": rule.meaning.partition(". ")[0].rstrip(".") + "."},
        "fullDescription": {"text": rule.meaning},
        "help": {"text": rule.remedy},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _build_result(report: Report, located: LocatedFinding, index: int, fingerprint: str) -> dict[str, Any]:
    finding = located.finding
    region = {"startLine": finding.line}
    if not report.is_about_whole_file(finding):
        region |= {"startColumn": finding.column, "endColumn": finding.column + finding.width}
    location = {"artifactLocation": {"uri": quote(located.path)}, "region": region}
    return {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": located.message},
        "locations": [{"physicalLocation": location}],
        "partialFingerprints": {"syncd/v1": fingerprint},
    }
