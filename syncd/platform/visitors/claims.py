"""Who a visitor of a site is: the claims of a token that the site's owner signed, and those that nobody signed."""

import hmac
from collections.abc import Mapping
from typing import Any

import jwt

from syncd.model.adaptive import UNSIGNED

ALGORITHM = "HS256"
TOKEN_MAX = 8 * 1024
"""Characters of a visitor's token that is looked at."""
_REGISTERED = frozenset({"exp", "iat", "nbf", "iss", "aud", "sub", "jti"})
_UNSIGNED_MAX = 50
_TEXT_MAX = 256


def derive_site_key(secret: bytes, site_id: str, generation: int) -> str:
    """Return the key with which a site's owner signs the tokens of visitors; another generation has another key."""
    return hmac.new(secret, f"visitors\0{site_id}\0{generation}".encode(), "sha256").hexdigest()


def read_visitor_token(token: str, key: str, now: float) -> Mapping[str, Any] | None:
    """Return the claims of a visitor's token, without those that JSON Web Tokens have themselves.

    Shape: None for a token that the key did not sign, or whose time (`exp`, `nbf`) is over or has not begun.
    Units: `now` in epoch seconds.
    """
    if len(token) > TOKEN_MAX:
        return None
    options: Any = {"verify_exp": False, "verify_nbf": False, "verify_iat": False, "verify_aud": False}
    try:
        claims = jwt.decode(token, key, algorithms=[ALGORITHM], options=options)
    except jwt.InvalidTokenError:
        return None
    if not _is_valid_at(claims, now):
        return None
    return {name: value for name, value in claims.items() if name not in _REGISTERED and name != UNSIGNED}


def select_unsigned_claims(given: Mapping[str, Any], schema: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return of the claims that nobody signed those that the site's schema of its visitors names.

    Shape: anybody can claim them, so only what the owner declared as such counts, and only plain values.
    """
    declared = (schema or {}).get("properties", {}).get(UNSIGNED, {})
    known = declared.get("properties", {}) if isinstance(declared, Mapping) else {}
    found = {
        name: value
        for name, value in list(given.items())[:_UNSIGNED_MAX]
        if name in known and isinstance(value, str | bool | int | float)
    }
    return {name: value[:_TEXT_MAX] if isinstance(value, str) else value for name, value in found.items()}


def _is_valid_at(claims: Mapping[str, Any], now: float) -> bool:
    ends, begins = claims.get("exp", now + 1), claims.get("nbf", now)
    return all(isinstance(moment, int | float) for moment in (ends, begins)) and begins <= now < ends
