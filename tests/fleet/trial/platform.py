"""The platform of a trial: a process of its own that writes down each write request, who sent it and what became of it.

`python -m tests.fleet.trial.platform DIRECTORY PORT LOG`
"""

import hashlib
import json
import re
import sys
import time
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import IO, Any

import uvicorn

from syncd.platform.app import create_app
from syncd.platform.settings import PlatformSettings
from syncd.platform.storage.storage import Storage
from tests.fleet.trial.world import WORD

_Message = MutableMapping[str, Any]
_SPACE = re.compile(r"/spaces/([^/?]+)")
_ANSWERED = re.compile(r"/change-requests$|/merge$|/sites/")


def hash_token(token: str) -> str:
    """Return what stands in the log for a token."""
    return hashlib.sha256(token.encode()).hexdigest()[:12]


class WriteLog:
    """The ASGI application that passes each request on, and logs writes as a line of JSON."""

    def __init__(self, app: Any, log: IO[str]) -> None:
        """Given an application and an open file, log to it."""
        self._app, self._log = app, log

    async def __call__(
        self, scope: _Message, receive: Callable[[], Awaitable[_Message]], send: Callable[[_Message], Awaitable[None]]
    ) -> None:
        """Pass a request on."""
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        begun, status, asked, answer = time.time(), 0, bytearray(), bytearray()

        async def hear() -> _Message:
            message = await receive()
            asked.extend(message.get("body", b""))
            return message

        async def say(message: _Message) -> None:
            nonlocal status
            status = message.get("status", status)
            answer.extend(message.get("body", b""))
            await send(message)

        try:
            await self._app(scope, hear, say)
        finally:
            path = scope["path"]
            space = _SPACE.search(path)
            line = {
                "begun": begun,
                "ended": time.time(),
                "who": hash_token(dict(scope["headers"]).get(b"authorization", b"").decode().removeprefix("Bearer ")),
                "method": scope["method"],
                "path": path,
                "space": space[1] if space else "",
                "status": status,
                "words": sorted(set(WORD.findall(asked.decode(errors="replace")))),
                "answer": _read_answer(path, bytes(answer)),
            }
            print(json.dumps(line), file=self._log, flush=True)


def _read_answer(path: str, body: bytes) -> dict[str, Any]:
    """What the judge asks of an answer: which change request it was, and whether it was merged."""
    if not _ANSWERED.search(path):
        return {}
    try:
        found = json.loads(body)
    except ValueError:
        return {}
    return {key: found[key] for key in ("id", "number", "result", "subject") if key in found}


def main(directory: str, port: str, log: str) -> None:
    """Serve until SIGTERM."""
    with Storage(Path(directory)) as storage, Path(log).open("a") as written:
        storage.bootstrap()
        app = WriteLog(create_app(storage, PlatformSettings()), written)
        uvicorn.run(
            app,
            host="127.0.0.1",
            port=int(port),
            http="httptools",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
