"""What a worker says and does while the database of its fleet is away, and after others counted it as dead."""

import signal
from collections.abc import Callable, Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler
from itertools import pairwise
from pathlib import Path

import httpx
import pytest

from tests.answering import AnsweringServer, forward, send_answer
from tests.fleet.conftest import Fleet, Worker, wait_until
from tests.postgres import Process
from tests.serving_git import TOKEN, serve_git
from tests.sync.conftest import new_world

pytestmark = [pytest.mark.story, pytest.mark.timeout(300)]


@pytest.fixture
def server(postgres_process: Callable[..., Process]) -> Process:
    """A database that goes away and comes back."""
    return postgres_process()


@pytest.fixture
def fleet_of_server(tmp_path: Path, server: Process) -> Iterator[Fleet]:
    """A fleet whose database is that server."""
    with new_world(tmp_path) as world:
        fleet = Fleet(world, server.url)
        yield fleet
        fleet.end()


def read_lines(worker: Worker) -> list[str]:
    """What a worker has said, without what it says of each run that works."""
    lines = worker.log.read_text().splitlines()
    assert not any(line.startswith(("Traceback", " ", "procrastinate.", "psycopg.")) for line in lines), lines
    return [line for line in lines if "the fleet at" in line or "broke off" in line or "lease" in line]


def start_stopped(fleet: Fleet) -> Worker:
    """Start a worker that stops itself in the middle of a run, which has opened a change request."""
    first = fleet.start("before")
    fleet.wait_for_run()
    assert first.end() == 0
    fleet.commit("Edit", {"options.md": "# Options\n\n* first\n* second\n* third\n"})
    worker = fleet.start("a", environ={"SYNCD_STOP_AT": "change-request-opened"})
    fleet.syncd("fleet", "wake", "docs")
    wait_until(worker.is_stopped, "in the middle of its run")
    return worker


def ask(path: Path, at: str) -> str:
    with httpx.Client(transport=httpx.HTTPTransport(uds=str(path)), base_url="http://localhost") as client:
        return client.get(at).text


def test_a_worker_says_once_that_its_database_is_away_and_goes_on_by_itself(
    fleet_of_server: Fleet, server: Process
) -> None:
    fleet = fleet_of_server
    fleet.make(interval=1)
    probes = fleet.root / "probes"
    worker = fleet.start("a", "--listen", f"unix:{probes}")
    done = fleet.wait_for_run()
    for outage in (1, 2):
        server.halt()
        wait_until(lambda: ask(probes, "/readyz").startswith("not ready"), "it takes no work")
        assert 'syncd_worker_ready{worker="a"} 0.0' in ask(probes, "/metrics")
        server.start()
        done = fleet.wait_for_run(fleet.count_runs())
        wait_until(lambda: ask(probes, "/readyz") == "ready\n", "it takes work again")
        assert f'syncd_worker_outages_total{{worker="a"}} {outage}.0' in ask(probes, "/metrics")
        told = [line for line in read_lines(worker) if "the fleet at" in line and "ready:" not in line]
        assert ["no connection" in line for line in told] == [True, False] * outage, told
        assert "answers again, after" in told[-1]
    assert fleet.wait_for_run(done) > done
    assert worker.end() == 0


def test_a_run_that_its_database_left_is_one_line_and_is_done_again(fleet_of_server: Fleet, server: Process) -> None:
    fleet = fleet_of_server
    fleet.make()
    worker = start_stopped(fleet)
    server.halt()
    worker.signal(signal.SIGCONT)
    wait_until(lambda: any("the run broke off" in line for line in read_lines(worker)), "it is said")
    server.start()
    wait_until(lambda: len(fleet.list_requests()) == 1 and fleet.status()["is_well"], "the run is done")
    (line,) = [line for line in read_lines(worker) if "the run broke off" in line]
    assert line.startswith("docs: ")
    assert "stays due" in line
    assert fleet.status()["is_well"]
    assert worker.end() == 0


def test_a_worker_that_was_counted_as_dead_takes_up_work_again(fleet: Fleet) -> None:
    fleet.make(interval=1)
    asleep = start_stopped(fleet)
    done = fleet.count_runs()
    other = fleet.start("b")
    done = fleet.wait_for_run(done)
    asleep.signal(signal.SIGCONT)
    wait_until(lambda: any("the lease was lost" in line for line in read_lines(asleep)), "it says so")
    assert other.end() == 0
    fleet.wait_for_run(max(done, fleet.count_runs()))
    assert fleet.status()["repositories"][0]["last_worker"] == "a"
    assert len([line for line in read_lines(asleep) if line.startswith("docs: the lease")]) == 1
    assert fleet.status()["sum"]["lost_leases"] == 1
    assert asleep.end() == 0


@pytest.mark.parametrize("status", [500, 503])
def test_a_git_host_that_answers_with_errors_is_asked_less_and_less_while_the_platform_is_well(
    fleet: Fleet, status: int
) -> None:
    token = fleet.root / "git-token"
    token.write_text(TOKEN)
    token.chmod(0o600)
    with serve_git(fleet.root) as host:
        file = fleet.write_config(interval=60)
        file.write_text(
            file.read_text().replace(f'"{fleet.hosted}"', f'"{host.url}/hosted.git"\ntoken_file = "{token}"')
        )
        for words in (("init",), ("add", "--config", file)):
            assert fleet.syncd("fleet", *words).returncode == 0
        fleet.run_here("a")
        host.status, waits = status, []
        for _ in range(4):
            (failed,) = fleet.run_here("a")
            assert failed.outcome.exit_code == 69, failed
            waits.append(fleet.status()["repositories"][0]["due_in"])
        assert all(2 * 0.7 < later / former < 2 * 1.4 for former, later in pairwise(waits)), waits
        host.status = 0
        fleet.run_here("a")
        assert fleet.status()["repositories"][0]["due_in"] <= 60, "all is well at once"


def test_a_platform_that_answers_with_pages_is_asked_less_and_less_while_the_git_host_is_well(fleet: Fleet) -> None:
    page = b""

    def answer(request: BaseHTTPRequestHandler) -> None:
        content = request.rfile.read(int(request.headers.get("Content-Length") or 0))
        if page:
            send_answer(request, 200, "text/html", page)
        else:
            forward(request, fleet.world.url, content)

    with closing(AnsweringServer(answer)) as server:
        file = fleet.write_config(interval=60)
        file.write_text(file.read_text().replace(fleet.world.url, server.url))
        for words in (("init",), ("add", "--config", file)):
            assert fleet.syncd("fleet", *words).returncode == 0
        fleet.run_here("a")
        page, waits = b"<!doctype html><title>Sign in</title>", []
        for _ in range(4):
            assert [one.outcome.exit_code for one in fleet.run_here("a") if one.flow == "mirror"] == [69]
            waits.append(fleet.status()["repositories"][0]["due_in"])
        assert all(2 * 0.7 < later / former < 2 * 1.4 for former, later in pairwise(waits)), waits
        page = b""
        fleet.run_here("a")
        assert fleet.status()["repositories"][0]["due_in"] <= 60, "all is well at once"
