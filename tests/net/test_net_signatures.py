"""Signatures of webhooks: what a host signed is believed, and nothing of it may be changed."""

from base64 import b64encode
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncd.net.signatures import (
    TOLERANCE_SECONDS,
    Sender,
    find_forgery,
    is_usable_secret,
    sign_body,
    sign_standard,
    sign_webhook,
)

NOW = 1_800_000_000
SECRET, OTHER = "0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210"
TOKEN = "whsec_" + b64encode(bytes(range(32))).decode()
BODY = b'{"ref":"refs/heads/main","repository":{"clone_url":"https://git.example.org/team/docs.git"}}'


def sign(sender: Sender, body: bytes = BODY, *, now: int = NOW, secret: str = SECRET) -> dict[str, str]:
    """The headers that a sender would send with a body."""
    match sender:
        case "github":
            return {"x-hub-signature-256": f"sha256={sign_body(secret, body)}"}
        case "gitea":
            digest = sign_body(secret, body)
            return {"x-gitea-signature": digest, "x-hub-signature-256": f"sha256={digest}"}
        case "gitlab":
            signature = sign_standard(TOKEN, "f6266f16", now, body)
            return {"webhook-id": "f6266f16", "webhook-timestamp": str(now), "webhook-signature": signature}
        case "platform":
            return {"x-gitbook-signature": sign_webhook(secret, now, body)}


def secrets_of(sender: Sender) -> list[str]:
    return [TOKEN] if sender == "gitlab" else [SECRET]


SENDERS: list[Sender] = ["github", "gitlab", "gitea", "platform"]


def test_the_examples_of_the_documentation_are_believed() -> None:
    secret, body = "It's a Secret to Everybody", b"Hello, World!"
    digest = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    assert sign_body(secret, body) == digest
    assert not find_forgery("github", {"x-hub-signature-256": f"sha256={digest}"}, body, [secret], NOW)
    payload = b'{"test": 2432232314}'
    key, id, at = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330
    signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    assert sign_standard(key, id, at, payload) == signature
    headers = {"webhook-id": id, "webhook-timestamp": str(at), "webhook-signature": f"v1,AAAA {signature}"}
    assert not find_forgery("gitlab", headers, payload, [key], at)


@given(st.sampled_from(SENDERS), st.binary(max_size=64), st.integers(0, 10**9), st.integers(1, 255))
def test_no_byte_of_a_body_may_change(sender: Sender, body: bytes, place: int, change: int) -> None:
    headers = sign(sender, body)
    assert not find_forgery(sender, headers, body, secrets_of(sender), NOW)
    at = place % (len(body) + 1)
    longer = body[:at] + bytes([change]) + body[at:]
    assert find_forgery(sender, headers, longer, secrets_of(sender), NOW)
    if body:
        at %= len(body)
        changed = body[:at] + bytes([body[at] ^ change]) + body[at + 1 :]
        assert find_forgery(sender, headers, changed, secrets_of(sender), NOW)


@given(st.sampled_from(SENDERS), st.integers(0, 10**9), st.characters(min_codepoint=33, max_codepoint=126), st.data())
def test_no_character_of_a_signature_may_change(
    sender: Sender, place: int, character: str, data: st.DataObject
) -> None:
    headers = sign(sender)
    name = data.draw(st.sampled_from(sorted(headers)))
    value = headers[name]
    at = place % len(value)
    if sender in ("github", "gitea"):
        at = max(at, value.find("=") + 1)  # the digest is what is signed; the word before it is only taken off
    changed = value[:at] + character + value[at + 1 :]
    forged = {**headers, name: changed}
    assert bool(find_forgery(sender, forged, BODY, secrets_of(sender), NOW)) == (changed != value)
    del forged[name]
    if not (sender == "gitea" and forged):
        assert find_forgery(sender, forged, BODY, secrets_of(sender), NOW)


@pytest.mark.parametrize("sender", SENDERS)
def test_several_secrets_count_together_so_that_they_can_be_replaced(sender: Sender) -> None:
    headers = sign(sender)
    assert not find_forgery(sender, headers, BODY, [OTHER, *secrets_of(sender)], NOW)
    assert find_forgery(sender, headers, BODY, [OTHER], NOW)
    assert find_forgery(sender, {}, BODY, secrets_of(sender), NOW)


@pytest.mark.parametrize("sender", ["gitlab", "platform"])
@pytest.mark.parametrize("late", [TOLERANCE_SECONDS + 1, -TOLERANCE_SECONDS - 1])
def test_a_signature_with_a_time_is_believed_for_five_minutes(sender: Sender, late: int) -> None:
    headers = sign(sender)
    assert find_forgery(sender, headers, BODY, secrets_of(sender), NOW + late) == (
        "its signature is older or newer than five minutes"
    )
    assert not find_forgery(sender, headers, BODY, secrets_of(sender), NOW + late * 0.99)


def test_a_token_of_gitlab_counts_only_where_it_has_no_signing_token() -> None:
    headers: Mapping[str, str] = {"x-gitlab-token": SECRET}
    assert not find_forgery("gitlab", headers, BODY, [OTHER, SECRET], NOW)
    assert find_forgery("gitlab", headers, BODY, [OTHER], NOW) == "its token is wrong"
    assert find_forgery("gitlab", headers, BODY, [SECRET, TOKEN], NOW) == "it has no signature"
    assert find_forgery("gitlab", {"x-gitlab-token": f"{SECRET}é"}, BODY, [SECRET], NOW) == "its token is wrong"


def test_what_looks_like_a_signing_token_has_to_be_one() -> None:
    assert is_usable_secret("gitlab", TOKEN)
    assert not is_usable_secret("gitlab", "whsec_not/base64!")
    assert not is_usable_secret("gitlab", "whsec_")
    assert is_usable_secret("github", "whsec_not/base64!")
