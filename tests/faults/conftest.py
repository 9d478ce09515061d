"""A platform behind a proxy that obeys, a writer's clone, and a syncd that can be killed at any step of its run."""

import http.client
import http.server
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from syncd.api.client import Client
from syncd.config import ConfigFile, trust_document
from syncd.config.finding import read_valid
from syncd.model.change_request import ChangeRequest
from syncd.model.page import walk_pages
from syncd.platform.server import BackgroundServer
from syncd.platform.services.directory.read import import_directory
from syncd.platform.storage.storage import Storage
from syncd.store.store import Store
from tests.answering import AnsweringServer
from tests.checkouts import plant
from tests.storages import new_storage

ID = re.compile(r"\b[0-9a-f]{8,40}\b|(?<= )[=+!-][A-Za-z0-9_-]*(?: @[A-Za-z0-9_-]+)?(?= \()")
HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length"}
PAGES: Mapping[str, str | bytes] = {
    "README.md": "# Home\n\nWelcome. See [setup](guide/setup.md).\n",
    "SUMMARY.md": (
        "# Table of contents\n\n* [Home](README.md)\n* [Guide](guide/README.md)\n  * [Setup](guide/setup.md)\n"
        "  * [Usage](guide/usage.md)\n\n## Reference\n\n* [Options](options.md)\n* [Errors](errors.md)\n"
        "* [Notes](notes.md)\n"
    ),
    "guide/README.md": "# Guide\n\nStart here.\n",
    "guide/setup.md": "---\ndescription: How to set up\n---\n\n# Setup\n\nOne.\n\nTwo.\n\nThree.\n",
    "guide/usage.md": "# Usage\n\n![A picture](../.gitbook/assets/picture.png)\n",
    "options.md": "# Options\n\n* first\n* second\n",
    "errors.md": "# Errors\n\nWhat they mean.\n",
    "notes.md": "# Notes\n\nNothing yet.\n",
    ".gitbook/assets/picture.png": b"\x89PNG\r\n\x1a\n not quite a picture",
}
ENVIRON = {
    "PATH": os.environ["PATH"],
    "PYTHONPATH": str(Path(__file__).parents[2]),
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{role}_{part}": f"writer@{part}" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")},
}


@dataclass(frozen=True)
class Seen:
    """A request on its way: its number (from 1), method, and path with query."""

    number: int
    method: str
    path: str

    @property
    def is_write(self) -> bool:
        return self.method != "GET"


@dataclass(frozen=True)
class Reply:
    """An answer; `promised` is the length that its header tells, when that is not the body's."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    promised: int | None = None


Act = Callable[[Seen, Callable[[], Reply]], Reply | None]
"""What a proxy does with a request: forward it or not, and answer, or break the connection (None)."""


def forward(seen: Seen, send: Callable[[], Reply]) -> Reply | None:
    return send()


class Proxy:
    """Relays each request to `upstream` as `act` says; its own address never changes."""

    def __init__(self) -> None:
        self.upstream = ""
        self.act: Act = forward
        self.seen: list[Seen] = []
        self._lock = threading.Lock()
        self._server = AnsweringServer(self.relay)

    @property
    def url(self) -> str:
        return self._server.url

    def close(self) -> None:
        self._server.close()

    def reset(self, act: Act = forward) -> None:
        with self._lock:
            self.act, self.seen = act, []

    def relay(self, handler: http.server.BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        with self._lock:
            seen = Seen(len(self.seen) + 1, handler.command, handler.path)
            self.seen.append(seen)
            act = self.act
        reply = act(seen, lambda: self._sent(handler, body))
        if reply is None:
            handler.close_connection = True
            return
        handler.send_response_only(reply.status)
        for name, value in reply.headers:
            handler.send_header(name, value)
        length = len(reply.body) if reply.promised is None else reply.promised
        handler.send_header("Content-Length", str(length))
        handler.end_headers()
        handler.wfile.write(reply.body)
        handler.wfile.flush()
        handler.close_connection = handler.close_connection or length != len(reply.body)

    def _sent(self, handler: http.server.BaseHTTPRequestHandler, body: bytes) -> Reply:
        connection = http.client.HTTPConnection(self.upstream.removeprefix("http://"), timeout=60)
        try:
            headers = {name: value for name, value in handler.headers.items() if name.lower() not in HOP_BY_HOP}
            connection.request(handler.command, handler.path, body or None, headers)
            answer = connection.getresponse()
            kept = tuple((name, value) for name, value in answer.getheaders() if name.lower() not in HOP_BY_HOP)
            return Reply(answer.status, kept, answer.read())
        finally:
            connection.close()


@dataclass
class Running:
    """A syncd that was started; `wait` returns its exit code (negative: the signal that ended it)."""

    pid: int
    output: Path
    _await: Callable[[], tuple[int, int]]
    steps: int = 0
    code: int | None = None

    def wait(self) -> int:
        if self.code is None:
            self.code, self.steps = self._await()
        return self.code

    def kill(self, *, whole: bool) -> None:
        """SIGKILL to the process group; with `whole`, to the whole session, git's processes included."""
        if whole:
            for pid in filter(str.isdecimal, os.listdir("/proc")):
                _kill_member(int(pid), self.pid)
        with _gone():
            os.killpg(self.pid, 9)

    @property
    def text(self) -> str:
        return self.output.read_text(errors="replace")


