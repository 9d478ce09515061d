"""A service that notifies people, over HTTP and on a desktop: each event once, over a restart too."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any

import pytest
from jeepney import HeaderFields, MessageType, new_method_return
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import DBusConnection, open_dbus_connection

from syncd.api.client import Client
from syncd.model.review import ReviewCreate
from tests.checkouts import plant
from tests.cli.service.service import Two, command, serve_platform
from tests.daemon.notifications.receiver import NotifiedServer, serve_receiver

pytestmark = pytest.mark.story

BUS = "org.freedesktop.Notifications"


@pytest.fixture
def receiver() -> Iterator[NotifiedServer]:
    with serve_receiver() as server:
        yield server


@pytest.fixture
def session(tmp_path: Path) -> Iterator[str]:
    """A session's bus, and its address."""
    words = ["dbus-daemon", "--session", "--nofork", "--print-address", f"--address=unix:path={tmp_path}/bus"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as daemon:
        assert daemon.stdout is not None
        try:
            yield daemon.stdout.readline().strip()
        finally:
            daemon.terminate()


class Desktop:
    """The service of a desktop that shows notifications; it keeps what it was to show."""

    def __init__(self, address: str) -> None:
        self.shown: SimpleQueue[tuple[Any, ...]] = SimpleQueue()
        self.bus = open_dbus_connection(address)
        assert self.bus.send_and_get_reply(message_bus.RequestName(BUS)).body == (1,)
        Thread(target=self._serve, args=(self.bus,), daemon=True).start()

    def _serve(self, bus: DBusConnection) -> None:
        number = 0
        while True:
            try:
                message = bus.receive()
            except OSError:
                return
            if message.header.message_type is not MessageType.method_call:
                continue
            if message.header.fields.get(HeaderFields.member) == "GetCapabilities":
                bus.send(new_method_return(message, "as", (["body", "body-markup"],)))
            else:
                number += 1
                bus.send(new_method_return(message, "u", (number,)))
                self.shown.put(message.body)


def make_conflict(two: Two, name: str = "docs") -> None:
    two.edit(name, "Web")
    directory = two.shell.root / name
    plant(directory, {"use.md": "# Use\n\nGit.\n"})
    two.shell.git("commit", "--quiet", "--all", "--message", "By Git", cwd=directory)


def add(two: Two, *lines: str) -> None:
    two.write()
    two.config.write_text("\n".join([two.config.read_text(), *lines]))


def test_a_conflict_is_told_once_when_it_begins_and_once_when_it_ends(two: Two, receiver: NotifiedServer) -> None:
    target = ["[[notifications.target]]", 'name = "team"', f'url = "{receiver.url}"', "private = true"]
    add(two, *target, 'repositories = ["docs"]')
    with serve_platform(two) as service:
        service.hear("ready")
        make_conflict(two, "other")
        service.hear("other: ! conflict use.md")
        make_conflict(two)
        headers, document = receiver.take()
        assert (headers["x-syncd-event"], headers["x-syncd-repository"]) == ("conflict", "docs")
        text = document["text"].split("\n")
        assert text[0] == "docs: 1 page in conflict"
        assert text[1].startswith("conflict use.md: ")
        assert text[2].startswith("next: syncd resolve use.md")
        assert text[3].startswith(f"{two.shell.url.removesuffix('/v1')}/")
        service.hear("docs: ! conflict use.md")
    with serve_platform(two) as service:
        service.hear("ready")
        assert not [line for line in service.said if "conflict use.md" in line]
        two.shell.fine("resolve", "use.md", "--ours", cwd=two.docs)
        service.hear("docs: conflict use.md settled")
        headers, document = receiver.take()
        assert headers["x-syncd-event"] == "recovered"
        assert document["text"].startswith("docs: 1 page in conflict settled\nconflict use.md")
        assert receiver.came.empty()


def test_what_becomes_of_a_change_request_is_told_once(two: Two, receiver: NotifiedServer) -> None:
    target = ["[[notifications.target]]", 'name = "team"', f'url = "{receiver.url}"', "private = true"]
    two.write()
    two.config.write_text(
        two.config.read_text().replace("interval = 3600", 'interval = 3600\nchange_requests.update = "never"')
    )
    two.config.write_text("\n".join([two.config.read_text(), *target, 'events = ["merged", "outdated", "reviewed"]']))
    with Client(two.shell.url, two.shell.token.read_text().strip()) as client:
        with serve_platform(two) as service:
            service.hear("ready")
            plant(two.docs, {"install.md": "# Install\n\nThree.\n\nTwo.\n"})
            two.shell.git("commit", "--quiet", "--all", "--message", "Say three", cwd=two.docs)
            service.hear("docs: .*change request #1")
            client.reviews.create(two.shell.space, "1", ReviewCreate(status="approved"))
            service.run_again("docs: ")
            headers, document = receiver.take()
            assert (headers["x-syncd-event"], headers["x-syncd-repository"]) == ("reviewed", "docs")
            text = document["text"].split("\n")
            assert text[0] == "docs: 1 change request reviewed"
            assert re.match(r"change request #1: Say three.*: .+ approved it \(\d{4}-", text[1])
            assert text[2] == "next: syncd review"
            assert text[3].startswith(f"{two.shell.url.removesuffix('/v1')}/")
            two.edit("docs", "Web")
            service.run_again("docs: mirror main")
            headers, document = receiver.take()
            assert headers["x-syncd-event"] == "outdated"
            assert "main content has moved on since" in document["text"]
        with serve_platform(two) as service:
            service.hear("ready")
            client.change_requests.merge(two.shell.space, "1")
            service.run_again("docs: mirror main")
            headers, document = receiver.take()
            assert headers["x-syncd-event"] == "merged"
            assert document["text"].startswith("docs: 1 change request merged\nchange request #1: Say three")
            assert "next:" not in document["text"]
        assert receiver.came.empty()


def test_a_receiver_that_is_away_delays_no_run_and_hears_of_it_later(two: Two, receiver: NotifiedServer) -> None:
    add(two, "[[notifications.target]]", 'name = "team"', f'url = "{receiver.url}"', "private = true")
    receiver.answers += [503]
    with serve_platform(two) as service:
        service.hear("ready")
        make_conflict(two)
        service.hear_all("notifications to team: the receiver answers 503", "docs: ! conflict use.md")
        assert service.metric("syncd_notifications_pending", target="team") == 1
        receiver.take()
        service.hear("notifications to team: arrive again")
        assert receiver.take()[0]["x-syncd-event"] == "conflict"
        assert service.metric("syncd_notifications_total", target="team", state="sent") == 1
        assert service.metric("syncd_notifications_pending", target="team") == 0


def test_a_desktop_shows_the_same_once(two: Two, session: str) -> None:
    desktop = Desktop(session)
    add(two, "[notifications]", "desktop = true")
    with serve_platform(two, {"DBUS_SESSION_BUS_ADDRESS": session}) as service:
        service.hear("ready")
        make_conflict(two)
        name, _, icon, title, body, actions, hints, _ = desktop.shown.get(timeout=60)
        assert (name, icon, title, actions) == ("syncd", "dialog-warning", "docs: 1 page in conflict", [])
        assert body.startswith("conflict use.md: ")
        assert hints["urgency"] == ("y", 1)
        two.shell.fine("resolve", "use.md", "--ours", cwd=two.docs)
        assert desktop.shown.get(timeout=60)[3] == "docs: 1 page in conflict settled"
        assert desktop.shown.empty()
    desktop.bus.close()


def test_a_test_says_whom_it_reached(two: Two, receiver: NotifiedServer) -> None:
    add(
        two,
        *("[[notifications.target]]", 'name = "team"', f'url = "{receiver.url}"', "private = true"),
        *("[[notifications.target]]", 'name = "inside"', f'url = "{receiver.url}"'),
    )
    assert command("notify", "test", "team", "--config", two.config) == (0, "team: it arrived\n")
    assert receiver.take()[0]["x-syncd-event"] == "test"
    code, text = command("notify", "test", "--config", two.config)
    assert (code, text) == (69, "! inside: not sent: The address is not a public one.\nteam: it arrived\n")
    assert command("notify", "test", "nobody", "--config", two.config)[0] == 64
    two.write()
    assert command("notify", "test", "--config", two.config)[0] == 78


def test_doctor_reads_the_secrets_and_asks_nobody(two: Two, receiver: NotifiedServer) -> None:
    secret = two.shell.root / "secret"
    secret.write_text("0123456789abcdef0123456789abcdef")
    secret.chmod(0o644)
    add(
        two,
        *("[webhooks]", 'listen = "127.0.0.1:9471"', "[[webhooks.source]]", 'name = "github"', 'kind = "github"'),
        f'secret_file = "{secret}"',
        *("[[notifications.target]]", 'name = "team"', f'url = "{receiver.url}"', f'secret_file = "{secret}"'),
    )
    code, text = command("doctor", "--config", two.config)
    assert code == 78
    assert "others may read the secret_file of webhooks.source github" in text
    assert "others may read the secret_file of notifications.target team" in text
    secret.chmod(0o600)
    code, text = command("doctor", "--config", two.config)
    assert "of github at 127.0.0.1:9471" in text
    assert "to team; to try it: syncd notify test" in text
    assert receiver.came.empty()
