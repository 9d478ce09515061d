"""Webhooks: signed calls of an address that an installation names, tried a few times, and traced."""

import hmac
import json
import threading
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from syncd.platform.app import create_app
from syncd.platform.integrations import delivery
from syncd.platform.schema.jobs import jobs as table
from syncd.platform.settings import PlatformSettings
from syncd.platform.storage import jobs
from tests.contract.in_process import InProcess
from tests.contract.probes.integrations import manifest, new_name
from tests.contract.world import Target
from tests.due_jobs import run_due_jobs
from tests.platform.clock import Clock
from tests.storages import new_storage

SECRET = "a-shared-secret"
TEXT = {"type": "string"}
ASKED = {"properties": {"webhook_url": TEXT, "webhook_secret": TEXT}}


class Receiver(ThreadingHTTPServer):
    """Somebody else's server: it answers with the next of `answers`, 204 when there is none, and keeps what came."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: list[int] = []
        self.came: list[tuple[Mapping[str, str], bytes]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/hook?token=surely-secret"


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.came.append(({name.lower(): value for name, value in self.headers.items()}, body))
        status = self.server.answers.pop(0) if self.server.answers else 204
        self.send_response(status)
        self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


class Scene:
    """A new organization with an installed integration, and the clock that the platform's jobs go by."""

    def __init__(self, target: Target, clock: Clock) -> None:
        self.clock = clock
        self.storage = target.storage
        self.world = target.world()
        self.path = {"integrationName": new_name(self.world)}
        asked = {"account": ASKED, "space": ASKED}
        self.world.made("publishIntegration", self.path, body=manifest(self.world, configurations=asked))
        body = {"organization": self.world.organization}
        self.path["installationId"] = self.world.made("installIntegration", self.path, body=body)["id"]

    def later(self, seconds: float) -> None:
        self.clock.now += timedelta(seconds=seconds)

    def work(self, *, private: bool = True) -> int:
        return run_due_jobs(
            jobs.JobContext(self.storage, PlatformSettings(private_addresses=private)), delivery.HANDLERS
        )

    def configure(self, url: str, **members: Any) -> Any:
        configuration = {"webhook_url": url, "webhook_secret": SECRET, **members}
        return self.world.call("updateIntegrationInstallation", self.path, body={"configuration": configuration})

    def newest(self) -> Any:
        path = {"integrationName": self.path["integrationName"]}
        listed = self.world.made("listIntegrationEvents", path)["items"]
        return self.world.made("getIntegrationEvent", path | {"eventId": listed[0]["id"]})

    def wait_s(self) -> float:
        """Seconds until the next try."""
        with self.storage.read() as connection:
            query = sa.select(table.c.due_at).where(table.c.kind == "deliver_event")
            due = datetime.fromisoformat(str(connection.scalar(query)))
        return (due - self.clock.now).total_seconds()


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Target, Clock]]:
    clock = Clock()
    with new_storage(tmp_path_factory.mktemp("webhooks"), clock=lambda: clock.now) as storage:
        app = create_app(storage)
        with httpx.Client(base_url="http://platform", transport=InProcess(app)) as client:
            yield Target(storage, app, client), clock


@pytest.fixture
def scene(platform: tuple[Target, Clock]) -> Iterator[Scene]:
    scene = Scene(*platform)
    yield scene
    with scene.storage.write() as connection:
        connection.execute(table.delete())


def test_an_event_is_sent_once_signed_with_the_secret(scene: Scene, receiver: Receiver) -> None:
    scene.configure(receiver.url)
    before = scene.newest()
    assert before["event"]["status"] == "failed"
    assert scene.work() == 1
    [(headers, body)] = receiver.came
    event = scene.newest()
    assert event["event"]["status"] == "success"
    assert json.loads(body) == event["event"]["payload"]
    assert headers["content-type"] == "application/json"
    moment, signature = headers["x-gitbook-signature"].split(",")
    assert moment == f"t={int(scene.clock.now.timestamp())}"
    expected = hmac.new(SECRET.encode(), f"{moment[2:]}.".encode() + body, "sha256").hexdigest()
    assert signature == f"v1={expected}"
    assert [line["level"] for line in event["trace"]["logs"]] == ["debug", "info"]


def test_neither_the_secret_nor_the_address_is_told(scene: Scene, receiver: Receiver) -> None:
    scene.configure(receiver.url)
    scene.configure(receiver.url + "&more")
    scene.work()
    assert all(SECRET.encode() not in body for _, body in receiver.came)
    assert "surely-secret" not in json.dumps(scene.newest()["trace"])


