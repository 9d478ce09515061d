"""Characters that something on the way cannot hold, in every text that a platform answers with: nothing stops."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from syncd.api.client import Client
from syncd.api.options import ClientOptions
from syncd.sync.outcome import Applied
from syncd.sync.run.cycle import run_cycle
from syncd.sync.run.values import Result, RunOptions
from tests.sync.conftest import World, assert_fine, new_world

HALF = "\ud800"
TEXTS = frozenset({
    *("title", "description", "linkTitle", "subject", "displayName", "name", "message", "slug", "path", "emoji"),
    *("icon", "markdown", "email", "url", "photoURL", "author", "contentType", "label"),
})  # fmt: skip


class Altering(httpx.BaseTransport):
    """The network, with something added to each text of an answer; `texts` says to which members."""

    def __init__(self, added: str, texts: frozenset[str] = TEXTS) -> None:
        self._added, self._texts = added, texts
        self._real = httpx.HTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        answer = self._real.handle_request(request)
        body = answer.read()
        if answer.status_code == 200 and "json" in answer.headers.get("Content-Type", ""):
            body = json.dumps(self._altered(json.loads(body))).encode()
        return httpx.Response(answer.status_code, headers={"Content-Type": "application/json"}, content=body)

    def close(self) -> None:
        self._real.close()

    def _altered(self, value: Any, name: str = "") -> Any:
        if isinstance(value, dict):
            return {key: self._altered(item, key) for key, item in value.items()}
        if isinstance(value, list):
            return [self._altered(item, name) for item in value]
        return value + self._added if isinstance(value, str) and name in self._texts else value


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with new_world(tmp_path) as served:
        yield served


@contextmanager
def altered(world: World, transport: httpx.BaseTransport) -> Iterator[Any]:
    with world.workspace() as workspace, Client(world.url, world.token, ClientOptions(transport=transport)) as client:
        yield replace(workspace, client=client)


def sync(world: World, added: str, texts: frozenset[str] = TEXTS) -> list[Result]:
    with altered(world, Altering(added, texts)) as workspace:
        return run_cycle(workspace, RunOptions())


def test_one_half_character_is_replaced_and_named_and_all_the_rest_goes_on(world: World) -> None:
    world.clone()
    world.edit_on_platform({"options.md": "# Options\n\nNewer.\n"})
    results = sync(world, HALF, frozenset({"title"}))
    assert_fine(results)
    notes = [note for result in results if isinstance(result.outcome, Applied) for note in result.outcome.notes]
    assert any(note.endswith("holds half a character; it is read as U+FFFD") for note in notes), notes
    assert "Newer." in world.git("show", "platform/main:options.md")
    assert "Guide\ufffd" in world.git("show", "platform/main:SUMMARY.md")


def test_a_file_whose_name_is_not_utf8_is_named_and_all_the_rest_is_proposed(world: World) -> None:
    world.clone()
    world.commit("Say more", {"errors.md": "# Errors explained\n\nMore of it.\n"})
    oid = world.git("rev-parse", "HEAD:.gitbook/assets/picture.png").strip()
    index = f"100644 {oid}\t.gitbook/assets/caf\udce9.png\n".encode(errors="surrogateescape")
    subprocess.run(["git", "update-index", "--index-info"], cwd=world.root / "clone", input=index, check=True)
    world.git("commit", "--quiet", "--message", "A picture")
    results = world.push()
    assert_fine(results)
    (changes,) = [one.outcome.changes for one in results if isinstance(one.outcome, Applied) and one.flow == "propose"]
    assert [change.key for change in changes if change.noun == "page"] == ["errors.md"]
    (told,) = [change for change in changes if change.verb == "report"]
    assert (told.key, "not UTF-8" in told.message) == (".gitbook/assets/caf\ufffd.png", True)


def test_a_branch_whose_name_is_not_utf8_is_held_and_stops_no_other(world: World) -> None:
    world.clone()
    results = world.run(RunOptions(branches=("caf\udce9", "main")))
    held = {result.key for result in results if result.outcome.exit_code}
    assert held == {"caf\udce9", "docs/caf\udce9"}
    assert {"main", "docs/main"} <= {result.key for result in results}


@pytest.mark.parametrize(
    "added", [HALF, "\udc00x", "\0", "\0\n\r\x1b[2J\x7f\x9b", "\ufffe\uffff\u202e\u200b\u2028", "\n\t"]
)
def test_every_text_of_every_answer_may_hold_anything(world: World, added: str) -> None:
    world.clone()
    world.edit_on_platform({"options.md": "# Options\n\nNewer.\n"})
    for _ in range(2):
        assert_fine(sync(world, added))
    assert world.git("grep", "-c", "Newer", "platform/main").count("\n") == 1
    world.git("fsck", "--strict")
    tree = world.git("ls-tree", "-r", "--name-only", "main").splitlines()
    page = next(path for path in tree if path.endswith(".md") and "error" in path)
    text = (world.root / "clone" / page).read_text()
    world.commit("Say more", {page: text + "\nMore of it.\n"})
    for _ in range(2):
        assert_fine(sync(world, added))
