"""Answers that are lost, late, refused, cut or foreign: nothing happens twice, and the next run comes to the same end.

The fault falls on one request of a run. `lost` and what follows it in the table carry the request out first, which is
the hard case: the platform has done what syncd cannot know.
"""

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from syncd.model.site import SiteCreate
from tests.sampling import sample_cases

pytestmark = pytest.mark.story

DOCUMENTED = {0, 1, 2, 3, 4, 5, 6, 7, 64, 65, 69, 75, 77, 78}
"""The exit codes that the manual lists."""
TRIES = 3
PUSH_WRITES = 5
"""Create, the image, the pages, the links between new pages, the description."""
SITE_WRITES = 2


def push(stage: Any) -> tuple[str, ...]:
    """One edit, one deletion, and two new pages that link to each other, one with an image."""
    stage.fine(*stage.clone_words())
    files = {
        "options.md": "# Options\n\n* first token-1\n* second\n",
        "one.md": "# One\n\n![new](.gitbook/assets/new.png) token-2 and [two](two.md).\n",
        "two.md": "# Two\n\ntoken-3 and [one](one.md).\n",
        ".gitbook/assets/new.png": b"\x89PNG\r\n\x1a\n another picture that is none",
        "SUMMARY.md": (stage.clone / "SUMMARY.md")
        .read_text()
        .replace("* [Notes](notes.md)\n", "* [One](one.md)\n* [Two](two.md)\n"),
    }
    stage.commit("Say more", files, gone=["notes.md"])
    return ("push",)


def site(stage: Any) -> tuple[str, ...]:
    """Two redirects to create, one to change, one to delete."""
    stage.fine(*stage.clone_words())
    with stage.client() as client:
        organization = client.spaces.get(stage.space).organization
        made = client.sites.create(organization, SiteCreate(title="Docs"))
    head = f"version: 1\nsite: {{ org: {organization}, id: {made.id} }}\nredirects:\n"
    with (stage.clone / ".git" / "syncd.toml").open("a") as config:
        config.write('\n[repository.site]\nfile = "site.yaml"\napply = false\nlock = "state"\n')
    stage.commit("Redirects", {"site.yaml": head + redirects(a="1", b="1")})
    stage.fine("site", "apply", "--yes")
    stage.commit("Other redirects", {"site.yaml": head + redirects(b="2", c="1", d="1")})
    return ("site", "apply", "--yes")


def redirects(**targets: str) -> str:
    return "".join(f"  - {{ from: /{at}, to: {{ url: 'https://example.org/{to}' }} }}\n" for at, to in targets.items())


Send = Callable[[], Any]


def lost(reply: Any, send: Send) -> Any:
    send()


def never_sent(reply: Any, send: Send) -> Any:
    return None


def bad_gateway_after(reply: Any, send: Send) -> Any:
    send()
    return reply(502, (("Content-Type", "text/html"),), b"<h1>Bad gateway</h1>")


def unavailable_before(reply: Any, send: Send) -> Any:
    return reply(503, (("Content-Type", "application/json"),), b'{"error":{"code":503,"message":"later"}}')


def limited(reply: Any, send: Send) -> Any:
    return reply(429, (("Retry-After", "1"),), b'{"error":{"code":429,"message":"slow down"}}')


