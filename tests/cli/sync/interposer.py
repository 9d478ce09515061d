"""A proxy between syncd and the platform, at which a test acts, or kills syncd, in the middle of a run.

`at("POST", r"/content$", deed)` runs the deed when a request of this method and path comes by: once, at the n-th that
matches, before it reaches the platform or after its answer was made. Syncd waits for the answer meanwhile, so what a
deed does is done at a named step of the run, on a busy machine too.
"""

import http.client
import http.server
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from tests.answering import AnsweringServer

Deed = Callable[[], object]
When = Literal["before", "after"]
_HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length"}


@dataclass
class _Step:
    method: str
    path: re.Pattern[str]
    left: int
    when: When
    deed: Deed
    breaks: bool


class Interposer:
    """Relays every request to `upstream`, a base URL that may change; `seen` are those that came by."""

    def __init__(self, upstream: str) -> None:
        self.upstream = upstream
        self.seen: list[str] = []
        self.hidden: re.Pattern[str] | None = None
        """Paths that a platform without them answers with 404."""
        self.faults: list[Exception] = []
        self._steps: list[_Step] = []
        self._lock = threading.RLock()
        self._server = AnsweringServer(self._relay)

    @property
    def url(self) -> str:
        """Where syncd finds the platform."""
        return self._server.url

    def at(
        self, method: str, path: str, deed: Deed, *, nth: int = 1, when: When = "before", breaks: bool = False
    ) -> None:
        """Given a method, or "" for all, and a pattern found in the path, run the deed at the n-th request from now.

        Shape: with `breaks`, as after a kill, the request goes no further, or its answer is lost.
        """
        with self._lock:
            self._steps.append(_Step(method, re.compile(path), nth, when, deed, breaks))

    def withdraw(self) -> bool:
        """Forget the deeds that did not have their turn, and return whether there were any."""
        with self._lock:
            unmet = any(step.left > 0 for step in self._steps)
            self._steps = []
        return unmet

    def close(self) -> None:
        """Stop; a deed that never had its turn, or that failed, fails the test: its story was not told."""
        self._server.close()
        assert not self.faults, self.faults
        assert not self.withdraw(), f"a request never came by; these did: {self.seen}"

    def _met(self, method: str, path: str, when: When) -> list[_Step]:
        with self._lock:
            if when == "before":
                self.seen.append(f"{method} {path}")
            matching = [s for s in self._steps if s.when == when and s.method in ("", method) and s.path.search(path)]
            for step in matching:
                step.left -= 1
            return [step for step in matching if step.left == 0]

    def _act(self, method: str, target: str, when: When) -> bool:
        """Do what is to be done at a request, and return whether it goes on."""
        met = self._met(method, urlsplit(target).path, when)
        for step in met:
            try:
                step.deed()
            except Exception as fault:  # noqa: BLE001  (told by `close`, in the test's own thread)
                self.faults.append(fault)
        return not any(step.breaks for step in met)

    def _relay(self, request: http.server.BaseHTTPRequestHandler) -> None:
        body = request.rfile.read(int(request.headers.get("Content-Length") or 0))
        if not self._act(request.command, request.path, "before"):
            request.close_connection = True
            return
        if self.hidden is not None and self.hidden.search(urlsplit(request.path).path):
            request.send_error(404)
            return
        connection = http.client.HTTPConnection(urlsplit(self.upstream).netloc, timeout=60)
        headers = {name: value for name, value in request.headers.items() if name.lower() not in _HOP_BY_HOP}
        connection.request(request.command, request.path, body or None, headers)
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        if not self._act(request.command, request.path, "after"):
            request.close_connection = True
            return
        request.send_response_only(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in _HOP_BY_HOP:
                request.send_header(name, value)
        request.send_header("Content-Length", str(len(data)))
        request.end_headers()
        request.wfile.write(data)
        request.wfile.flush()
