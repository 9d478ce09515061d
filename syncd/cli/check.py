"""`check`: lint the docs, offline: without platform, token or configuration."""

from collections.abc import Sequence
from contextlib import ExitStack

import typer

from syncd.cli.check_report import FORMATS, Report, write_report
from syncd.cli.check_sources import Asked, Checked, sources
from syncd.errors import FileInvalid
from syncd.layout.lint.check import check, chosen
from syncd.layout.lint.finding import Finding
from syncd.layout.lint.near import Near, meant
from syncd.layout.lint.rules import RULES, Rule, matching


def run_check(asked: Asked, style: str, select: Sequence[str], ignore: Sequence[str], *, strict: bool) -> int:
    """Check every space that is asked for, print what was found, and return the exit code.

    Shapes: 65 when there are errors, with `strict` also when there are warnings.
    """
    if style not in FORMATS:
        raise typer.BadParameter(f"--format {style}: choose one of {', '.join(FORMATS)}")
    wanted, unwanted = _codes(select), _codes(ignore)
    with ExitStack() as held:
        spaces = sources(asked, held)
        found = [
            (space.top, _below(space.directory, one.path), one)
            for space in spaces
            for one in chosen(check(space.items), wanted, unwanted)
            if _is_asked_for(space, one)
        ]
        failing = {"error", "warning"} if strict else {"error"}
        code = FileInvalid.exit_code if any(one.severity in failing for _, _, one in found) else 0
        write_report(Report(found, len(spaces), sum(len(space.items) for space in spaces), code), style)
    return code


def explain(code: str) -> None:
    """Given a code, a first word of codes, or `all`, print what the rules mean and how to mend what they find."""
    rules = [RULES[name] for name in RULES if code == "all" or name in _codes([code])]
    print("\n\n".join("\n".join(_explained(rule)) for rule in rules))


def _explained(rule: Rule) -> list[str]:
    return [f"{rule.code} ({rule.severity})", f"  {rule.meaning}", f"  To mend it: {rule.mend}"]


def _codes(words: Sequence[str]) -> set[str]:
    names = [name for word in words for name in word.replace(",", " ").split()]
    try:
        return matching(names)
    except KeyError as error:
        hint = meant(Near(RULES).to(error.args[0]))
        raise typer.BadParameter(f"there is no code {error.args[0]}{f'; {hint}' if hint else ''}") from None


def _below(directory: str, path: str) -> str:
    return f"{directory}/{path}" if directory else path


def _is_asked_for(space: Checked, one: Finding) -> bool:
    return not space.part or one.path == space.part or one.path.startswith(f"{space.part}/")
