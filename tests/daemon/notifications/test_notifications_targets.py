"""Receivers of notifications: an address over HTTP, and what a configuration makes of it."""

import json
import time
from pathlib import Path

import pytest

from syncd.config import load
from syncd.daemon.notifications.desktop import build_fields, find_session_address
from syncd.daemon.notifications.http_target import HttpTarget
from syncd.daemon.notifications.ledger import IncidentLedger, Subscription
from syncd.daemon.notifications.messages import render_slack
from syncd.daemon.notifications.news import Interest
from syncd.daemon.notifications.outbox import Delivery
from syncd.daemon.notifications.targets import build_subscriptions, build_test
from syncd.errors import ConfigInvalid
from syncd.net.signatures import sign_webhook
from syncd.store.incidents import Notification
from syncd.sync.outcome import Held
from syncd.sync.run.values import Result
from tests.daemon.notifications.receiver import serve_receiver, wait_until

SECRET = "0123456789abcdef0123456789abcdef"
AT = "2026-05-01T10:00:00+00:00"
CONFLICT = Result("conflict", "use.md", Held("both sides changed it", "syncd resolve use.md", exit_code=6))
BASE = '[platform]\nurl = "https://p.example"\n[[repository]]\npath = "docs"\nspace = [{ id = "1" }]\n'


def test_what_is_sent_is_signed_with_its_time() -> None:
    notification = build_test("team")
    with serve_receiver() as server:
        assert HttpTarget("team", server.url, SECRET, private=True).deliver(notification) == Delivery("sent")
        headers, document = server.take()
    body = render_slack(notification)
    moment = int(headers["x-syncd-signature"].partition(",")[0].removeprefix("t="))
    assert abs(time.time() - moment) < 60
    assert headers["x-syncd-signature"] == sign_webhook(SECRET, moment, body)
    assert (headers["x-syncd-event"], headers["x-syncd-delivery"]) == ("test", notification.id)
    assert document == json.loads(body)


def test_without_a_secret_nothing_is_signed() -> None:
    with serve_receiver() as server:
        HttpTarget("team", server.url, private=True).deliver(build_test("team"))
        assert "x-syncd-signature" not in server.take()[0]


@pytest.mark.parametrize(
    ("status", "state"), [(204, "sent"), (302, "refused"), (404, "refused"), (429, "later"), (503, "later")]
)
def test_an_answer_decides_whether_it_is_tried_again(status: int, state: str) -> None:
    with serve_receiver() as server:
        server.answers.append(status)
        assert HttpTarget("team", server.url, private=True).deliver(build_test("team")).state == state
        server.take()
        assert server.came.empty()  # no redirect is followed


def test_a_private_address_needs_a_word() -> None:
    with serve_receiver() as server:
        delivery = HttpTarget("team", server.url).deliver(build_test("team"))
        assert server.came.empty()
    assert delivery == Delivery("refused", "not sent: The address is not a public one.")
    assert "surely-secret" not in repr(HttpTarget("team", server.url, SECRET)) + delivery.why
    assert SECRET not in repr(HttpTarget("team", server.url, SECRET))


def test_nobody_at_an_address_is_waited_for() -> None:
    with serve_receiver() as server:
        url = server.url
    assert HttpTarget("team", url, private=True).deliver(build_test("team")).state == "later"


