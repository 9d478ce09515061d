"""What comes of a webhook: which repository it wakes, and what is answered, counted and said."""

import json
from pathlib import Path
from urllib.parse import urlencode

import pytest

from syncd.daemon.hooks.matching import WakeableRepository, normalize_address
from syncd.daemon.hooks.receiver import REQUESTS_MAX, WebhookAnswer, WebhookReceiver, WebhookSource
from syncd.net.signatures import Sender
from tests.daemon.hooks.payloads import (
    SECRET,
    SIGNING_TOKEN,
    Signed,
    make_gitea,
    make_github,
    make_gitlab,
    make_platform,
    sign_github,
)

NOW = 1_800_000_000
UPSTREAMS = {
    "github": "git@github.com:Acme/docs.git",
    "gitlab": "https://gitlab.example.com/acme/docs.git",
    "gitea": "ssh://syncd@git.example.com:2222/acme/docs",
    "platform": "",
}
SENDERS: list[Sender] = ["github", "gitlab", "gitea", "platform"]


class Scene:
    """A receiver with a sender and a repository of each kind, and what it did."""

    def __init__(self, *secrets: str) -> None:
        self.clock = 0.0
        self.woken: list[str] = []
        self.reports: list[tuple[WebhookAnswer, int]] = []
        self.receiver = WebhookReceiver(
            lambda repository: self.woken.append(repository.name),
            lambda answer, more: self.reports.append((answer, more)),
            now=lambda: NOW,
            clock=lambda: self.clock,
        )
        sources = [WebhookSource(sender, sender, secrets or (SECRET,)) for sender in SENDERS]
        repositories = [self.place(name, upstream) for name, upstream in UPSTREAMS.items()]
        self.receiver.configure(sources, repositories)

    def place(self, name: str, upstream: str) -> WakeableRepository:
        spaces = frozenset({f"space_{name}"})
        return WakeableRepository(name, Path("/srv") / name, spaces, ("main",), ("docs/*",), lambda: upstream)

    def post(self, source: str, signed: Signed) -> int:
        return self.receiver.answer("POST", f"/hooks/{source}", *signed).status


def test_each_host_wakes_the_repository_that_it_names() -> None:
    scene = Scene()
    assert scene.post("github", make_github()) == 202
    assert scene.post("gitlab", make_gitlab()) == 202
    assert scene.post("gitea", make_gitea()) == 202
    assert scene.post("platform", make_platform("space_platform", NOW)) == 202
    assert scene.woken == SENDERS
    assert [answer.text for answer, _ in scene.reports] == [f"woken: {name}" for name in SENDERS]


def test_a_form_of_github_says_the_same_as_its_json() -> None:
    _, body = make_github()
    headers, form = sign_github(urlencode({"payload": body.decode()}).encode())
    scene = Scene()
    assert scene.post("github", (headers | {"content-type": "application/x-www-form-urlencoded"}, form)) == 202


def test_gitlab_may_sign_and_then_its_plain_token_does_not_count() -> None:
    scene = Scene(SECRET, SIGNING_TOKEN)
    assert scene.post("gitlab", make_gitlab(signed_at=NOW)) == 202
    assert scene.post("gitlab", make_gitlab(signed_at=NOW)) == 204  # it came before
    assert scene.post("gitlab", make_gitlab(signed_at=NOW - 301)) == 401
    assert scene.post("gitlab", make_gitlab()) == 401
    assert scene.woken == ["gitlab"]


def test_a_signed_webhook_of_gitlab_wakes_once_whatever_is_beside_its_signature() -> None:
    scene = Scene(SIGNING_TOKEN)
    headers, body = make_gitlab(signed_at=NOW)
    answers = [
        scene.post("gitlab", (headers | {"webhook-signature": f"{headers['webhook-signature']} v1,{n}"}, body))
        for n in range(3)
    ]
    assert answers == [202, 204, 204]
    assert scene.woken == ["gitlab"]


@pytest.mark.parametrize(
    "signed",
    [
        make_github(path="acme/other"),
        make_github(host="github.com.evil.example"),
        make_github(ref="refs/heads/feature"),
        make_github(ref="refs/heads/syncd/docs/main"),
        make_github(ref="refs/tags/main"),
        make_github(ref="main"),
        make_github(ref=7),  # type: ignore[arg-type]
        make_github(repository=["acme/docs"]),
        make_github(repository={"clone_url": 5, "url": "", "ssh_url": "x" * 9000}),
        sign_github(json.dumps({"zen": "Speak like a human.", "hook_id": 1, "repository": {}}).encode(), "ping"),
        sign_github(make_github()[1], "issues"),
    ],
)
def test_what_is_not_about_a_tracked_branch_wakes_nothing(signed: Signed) -> None:
    scene = Scene()
    assert scene.post("github", signed) == 204
    assert not scene.woken


