"""One report of findings in every form: lines whose carets stand right, JSON, annotations, code quality and SARIF."""

import json
import unicodedata
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncd.cli.check.excerpt import CELLS_MAX, SourceText, format_excerpt
from syncd.cli.check.findings import LocatedFinding, Report
from syncd.cli.check.report import write_report
from syncd.layout.lint.finding import Finding, Fix, Severity
from syncd.layout.lint.rules import RULES

TEXT = "# Home\n\nSee [x](nope.md) and é[y](gone.md).\n"
MUST = {"type": "object", "additionalProperties": False}
SARIF = {
    **MUST,
    "required": ["$schema", "version", "runs"],
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "items": {
                **MUST,
                "required": ["tool", "results"],
                "properties": {
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "tool": {
                        **MUST,
                        "properties": {
                            "driver": {
                                **MUST,
                                "required": ["name"],
                                "properties": {
                                    "name": {"type": "string"},
                                    "version": {"type": "string"},
                                    "rules": {
                                        "type": "array",
                                        "uniqueItems": True,
                                        "items": {
                                            **MUST,
                                            "required": ["id", "help"],
                                            "properties": {
                                                "id": {"type": "string"},
                                                "shortDescription": {"$ref": "#/$defs/message"},
                                                "fullDescription": {"$ref": "#/$defs/message"},
                                                "help": {"$ref": "#/$defs/message"},
                                                "defaultConfiguration": {
                                                    **MUST,
                                                    "properties": {"level": {"$ref": "#/$defs/level"}},
                                                },
                                            },
                                        },
                                    },
                                },
                            }
                        },
                    },
                    "results": {
                        "type": "array",
                        "items": {
                            **MUST,
                            "required": ["message", "ruleId", "ruleIndex", "level", "locations"],
                            "properties": {
                                "ruleId": {"type": "string"},
                                "ruleIndex": {"type": "integer", "minimum": 0},
                                "level": {"$ref": "#/$defs/level"},
                                "message": {"$ref": "#/$defs/message"},
                                "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
                                "locations": {
                                    "type": "array",
                                    "items": {
                                        **MUST,
                                        "properties": {
                                            "physicalLocation": {
                                                **MUST,
                                                "properties": {
                                                    "artifactLocation": {
                                                        **MUST,
                                                        "properties": {
                                                            "uri": {"type": "string", "pattern": "^[!-~]+$"}
                                                        },
                                                    },
                                                    "region": {
                                                        **MUST,
                                                        "required": ["startLine"],
                                                        "properties": {
                                                            "startLine": {"$ref": "#/$defs/place"},
                                                            "startColumn": {"$ref": "#/$defs/place"},
                                                            "endColumn": {"$ref": "#/$defs/place"},
                                                        },
                                                    },
                                                },
                                            }
                                        },
                                    },
                                },
                            },
                        },
                    },
                },
            },
        },
    },
    "$defs": {
        "message": {**MUST, "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}},
        "place": {"type": "integer", "minimum": 1},
        "level": {"enum": ["none", "note", "warning", "error"]},
    },
}
"""The parts of SARIF 2.1.0 that syncd writes, as the standard has them, and nothing else."""


def report(found: Iterable[Finding], *, text: str = TEXT, path: str = "docs/use me.md") -> Report:
    shown = [LocatedFinding(Path.cwd(), path, one, SourceText(text.encode)) for one in found]
    return Report("check", shown, 0, RULES, "1 file", "Nothing to mend in 1 file", ".", {"files": 1})


def broken(line: int = 3, column: int = 9, message: str = "nothing is there", severity: Severity = "error") -> Finding:
    return Finding("use.md", line, column, "link-broken", message, "look again", severity, width=7)


