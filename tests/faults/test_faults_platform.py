"""`kill -9` of the platform's servers while writers are at work: what was acknowledged is there, and nothing is half.

Once one server on SQLite, once two on one PostgreSQL, which is killed itself at the end. SYNCD_TEST_KILLS is the number
of kills of the long form.
"""

import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from syncd.platform.revisions.tree import NodeRow, decode_node
from syncd.platform.schema import accounts
from syncd.platform.schema.content import change_requests, nodes, revisions, spaces
from syncd.platform.storage.storage_options import StorageOptions
from tests.postgres import Process
from tests.serving import PATIENT, Serving, Zygote

KILLS = int(os.environ.get("SYNCD_TEST_KILLS", "60"))
FEW = 3
WRITERS = 4


@dataclass
class Stage:
    """Servers of one platform, and where it is."""

    servers: Sequence[Serving]
    premises: StorageOptions
    postgres: Process | None = None


@dataclass
class Record:
    """What the platform has acknowledged; a fact is the address of something and a piece of what it must show."""

    facts: list[tuple[str, str]] = field(default_factory=list)
    numbers: list[tuple[str, int]] = field(default_factory=list)
    merges: list[tuple[str, str, str]] = field(default_factory=list)
    interrupted: Counter[str] = field(default_factory=Counter)


class Writer:
    """Writes to one space until it is told to stop, and starts anew after each failure; `text` is unique."""

    def __init__(self, http: httpx.Client, site: str, space: str, record: Record) -> None:
        self.http, self.site, self.space, self.record = http, site, space, record
        self.turn = 0

    def run(self, stop: threading.Event) -> None:
        while not stop.is_set():
            self.turn += 1
            try:
                self._round(f"{self.space}-{self.turn}")
            except httpx.TransportError as failure:
                # Perhaps it happened, perhaps not: nothing was promised.
                self.record.interrupted[type(failure).__name__] += 1
                time.sleep(0.02)

    def _round(self, text: str) -> None:
        prefix = f"/spaces/{self.space}/change-requests"
        request = self._made(prefix, {"subject": text})
        self.record.numbers.append((self.space, request["number"]))
        here = f"{prefix}/{request['id']}"
        self.record.facts.append((here, text))
        page = {"operation": "insert_page", "title": text, "document": {"markdown": f"# {text}\n\nUnique {text}.\n"}}
        self._made(f"{here}/content", {"changes": [page]})
        self.record.facts.append((f"{here}/content", text))
        redirect = {"source": f"/{text}", "destination": {"kind": "external", "url": f"https://example.org/{text}"}}
        self._made(f"{self.site}/redirects", redirect)
        self.record.facts.append((f"{self.site}/redirect?source=/{text}", text))
        if self.turn % 2:
            merged = self._made(f"{here}/merge", {})
            self.record.merges.append((self.space, merged["revision"], text))

    def _made(self, path: str, body: Any) -> Any:
        answer = self.http.post(path, json=body)
        assert answer.is_success, f"{path}: {answer.status_code} {answer.text}"
        return answer.json()


def connected(server: Serving) -> httpx.Client:
    headers = {"Authorization": f"Bearer {server.token}"}
    return httpx.Client(base_url=server.url, headers=headers, trust_env=False, timeout=30)


def prepared(http: httpx.Client) -> tuple[str, list[str]]:
    """Make a site and a space for each writer; return the site's address and the spaces' ids."""
    organization = http.get("/orgs").json()["items"][0]["id"]
    made = [http.post(f"/orgs/{organization}/spaces", json={"title": f"Space {at}"}) for at in range(WRITERS)]
    site = http.post(f"/orgs/{organization}/sites", json={"title": "Docs"}).json()["id"]
    return f"/orgs/{organization}/sites/{site}", [answer.json()["id"] for answer in made]


def battered(stage: Stage, kills: int, random_: random.Random) -> Record:
    """Let writers work while servers are killed and started again; return what was acknowledged."""
    record, stop = Record(), threading.Event()
    with connected(stage.servers[0]) as http:
        site, ids = prepared(http)
    clients = [connected(stage.servers[at % len(stage.servers)]) for at in range(WRITERS)]
    with ThreadPoolExecutor(WRITERS) as pool:
        writers = [Writer(*each, record) for each in zip(clients, [site] * WRITERS, ids, strict=True)]
        running = [pool.submit(writer.run, stop) for writer in writers]
        try:
            for _ in range(kills):
                progress(record, random_.randint(3, 40), running)
                time.sleep(random_.uniform(0, 0.02))
                victim = random_.choice(stage.servers)
                victim.kill()
                victim.start()
            progress(record, WRITERS, running)
        finally:
            stop.set()
            for each in running:
                each.result()
    for client in clients:
        client.close()
    return record


