"""A person with secrets, a platform that they use, and a stranger who hears what is sent to them."""

import base64
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from syncd.cli.app import run
from tests.checkouts import plant
from tests.cli.conftest import Shell, shell
from tests.security.lies import Liar, serve_lies

__all__ = ["shell"]

SECRET = "canary-5e1f-secret"
"""Stands in every private file of the person, and in the variable for the token."""


@dataclass
class Stranger:
    """A host that nobody trusts; it asks for a password, and keeps every credential that it gets."""

    url: str = ""
    requests: list[str] = field(default_factory=list)
    credentials: list[str] = field(default_factory=list)


@pytest.fixture
def stranger() -> Iterator[Stranger]:
    stranger = Stranger()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            stranger.requests.append(self.path)
            scheme, _, value = self.headers.get("Authorization", "").partition(" ")
            if value:
                stranger.credentials.append(base64.b64decode(value).decode() if scheme == "Basic" else value)
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_POST = do_PATCH = do_PUT = do_GET

        def log_message(self, format: str, *arguments: object) -> None:
            """Nobody reads it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    stranger.url = f"http://127.0.0.1:{server.server_address[1]}"
    yield stranger
    server.shutdown()
    server.server_close()
    thread.join()


@dataclass
class Said:
    """What a command came to."""

    code: int
    out: str
    err: str


@dataclass
class Victim:
    """A person at a terminal, whose token is in the environment and whose home holds private files."""

    root: Path
    home: Path
    patch: pytest.MonkeyPatch
    capture: pytest.CaptureFixture[str]

    def syncd(self, *words: str, at: Path, environ: Mapping[str, str] | None = None) -> Said:
        with self.patch.context() as patch:
            for name, value in (environ or {}).items():
                patch.setenv(name, value)
            patch.chdir(at)
            code = run(list(words))
        out, err = self.capture.readouterr()
        assert SECRET not in out + err
        return Said(code, out, err)

    def git(self, *words: str, at: Path) -> str:
        done = subprocess.run(["git", *words], cwd=at, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def clone(self, files: Mapping[str, str], *, executable: tuple[str, ...] = ()) -> Path:
        """Return a clone of a repository that a stranger filled with these files."""
        theirs = plant(self.root / "theirs", files)
        for path in executable:
            (theirs / path).chmod(0o755)
        self.git("init", "--quiet", "--initial-branch=main", at=theirs)
        self.git("add", "--all", "--force", at=theirs)
        self.git("commit", "--quiet", "--message", "Begin", at=theirs)
        self.git("clone", "--quiet", str(theirs), "clone", at=self.root)
        return self.root / "clone"


@pytest.fixture
def victim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Victim:
    home = Path(os.environ["HOME"])
    plant(home, {".git-credentials": f"https://me:{SECRET}@git.example.org\n", ".token": f"{SECRET}\n"})
    for name in (".git-credentials", ".token"):
        (home / name).chmod(0o600)
    monkeypatch.setenv("SYNCD_TOKEN", SECRET)
    for name in ("GITHUB_ACTIONS", "GITLAB_CI", "CI"):
        monkeypatch.delenv(name, raising=False)
    return Victim(tmp_path, home, monkeypatch, capsys)


@pytest.fixture
def liar(shell: Shell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Liar]:
    """A platform that tells the truth until a test says otherwise."""
    with serve_lies(shell, monkeypatch, capsys) as found:
        yield found


Committed = Callable[..., str]


def configuration(
    *, url: str = "", platform: str = "", repository: str = "", space: str = "abc", more: str = ""
) -> str:
    """Return the text of a configuration with these values and lines."""
    top = f'[platform]\nurl = "{url}"\n{platform}\n' if url or platform else ""
    return f'{top}[[repository]]\n{repository}\n[[repository.space]]\nid = "{space}"\ndirectory = "docs"\n{more}'