@contextmanager
def _gone() -> Iterator[None]:
    try:
        yield
    except ProcessLookupError:
        return


def _kill_member(pid: int, session: int) -> None:
    with _gone():
        if pid != session and os.getsid(pid) == session:
            os.kill(pid, 9)


class Zygote:
    """Starts syncd in a fork of a process that has it loaded."""

    def __init__(self, directory: Path) -> None:
        self._address = str(directory / "zygote")
        script = Path(__file__).with_name("zygote.py")
        self._process = subprocess.Popen(
            [sys.executable, script, self._address], stdout=subprocess.PIPE, text=True, env=ENVIRON
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "ready\n"

    def close(self) -> None:
        with self._process:
            self._process.kill()

    def start(
        self, words: Sequence[str], cwd: Path, output: Path, environ: Mapping[str, str], **stop: object
    ) -> Running:
        asked = {"argv": words, "cwd": str(cwd), "output": str(output), "environ": dict(environ), **stop}
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(self._address)
        lines = connection.makefile("rw")
        print(json.dumps(asked), file=lines, flush=True)
        pid = int(lines.readline())

        def end() -> tuple[int, int]:
            with connection, lines:
                code, steps = lines.readline().split()
                return int(code), int(steps)

        return Running(pid, output, end)


def trust_copy(root: Path) -> None:
    """Trust a clone that was copied, as the person does whose home this is: what is trusted is so at one path."""
    file = ConfigFile(root / "clone" / ".git" / "syncd.toml", "git directory")
    if file.path.exists():
        trust_document(file, read_valid(file), {"HOME": str(root)}, at="2025-01-01T00:00:00Z")


@dataclass
class Stage:
    """A served platform and a clone of its one space, in a directory of their own."""

    root: Path
    storage: Storage
    proxy: Proxy
    zygote: Zygote
    url: str
    space: str
    _runs: int = 0

    @property
    def clone(self) -> Path:
        return self.root / "clone"

    @property
    def token(self) -> Path:
        return self.root / "platform" / "token"

    def start(
        self,
        *words: str,
        stop_at: int = 0,
        after: str = "",
        point: str = "",
        whole: bool = True,
        gate: Path | None = None,
    ) -> Running:
        """Start syncd, to be stopped at a step, after a function, or at a fault point (`zygote.py`)."""
        self._runs += 1
        output = self.root / f"output-{self._runs}"
        environ = {**ENVIRON, "HOME": str(self.root)}
        cwd = self.clone if self.clone.is_dir() and words[0] != "clone" else self.root
        stop = {"stop_at": stop_at, "after": after, "point": point, "whole": whole, "gate": str(gate or "")}
        return self.zygote.start(words, cwd, output, environ, **stop)

    def syncd(self, *words: str) -> Running:
        running = self.start(*words)
        running.wait()
        return running

    def fine(self, *words: str) -> str:
        done = self.syncd(*words)
        assert done.code == 0, done.text
        return done.text

    def clone_words(self) -> tuple[str, ...]:
        return ("clone", self.proxy.url, self.space, str(self.clone), "--token-file", str(self.token))

    def git(self, *words: str, check: bool = True) -> str:
        done = subprocess.run(
            ["git", *words], cwd=self.clone, env={**ENVIRON, "HOME": str(self.root)}, capture_output=True, check=False
        )
        assert not check or done.returncode == 0, done.stderr.decode(errors="replace")
        return done.stdout.decode(errors="surrogateescape")

    def write(self, files: Mapping[str, str | bytes], gone: Sequence[str] = ()) -> None:
        plant(self.clone, files)
        for path in gone:
            (self.clone / path).unlink()

    def commit(self, message: str, files: Mapping[str, str | bytes], gone: Sequence[str] = ()) -> None:
        self.write(files, gone)
        self.git("add", "--all", "--", *files, *gone)
        self.git("commit", "--quiet", "--message", message)

    def revise(self, files: Mapping[str, str | bytes | None]) -> str:
        """Main content changes on the platform: a whole directory is imported; return the revision's id."""
        directory = self.root / "elsewhere"
        shutil.rmtree(directory, ignore_errors=True)
        whole = {**PAGES, **files}
        plant(directory, {path: text for path, text in whole.items() if text is not None})
        return str(import_directory(self.storage, directory, title=None, space=self.space).revision)

    @contextmanager
    def client(self) -> Iterator[Client]:
        """Past the proxy, straight to the platform."""
        with Client(self.url, self.token.read_text().strip()) as client:
            yield client

    def state(self) -> dict[str, Any]:
        """All that a run may change, in words that two runs of the same thing share."""
        return {**self._in_git(), **self._on_platform()}

    def _in_git(self) -> dict[str, Any]:
        refs = self.git("for-each-ref", "--format=%(refname) %(tree)").splitlines()
        files = {
            str(path.relative_to(self.clone)): path.read_bytes()
            for path in sorted(self.clone.rglob("*"))
            if path.is_file() and ".git" not in path.relative_to(self.clone).parts[:1]
        }
        mirrored = "%s %(trailers:key=Syncd-Revision,valueonly,separator=%x2C)"
        return {
            "refs": refs,
            "owned": self._owned(),
            "head": self.git("symbolic-ref", "HEAD"),
            "status": self.git("status", "--porcelain"),
            "files": files,
            "main": self.git("log", "--first-parent", "--format=%s", "main").splitlines(),
            "mirror": self.git("log", "--first-parent", f"--format={mirrored}", "platform/main").splitlines(),
        }

    def _owned(self) -> list[str]:
        """The sources of redirects that are there and that syncd calls its own."""
        state = self.clone / ".git" / "syncd" / "state.db"
        if not state.is_file():
            return []
        with Store(state) as store, self.client() as client:
            organization = client.spaces.get(self.space).organization or ""
            sites = [site.id for site in client.sites.list(organization)]
            owned = {
                json.loads(entry)["id"] for id in sites for entry in store.ownership.read_entries(id).values() if entry
            }
            there = [one for id in sites for one in client.redirects.list(organization, id)]
        return sorted(redirect.source for redirect in there if redirect.id in owned)

    def _on_platform(self) -> dict[str, Any]:
        with self.client() as client:
            requests = [
                request
                for status in ("draft", "open", "archived", "merged")
                for request in client.change_requests.list(self.space, status)
            ]
            return {
                "change requests": [_said(request) for request in requests],
                "proposed": [proposed(client, self.space, r.id) for r in requests if r.is_live],
                "redirects": sorted(self._redirects(client), key=str),
            }

    def _redirects(self, client: Client) -> Iterator[tuple[str, object]]:
        organization = client.spaces.get(self.space).organization or ""
        for site in client.sites.list(organization):
            for redirect in client.redirects.list(organization, site.id):
                yield redirect.source, redirect.destination

    def wounds(self) -> list[str]:
        """What must never be found after a run that went well."""
        found = [str(path) for path in (self.clone / ".git").rglob("*.lock") if path.parent.name != "syncd"]
        found += [str(path) for path in (self.clone / ".git" / "syncd" / "locks").iterdir()]
        found += [str(path) for path in (self.clone / ".git" / "syncd").glob("moving.*")]
        lines = self.git("fsck", "--strict", "--no-progress", "--no-dangling", check=False).splitlines()
        return found + lines


def _said(request: ChangeRequest) -> tuple[int, str, str, str]:
    """What a change request says; the subject's marker and the commits' ids differ from run to run."""
    text = request.description.text() if request.description is not None else ""
    return request.number, request.status, request.subject.split(" [")[0], ID.sub("", text)


def proposed(client: Client, space: str, request: str) -> tuple[Any, ...]:
    """Given a change request, return its pages (path, title, Markdown) and the names of its files."""
    revision = client.change_request_content.get(space, request)
    pages = [page for page, _ in walk_pages(revision.pages)]
    documents = [page.id for page in pages if page.type == "document"]
    texts = [client.change_request_content.get_page(space, request, page).markdown or "" for page in documents]
    shape = [(page.path, page.title, page.type) for page in pages]
    files = {file.id: file.name for file in revision.files}
    names = files | {page.id: page.path or "" for page in pages}
    return tuple(shape), tuple(_named(text, names) for text in texts), tuple(sorted(files.values()))


def _named(text: str, names: Mapping[str, str]) -> str:
    for id, name in names.items():
        text = text.replace(id, name)
    return text


@dataclass(frozen=True)
class Scene:
    """A platform and a clone at rest, to be copied; `words` is the command that comes next, `state` its outcome."""

    root: Path
    space: str
    words: tuple[str, ...]
    state: dict[str, Any]
    requests: tuple[Seen, ...]
    steps: int
    seconds: float


@dataclass
class Theatre:
    """Prepares scenes once, and plays each as often as asked, always from the same beginning."""

    root: Path
    proxy: Proxy
    zygote: Zygote
    _scenes: dict[Callable[[Stage], tuple[str, ...]], Scene] = field(default_factory=dict)
    _played: int = 0

    @contextmanager
    def served(self, root: Path, space: str = "") -> Iterator[Stage]:
        with (Storage if space else new_storage)(root / "platform") as storage:
            storage.bootstrap()
            space = space or import_directory(storage, plant(root / "source", PAGES), title="Docs", space=None).space
            with BackgroundServer(storage) as url:
                self.proxy.upstream = url
                self.proxy.reset()
                yield Stage(root, storage, self.proxy, self.zygote, url, space)

    @contextmanager
    def fresh(self) -> Iterator[Stage]:
        """A platform with one space and no clone."""
        with self.served(self._room()) as stage:
            yield stage

    def scene(self, prepare: Callable[[Stage], tuple[str, ...]]) -> Scene:
        """Given what sets a stage and names the next command, return the scene, with an undisturbed run's end."""
        if prepare not in self._scenes:
            self._scenes[prepare] = self._rehearsed(prepare)
        return self._scenes[prepare]

    @contextmanager
    def play(self, scene: Scene) -> Iterator[Stage]:
        root = self._room()
        shutil.copytree(scene.root, root, dirs_exist_ok=True)
        trust_copy(root)
        try:
            with self.served(root, scene.space) as stage:
                if (stage.clone / ".git" / "syncd.toml").is_file():
                    stage.fine("trust", "--yes")  # which is for one place, and this is a copy at another
                yield stage
        finally:
            shutil.rmtree(root)

    reply = Reply

    def words(self, scene: Scene, stage: Stage) -> tuple[str, ...]:
        """The command, told where this copy of the scene is."""
        return tuple(word.replace(str(scene.root), str(stage.root)) for word in scene.words)

    def _rehearsed(self, prepare: Callable[[Stage], tuple[str, ...]]) -> Scene:
        root = self._room()
        with self.served(root) as stage:
            words = prepare(stage)
        scene = Scene(root, stage.space, words, {}, (), 0, 0.0)
        with self.play(scene) as stage:
            start = time.monotonic()
            done = stage.syncd(*self.words(scene, stage))
            seconds = time.monotonic() - start
            assert done.code == 0, done.text
            assert stage.wounds() == []
            return Scene(root, stage.space, words, stage.state(), tuple(self.proxy.seen), done.steps, seconds)

    def _room(self) -> Path:
        self._played += 1
        room = self.root / f"scene-{self._played}"
        room.mkdir()
        return room


@pytest.fixture(scope="module")
def theatre(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Theatre]:
    root = tmp_path_factory.mktemp("theatre")
    proxy, zygote = Proxy(), Zygote(root)
    yield Theatre(root, proxy, zygote)
    zygote.close()
    proxy.close()


@pytest.fixture
def stage(theatre: Theatre) -> Iterator[Stage]:
    """A platform with one space, and a clone of it."""
    with theatre.fresh() as stage:
        stage.fine(*stage.clone_words())
        yield stage
