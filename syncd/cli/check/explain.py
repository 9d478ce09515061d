"""`explain`: what a code means and how to mend what it finds."""

import re
import shutil
import textwrap
from collections.abc import Mapping
from typing import Any

import typer

from syncd.cli.terminal.output import print_document
from syncd.layout.lint.rules import RULES, Rule, find_codes
from syncd.layout.lint.suggestions import NearMisses, format_suggestion
from syncd.layout.site.read.rules import MILD, SITE_RULES

WIDTH = 100
"""Texts are wrapped at so many columns, or at the width of a narrower terminal."""
_FAMILY = re.compile(r"SY[0-9]{0,2}")
CATALOGUE: Mapping[str, Rule] = {**RULES, **SITE_RULES}
"""Every rule of every command, by code."""


def explain(word: str, *, as_json: bool) -> None:
    """Print what the rules mean that a word selects: a code, the beginning of codes such as `link` or `SY3`, or `all`.

    Raises: BadParameter with the nearest code when there is none.
    """
    rules = _find_rules(word)
    if as_json:
        print_document({"rules": [_build_document(rule) for rule in rules]})
    else:
        print("\n\n".join("\n".join(_format_rule(rule)) for rule in rules))


def complete_code(incomplete: str) -> list[str]:
    """Return the codes that a shell offers for the beginning of a word."""
    return [code for code in CATALOGUE if code.startswith(incomplete)]


def _find_rules(word: str) -> list[Rule]:
    if word == "all":
        return list(CATALOGUE.values())
    if (rule := SITE_RULES.get(word.upper())) is not None:
        return [rule]
    if _FAMILY.fullmatch(word.upper()) and (family := [one for one in SITE_RULES if one.startswith(word.upper())]):
        return [SITE_RULES[code] for code in family]
    try:
        codes = find_codes([word.lower()])
    except KeyError:
        near = NearMisses(CATALOGUE)
        hint = format_suggestion(near.find(word.lower()) or near.find(word.upper()))
        raise typer.BadParameter(f"there is no code {word[:80]}; {hint or 'syncd explain all lists them'}") from None
    return [rule for code, rule in RULES.items() if code in codes]


def _format_rule(rule: Rule) -> list[str]:
    return [
        f"{rule.code} ({rule.severity})",
        *_wrap_text(rule.meaning),
        *_wrap_text(f"To mend it: {rule.remedy}"),
        *_format_ignore_hint(rule),
    ]


def _build_document(rule: Rule) -> dict[str, Any]:
    document = {"code": rule.code, "severity": rule.severity, "meaning": rule.meaning, "mend": rule.remedy}
    return {**document, "ignore": _format_ignore_comment(rule) or None}


def _format_ignore_comment(rule: Rule) -> str:
    """The comment that ignores one finding in its file; "" for a rule that cannot be ignored."""
    if rule.code in RULES:
        return f"<!-- syncd-check: ignore {rule.code} -->"
    return f"# syncd: ignore {rule.code}" if rule.severity != "error" or rule.code in MILD else ""


def _format_ignore_hint(rule: Rule) -> list[str]:
    if not (comment := _format_ignore_comment(rule)):
        return []
    what = "a warning" if rule.code in MILD else "it"
    return [f"  To ignore {what}{'' if rule.code in RULES else ' on a line'}: {comment}"]


def _wrap_text(text: str) -> list[str]:
    width = min(WIDTH, shutil.get_terminal_size((WIDTH, 0)).columns)
    return textwrap.wrap(text, width, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
