"""Signatures of webhooks: how each sender makes them, and whether one is right, compared in constant time.

Sources: docs.github.com "Validating webhook deliveries"; docs.gitlab.com "Webhooks" and the specification Standard
Webhooks, which GitLab's signing tokens follow; docs.gitea.com "Webhooks"; @gitbook/api 0.146.0, for the platform.
"""

import hmac
import re
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

Sender = Literal["github", "gitlab", "gitea", "platform"]
"""Who signs: a Git host of one of three kinds, or the docs platform."""

TOLERANCE_SECONDS = 300
"""How far the time in a signature may be from now; older is a replay, newer a clock that is wrong."""
SIGNING_PREFIX = "whsec_"
"""What a signing token of Standard Webhooks begins with; the rest is the key in base64."""
_TIMED = re.compile(r"t=([0-9]{1,12}),v1=([0-9a-f]{64})")
_SECONDS = re.compile(r"[0-9]{1,12}")


def sign_webhook(secret: str, moment: int, body: bytes) -> str:
    """Return `t=<seconds>,v1=<hex>`, where the hexadecimal is HMAC-SHA256 of `<seconds>.<body>`.

    Units: `moment` in seconds since the epoch.
    """
    return f"t={moment},v1={_hash(secret.encode(), b'%d.%b' % (moment, body)).hex()}"


def sign_body(secret: str, body: bytes) -> str:
    """Return HMAC-SHA256 of a body in hexadecimal, as GitHub and Gitea sign."""
    return _hash(secret.encode(), body).hex()


def sign_standard(secret: str, id: str, moment: int, body: bytes) -> str:
    """Return `v1,<base64>`, where the base64 is HMAC-SHA256 of `<id>.<seconds>.<body>`, as Standard Webhooks says.

    Units: `moment` in seconds since the epoch. Raises: ValueError when the secret is no signing token.
    """
    signed = _hash(_read_signing_key(secret), f"{id}.{moment}.".encode() + body)
    return f"v1,{b64encode(signed).decode()}"


def is_usable_secret(sender: Sender, secret: str) -> bool:
    """Return whether a secret can sign: what looks like a signing token of GitLab has to be one."""
    if sender != "gitlab" or not secret.startswith(SIGNING_PREFIX):
        return True
    try:
        return bool(_read_signing_key(secret))
    except ValueError:
        return False


def find_forgery(sender: Sender, headers: Mapping[str, str], body: bytes, secrets: Sequence[str], now: float) -> str:
    """Return why a request is not to be believed, or "" when one of the secrets signed it.

    Units: `now` in seconds since the epoch. Shape: the names of `headers` are in lower case.
    """
    match sender:
        case "github":
            given = [headers.get("x-hub-signature-256", "").removeprefix("sha256=")]
            return _find_wrong_digest(given, body, secrets)
        case "gitea":
            # Forgejo signs under its own name, too; where several are sent, all have to be right.
            names = ("x-gitea-signature", "x-forgejo-signature", "x-hub-signature-256")
            given = [headers[name].removeprefix("sha256=") for name in names if name in headers]
            return _find_wrong_digest(given or [""], body, secrets)
        case "gitlab":
            return _find_wrong_gitlab(headers, body, secrets, now)
        case "platform":
            return _find_wrong_timed(headers.get("x-gitbook-signature", ""), body, secrets, now)


def _find_wrong_digest(given: Sequence[str], body: bytes, secrets: Sequence[str]) -> str:
    if not all(given):
        return "it has no signature"
    right = [_is_among(one, [sign_body(secret, body) for secret in secrets]) for one in given]
    return "" if all(right) else "its signature is wrong"


def _find_wrong_gitlab(headers: Mapping[str, str], body: bytes, secrets: Sequence[str], now: float) -> str:
    keys = [secret for secret in secrets if secret.startswith(SIGNING_PREFIX)]
    if not keys:
        token = headers.get("x-gitlab-token", "")
        return ("" if _is_among(token, secrets) else "its token is wrong") if token else "it has no token"
    # A plain token shows no more than that somebody saw it: with a signing token, it does not count.
    id, moment = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    given = headers.get("webhook-signature", "").split()
    if not (id and given and _SECONDS.fullmatch(moment)):
        return "it has no signature"
    right = [sign_standard(key, id, int(moment), body) for key in keys]
    if moment != str(int(moment)) or not any(_is_among(one, right) for one in given):
        return "its signature is wrong"
    return _find_wrong_moment(int(moment), now)


def _find_wrong_timed(given: str, body: bytes, secrets: Sequence[str], now: float) -> str:
    if not given:
        return "it has no signature"
    found = _TIMED.fullmatch(given)
    right = [sign_webhook(secret, int(found[1]), body) for secret in secrets] if found else []
    if found is None or not _is_among(given, right):
        return "its signature is wrong"
    return _find_wrong_moment(int(found[1]), now)


def _find_wrong_moment(moment: int, now: float) -> str:
    return "" if abs(now - moment) <= TOLERANCE_SECONDS else "its signature is older or newer than five minutes"


def _is_among(given: str, right: Iterable[str]) -> bool:
    # All of them, whichever is right: how long it takes says nothing.
    found = [hmac.compare_digest(given.encode("utf-8", "replace"), one.encode()) for one in right]
    return any(found)


def _read_signing_key(secret: str) -> bytes:
    try:
        return b64decode(secret.removeprefix(SIGNING_PREFIX), validate=True)
    except Base64Error:
        raise ValueError("a signing token is base64 behind whsec_") from None


def _hash(key: bytes, data: bytes) -> bytes:
    return hmac.digest(key, data, "sha256")
