"""Somebody who is notified over HTTP: what came, and what is answered."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import SimpleQueue
from typing import Any


class NotifiedServer(ThreadingHTTPServer):
    """A receiver on this machine; it answers with the next of `answers`, 200 when there is none."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: list[int] = []
        self.came: SimpleQueue[tuple[Mapping[str, str], bytes]] = SimpleQueue()
        self.url = f"http://127.0.0.1:{self.server_address[1]}/services/T0/B0/surely-secret"

    def take(self) -> tuple[Mapping[str, str], Any]:
        """Wait for a notification, and return its headers, with names in lower case, and its document."""
        headers, body = self.came.get(timeout=60)
        return headers, json.loads(body)


class _Handler(BaseHTTPRequestHandler):
    server: NotifiedServer

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status = self.server.answers.pop(0) if self.server.answers else 200
        self.send_response(status)
        self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()
        self.server.came.put(({name.lower(): value for name, value in self.headers.items()}, body))

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def wait_until(condition: Callable[[], bool]) -> None:
    """Return as soon as a condition holds, which takes a minute at the longest."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


@contextmanager
def serve_receiver() -> Iterator[NotifiedServer]:
    """Serve a receiver within the block."""
    with NotifiedServer() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
