"""`syncd pause`, `resume`, `reload` and `stop`, with the socket of a service that serves no repository."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from syncd.cli.service.durations import parse_duration
from syncd.daemon.control.control_socket import ControlAnswer, ControlRequest, ServedRepository, listen_control
from syncd.repo.repository import Repository
from tests.cli.command_runner import CommandRunner, make_runner


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The user's runtime directory."""
    with TemporaryDirectory(dir="/tmp") as directory:
        monkeypatch.setenv("XDG_RUNTIME_DIR", directory)
        yield Path(directory)


@pytest.fixture
def syncd(
    tmp_path: Path, runtime: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> CommandRunner:
    return make_runner("", tmp_path, monkeypatch, capsys)


class FakeService:
    """Answers at a socket, and keeps what it was asked."""

    def __init__(self, directory: Path, config: str, *repositories: Path) -> None:
        self.requests: list[ControlRequest] = []
        self.listening = listen_control(directory, self.answer, print, config=config)
        self.served = tuple(ServedRepository(name=path.name, path=str(path)) for path in repositories)
        self.exit_code = 0

    def answer(self, request: ControlRequest) -> ControlAnswer:
        if request.command != "describe":
            self.requests.append(request)
        message = f"{request.command} {request.repository} {request.seconds}"
        hint = "" if not self.exit_code else "mend it"
        return ControlAnswer(messages=(message,), exit_code=self.exit_code, hint=hint, repositories=self.served)


@pytest.fixture
def service(runtime: Path, tmp_path: Path) -> Iterator[FakeService]:
    one = FakeService(runtime / "syncd" / "one", "/etc/one.toml", tmp_path / "docs", tmp_path / "other")
    with one.listening:
        yield one


@pytest.mark.parametrize("command", ["pause", "resume", "reload", "stop"])
def test_without_a_service_it_says_how_to_start_one(syncd: CommandRunner, command: str) -> None:
    done = syncd(command)
    assert done.code == 69
    assert "no syncd service runs" in done.err
    assert "systemctl start syncd" in done.err


def test_the_answer_of_the_service_is_printed(syncd: CommandRunner, service: FakeService, tmp_path: Path) -> None:
    assert syncd("pause", "docs", "--for", "1h30m").out == "pause docs 5400.0\n"
    assert syncd("pause").out == "pause  None\n"
    assert syncd("resume", "./docs").out == f"resume {tmp_path / 'docs'} None\n"
    done = syncd("reload", "--json")
    assert json.loads(done.out)["messages"] == ["reload  None"]
    assert json.loads(done.out)["format_version"] == "1.0"
    service.exit_code = 78
    done = syncd("reload")
    assert (done.code, done.out) == (78, "")
    assert "hint: mend it" in done.err


def test_of_several_services_the_repository_or_the_configuration_names_one(
    syncd: CommandRunner, service: FakeService, runtime: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Repository.create(tmp_path / "third", branch="main").close()
    second = FakeService(runtime / "syncd" / "two", "/etc/two.toml", tmp_path / "third")
    with ExitStack() as stack:
        stack.enter_context(second.listening)
        assert syncd("pause").code == 64
        assert "/etc/one.toml, /etc/two.toml" in syncd("pause").err
        assert syncd("pause", "third").code == 0
        assert syncd("pause", "--config", "/etc/two.toml").code == 0
        monkeypatch.chdir(tmp_path / "third")
        assert syncd("pause").code == 0
        assert (len(service.requests), len(second.requests)) == (0, 3)
        assert syncd("pause", "--config", "/etc/three.toml").code == 69


def test_the_only_service_is_not_asked_in_place_of_the_one_that_is_named(
    syncd: CommandRunner, service: FakeService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SYNCD_CONFIG", "/etc/other.toml")
    assert "no service runs with the configuration /etc/other.toml" in syncd("stop").err
    monkeypatch.setenv("SYNCD_CONFIG", "other.toml")
    assert syncd("stop").code == 78
    monkeypatch.delenv("SYNCD_CONFIG")
    for name in ("docs", "third", "plain"):
        Repository.create(tmp_path / name, branch="main").close()
    own = tmp_path / "third" / ".git" / "syncd.toml"
    own.write_text("")
    monkeypatch.chdir(own.parent.parent)
    done = syncd("stop")
    assert (done.code, str(own) in done.err) == (69, True)
    assert syncd("web").code == 69
    assert service.requests == []
    for name in ("docs", "plain"):  # that is served, and one without a configuration
        monkeypatch.chdir(tmp_path / name)
        assert syncd("pause").code == 0
    monkeypatch.setenv("SYNCD_CONFIG", "/etc/one.toml")
    monkeypatch.chdir(own.parent.parent)
    assert syncd("pause").code == 0


def test_a_repository_that_was_added_belongs_to_the_service_of_its_configuration(
    syncd: CommandRunner, runtime: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "xdg" / "syncd" / "config.toml"
    config.parent.mkdir(parents=True)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    Repository.create(tmp_path / "new", branch="main").close()
    config.write_text(f'[[repository]]\npath = "{tmp_path / "new"}"\ninstance = "3fa9c1"\nspace = [{{ id = "s1" }}]\n')
    monkeypatch.chdir(tmp_path / "new")
    with FakeService(runtime / "syncd" / "other", "/etc/other.toml", tmp_path / "docs").listening:
        assert syncd("reload").code == 69
    with FakeService(runtime / "syncd" / "own", str(config), tmp_path / "docs").listening:
        assert syncd("reload").code == 0


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("30m", 1800), ("2h", 7200), ("1d", 86400), ("1H30m", 5400)]
)
def test_a_length_of_time_is_read(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["2", "h", "0s", "-1h", "1.5h", "2 weeks", "30m1h", "99999d", "1e9s"])
def test_what_is_no_length_of_time_is_a_mistake(syncd: CommandRunner, service: FakeService, text: str) -> None:
    assert syncd("pause", f"--for={text}").code == 64
    assert service.requests == []
