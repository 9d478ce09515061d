"""A platform in this process, on one address for all worlds, whose requests a gate can watch, hold up or break off.

The platform's modules are named here alone.
"""

import asyncio
import logging
import shutil
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa
import uvicorn

from syncd.platform.app import create_app
from syncd.platform.services.directory.read import import_directory
from syncd.platform.settings import PlatformSettings
from syncd.platform.storage.storage import Storage
from tests.faults.twoway.serving import ServerProcess
from tests.sync import normalising

ACTOR = "x-oracle-actor"
"""Header of requests that people send; a gate sees only those of syncd."""
_SERVERS = {
    "plain": PlatformSettings(),
    "formatted": PlatformSettings(rewrite=normalising.reformat_page),
    "lossy": PlatformSettings(rewrite=normalising.lossy),
    "comments": PlatformSettings(content_write=False),
}
_Scope = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
_Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class Gate:
    """Counts the requests and the writes of one run of syncd, and acts at one of them.

    Shape: `when` is such as "before-write:2" or "after-request:5"; `act` is called once, in a thread, and returns
    whether the request still goes on its way.
    """

    def __init__(self, when: str, act: Callable[[], bool]) -> None:
        kind, _, number = when.partition(":")
        self.moment, _, self.counted = kind.partition("-")
        self.number, self.act = int(number or 0), act
        self.requests = self.writes = 0
        self.has_acted = False

    def count(self, method: str) -> tuple[bool, bool]:
        """Given the method of a request, return whether to act before it, and whether after it."""
        self.requests += 1
        self.writes += method != "GET"
        if self.has_acted or (self.counted == "write" and method == "GET"):
            return False, False
        is_it = self.number == (self.writes if self.counted == "write" else self.requests)
        self.has_acted |= is_it
        return is_it and self.moment == "before", is_it and self.moment == "after"


@dataclass
class Switch:
    """The ASGI application that stands for the platform of the world that is played.

    Shape: `writes` goes up when anybody begins to write, and when that has ended.
    """

    app: Any = None
    people: Any = None
    """The application that people's browsers speak to, where it can do more than the API; None where it is the same."""
    gate: Gate | None = None
    writes: int = 0

    async def __call__(self, scope: _Scope, receive: _Receive, send: _Send) -> None:
        is_write = scope["type"] != "http" or scope["method"] != "GET"
        self.writes += is_write
        try:
            await self._pass(scope, receive, send)
        finally:
            self.writes += is_write

    async def _pass(self, scope: _Scope, receive: _Receive, send: _Send) -> None:
        gate = self.gate
        is_person = scope["type"] == "http" and _is_person(scope)
        if gate is None or scope["type"] != "http" or is_person:
            await (self.people if is_person and self.people is not None else self.app)(scope, receive, send)
            return
        before, after = gate.count(scope["method"])
        if before and not await asyncio.to_thread(gate.act):
            return
        kept: list[MutableMapping[str, Any]] = []

        async def keep(message: MutableMapping[str, Any]) -> None:
            kept.append(message)

        await self.app(scope, receive, keep if after else send)
        if after and await asyncio.to_thread(gate.act):
            for message in kept:
                await send(message)


def _is_person(scope: _Scope) -> bool:
    return any(name == ACTOR.encode() for name, _ in scope["headers"])


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class Hosting:
    """Serves one platform after the other; with `apart`, each in a process of its own, which can be killed."""

    def __init__(self, *, apart: bool = False) -> None:
        logging.getLogger("uvicorn.error").disabled = True  # it complains of requests that a kill left unanswered
        self.switch = Switch()
        self.process: ServerProcess | None = None
        self._apart = apart
        self._dialect: sa.Dialect | None = None
        self._compiled: dict[Any, Any] = {}
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        listener.bind(("127.0.0.1", 0))
        listener.listen(100)
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        config = uvicorn.Config(
            self.switch, http="httptools", ws="none", lifespan="off", log_config=None, timeout_keep_alive=600
        )
        self._server = _Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([listener],), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop serving."""
        self._server.should_exit = True
        self._thread.join(5)

    @contextmanager
    def serve(self, directory: Path, kind: str) -> Iterator[None]:
        """Given the directory of a platform and a kind of server, serve it."""
        if not self._apart:
            with self.platform(directory, kind):
                yield
            return
        self.process = self.switch.app = ServerProcess(directory, _SERVERS[kind])
        try:
            yield
        finally:
            self.process.close()
            self.process = None

    @contextmanager
    def platform(self, directory: Path, kind: str) -> Iterator[Storage]:
        """Serve a platform in this process, which can use its storage too."""
        with Storage(directory) as storage:
            self._keep_compiled(storage)
            storage.bootstrap()
            self.switch.app, self.switch.writes = create_app(storage, _SERVERS[kind]), self.switch.writes + 1
            self.switch.people = create_app(storage, PlatformSettings()) if kind == "comments" else None
            try:
                yield storage
            finally:
                self.switch.people = None

    def _keep_compiled(self, storage: Storage) -> None:
        """Let the statements that one world has compiled be known to the next, whose database has the same tables."""
        for begin in (storage.read, storage.write):
            with begin() as connection:
                engine = connection.engine
            self._dialect = engine.dialect = self._dialect or engine.dialect  # a part of the keys
            engine.update_execution_options(compiled_cache=self._compiled)

    @contextmanager
    def gated(self, gate: Gate) -> Iterator[None]:
        """Let a gate see the requests of syncd."""
        self.switch.gate = gate
        try:
            yield
        finally:
            self.switch.gate = None


def import_space(storage: Storage, directory: Path, title: str) -> str:
    """Given a directory of pages, make it a new space and return its id."""
    space = import_directory(storage, directory, title=title, space=None).space
    shutil.rmtree(directory)
    return space
