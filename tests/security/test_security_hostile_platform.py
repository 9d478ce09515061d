"""A platform that answers without end, or with little that stands for much: it costs syncd little, and one space only.

The memory is that of a process of its own, beyond what the same command takes when the platform is in order.
"""

import gzip
import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from syncd.platform.services.directory.read import import_directory
from tests.checkouts import plant
from tests.security.hostile_server import HostileServer, Talk, endless, hostile_server, raw, whole
from tests.sync.conftest import World, new_world

ALLOWED_MB = 64 * 1.048576
SECONDS = 400
"""Far more than a pull takes, also where every request takes as long as it may."""
CONTENT = "/spaces/{space}/content(\\?|$)"
PAGE = "/spaces/{space}/content/page/"
GZIP = "Content-Encoding: gzip\r\n"


def page(number: int) -> bytes:
    """A page of a tree with what platforms say of it."""
    path, moment = f"guides/section-{number % 30}/page-{number}", "2024-01-01T00:00:00.000Z"
    said: dict[str, object] = {
        "id": f"page{number:016}",
        "title": f"Page {number} about something",
        "slug": f"page-{number}",
        "path": path,
    }
    said |= {"kind": "sheet", "type": "document", "createdAt": moment, "updatedAt": moment, "pages": [], "tags": []}
    said |= {"description": "What is said of it in one sentence, as people write it."}
    said |= {"git": {"oid": f"{number:040x}", "path": f"{path}.md"}, "urls": {"app": f"https://app.example.com/{path}"}}
    said |= {"layout": dict.fromkeys(("cover", "title", "description", "tableOfContents", "outline"), True)}
    return json.dumps(said).encode()


def tree(pages: bytes, more: bytes = b"") -> bytes:
    return b'{"object":"revision","id":"hostile1","pages":[' + pages + b"]" + more + b"}"


def tiny(count: int) -> bytes:
    return b",".join(b'{"id":"p%d"}' % number for number in range(count))


def zipped(body: bytes) -> Talk:
    return whole(gzip.compress(body, 6), head=GZIP)


def named(count: int) -> bytes:
    return b",".join(b'{"id":"f%d","name":"a"}' % number for number in range(count))


def variables(count: int) -> bytes:
    return b",".join(b'"v%d":"a"' % number for number in range(count))


def lists(value: bytes, count: int) -> bytes:
    return tree(b"", b',"x":[' + value * count + b"0]")


TREES: dict[str, tuple[Callable[[], Talk], str]] = {
    "endless body": (lambda: endless(b'{"id":"', b"x" * 65536), "larger than 33554432 bytes"),
    "200,000 tiny pages": (lambda: zipped(tree(tiny(200_000))), "more than 20000 pages"),
    "endless values": (lambda: endless(tree(b"")[:-1] + b',"x":[0', b",0" * 32768), "too many values"),
    "endless refusal": (
        lambda: endless(b'{"error":"', b"x" * 65536, status=400),
        "400 with an answer that is not JSON",
    ),
    "endless head": (lambda: raw(b"HTTP/1.1 200 OK\r\nX-A: ", b"x" * 65536), "more bytes than it may"),
    "endless heads": (lambda: raw(b"HTTP/1.1 200 OK\r\n", b"X-A: b\r\n" * 4096), "more bytes than it may"),
    "provisional": (lambda: raw(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1024), "more bytes than it may"),
    "packed bomb": (lambda: whole(gzip.compress(tree(b" " * (300 << 20)), 1), head=GZIP), "a hundred times its size"),
    "no ids": (lambda: zipped(tree(b"{}," * 200_000 + b"{}")), "pages.0.id"),
    "nested pages": (lambda: zipped(tree(b'{"id":"a","pages":[' * 100_000)), "nested too deep"),
    "nested lists": (lambda: zipped(tree(b"", b',"x":' + b"[" * 900_000)), "nested too deep"),
    "lists": (lambda: zipped(lists(b"[],", 1_000_000)), "too many values"),
    "numbers": (lambda: whole(lists(b"0,", 10_000_000)), "too many values"),
    "objects": (lambda: zipped(lists(b'{"a":0},', 1_000_000)), "too many values"),
    "variables": (lambda: zipped(tree(b"", b',"variables":{' + variables(900_000) + b"}")), "too many values"),
    "one wide text": (
        lambda: whole(tree(b"", b',"x":"' + b"x" * (31 << 20) + "\U0001f600".encode() + b'"')),
        "too many values",
    ),
    "files": (lambda: zipped(tree(b"", b',"files":[' + named(150_000) + b"]")), "more than 40000 files"),
}
"""Answers in place of a tree: made when they are needed, and what the error says."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A platform with two spaces, of which a repository holds both."""
    with new_world(tmp_path_factory.mktemp("hostile")) as served:
        yield served


