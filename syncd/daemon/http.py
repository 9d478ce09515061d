"""Serve /livez, /readyz and /metrics to monitoring systems."""

import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from socket import AF_INET, AF_INET6
from threading import Thread

from syncd.daemon.health import ServiceHealth, find_faults, list_pauses
from syncd.daemon.metrics import render_metrics
from syncd.errors import ConfigInvalid

TEXT = "text/plain; version=0.0.4; charset=utf-8"
_PATIENCE_SECONDS = 10
"""How long one who asks may take to say what."""


@contextmanager
def listen(
    address: str, health: Callable[[], ServiceHealth], now: Callable[[], float], notice: Callable[[str], None]
) -> Iterator[None]:
    """Answer `/metrics`, `/livez` and `/readyz` at `HOST:PORT` within the block, from the health as it is then.

    Shape: an empty address listens nowhere; `notice` is told of a question that could not be answered. Units: `now` in
    epoch seconds. Raises: ConfigInvalid when the address is wrong or taken.
    """
    if not address:
        yield
        return
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    try:
        number = int(port)
        ip_address("127.0.0.1" if host == "localhost" else host)
        server = _Server((host, number), partial(_Handler, health, now), notice)
    except (ValueError, OverflowError, OSError) as error:
        hint = "write ADDRESS:PORT, such as 127.0.0.1:9470"
        raise ConfigInvalid(f"nothing can be asked at {address!r}: {error}", hint=hint) from error
    thread = Thread(target=server.serve_forever, name="syncd-metrics", daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join(1)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(
        self,
        address: tuple[str, int],
        handler: Callable[..., BaseHTTPRequestHandler],
        notice: Callable[[str], None],
    ) -> None:
        self.address_family = AF_INET6 if ":" in address[0] else AF_INET
        self._notice = notice
        super().__init__(address, handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """Say what went wrong with a question; one who hangs up is no trouble of ours."""
        if not isinstance(sys.exception(), OSError):
            self._notice(f"a question about health or metrics was not answered: {traceback.format_exc()}")


class _Handler(BaseHTTPRequestHandler):
    timeout = _PATIENCE_SECONDS
    server_version, sys_version = "syncd", ""

    def __init__(self, health: Callable[[], ServiceHealth], now: Callable[[], float], *arguments: object) -> None:
        self._health, self._now = health, now
        super().__init__(*arguments)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        """Answer one question."""
        try:
            status, text = self._find_answer(self.path.partition("?")[0])
        except Exception:
            # Whatever it is, who asks gets an answer at once, and the log gets the traceback.
            self._answer(500, "an error inside syncd; its log has the traceback\n")
            raise
        self._answer(status, text)

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing: a scrape every few seconds is no news."""

    def _find_answer(self, path: str) -> tuple[int, str]:
        health, now = self._health(), self._now()
        match path:
            case "/metrics":
                return 200, render_metrics(health, now)
            case "/livez":
                return (200, "alive\n") if health.is_alive else (503, "no progress\n")
            case "/readyz":
                faults = find_faults(health, now)
                if faults:
                    return 503, "\n".join(["not ready", *faults, ""])
                pauses = list_pauses(health)
                word = "paused" if pauses and len(pauses) == len(health.repositories) else "ready"
                return 200, "\n".join([word, *pauses, ""])
            case _:
                return 404, "there are /metrics, /livez and /readyz\n"

    def _answer(self, status: int, text: str) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", TEXT)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
