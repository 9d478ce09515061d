"""What a request makes the platform do: once for all who ask, and for nobody who has left."""

import contextlib
import os
import shutil
import socket
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from syncd.layout.richtext.references import find_references
from syncd.platform.app import create_app
from syncd.platform.http.scheduler import AT_ONCE
from syncd.platform.server import BackgroundServer
from syncd.platform.services.directory.read import import_directory
from syncd.platform.storage.blobs import BlobFolder
from syncd.platform.storage.storage import Storage
from tests.contract.in_process import InProcess
from tests.contract.world import Target, World
from tests.storages import new_storage

PATIENCE_S = 60
DEAR = "- a\n" * 15_000
"""A page that takes a good part of a second as a document."""


class Counting(BlobFolder):
    """Blobs in a directory that count how often each is read, and wait while they are not `is_ready`."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.read: Counter[str] = Counter()
        self.is_ready = threading.Event()
        self.is_ready.set()

    def get(self, oid: str) -> bytes:
        """As `Blobs` says."""
        self.read[oid] += 1
        assert self.is_ready.wait(PATIENCE_S)
        return super().get(oid)


class Platform:
    """A server with a space of dear pages."""

    def __init__(self, storage: Storage, blobs: Counting, url: str, space: str) -> None:
        self.blobs = blobs
        self.url = url
        token = storage.token_file.read_text().strip()
        self.client = httpx.Client(base_url=url, trust_env=False, timeout=PATIENCE_S)
        self.client.headers["Authorization"] = f"Bearer {token}"
        self.space = f"/v1/spaces/{space}"
        self.pages = self.client.get(f"{self.space}/content/pages").json()["pages"]

    def publish(self) -> str:
        """Publish the space as a site, and return the path of the site."""
        sites = f"/v1/orgs/{self.client.get(self.space).json()['organization']}/sites"
        site = self.client.post(sites, json={"title": "Docs", "visibility": "public"}).json()["id"]
        added = self.client.post(f"{sites}/{site}/site-spaces", json={"spaceId": self.space.rpartition("/")[2]})
        assert added.is_success
        published = self.client.post(f"{sites}/{site}/publish").json()["urls"]["published"]
        return httpx.URL(published).path

    def ask_and_leave(self, path: str) -> None:
        """Send a request, leave at once, and return when the server has noticed: it closes its end."""
        with self.asked(path) as connection:
            connection.shutdown(socket.SHUT_WR)
            assert connection.recv(1) == b""

    @contextlib.contextmanager
    def asked(self, path: str) -> Iterator[socket.socket]:
        """A connection on which a request was sent."""
        host, port = self.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=PATIENCE_S) as connection:
            head = f"GET {path} HTTP/1.1\r\nHost: a\r\nAuthorization: {self.client.headers['Authorization']}\r\n\r\n"
            connection.sendall(head.encode())
            yield connection


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A directory with a platform of dear pages that no test uses, and its space: each gets a copy."""
    root = tmp_path_factory.mktemp("imported")
    docs = root / "docs"
    docs.mkdir()
    for number in range(24):
        (docs / f"page-{number}.md").write_text(f"# Page {number}\n\n{DEAR}")
    with new_storage(root / "platform", blobs=Counting(root / "blobs")) as storage:
        storage.bootstrap()
        return root, import_directory(storage, docs, title="Docs").space


@pytest.fixture
def platform(imported: tuple[Path, str], tmp_path: Path) -> Iterator[Platform]:
    template, space = imported
    for name in ("platform", "blobs"):
        shutil.copytree(template / name, tmp_path / name)
    blobs = Counting(tmp_path / "blobs")
    # Addresses of files in an answer hold when they expire, in steps: what is asked for in two steps is made twice.
    now = datetime.now(UTC)
    with (
        Storage(tmp_path / "platform", blobs=blobs, clock=lambda: now) as storage,
        BackgroundServer(storage, works=False) as url,
    ):
        made = Platform(storage, blobs, url, space)
        with contextlib.closing(made.client):
            blobs.read.clear()
            yield made


