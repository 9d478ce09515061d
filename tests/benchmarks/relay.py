"""A relay between a client and a server on this machine that counts what goes through it."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Lock, Thread
from urllib.parse import urlsplit

_CHUNK = 1 << 16


@dataclass
class Traffic:
    """Bytes that a client sent and received, heads of requests and answers included."""

    sent: int = 0
    received: int = 0

    def __str__(self) -> str:
        return f"{self.sent / 1e6:.2f} MB up, {self.received / 1e6:.2f} MB down"


@contextmanager
def counted(url: str) -> Iterator[tuple[str, Traffic]]:
    """Given the address of a server, return another that leads to it, and the traffic through that one so far."""
    traffic, server = Traffic(), urlsplit(url)
    target = (server.hostname or "", server.port or 80)
    lock = Lock()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept() -> None:
            with suppress(OSError):
                while True:
                    client = listener.accept()[0]
                    upstream = socket.create_connection(target)
                    for one in (client, upstream):
                        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    Thread(target=pump, args=(client, upstream, "sent"), daemon=True).start()
                    Thread(target=pump, args=(upstream, client, "received"), daemon=True).start()

        def pump(source: socket.socket, sink: socket.socket, direction: str) -> None:
            with suppress(OSError):
                while data := source.recv(_CHUNK):
                    with lock:
                        setattr(traffic, direction, getattr(traffic, direction) + len(data))
                    sink.sendall(data)
            with suppress(OSError):
                sink.shutdown(socket.SHUT_WR)

        Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", traffic
        # Closing a listener does not wake a thread that waits in accept(); shutting it down does.
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
