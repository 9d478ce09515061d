"""What a person chooses for the pages in conflict: a side, hunks, answers on the terminal, or a text of their own."""

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence

import typer

from syncd.cli.sync.conflict_lines import CONTEXT, format_conflict, format_headline, format_hunk
from syncd.cli.terminal.text import print_error, print_text
from syncd.errors import Conflict
from syncd.plan.merge.hunks import TextPiece, has_markers, list_hunks, replace_hunks
from syncd.plan.merge.pages import Side
from syncd.sync.integrate.authors import view_hunks
from syncd.sync.integrate.drafts import read_choice, read_draft, write_draft
from syncd.sync.integrate.resolve import PageConflict
from syncd.sync.merge.result import Choice, OwnText
from syncd.sync.workspace import Workspace

ANSWERS = {"o": "[o]urs", "t": "[t]heirs", "e": "[e]dit", "s": "[s]kip", "q": "[q]uit"}
_SIDES: dict[str, Side] = {"ours": "ours", "o": "ours", "theirs": "theirs", "t": "theirs"}


def collect_choices(
    workspace: Workspace, conflicts: Sequence[PageConflict], way: str, hunks: Sequence[int]
) -> dict[str, Choice]:
    """Return what the person chooses for each page, by path; a page with open hunks has no choice yet.

    Shape: `way` is `ours`, `theirs`, `edit` or `interactive`; `hunks` are numbers of the one page, or none for pages as
    a whole. Hunks that are settled are kept in the page's draft.
    Raises: BadParameter, also for hunks of a page without lines to choose from; Conflict when an edited page still has
    markers, or no title.
    """
    if way == "interactive":
        return _ask_for_choices(workspace, conflicts)
    if way == "edit":
        return {conflict.path: _edit_page(workspace, conflict) for conflict in conflicts}
    side = _SIDES[way]
    if not hunks:
        return {conflict.path: side for conflict in conflicts}
    (conflict,) = conflicts
    _require_lines(conflict)
    parts = read_draft(workspace, conflict)
    open_numbers = {hunk.number: hunk.at(side) for hunk in list_hunks(parts) if hunk.number}
    missing = [str(number) for number in hunks if number not in open_numbers]
    if missing and list_hunks(parts):
        numbers = ", ".join(map(str, open_numbers)) or "none"
        raise typer.BadParameter(f"{conflict.path} has no open hunk {', '.join(missing)}; open: {numbers}")
    return _save_draft(
        workspace,
        conflict,
        replace_hunks(parts, {number: open_numbers[number] for number in open_numbers if number in hunks}),
    )


def _save_draft(workspace: Workspace, conflict: PageConflict, parts: Sequence[TextPiece]) -> dict[str, Choice]:
    """Save the settled hunks of a page; return its whole text by path when no hunk is open.

    Raises: as `read_choice`.
    """
    write_draft(workspace, conflict, parts)
    return {} if has_markers(parts, conflict.labels) else {conflict.path: read_choice(conflict, parts)}


def _ask_for_choices(workspace: Workspace, conflicts: Sequence[PageConflict]) -> dict[str, Choice]:
    """Ask on the terminal, hunk by hunk; each answer is saved at once."""
    choices: dict[str, Choice] = {}
    for conflict in conflicts:
        for number, lines in _list_questions(workspace, conflict):
            print_text("\n".join(lines))
            answer = _read_answer("otesq" if number else "otsq")
            if answer == "q":
                return choices
            if answer == "e":
                try:
                    choices[conflict.path] = _edit_page(workspace, conflict)
                except Conflict as refusal:  # the choices for other pages are recorded all the same
                    print_error(refusal.what, refusal.hint, refusal.exit_code, as_json=False)
                except typer.BadParameter as refusal:
                    print_error(refusal.message, "", refusal.exit_code, as_json=False)
                break
            if answer in _SIDES and number:
                parts = read_draft(workspace, conflict)
                chosen = {hunk.number: hunk.at(_SIDES[answer]) for hunk in list_hunks(parts) if hunk.number == number}
                choices |= _save_draft(workspace, conflict, replace_hunks(parts, chosen))
            elif answer in _SIDES:
                choices[conflict.path] = _SIDES[answer]
    return choices


def _list_questions(workspace: Workspace, conflict: PageConflict) -> Iterator[tuple[int, list[str]]]:
    """The open hunks of a page by number, each with its lines for people; 0 stands for a page without hunks."""
    if not conflict.parts:
        yield 0, format_conflict(workspace, conflict)
        return
    open_numbers = {hunk.number for hunk in list_hunks(read_draft(workspace, conflict))}
    views = view_hunks(workspace, conflict, context=CONTEXT)
    for view in views:
        if view.hunk.number in open_numbers:
            yield view.hunk.number, [format_headline(conflict), *format_hunk(conflict, view, len(views))]


def _read_answer(letters: str) -> str:
    """Ask until one of these letters is typed; the end of the input is `q`."""
    question = ", ".join(ANSWERS[letter] for letter in letters)
    while True:
        print(f"{question}? ", end="", flush=True)
        answer = sys.stdin.readline()
        if not answer or (len(answer.strip()) == 1 and answer.strip() in letters):
            print()
            return answer.strip() or "q"


def _require_lines(conflict: PageConflict) -> None:
    """Refuse a page of which nobody can choose line by line."""
    if not conflict.parts:
        raise typer.BadParameter(f"{conflict.path} has no lines to choose from: --ours or --theirs")


def _edit_page(workspace: Workspace, conflict: PageConflict) -> OwnText:
    """Let the person edit a page with markers, and return it.

    Raises: BadParameter where there are no lines, or no editor; Conflict when markers remain; as `read_choice`.
    """
    _require_lines(conflict)
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        way = f"EDITOR=vi syncd resolve {shlex.quote(conflict.path)} --edit"
        raise typer.BadParameter(f"--edit opens $VISUAL or $EDITOR, and neither is set: {way}")
    file = write_draft(workspace, conflict, read_draft(workspace, conflict))
    try:
        code = subprocess.run([*shlex.split(editor), str(file)], check=False).returncode
    except (OSError, ValueError) as error:
        raise typer.BadParameter(f"{editor} cannot be started: {error}") from error
    if code:
        raise Conflict(f"the editor ended with {code}; nothing was recorded", hint=f"your text is in {file}")
    parts = read_draft(workspace, conflict)
    if has_markers(parts, conflict.labels):
        raise Conflict(
            f"{conflict.path} still has markers; nothing was recorded",
            hint=f"your text is in {file}; syncd resolve {shlex.quote(conflict.path)} --edit opens it again",
        )
    return read_choice(conflict, parts)
