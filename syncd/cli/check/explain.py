"""`explain`: what a code means and how to mend what it finds."""

import re
import shutil
import textwrap
from collections.abc import Mapping
from typing import Any

import typer

from syncd.cli.terminal.output import emit
from syncd.layout.lint.near import Near, meant
from syncd.layout.lint.rules import RULES, Rule, matching
from syncd.layout.site.read.rules import MILD, SITE_RULES

WIDTH = 100
"""Columns that a text fills, where the terminal has as many."""
_FAMILY = re.compile(r"SY[0-9]{0,2}")
CATALOGUE: Mapping[str, Rule] = {**RULES, **SITE_RULES}
"""Every rule that any command has."""


def explain(word: str, *, as_json: bool) -> None:
    """Given a code, the beginning of codes such as `link` or `SY3`, or `all`, print what the rules mean.

    Raises: BadParameter with the nearest code when there is none.
    """
    rules = _named(word)
    if as_json:
        emit({"rules": [_document(rule) for rule in rules]})
    else:
        print("\n\n".join("\n".join(_explained(rule)) for rule in rules))


def _named(word: str) -> list[Rule]:
    if word == "all":
        return list(CATALOGUE.values())
    if (rule := SITE_RULES.get(word.upper())) is not None:
        return [rule]
    if _FAMILY.fullmatch(word.upper()) and (family := [one for one in SITE_RULES if one.startswith(word.upper())]):
        return [SITE_RULES[code] for code in family]
    try:
        codes = matching([word.lower()])
    except KeyError:
        near = Near(CATALOGUE)
        hint = meant(near.to(word.lower()) or near.to(word.upper()))
        raise typer.BadParameter(f"there is no code {word[:80]}; {hint or 'syncd explain all lists them'}") from None
    return [rule for code, rule in RULES.items() if code in codes]


def _explained(rule: Rule) -> list[str]:
    return [
        f"{rule.code} ({rule.severity})",
        *_wrapped(rule.meaning),
        *_wrapped(f"To mend it: {rule.mend}"),
        *_quiet(rule),
    ]


def _document(rule: Rule) -> dict[str, Any]:
    said = {"code": rule.code, "severity": rule.severity, "meaning": rule.meaning, "mend": rule.mend}
    return {**said, "ignore": _comment(rule) or None}


def _comment(rule: Rule) -> str:
    """The comment that silences one finding where it stands; "" where nothing does."""
    if rule.code in RULES:
        return f"<!-- syncd-check: ignore {rule.code} -->"
    return f"# syncd: ignore {rule.code}" if rule.severity != "error" or rule.code in MILD else ""


def _quiet(rule: Rule) -> list[str]:
    if not (comment := _comment(rule)):
        return []
    what = "a warning" if rule.code in MILD else "it"
    return [f"  To ignore {what}{'' if rule.code in RULES else ' on a line'}: {comment}"]


def _wrapped(text: str) -> list[str]:
    width = min(WIDTH, shutil.get_terminal_size((WIDTH, 0)).columns)
    return textwrap.wrap(text, width, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
