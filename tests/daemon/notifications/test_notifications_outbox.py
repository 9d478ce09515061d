"""Delivery beside the runs: order, back-off, bounds, and what is said of it."""

import threading
from collections.abc import Iterator, Sequence
from queue import SimpleQueue

import pytest

from syncd.daemon.notifications.outbox import PENDING_MAX, Delivery, Outbox
from syncd.store.incidents import Notification
from tests.daemon.notifications.receiver import wait_until

SENT, LATER, REFUSED = Delivery("sent"), Delivery("later", "no answer"), Delivery("refused", "the receiver answers 404")


class Receiver:
    """A receiver that answers as it is told, and then that all arrived; `gate` holds it back."""

    name = "team"

    def __init__(self, *answers: Delivery) -> None:
        self.answers = list(answers)
        self.came: SimpleQueue[str] = SimpleQueue()
        self.gate = threading.Event()
        self.gate.set()

    def deliver(self, notification: Notification) -> Delivery:
        self.came.put(notification.id)
        assert self.gate.wait(60)
        return self.answers.pop(0) if self.answers else SENT

    def take(self, count: int) -> list[str]:
        return [self.came.get(timeout=60) for _ in range(count)]


class Scene:
    def __init__(self) -> None:
        self.over: SimpleQueue[str] = SimpleQueue()
        self.said: list[str] = []
        self.outbox = Outbox(
            lambda notification: self.over.put(notification.id), self.said.append, chance=lambda: 0, first=0.001
        )

    def add(self, *ids: str) -> None:
        for id in ids:
            self.outbox.add(Notification(id, "team", "failed", "docs", f"title {id}", (), ""))

    def wait_over(self, count: int) -> Sequence[str]:
        return [self.over.get(timeout=60) for _ in range(count)]

    def wait_empty(self) -> None:
        wait_until(lambda: not any(self.outbox.count_pending().values()))


@pytest.fixture
def scene() -> Iterator[Scene]:
    scene = Scene()
    yield scene
    scene.outbox.stop()


def test_what_arrives_while_the_service_ends_is_not_told_again(scene: Scene) -> None:
    receiver = Receiver()
    receiver.gate.clear()
    scene.outbox.configure({"team": receiver})
    scene.add("1", "2")
    receiver.take(1)
    threading.Timer(0.2, receiver.gate.set).start()
    scene.outbox.stop(seconds=60)
    assert scene.over.get_nowait() == "1"
    assert scene.over.empty(), "the other one is the next service's"


def test_who_never_answers_does_not_keep_the_service(scene: Scene) -> None:
    receiver = Receiver()
    receiver.gate.clear()
    scene.outbox.configure({"team": receiver})
    scene.add("1")
    receiver.take(1)
    scene.outbox.stop(seconds=0.1)
    assert scene.over.empty()
    receiver.gate.set()


def test_a_receiver_whose_address_was_mended_is_tried_at_once(scene: Scene) -> None:
    away = Receiver(LATER)
    outbox = Outbox(lambda notification: scene.over.put(notification.id), scene.said.append, first=600)
    outbox.configure({"team": away})
    outbox.add(Notification("1", "team", "failed", "docs", "title", (), ""))
    away.take(1)
    wait_until(lambda: len(scene.said) == 1)
    outbox.configure({"team": away})
    mended = Receiver()
    outbox.configure({"team": mended})
    assert mended.take(1) == ["1"]
    assert scene.wait_over(1) == ["1"]
    assert away.came.empty(), "one that stays as it was is tried in its time"
    outbox.stop()


def test_notifications_arrive_in_order(scene: Scene) -> None:
    receiver = Receiver()
    scene.outbox.configure({"team": receiver})
    scene.add("1", "2", "3")
    assert scene.wait_over(3) == ["1", "2", "3"]
    scene.wait_empty()
    assert scene.outbox.count_results() == {("team", "sent"): 3}
    assert scene.outbox.count_pending() == {"team": 0}
    assert not scene.said


def test_one_that_is_away_is_tried_again_and_that_is_said_once(scene: Scene) -> None:
    receiver = Receiver(LATER, LATER, LATER)
    scene.outbox.configure({"team": receiver})
    scene.add("1", "2")
    assert scene.wait_over(2) == ["1", "2"]
    scene.wait_empty()
    assert receiver.take(5) == ["1", "1", "1", "1", "2"]
    assert scene.said == ["notifications to team: no answer; tried again until it works", scene.said[-1]]
    assert scene.said[-1] == "notifications to team: arrive again"


def test_one_that_refuses_is_not_asked_again(scene: Scene) -> None:
    scene.outbox.configure({"team": Receiver(REFUSED)})
    scene.add("1", "2")
    assert scene.wait_over(2) == ["1", "2"]
    scene.wait_empty()
    assert scene.outbox.count_results() == {("team", "failed"): 1, ("team", "sent"): 1}
    assert scene.said == ["notifications to team: the receiver answers 404; given up: title 1"]


def test_a_slow_receiver_holds_nobody_up_and_its_queue_has_an_end(scene: Scene) -> None:
    slow, quick = Receiver(), Receiver()
    slow.gate.clear()
    scene.outbox.configure({"team": slow, "other": quick})
    scene.add("under way")
    assert slow.take(1) == ["under way"]
    scene.add(*map(str, range(PENDING_MAX + 4)))
    assert scene.outbox.count_pending()["team"] == PENDING_MAX
    assert scene.wait_over(5) == ["0", "1", "2", "3", "4"]  # the oldest are given up
    scene.outbox.add(Notification("quick", "other", "failed", "docs", "title", (), ""))
    assert scene.wait_over(1) == ["quick"]
    slow.gate.set()
    assert scene.wait_over(1) == ["under way"]
    assert scene.outbox.count_results()["team", "dropped"] == 5


def test_what_waits_for_one_who_is_configured_no_more_is_over(scene: Scene) -> None:
    receiver = Receiver()
    receiver.gate.clear()
    scene.outbox.configure({"team": receiver})
    scene.add("1", "2")
    receiver.take(1)
    scene.outbox.configure({})
    assert scene.wait_over(2) == ["1", "2"]
    scene.add("3")
    assert scene.wait_over(1) == ["3"]
    receiver.gate.set()
