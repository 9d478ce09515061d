"""The control socket, and the pauses that it is for: over real sockets, with a clock that the test sets."""

import json
import os
import resource
import socket
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from threading import enumerate as enumerate_threads

import pytest

from syncd.daemon.control.commands import Commands
from syncd.daemon.control.control_socket import (
    LINE_BYTES_MAX,
    ControlAnswer,
    ControlRequest,
    ask_service,
    find_runtime_directory,
    is_permitted,
    list_sockets,
    listen_control,
    read_peer,
)
from syncd.daemon.control.pauses import Pauses
from syncd.daemon.control.run_files import PAUSE_FILE, RunFiles, read_service_pause
from syncd.daemon.health import RepositoryHealth, ServiceHealth, find_faults, list_pauses, render_status
from syncd.daemon.metrics import render_metrics
from syncd.daemon.task import Job, Task
from syncd.errors import ConfigInvalid, ServiceUnavailable, SyncdError
from syncd.store.pauses import PauseRecord, read_pause
from syncd.store.runs import RunRecord, read_runs
from syncd.sync.outcome import Waiting

EPOCH = 1_800_000_000.0


class Bench:
    """The commands of a service over two tasks, and the time that they believe in."""

    def __init__(self, root: Path) -> None:
        self.now, self.asked, self.mistake = EPOCH, list[str](), ""
        self.git_dirs = {root / name: root / name / ".git" for name in ("docs", "other")}
        for git_dir in self.git_dirs.values():
            git_dir.mkdir(parents=True)
        self.state, self.notices = root / "state", list[str]()
        self.start()

    def start(self) -> None:
        """Start the service, anew: it knows what is on the disk."""
        self.tasks = [self._build_task(path) for path in self.git_dirs]
        self.pauses = Pauses(RunFiles(self.state), self.git_dirs.get, lambda: self.now, self.notices.append)
        self.commands = Commands(self.pauses, self._reload, lambda: self.asked.append("stop"), lambda: self.tasks)
        self.pauses.update_tasks(self.tasks)

    def ask(self, command: str, repository: str = "", seconds: float | None = None) -> tuple[str, ...]:
        request = ControlRequest.model_validate({"command": command, "repository": repository, "seconds": seconds})
        answer = self.commands.carry_out(request)
        assert answer.exit_code == 0
        return answer.messages

    def list_paused(self) -> list[str]:
        self.wait = self.pauses.update_tasks(self.tasks)
        return [task.job.name for task in self.tasks if task.is_paused]

    def _build_task(self, path: Path) -> Task:
        job = Job(path.name, path, lambda: path / ".git", 60, lambda cancelled: [])
        return Task(job, clock=lambda: self.now)

    def _reload(self) -> SyncdError | None:
        self.asked.append("reload")
        return ConfigInvalid(self.mistake, hint="mend it") if self.mistake else None


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.fixture
def runtime() -> Iterator[Path]:
    """A directory whose name is short enough for a socket."""
    with TemporaryDirectory(dir="/tmp") as directory:
        yield Path(directory) / "syncd"


def test_a_pause_lets_a_run_end_begins_none_and_ends_by_itself(bench: Bench) -> None:
    docs, other = bench.tasks
    docs.begin_run()
    assert bench.ask("pause", "docs", 7200) == (
        "docs: paused until 2027-01-15 10:00:00 UTC; its run ends between two steps",
    )
    assert docs.is_cancelled()
    docs.end_run(Waiting("stopped", exit_code=143), now=EPOCH, again=False)
    docs.request_now()
    assert bench.list_paused() == ["docs"]
    assert (bench.wait, docs.find_wait()) == (7200, float("inf"))
    assert other.find_wait() <= 0
    bench.now += 7200
    assert bench.list_paused() == []
    assert docs.find_wait() <= 0
    assert bench.notices == ["docs: paused until 2027-01-15 10:00:00 UTC", "docs: the pause is over"]


