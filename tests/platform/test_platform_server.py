"""The server: says where it listens, ends when it is asked to, and gives its port back."""

import contextlib
import select
import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from syncd import errors
from syncd.platform.server import BackgroundServer, serve
from syncd.platform.storage.storage import Storage
from syncd.platform.storage.storage_options import StorageOptions
from tests.forked import Forked
from tests.platform.together import start_serving


@contextlib.contextmanager
def _served(data: Path) -> Iterator[tuple[Forked, str]]:
    with start_serving(data) as process:
        try:
            assert process.stdout is not None
            assert select.select([process.stdout], [], [], 30)[0], "announced within 30 s"
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_announces_where_it_listens_and_ends_on_a_signal(tmp_path: Path, number: signal.Signals) -> None:
    with _served(tmp_path) as (process, url):
        token = (tmp_path / "token").read_text().strip()
        # The client's connection stays open: an idle one must not hold the server up.
        with httpx.Client(headers={"Authorization": f"Bearer {token}"}, trust_env=False, timeout=30) as client:
            assert client.get(f"{url}/v1/user").status_code == 200
            process.send_signal(number)
            assert process.wait(60) == 0
        assert process.stdout is not None
        assert process.stderr is not None
        assert (process.stdout.read(), process.stderr.read()) == ("ended\n", "")


def test_a_request_that_never_ends_does_not_keep_it_alive(tmp_path: Path) -> None:
    with _served(tmp_path) as (process, url):
        host, port = url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as stuck:
            stuck.sendall(b"POST /v1/user HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{")
            time.sleep(0.2)
            process.terminate()
            assert process.wait(timeout=60) == 0


def test_it_ends_when_its_caller_says_so(tmp_path: Path) -> None:
    seen: list[str] = []
    former = signal.getsignal(signal.SIGTERM)
    serve(StorageOptions(tmp_path), host="127.0.0.1", port=0, announce=seen.append, stop=lambda: bool(seen))
    assert seen[0].startswith("http://127.0.0.1:")
    assert signal.getsignal(signal.SIGTERM) is former


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, Storage(tmp_path) as storage:
        port = taken.getsockname()[1]
        with pytest.raises(errors.ConfigInvalid, match=f"127.0.0.1:{port}"):
            BackgroundServer(storage, port=port).start()


def test_in_the_background_it_starts_answers_and_gives_its_port_back(storage: Storage) -> None:
    background = BackgroundServer(storage)
    url = background.start()
    assert httpx.get(f"{url}/openapi.json", trust_env=False, timeout=30).status_code == 200
    background.stop()
    assert not [thread for thread in threading.enumerate() if thread.name == "syncd-platform"]
    with BackgroundServer(storage, port=int(url.rpartition(":")[2])) as again:
        assert again == url


def test_an_answer_on_a_kept_connection_is_not_delayed(http: httpx.Client) -> None:
    # Nagle's algorithm against delayed acknowledgements costs 40 ms for each answer.
    http.get("/v1/user")
    started = time.monotonic()
    for _ in range(50):
        http.get("/v1/user")
    assert (time.monotonic() - started) / 50 < 0.03