def cut(reply: Any, send: Send) -> Any:
    whole = send()
    return replace(whole, body=whole.body[: len(whole.body) // 2], promised=max(len(whole.body), 1))


def html(reply: Any, send: Send) -> Any:
    send()
    return reply(200, (("Content-Type", "text/html"),), b"<!doctype html><title>Sign in</title>")


FAULTS = (lost, never_sent, bad_gateway_after, unavailable_before, limited, cut, html)


def converged(theatre: Any, scene: Any, fault: Callable[..., Any], hits: Callable[[int, Any], bool]) -> str:
    """Play a scene with the fault on the request that `hits` names; return what is wrong in the end."""
    with theatre.play(scene) as stage:
        reply = theatre.reply
        writes, struck = 0, False

        def act(seen: Any, send: Send) -> Any:
            nonlocal writes, struck
            writes += seen.is_write
            if struck or not hits(writes, seen):
                return send()
            struck = True
            return fault(reply, send)

        stage.proxy.reset(act)
        codes: list[int] = []
        while not codes or (codes[-1] and len(codes) < TRIES):
            done = stage.syncd(*theatre.words(scene, stage))
            codes.append(done.code)
            assert "Traceback" not in done.text, done.text
        assert struck, "there was no such request"
        assert set(codes) <= DOCUMENTED, codes
        assert codes[-1] == 0, done.text
        state = stage.state()
        differs = [f"{key}: {state[key]} is not {value}" for key, value in scene.state.items() if state[key] != value]
        return "\n".join(differs + stage.wounds())


def on_request(number: int) -> Callable[[int, Any], bool]:
    return lambda _, seen: bool(seen.number == number)


def named(value: Any) -> str:
    return value.__name__ if callable(value) else str(value)


def strikes(writes: int) -> list[tuple[int, Callable[..., Any]]]:
    """Every write with its answer lost, and every other fault on one write."""
    others = [(1 + index % writes, fault) for index, fault in enumerate(FAULTS[1:])]
    return [(write, lost) for write in range(1, writes + 1)] + others


def struck_write(theatre: Any, prepare: Callable[[Any], tuple[str, ...]], write: int, fault: Callable[..., Any]) -> str:
    return converged(theatre, theatre.scene(prepare), fault, lambda writes, seen: seen.is_write and writes == write)


@pytest.mark.parametrize(("prepare", "count"), [(push, PUSH_WRITES), (site, SITE_WRITES)], ids=named)
def test_these_runs_write_as_often_as_these_tests_suppose(
    theatre: Any, prepare: Callable[[Any], tuple[str, ...]], count: int
) -> None:
    assert sum(seen.is_write for seen in theatre.scene(prepare).requests) == count


@pytest.mark.parametrize(("write", "fault"), sample_cases(strikes(PUSH_WRITES), kept=(0, 1, 2, 5)), ids=named)
def test_a_push_makes_one_change_request_whatever_becomes_of_an_answer(
    theatre: Any, write: int, fault: Callable[..., Any]
) -> None:
    assert not struck_write(theatre, push, write, fault)


@pytest.mark.parametrize(("write", "fault"), sample_cases(strikes(SITE_WRITES), kept=(0, 3)), ids=named)
def test_a_site_gets_each_redirect_once_whatever_becomes_of_an_answer(
    theatre: Any, write: int, fault: Callable[..., Any]
) -> None:
    assert not struck_write(theatre, site, write, fault)


@pytest.mark.parametrize(
    ("part", "fault"),
    sample_cases([(index / len(FAULTS), fault) for index, fault in enumerate(FAULTS)], kept=(1, 4)),
    ids=named,
)
def test_a_read_that_fails_once_changes_nothing(theatre: Any, part: float, fault: Callable[..., Any]) -> None:
    scene = theatre.scene(push)
    reads = [seen.number for seen in scene.requests if not seen.is_write]
    number = reads[int(part * len(reads))]
    assert not converged(theatre, scene, fault, lambda _, seen: not seen.is_write and seen.number >= number)


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_every_fault_on_every_request_heals(theatre: Any) -> None:
    complaints, points = [], 0
    for prepare, fault in itertools.product((push, site), FAULTS):
        scene = theatre.scene(prepare)
        for number in range(1, len(scene.requests) + 1):
            wrong = converged(theatre, scene, fault, on_request(number))
            points += 1
            if wrong:
                complaints.append(f"{prepare.__name__}, {fault.__name__} on request {number}: {wrong}")
                print(complaints[-1], flush=True)
    print(f"{points} faults, {len(complaints)} with consequences", flush=True)
    assert not complaints
