"""Results and plans as people and programs read them; text from outside is escaped before a terminal gets it."""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syncd.cli.terminal.text import (
    FORMAT_VERSION,
    escape,
    format_json,
    name_config_in_hint,
    print_error,
    style_text,
)
from syncd.cli.terminal.verbosity import is_verbose
from syncd.daemon.health import combine_codes
from syncd.errors import RateLimited, Stopped, SyncdError, Unreachable
from syncd.plan.change import Change, Verb
from syncd.sync.outcome import Applied, Held, Outcome, Waiting, describe_outcome

if TYPE_CHECKING:
    from syncd.sync.run.values import Result

SIGNS = {"create": "+", "update": "~", "move": ">", "adopt": "=", "delete": "-", "report": "!"}
COLOURS = {"create": 32, "update": 33, "move": 34, "adopt": 36, "delete": 31, "report": 35}
IN_STEP = "Everything is in step."
CHANGES_SHOWN = 20
"""Up to so many changes of a flow are printed one by one; of more, pages and files are counted. `--json` has all."""
COUNTED_NOUNS = {"page", "file", "include"}


def print_document(document: Mapping[str, Any]) -> None:
    """Print a JSON document, with the version of the format."""
    print(format_json({"format_version": FORMAT_VERSION, **document}))


class RepositoryFailures:
    """Why repositories of a configuration cannot be read, of which others can be.

    Shape: `broken` is what is wrong with drop-ins, which was printed when the configuration was loaded.
    """

    def __init__(self, broken: Mapping[Path, SyncdError], *, as_json: bool) -> None:
        self.errors: list[SyncdError] = []
        self._codes = [error.exit_code for error in broken.values()]
        self._as_json = as_json

    @contextmanager
    def catch(self) -> Iterator[None]:
        """Keep the error of one repository, so that the others have their turn.

        Raises: Stopped, Unreachable, RateLimited: of these, no other would fare better.
        """
        try:
            yield
        except (Stopped, Unreachable, RateLimited):
            raise
        except SyncdError as error:
            self.errors.append(error)

    def finish(self, codes: Sequence[int]) -> int:
        """Print the errors below what was printed of the others, whose codes are given; return the exit code of all.

        Raises: the only error, where no repository could be read.
        """
        if len(self.errors) == 1 and not codes and not self._codes:
            raise self.errors[0]
        for error in self.errors:
            print_error(error.what, error.hint, error.exit_code, as_json=self._as_json)
        return combine_codes([*codes, *self._codes, *(error.exit_code for error in self.errors)])


def name_config_in_hints(results: "Sequence[Result]", config: Path | None) -> "list[Result]":
    """Return results whose hints name commands with the configuration that the command line named."""
    return [
        replace(result, outcome=replace(result.outcome, hint=name_config_in_hint(result.outcome.hint, config)))
        if isinstance(result.outcome, Held | Waiting)
        else result
        for result in results
    ]


def format_changes(changes: Iterable[Change], *, shown: int = CHANGES_SHOWN) -> list[str]:
    """Return a line for each change, or one for each kind when there are many and nobody asked for all (`-v`).

    Each line has a sign that says the same as its colour, for terminals without colour.
    """
    listed = list(changes)
    is_short = is_verbose() or len(listed) <= shown
    lines = []
    for change in listed if is_short else [c for c in listed if c.noun not in COUNTED_NOUNS]:
        sign = _format_verb(change.verb)
        note = f"  ({escape(change.message)})" if change.message else ""
        where = f"  {escape(change.where)}" if change.where else ""
        lines.append(f"  {sign} {change.noun} {escape(change.key)}{note}{where}")
    kinds = Counter((change.verb, change.noun) for change in listed if change.noun in COUNTED_NOUNS)
    if not is_short:
        lines += [f"  {_format_verb(verb)} {count} {noun}s" for (verb, noun), count in kinds.items()]
    return lines


def _format_verb(verb: Verb) -> str:
    return style_text(f"{SIGNS[verb]} {verb:<6}", COLOURS[verb], sys.stdout)


def format_results(results: "Sequence[Result]", *, idle: Sequence[str] = (IN_STEP,)) -> list[str]:
    """Return the results of a run as lines for people: problems first, then what was done.

    Shape: `idle` are the lines for a run in which no flow had anything to do.
    """
    failed = [result for result in results if result.outcome.exit_code]
    applied = [result for result in results if isinstance(result.outcome, Applied)]
    waiting = [result for result in results if isinstance(result.outcome, Waiting) and not result.outcome.exit_code]
    lines: list[str] = []
    for result in (*failed, *waiting):
        lines += _format_problem(result)
    for result in applied:
        assert isinstance(result.outcome, Applied)
        lines.append(f"{style_text(result.flow, 1, sys.stdout)} {escape(result.key)}")
        lines += format_changes(result.outcome.changes)
        lines += [f"  {style_text('note:', 33, sys.stdout)} {escape(note)}" for note in result.outcome.notes]
    return lines or list(idle)


def _format_problem(result: "Result") -> list[str]:
    outcome = result.outcome
    assert isinstance(outcome, Held | Waiting)
    word = "held" if isinstance(outcome, Held) else "waiting"
    subject = f"{result.flow} {escape(result.key)}".rstrip()
    lines = [f"{style_text(f'! {subject} {word}:', 31, sys.stdout)} {escape(outcome.why)}"]
    return lines + [f"    {escape(line)}" for line in outcome.hint.split("\n") if line]


def build_result_document(result: "Result") -> dict[str, Any]:
    """Return the JSON object of a result."""
    state, _ = describe_outcome(result.outcome)
    document: dict[str, Any] = {"flow": result.flow, "key": result.key, "state": state, **_build_facts(result.outcome)}
    return document | {"exit_code": result.outcome.exit_code}


def _build_facts(outcome: Outcome) -> dict[str, Any]:
    match outcome:
        case Applied():
            return {
                "changes": [build_change_document(change) for change in outcome.changes],
                "notes": list(outcome.notes),
            }
        case Held():
            return {"why": outcome.why, "hint": outcome.hint, "paths": list(outcome.paths)}
        case Waiting():
            return {"why": outcome.why, "hint": outcome.hint, "until": outcome.until}
        case _:
            return {}


def build_change_document(change: Change) -> dict[str, Any]:
    """Return the JSON object of a change."""
    document = {"verb": change.verb, "noun": change.noun, "key": change.key, "message": change.message}
    return document | {"before": change.before, "after": change.after, "where": change.where}
