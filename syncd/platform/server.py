"""The HTTP server: in the foreground for `syncd platform serve`, or in a thread for the demo and for tests."""

import contextlib
import gc
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import replace

import anyio.to_thread
import sqlalchemy as sa
import uvicorn
from fastapi import FastAPI

from syncd.errors import ConfigInvalid, Unreachable
from syncd.platform.app import DESCRIPTION, create_app
from syncd.platform.http.connections import Connections
from syncd.platform.http.scheduler import THREADS
from syncd.platform.settings import PlatformSettings
from syncd.platform.storage.health import DatabaseHealth
from syncd.platform.storage.jobs import Worker
from syncd.platform.storage.storage import Storage
from syncd.platform.storage.storage_options import StorageOptions
from syncd.platform.visitors.kept.site_renderer import SiteRenderer
from syncd.platform.visitors.offers.visit_counts import VisitCounts

GRACE_S = 5
"""Seconds that open connections get to finish once the server was asked to stop."""
SWITCH_S = 0.0005
"""Seconds for which a thread keeps the interpreter when another one wants it; each delays the event loop so long."""
COLLECT_AT = (10_000, 10, 100)
"""Thresholds of the garbage collector. Documents have no cycles, and a collection among a million of their nodes holds
everything up for half a second: it comes after so many objects that no single request makes them.
"""

_BACKLOG = 2048
_TICKS = 10
"""Of uvicorn in a second."""
_COUNTED_S = 60
"""Seconds between two writes of what visitors did."""
_DEFAULT = PlatformSettings()
_ANYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104  (named, not bound)


def serve(
    options: StorageOptions,
    settings: PlatformSettings = _DEFAULT,
    *,
    host: str,
    port: int,
    announce: Callable[[str], None],
    report: Callable[[str], None] = lambda fault: None,
    stop: Callable[[], bool] = lambda: False,
) -> None:
    """Serve a platform until SIGTERM, SIGINT or `stop`; call it from the main thread.

    `announce` gets the base URL as soon as connections are accepted; port 0 picks a free one. `report` gets the reason
    when the database cannot be used, and "" when it can again. Units: `stop` is asked ten times a second.
    Raises: ConfigInvalid when host and port cannot be listened on; the errors of Storage.
    """
    stop_requested = threading.Event()

    def announce_and_prepare(url: str) -> None:
        announce(url)
        DESCRIPTION.prepare()

    with options.open() as storage, _open_listener(host, port) as listener, _handle_signals(stop_requested.set):
        storage.bootstrap()
        app = create_app(storage, replace(settings, host=host))
        _tune_interpreter()
        _Server(app, announce=announce_and_prepare, report=report, stop=lambda: stop_requested.is_set() or stop()).run(
            [listener]
        )


class BackgroundServer:
    """The same server in a thread of its own, without signal handlers: `with BackgroundServer(storage) as url`."""

    def __init__(
        self,
        storage: Storage,
        settings: PlatformSettings = _DEFAULT,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        works: bool = True,
    ) -> None:
        """Prepare a server of an open and bootstrapped storage, which the caller closes.

        Shape: with `works` False the server runs no jobs; a test runs them itself.
        """
        self._storage = storage
        self._settings = settings
        self._works = works
        self._host = host
        self._port = port
        self._stop_requested = threading.Event()
        self._ready: Future[str] = Future()
        self._thread: threading.Thread | None = None

    def start(self) -> str:
        """Start serving and return the base URL, which accepts connections from now on. Raises: ConfigInvalid."""
        listener = _open_listener(self._host, self._port)
        self._thread = threading.Thread(target=self._run, args=(listener,), name="syncd-platform", daemon=True)
        self._thread.start()
        return self._ready.result()

    def stop(self) -> None:
        """Stop serving; returns once the last connection is closed, after the grace period at the latest."""
        self._stop_requested.set()
        if self._thread is not None:
            self._thread.join()

    def __enter__(self) -> str:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _run(self, listener: socket.socket) -> None:
        try:
            with listener:
                app = create_app(self._storage, replace(self._settings, host=self._host))
                _Server(app, announce=self._ready.set_result, stop=self._stop_requested.is_set, works=self._works).run(
                    [listener]
                )
        finally:
            if not self._ready.done():
                self._ready.set_exception(Unreachable("the embedded platform did not start"))


class _Server(uvicorn.Server):
    """A uvicorn server without signal handlers that announces its URL, runs jobs, and asks a callback when to stop."""

    def __init__(
        self,
        app: FastAPI,
        *,
        announce: Callable[[str], None],
        report: Callable[[str], None] = lambda fault: None,
        stop: Callable[[], bool],
        works: bool = True,
    ) -> None:
        settings: PlatformSettings = app.state.settings
        self._connections = Connections(settings.connections)
        super().__init__(
            uvicorn.Config(
                app,
                http=self._connections.protocol(),
                ws="none",
                loop="asyncio",
                lifespan="off",
                access_log=False,
                log_config=None,
                log_level="warning",
                server_header=False,
                # Any client could send these headers; the operator configures the public address.
                proxy_headers=False,
                timeout_keep_alive=settings.connections.idle_s,
                timeout_graceful_shutdown=GRACE_S,
            )
        )
        self._announce = announce
        self._health: DatabaseHealth = app.state.storage.health
        self._report, self._fault = report, ""
        self._stop = stop
        self._visit_counts: VisitCounts = app.state.visit_counts
        self._site_renderer: SiteRenderer = app.state.site_renderer
        self._worker = Worker(app.state.storage, app.state.settings, app.state.handlers) if works else None

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
        await super().startup(sockets)
        assert sockets
        if self._worker is not None:
            self._worker.start()
            self._site_renderer.start()
        self._announce(_build_url(sockets[0]))

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        if self._worker is not None:
            self._site_renderer.stop()
            self._worker.stop()
        self._write_counts()

    async def on_tick(self, counter: int) -> bool:
        if counter % _TICKS == 0:
            self._connections.close_overdue()
            if (fault := self._health.render_reasons()) != self._fault:
                self._fault = fault
                self._report(fault)
        if counter % (_TICKS * _COUNTED_S) == 0:
            await anyio.to_thread.run_sync(self._write_counts)
        return await super().on_tick(counter) or self._stop()

    def _write_counts(self) -> None:
        with contextlib.suppress(sa.exc.SQLAlchemyError):
            # The health of the database is told elsewhere; a minute of counts is not worth more.
            self._visit_counts.write()


def _tune_interpreter() -> None:
    """Set the thread switch interval and the garbage collector for short delays of the event loop; process-wide."""
    sys.setswitchinterval(SWITCH_S)
    gc.freeze()
    gc.set_threshold(*COLLECT_AT)


def _open_listener(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named because asyncio turns Nagle's delay off only where it sees it: 40 ms a request.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError as failure:
        listener.close()
        raise ConfigInvalid(
            f"cannot listen on {host}:{port}: {failure.strerror or failure}",
            hint="choose others with --host and --port; --port 0 takes any free one",
        ) from failure
    return listener


def _build_url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    reached = _ANYWHERE.get(host, host)
    return f"http://[{reached}]:{port}" if ":" in reached else f"http://{reached}:{port}"


@contextlib.contextmanager
def _handle_signals(act: Callable[[], None]) -> Iterator[None]:
    former = {number: signal.signal(number, lambda *_: act()) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
