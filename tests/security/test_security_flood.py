"""Floods of the dearest legal requests, many clients at once, while somebody asks who they are."""

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, HTTPException
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest

from syncd.platform.app import create_app
from syncd.platform.http.scheduler import classify_operation
from tests.contract.in_process import InProcess
from tests.contract.probe import ABSENT, PROBES, Ask, collect
from tests.contract.world import Target, World
from tests.security.large import Large
from tests.serving import Serving, Zygote
from tests.storages import new_storage

pytestmark = pytest.mark.long
collect()

CLIENTS = 32
FLOOD_S = 12.0
PATIENCE_S = 60
DOCUMENTED = tuple(
    line.split()[0]
    for line in (Path(__file__).parents[1] / "contract" / "operations.txt").read_text().splitlines()
    if line and not line.startswith("#")
)
"""The operations of the API document."""
Sent = tuple[str, Ask, World]
"""An operation, its request, and the world that it is of."""
KINDS = ("read", "list", "compute", "content", "write")
ASKS_WHO = """
import http.client, sys, time
port, token, seconds = int(sys.argv[1]), sys.argv[2], float(sys.argv[3])
connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
until = time.monotonic() + seconds
while time.monotonic() < until:
    begun = time.monotonic()
    connection.request("GET", "/v1/user", headers={"Authorization": f"Bearer {token}"})
    answer = connection.getresponse()
    answer.read()
    print(answer.status, time.monotonic() - begun, flush=True)
    time.sleep(0.01)
"""
"""Whoever asks has an interpreter of their own, which has nothing else to do."""


class Flooded:
    """A large platform, served by a process of its own, and requests to flood it with, by kind of work."""

    def __init__(self, world: World, serving: Serving, idle: Serving, requests: Iterable[Sent]) -> None:
        self.world, self.serving, self.idle = world, serving, idle
        self.requests: dict[str, list[Sent]] = {kind: [] for kind in KINDS}
        for sent in requests:
            self.requests[classify_operation(world.target.routes[sent[0]]) or "read"].append(sent)

    def ask_who(self, serving: Serving, token: str, seconds: float) -> list[float]:
        """Ask a server's `/user` for so many seconds, and return how long each answer took, the quickest first."""
        words = [sys.executable, "-c", ASKS_WHO, str(serving.port), token, str(seconds)]
        done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=seconds + PATIENCE_S)
        answers = [line.split() for line in done.stdout.splitlines()]
        assert {status for status, _ in answers} == {"200"}
        return sorted(float(took) for _, took in answers)

    def send_until(self, end: float, kind: str, turns: Iterator[int]) -> Counter[int]:
        """Send requests of a kind one after the other on one connection, and count the answers by their status."""
        found: Counter[int] = Counter()
        connection = HTTPConnection("127.0.0.1", self.serving.port, timeout=PATIENCE_S)
        requests = self.requests[kind]
        while time.monotonic() < end:
            sent = requests[next(turns) % len(requests)]
            try:
                connection.request(*self._spell(*sent))
                answer = connection.getresponse()
                while answer.read(2**20):
                    pass
                found[answer.status] += 1
            except (OSError, HTTPException):
                found[0] += 1
                connection.close()
        connection.close()
        return found

    def _spell(self, operation: str, ask: Ask, by: World) -> tuple[str, str, bytes | None, dict[str, str]]:
        route = self.world.target.routes[operation]
        path = {"organizationId": by.organization, **ask.path}
        address = str(route.path_format)
        for name, value in path.items():
            snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
            address = address.replace("{" + snake + "}", value)
        query = urlencode(ask.query, doseq=True)
        headers = {"Authorization": f"Bearer {by.http}", "Content-Type": "application/json"}
        body = None if ask.body is ABSENT else json.dumps(ask.body).encode()
        return next(iter(route.methods or ())), f"{address}?{query}" if query else address, body, headers


@pytest.fixture(scope="module")
def flooded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flooded]:
    data = tmp_path_factory.mktemp("large") / "platform"
    with Zygote() as zygote, new_storage(data) as storage:
        storage.bootstrap()
        app = create_app(storage)
        with httpx.Client(base_url="http://platform", transport=InProcess(app), timeout=PATIENCE_S) as client:
            target = Target(storage, app, client)
            # Before there is anything large: some of them do all work that is due.
            requests = [(operation, PROBES[operation](by), by) for operation in DOCUMENTED for by in (target.world(),)]
            world = target.world()
            dearest = Large(world, data.with_name("docs")).dearest()
            cheap = [sent for sent in requests if not any(name.partition("/")[0] == sent[0] for name in dearest)]
            requests = [*cheap, *((name.partition("/")[0], make(), world) for name, make in dearest.items())]
        serving, idle = Serving(zygote, data), Serving(zygote, data.with_name("idle"))
        for server in (serving, idle):
            server.start()
        yield Flooded(world, serving, idle, requests)


def test_every_operation_of_the_document_is_among_the_floods(flooded: Flooded) -> None:
    sent = {operation for requests in flooded.requests.values() for operation, _, _ in requests}
    assert sent >= set(DOCUMENTED)


@pytest.mark.parametrize("kind", KINDS)
def test_who_asks_who_they_are_is_answered_within_a_second(flooded: Flooded, kind: str, record_property: Any) -> None:
    turns = count()
    with ThreadPoolExecutor(CLIENTS + 2) as pool:
        end = time.monotonic() + FLOOD_S
        floods = [pool.submit(flooded.send_until, end, kind, turns) for _ in range(CLIENTS)]
        # A server that nobody floods shows what the machine itself makes whoever asks wait.
        idle = pool.submit(flooded.ask_who, flooded.idle, flooded.idle.token, FLOOD_S)
        took = flooded.ask_who(flooded.serving, flooded.world.http, FLOOD_S)
        answers = sum((flood.result() for flood in floods), Counter[int]())
    late, machine = _late(took), _late(idle.result())
    record = (
        f"{kind}: p99 {late:.3f} s of {len(took)}, worst {took[-1]:.3f} s, an idle server's {machine:.3f} s; {answers}"
    )
    record_property("p99", record)
    print(record)
    assert answers.total() > 0
    # Each answer takes several turns of threads, each of which the machine may make wait as long as the idle server.
    assert late < 1.0 + 10 * machine, record


def _late(took: list[float]) -> float:
    """The time within which 99 of 100 are answered."""
    return took[-1 - len(took) // 100]
