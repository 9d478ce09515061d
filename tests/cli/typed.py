"""A command that is typed in this process, in an empty directory, and what it says."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from syncd.cli.app import run


@dataclass
class Typed:
    """What a command came to."""

    code: int
    out: str
    err: str


Type = Callable[..., Typed]


def typing(command: str, at: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Type:
    """Given a command and the directory to be in, return what types it with further words."""
    monkeypatch.chdir(at)

    def typed(*words: str) -> Typed:
        code = run([*command.split(), *words])
        said = capsys.readouterr()
        return Typed(code, said.out, said.err)

    return typed