def test_a_pause_outlives_the_service_and_a_resume_too(bench: Bench) -> None:
    bench.ask("pause")
    bench.start()
    assert bench.list_paused() == ["docs", "other"]
    bench.now += 400 * 86400
    assert bench.list_paused() == ["docs", "other"]
    assert bench.ask("resume", "other") == ("other: resumed",)
    assert bench.ask("resume", "other") == ("other: was not paused",)
    bench.start()
    assert bench.list_paused() == ["docs"]


def test_who_reads_the_repository_alone_knows_of_its_pause(bench: Bench) -> None:
    bench.ask("pause", "docs", 60)
    (path, git_dir), _ = bench.git_dirs.items()
    environ = {"STATE_DIRECTORY": "/nonexistent"}
    found = read_service_pause(path, git_dir, environ, bench.now)
    assert found is not None
    assert found.until == "2027-01-15T08:01:00.000+00:00"
    assert read_service_pause(path, None, {"STATE_DIRECTORY": str(bench.state)}, bench.now) == found
    assert read_service_pause(path, git_dir, environ, bench.now + 61) is None
    (git_dir / PAUSE_FILE).unlink()
    bench.start()
    assert bench.list_paused() == ["docs"], "the service's own directory has it, too"


@pytest.mark.parametrize("text", ["", "[]", "{", '{"format": 2}', '{"format":1,"is_pause":true,"at":"x","until":""}'])
def test_a_damaged_record_is_no_pause(tmp_path: Path, text: str) -> None:
    (tmp_path / "pause.json").write_text(text)
    assert read_pause(tmp_path / "pause.json") is None


def test_a_pause_that_cannot_be_written_counts_all_the_same_and_says_so(bench: Bench) -> None:
    bench.state.write_text("no directory")
    answer = bench.commands.carry_out(ControlRequest(command="pause"))
    assert answer.exit_code == 1
    assert "cannot be written" in answer.messages[0]
    assert bench.list_paused() == ["docs", "other"]


def test_reload_and_stop_are_answered_with_what_came_of_them(bench: Bench) -> None:
    assert bench.ask("reload") == ("the configuration was read again",)
    bench.mistake = "config.toml: line 3"
    answer = bench.commands.carry_out(ControlRequest(command="reload"))
    assert (answer.exit_code, answer.messages, answer.hint) == (78, ("config.toml: line 3",), "mend it")
    assert bench.ask("stop") == ("running runs end between two steps, and the service stops",)
    assert bench.asked == ["reload", "reload", "stop"]
    unknown = bench.commands.carry_out(ControlRequest(command="pause", repository="dcos"))
    assert (unknown.exit_code, unknown.hint) == (64, "it serves docs, other")


def test_a_reload_tells_of_a_file_with_a_mistake_though_all_others_count(bench: Bench) -> None:
    fault = ConfigInvalid("conf.d/more.toml: repository.0.nonsense - there is no such key")
    more = bench.state.parent / "conf.d" / "more.toml"
    bench.tasks.append(Task(Job("conf.d/more.toml", more, lambda: more, 60, lambda cancelled: [], fault=fault)))
    answer = bench.commands.carry_out(ControlRequest(command="reload"))
    assert (answer.exit_code, answer.messages) == (78, (fault.what,))
    assert answer.hint.startswith("all other files count")


def test_a_paused_repository_has_neither_failed_nor_is_it_in_step(bench: Bench) -> None:
    run = RunRecord("repository", "docs", "failed", at="2026-05-01T10:00:00+00:00", why="no answer", failures=3)
    pause = PauseRecord(True, "2027-01-15T08:00:00.000+00:00", "2027-01-15T10:00:00.000+00:00")
    docs = RepositoryHealth("docs", 60, (run,), has_run=True, pause=pause)
    health = ServiceHealth(True, (docs,))
    assert find_faults(health, EPOCH) == []
    assert list_pauses(health) == ["docs: paused since 2027-01-15T08:00:00Z until 2027-01-15T10:00:00Z"]
    assert render_status(health) == "paused: docs"
    assert 'syncd_paused{repository="docs"} 1.0' in render_metrics(health, EPOCH)
    assert find_faults(ServiceHealth(True, (replace(docs, is_stuck=True),)), EPOCH) != []