@pytest.fixture(params=["sqlite", "postgresql"])
def world(request: pytest.FixtureRequest, tmp_path: Path, postgres_url: Callable[[], str]) -> Iterator[World]:
    """A new organization, on each kind of database."""
    database = postgres_url() if request.param == "postgresql" else None
    with Storage(tmp_path / "platform", database=database) as storage:
        app = create_app(storage)
        with httpx.Client(base_url="http://platform", transport=InProcess(app)) as client:
            yield Target(storage, app, client).world()


def wait_for(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


def document(platform: Platform, number: int) -> str:
    return f"{platform.space}/content/page/{platform.pages[number]['id']}?format=document"


def test_a_document_is_made_once_for_all_who_ask_for_it(platform: Platform) -> None:
    with ThreadPoolExecutor(10) as pool:
        asked = [pool.submit(platform.client.get, document(platform, number % 2)) for number in range(20)]
        answers = [each.result() for each in asked]
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.content for answer in answers}) == 2
    assert max(platform.blobs.read.values()) == 1


def test_a_document_that_is_asked_for_by_its_id_is_made_once(platform: Platform) -> None:
    path = f"{platform.space}/documents/{platform.pages[0]['documentId']}"
    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(platform.client.get, [path] * 10))
    assert {answer.status_code for answer in answers} == {200}
    assert max(platform.blobs.read.values()) == 1


def test_nothing_is_made_for_clients_that_left(platform: Platform) -> None:
    platform.blobs.is_ready.clear()
    for number in range(1, 24):
        platform.ask_and_leave(document(platform, number))
    # The server stops a request just after it closed its connection; its answer here says that the last one is stopped.
    assert platform.client.get(platform.space).status_code == 200
    platform.blobs.is_ready.set()
    assert platform.client.get(document(platform, 0)).status_code == 200
    assert sum(platform.blobs.read.values()) <= AT_ONCE["compute"] + 1


def test_no_page_of_a_site_is_made_for_visitors_that_left(platform: Platform) -> None:
    published = platform.publish()
    platform.blobs.is_ready.clear()
    for number in range(1, 24):
        platform.ask_and_leave(f"{published}page-{number}")
    assert platform.client.get(platform.space).status_code == 200
    platform.blobs.is_ready.set()
    assert platform.client.get(f"{published}page-0").status_code == 200
    assert len(platform.blobs.read) <= AT_ONCE["compute"] + 1


def test_what_is_remembered_for_one_reader_is_shown_to_no_other(world: World) -> None:
    a_page = {"operation": "insert_page", "title": "A page", "slug": "a-page", "document": {"markdown": "# A page\n"}}
    secret = world.space("Secret", changes=[a_page])
    link = f"[x]({secret['urls']['app']}/a-page)\n"
    space = world.space(changes=[{"operation": "insert_page", "title": "Home", "document": {"markdown": link}}])["id"]
    page = world.made("listPages", {"spaceId": space})["pages"][0]["id"]
    world.made("updateSpaceById", {"spaceId": secret["id"]}, body={"defaultLevel": None})
    reader = world.person("read")[1]

    def kinds(by: str | None = None) -> set[str]:
        found = world.made("getPageById", {"spaceId": space, "pageId": page}, query={"format": "document"}, by=by)
        return {ref["kind"] for ref in find_references(found["document"]["nodes"])}

    assert (kinds(), kinds(reader)) == ({"page"}, {"url"})
    world.made("deleteSpaceById", {"spaceId": secret["id"]})
    assert kinds() == {"url"}


def workers() -> list[str]:
    """The processes that lay out a PDF for this one."""
    command = ["ps", "-A", "-o", "ppid=,args="]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return [
        line for line in listed if line.split()[0] == str(os.getpid()) and "syncd.platform.services.pdf.worker" in line
    ]


def test_the_process_of_a_pdf_ends_when_its_client_leaves(platform: Platform) -> None:
    part = {"page": platform.pages[0]["id"], "only": "true"}
    url = httpx.URL(platform.client.get(f"{platform.space}/pdf", params=part).json()["url"])
    with platform.asked(url.raw_path.decode()):
        wait_for(lambda: len(workers()) == 1)
    wait_for(lambda: not workers())
    assert platform.client.get("/v1/user").status_code == 200
