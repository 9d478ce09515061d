"""`config check`: print every problem of the configuration with its place and what mends it."""

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from syncd.cli.configuration.branches import find_branch_problems
from syncd.cli.configuration.problems import ConfigProblem, find_problems
from syncd.cli.terminal.context import find_config_file, require_config_file
from syncd.cli.terminal.output import print_document
from syncd.cli.terminal.text import escape, name_config, print_text, style_text
from syncd.config import ConfigFile
from syncd.config.finding import find_own_platform, is_platform_alone
from syncd.config.reading import read_document
from syncd.errors import ConfigInvalid
from syncd.model.wording import format_count


def run_config_check(config_file: Path | None, *, as_json: bool) -> int:
    """Print every problem of the configuration that applies here, and return the exit code; warnings are no failure.

    Shape: where none applies, it is the file that names the platform. Raises: ConfigInvalid when there is neither.
    """
    file = find_config_file(config_file)
    own = find_own_platform(os.environ) if file is None else None
    file = ConfigFile(own.path) if own is not None else require_config_file(config_file)
    found = [*find_problems(file, os.environ)]
    is_usable = all(problem.is_warning for problem in found)
    is_alone = is_usable and is_platform_alone(file, read_document(file.path), os.environ)
    if is_usable and not is_alone:
        found += find_branch_problems(file, os.environ)
    problems = sorted(found, key=lambda one: (one.line > 0, one.place, one.line, one.column))
    errors = sum(not problem.is_warning for problem in problems)
    code = ConfigInvalid.exit_code if errors else 0
    if as_json:
        print_document(
            {"file": str(file.path), "problems": [_build_document(one) for one in problems], "exit_code": code}
        )
        return code
    for problem in problems:
        print_text("\n".join(_format_problem(problem)))
    print_text(_format_summary(file, problems, is_alone=is_alone, named=str(config_file or "")))
    return code


def _format_problem(problem: ConfigProblem) -> Iterator[str]:
    word = style_text("warning:", 33, sys.stdout) if problem.is_warning else style_text("error:", 31, sys.stdout)
    place = f"{problem.place}:{problem.line}:{problem.column}" if problem.line else problem.place
    # A finding of another file has that file's keys, which its message names.
    is_own = problem.key and not problem.key.endswith(".site.file")
    key = f"{escape(problem.key)} - " if is_own else ""
    yield f"{escape(place)}{': ' if place else ''}{word} {key}{escape(problem.message)}"
    yield from (f"    {escape(line)}" for line in problem.hint.split("\n") if line)


def _format_summary(file: ConfigFile, problems: Sequence[ConfigProblem], *, is_alone: bool, named: str) -> str:
    errors = sum(not problem.is_warning for problem in problems)
    warnings = format_count(len(problems) - errors, "warning")
    if errors:
        more = f", {warnings}" if len(problems) > errors else ""
        return f"{format_count(errors, 'error')}{more}. Every key, with what it may hold: syncd schema config"
    more = f", with {warnings}" if problems else ""
    path = escape(str(file.path))
    if is_alone:
        return f"{path} is valid{more}. It names the platform for commands and configurations that name none."
    return f"{path} is valid{more}. What counts of it: {name_config('syncd config show --origin', named)}"


def _build_document(problem: ConfigProblem) -> dict[str, object]:
    document = asdict(problem)
    return document | {"severity": "warning" if document.pop("is_warning") else "error"}