def progress(record: Record, facts: int, running: Sequence[Future[None]]) -> None:
    """Wait until so many more facts are acknowledged."""
    wanted, deadline = len(record.facts) + facts, time.monotonic() + PATIENT
    while len(record.facts) < wanted:
        assert not any(each.done() for each in running), "a writer met what no kill explains"
        assert time.monotonic() < deadline, "the writers get on"
        time.sleep(0.005)


def expect_all(servers: Sequence[Serving], record: Record) -> None:
    """Expect that the servers, each asked for its share, show everything that was acknowledged."""
    assert len(set(record.numbers)) == len(record.numbers)
    for at, server in enumerate(servers):
        with connected(server) as http:
            for path, text in record.facts[at :: len(servers)]:
                answer = http.get(path)
                assert answer.status_code == 200, f"{path}: {answer.status_code}"
                assert text in answer.text, path
            main = {id: http.get(f"/spaces/{id}/content/pages").text for id, _, _ in record.merges}
            for space, revision, text in record.merges[at :: len(servers)]:
                assert f'"{text}"' in main[space]
                assert http.get(f"/spaces/{space}/revisions/{revision}/pages").status_code == 200


def expect_whole(premises: StorageOptions) -> None:
    """Expect that every node and blob of every revision is there, and that no number was given twice."""
    with premises.open() as storage, storage.read() as connection:
        known = {
            row.hash: decode_node(NodeRow(row.hash, row.own, row.children))
            for row in connection.execute(sa.select(nodes))
        }
        roots = connection.execute(sa.select(revisions.c.id, revisions.c.root)).all()
        assert {root for _, root in roots} <= set(known)
        assert {child for node in known.values() for child in node.children} <= set(known)
        for oid in {node.body for node in known.values() if node.body}:
            storage.blobs.get(oid)
        named = connection.scalars(sa.union(sa.select(spaces.c.revision), sa.select(change_requests.c.revision)))
        assert set(named) <= {id for id, _ in roots}
        last = dict(connection.execute(sa.select(spaces.c.id, spaces.c.last_number)).all())
        numbers = connection.execute(sa.select(change_requests.c.space, change_requests.c.number)).all()
        assert sorted(numbers) == sorted((space, number) for space in last for number in range(1, last[space] + 1))
        count = sa.select(sa.func.count()).select_from(accounts.users)
        assert connection.scalar(count) == 1, "the platform was founded once"


def survived(stage: Stage, kills: int) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    record = battered(stage, kills, random.Random(seed))
    if stage.postgres is not None:
        os.kill(stage.postgres.pid, signal.SIGKILL)
        stage.postgres.restart()
    expect_all(stage.servers, record)
    expect_whole(stage.premises)
    print(f"{len(record.facts)} facts, {len(record.merges)} merges, interrupted {dict(record.interrupted)}")
    assert record.interrupted, "a kill fell between a request and its answer"
    assert record.merges


@contextmanager
def on_sqlite(root: Path) -> Iterator[Stage]:
    with Zygote() as zygote:
        server = Serving(zygote, root)
        server.start()
        yield Stage([server], StorageOptions(root))


@contextmanager
def on_postgresql(root: Path, start: Callable[..., Process]) -> Iterator[Stage]:
    process = start(durable=True)
    words = ("--database", process.url, "--files", str(root / "files"))
    with Zygote() as zygote:
        servers = [Serving(zygote, root / name, *words) for name in ("one", "two")]
        for server in servers:
            server.start()
        yield Stage(servers, StorageOptions(root / "one", process.url, str(root / "files")), process)


@pytest.mark.long
def test_after_kills_of_a_server_on_sqlite_all_that_was_acknowledged_is_there(tmp_path: Path) -> None:
    with on_sqlite(tmp_path / "platform") as stage:
        survived(stage, FEW)


@pytest.mark.long
def test_after_kills_of_two_servers_on_postgresql_all_that_was_acknowledged_is_there(
    tmp_path: Path, postgres_process: Callable[..., Process]
) -> None:
    with on_postgresql(tmp_path, postgres_process) as stage:
        survived(stage, FEW)


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_after_many_kills_all_that_was_acknowledged_is_there(
    tmp_path: Path, postgres_process: Callable[..., Process], kind: str
) -> None:
    way = on_sqlite(tmp_path / "platform") if kind == "sqlite" else on_postgresql(tmp_path, postgres_process)
    with way as stage:
        survived(stage, KILLS)
