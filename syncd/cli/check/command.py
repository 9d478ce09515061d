"""`check`: lint the docs, offline: without platform, token or configuration."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial

import typer

from syncd.cli.check.excerpt import SourceText
from syncd.cli.check.findings import LocatedFinding, Report, choose_exit_code
from syncd.cli.check.other_spaces import find_page_address
from syncd.cli.check.report import FORMATS, write_report
from syncd.cli.check.sources import CheckOptions, find_spaces
from syncd.layout.lint.check import check_space, select_findings
from syncd.layout.lint.finding import Finding
from syncd.layout.lint.rules import RULES, find_codes
from syncd.layout.lint.space import FindAddress
from syncd.layout.lint.suggestions import NearMisses, format_suggestion
from syncd.model.wording import format_count
from syncd.sync.publish.source import SpaceFiles


def run_check(options: CheckOptions, style: str, select: Sequence[str], ignore: Sequence[str], *, strict: bool) -> int:
    """Check the selected spaces, print the findings in the format `style`, and return the exit code.

    The exit code is 65 when there are errors, with `strict` also when there are warnings.
    Raises: BadParameter; ConfigInvalid when a path or commit does not exist.
    """
    if style not in FORMATS:
        raise typer.BadParameter(f"--format {style}: choose one of {', '.join(FORMATS)}")
    selected, ignored = _parse_codes(select), _parse_codes(ignore)
    with ExitStack() as stack:
        spaces = find_spaces(options, stack)
        findings = [
            finding
            for space in spaces
            for finding in _check_space(space, partial(find_page_address, spaces, space), selected, ignored)
        ]
        code = choose_exit_code(findings, strict=strict)
        files = sum(len(space.items) for space in spaces)
        where = f"{format_count(files, 'file')} of {format_count(len(spaces), 'space')}"
        checked = {"spaces": len(spaces), "files": files}
        report = Report("check", findings, code, RULES, where, f"Nothing to mend in {where}", ".", checked)
        write_report(report, style)
    return code


def _check_space(
    space: SpaceFiles, find_address: FindAddress, selected: set[str], ignored: set[str]
) -> Iterator[LocatedFinding]:
    texts = {path: SourceText(item.read) for path, item in space.items.items()}
    empty = SourceText(bytes)
    for finding in select_findings(check_space(space.items, find_address=find_address), selected, ignored):
        if _is_selected(space, finding):
            path = f"{space.directory}/{finding.path}" if space.directory else finding.path
            yield LocatedFinding(space.top, path, finding, texts.get(finding.path, empty))


def _parse_codes(words: Sequence[str]) -> set[str]:
    names = [name for word in words for name in word.replace(",", " ").split()]
    try:
        return find_codes(names)
    except KeyError as error:
        hint = format_suggestion(NearMisses(RULES).find(error.args[0]))
        raise typer.BadParameter(f"there is no code {error.args[0]}{f'; {hint}' if hint else ''}") from None


def _is_selected(space: SpaceFiles, finding: Finding) -> bool:
    return not space.part or finding.path == space.part or finding.path.startswith(f"{space.part}/")