def test_a_call_that_fails_is_tried_three_times_more_and_each_is_traced(scene: Scene, receiver: Receiver) -> None:
    receiver.answers = [500, 429, 503, 502, 204]
    scene.configure(receiver.url)
    scene.work()
    waits = []
    for _ in range(3):
        waits.append(scene.wait_s())
        assert scene.newest()["event"]["status"] == "failed"
        scene.later(waits[-1] - 0.01)
        assert scene.work() == 0
        scene.later(0.01)
        assert scene.work() == 1
    for wait, about in zip(waits, (1, 2, 4), strict=True):
        assert 0.9 * about <= wait + 0.001
        assert wait <= 1.1 * about + 0.001
    event = scene.newest()
    assert event["event"]["status"] == "failed"
    assert [line["level"] for line in event["trace"]["logs"]] == ["debug", "warn", "warn", "warn", "error"]
    assert len(receiver.came) == 4
    assert len({body for _, body in receiver.came}) == 1
    assert len({headers["x-gitbook-signature"] for headers, _ in receiver.came}) > 1


def test_a_call_that_succeeds_at_last_is_a_success(scene: Scene, receiver: Receiver) -> None:
    receiver.answers = [500]
    scene.configure(receiver.url)
    scene.work()
    scene.later(2)
    scene.work()
    assert scene.newest()["event"]["status"] == "success"


@pytest.mark.parametrize("status", [302, 400, 410])
def test_an_answer_that_another_try_would_not_change_ends_it(scene: Scene, receiver: Receiver, status: int) -> None:
    receiver.answers = [status]
    scene.configure(receiver.url)
    scene.work()
    assert scene.newest()["event"]["status"] == "failed"
    assert len(receiver.came) == 1


def test_nobody_who_listens_is_tried_again(scene: Scene, receiver: Receiver) -> None:
    url = receiver.url
    receiver.shutdown()
    receiver.server_close()
    scene.configure(url)
    scene.work()
    assert "did not answer" in scene.newest()["trace"]["logs"][-1]["message"]
    assert scene.wait_s() > 0


def test_an_address_inside_is_not_called_unless_the_operator_allows_it(scene: Scene, receiver: Receiver) -> None:
    scene.configure(receiver.url)
    scene.work(private=False)
    event = scene.newest()
    assert event["event"]["status"] == "failed"
    assert "not called" in event["trace"]["logs"][-1]["message"]
    assert receiver.came == []


def test_what_a_dead_worker_may_have_sent_is_sent_again(scene: Scene, receiver: Receiver) -> None:
    scene.configure(receiver.url)

    def die(work: jobs.JobContext, payload: Mapping[str, Any]) -> None:
        delivery._call_webhook(work, payload["url"], payload["secret"], b"{}")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_due_jobs(jobs.JobContext(scene.storage, PlatformSettings(private_addresses=True)), {"deliver_event": die})
    scene.later(jobs.LEASE.total_seconds())
    scene.work()
    assert len(receiver.came) == 2
    assert scene.newest()["event"]["status"] == "success"


def test_an_installation_that_is_removed_hears_so(scene: Scene, receiver: Receiver) -> None:
    scene.configure(receiver.url)
    scene.world.made("uninstallIntegration", scene.path)
    scene.work()
    told = [json.loads(body)["type"] for _, body in receiver.came]
    assert sorted(told) == ["installation_deleted", "installation_setup"]


def test_an_integration_that_is_gone_calls_nobody(scene: Scene, receiver: Receiver) -> None:
    scene.configure(receiver.url)
    scene.world.made("unpublishIntegration", {"integrationName": scene.path["integrationName"]})
    scene.work()
    assert receiver.came == []


def test_a_space_may_have_a_webhook_of_its_own(scene: Scene, receiver: Receiver) -> None:
    scene.configure("https://example.com/not-called")
    space = scene.world.space(changes=())["id"]
    body = {"space": space, "configuration": {"webhook_url": receiver.url}}
    scene.world.made("installIntegrationOnSpace", scene.path, body=body)
    scene.world.write(space, [{"operation": "insert_page", "title": "New", "document": {"markdown": "# New\n"}}])
    scene.work(private=True)
    told = [json.loads(body)["type"] for _, body in receiver.came]
    assert sorted(told) == ["space_content_updated", "space_installation_setup"]


@pytest.mark.parametrize("url", ["ftp://example.com", "javascript:alert(1)", "nowhere", "http://"])
def test_only_a_web_address_with_a_secret_is_a_webhook(scene: Scene, url: str) -> None:
    assert scene.configure(url).status_code == 400
    assert scene.configure("https://example.com", webhook_secret="").status_code == 400
