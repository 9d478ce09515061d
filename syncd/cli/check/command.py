"""`check`: lint the docs, offline: without platform, token or configuration."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack

import typer

from syncd.cli.check.excerpt import Source
from syncd.cli.check.findings import Found, Report, exit_code
from syncd.cli.check.report import FORMATS, write_report
from syncd.cli.check.sources import Asked, Checked, sources
from syncd.layout.lint.check import check, chosen
from syncd.layout.lint.finding import Finding
from syncd.layout.lint.near import Near, meant
from syncd.layout.lint.rules import RULES, matching
from syncd.model.wording import format_count


def run_check(asked: Asked, style: str, select: Sequence[str], ignore: Sequence[str], *, strict: bool) -> int:
    """Check every space that is asked for, print what was found, and return the exit code.

    Shapes: 65 when there are errors, with `strict` also when there are warnings.
    """
    if style not in FORMATS:
        raise typer.BadParameter(f"--format {style}: choose one of {', '.join(FORMATS)}")
    wanted, unwanted = _codes(select), _codes(ignore)
    with ExitStack() as held:
        spaces = sources(asked, held)
        found = [one for space in spaces for one in _found(space, wanted, unwanted)]
        code = exit_code(found, strict=strict)
        files = sum(len(space.items) for space in spaces)
        where = f"{format_count(files, 'file')} of {format_count(len(spaces), 'space')}"
        checked = {"spaces": len(spaces), "files": files}
        report = Report("check", found, code, RULES, where, f"Nothing to mend in {where}", ".", checked)
        write_report(report, style)
    return code


def _found(space: Checked, wanted: set[str], unwanted: set[str]) -> Iterator[Found]:
    texts = {path: Source(item.read) for path, item in space.items.items()}
    nothing = Source(bytes)
    for one in chosen(check(space.items), wanted, unwanted):
        if _is_asked_for(space, one):
            yield Found(space.top, _below(space.directory, one.path), one, texts.get(one.path, nothing))


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
