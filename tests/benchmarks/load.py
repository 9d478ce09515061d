"""Load on a server: keep-alive connections that send prepared requests, and what they cost the server's process."""

import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Served:
    """What a number of requests took. Units: `cpu_us` of the server a request, `p99_ms` of the answers."""

    per_second: float
    p99_ms: float
    cpu_us: float

    def __str__(self) -> str:
        return f"{self.per_second:.0f}/s, p99 {self.p99_ms:.1f} ms, {self.cpu_us:.0f} µs CPU"


@contextmanager
def server(*words: str, cwd: Path) -> Iterator[tuple[str, int]]:
    """Given what Python shall run, start it and return the address that it prints first, and its process id."""
    with subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, text=True, cwd=cwd) as process:
        assert process.stdout is not None
        try:
            url = process.stdout.readline().strip()
            if not url.startswith("http://"):
                raise RuntimeError(f"{words} did not start")
            yield url, process.pid
        finally:
            process.terminate()


def wait_until_idle(pid: int, *, pause_s: float = 0.5) -> None:
    """Wait until a process uses no CPU: what a server prepares once it listens is no cost of a request."""
    before, now = -1.0, _cpu(pid)
    while now != before:
        time.sleep(pause_s)
        before, now = now, _cpu(pid)


def request(url: str, method: str, path: str, *, token: str = "", body: bytes = b"") -> bytes:
    """Given the parts of a request, return it as it goes over the wire."""
    head = [f"{method} {path} HTTP/1.1", f"Host: {urlsplit(url).netloc}"]
    head += [f"Authorization: Bearer {token}"] if token else []
    head += ["Content-Type: application/json", f"Content-Length: {len(body)}"] if body else []
    return ("\r\n".join(head) + "\r\n\r\n").encode() + body


def load(url: str, pid: int, requests: Sequence[bytes], *, connections: int, warm: int = 50) -> Served:
    """Given requests, send them over so many connections and return what they took. Raises: RuntimeError on a refusal.

    Shape: the first `warm` of them are sent once before the clock runs.
    """
    _send(url, requests[:warm])
    shares = [requests[at::connections] for at in range(connections)]
    cpu, wall = _cpu(pid), time.perf_counter()
    with ThreadPoolExecutor(connections) as pool:
        times = [each for share in pool.map(lambda share: _send(url, share), shares) for each in share]
    wall, cpu = time.perf_counter() - wall, _cpu(pid) - cpu
    p99 = statistics.quantiles(times, n=100)[98] if len(times) > 1 else times[0]
    return Served(len(times) / wall, p99 * 1000, cpu / len(times) * 1e6)


def _send(url: str, requests: Sequence[bytes]) -> list[float]:
    address = urlsplit(url)
    assert address.hostname
    times = []
    with socket.create_connection((address.hostname, address.port or 80)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for each in requests:
            start = time.perf_counter()
            connection.sendall(each)
            _receive(connection)
            times.append(time.perf_counter() - start)
    return times


def _receive(connection: socket.socket) -> None:
    data = b""
    while b"\r\n\r\n" not in data:
        data += _more(connection)
    head, _, rest = data.partition(b"\r\n\r\n")
    if head[9:10] != b"2":
        raise RuntimeError(data[:500].decode(errors="replace"))
    lengths = [line[15:] for line in head.split(b"\r\n") if line[:15].lower() == b"content-length:"]
    left = int(lengths[0]) - len(rest)
    while left > 0:
        left -= len(_more(connection))


def _more(connection: socket.socket) -> bytes:
    data = connection.recv(1 << 18)
    if not data:
        raise RuntimeError("the server closed the connection")
    return data


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS
