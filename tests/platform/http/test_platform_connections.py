"""How an answer goes out: its head and what follows at once in one send, and a head alone when nothing follows."""

import asyncio
from collections.abc import Callable
from typing import Any

from syncd.platform.http.connections import JoinedTransport


class RecordingTransport:
    """A transport that notes what it was told to send, and when it was closed."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.sent.append(data)

    def writelines(self, parts: tuple[bytes, ...]) -> None:
        self.sent.append(b"".join(parts))

    def close(self) -> None:
        self.sent.append(b"closed")

    def is_closing(self) -> bool:
        return False


def play(act: Callable[[JoinedTransport], None]) -> list[bytes]:
    """Given what an answer does in one turn of the loop, return what was sent by the end of the next turn."""

    async def run() -> list[bytes]:
        recording: Any = RecordingTransport()
        act(JoinedTransport(recording, asyncio.get_running_loop()))
        await asyncio.sleep(0)
        return list(recording.sent)

    return asyncio.run(run())


def test_a_head_goes_out_with_the_beginning_of_its_body() -> None:
    def act(joined: JoinedTransport) -> None:
        for part in (b"head", b"body", b"more"):
            joined.write(part)
        assert not joined.is_closing()

    assert play(act) == [b"headbody", b"more"]


def test_a_head_that_nothing_follows_goes_out_alone() -> None:
    assert play(lambda joined: joined.write(b"head")) == [b"head"]


def test_a_connection_is_closed_behind_what_was_written() -> None:
    def act(joined: JoinedTransport) -> None:
        joined.write(b"head")
        joined.close()

    assert play(act) == [b"head", b"closed"]
