"""The baseline: the same work with bare httpx and bare Git, as somebody would write it who needs nothing else."""

import json
import subprocess
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from threading import local
from types import TracebackType
from typing import Any, Self

import httpx

from tests.benchmarks.measure import Cost, cost_of, median

SETTINGS = (1, 2, 4, 8)
"""Threads that are tried, each with a client of its own; 1 is one client and no thread."""
PROBE_PAGES = 500
PROBE_ROUNDS = 3
_AUTHOR = "A. Writer <writer@example.org> 1700000000 +0000"


@dataclass(frozen=True)
class Fetched:
    """One page: where it belongs, and its text."""

    path: str
    body: bytes


class Bare:
    """The platform through httpx, with so many threads and one client a thread."""

    def __init__(self, url: str, token: str, *, threads: int = 1) -> None:
        self._url = f"{url}/v1"
        self._headers = {"Authorization": f"Bearer {token}"}
        self._threads = threads
        self._own = local()
        self._clients: list[httpx.Client] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for client in self._clients:
            client.close()

    def send(self, method: str, path: str, body: Any = None) -> Any:
        """Given a request, return its answer, decoded."""
        client: httpx.Client | None = getattr(self._own, "client", None)
        if client is None:
            # Without verify=False each client would spend 100 ms on certificates that plain http does not use.
            client = httpx.Client(base_url=self._url, headers=self._headers, trust_env=False, verify=False)
            self._own.client = client
            self._clients.append(client)
        answer = client.request(method, path, json=body)
        answer.raise_for_status()
        return json.loads(answer.content)

    def documents(self, space: str) -> Iterator[dict[str, Any]]:
        """Given a space, read its tree and yield each page that has a text."""
        pending = list(reversed(self.send("GET", f"/spaces/{space}/content")["pages"]))
        while pending:
            page = pending.pop()
            pending += reversed(page.get("pages", []))
            if page["type"] == "document":
                yield page

    def bodies(self, space: str, pages: Iterable[dict[str, Any]]) -> Iterator[Fetched]:
        """Given pages of a space, fetch the text of each."""

        def fetch(page: dict[str, Any]) -> Fetched:
            answer = self.send("GET", f"/spaces/{space}/content/page/{page['id']}?format=markdown")
            return Fetched(page["git"]["path"], answer["markdown"].encode())

        if self._threads == 1:
            yield from map(fetch, pages)
            return
        with ThreadPoolExecutor(self._threads) as pool:
            yield from pool.map(fetch, pages)

    def mirror(self, space: str, directory: Path) -> None:
        """Given a space and an empty repository, bring every page into one commit of branch `main`."""
        self.send("GET", f"/spaces/{space}")
        fast_import(directory, self.bodies(space, self.documents(space)))
        self.send("GET", f"/spaces/{space}")


def fast_import(directory: Path, pages: Iterable[Fetched]) -> None:
    """Given a repository and pages, stream them into one commit."""
    words = ["git", "-C", str(directory), "-c", "core.compression=1", "fast-import", "--quiet", "--done"]
    with subprocess.Popen(words, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        places = []
        for mark, page in enumerate(pages, start=1):
            process.stdin.write(b"blob\nmark :%d\ndata %d\n%b\n" % (mark, len(page.body), page.body))
            places.append(f"M 100644 :{mark} {page.path}\n")
        process.stdin.write(f"commit refs/heads/main\ncommitter {_AUTHOR}\ndata 6\nMirror\n".encode())
        process.stdin.write("".join(places).encode() + b"done\n")
    if process.returncode:
        raise RuntimeError("git fast-import failed")


def best_setting(url: str, token: str, space: str) -> tuple[int, dict[int, Cost]]:
    """Given a space, return the number of threads with which its pages come fastest, and what each setting cost."""
    with Bare(url, token) as bare:
        some = list(islice(bare.documents(space), PROBE_PAGES))
    costs: dict[int, list[Cost]] = {threads: [] for threads in SETTINGS}
    for _ in range(PROBE_ROUNDS):
        for threads, spent in costs.items():
            with Bare(url, token, threads=threads) as bare:
                spent.append(cost_of(lambda bare=bare: sum(1 for _ in bare.bodies(space, some))))  # type: ignore[misc]
    medians = {threads: median(spent) for threads, spent in costs.items()}
    return min(medians, key=lambda threads: medians[threads].wall), medians
