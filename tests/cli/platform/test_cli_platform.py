"""`syncd platform serve`: the services that the command line names, and their keys from the environment."""

import json
import os
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from syncd.api.client import Client
from syncd.cli.app import run
from syncd.cli.platform.command import ServiceOptions
from syncd.errors import ConfigInvalid
from syncd.model.ask import AskQuestion
from syncd.model.site import SiteCreate
from syncd.platform.settings import PlatformSettings, ServiceEndpoint
from tests.forked import start_syncd


class _Model(BaseHTTPRequestHandler):
    """Answers every question with the same words, as a model that streams does."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, self.headers["Authorization"], asked["model"]))  # type: ignore[attr-defined]
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        delta = json.dumps({"choices": [{"delta": {"content": "Turn the key."}}]})
        self.wfile.write(f"data: {delta}\n\ndata: [DONE]\n\n".encode())

    def log_message(self, *_: object) -> None:
        """Say nothing: the test looks at what was asked."""


@pytest.fixture
def model() -> Iterator[Any]:
    with HTTPServer(("127.0.0.1", 0), _Model) as server:
        server.asked = []  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_a_served_platform_asks_the_model_that_it_was_started_with(shell: Any, model: Any) -> None:
    services = ("--ask-url", f"http://127.0.0.1:{model.server_port}/v1", "--ask-model", "small")
    words = ("platform", "serve", "--port", "0", "--data", shell.data, *services)
    environ = {**os.environ, "SYNCD_ASK_KEY": "sesame"}
    with start_syncd(*words, environ=environ, pipes=["stdout"]) as server:
        assert server.stdout is not None
        try:
            with Client(server.stdout.readline().strip(), shell.token.read_text().strip()) as client:
                (organization,) = client.organizations.list()
                site = client.sites.create(organization.id, SiteCreate(title="Docs", spaces=[shell.space]))
                client.sites.publish(organization.id, site.id)
                question = AskQuestion(question="How do I install it?")
                *_, last = client.ask.stream(organization.id, site.id, question, format="markdown")
        finally:
            server.terminate()
    assert last.answer is not None
    assert last.answer.answer is not None
    assert last.answer.answer.markdown == "Turn the key."
    assert model.asked == [("/v1/chat/completions", "Bearer sesame", "small")]


def test_systemd_hears_when_it_listens_and_that_it_goes_on(shell: Any, tmp_path: Path) -> None:
    words = ("platform", "serve", "--port", "0", "--data", shell.data)
    address = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(address)
        systemd.settimeout(60)
        environ = {**os.environ, "NOTIFY_SOCKET": address, "WATCHDOG_USEC": "100000"}
        with start_syncd(*words, environ=environ, pipes=["stdout"]) as server:
            assert server.stdout is not None
            try:
                url = server.stdout.readline().strip()
                heard = [systemd.recv(4096).decode() for _ in range(4)]
            finally:
                server.terminate()
    assert heard == [f"STATUS=listens on {url}", "READY=1", "WATCHDOG=1", "WATCHDOG=1"]


def test_services_have_their_keys_from_the_environment_only() -> None:
    environ = {"SYNCD_ASK_KEY": "one", "SYNCD_TRANSLATE_KEY": "two"}
    services = ServiceOptions("https://a.example/v1", "small", "https://t.example/", "")
    assert services.build_settings(environ, requests_per_minute=60, private_addresses=True) == PlatformSettings(
        requests_per_minute=60,
        private_addresses=True,
        ask=ServiceEndpoint("https://a.example/v1", "small", "one"),
        translate=ServiceEndpoint("https://t.example/", "", "two"),
    )
    assert ServiceOptions().build_settings(environ) == PlatformSettings()


@pytest.mark.parametrize(
    "words",
    [
        ("--ask-url", "https://a.example"),
        ("--ask-model", "small"),
        ("--translate-model", "small"),
        ("--ask-url", "https://me:secret@a.example", "--ask-model", "small"),
        ("--translate-url", "a.example"),
    ],
)
def test_a_service_that_cannot_be_asked_is_refused_before_anything_starts(
    shell: Any, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    data = shell.root / "new"
    assert run(["platform", "serve", "--data", str(data), "--port", "0", *words]) == ConfigInvalid.exit_code
    assert "secret" not in capsys.readouterr().err
    assert not data.exists()


@pytest.mark.parametrize("words", [["import", "source"], ["token", "create"]])
def test_a_command_says_when_it_made_a_new_platform(
    shell: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.chdir(shell.root)

    def has_made_one(data: Path) -> bool:
        assert run(["platform", *words, "--data", str(data)]) == 0
        return f"note: there was no platform in {data}; a new one was made\n" in capsys.readouterr().err

    mistyped = shell.root / "platfrom"
    assert [has_made_one(data) for data in (shell.data, mistyped, mistyped)] == [False, True, False]


def test_a_port_that_no_machine_has_is_refused(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["platform", "serve", "--data", str(shell.data), "--port", "99999"]) == 64
    assert "--port 99999: give a whole number, 0 to 65535" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "why"), [("absent", "No such file or directory"), ("file", "it is a file")])
def test_what_is_no_directory_is_not_imported_and_makes_no_platform(
    name: str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    assert run(["platform", "import", str(tmp_path / name), "--data", str(tmp_path / "data")]) == 78
    said = capsys.readouterr().err
    assert said.startswith(f"error: {tmp_path / name} cannot be imported: {why}\n  hint: name a directory")
    assert not (tmp_path / "data").exists()


def test_an_import_names_the_pages_that_no_table_of_contents_lists(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "docs"
    source.mkdir()
    for name in ("README", "a", "b", "c", "d", "e", "f"):
        (source / f"{name}.md").write_text(f"# {name}\n")
    (source / "SUMMARY.md").write_text("* [Home](README.md)\n")
    words = ["platform", "import", str(source), "--data", str(tmp_path / "data")]
    assert run(words) == 0
    said = capsys.readouterr()
    assert "not taken, since SUMMARY.md does not list them: a.md, b.md, c.md, d.md, e.md and 1 more\n" in said.err
    assert run([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["unlisted"] == ["a.md", "b.md", "c.md", "d.md", "e.md", "f.md"]


def test_an_import_without_a_table_of_contents_names_no_line_of_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "docs" / "use" / "more").mkdir(parents=True)
    for name in ("README", "use/README", "use/SUMMARY", "use/more/a"):
        (tmp_path / "docs" / f"{name}.md").write_text(f"# {name}\n")
    words = ["platform", "import", str(tmp_path / "docs"), "--data", str(tmp_path / "data")]
    assert run(words) == 0
    said = capsys.readouterr().err.splitlines()
    why = "the group 'More', a folder without README.md, is below a page, and groups stand at the top; "
    why += "its pages move up"
    assert f"not taken: {why}" in said
    assert "not taken, since it is the table of contents of a folder: use/SUMMARY.md" in said
    assert run([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["skipped"] == [why]
