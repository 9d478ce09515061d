"""A platform that lies: the embedded one, with its answers changed on their way."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from syncd.cli.app import run
from tests.cli.conftest import Shell
from tests.faults.conftest import Proxy, Reply, Seen

Lie = Callable[[str, Any], Any]
"""Given the path that was asked for, without the query, and an answer, what is answered instead."""


def told_as_it_is(path: str, answer: Any) -> Any:
    return answer


@dataclass
class Liar:
    """The embedded platform behind what changes its answers, and a person who types commands."""

    shell: Shell
    patch: pytest.MonkeyPatch
    capture: pytest.CaptureFixture[str]
    lie: Lie = told_as_it_is
    proxy: Proxy = field(default_factory=Proxy)

    def act(self, seen: Seen, send: Callable[[], Reply]) -> Reply:
        reply = send()
        if not any(name.lower() == "content-type" and "json" in value for name, value in reply.headers):
            return reply
        answer = self.lie(seen.path.partition("?")[0].removeprefix("/v1/"), json.loads(reply.body))
        return replace(reply, body=json.dumps(answer).encode())

    def clone(self, name: str = "docs") -> "Came":
        place = str(self.shell.root / name)
        words = ("clone", f"{self.proxy.url}/v1", self.shell.space, place, "--token-file", str(self.shell.token))
        return self.type(*words, at=self.shell.root)

    def type(self, *words: str, at: Path) -> "Came":
        """Type a command in a directory."""
        self.patch.chdir(at)
        self.capture.readouterr()
        return Came(run(list(words)), *self.capture.readouterr())


@dataclass(frozen=True)
class Came:
    """What a command came to."""

    code: int
    out: str
    err: str


@contextmanager
def serve_lies(shell: Shell, patch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str]) -> Iterator[Liar]:
    """Given a served platform, answer for it."""
    liar = Liar(shell, patch, capture)
    liar.proxy.upstream = shell.url.removesuffix("/v1")
    liar.proxy.reset(liar.act)
    try:
        yield liar
    finally:
        liar.proxy.close()
