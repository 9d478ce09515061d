"""`explain`: what a code means and how to mend what it finds."""

import re
import textwrap
from collections.abc import Mapping

import typer

from syncd.layout.lint.near import Near, meant
from syncd.layout.lint.rules import RULES, Rule, matching
from syncd.layout.site.rules import MILD, SITE_RULES

WIDTH = 100
_FAMILY = re.compile(r"SY[0-9]{0,2}")
CATALOGUE: Mapping[str, Rule] = {**RULES, **SITE_RULES}
"""Every rule that any command has."""


def explain(word: str) -> None:
    """Given a code, the beginning of codes such as `link` or `SY3`, or `all`, print what the rules mean.

    Raises: BadParameter with the nearest code when there is none.
    """
    print("\n\n".join("\n".join(_explained(rule)) for rule in _named(word)))


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


def _quiet(rule: Rule) -> list[str]:
    """How one finding is silenced where it stands."""
    if rule.code in RULES:
        return [f"  To ignore it: <!-- syncd-check: ignore {rule.code} -->"]
    if rule.severity == "error" and rule.code not in MILD:
        return []
    what = "a warning" if rule.code in MILD else "it"
    return [f"  To ignore {what} on a line: # syncd: ignore {rule.code}"]


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