class Victim:
    """A repository of two spaces of a platform, one of which is hostile."""

    def __init__(self, world: World, server: HostileServer, path: Path) -> None:
        self.world, self.server, self.path = world, server, path
        pages = {f"page-{number}.md": f"# Page {number}\n\nText.\n" for number in range(20)}
        source = plant(world.root / "other", {"README.md": "# Home\n", **pages})
        self.other = import_directory(world.storage, source, title="Other", space=None).space
        subprocess.run(["git", "init", "--quiet", "--initial-branch", "main", str(path)], check=True)
        path.with_suffix(".toml").write_text(
            f'[platform]\nurl = "{server.url}"\ntoken_file = "{world.root / "platform" / "token"}"\n'
            f'[[repository]]\npath = "{path}"\nbranches = ["main"]\ninstance = "0a1b2c"\n'
            f'[[repository.space]]\nid = "{self.other}"\nname = "other"\ndirectory = "other"\n'
            f'[[repository.space]]\nid = "{world.space}"\nname = "docs"\ndirectory = "docs"\n'
        )

    def pull(self) -> tuple[int, str, float]:
        """Return the exit code, what was said, and the most memory in MB."""
        peak = self.path.parent / "peak"
        words = [
            sys.executable,
            "-m",
            "tests.security.peak",
            str(peak),
            "pull",
            "--config",
            str(self.path.with_suffix(".toml")),
        ]
        environ = {"PATH": os.environ["PATH"], "HOME": str(self.path.parent), "GIT_CONFIG_NOSYSTEM": "1"}
        environ["PYTHONPATH"] = str(Path(__file__).parents[2])
        done = subprocess.run(
            words, cwd=self.path, env=environ, capture_output=True, text=True, timeout=SECONDS, check=False
        )
        return done.returncode, done.stdout + done.stderr, float(peak.read_text())

    def mirrored(self, directory: str) -> bool:
        asked = ["git", "ls-tree", "-r", "--name-only", "refs/remotes/platform/main", "--", f"{directory}/"]
        done = subprocess.run(asked, cwd=self.path, capture_output=True, text=True, check=False)
        return bool(done.stdout)


@pytest.fixture
def victim(world: World, tmp_path: Path) -> Iterator[Victim]:
    with hostile_server(world.url) as server:
        yield Victim(world, server, tmp_path / "repository")


@pytest.fixture(scope="module")
def ordinary(world: World, tmp_path_factory: pytest.TempPathFactory) -> float:
    """The memory in MB of the same command where the platform is in order."""
    with hostile_server(world.url) as server:
        code, said, peak = Victim(world, server, tmp_path_factory.mktemp("ordinary") / "repository").pull()
    assert code == 0, said
    return peak


def attack(victim: Victim, ordinary: float, path: str, talk: Talk, why: str) -> None:
    victim.server.talks = {path.format(space=victim.other): talk}
    code, said, peak = victim.pull()
    assert (code, "Traceback" in said) == (4, False), said
    assert re.search("mirror other (held|waiting): .*GET /spaces/", said), said
    assert why in said
    assert victim.mirrored("docs")
    assert not victim.mirrored("other")
    assert peak - ordinary < ALLOWED_MB


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if at < 2 else pytest.mark.long) for at, name in enumerate(TREES)]
)
def test_a_hostile_tree_costs_little_and_one_space_only(victim: Victim, ordinary: float, name: str) -> None:
    make, why = TREES[name]
    attack(victim, ordinary, CONTENT, make(), why)


@pytest.mark.long
@pytest.mark.timeout(SECONDS)
def test_a_byte_a_second_is_heard_for_two_minutes(victim: Victim, ordinary: float) -> None:
    def drip(peer: socket.socket) -> None:
        peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{")
        while True:
            time.sleep(1)
            peer.sendall(b" ")

    attack(victim, ordinary, CONTENT, drip, "no answer after 2 tries in 120 s (the exchange took longer than it may)")


LARGEST: dict[str, Callable[[], bytes]] = {
    "pages": lambda: tree(tiny(19_999)),
    "pages with members": lambda: tree(b",".join(b'{"id":"p%d","a":{},"b":{"c":[[],{}]}}' % n for n in range(19_999))),
    "files": lambda: tree(b"", b',"files":[' + named(39_999) + b"]"),
    "variables": lambda: tree(b"", b',"variables":{' + variables(500_000) + b"}"),
    "numbers": lambda: lists(b"1.5,", 1_800_000),
    "objects": lambda: lists(b'{"a":0},', 200_000),
    "texts": lambda: lists(b'"abcdefgh",', 850_000),
    "one text": lambda: tree(b"", b',"x":"' + b"x" * (31 << 20) + b'"'),
    "one wide text": lambda: tree(b"", b',"x":"' + b"x" * (24 << 20) + "\U0001f600".encode() + b'"'),
}
"""Trees that just keep to the limits, or just do not."""


def growth(directory: Path, body: bytes) -> float:
    small, tested = directory / "small", directory / "tested"
    small.write_bytes(tree(tiny(1)))
    tested.write_bytes(body)
    words = [sys.executable, "-m", "tests.security.reading", str(small), str(tested)]
    done = subprocess.run(words, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True)
    return float(done.stdout)


@pytest.fixture(scope="module")
def largest(tmp_path_factory: pytest.TempPathFactory) -> float:
    """By how many MB the memory grows for a space of as many pages as are read, all in order."""
    return growth(tmp_path_factory.mktemp("largest"), tree(b",".join(page(number) for number in range(20_000))))


@pytest.mark.long
@pytest.mark.parametrize("name", LARGEST)
def test_what_keeps_to_the_limits_costs_little_more_than_the_largest_space(
    tmp_path: Path, largest: float, name: str
) -> None:
    assert growth(tmp_path, LARGEST[name]()) - largest < ALLOWED_MB


def test_endless_pages_at_once_cost_little_and_one_space_only(victim: Victim, ordinary: float) -> None:
    attack(victim, ordinary, PAGE, endless(b'{"id":"p","markdown":"', b"x" * 65536), "larger than 4194304 bytes")


@pytest.mark.long
def test_pages_of_megabytes_are_held_one_at_a_time_and_the_next_run_goes_on(victim: Victim, ordinary: float) -> None:
    page = json.dumps({"id": "p", "markdown": "words " * ((7 << 19) // 6)}).encode()
    victim.server.talks = {CONTENT.format(space=victim.other): endless(b"", b"x" * 65536)}
    assert victim.pull()[0] == 4
    victim.server.talks = {PAGE.format(space=victim.other): whole(page)}
    code, said, peak = victim.pull()
    assert (code, victim.mirrored("other")) == (0, True), said
    assert peak - ordinary < ALLOWED_MB
