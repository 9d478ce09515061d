"""What a command says on stderr while it waits for the platform."""

import json
import os
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from syncd.cli.terminal.progress import WaitPrinter
from syncd.cli.terminal.verbosity import set_verbosity
from tests.answering import AnsweringServer
from tests.forked import run_forked

LIMIT = "the platform's rate limit (GET /user)"
USER = json.dumps({"object": "user", "id": "u1", "displayName": "Ada"}).encode()


@pytest.fixture
def limited(tmp_path: Path) -> Iterator[Callable[..., tuple[int, str, str]]]:
    """Runs `syncd api` on a platform that refuses each first request, and asks to wait."""
    asked: list[str] = []

    def answer(request: BaseHTTPRequestHandler) -> None:
        asked.append(request.path)
        request.send_response(429 if len(asked) % 2 else 200)
        if len(asked) % 2:
            request.send_header("Retry-After", "2.5")
        body = b"" if len(asked) % 2 else USER
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)
        request.wfile.flush()

    token = tmp_path / "token"
    token.write_text("secret")
    token.chmod(0o600)
    server = AnsweringServer(answer)

    def run(*words: str) -> tuple[int, str, str]:
        at = ["--url", server.url, "--token-file", str(token)]
        done = run_forked([*words, "api", "GET", "/user", *at], cwd=tmp_path, environ=os.environ)
        return done.returncode, done.stdout, done.stderr

    yield run
    server.close()


def test_a_wait_for_the_rate_limit_is_told_on_stderr_alone(limited: Callable[..., tuple[int, str, str]]) -> None:
    code, out, err = limited()
    assert (code, json.loads(out)["id"]) == (0, "u1")
    assert err == f"waiting 2 s for {LIMIT}\n"
    assert limited("-q")[2] == "", "nothing is wrong"


def test_waits_of_many_threads_are_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    now = 1000.0
    printer = WaitPrinter(lambda: now)
    for reason, seconds in [("a", 1.9), ("b", 5.0), ("c", 5.0), ("d", 60.0), ("e", 59.0)]:
        printer.print(reason, seconds)
    assert capsys.readouterr().err == "waiting 5 s for b\nwaiting 60 s for d\n"
    now += 70
    printer.print("f\n", 9.6)
    assert capsys.readouterr().err == "waiting 10 s for f\\u000a\n"


def test_a_quiet_command_tells_no_wait(capsys: pytest.CaptureFixture[str]) -> None:
    set_verbosity("quiet")
    try:
        WaitPrinter().print("a", 60.0)
    finally:
        set_verbosity("normal")
    assert capsys.readouterr().err == ""
