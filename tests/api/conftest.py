"""What the tests of this folder share: a clock that sleep moves, a client on a handler, a server of raw sockets."""

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from threading import Thread
from typing import Any

import httpx
import pytest

from syncd.api.client import Client
from syncd.api.options import ClientOptions

TOKEN = "gb_api_secret-token-value"
Handler = Callable[[httpx.Request], httpx.Response]


class Clock:
    """Epoch seconds that pass only in sleep."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    @property
    def waited(self) -> float:
        return sum(self.slept)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def client_on(clock: Clock) -> Iterator[Callable[..., Client]]:
    """A client whose network is a handler; waits take no time, and jitter is always at its full length."""
    with ExitStack() as stack:

        def build(handler: Handler, **options: Any) -> Client:
            settings = {"sleep": clock.sleep, "clock": clock, "random": lambda: 1.0, **options}
            transport = httpx.MockTransport(handler)
            return stack.enter_context(
                Client("https://api.example.com", TOKEN, ClientOptions(transport=transport, **settings))
            )

        yield build


@pytest.fixture
def served(clock: Clock) -> Iterator[Callable[..., Client]]:
    """A client of a loopback server that hands each connection to a function; the connection is closed after it."""
    with ExitStack() as stack:

        def build(serve: Callable[[socket.socket], None], **options: Any) -> Client:
            listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))

            def accept() -> None:
                while True:
                    try:
                        connection, _ = listener.accept()
                    except OSError:
                        return
                    with closing(connection):
                        try:
                            serve(connection)
                        except OSError:
                            continue

            thread = Thread(target=accept)
            thread.start()
            stack.callback(thread.join)
            stack.callback(listener.shutdown, socket.SHUT_RDWR)
            settings = {"sleep": clock.sleep, "clock": clock, **options}
            url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            return stack.enter_context(Client(url, TOKEN, ClientOptions(**settings)))

        yield build
