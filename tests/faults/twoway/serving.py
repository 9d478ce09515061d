"""A platform in a process of its own, which can be killed and is there again at once, behind the same address."""

import os
import signal
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from syncd.platform.app import create_app
from syncd.platform.settings import PlatformSettings
from syncd.platform.storage.storage import Storage

HOP_BY_HOP = {b"connection", b"keep-alive", b"transfer-encoding", b"content-length"}


class ServerProcess:
    """A server that is forked from this process, and the ASGI application that hands requests on to it."""

    def __init__(self, directory: Path, settings: PlatformSettings) -> None:
        self._directory, self._settings = directory, settings
        self._listener = socket.socket()
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen(100)
        self._url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._pid = self._start()

    def _start(self) -> int:
        pid = os.fork()
        if pid:
            return pid
        code = 70
        try:
            os.setsid()
            self._close_others()
            with Storage(self._directory) as storage:
                storage.bootstrap()
                config = uvicorn.Config(
                    create_app(storage, self._settings), http="httptools", ws="none", lifespan="off", log_config=None
                )
                uvicorn.Server(config).run([self._listener])
            code = 0
        finally:
            os._exit(code)

    def _close_others(self) -> None:
        """Close what the parent has open: locks and connections must not live on here."""
        for number in map(int, os.listdir("/proc/self/fd")):
            if number > 2 and number != self._listener.fileno():
                with suppress(OSError):
                    os.close(number)

    def kill(self) -> None:
        """SIGKILL it, and start it again; connections wait meanwhile."""
        self.stop()
        self._listener.listen(100)
        self._pid = self._start()

    def stop(self) -> None:
        """SIGKILL it."""
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)

    def close(self) -> None:
        """End it for good."""
        self.stop()
        self._listener.close()

    async def __call__(
        self,
        scope: MutableMapping[str, Any],
        receive: Callable[[], Awaitable[MutableMapping[str, Any]]],
        send: Callable[[MutableMapping[str, Any]], Awaitable[None]],
    ) -> None:
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        path = scope["raw_path"].decode() + ("?" + scope["query_string"].decode() if scope["query_string"] else "")
        headers = [(name, value) for name, value in scope["headers"] if name not in HOP_BY_HOP]
        status, kept, content = (
            502,
            [(b"content-type", b"application/json")],
            b'{"error":{"code":502,"message":"gone"}}',
        )
        try:
            async with httpx.AsyncClient(base_url=self._url, trust_env=False, verify=False, timeout=30) as http:
                answer = await http.request(scope["method"], path, headers=headers, content=body)
            status, content = answer.status_code, answer.content
            kept = [(name, value) for name, value in answer.headers.raw if name.lower() not in HOP_BY_HOP]
        except httpx.HTTPError:
            pass
        kept.append((b"content-length", str(len(content)).encode()))
        await send({"type": "http.response.start", "status": status, "headers": kept})
        await send({"type": "http.response.body", "body": content})