def write(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "config.toml"
    file.write_text(BASE + text)
    return file


def test_addresses_and_secrets_come_from_files_variables_and_credentials(tmp_path: Path) -> None:
    for name, text in {"address": "https://hooks.example/T0", "notify-c": SECRET}.items():
        (tmp_path / name).write_text(f"{text}\n")
        (tmp_path / name).chmod(0o600)
    config = load(
        write(
            tmp_path,
            '[[notifications.target]]\nname = "a"\nurl_file = "address"\nevents = ["conflict"]\n'
            '[[notifications.target]]\nname = "b.x"\nurl = "https://b.example"\nrepositories = ["docs"]\n'
            '[[notifications.target]]\nname = "c"\nurl = "https://c.example"\nprivate = true\n',
        )
    )
    environ = {"SYNCD_NOTIFY_SECRET_B_X": SECRET[::-1], "CREDENTIALS_DIRECTORY": str(tmp_path)}
    a, b, c = build_subscriptions(config, environ)
    assert a.target == HttpTarget("a", "https://hooks.example/T0")
    assert b.target == HttpTarget("b.x", "https://b.example", SECRET[::-1])
    assert c.target == HttpTarget("c", "https://c.example", SECRET, private=True)
    assert (a.interest.should_hear("conflict", "docs"), a.interest.should_hear("held", "docs")) == (True, False)
    assert (b.interest.should_hear("held", "docs"), b.interest.should_hear("held", "other")) == (True, False)


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        ('[[notifications.target]]\nname = "a"', "needs url, or url_file"),
        ('[[notifications.target]]\nname = "a"\nurl = "https://a"\nurl_file = "b"', "needs url, or url_file"),
        ('[[notifications.target]]\nname = "desktop"\nurl = "https://a"', "two targets are named desktop"),
        ('[[notifications.target]]\nname = "a"\nurl = "file:///etc/passwd"', "notifications.target.0.url"),
        ('[[notifications.target]]\nname = "a"\nurl = "https://a"\nevents = ["opened"]', "events"),
    ],
)
def test_a_wrong_receiver_is_a_mistake_of_the_configuration(tmp_path: Path, text: str, mistake: str) -> None:
    with pytest.raises(ConfigInvalid, match=mistake):
        load(write(tmp_path, text))


def test_a_secret_that_others_may_read_or_that_is_short_is_refused(tmp_path: Path) -> None:
    config = load(write(tmp_path, '[[notifications.target]]\nname = "a"\nurl = "https://a.example"\nsecret_file = "s"'))
    secret = tmp_path / "s"
    secret.write_text(SECRET)
    secret.chmod(0o644)
    with pytest.raises(ConfigInvalid, match="others may read"):
        build_subscriptions(config, {})
    secret.chmod(0o600)
    secret.write_text("short")
    with pytest.raises(ConfigInvalid, match="fewer than 16") as refused:
        build_subscriptions(config, {})
    assert "short" not in refused.value.what.replace("shorter", "")


def test_a_desktop_needs_a_session(tmp_path: Path) -> None:
    config = load(write(tmp_path, "[notifications]\ndesktop = true"))
    with pytest.raises(ConfigInvalid, match="session of a desktop"):
        build_subscriptions(config, {"XDG_RUNTIME_DIR": str(tmp_path)})
    (tmp_path / "bus").touch()
    assert find_session_address({"XDG_RUNTIME_DIR": str(tmp_path)}) == f"unix:path={tmp_path}/bus"


def test_a_desktop_gets_no_markup_of_others() -> None:
    notification = Notification("1", "desktop", "failed", "docs", "docs: <b>", ("<a href='x'>&",), AT)
    assert build_fields(notification, can_mark_up=True)[4] == "&lt;a href='x'&gt;&amp;"
    assert build_fields(notification, can_mark_up=False)[4] == "<a href='x'>&"
    assert build_fields(notification, can_mark_up=False)[6]["urgency"] == ("y", 2)


def test_a_restart_tells_nothing_twice_and_what_did_not_arrive_once_more(tmp_path: Path) -> None:
    with serve_receiver() as server:
        there = HttpTarget("team", server.url, private=True)
        with serve_receiver() as gone:
            away = HttpTarget("team", gone.url, private=True)
        said: list[str] = []

        def start(target: HttpTarget) -> IncidentLedger:
            ledger = IncidentLedger(tmp_path, said.append)
            ledger.configure([Subscription(target, Interest(target.name))], {"docs": tmp_path / "docs"})
            return ledger

        def run(ledger: IncidentLedger, *results: Result) -> None:
            ledger.note_run(tmp_path / "docs", "docs", results, AT, lambda result: "")

        first = start(away)
        run(first, CONFLICT)
        first.outbox.stop()
        second = start(there)
        assert server.take()[0]["x-syncd-event"] == "conflict"
        run(second, CONFLICT)
        wait_until(lambda: second.outbox.count_pending() == {"team": 0})
        second.outbox.stop()
        third = start(there)
        assert [one.key for one in third.list_former("docs")] == ["use.md"]
        run(third, CONFLICT)
        run(third)
        assert server.take()[0]["x-syncd-event"] == "recovered"
        third.outbox.stop()
        assert server.came.empty()