Ask = Callable[..., list[dict[str, object]]]


@pytest.fixture
def ask(bench: Bench, runtime: Path) -> Iterator[Ask]:
    """Send lines to a served socket, and return the lines of the answer."""

    def send(*lines: bytes) -> list[dict[str, object]]:
        (path,) = runtime.glob("*.sock")
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(path))
            connection.sendall(b"".join(lines))
            connection.shutdown(socket.SHUT_WR)
            with connection.makefile("rb") as answers:
                return [json.loads(line) for line in answers]

    with listen_control(runtime, bench.commands.carry_out, print, config="/etc/syncd/config.toml"):
        yield send


def test_each_line_is_answered_by_a_line(ask: Ask, bench: Bench, runtime: Path) -> None:
    first, second = ask(b'{"version": 1, "command": "pause", "new": 1}\n', b'{"command": "describe"}\n')
    assert first["messages"] == ["docs: paused until: syncd resume", "other: paused until: syncd resume"]
    assert (second["version"], second["config"]) == (1, "/etc/syncd/config.toml")
    assert second["process"] == os.getpid()
    assert bench.list_paused() == ["docs", "other"]
    (path,) = runtime.iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(runtime.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        (b"pause\n", 64, "the request makes no sense"),
        (b'{"command": "erase"}\n', 64, "command - "),
        (b'{"command": "pause", "seconds": 1e99}\n', 64, "seconds - "),
        (b'{"command": "pause", "seconds": -1}\n', 64, "seconds - "),
        (b'{"version": 2, "command": "pause"}\n', 69, "speaks version 1"),
        (b" " * LINE_BYTES_MAX + b"\n", 64, "one line of at most"),
        (b'{"command": "pause"}', 64, "one line of at most"),
    ],
)
def test_a_request_that_makes_no_sense_changes_nothing(
    ask: Ask, bench: Bench, line: bytes, code: int, message: str
) -> None:
    (answer,) = ask(line)
    assert answer["exit_code"] == code
    assert message in str(answer["messages"])
    assert bench.list_paused() == []


def test_one_who_says_nothing_keeps_no_other_from_asking(ask: Ask, runtime: Path) -> None:
    (path,) = runtime.glob("*.sock")
    with socket.socket(socket.AF_UNIX) as silent:
        silent.connect(str(path))
        assert ask(b'{"command": "describe"}\n')[0]["exit_code"] == 0


def test_only_the_user_of_the_service_and_root_are_answered() -> None:
    assert is_permitted(1000, 1000)
    assert is_permitted(0, 1000)
    assert not is_permitted(1001, 1000)
    one, other = socket.socketpair()
    with one, other:
        assert read_peer(one) in (os.geteuid(), None)


def test_a_socket_that_nobody_asks_costs_nothing_and_ends_at_once(runtime: Path) -> None:
    def count_turns() -> int:
        lines = Path(f"/proc/self/task/{thread.native_id}/status").read_text().splitlines()
        return int(next(line.split()[1] for line in lines if line.startswith("voluntary_ctxt_switches")))

    with listen_control(runtime, lambda request: pytest.fail("nobody asks"), print):
        (thread,) = [one for one in enumerate_threads() if one.name == "syncd-control"]
        time.sleep(0.05)
        before = count_turns()
        time.sleep(0.4)
        assert count_turns() == before
        begun = time.monotonic()
    assert not thread.is_alive()
    assert time.monotonic() - begun < 0.9


def test_a_service_without_free_descriptors_waits_for_one_without_turning_in_circles(
    ask: Ask, bench: Bench, runtime: Path
) -> None:
    (thread,) = [one for one in enumerate_threads() if one.name == "syncd-control"]
    assert thread.ident is not None
    clock = time.pthread_getcpuclockid(thread.ident)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    (path,) = runtime.glob("*.sock")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        resource.setrlimit(resource.RLIMIT_NOFILE, (connection.fileno(), hard))
        try:
            connection.connect(str(path))
            before = time.clock_gettime(clock)
            time.sleep(0.4)
            spent = time.clock_gettime(clock) - before
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert spent < 0.1
        connection.sendall(ControlRequest(command="describe").model_dump_json().encode() + b"\n")
        with connection.makefile("rb") as lines:
            assert json.loads(lines.readline())["exit_code"] == 0


