"""Servers that say what a test wants: plain sockets on loopback, well-behaved or not."""

import re
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
Talk = Callable[[socket.socket], object]


@contextmanager
def serve_peer(talk: Talk, *, trust: ssl.SSLContext | None = None) -> Iterator[tuple[int, list[bytes]]]:
    """A server that reads each request and lets `talk` answer; returns its port and the requests it has read."""
    listener = socket.create_server(("127.0.0.1", 0))
    requests: list[bytes] = []

    def run() -> None:
        while True:
            try:
                plain = listener.accept()[0]
            except OSError:
                return
            with suppress(OSError), plain:
                peer = trust.wrap_socket(plain, server_side=True) if trust else plain
                with peer:
                    requests.append(_request(peer))
                    talk(peer)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1], requests
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)


def _request(peer: socket.socket) -> bytes:
    request = b""
    while b"\r\n\r\n" not in request and (piece := peer.recv(4096)):
        request += piece
    head, _, body = request.partition(b"\r\n\r\n")
    announced = re.search(rb"(?i)\r\ncontent-length: *([0-9]+)", head)
    missing = (int(announced[1]) if announced else 0) - len(body)
    while missing > 0 and (piece := peer.recv(4096)):
        request, missing = request + piece, missing - len(piece)
    return request


def make_certificate(directory: Path, name: str) -> ssl.SSLContext:
    """What a server with a certificate of its own for a name needs; the certificate is the file `certificate`."""
    openssl = shutil.which("openssl")
    assert openssl, "its certificate is made with openssl"
    made = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"]
    names = ["-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}"]
    files = ["-keyout", str(directory / "key"), "-out", str(directory / "certificate")]
    subprocess.run([openssl, *made, *names, *files], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(directory / "certificate", directory / "key")
    return context


def answer_with(answer: bytes) -> Talk:
    return lambda peer: peer.sendall(answer)
