"""Read a file as the platform's answer for a space's content, and print by how many MB the most memory grew."""

import sys
from collections.abc import Iterator
from pathlib import Path

import httpx

from syncd.api.client import Client
from syncd.api.options import ClientOptions
from syncd.errors import AnswerTooLarge
from tests.benchmarks.measure import memory_mb


class _Pieces(httpx.SyncByteStream):
    def __init__(self, path: Path) -> None:
        self._path = path

    def __iter__(self) -> Iterator[bytes]:
        with self._path.open("rb") as file:
            while piece := file.read(1 << 16):
                yield piece


def _read(client: Client) -> None:
    try:
        client.content.get("s1")
    except AnswerTooLarge as error:
        print(f"{error.what}", file=sys.stderr)


if __name__ == "__main__":
    small, tested = Path(sys.argv[1]), Path(sys.argv[2])
    files = [small, tested]
    transport = httpx.MockTransport(lambda _: httpx.Response(200, stream=_Pieces(files.pop(0))))
    client = Client("https://api.example.com", "token", ClientOptions(transport=transport))
    _read(client)
    before = memory_mb("VmHWM")
    _read(client)
    print(memory_mb("VmHWM") - before)