def test_a_defect_is_reported_and_who_hangs_up_is_not(runtime: Path) -> None:
    notices: list[str] = []

    def answer(request: ControlRequest) -> ControlAnswer:
        if request.command == "describe":
            raise ZeroDivisionError
        return ControlAnswer(messages=("x" * (1 << 22),))

    with listen_control(runtime, answer, notices.append):
        (path,) = runtime.iterdir()
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(path))
            connection.sendall(ControlRequest(command="reload").model_dump_json().encode() + b"\n")
            connection.recv(1)
        with pytest.raises(ServiceUnavailable):
            ask_service(path, ControlRequest(command="describe"), seconds=10)
    assert len(notices) == 1
    assert "ZeroDivisionError" in notices[0]


def test_what_a_killed_service_left_behind_is_taken_away(runtime: Path) -> None:
    runtime.mkdir()
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(runtime / "1.sock"))
    with pytest.raises(ServiceUnavailable):
        ask_service(runtime / "1.sock", ControlRequest(command="describe"), seconds=1)
    with listen_control(runtime, lambda request: pytest.fail("nobody asks"), print):
        assert [path.name for path in runtime.iterdir()] == [f"{os.getpid()}.sock"]
    assert list(runtime.iterdir()) == []


def test_without_a_place_for_a_socket_the_service_goes_on_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    notices: list[str] = []
    for directory in (tmp_path / "file", tmp_path / ("long" * 40)):
        with listen_control(directory, lambda request: pytest.fail("nobody asks"), notices.append):
            assert len(notices) == 1
        assert "do not reach this service" in notices.pop()


def test_the_socket_is_where_systemd_says_or_the_user_looks(tmp_path: Path) -> None:
    assert find_runtime_directory({"RUNTIME_DIRECTORY": "/run/syncd/syncd"}) == Path("/run/syncd/syncd")
    assert find_runtime_directory({"XDG_RUNTIME_DIR": "/run/user/7"}) == Path("/run/user/7/syncd")
    assert find_runtime_directory({"HOME": "/home/a"}) == Path("/home/a/.local/state/syncd/run")
    assert list_sockets({"HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)}) == []


def test_records_bring_no_repository_back_that_was_moved_away(tmp_path: Path) -> None:
    files, docs = RunFiles(tmp_path / "state"), tmp_path / "docs"
    record = RunRecord("repository", "docs", "ok", at="2026-05-01T10:00:00+00:00")
    files.save_runs(docs, docs / ".git", (record,))
    files.save_pause(docs, docs / ".git", PauseRecord(is_pause=True, at=record.at))
    assert not docs.exists()
    assert [read_runs(file) for file in (tmp_path / "state" / "runs").iterdir()] == [(record,)]


def test_records_of_a_run_are_newer_than_what_was_just_read(tmp_path: Path) -> None:
    """A run ends while another thread reads the records of the service that ran before."""
    files, docs = RunFiles(tmp_path), tmp_path / "docs"
    former = RunRecord("repository", "docs", "failed", at="2026-05-01T10:00:00+00:00", failures=1)
    files.save_runs(docs, None, (former,))
    (file,) = (tmp_path / "runs").iterdir()
    text = file.read_bytes()
    file.unlink()
    os.mkfifo(file)
    files = RunFiles(tmp_path)
    reader = Thread(target=files.read_runs, args=(docs,))
    reader.start()
    with file.open("wb") as held:  # the reader waits at the same place
        files.save_runs(docs, None, (replace(former, failures=2),))
        held.write(text)
    reader.join()
    assert files.read_runs(docs) == (replace(former, failures=2),)
