"""Questions to a person: asked only where there is one, else everything that is missing is named at once."""

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import typer

from syncd.cli.terminal.text import print_text
from syncd.errors import SyncdError

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class MissingAnswer:
    """What a command needs to know, and how it is said on the command line."""

    what: str
    ways: str


def can_ask() -> bool:
    """Return whether a person reads what is printed and can answer: no pipe, no CI job."""
    return sys.stdin.isatty() and sys.stderr.isatty() and not os.environ.get("CI")


def refuse_missing(missing: Sequence[MissingAnswer]) -> None:
    """Raise BadParameter that names all that is missing, and how to say it; return when nothing is."""
    if missing:
        named = "; ".join(f"{one.what}: {one.ways}" for one in missing)
        raise typer.BadParameter(f"nobody is here to ask, so name what is missing: {named}")


def ask_text(question: str, check: Callable[[str], Answer], *, default: str | None = None) -> Answer:
    """Return what a check makes of an answer; while it raises an error, that is printed and the question asked again.

    Raises: Abort when the person leaves.
    """

    def check_answer(text: str) -> Answer:
        try:
            return check(text.strip())
        except SyncdError as error:
            raise typer.BadParameter(error.what) from error

    answer: Answer = typer.prompt(question, default=default, value_proc=check_answer, err=True)
    return answer


def ask_yes(question: str) -> bool:
    """Return whether a person says yes, which is the default."""
    return typer.confirm(question, default=True, err=True)


def say(text: str) -> None:
    """Print what belongs to a question, beside the results, which go to standard output."""
    print_text(text, sys.stderr)
