"""What a browser shows of a visitor: an address with a token, and the cookies of a site that keep it."""

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from fastapi import Request
from fastapi.responses import RedirectResponse, Response

from syncd.platform.visitors.visits import VISITOR_COOKIE, VisitorToken

JWT_PARAMETER = "jwt_token"
UNSIGNED_PREFIX = "visitor."
_UNSIGNED_COOKIE = "syncd-visitor-claims"
_COOKIE_MAX = 8192
_CLAIMS_MAX = 50
_NUMBER_MAX = 32
"""Characters of a number."""
_NOBODY = VisitorToken()


def read_visitor_token(request: Request) -> VisitorToken:
    """Return what the cookies of a request say of its visitor."""
    if "cookie" not in request.headers:
        return _NOBODY
    return VisitorToken(request.cookies.get(VISITOR_COOKIE, ""), _read_unsigned(request))


def find_token_in_address(request: Request) -> str | None:
    """Return the visitor's token that an address has; None for an address without."""
    return request.query_params.get(JWT_PARAMETER) if request.scope["query_string"] else None


def keep_visitor_token(request: Request, name: str) -> Response | None:
    """Return the answer that takes what an address says of its visitor out of it, into cookies of this site.

    Shape: None when the address says nothing.
    """
    if not request.scope["query_string"]:
        return None
    pairs = request.query_params.multi_items()
    unsigned = {key.removeprefix(UNSIGNED_PREFIX): value for key, value in pairs if key.startswith(UNSIGNED_PREFIX)}
    token = find_token_in_address(request)
    if token is None and not unsigned:
        return None
    rest = urlencode([one for one in pairs if one[0] != JWT_PARAMETER and not one[0].startswith(UNSIGNED_PREFIX)])
    answer = RedirectResponse(
        quote(request.url.path) + (f"?{rest}" if rest else ""), 303, {"Cache-Control": "no-store"}
    )
    for cookie, value in ((VISITOR_COOKIE, token), (_UNSIGNED_COOKIE, urlencode(unsigned) if unsigned else None)):
        if value is not None and len(value) < _COOKIE_MAX and value.isascii() and value.isprintable():
            secure = request.url.scheme == "https"
            path = f"/sites/{quote(name)}"
            answer.set_cookie(cookie, value, path=path, secure=secure, httponly=True, samesite="lax")
    return answer


def _read_unsigned(request: Request) -> Mapping[str, Any]:
    """The claims that nobody signed, from the cookie."""
    given = request.cookies.get(_UNSIGNED_COOKIE)
    return {name: _read_claim(value) for name, value in parse_qsl(given)[:_CLAIMS_MAX]} if given else {}


def _read_claim(value: str) -> bool | float | str:
    """A claim from its text: `true`, `false` and numbers are what they look like, and all else is words."""
    try:
        read = json.loads(value)
    except (ValueError, RecursionError):
        # One link can put text into a visitor's cookie that comes back with every page.
        return value
    is_number = isinstance(read, int | float) and len(value) <= _NUMBER_MAX and isfinite(read)
    return read if is_number or isinstance(read, str) else value