@pytest.fixture
def written(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    def write(found: Iterable[Finding], style: str, **words: str) -> str:
        write_report(report(found, **words), style)
        return capsys.readouterr().out

    return write


def test_the_line_is_shown_with_carets_under_the_place(written: Callable[..., str]) -> None:
    assert written([broken()], "text").splitlines() == [
        "docs/use me.md:3:9: error link-broken: nothing is there",
        "    3 | See [x](nope.md) and é[y](gone.md).",
        "      |         ^^^^^^^",
        "   hint: look again",
        "1 error in 1 file. What a code means: syncd explain CODE",
    ]


@pytest.mark.parametrize(
    ("line", "column", "carets"),
    [
        ("a\tb: x", 6, "      |         ^"),  # a tab is four spaces
        ("日本: x", 5, "      |       ^"),  # each of these takes two cells
        ("e\u0301: x", 5, "      |    ^"),  # a combining sign takes none
        ("\x1b[31m: x", 8, "      |             ^"),  # what a terminal would obey is spelled out
        ("\u202eab: x", 6, "      |           ^"),
        ("short", 40, "      |      ^"),  # behind the end
        ("", 1, "      | ^"),
    ],
)
def test_the_caret_stands_right_whatever_is_before_it(line: str, column: int, carets: str) -> None:
    shown, under = format_excerpt(line, 1, column, 1)
    assert under == carets
    assert "\x1b" not in shown
    assert "\t" not in shown


@given(st.text(st.characters(exclude_characters="\n"), max_size=400), st.integers(1, 420), st.integers(1, 500))
@settings(deadline=None, max_examples=50)
def test_a_line_of_any_length_is_shown_around_the_place(line: str, column: int, width: int) -> None:
    shown, under = format_excerpt(line, 7, column, width)
    assert len(shown) <= CELLS_MAX + 10 + 2 * sum(unicodedata.category(sign) in ("Mn", "Me") for sign in line)
    assert "^" in under
    assert len(under) <= CELLS_MAX + 10
    assert under.strip(" |^") == ""


@pytest.mark.parametrize("column", [1, 40, 90, 200])
def test_a_line_fits_into_the_terminal_with_its_carets(column: int) -> None:
    for columns in (60, 80, 200):
        shown, under = format_excerpt("words " * 40, 7, column, 60, columns=columns)
        assert max(len(shown), len(under)) <= min(columns, CELLS_MAX + 10)
        assert under[8:].strip(" ") != ""


def test_the_place_in_a_very_long_line_is_in_sight() -> None:
    shown, under = format_excerpt("x" * 5000 + "HERE" + "y" * 5000, 12, 5001, 4)
    at = under.index("^")
    assert shown[at : at + 4] == "HERE"
    assert under.count("^") == 4
    assert (shown[8], shown[-1]) == ("…", "…")


def test_json_says_where_in_characters_and_in_bytes(written: Callable[..., str]) -> None:
    fix = Fix("point it there", "redirect:/a", "to", {"section": "home"})
    one = Finding("use.md", 3, 25, "link-broken", "gone", "", "error", width=9, fix=fix)
    told = json.loads(written([one, broken(severity="warning")], "json"))
    assert (told["valid"], told["error_count"], told["warning_count"]) == (False, 1, 1)
    first = told["diagnostics"][0]
    assert first["range"] == {
        "filename": "docs/use me.md",
        "start": {"line": 3, "column": 25, "byte": 8 + 25},
        "end": {"line": 3, "column": 34, "byte": 8 + 34},
    }
    assert first["fix"] == {"description": "point it there", "field": "to", "value": {"section": "home"}}
    assert "fix" not in told["diagnostics"][1]


def test_github_gets_ten_annotations_of_a_level_and_the_summary_has_all(
    written: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    many = [broken(message=f"error {number} <b>|`") for number in range(25)]
    said = written([*many, *(broken(severity="warning") for _ in range(10))], "github").splitlines()
    errors = [line for line in said if line.startswith("::error ")]
    assert len(errors) == 10
    assert errors[0].startswith("::error file=docs/use me.md,line=3,col=9,title=link-broken,endColumn=16::error 0")
    assert errors[9] == "::error title=syncd::and 16 more; the log has all of them"
    assert sum(line.startswith("::warning ") for line in said) == 10
    assert sum(line.startswith("- docs/use me.md:3:9: error") for line in said) == 16
    told = summary.read_text()
    assert told.count("| error link-broken |") == 25
    assert "error 24 \\<b\\>\\|\\`" in told


def test_a_summary_stays_below_what_github_takes(
    written: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    written([broken(message="é" * 100_000) for _ in range(12)], "github")
    assert summary.stat().st_size < 1 << 20
    assert summary.read_text().rstrip().endswith("more |")


def test_sarif_is_what_the_standard_says(written: Callable[..., str]) -> None:
    found = [broken(), broken(column=1), Finding("use.md", 1, 1, "page-empty", "no text", severity="warning")]
    told: dict[str, Any] = json.loads(written(found, "sarif"))
    jsonschema.validate(told, SARIF)
    run = told["runs"][0]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["link-broken", "page-empty"]
    assert [result["ruleIndex"] for result in run["results"]] == [0, 0, 1]
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place == {
        "artifactLocation": {"uri": "docs/use%20me.md"},
        "region": {"startLine": 3, "startColumn": 9, "endColumn": 16},
    }
    assert run["results"][2]["locations"][0]["physicalLocation"]["region"] == {"startLine": 1}
    prints = [result["partialFingerprints"]["syncd/v1"] for result in run["results"]]
    assert len(set(prints)) == 3
    assert json.loads(written([], "sarif"))["runs"][0]["results"] == []
