"""Findings in SARIF 2.1.0, the format of code scanning."""

from typing import Any
from urllib.parse import quote

from syncd import __version__
from syncd.cli.check.findings import Found, Report
from syncd.cli.check.services import fingerprints
from syncd.layout.lint.rules import Rule

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}


def sarif(report: Report) -> dict[str, Any]:
    """Given a report, return its log: the rules that found something with their help, and a result a finding.

    Source: OASIS, SARIF 2.1.0, §3.14 to §3.49; columns count Unicode code points.
    """
    codes = list(dict.fromkeys(each.one.code for each in report.found))
    driver = {"name": "syncd", "version": __version__, "rules": [_rule(report.rules[code]) for code in codes]}
    results = [
        _result(report, each, codes.index(each.one.code), print_)
        for each, print_ in zip(report.found, fingerprints(report.found), strict=True)
    ]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.code,
        "shortDescription": {"text": rule.meaning.partition(". ")[0].rstrip(".") + "."},
        "fullDescription": {"text": rule.meaning},
        "help": {"text": rule.mend},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _result(report: Report, each: Found, index: int, print_: str) -> dict[str, Any]:
    one = each.one
    region = {"startLine": one.line}
    if not report.is_whole(one):
        region |= {"startColumn": one.column, "endColumn": one.column + one.width}
    place = {"artifactLocation": {"uri": quote(each.path)}, "region": region}
    return {
        "ruleId": one.code,
        "ruleIndex": index,
        "level": _LEVELS[one.severity],
        "message": {"text": each.message},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {"syncd/v1": print_},
    }
