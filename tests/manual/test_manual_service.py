"""Pages about the service and its fleet, typed: what runs, what hears of it, and what is copied from syncd."""

from collections.abc import Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

import pytest

from tests.forked import start_syncd
from tests.manual.not_typed import NOT_TYPED
from tests.manual.place import Place, list_lines, plays, read_page, read_part
from tests.postgres import Server

pytestmark = [pytest.mark.story, pytest.mark.timeout(600)]
SERVICE, STATUS_PAGE, FLEET = "how-to/service.md", "how-to/status-page.md", "how-to/fleet.md"
NOTIFICATIONS, WEBHOOKS = "how-to/notifications.md", "how-to/webhooks.md"
CONFIG = "/etc/syncd/config.toml"


@pytest.fixture
def hosted(guides: Place) -> Iterator[Place]:
    """A clone whose configuration a service reads as `service.toml`, with `host.git` as its Git host."""
    guides.type("git clone -q --bare docs host.git && cp docs/.git/syncd.toml service.toml")
    path = guides.root / "service.toml"
    text = path.read_text().replace("[[repository]]", f'[[repository]]\nname = "guides"\npath = "{guides.root}/docs"')
    path.write_text(f'{text}\n[repository.upstream]\nurl = "{guides.root}/host.git"\n')
    guides.names |= {CONFIG: str(path)}
    with ExitStack() as stack:
        guides.environ["XDG_RUNTIME_DIR"] = stack.enter_context(TemporaryDirectory(dir="/tmp"))
        yield guides


def describe_webhooks(listen: str, secret: Path) -> str:
    """What a configuration says of a sender of webhooks."""
    source = f'name = "github"\nkind = "github"\nsecret_file = "{secret}"\n'
    return f'[webhooks]\nlisten = "{listen}"\n\n[[webhooks.source]]\n{source}'


class Receiver(BaseHTTPRequestHandler):
    """Takes what it is sent."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def receiver() -> Iterator[str]:
    """The address of a program that hears of what happens."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Receiver) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@plays(SERVICE, "", "Pause, resume, reload, stop", "Metrics and health", "Packing the repository")
@plays(SERVICE, "A run now and then, instead of a service")
@plays(NOTIFICATIONS)
@plays(WEBHOOKS)
def test_a_service_is_started_told_and_stopped(hosted: Place, receiver: str) -> None:
    config = hosted.root / "service.toml"
    hosted.environ["SYNCD_CONFIG"] = str(config)
    hosted.play(read_part(SERVICE, "A run now and then, instead of a service"), names={}, at="docs")
    hosted.play(read_part(SERVICE, "Packing the repository"), names={}, at="docs")
    (hosted.root / "address").write_text(receiver)
    target = f'[[notifications.target]]\nname = "team"\nurl_file = "{hosted.root}/address"\nprivate = true\n'
    (hosted.root / "address").chmod(0o600)
    config.write_text(f"{config.read_text()}\n{target}")
    make, check = read_page(WEBHOOKS).split("Then read the configuration again")
    hosted.play(make, names={})
    assert (hosted.root / "webhook-github").stat().st_size == 65
    webhooks = describe_webhooks("127.0.0.1:0", hosted.root / "webhook-github")
    config.write_text(f"{config.read_text()}\n{webhooks}")
    names = {**hosted.names, "docs": "guides", "127.0.0.1:9470": hosted.free_address}
    listen, *copied = list_lines(read_part(SERVICE, "Metrics and health"))
    with hosted.start_service(listen, names=names) as service:
        hosted.play(check, names={})
        assert "team: it arrived" in hosted.play(read_page(NOTIFICATIONS), names={})
        said = hosted.play(read_part(SERVICE, "Pause, resume, reload, stop"), names=names)
        assert said.endswith("the service has stopped\n")
        assert service.wait(60) == 0
    del hosted.environ["SYNCD_CONFIG"]
    (line,) = list_lines(read_part(SERVICE, ""))
    with hosted.start_service(line, names=names):
        pass
    (hosted.root / "rules").mkdir()
    hosted.play("```sh\n{}\n```".format("\n".join(copied)), names={"/etc/prometheus/rules": "rules"})
    assert "SyncdDown" in (hosted.root / "rules/syncd.yaml").read_text()


@plays(STATUS_PAGE, "", "Where it listens")
def test_the_status_page_is_where_it_is_asked_to_be(hosted: Place) -> None:
    hosted.environ["SYNCD_CONFIG"] = hosted.names[CONFIG]
    with hosted.start_service("syncd run --web 127.0.0.1:9999", names={"127.0.0.1:9999": "127.0.0.1:0"}):
        assert "sign-in?link=" in hosted.play(read_part(STATUS_PAGE, ""), names={})
    names = {"127.0.0.1:9999": hosted.free_address, "/run/syncd": hosted.environ["XDG_RUNTIME_DIR"]}
    hosted.play_in_front(read_part(STATUS_PAGE, "Where it listens"), names=names, skipped=NOT_TYPED[STATUS_PAGE])


@plays(FLEET, "Begin", "Operate", "Webhooks")
def test_a_fleet_begins_is_looked_at_and_drained(hosted: Place, postgres_server: Server) -> None:
    path = hosted.root / "service.toml"
    hosted.type("openssl rand -hex 32 > secret && chmod 600 secret")
    webhooks = describe_webhooks("127.0.0.1:9471", hosted.root / "secret")
    path.write_text(f"{path.read_text()}\n{webhooks}")
    names = {
        **hosted.names,
        "postgresql://syncd@db.example.org/syncd": postgres_server.empty(),
        "/var/cache/syncd-worker": "cache",
        "127.0.0.1:9471": hosted.free_address,
    }
    *begin, worker = list_lines(read_part(FLEET, "Begin"))
    hosted.play("```sh\n{}\n```".format("\n".join(begin)), names=names)
    hosted.play_in_front(f"```sh\n{worker}\n```", names=names)
    hosted.play_in_front(read_part(FLEET, "Webhooks"), names=names)
    words = ("fleet", "worker", "--cache", "cache", "--name", "worker-3")
    with start_syncd(*words, cwd=hosted.root, environ=hosted.environ) as drained:
        hosted.type("until syncd fleet status; do sleep 0.2; done")
        hosted.play(read_part(FLEET, "Operate"), names=names)
        assert drained.wait(60) == 0