def test_a_branch_of_a_pattern_is_tracked() -> None:
    scene = Scene()
    assert scene.post("github", make_github(ref="refs/heads/docs/next")) == 202


def test_other_events_of_gitlab_and_of_the_platform_wake_nothing() -> None:
    scene = Scene()
    assert scene.post("gitlab", make_gitlab("refs/tags/v1", kind="tag_push")) == 204
    assert scene.post("platform", make_platform("space_platform", NOW, "page_feedback")) == 204
    assert scene.post("platform", make_platform("space_strange", NOW)) == 204
    assert not scene.woken


def test_the_same_webhook_of_the_platform_wakes_once_and_an_old_one_never() -> None:
    scene = Scene()
    signed = make_platform("space_platform", NOW)
    assert [scene.post("platform", signed) for _ in range(3)] == [202, 204, 204]
    assert scene.post("platform", make_platform("space_platform", NOW - 301)) == 401
    assert scene.woken == ["platform"]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"\xff", b'"refs/heads/main"', b"[" * 100_000])
def test_a_signed_body_that_makes_no_sense_is_said_to_be_so(body: bytes) -> None:
    scene = Scene()
    assert scene.post("github", sign_github(body)) == 400
    assert not scene.woken


def test_strangers_wake_nothing() -> None:
    scene = Scene()
    headers, body = make_github()
    assert scene.post("github", sign_github(body, secret="another secret of theirs")) == 401
    assert scene.post("github", ({}, body)) == 401
    assert scene.post("gitlab", (headers, body)) == 401  # each sender has secrets of its own
    assert scene.post("nobody", (headers, body)) == 404
    assert scene.receiver.answer("POST", "/", headers, body).status == 404
    assert scene.receiver.answer("GET", "/hooks/github", headers, body).status == 405
    assert not scene.woken
    assert scene.receiver.count_answers() == {
        ("github", 401): 2,
        ("gitlab", 401): 1,
        ("unknown", 404): 2,
        ("github", 405): 1,
    }


def test_refusals_are_said_once_a_minute_with_their_number() -> None:
    scene = Scene()
    for _ in range(500):
        scene.post("github", ({}, b"{}"))
    scene.clock = 60
    scene.post("github", ({}, b"{}"))
    assert [(answer.status, more) for answer, more in scene.reports] == [(401, 0), (401, 499)]
    assert scene.receiver.count_answers() == {("github", 401): 501}


def test_a_sender_that_asks_without_end_is_told_to_slow_down() -> None:
    scene = Scene()
    signed = make_github()
    answers = [scene.post("github", signed) for _ in range(REQUESTS_MAX + 5)]
    assert answers == [202] * REQUESTS_MAX + [429] * 5
    assert scene.post("gitea", make_gitea()) == 202
    scene.clock = 60
    assert scene.post("github", signed) == 202


def test_who_repeats_a_webhook_keeps_no_other_from_being_heard() -> None:
    scene = Scene()
    repeated = make_platform("space_platform", NOW)
    answers = [scene.post("platform", repeated) for _ in range(REQUESTS_MAX + 5)]
    assert set(answers[1:]) == {204}
    assert scene.post("platform", make_platform("space_platform", NOW + 1)) == 202


def test_a_webhook_that_came_too_often_is_heard_when_it_is_sent_again() -> None:
    scene = Scene()
    for moment in range(REQUESTS_MAX):
        scene.post("platform", make_platform("space_platform", NOW - moment))
    last = make_platform("space_platform", NOW + 1)
    assert scene.post("platform", last) == 429
    scene.clock = 60
    assert scene.post("platform", last) == 202


def test_senders_that_are_configured_no_more_are_not_heard() -> None:
    scene = Scene()
    scene.receiver.configure([], [])
    assert scene.post("github", make_github()) == 404


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://github.com/Acme/Docs.git", ("github.com", "acme/docs")),
        ("ssh://git@GitHub.com:22/acme/docs", ("github.com", "acme/docs")),
        ("git@github.com:acme/docs.git/", ("github.com", "acme/docs")),
        ("github.com:acme/docs", ("github.com", "acme/docs")),
        ("https://user:secret@github.com/acme/docs", ("github.com", "acme/docs")),
        ("git@[::1]:acme/docs", ("::1", "acme/docs")),
        ("/srv/git/docs.git", None),
        ("file:///srv/git/docs.git", None),
        ("https://github.com", None),
        ("https://[broken/acme/docs", None),
        ("", None),
    ],
)
def test_addresses_of_one_repository_are_one(url: str, expected: tuple[str, str] | None) -> None:
    assert normalize_address(url) == expected
