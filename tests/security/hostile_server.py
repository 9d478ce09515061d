"""A platform in front of a real one, which answers some requests with whatever a test says, byte by byte."""

import http.client
import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

Talk = Callable[[socket.socket], object]


class HostileServer:
    """Relays requests to `upstream`, but for those whose path a pattern of `talks` matches."""

    def __init__(self, upstream: str) -> None:
        self.talks: dict[str, Talk] = {}
        self._upstream = urlsplit(upstream)
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def accept(self) -> None:
        """Answer until the listener is closed."""
        while True:
            try:
                peer = self._listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self._answer, args=(peer,), daemon=True).start()

    def close(self) -> None:
        """Answer no more."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _answer(self, peer: socket.socket) -> None:
        with suppress(OSError), peer:
            head = b""
            while b"\r\n\r\n" not in head:
                if not (piece := peer.recv(65536)):
                    return
                head += piece
            path = head.split(b" ", 2)[1].decode()
            talk = next((talk for pattern, talk in self.talks.items() if re.search(pattern, path)), None)
            if talk is not None:
                talk(peer)
            else:
                self._relay(peer, path, head)

    def _relay(self, peer: socket.socket, path: str, head: bytes) -> None:
        token = re.search(rb"(?i)\r\nauthorization: *([^\r]*)", head)
        connection = http.client.HTTPConnection(str(self._upstream.hostname), int(self._upstream.port or 80))
        headers = {"Host": urlsplit(self.url).netloc, **({"Authorization": token[1].decode()} if token else {})}
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        whole(answer.read(), status=answer.status)(peer)
        connection.close()


@contextmanager
def hostile_server(upstream: str) -> Iterator[HostileServer]:
    """Given the address of a platform, serve in front of it."""
    server = HostileServer(upstream)
    thread = threading.Thread(target=server.accept)
    thread.start()
    try:
        yield server
    finally:
        server.close()
        thread.join()


def whole(body: bytes, *, status: int = 200, head: str = "") -> Talk:
    """An answer with a length."""
    start = f"HTTP/1.1 {status} Said\r\nContent-Type: application/json\r\n{head}Connection: close\r\n"
    return lambda peer: peer.sendall(start.encode() + b"Content-Length: %d\r\n\r\n" % len(body) + body)


def endless(start: bytes, more: bytes, *, head: str = "", status: int = 200) -> Talk:
    """An answer that never ends, as fast as it is read."""

    return raw(f"HTTP/1.1 {status} Said\r\nContent-Type: application/json\r\n{head}\r\n".encode() + start, more)


def raw(start: bytes, more: bytes) -> Talk:
    """Anything, and then something else again and again."""

    def talk(peer: socket.socket) -> None:
        peer.sendall(start)
        while True:
            peer.sendall(more)

    return talk
