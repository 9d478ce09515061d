"""A first mirror that is ended in the middle goes on there: what was fetched is not fetched again."""

import itertools
import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from syncd.platform.services.directory.read import import_directory
from syncd.sync.mirror.fetch import BATCH, WORKERS
from tests.checkouts import plant
from tests.faults.conftest import PAGES as FEW
from tests.faults.conftest import Reply

pytestmark = pytest.mark.story

PAGES = 300
UNDER_WAY = 2 * WORKERS
"""Bodies that are asked for but not yet written when a run ends."""
Shown = Callable[[Any], Any]
"""What becomes of an answer on its way."""


def as_it_is(reply: Any) -> Any:
    return reply


@pytest.fixture
def large(theatre: Any) -> Iterator[Any]:
    """A platform with one space of many pages, and no clone."""
    with theatre.fresh() as stage:
        pages = {f"page-{number}.md": f"# Page {number}\n\nText {number}.\n" for number in range(PAGES - 1)}
        source = plant(stage.root / "many", {"README.md": "# Home\n", **pages})
        stage.space = import_directory(stage.storage, source, title="Many", space=None).space
        yield stage


def end_at(stage: Any, count: int, end: Callable[[Any], None], shown: Shown = as_it_is, *, stall: bool = True) -> int:
    """Clone until so many pages were answered, end the run there, and return how many it was answered.

    With `stall`, no page is answered any more from then on.
    """
    answered, ended, reached = itertools.count(1), threading.Event(), threading.Event()

    def act(seen: Any, send: Callable[[], Any]) -> Any:
        if reached.is_set() and stall and is_page(seen):
            ended.wait(30)
            return None
        reply = shown(send())
        if is_page(seen) and next(answered) == count:
            reached.set()
        return reply

    stage.proxy.reset(act)
    running = stage.start(*stage.clone_words())
    assert reached.wait(30)
    end(running)
    ended.set()
    running.wait()
    return next(answered) - 1


def is_page(seen: Any) -> bool:
    return "/content/page/" in seen.path


def resumed(stage: Any, shown: Shown = as_it_is) -> int:
    """Clone again and return how many pages were asked for."""
    stage.proxy.reset(lambda seen, send: shown(send()))
    stage.fine(*stage.clone_words())
    assert stage.wounds() == []
    assert sorted(stage.git("ls-tree", "-r", "--name-only", "platform/main").split()) == sorted(
        ["README.md", "SUMMARY.md", *(f"page-{number}.md" for number in range(PAGES - 1))]
    )
    assert stage.git("show", "platform/main:page-7.md") == "# Page 7\n\nText 7.\n"
    assert stage.git("count-objects", "-v").count("packs: 1\n") <= 1
    return sum(map(is_page, stage.proxy.seen))


def without_blob_ids(reply: Any) -> Any:
    """The answer of a platform that names no Git blobs."""

    def stripped(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: stripped(one) for key, one in value.items() if key != "git"}
        return [stripped(one) for one in value] if isinstance(value, list) else value

    return replace(reply, body=json.dumps(stripped(json.loads(reply.body))).encode())


@pytest.mark.parametrize("shown", [as_it_is, without_blob_ids], ids=["blob ids", "no blob ids"])
def test_a_first_mirror_that_is_killed_goes_on_where_it_was(large: Any, shown: Shown) -> None:
    fetched = end_at(large, 200, lambda running: running.kill(whole=True), shown)
    assert resumed(large, shown) <= PAGES - fetched + BATCH + UNDER_WAY


def test_a_first_mirror_that_is_told_to_stop_loses_nothing_that_has_arrived(large: Any) -> None:
    fetched = end_at(large, 100, lambda running: os.kill(running.pid, signal.SIGTERM), stall=False)
    assert resumed(large) <= PAGES - fetched + UNDER_WAY


def test_what_changed_between_two_tries_is_fetched_again(large: Any) -> None:
    end_at(large, 200, lambda running: running.kill(whole=True))
    source = plant(large.root / "many", {"page-7.md": "# Page 7\n\nAnother text.\n"})
    import_directory(large.storage, source, title=None, space=large.space)
    large.proxy.reset()
    large.fine(*large.clone_words())
    assert large.git("show", "platform/main:page-7.md") == "# Page 7\n\nAnother text.\n"
    assert large.git("show", "platform/main:page-8.md") == "# Page 8\n\nText 8.\n"


def test_one_failure_among_many_pages_is_asked_again_alone(large: Any) -> None:
    failed: list[str] = []

    def act(seen: Any, send: Callable[[], Any]) -> Any:
        if is_page(seen) and not failed:
            failed.append(seen.path)
            return Reply(500, body=b'{"error":{"code":500,"message":"Not now"}}')
        return send()

    large.proxy.reset(act)
    large.fine(*large.clone_words())
    asked = [seen.path for seen in large.proxy.seen if is_page(seen)]
    assert len(asked) == PAGES + 1
    assert asked.count(failed[0]) == 2


def test_a_file_of_another_size_than_announced_is_never_committed(theatre: Any) -> None:
    def act(seen: Any, send: Callable[[], Any]) -> Any:
        reply = send()
        if not seen.path.partition("?")[0].endswith("/content"):
            return reply
        content = json.loads(reply.body)
        content["files"][0]["size"] += 1
        return replace(reply, body=json.dumps(content).encode())

    with theatre.fresh() as stage:
        stage.proxy.reset(act)
        assert stage.syncd(*stage.clone_words()).code == 69
        assert stage.git("for-each-ref") == ""
        stage.proxy.reset()
        stage.fine(*stage.clone_words())
        assert (stage.clone / ".gitbook/assets/picture.png").read_bytes() == FEW[".gitbook/assets/picture.png"]
