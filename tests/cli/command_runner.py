"""Run a command in this process, in a directory of its own, and return its output."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from syncd.cli.app import run


@dataclass
class CommandResult:
    """The exit code of a command, and what it printed."""

    code: int
    out: str
    err: str


CommandRunner = Callable[..., CommandResult]


def make_runner(
    command: str, at: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> CommandRunner:
    """Return a function that runs a command with further words in a directory."""
    monkeypatch.chdir(at)

    def run_words(*words: str) -> CommandResult:
        code = run([*command.split(), *words])
        printed = capsys.readouterr()
        return CommandResult(code, printed.out, printed.err)

    return run_words
